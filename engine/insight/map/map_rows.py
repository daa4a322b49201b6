"""Input of a map: the vectors of all visible chunks and their files, at one moment of the index."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from engine.corpus.path_guard import PathGuard
from engine.records import MapFile
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import Ids, Vectors

_PIECE_BYTES = 8 << 20
_FETCHED = 4096
"""Rows of SQLite converted to an array in one call; longer lists would hold the interpreter too long."""

Codes = NDArray[np.int8]
Places = NDArray[np.int32]


@dataclass(frozen=True)
class Listing:
    """All chunks at one moment, in rising order, and their files."""

    chunks: Ids
    """(c,)"""
    place_of: Ids
    """(c,), the index of each chunk's file in `files`; -1 for hidden chunks."""
    files: tuple[MapFile, ...]
    stamp: int

    def places(self, ids: Ids) -> Places:
        """Indexes in `files` of the files of these chunks, (n,); -1 for unknown or hidden chunks."""
        if not len(self.chunks):
            return np.full(len(ids), -1, np.int32)
        at = np.minimum(np.searchsorted(self.chunks, ids), len(self.chunks) - 1)
        return np.where(self.chunks[at] == ids, self.place_of[at], -1).astype(np.int32)


@dataclass(frozen=True)
class Rows:
    """Quantised vectors (n, dims), one for each chunk of `ids` (n,)."""

    ids: Ids
    dims: int
    parts: tuple[tuple[Codes, Vectors], ...]
    """Codes (m, dims) and scales (m,) of consecutive parts."""

    def __len__(self) -> int:
        return len(self.ids)

    def pieces(self, every: int = 1) -> Iterator[tuple[slice, Vectors]]:
        """Yield every `every`-th vector as float32, at most 8 MB at a time, with the slice of rows it covers."""
        step = max(1, _PIECE_BYTES // (4 * self.dims)) * every
        before = 0
        for codes, scales in self.parts:
            for start in range(0, len(codes), step):
                part = slice(start, min(start + step, len(codes)), every)
                where = slice(before + part.start, before + part.stop, every)
                yield where, codes[part] * scales[part, None]
            before += len(codes)


def read_listing(snapshot: Snapshot, guard: PathGuard) -> Listing:
    """Chunks and files of a snapshot; files that the settings exclude by now are hidden."""
    chunks, chunk_files = _chunks(snapshot)
    file_ids, files = _files(snapshot)
    at = np.minimum(np.searchsorted(file_ids, chunk_files), max(0, len(file_ids) - 1))
    place_of = np.where(file_ids[at] == chunk_files, at, -1) if len(file_ids) else np.full(len(chunks), -1)
    if refused := guard.refused((file.path for file in files), snapshot.meta("names")):
        hidden = [place for place, file in enumerate(files) if file.path in refused]
        place_of[np.isin(place_of, hidden)] = -1
    return Listing(chunks, place_of, files, snapshot.stamp)


def rows_of(listing: Listing, parts: Iterable[tuple[Ids, Codes, Vectors]], dims: int) -> Rows:
    """The vectors of visible chunks, from parts of (ids, codes, scales)."""
    ids_kept, kept = [np.empty(0, np.int64)], []
    for ids, codes, scales in parts:
        seen = listing.places(ids) >= 0
        whole = bool(seen.all())
        ids_kept.append(ids if whole else ids[seen])
        kept.append((codes, scales) if whole else (codes[seen], scales[seen]))
    return Rows(np.concatenate(ids_kept), dims, tuple(kept))


def _chunks(snapshot: Snapshot) -> tuple[Ids, Ids]:
    """Ids of all chunks in rising order, and the file id of each."""
    cursor = snapshot.connection.execute(f"SELECT id, file_id FROM {snapshot.tables.chunks}")
    found = [np.empty((0, 2), np.int64)]
    while batch := list(islice(cursor, _FETCHED)):
        found.append(np.array(batch, np.int64))
    pairs = np.concatenate(found)
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def _files(snapshot: Snapshot) -> tuple[Ids, tuple[MapFile, ...]]:
    """Ids of all files in rising order, and the files."""
    rows = snapshot.connection.execute(
        f"""SELECT f.id, f.path, f.title, f.source, coalesce(s.agent, ''), f.mtime_ns / 1e9
            FROM {snapshot.tables.files} f LEFT JOIN {snapshot.tables.sessions} s ON s.file_id = f.id ORDER BY f.id"""
    )
    ids, files = [], []
    for id_, path, title, source, agent, modified in rows:
        ids.append(id_)
        files.append(MapFile(path=path, title=title, source=source, agent=agent, modified=modified))
    return np.array(ids, np.int64), tuple(files)
