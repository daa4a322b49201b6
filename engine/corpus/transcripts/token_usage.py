"""Tokens and cost that a transcript records, by model; unrecorded numbers are None, never 0."""

import functools
import math

import msgspec

from engine.corpus.transcripts.json_values import mapping, member

_MAX_MODELS = 32
"""Maximum number of models counted in one session; more indicate damage, and are counted together."""
_MAX_TOKENS = 2**48
_HIGHEST_COST = 1e9
_FIELDS = ("input", "output", "cache_read", "cache_write", "cache_write_hour", "cost")


class Usage(msgspec.Struct, omit_defaults=True):
    """Tokens and cost of one or several requests to a model; None means unknown."""

    input: int | None = None
    """Tokens sent that were not in the provider's cache."""
    output: int | None = None
    """Tokens received, including reasoning."""
    cache_read: int | None = None
    cache_write: int | None = None
    """Tokens sent and written to the cache."""
    cache_write_hour: int | None = None
    """Part of `cache_write` that stays cached for an hour, which costs more."""
    cost: float | None = None
    """US dollars, as recorded by the agent."""

    @property
    def is_recorded(self) -> bool:
        """Whether any number is recorded and not 0."""
        return any(getattr(self, name) for name in _FIELDS)

    def add(self, other: "Usage") -> None:
        for name in _FIELDS:
            more = getattr(other, name)
            if more is not None:
                setattr(self, name, (getattr(self, name) or 0) + more)

    def beyond(self, before: "Usage") -> "Usage":
        """Return the increase from `before`: the provider's numbers for one request only grow."""
        increase = Usage()
        for name in _FIELDS:
            now, then = getattr(self, name), getattr(before, name)
            setattr(increase, name, None if now is None else max(0, now - (then or 0)))
        return increase


class Request(msgspec.Struct, frozen=True, array_like=True):
    """The usage on one line of a request to a model, to recognise copies of the request in other sessions."""

    digest: int
    """56-bit digest of the request's id, which copies have too."""
    model: str
    usage: tuple[int | None, int | None, int | None, int | None, int | None, float | None]
    """Numbers in the order of the fields of `Usage`."""


def add_usage(totals: dict[str, Usage], model: str, usage: Usage) -> None:
    """Add the usage of requests to a session's totals by model."""
    if model not in totals and len(totals) >= _MAX_MODELS:
        model = ""
    totals.setdefault(model, Usage()).add(usage)


def tokens(value: object) -> int | None:
    """Return a JSON value as a number of tokens; None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MAX_TOKENS:
        return None
    return int(value)


def dollars(value: object) -> float | None:
    """Return a JSON value as US dollars; None for other values and 0, which agents write for an unknown price."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _HIGHEST_COST:
        return None
    return None if math.isnan(value) else float(value)


def without_cached(sent: object, *cached: object) -> int | None:
    """Return the number of sent tokens without the cached ones, if the recorded number `sent` includes these."""
    total = tokens(sent)
    return None if total is None else max(0, total - sum(tokens(part) or 0 for part in cached))


def add_counts(first: object, second: object) -> int | None:
    """Return the sum of two numbers of tokens; the second may be missing."""
    total = tokens(first)
    return None if total is None else total + (tokens(second) or 0)


def counted(value: object, names: str, *, cost: str = "", with_cached: bool = False) -> Usage:
    """Return the usage that a JSON object states.

    `names`: its members with the tokens sent, received, read from the cache, written to it, and of these for an hour,
    as far as they are stated; `a.b` is a member of a member, `a+b` a sum, whose second number may be missing.
    `with_cached`: whether the number of sent tokens includes the cached ones.
    """
    if not isinstance(value, dict) or not value:
        return Usage()
    sent, *others = [_sum(value, paths) for paths in _paths(names)]
    own = without_cached(sent, *others[1:]) if with_cached else sent
    usage = Usage(own, *others)
    usage.cost = dollars(member(value, cost)) if cost else None
    return usage


@functools.cache
def _paths(names: str) -> tuple[tuple[list[str], ...], ...]:
    return tuple(tuple(path.split(".") for path in name.split("+")) for name in names.split())


def _sum(value: object, paths: tuple[list[str], ...]) -> int | None:
    total = tokens(member(value, *paths[0]))
    for path in paths[1:]:
        total = add_counts(total, member(value, *path))
    return total


ANTHROPIC = """input_tokens output_tokens cache_read_input_tokens cache_creation_input_tokens
    cache_creation.ephemeral_1h_input_tokens"""


def anthropic_usage(value: object) -> Usage:
    """Convert the `usage` of a message in Anthropic's API."""
    return counted(value, ANTHROPIC)


def gemini_usage(value: object) -> Usage:
    """Convert the `usageMetadata` of a response in Gemini's API, whose prompt includes the cached tokens."""
    usage = mapping(value)
    cached = usage.get("cachedContentTokenCount")
    return Usage(
        add_counts(without_cached(usage.get("promptTokenCount"), cached), usage.get("toolUsePromptTokenCount")),
        add_counts(usage.get("candidatesTokenCount"), usage.get("thoughtsTokenCount")),
        tokens(cached),
    )
