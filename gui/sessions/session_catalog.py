"""All known sessions, prepared so that ten thousand of them can be filtered and sorted within milliseconds.

Made off the GUI thread from the engine's summaries; independent of Qt.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import get_args

import msgspec

from engine import SessionSummary, folder_name, tr
from gui.core.session_criteria import SessionOrder
from gui.text.session_texts import UNTITLED, agent_name


class Entry(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One session as shown in lists. Compared by identity: a new catalogue has new entries.

    Not tracked by the garbage collector: a catalogue has many thousands, none in reference cycles.
    """

    summary: SessionSummary
    title: str
    agent: str
    """Display name of the agent."""
    project: str
    """Last folder of the project's path; empty if unknown."""
    first_day: date | None
    """Local day on which it began."""
    last_day: date | None
    """Local day of its last message, by which lists group it."""
    haystack: str
    """Casefolded text that is searched for typed words."""
    children: "tuple[Entry, ...]"
    """Sessions of its sub-agents, oldest first."""
    pauses: tuple[tuple[date, date], ...] = ()
    """First and last local days of the times without a message."""

    def is_active(self, first: date, last: date) -> bool:
        """Whether the session has a message on one of the days from `first` to `last`."""
        begin, end = self.first_day, self.last_day
        if begin is None or end is None or begin > last or end < first:
            return False
        if not self.pauses:
            return True
        first, last = max(first, begin), min(last, end)
        return not any(start <= first and last <= stop for start, stop in self.pauses)


@dataclass(frozen=True)
class Choice:
    """One value of a filter with the number of sessions that have it."""

    value: str
    label: str
    sessions: int


@dataclass(frozen=True)
class SessionCatalog:
    """All sessions in every sort order, each main session with those of its sub-agents.

    A sub-agent's session whose parent is unknown is listed separately.
    """

    orders: dict[SessionOrder, tuple[Entry, ...]]
    by_path: dict[str, Entry]
    """All sessions by path, including sessions of sub-agents."""
    agents: tuple[Choice, ...]
    """Agents with their number of sessions, most used first."""
    projects: tuple[Choice, ...]
    """Full paths of projects, most used first."""
    months: tuple[tuple[date, int], ...]
    """First days of the months in which sessions ended, newest first, with their number."""
    machines: tuple[Choice, ...] = ()
    """Other machines than this one, most used first."""

    @property
    def sessions(self) -> int:
        """The number of listed sessions, without those below a parent."""
        return len(self.orders["newest"])

    @property
    def children(self) -> int:
        """The number of sub-agents' sessions that are listed below a parent."""
        return len(self.by_path) - self.sessions


EMPTY = SessionCatalog(dict.fromkeys(get_args(SessionOrder), ()), {}, (), (), ())


def make_catalogue(summaries: Iterable[SessionSummary]) -> SessionCatalog:
    """Make the catalogue from the engine's summaries; about 50 ms for ten thousand."""
    summaries = sorted(summaries, key=_last, reverse=True)
    known = {(summary.agent, summary.id) for summary in summaries}
    entries = _Entries(summaries)
    children: dict[tuple[str, str], list[Entry]] = {}
    for summary in reversed(summaries):
        if summary.parent and _has_known_parent(summary, known):
            children.setdefault((summary.agent, summary.parent), []).append(entries.make(summary, ()))
    newest = [
        entries.make(summary, tuple(children.get((summary.agent, summary.id), ())) if children else ())
        for summary in summaries
        if not (summary.parent and _has_known_parent(summary, known))
    ]
    by_path = {entry.summary.path: entry for top in newest for entry in (top, *top.children)}
    return SessionCatalog(
        orders=_orders(newest),
        by_path=by_path,
        agents=_choices((entry.summary.agent, entry.agent) for entry in newest),
        projects=_choices((entry.summary.project, entry.project) for entry in newest if entry.project),
        months=_months(newest),
        machines=_choices((machine, machine) for entry in newest if (machine := entry.summary.machine)),
    )


