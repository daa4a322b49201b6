"""Sums over sessions: messages, active time, tokens and cost, in total and by agent, project, machine, model or day.

The cost is that which the transcript records, else computed by a dated table of prices.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import msgspec

from engine.base import lazy_logger
from engine.base.bounded_json import decode_toml
from engine.base.errors import SettingsError
from engine.base.language import tr
from engine.base.private_files import read_file
from engine.records import ModelUsage, PriceSource, SessionStats, SessionSummary, StatsKey, StatsRow, UsageTotal

log = lazy_logger(__name__)

_MILLION = 1_000_000
_LARGEST_FILE = 1024**2
_Price = Annotated[float, msgspec.Meta(ge=0)]

# Names as agents write them: `anthropic/claude-opus-4.5`, `us.anthropic.claude-opus-4-5-20251101-v1:0`,
# `claude-opus-4-5@20251101`, `claude-opus-4-5[1m]`, `models/gemini-2.5-pro`, `gpt-5-2025-08-07`, `deepseek-chat:free`.
_OWNER = re.compile(r"^(?:.*/)?(?:[a-z]{2,6}\.)?(?:anthropic\.)?")
_ENDING = re.compile(r"(?:\[[^\]]*\]|:[\w.-]*|-v\d+|[-@]20\d{6}|-20\d\d-\d\d-\d\d|-latest|-thinking)$")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")


class _ModelPrice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """US dollars per million tokens; kinds without a price cost what `input` costs."""

    input: _Price
    output: _Price
    cache_read: _Price | None = None
    cache_write: _Price | None = None
    cache_write_hour: _Price | None = None

    def cost(self, usage: ModelUsage) -> float | None:
        """Return the cost of these tokens in US dollars; None if the number of tokens sent or received is unknown."""
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        written = usage.cache_write_tokens or 0
        hour = min(written, usage.cache_write_hour_tokens or 0)
        write = self.input if self.cache_write is None else self.cache_write
        parts = (
            (usage.input_tokens, self.input),
            (usage.output_tokens, self.output),
            (usage.cache_read_tokens or 0, self.input if self.cache_read is None else self.cache_read),
            (written - hour, write),
            (hour, write if self.cache_write_hour is None else self.cache_write_hour),
        )
        return sum(tokens * price for tokens, price in parts) / _MILLION


class _PriceList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    models: Mapping[str, _ModelPrice]
    source: str = ""
    date: str = ""


class _PriceFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    list: tuple[_PriceList, ...]


class Prices:
    """A table of prices by model."""

    def __init__(self, lists: tuple[_PriceList, ...]) -> None:
        """A price in an earlier list has precedence."""
        self.sources = tuple(PriceSource(source=prices.source, date=prices.date) for prices in lists)
        self._models = {name: price for prices in reversed(lists) for name, price in prices.models.items()}

    def cost(self, usage: ModelUsage) -> float | None:
        """Return the cost in US dollars: as recorded, else by the table; None if it is unknown."""
        if usage.recorded_cost is not None:
            return usage.recorded_cost
        if usage.is_copied:
            return 0.0
        price = self._price(usage.model)
        return None if price is None else price.cost(usage)

    def has_price(self, model: str) -> bool:
        """Whether the table has a price of this model, under any name that agents give it."""
        return self._price(model) is not None

    def _price(self, model: str) -> _ModelPrice | None:
        return next((self._models[name] for name in _names(model) if name in self._models), None)


@lru_cache(maxsize=256)
def _names(model: str) -> tuple[str, ...]:
    """Return the model's name, and shorter forms of it that denote the same model."""
    short = _OWNER.sub("", model.lower())
    names = [model, short]
    while (shorter := _ENDING.sub("", short)) != short:
        names.append(short := shorter)
    return (*names, *(_POINT.sub("-", name) for name in names))


def load_prices(path: str = "") -> Prices:
    """Load the built-in price table, and before it the user's own from this path. Raises `SettingsError`."""
    built_in = _built_in()
    return Prices((*_parse(_read_price_file(path), path), *built_in) if path else built_in)


_EXAMPLE = 'list = [{ models = { "claude-sonnet-5" = { input = 2, output = 10 } } }]'


@lru_cache(maxsize=1)
def _built_in() -> tuple[_PriceList, ...]:
    name = "model_prices.toml"
    from importlib.resources import files  # the archive modules that it imports take longer than a note

    return _parse(files("resources").joinpath(name).read_bytes(), name)


def _read_price_file(path: str) -> bytes:
    try:
        return read_file(Path(path).expanduser(), _LARGEST_FILE)
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or error
        advice = tr("Can't read the price list {file}: {problem}. Check sessions.prices.", file=path, problem=problem)
        raise SettingsError(advice) from None


