"""Counts the content of an index for the overview page."""

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import accumulate

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.skip_reasons import files_covered
from engine.corpus.transcripts.session_stores import is_in_store
from engine.records import (
    ChunkSizes,
    DiskPart,
    DiskPartName,
    FileIssue,
    FolderCount,
    IndexOverview,
    IndexSizes,
    MonthCount,
    Source,
)
from engine.store.connection import number
from engine.store.index import IndexStore
from engine.store.snapshot import Snapshot
from engine.store.stored_models import ModelName
from engine.store.user_data import UserData

_MAX_BARS = 16
_SECONDS = 1_000_000_000
_TABLES: tuple[tuple[DiskPartName, re.Pattern[str]], ...] = (
    ("words", re.compile(r"chunks_fts_")),
    ("vectors", re.compile(r"embedding_cache|sqlite_autoindex_embedding_cache|models|chunks_vec")),
    ("free", re.compile(r"discarded_")),
    ("text", re.compile(r"(sqlite_autoindex_)?(chunks|files|sessions|tags|transcripts)_\d")),
)
_ORDER: tuple[DiskPartName, ...] = ("text", "words", "vectors", "matrix", "log", "user", "other", "free")
_DEEPEST = 3
_MAX_FOLDERS = 2000
_SESSIONS = "sessions/"

_Folder = tuple[Source, str]
_Parts = tuple[str, ...]
_Key = tuple[Source, _Parts]
_Tally = list[int]
"""Numbers of files, chunks, pending chunks, failed and skipped files."""


def count_folders(
    files: Iterable[tuple[Source, str, int, int]],
    failed: Iterable[FileIssue],
    skipped: Iterable[FileIssue],
    stores: Collection[str],
) -> tuple[FolderCount, ...]:
    """Count files and chunks per folder, in the order of `IndexOverview.folders`.

    `files`: source, stable name, chunks and pending chunks of each. `stores`: names of the stores of sessions.
    """
    tallies: defaultdict[_Folder, _Tally] = defaultdict(lambda: [0] * 5)
    # A folder's own files first, then each folder into those above it: most folders have many files.
    for source, path, chunks, pending in files:
        tally = tallies[source, path.rpartition("/")[0]]
        tally[0] += 1
        tally[1] += chunks
        tally[2] += pending
    for column, issues in ((3, failed), (4, skipped)):
        for issue in issues:
            tallies[_folder_of(issue, stores)][column] += files_covered(issue.detail)
    return _in_order(_summed(tallies))


def _folder_of(issue: FileIssue, stores: Collection[str]) -> _Folder:
    # Notes may be in a folder called sessions, too.
    source: Source = "sessions" if is_in_store(issue.path, stores) else "memory"
    # Items without a stable name, such as a missing root, count for their source only.
    return source, "" if issue.path.startswith("/") else issue.path.rpartition("/")[0]


def _summed(tallies: dict[_Folder, _Tally]) -> dict[_Key, _Tally]:
    """Return the counts of each folder with its subfolders, down to the deepest level that is displayed."""
    levels: list[dict[_Key, _Tally]] = [{} for _ in range(_DEEPEST + 1)]
    for (source, folder), tally in tallies.items():
        parts = _parts(source, folder)[:_DEEPEST]
        _add(levels[len(parts)], (source, parts), tally)
    for depth in range(_DEEPEST, 0, -1):
        for (source, parts), tally in levels[depth].items():
            _add(levels[depth - 1], (source, parts[:-1]), tally)
    return {key: tally for level in levels for key, tally in level.items()}


def _add(tallies: dict[_Key, _Tally], key: _Key, more: _Tally) -> None:
    tally = tallies.setdefault(key, [0] * len(more))
    for column, figure in enumerate(more):
        tally[column] += figure


def _parts(source: Source, folder: str) -> _Parts:
    """Split a folder's path into names; `sessions/` at its beginning is part of the first name."""
    if source == "sessions" and folder.startswith(_SESSIONS):
        first, *rest = folder.removeprefix(_SESSIONS).split("/")
        return (_SESSIONS + first, *rest)
    return tuple(folder.split("/")) if folder and (source, folder) != ("sessions", _SESSIONS.rstrip("/")) else ()


