"""Sums over sessions: messages, active time, tokens and cost, in total and by agent, project, model or day."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

from engine.insight.session_costs import Prices
from engine.records import ModelUsage, SessionStats, SessionSummary, StatsKey, StatsRow, UsageTotal

Number = TypeVar("Number", int, float)


def total_usage(usage: Iterable[ModelUsage], prices: Prices) -> UsageTotal:
    """Return the sum of tokens and costs; None for a number that no session records."""
    known = list(usage)
    costs = [prices.cost(one) for one in known]
    return UsageTotal(
        input_tokens=_sum([one.input_tokens for one in known]),
        output_tokens=_sum([one.output_tokens for one in known]),
        cache_read_tokens=_sum([one.cache_read_tokens for one in known]),
        cache_write_tokens=_sum([one.cache_write_tokens for one in known]),
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
        one.model
        for session in sessions
        for one in session.usage
        if one.recorded_cost is None and one.model and not prices.knows(one.model)
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
    """Those of its model usages that are counted."""


def _is_whole(session: SessionSummary, known: set[tuple[str, str]]) -> bool:
    """Return whether a session is counted separately: a sub-agent's is if its main session is unknown."""
    return session.parent in ("", session.id) or (session.agent, session.parent) not in known


def _rows(counted: Iterable[_Counted], prices: Prices, by: StatsKey) -> list[StatsRow]:
    groups: dict[str, list[_Counted]] = {}
    for one in counted:
        for name, usage in _shares(one.session, by):
            groups.setdefault(name, []).append(one._replace(usage=usage))
    rows = [_row(name, group, prices) for name, group in groups.items()]
    if by == "day":
        return sorted(rows, key=lambda row: row.name)
    return sorted(rows, key=lambda row: (-(row.usage.cost or 0), -row.messages, row.name))


def _shares(session: SessionSummary, by: StatsKey) -> list[tuple[str, Sequence[ModelUsage]]]:
    if by == "model":
        return [(one.model, (one,)) for one in session.usage] or [("", ())]
    return [(_NAMES[by](session), session.usage)]


def _row(name: str, counted: Sequence[_Counted], prices: Prices) -> StatsRow:
    whole = [one.session for one in counted if one.whole]
    return StatsRow(
        name=name,
        sessions=len(whole),
        messages=sum(session.messages for session in whole),
        seconds=_sum(session.active_seconds for session in whole),
        without_usage=sum(not session.usage for session in whole),
        usage=total_usage((usage for one in counted for usage in one.usage), prices),
    )


def _day(session: SessionSummary) -> str:
    """Return the local day of a session's last message."""
    last = session.started if session.ended is None else session.ended
    return "" if last is None else f"{datetime.fromtimestamp(last):%Y-%m-%d}"


_NAMES: dict[StatsKey, Callable[[SessionSummary], str]] = {
    "agent": lambda session: session.agent,
    "project": lambda session: session.project,
    "day": _day,
}


def _sum(values: Iterable[Number | None]) -> Number | None:
    known = [value for value in values if value is not None]
    return sum(known[1:], start=known[0]) if known else None