def _parse(data: bytes, path: str) -> tuple[_PriceList, ...]:
    try:
        lists = msgspec.convert(decode_toml(data.decode()), _PriceFile).list
    except (ValueError, msgspec.ValidationError) as error:
        raise SettingsError(
            tr(
                "The price list {file} isn't valid: {problem}. Write dollars per million tokens, as in: {example}",
                file=path,
                problem=error,
                example=_EXAMPLE,
            )
        ) from None
    return tuple(msgspec.structs.replace(prices, source=prices.source or path) for prices in lists)


def prices_or_default(path: str) -> Prices:
    """Load the prices as `load_prices` does, or only the built-in ones if the user's file is unusable."""
    try:
        return load_prices(path)
    except SettingsError as problem:
        log.warning("%s", problem)
        return load_prices()


Number = TypeVar("Number", int, float)


def total_usage(usage: Iterable[ModelUsage], prices: Prices) -> UsageTotal:
    """Return the sum of tokens and costs; None for a number that no session records."""
    known = [part for part in usage if part.has_numbers]
    costs = [prices.cost(part) for part in known]
    return UsageTotal(
        input_tokens=_sum([part.input_tokens for part in known]),
        output_tokens=_sum([part.output_tokens for part in known]),
        cache_read_tokens=_sum([part.cache_read_tokens for part in known]),
        cache_write_tokens=_sum([part.cache_write_tokens for part in known]),
        cost=_sum(costs),
        cost_complete=None not in costs,
    )


def session_stats(sessions: Sequence[SessionSummary], prices: Prices, by: StatsKey | None = None) -> SessionStats:
    """Return statistics of sessions, in total and by `by`.

    Rows by day are in order of time; other rows have the most expensive first.
    """
    known = {(session.agent, session.id) for session in sessions}
    counted = [_Counted(session, _is_whole(session, known), session.usage) for session in sessions]
    rows = [] if by is None else _rows(counted, prices, by)
    unpriced = {
        usage.model
        for session in sessions
        for usage in session.usage
        if usage.has_numbers and usage.model and prices.cost(usage) is None and not prices.has_price(usage.model)
    }
    return SessionStats(
        total=_row("", counted, prices), rows=tuple(rows), unpriced=tuple(sorted(unpriced)), prices=prices.sources
    )


class _Counted(NamedTuple):
    """A session as it counts in one row."""

    session: SessionSummary
    whole: bool
    """Whether it counts as a session; a sub-agent's adds only its usage."""
    usage: Sequence[ModelUsage]
    """The model usages that are counted."""


def _is_whole(session: SessionSummary, known: set[tuple[str, str]]) -> bool:
    """Return whether a session is counted separately: a sub-agent's is if its main session is unknown."""
    return session.parent in ("", session.id) or (session.agent, session.parent) not in known


def _rows(counted: Iterable[_Counted], prices: Prices, by: StatsKey) -> list[StatsRow]:
    groups: dict[str, list[_Counted]] = {}
    for part in counted:
        for name, usage in _shares(part.session, by):
            groups.setdefault(name, []).append(part._replace(usage=usage))
    rows = [_row(name, group, prices) for name, group in groups.items()]
    if by == "day":
        return sorted(rows, key=lambda row: row.name)
    return sorted(rows, key=lambda row: (-(row.usage.cost or 0), -row.messages, row.name))


def _shares(session: SessionSummary, by: StatsKey) -> list[tuple[str, Sequence[ModelUsage]]]:
    if by == "model":
        return [(usage.model, (usage,)) for usage in session.usage] or [("", ())]
    return [(_NAMES[by](session), session.usage)]


def _row(name: str, counted: Sequence[_Counted], prices: Prices) -> StatsRow:
    whole = [part.session for part in counted if part.whole]
    return StatsRow(
        name=name,
        sessions=len(whole),
        messages=sum(session.messages for session in whole),
        seconds=_sum(session.active_seconds for session in whole),
        without_usage=sum(not any(usage.has_numbers for usage in session.usage) for session in whole),
        usage=total_usage((usage for part in counted for usage in part.usage), prices),
    )


def _day(session: SessionSummary) -> str:
    """Return the local day of a session's last message."""
    return "" if session.last is None else f"{datetime.fromtimestamp(session.last):%Y-%m-%d}"


_NAMES: dict[StatsKey, Callable[[SessionSummary], str]] = {
    "agent": lambda session: session.agent,
    "project": lambda session: session.project,
    "machine": lambda session: session.machine,
    "day": _day,
}


def _sum(values: Iterable[Number | None]) -> Number | None:
    known = [value for value in values if value is not None]
    return sum(known[1:], start=known[0]) if known else None