def _in_order(tallies: dict[_Key, _Tally]) -> tuple[FolderCount, ...]:
    """Return the folders, each before its subfolders, largest first; of very many only the highest and largest."""
    # By depth, chunks and files, then by name.
    ranked = sorted(tallies, key=lambda key: (len(key[1]), -tallies[key][1], -tallies[key][0], key))
    below: defaultdict[_Key, list[_Key]] = defaultdict(list)
    for source, parts in ranked[:_MAX_FOLDERS]:
        if parts:
            below[source, parts[:-1]].append((source, parts))
    ordered: list[FolderCount] = []

    def put(key: _Key) -> None:
        ordered.append(_folders_count(key, tallies[key]))
        for inner in below[key]:
            put(inner)

    for key in ranked:
        if not key[1]:
            put(key)
    return tuple(ordered)


def _folders_count(key: _Key, tally: _Tally) -> FolderCount:
    source, parts = key
    files, chunks, pending, failed, skipped = tally
    return FolderCount(
        source=source,
        name="/".join(parts),
        depth=len(parts),
        files=files,
        chunks=chunks,
        pending=pending,
        failed=failed,
        skipped=skipped,
    )


def in_database(snapshot: Snapshot) -> Counter[DiskPartName]:
    """Return the size in bytes of each kind of data in the index file; reads the header of each page."""
    page = number(snapshot.connection, "PRAGMA page_size")
    sizes: Counter[DiskPartName] = Counter()
    rows = snapshot.connection.execute("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE")
    for name, size in rows:
        sizes[next((part for part, names in _TABLES if names.match(name)), "other")] += size
    sizes["free"] += page * number(snapshot.connection, "PRAGMA freelist_count")
    # Pages of no table, such as page maps.
    sizes["other"] += page * number(snapshot.connection, "PRAGMA page_count") - sizes.total()
    return sizes


def disk_parts(database: Counter[DiskPartName], sizes: IndexSizes) -> tuple[DiskPart, ...]:
    """Return the size of each kind of data, in the index file and in the files next to it; together their size.

    Pages that are only in the write-ahead log so far count as the data in them.
    """
    rest = Counter(database)
    only_in_log = max(0, database.total() - sizes.database)
    rest.update(matrix=sizes.matrix, log=max(0, sizes.wal - only_in_log), user=sizes.user)
    return tuple(DiskPart(name=name, bytes=rest[name]) for name in _ORDER if rest[name] > 0)


@dataclass(frozen=True)
class _Rows:
    """Rows for the overview, read from one snapshot, before sums are computed."""

    generation: int
    files: list[tuple[int, Source, str]]
    chunks: dict[int, int]
    """Number of chunks by file id."""
    pending: dict[int, int]
    failed: tuple[FileIssue, ...]
    skipped: tuple[FileIssue, ...]
    lengths: dict[int, int]
    months: tuple[MonthCount, ...]
    disk: Counter[DiskPartName]


class Overviews:
    """Makes the overview of one index, counted again only after changes. Thread-safe."""

    def __init__(self, store: IndexStore, user: UserData, session_stores: Collection[str]) -> None:
        """`session_stores`: names of the stores of sessions."""
        self._session_stores = session_stores
        self._store = store
        self._user = user
        self._lock = threading.Lock()
        self._state: tuple[object, ...] = ()
        self._counted: IndexOverview | None = None

    def current(self, model: ModelName | None, cancel: CancelToken | None) -> IndexOverview:
        """Return the current overview; vectors of `model` are counted.

        Takes some tenths of a second for 100,000 chunks.
        """
        rows = None
        with self._store.read(cancel) as snapshot:
            state = (*_state_of(snapshot), model)
            counted = self._cached(state)
            if counted is None:
                rows = _read(snapshot, model)
        if rows is not None:
            counted = _count(rows, self._store.sizes(), self._session_stores)
            with self._lock:
                self._state, self._counted = state, counted
        assert counted is not None
        syncs = tuple(sync for sync in self._user.stored_syncs() if sync.backend == "builtin")
        return msgspec.structs.replace(counted, syncs=syncs)

    def _cached(self, state: tuple[object, ...]) -> IndexOverview | None:
        with self._lock:
            return self._counted if state == self._state else None


def _state_of(snapshot: Snapshot) -> tuple[object, ...]:
    """Return a value that changes whenever the overview may have changed."""
    pages = (number(snapshot.connection, f"PRAGMA {pragma}") for pragma in ("page_count", "freelist_count"))
    return (snapshot.identity, snapshot.generation, snapshot.stamp, snapshot.meta("issues"), *pages)


