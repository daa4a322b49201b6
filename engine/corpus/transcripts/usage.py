"""Tokens and cost that a transcript records, by model; what it doesn't record is None, never 0."""

import math

import msgspec

from engine.corpus.transcripts.json_values import mapping

_MOST_MODELS = 32
"""A session has a few models; more are damage, and are counted together."""
_MOST_TOKENS = 2**48
_HIGHEST_COST = 1e9
_FIELDS = ("input", "output", "cache_read", "cache_write", "cache_write_hour", "cost")


class Usage(msgspec.Struct, omit_defaults=True):
    """Tokens and cost of one or many requests to a model."""

    input: int | None = None
    """Tokens that were sent and not in the provider's cache."""
    output: int | None = None
    """Tokens that were received, with those of reasoning."""
    cache_read: int | None = None
    cache_write: int | None = None
    """Tokens that were sent and written to the cache."""
    cache_write_hour: int | None = None
    """Those of `cache_write` that stay for an hour: they cost more."""
    cost: float | None = None
    """In US dollars, as the agent recorded it."""

    @property
    def is_recorded(self) -> bool:
        """Whether there is anything but zeros."""
        return any(getattr(self, name) for name in _FIELDS)

    def add(self, other: "Usage") -> None:
        for name in _FIELDS:
            more = getattr(other, name)
            if more is not None:
                setattr(self, name, (getattr(self, name) or 0) + more)

    def beyond(self, before: "Usage") -> "Usage":
        """The increase from `before`: a provider's count of one request only grows."""
        increase = Usage()
        for name in _FIELDS:
            now, then = getattr(self, name), getattr(before, name)
            setattr(increase, name, None if now is None else max(0, now - (then or 0)))
        return increase


class Request(msgspec.Struct, frozen=True, array_like=True):
    """The usage of one line of a request to a model, to recognise it where another session has copied it."""

    digest: int
    """Of the request's id, which a copy has, too; 56 bits."""
    model: str
    usage: tuple[int | None, int | None, int | None, int | None, int | None, float | None]
    """In the order of the members of `Usage`."""


def add_usage(totals: dict[str, Usage], model: str, usage: Usage) -> None:
    """Add requests to the totals of a session, which are by model."""
    if model not in totals and len(totals) >= _MOST_MODELS:
        model = ""
    totals.setdefault(model, Usage()).add(usage)


def tokens(value: object) -> int | None:
    """A number of tokens; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST_TOKENS:
        return None
    return int(value)


def dollars(value: object) -> float | None:
    """A cost; None for anything else, and for 0, which agents write when they don't know the price."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _HIGHEST_COST:
        return None
    return None if math.isnan(value) else float(value)


def apart(sent: object, *cached: object) -> int | None:
    """Tokens that were sent without those in the cache, where the recorded number includes these."""
    total = tokens(sent)
    return None if total is None else max(0, total - sum(tokens(part) or 0 for part in cached))


def both(first: object, second: object) -> int | None:
    """The sum of two numbers of tokens; the second may be missing."""
    total = tokens(first)
    return None if total is None else total + (tokens(second) or 0)


def anthropic_usage(value: object) -> Usage:
    """The `usage` of a message as the API of Anthropic has it."""
    usage = mapping(value)
    written = mapping(usage.get("cache_creation"))
    return Usage(
        tokens(usage.get("input_tokens")),
        tokens(usage.get("output_tokens")),
        tokens(usage.get("cache_read_input_tokens")),
        tokens(usage.get("cache_creation_input_tokens")),
        tokens(written.get("ephemeral_1h_input_tokens")),
    )


def gemini_usage(value: object) -> Usage:
    """The `usageMetadata` of a response as the API of Gemini has it: the prompt includes the cached tokens."""
    usage = mapping(value)
    cached = usage.get("cachedContentTokenCount")
    return Usage(
        both(apart(usage.get("promptTokenCount"), cached), usage.get("toolUsePromptTokenCount")),
        both(usage.get("candidatesTokenCount"), usage.get("thoughtsTokenCount")),
        tokens(cached),
    )
