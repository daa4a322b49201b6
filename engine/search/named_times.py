"""Lifts results of the times that a query names, such as "in May", "last spring" or "three weeks ago".

The dates of a chunk are those of its file (name, title, front matter, or begin and end of a session) and of its
heading; if it has none, those in its text in ISO form. A query without a time costs nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

import msgspec

from engine.base import lazy_pattern
from engine.search.query_conditions import many
from engine.store.snapshot import Snapshot
from engine.text.time_expressions import TimeExpression, read_dates, read_times

_LIFT = 0.6
"""Share of its score that a chunk gains if its date is within a named time."""
_ADJACENT = 0.5
"""Share of that lift for days next to the time: a session may end after midnight, or be about the day before."""
_ADJACENT_DAYS = 3
CANDIDATES = 50
"""Number of candidates that keywords, and vectors, each contribute from files of a named time."""
_ISO_DAY = lazy_pattern(r"(?<![0-9])((?:19|20)[0-9]{2})[-_.]([01][0-9])[-_.]([0-3][0-9])(?![0-9])")
_YEAR = lazy_pattern(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")

Span = tuple[date, date]
"""The first and the last day."""


class Lift(msgspec.Struct, frozen=True):
    """Factor by which a time named in the query raises the score of a chunk."""

    factor: float
    time: TimeExpression
    adjacent: bool
    """Whether the chunk is dated next to that time, not within it."""


class FileDates:
    """Caches the dates of all files while the index is unchanged. Thread-safe."""

    def __init__(self) -> None:
        self._latest: tuple[tuple[str, int, int], dict[int, list[Span]]] = ("", 0, 0), {}

    def of(self, snapshot: Snapshot) -> dict[int, list[Span]]:
        """Return the periods that each dated file belongs to, by file id."""
        state = snapshot.identity, snapshot.tables.generation, snapshot.stamp
        latest = self._latest
        if latest[0] != state:
            latest = self._latest = state, _dates_of_files(snapshot)
        return latest[1]


class NamedTimes:
    """Finds the times in one query, and the chunks whose dates are within them."""

    def __init__(self, query: str, dates: FileDates) -> None:
        self.times = read_times(query)
        self._query = query
        self._dates = dates
        self._known: dict[int, Lift | None] = {}
        self._nearest: dict[Span, tuple[int, int]] = {}
        """Cache by period: the fewest days to a time of the query, and the position of that time."""

    def files(self, snapshot: Snapshot, file_ids: Sequence[int] | None) -> list[int]:
        """Return the ids of files dated within a time of the query, limited to the ids in `file_ids`."""
        dates = self._dates.of(snapshot)
        limited = dates if file_ids is None else dates.keys() & file_ids
        return sorted(file for file in limited if (lift := self._lift(dates[file])) is not None and not lift.adjacent)

    def words(self, ranges: Sequence[tuple[int, int]]) -> set[int]:
        """Return the positions of those words, given by their offsets in the query, that belong to a time."""
        names = [found.span() for time in self.times for found in re.finditer(re.escape(time.text), self._query)]
        return {
            index
            for index, (start, end) in enumerate(ranges)
            if any(first <= start and end <= last for first, last in names)
        }

    def lifts(self, snapshot: Snapshot, ids: Iterable[int]) -> dict[int, Lift]:
        """Return, by chunk id, the factor for chunks dated within or next to a time of the query; other chunks are left
        out.
        """
        if not self.times:
            return {}
        ids = list(ids)
        new = [id_ for id_ in ids if id_ not in self._known]
        if new:
            dates = self._dates.of(snapshot)
            spans = {
                id_: [*dates.get(file, ()), *_dates_in_name(heading)] for id_, file, heading in _chunks(snapshot, new)
            }
            undated = [id_ for id_, known in spans.items() if not known]
            spans.update(_dates_in_texts(snapshot, undated, self.times))
            self._known.update((id_, self._lift(known)) for id_, known in spans.items())
        return {id_: lift for id_ in ids if (lift := self._known.get(id_)) is not None}

    def _lift(self, spans: Sequence[Span]) -> Lift | None:
        days, which = min(map(self._near, spans), default=(_ADJACENT_DAYS + 1, 0))
        if days > _ADJACENT_DAYS:
            return None
        return Lift(1 + _LIFT * (_ADJACENT if days else 1.0), self.times[which], days > 0)

    def _near(self, span: Span) -> tuple[int, int]:
        found = self._nearest.get(span)
        if found is None:
            found = self._nearest[span] = min((time.days_from(*span), at) for at, time in enumerate(self.times))
        return found


def _dates_of_files(snapshot: Snapshot) -> dict[int, list[Span]]:
    from engine.corpus.note_dates import date_in_name  # few queries name a time

    tables = snapshot.tables
    rows = snapshot.connection.execute(
        f"""SELECT f.id, f.path, f.title, f.source, n.dated, s.started, s.ended FROM {tables.files} f
            LEFT JOIN {tables.front_matter} n ON n.file_id = f.id
            LEFT JOIN {tables.sessions} s ON s.file_id = f.id"""
    )
    found: dict[int, list[Span]] = {}
    for file, path, title, source, dated, started, ended in rows:
        spans = list(_dates_in_name(title))
        if source == "sessions":
            begin, end = (ended if started is None else started), (started if ended is None else ended)
            if begin is not None:
                spans.append((_local(begin), _local(max(begin, end))))
        else:
            named = date_in_name(path)
            spans += [(day, day) for day in (_utc(at) for at in (named and named.moment, dated) if at is not None)]
        if spans:
            found[file] = spans
    return found


def _chunks(snapshot: Snapshot, ids: Sequence[int]) -> Iterator[tuple[int, int, str]]:
    """Yield id, file id and heading of each chunk."""
    return snapshot.connection.execute(
        f"SELECT id, file_id, heading FROM {snapshot.tables.chunks} WHERE id IN (SELECT value FROM carray(?))",
        (many(ids),),
    )


def _dates_in_texts(
    snapshot: Snapshot, ids: Sequence[int], times: Sequence[TimeExpression]
) -> Iterator[tuple[int, list[Span]]]:
    """Yield the ISO dates in each chunk's text; only chunks that may contain a date of `times` are read."""
    needles = [needle for time in times if (needle := _iso_beginning(time))]
    if not ids or not needles:
        return
    matches = " OR ".join("instr(text, ?)" for _ in needles)
    rows = snapshot.connection.execute(
        f"SELECT id, text FROM {snapshot.tables.chunks} WHERE id IN (SELECT value FROM carray(?)) AND ({matches})",
        (many(ids), *needles),
    )
    for id_, text in rows:
        yield id_, list(_iso_days(text))


def _iso_beginning(time: TimeExpression) -> str:
    """Return the common prefix of the ISO dates in a time; empty if it is too short."""
    first, last = time.first, time.last
    if (first.year, first.month) == (last.year, last.month):
        return f"-{first:%m}-" if time.yearly else f"{first.year:04}-{first:%m}-"
    return "" if time.yearly or first.year != last.year else f"{first.year:04}-"


@lru_cache(4096)
def _dates_in_name(name: str) -> tuple[Span, ...]:
    """Return the dates in a title or heading as (first day, last day)."""
    if _YEAR.search(name) is None:
        return ()
    days = tuple(_iso_days(name))
    return days or tuple((found.first, found.last) for found in read_dates(name))


def _iso_days(text: str) -> Iterator[Span]:
    for year, month, day in _ISO_DAY.findall(text):
        try:
            found = date(int(year), int(month), int(day))
        except ValueError:
            continue
        yield found, found


def _utc(moment: float) -> date:
    """Convert a stored date, Unix seconds at midnight UTC, to a date."""
    return date(1970, 1, 1) + timedelta(days=moment // 86_400)


def _local(moment: float) -> date:
    try:
        return datetime.fromtimestamp(moment).date()
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC).date()
