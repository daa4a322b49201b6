"""Limits a search to chunks, as a condition that keyword and vector search apply before they choose candidates."""

import heapq
import math
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import date, datetime, timedelta
from operator import itemgetter
from typing import Any, Generic, TypeVar

import msgspec

from engine.base import lazy_pattern
from engine.corpus.globs import Globs
from engine.corpus.path_guard import PathGuard
from engine.records import Source
from engine.search import document_frequencies
from engine.store.connection import id_array
from engine.store.index_schema import IN_TEXT_ORDER, stored_dates
from engine.store.snapshot import Snapshot
from engine.text.date_parsing import parse_period
from engine.text.operators import DATED
from engine.text.parsed_query import Clause, Field

_PRIVATE = lazy_pattern(r"memory\.md|(?:.*/)?MEMORY(?:-\d+)?\.md", re.DOTALL)
"""Stable names of files in which agents store memories for one user, also in other indexed workspaces.

An extra path that is a single file may have a number after its name.
"""
Bounds = tuple[float | None, float | None]
"""A period (since, until) in seconds since the epoch; None for no bound."""
_FOREVER_NS = 2**62
_DAY = 86_400
_MANY_FILES = 1000
"""Files from which their chunks are listed once, instead of by each statement."""
_MANY_SHARE = 3
"""The files of a large index are many if they are more than one in three."""
_MAX_CACHED = 5
"""Maximum number of cached lists, the files and chunks of two filters and the number of chunks: typing repeats them."""
_T = TypeVar("_T")
_IDS = "SELECT value FROM carray(?)"
_MAX_MARKS = 8_000_000
"""Bytes of the longest table of marks, which is copied for each statement in a few ms."""
_TICK = 0.001
"""Seconds before the end of a period that are still in it: dates are exact to a microsecond."""


class SnapshotCache(Generic[_T]):
    """Caches what a function reads from one state of the index. Thread-safe: parallel reads find the same."""

    def __init__(self, read: Callable[[Snapshot], _T]) -> None:
        self._read = read
        self._latest: tuple[tuple[object, ...], _T] | None = None

    def get(self, snapshot: Snapshot) -> _T:
        issues = snapshot.meta("issues")
        state = snapshot.identity, snapshot.tables.generation, snapshot.stamp, snapshot.hidden, issues
        latest = self._latest
        if latest is None or latest[0] != state:
            latest = self._latest = state, self._read(snapshot)
        return latest[1]


class Match(msgspec.Struct, frozen=True):
    """FTS5 expressions that limit a keyword search to chunks; empty for no limit."""

    required: str = ""
    excluded: str = ""

    def within(self, expression: str) -> str:
        """Return the FTS5 expression, with the required and excluded ones added."""
        narrowed = f"({expression}) AND ({self.required})" if self.required else f"({expression})"
        return f"({narrowed}) NOT ({self.excluded})" if self.excluded else narrowed