def _read(snapshot: Snapshot, model: ModelName | None) -> _Rows:
    """Read everything from one snapshot; sums are computed after it is released."""
    tables, run = snapshot.tables, snapshot.connection.execute
    chunks: dict[int, int] = dict(run(f"SELECT file_id, count(*) FROM {tables.chunks} GROUP BY 1"))
    return _Rows(
        generation=snapshot.generation,
        files=list(run(f"SELECT id, source, path FROM {tables.files}")),
        chunks=chunks,
        pending=_pending(snapshot, model, chunks),
        failed=(*snapshot.issues("failed"), *snapshot.issues("not embedded")),
        skipped=snapshot.issues("skipped"),
        lengths=dict(run(f"SELECT length(text), count(*) FROM {tables.chunks} GROUP BY 1 ORDER BY 1")),
        months=_months(snapshot),
        disk=in_database(snapshot),
    )


def _count(rows: _Rows, sizes: IndexSizes, stores: Collection[str]) -> IndexOverview:
    files = ((source, path, rows.chunks.get(id_, 0), rows.pending.get(id_, 0)) for id_, source, path in rows.files)
    return IndexOverview(
        generation=rows.generation,
        folders=count_folders(files, rows.failed, rows.skipped, stores),
        sizes=_sizes(rows.lengths),
        months=rows.months,
        disk=disk_parts(rows.disk, sizes),
        syncs=(),
    )


def _pending(snapshot: Snapshot, model: ModelName | None, chunks: dict[int, int]) -> dict[int, int]:
    """Return the number of chunks without a vector, by file id.

    If all or no chunks have a vector, the index of hashes answers immediately.
    """
    stored = None if model is None else snapshot.stored_model(*model)
    missing = snapshot.pending_vectors(stored)
    if stored is None or missing == sum(chunks.values()):
        return chunks
    if not missing:
        return {}
    rows = snapshot.connection.execute(
        f"""SELECT c.file_id, count(*) FROM {snapshot.tables.chunks} c WHERE NOT EXISTS (
                SELECT 1 FROM embedding_cache e WHERE e.model_id = ? AND e.hash = c.hash) GROUP BY 1""",
        (stored.id,),
    )
    return dict(rows)


def _sizes(lengths: dict[int, int]) -> ChunkSizes:
    """Return the distribution of chunk lengths; `lengths`: number of chunks by length, shortest first."""
    if not lengths:
        return ChunkSizes(median=0, longest=0, width=0, counts=())
    middle = (sum(lengths.values()) + 1) // 2
    passed = zip(lengths, accumulate(lengths.values()), strict=True)
    median = next(length for length, so_far in passed if so_far >= middle)
    longest = max(lengths)
    width = _round_width(longest)
    counts = [0] * -(-longest // width)
    for length, count in lengths.items():
        counts[max(0, length - 1) // width] += count
    return ChunkSizes(median=median, longest=longest, width=width, counts=tuple(counts))


def _round_width(longest: int) -> int:
    """Return the smallest round width of bars in a chart that does not result in too many bars."""
    unit = 1
    while True:
        for step in (1, 2, 5):
            if step * unit * _MAX_BARS >= longest:
                return step * unit
        unit *= 10


def _months(snapshot: Snapshot) -> tuple[MonthCount, ...]:
    """Return the number of notes and sessions by local month; times outside SQLite's range are left out."""
    rows = snapshot.connection.execute(
        f"""SELECT strftime('%Y', moment, 'unixepoch', 'localtime'), strftime('%m', moment, 'unixepoch', 'localtime'),
                sum(source = 'memory'), sum(source = 'sessions')
            FROM (SELECT f.source, coalesce(s.started, f.mtime_ns / {_SECONDS}) AS moment
                FROM {snapshot.tables.files} f LEFT JOIN {snapshot.tables.sessions} s ON s.file_id = f.id)
            GROUP BY 1, 2 HAVING count(strftime('%Y', moment, 'unixepoch', 'localtime')) ORDER BY 1, 2"""
    )
    return tuple(
        MonthCount(year=int(year), month=int(month), notes=notes, sessions=sessions)
        for year, month, notes, sessions in rows
    )
