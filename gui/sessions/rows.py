"""The rows of the session list: headings for days or projects, and sessions, as plain values without Qt."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import date
from operator import attrgetter
from typing import Any, Literal, NamedTuple, cast

from engine import SessionSummary, tr
from gui.core.session_criteria import Criteria
from gui.sessions.session_catalog import Entry, SessionCatalog
from gui.text.session_texts import day_title, days_title

RowKey = tuple[str, str]
EntryTest = Callable[[Entry], bool]


def filter_test(criteria: Criteria, today: date) -> EntryTest | None:
    """Return a function that tests an entry for agent, project, machine and period; None if no filter is set."""
    if not (criteria.agent or criteria.project or criteria.machine or criteria.period.narrows):
        return None
    agent, project, machine = criteria.agent, criteria.project, criteria.machine
    first, last = criteria.period.bounds(today)
    timed = criteria.period.narrows

    def test(entry: Entry) -> bool:
        return (
            (not agent or entry.summary.agent == agent)
            and (not project or entry.summary.project == project)
            and (not machine or entry.summary.machine == machine)
            and (not timed or entry.is_active(first, last))
        )

    return test


def text_test(criteria: Criteria, found: Container[str]) -> EntryTest | None:
    """Return a function that tests an entry for the typed words; None without words.

    A session also passes if its path is in `found`, the hits of the search in messages.
    """
    words = criteria.words
    if not words:
        return None
    if len(words) == 1:  # the usual case, in half the time
        only = words[0]
        return lambda entry: only in entry.haystack or entry.summary.path in found
    return lambda entry: all(word in entry.haystack for word in words) or entry.summary.path in found


class HeadingRow(NamedTuple):
    """The heading row above the sessions of one day or project."""

    title: str
    sessions: int

    @property
    def key(self) -> RowKey:
        return ("heading", self.title)


class SessionRow(NamedTuple):
    """A row with one session. A tuple, since ten thousand of them are created while the user types."""

    entry: Entry
    depth: int = 0
    """1 for a sub-agent's session below its parent, else 0."""
    hits: int = 0
    """Number of messages that contain the words of the search."""
    similar: bool = False
    """Whether only the meaning of its messages is similar to the search."""
    opened: bool = False
    """Whether its sub-agents' sessions are shown below it."""
    similarity: float | None = None
    """Cosine with the session of a similarity list; None in the list of all."""
    dated: Literal["", "day", "date"] = ""
    """What it shows of its date: the day, since the heading has only the year, or all, since there is no heading."""

    @property
    def key(self) -> RowKey:
        return ("session", self.entry.summary.path)


Row = HeadingRow | SessionRow


class Listing(NamedTuple):
    """The rows of the list, and the number of sessions in them without those of sub-agents."""

    rows: list[Row]
    sessions: int
    hits: int


def build_listing(
    catalogue: SessionCatalog,
    criteria: Criteria,
    hits: Mapping[str, int],
    opened: Container[str],
    today: date,
    similar: Container[str] = (),
) -> Listing:
    """Return the rows of the sessions that match the criteria, sorted.

    `hits`: path -> number of matching messages, the best session first. `opened`: paths of sessions that show their
    sub-agents. `similar`: paths of those that only the meaning finds. One plain loop: ten thousand sessions are
    processed between two key presses.
    """
    chosen, typed = filter_test(criteria, today), text_test(criteria, hits)
    order = criteria.effective_order
    dated: Literal["", "date"] = "date" if order == "relevance" else ""
    group, name = _GROUPS[order]
    listed: list[Row] = []
    heading, value, counted, sessions = -1, _NOTHING, 0, 0
    for entry in catalogue.orders["newest" if order == "relevance" else order]:
        fits = (chosen is None or chosen(entry)) and (typed is None or typed(entry))
        children = _children(entry, criteria, chosen, typed, opened) if entry.children else _NO_CHILDREN
        if not (fits or children.named):
            continue
        if group is not None and (own := group(entry)) != value:
            _close_group(listed, heading, counted)
            value, counted, heading = own, 0, len(listed)
            listed.append(HeadingRow(name(value, today), 0))
        counted += 1
        sessions += 1
        path = entry.summary.path
        number = hits.get(path, 0) if hits else 0
        listed.append(SessionRow(entry, 0, number, path in similar, children.unfolded, dated=dated))
        if children.listed:
            listed.extend(
                SessionRow(child, 1, hits.get(child.summary.path, 0), child.summary.path in similar)
                for child in children.listed
            )
    _close_group(listed, heading, counted)
    if order in ("newest", "oldest"):
        listed = _join_days(listed, today)
    elif order == "relevance":
        listed = _best_first(listed, hits, criteria.words, similar)
    return Listing(listed, sessions, sum(row[2] for row in listed if isinstance(row, SessionRow)) if hits else 0)