def _months(entries: Iterable[Entry]) -> tuple[tuple[date, int], ...]:
    """Return the first day of each month with sessions, and their number; newest first."""
    months: Counter[date] = Counter()
    for day, sessions in Counter(entry.last_day for entry in entries).items():
        if day is not None:
            months[day.replace(day=1)] += sessions
    return tuple(sorted(months.items(), reverse=True))


def _has_known_parent(summary: SessionSummary, known: set[tuple[str, str]]) -> bool:
    """Return whether a session is listed below its parent, which must be known and not be a sub-agent's itself."""
    return summary.parent != summary.id and (summary.agent, summary.parent) in known


class _Entries:
    """Makes entries from summaries; reuses texts and dates that thousands of sessions have in common."""

    def __init__(self, summaries: Iterable[SessionSummary]) -> None:
        self._agents = {name: agent_name(name) for name in {summary.agent for summary in summaries}}
        self._projects = {path: folder_name(path) for path in {summary.project for summary in summaries}}
        self._days: dict[date | None, date | None] = {}

    def make(self, summary: SessionSummary, children: tuple[Entry, ...]) -> Entry:
        first, last = summary.started, _last(summary)
        pauses: tuple[tuple[float, float], ...] = summary.pauses
        if first is not None and summary.ended is None:
            pauses = ((first, last),)  # which of the days between have messages is unknown
        agent, title = self._agents[summary.agent], summary.title
        origin = f"{summary.project}\n{summary.branch}\n{summary.machine}"
        last_day = self._day(last)
        return Entry(
            summary=summary,
            title=" ".join(title.split()) or tr(UNTITLED),
            agent=agent,
            project=self._projects[summary.project],
            first_day=last_day if first is None or first == last else self._day(first),
            last_day=last_day,
            haystack=f"{title}\n{summary.id}\n{agent}\n{summary.agent}\n{origin}".casefold(),
            children=children,
            pauses=tuple(_without_messages(*pause) for pause in pauses) if pauses else (),
        )

    def _day(self, moment: float) -> date | None:
        """Return the local date of a time. Equal dates are one object, which makes counting by days fast."""
        day = _day(moment)
        return self._days.setdefault(day, day)


def _last(summary: SessionSummary) -> float:
    """Return the time of a session's last message, as `SessionSummary.last`; 0 if unknown."""
    return summary.last or 0.0


def _without_messages(before: float, after: float) -> tuple[date, date]:
    """Return the first and the last day between two messages; the first is later if there is none."""
    first, last = _day(before), _day(after)
    if first is None or last is None:
        return date.max, date.min
    return first + timedelta(days=1), last - timedelta(days=1)


def _day(moment: float) -> date | None:
    try:
        return date.fromtimestamp(moment) if moment else None
    except (ValueError, OverflowError, OSError):  # a transcript may contain any number
        return None


def _orders(newest: list[Entry]) -> dict[SessionOrder, tuple[Entry, ...]]:
    """Return the entries in every sort order but relevance; entries that compare equal are newest first."""
    dated = [entry for entry in newest if entry.last_day]
    timeless = [entry for entry in newest if not entry.last_day]
    return {
        "newest": (*dated, *timeless),
        "oldest": (*reversed(dated), *timeless),
        "longest": tuple(sorted(newest, key=lambda entry: -entry.summary.messages)),
        "project": tuple(
            sorted(newest, key=lambda entry: (not entry.project, entry.project.casefold(), entry.summary.project))
        ),
    }


def _choices(values: Iterable[tuple[str, str]]) -> tuple[Choice, ...]:
    counts = Counter(values)
    names = Counter(words for _, words in counts)
    return tuple(
        Choice(value, words if names[words] == 1 else _longer(value, words), number)
        for (value, words), number in counts.most_common()
    )


def _longer(path: str, name: str) -> str:
    """Return a folder's name together with its parent folder's, for names that are not unique."""
    above: Sequence[str] = path.replace("\\", "/").rstrip("/").split("/")[-2:-1]
    return f"{above[0]}/{name}" if above and above[0] else path