class ChunkFilter(msgspec.Struct, frozen=True, dict=True):
    """The files and chunks that a search is limited to; None in a field means no limit."""

    files: Sequence[int] | None = None
    """Ids of files."""
    chunks: Sequence[int] | None = None
    """Ids of chunks in ascending order, all of them in `files`."""
    match: Match | None = None
    """The limit of `chunks`, within `files`, as FTS5 expressions: binding a list of most chunks takes tens of
    milliseconds.
    """
    except_files: Sequence[int] = ()
    """Ids of files that a keyword search leaves out."""

    @property
    def narrows(self) -> bool:
        """Whether the filter limits a search to some files or chunks, instead of only leaving a few files out."""
        return self.files is not None or self.chunks is not None or self.match is not None

    def matching(self, snapshot: Snapshot, ids: Sequence[int]) -> Sequence[int]:
        """Return those of these chunks that satisfy the filter; all if its chunks are listed."""
        if (marks := self.marks_of_files(snapshot)) is not None:
            ids = [id_ for id_, file in snapshot.files_of_chunks(ids) if marks[file : file + 1] == b"\1"]
        if self.match is None or self.chunks is not None:
            return ids
        fts, required = snapshot.tables.fts, self.match.required
        expression = Match(excluded=self.match.excluded).within(required) if required else self.match.excluded
        rows = snapshot.connection.execute(
            f"SELECT w.value FROM carray(?) w CROSS JOIN {fts} ON {fts}.rowid = w.value WHERE {fts} MATCH ?",
            (id_array(ids), expression),
        )
        found = {id_ for (id_,) in rows}
        return [id_ for id_ in ids if (id_ in found) == bool(required)]

    def listed(self, snapshot: Snapshot) -> Sequence[int] | None:
        """Return the ids of the chunks in `chunks` or, without these, in `files`, ascending; None for no such limit, or
        for many files.
        """
        if self.chunks is not None or self.files is None or self.marks_of_files(snapshot) is not None:
            return self.chunks
        if "_listed" not in vars(self):
            vars(self)["_listed"] = array("q", snapshot.chunks_of_files(self.files))
        ids: Sequence[int] = vars(self)["_listed"]
        return ids

    def marks(self, snapshot: Snapshot) -> tuple[int, bytes] | None:
        """Return the lowest id of the listed chunks, and a byte for each id from it on: 1 if the chunk is among them.

        None if the ids are far apart, as in a damaged index. SQLite reads a byte in a thirtieth of a µs, but needs
        10 ms to make a table of 100,000 ids for each statement.
        """
        if "_marks" not in vars(self):
            vars(self)["_marks"] = _marks(self.listed(snapshot) or ())
        marks: tuple[int, bytes] | None = vars(self)["_marks"]
        return marks

    def marks_of_files(self, snapshot: Snapshot, *, few: bool = False) -> bytes | None:
        """Return a byte for each file id from 0 on, 1 if the filter has the file, if it has many files in a large
        index: looking up the files of chunks that are found takes less time than listing all chunks. Else None.

        `few`: few chunks are found, so that also fewer files are looked up, unless their chunks are listed already.
        """
        if "_share" not in vars(self):
            every, files = snapshot.file_count(), len(self.files or ())
            large = self.chunks is None and every > document_frequencies.LARGE // _MANY_SHARE
            vars(self)["_share"] = files / every if large and files != len(snapshot.visible or ()) else 0.0
        share: float = vars(self)["_share"]
        if not share or (share * _MANY_SHARE <= 1 and not (few and "_listed" not in vars(self))):
            return None
        if "_marks_of_files" not in vars(self):
            marks = _marks((0, *sorted(self.files or ())))
            vars(self)["_marks_of_files"] = marks and b"\0" + marks[1][1:]
        found: bytes | None = vars(self)["_marks_of_files"]
        return found

    def is_listed(self, snapshot: Snapshot) -> bool:
        """Whether `listed` limits a keyword search, not FTS5 expressions alone, a few files, or many."""
        if self.chunks is not None and self.match is None:
            return True
        several = self.files is not None and _MANY_FILES < len(self.files) != len(snapshot.visible or ())
        return several and self.marks_of_files(snapshot) is None

    def sample(self, snapshot: Snapshot) -> Sequence[int]:
        """Return the ids of the listed chunks, or of the chunks of some of many files, ascending; else none."""
        if self.is_listed(snapshot):
            return self.listed(snapshot) or ()
        if self.files is None or self.marks_of_files(snapshot) is None:
            return ()
        if "_sample" not in vars(self):
            step = max(1, len(self.files) // _MANY_FILES)
            vars(self)["_sample"] = snapshot.chunks_of_files(sorted(self.files)[::step])
        ids: Sequence[int] = vars(self)["_sample"]
        return ids

    def without(self, files: Sequence[int]) -> "ChunkFilter":
        """Return the filter for a keyword search that leaves out some more files."""
        fewer = msgspec.structs.replace(self, except_files=files)
        vars(fewer).update(vars(self))
        return fewer

    def all_files(self, snapshot: Snapshot) -> Sequence[int] | None:
        """Return the ids of the files with chunks in the filter, whose `chunks` are listed if it has conditions."""
        if self.chunks is None:
            return self.files
        return sorted({file for _, file in snapshot.files_of_chunks(self.chunks)})


def _marks(ids: Sequence[int]) -> tuple[int, bytes] | None:
    if not ids:
        return 1, b""
    first = ids[0]
    if ids[-1] - first >= _MAX_MARKS:
        return None
    marks = bytearray(ids[-1] - first + 1)
    for id_ in ids:
        marks[id_ - first] = 1
    return first, bytes(marks)


class CachedFilters:
    """Caches the files and chunks of the latest filters for one state of an index. Thread-safe: parallel searches find
    the same.
    """

    def __init__(self, guard: PathGuard, *, lasting: bool) -> None:
        """`guard` has the current exclusions. `lasting`: the index is the same for all queries."""
        self._guard = guard
        self._most = _MAX_CACHED if lasting else 0
        self._known = SnapshotCache[dict[Hashable, Any]](lambda snapshot: {})

    def get(self, snapshot: Snapshot, key: Hashable, read: Callable[[], _T]) -> _T:
        """Return what `read` returned for this key, which shows what it depends on except for the index."""
        known = self._known.get(snapshot)
        found: _T
        if (found := known.pop(key, None)) is None:
            found = read()
        known[key] = found
        for oldest in list(reversed(known))[self._most :]:
            known.pop(oldest, None)
        return found

    def files(self, snapshot: Snapshot, limits: "Filter") -> Sequence[int] | None:
        """Return the ids of the files that a filter and the current exclusions allow; None for all files."""
        # Until the next sync the index may contain files that the settings now exclude: they must not be opened.
        under = snapshot.meta("names")
        if under != self._guard.rules:
            found = limits.files(snapshot)
            refused = self._guard.refused((name for _, name in found), under)
            return [id_ for id_, name in found if name not in refused]
        if not limits.narrows:
            return snapshot.visible
        return self.get(snapshot, limits, lambda: [id_ for id_, _ in limits.files(snapshot)])


class Filter(msgspec.Struct, frozen=True):
    """Limits of a search by source, path, time and privacy.

    None or False in a field: no limit. Times are seconds since the epoch, `since` inclusive, `until` exclusive.
    """

    sources: Sequence[Source] | None = None
    path_glob: str | None = None
    since: float | None = None
    until: float | None = None
    hide_memory: bool = False
    """In a shared session, neither the user's MEMORY.md nor their other sessions are found."""

    @property
    def active(self) -> bool:
        return self.hide_memory or self.narrows

    @property
    def narrows(self) -> bool:
        """Whether the filter limits a search to some of the files that the session may know of."""
        bounds = self.sources, self.since, self.until
        return bool(self.path_glob) or any(bound is not None for bound in bounds)

    def hides(self, path: str, source: Source) -> bool:
        """Whether a file is hidden from the session that searches: private files are hidden from shared sessions."""
        return self.hide_memory and (source == "sessions" or _is_private(path))

    def files(self, snapshot: Snapshot) -> list[tuple[int, str]]:
        """Return the ids and names of the indexed files that satisfy this filter.

        `snapshot` must be limited by `KnownFiles`.
        """
        conditions = ["1"]
        values: list[object] = []
        if self.sources is not None:
            conditions.append(f"source IN ({','.join('?' for _ in self.sources)})")
            values += list(self.sources)
        if self.since is not None or self.until is not None:
            condition, bounds = in_period(snapshot, self.since, self.until)
            conditions.append(condition)
            values += bounds
        rows = snapshot.connection.execute(
            f"SELECT id, path FROM {snapshot.tables.files} WHERE {' AND '.join(conditions)}", values
        )
        globs = Globs((self.path_glob,)) if self.path_glob else None
        return [
            (id_, path)
            for id_, path in rows
            if (globs is None or globs.covers(name_without_machine(path))) and id_ not in snapshot.hidden
        ]


def in_period(snapshot: Snapshot, since: float | None, until: float | None) -> tuple[str, Sequence[object]]:
    """Return an SQL condition for files that changed in a period, or are notes of a day in it, and its values.

    A note's day is in its name or its front matter: a cloned or synchronised folder has lost the times of its files.
    `since` is inclusive, `until` exclusive, in seconds since the epoch; None for no bound.
    """
    first, end = (int(max(-_FOREVER_NS, min(_FOREVER_NS, bound * 1e9))) for bound in _bounds(since, until))
    return (
        "((mtime_ns >= ? AND mtime_ns < ?) OR id IN (SELECT value FROM carray(?)))",
        (first, end, id_array(_dated_within(snapshot, *_bounds(since, until)))),
    )


def _dated_within(snapshot: Snapshot, since: float, until: float) -> list[int]:
    """Return the ids of the notes whose own date is a day of a period of local time."""
    first, last = _day(since), _day(until - _TICK)
    days = note_days.get(snapshot)
    start = bisect_left(days, first, key=itemgetter(1))
    return [id_ for id_, _ in days[start : bisect_right(days, last, key=itemgetter(1))]]


def periods_of(clauses: Iterable[Clause]) -> list[Bounds]:
    """Return the periods that the date operators in these clauses require, one for each operator."""
    periods = list[Bounds]()
    for clause in clauses:
        atom = clause.alternatives[0]
        if len(clause.alternatives) > 1 or clause.negated or not isinstance(atom, Field) or atom.name not in DATED:
            continue
        if (bounds := bounds_of(atom)) is not None:
            periods.append(bounds)
    return periods


def bounds_of(atom: Field) -> Bounds | None:
    """Return the period that a date operator requires; None if its value is no date."""
    if (period := parse_period(atom.value)) is None:
        return None
    ends: dict[str, Bounds] = {"after": (period.start, None), "before": (None, period.start), "on": period.days()}
    return ends[atom.name]


def dates_of_notes(snapshot: Snapshot, paths: Collection[str], periods: Sequence[Bounds]) -> dict[str, tuple[str, ...]]:
    """Return, by path, the notes' own dates that are in all periods, as `2024-08-04`, ascending."""
    days = [(_day(since), _day(until - _TICK)) for since, until in (_bounds(*period) for period in periods)]
    named = f"source = 'memory' AND path IN ({','.join('?' * len(paths))})"
    rows = snapshot.connection.execute(f"SELECT id, path FROM {snapshot.tables.files} WHERE {named}", tuple(paths))
    path_of: dict[int, str] = dict(rows)
    found: dict[str, set[str]] = {}
    for id_, day in note_days.get(snapshot):
        if id_ in path_of and all(first <= day <= last for first, last in days):
            found.setdefault(path_of[id_], set()).add((date(1970, 1, 1) + timedelta(days=day)).isoformat())
    return {path: tuple(sorted(dates)) for path, dates in found.items()}


def newest(snapshot: Snapshot, scope: ChunkFilter, limit: int, without: Sequence[int] = ()) -> tuple[list[int], int]:
    """Return each file's first chunk in a filter with files or chunks, newest files first, and the number of files.

    A note's date is the latest of its own dates, or without one the time of its last change. Files with a chunk in
    `without` are left out.
    """
    tables, chunks, run = snapshot.tables, scope.chunks, snapshot.connection.execute
    files_of = f"SELECT DISTINCT c.file_id FROM carray(?) w CROSS JOIN {tables.chunk_rows} ON c.id = w.value"
    among = f"SELECT value FROM carray(?) WHERE EXISTS (SELECT 1 FROM {tables.chunks} WHERE file_id = value)"
    found = run(among, (id_array(scope.files or ()),)) if chunks is None else run(files_of, (id_array(chunks),))
    excluded = {file for (file,) in run(files_of, (id_array(without),))}
    files = [file for (file,) in found if file not in excluded]
    latest = dict(note_days.get(snapshot))
    # Only the rows of the newest ones are read: those with one of the latest days, and of the others the last changed.
    days = heapq.nlargest(limit, {latest[file] for file in files if file in latest})
    best = [file for file in files if days and latest.get(file, -math.inf) >= days[-1]]
    undated = id_array([file for file in files if file not in latest])
    changes = f"""SELECT f.id FROM carray(?) w CROSS JOIN {tables.files} f ON f.id = w.value
        ORDER BY f.mtime_ns DESC, f.path LIMIT {limit}"""
    best += (file for (file,) in run(changes, (undated,)))
    rows = list(run(f"SELECT id, mtime_ns, path FROM {tables.files} WHERE id IN ({_IDS})", (id_array(best),)))

    def order(row: tuple[int, int, str]) -> tuple[float, int, str]:
        file, changed, path = row
        return -(latest[file] * _DAY if file in latest else changed / 1e9), -changed, path

    first = dict[int, int]()
    query = f"SELECT file_id, id FROM {tables.chunks} WHERE file_id IN ({_IDS}) ORDER BY {IN_TEXT_ORDER}"
    chosen = [file for file, _, _ in heapq.nsmallest(limit, rows, key=order)]
    for file, id_ in run(query, (id_array(chosen),)):
        if file not in first and _is_in(id_, chunks):
            first[file] = id_
    return [first[file] for file in chosen], len(files)


def at_hashtags(snapshot: Snapshot, scope: ChunkFilter, ids: Sequence[int], tags: Collection[str]) -> list[int]:
    """Return, for each of these chunks, the first one of its file in the filter that has one of the tags as #tag, or
    the chunk itself, as for tags in front matter.
    """
    from engine.corpus.note_metadata import hashtag_ranges  # few queries have tags

    tables, allowed = snapshot.tables, scope.chunks
    query = f"""SELECT id, text FROM {tables.chunks} WHERE instr(text, '#')
        AND file_id = (SELECT file_id FROM {tables.chunks} WHERE id = ?) ORDER BY {IN_TEXT_ORDER}"""

    def first_of(id_: int) -> int:
        rows = snapshot.connection.execute(query, (id_,))
        found = (chunk for chunk, text in rows if _is_in(chunk, allowed) and hashtag_ranges(text, tags))
        return next(found, id_)

    return [first_of(id_) for id_ in ids]


def _is_in(id_: int, ids: Sequence[int] | None) -> bool:
    """Whether an id is among ascending ones; None for all."""
    return ids is None or ids[bisect_left(ids, id_, hi=len(ids) - 1)] == id_


def _days_of_notes(snapshot: Snapshot) -> Iterator[tuple[int, float]]:
    """Yield the id of each dated note with its day, counted from the epoch; once for each date that it has."""
    from engine.corpus.note_dates import date_in_name  # few searches name a time

    year = "'/' || f.path GLOB '*[^0-9][12][0-9][0-9][0-9]"
    rows = snapshot.connection.execute(
        f"""SELECT f.id, f.path, n.dated, n.earlier FROM {snapshot.tables.files} f
            LEFT JOIN {snapshot.tables.front_matter} n ON n.file_id = f.id
            WHERE f.source = 'memory' AND (n.dated IS NOT NULL OR
                ({year}[-_. 0-9wW/]*' AND ({year}[-_. 0-9wW]*' OR {year}/[0-9]*')))"""
    )
    for id_, path, *dates in rows:
        named = date_in_name(path)
        for moment in {*stored_dates(*dates), *(() if named is None else (named.moment,))}:
            yield id_, moment // _DAY


note_days = SnapshotCache(lambda snapshot: sorted(_days_of_notes(snapshot), key=itemgetter(1)))
"""The id of each dated note with its day, counted from the epoch; once for each of its dates."""


def _bounds(since: float | None, until: float | None) -> tuple[float, float]:
    return -math.inf if since is None else since, math.inf if until is None else until


def _day(moment: float) -> float:
    """Return the local day of a moment, counted from the epoch; infinite for a moment beyond all dates."""
    try:
        return datetime.fromtimestamp(moment).toordinal() - date(1970, 1, 1).toordinal()
    except (OverflowError, ValueError, OSError):
        return math.copysign(math.inf, moment)


class KnownFiles:
    """Limits snapshots to the files that a session may know of, so that no count or word shows the others.

    Caches the files of the latest state of one index.
    """

    def __init__(self) -> None:
        self._private_and_known = SnapshotCache(_private_and_known)

    def limited(self, snapshot: Snapshot, by: Filter) -> Snapshot:
        """Return the snapshot without the files that a filter hides."""
        return snapshot.without(*self._private_and_known.get(snapshot)) if by.hide_memory else snapshot

    @contextmanager
    def read(self, whole: AbstractContextManager[Snapshot], by: Filter) -> Iterator[Snapshot]:
        """Yield a snapshot without the files that a filter hides."""
        with whole as snapshot:
            yield self.limited(snapshot, by)


def _private_and_known(snapshot: Snapshot) -> tuple[frozenset[int], tuple[int, ...]]:
    """Return the ids of the files that shared sessions may not know of, and of the others."""
    rows = list(snapshot.connection.execute(f"SELECT id, path, source FROM {snapshot.tables.files}"))
    private = frozenset(id_ for id_, path, source in rows if Filter(hide_memory=True).hides(path, source))
    return private, tuple(id_ for id_, _, _ in rows if id_ not in private)


def name_without_machine(path: str) -> str:
    """Return the stable name without the machine that the file is from.

    The index names another machine's file `//machine/notes/a.md`; its own name is `notes/a.md`.
    """
    return path[2:].partition("/")[2] if path.startswith("//") else path


def _is_private(path: str) -> bool:
    return _PRIVATE.fullmatch(name_without_machine(path)) is not None