def _best_first(listed: Sequence[Row], hits: Iterable[str], words: Sequence[str], similar: Container[str]) -> list[Row]:
    """Sort sessions, with those of their sub-agents below: titles with all words, then the best hits, then newest.

    Sessions with all words in other fields, such as the project, come before sessions found by meaning alone.
    """
    ranks = {path: rank for rank, path in enumerate(hits, 1)}
    last = next((rank for path, rank in ranks.items() if path in similar), len(ranks) + 1) - 1
    families: list[tuple[bool, int, int, list[Row]]] = []
    for row in cast(Sequence[SessionRow], listed):
        entry = row.entry
        unnamed = not all(map(entry.title.casefold().__contains__, words))
        rank = ranks.get(entry.summary.path, len(ranks) + 1)
        if rank > last and all(map(entry.haystack.__contains__, words)):
            rank = last
        if row.depth:
            unnamed_before, rank_before, number, rows = families[-1]
            rows.append(row)
            families[-1] = unnamed and unnamed_before, min(rank, rank_before), number, rows
        else:
            families.append((unnamed, rank, len(families), [row]))
    families.sort()  # the numbers, in order of time, are unique: rows are never compared
    return [row for family in families for row in family[3]]


def _close_group(listed: list[Row], heading: int, sessions: int) -> None:
    if heading >= 0:
        listed[heading] = cast(HeadingRow, listed[heading])._replace(sessions=sessions)


def _join_days(listed: list[Row], today: date) -> list[Row]:
    """Merge successive days with one session each under a common heading, except today and yesterday."""
    joined: list[Row] = []
    run: list[list[Row]] = []
    index = 0
    while index < len(listed):
        after = index + 1
        while after < len(listed) and not isinstance(listed[after], HeadingRow):
            after += 1
        group = listed[index:after]
        day = _lone_day(group, today)
        if run and (day is None or day.year != _year(run[0])):
            joined += _joined(run, today)
            run = []
        if day is None:
            joined += group
        else:
            run.append(group)
        index = after
    return joined + _joined(run, today)


def _lone_day(group: Sequence[Row], today: date) -> date | None:
    """Return the day of a group if it has one session only and is neither today nor yesterday; None otherwise."""
    heading, first = group[0], group[1]
    day = cast(SessionRow, first).entry.last_day
    alone = cast(HeadingRow, heading).sessions == 1 and day is not None and (today - day).days > 1
    return day if alone else None


def _year(group: Sequence[Row]) -> int:
    return cast(date, cast(SessionRow, group[1]).entry.last_day).year


def _joined(run: Sequence[Sequence[Row]], today: date) -> list[Row]:
    if len(run) < 2:
        return [row for group in run for row in group]
    days = [cast(date, cast(SessionRow, group[1]).entry.last_day) for group in run]
    rows: list[Row] = [HeadingRow(days_title(min(days), max(days), today), len(run))]
    for group in run:
        rows += (row._replace(dated="" if row.depth else "day") for row in cast(Sequence[SessionRow], group[1:]))
    return rows


class _Children(NamedTuple):
    """The sessions of sub-agents to list below a session."""

    listed: Sequence[Entry]
    named: bool
    """Whether some of them match the search, and are shown even if their parent is folded."""
    unfolded: bool


_NO_CHILDREN = _Children((), False, False)


def _children(
    entry: Entry, criteria: Criteria, chosen: EntryTest | None, typed: EntryTest | None, opened: Container[str]
) -> _Children:
    children = [child for child in entry.children if chosen is None or chosen(child)]
    named = [child for child in children if typed(child)] if typed is not None else []
    unfolded = bool(children) and (criteria.show_sub_agents or entry.summary.path in opened)
    return _Children(children if unfolded else named, bool(named), unfolded)


_NOTHING: Any = object()
_GROUPS: dict[str, tuple[Callable[[Entry], Any] | None, Callable[[Any, date], str]]] = {
    "newest": (attrgetter("last_day"), day_title),
    "oldest": (attrgetter("last_day"), day_title),
    "longest": (None, day_title),
    "relevance": (None, day_title),
    "project": (attrgetter("project"), lambda project, _today: project or tr("No project")),
}
"""How the rows of an order are grouped, and the name of a group. Two folders of one name are one group."""


def build_similar(catalogue: SessionCatalog, sessions: Sequence[tuple[SessionSummary, float]]) -> list[Row]:
    """Return rows of sessions with their similarity; those missing from the catalogue are left out."""
    entries = ((catalogue.by_path.get(summary.path), cosine) for summary, cosine in sessions)
    return [SessionRow(entry, similarity=cosine) for entry, cosine in entries if entry is not None]
