"""Input and output of a map: the vectors of all visible chunks at one moment, and the cache file of points.

The file lets a start show the map immediately. It contains only numbers, no names or text, so that nothing survives its
removal from the index. It is written under a temporary name, synced and renamed; a file that does not match is ignored.
"""

import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.base.private_files import read_file, replacing
from engine.corpus.path_guard import PathGuard
from engine.records import MapFile, MapLayout
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import Ids, Vectors, integers

_PIECE_BYTES = 8 << 20

Codes = NDArray[np.int8]
Positions = NDArray[np.int32]

_MAGIC = b"MNEMOMAP"
_VERSION = 1
_HEADER = struct.Struct("<8sIIIIq32sfI")
"""Magic, version, layout, points, dims, stamp, index and model (hash), shown variance, checksum of the body."""
_LAYOUTS: tuple[MapLayout, ...] = ("directions", "neighbours")


@dataclass(frozen=True)
class Listing:
    """All chunks of the index at one moment, by ascending id, and their files."""

    chunks: Ids
    """(c,)"""
    file_index: Ids
    """(c,), the index of each chunk's file in `files`; -1 for hidden chunks."""
    files: tuple[MapFile, ...]
    stamp: int

    def positions(self, ids: Ids) -> Positions:
        """Return the position in `files` of each chunk's file, (n,); -1 for unknown or hidden chunks."""
        if not len(self.chunks):
            return np.full(len(ids), -1, np.int32)
        at = np.minimum(np.searchsorted(self.chunks, ids), len(self.chunks) - 1)
        return np.where(self.chunks[at] == ids, self.file_index[at], -1).astype(np.int32)


@dataclass(frozen=True)
class Rows:
    """Quantised vectors (n, dims) of the chunks `ids` (n,)."""

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
    """Read the chunks and files of a snapshot; files that the settings exclude by now are hidden."""
    chunks, chunk_files = _chunks(snapshot)
    file_ids, files = _files(snapshot)
    at = np.minimum(np.searchsorted(file_ids, chunk_files), max(0, len(file_ids) - 1))
    file_index = np.where(file_ids[at] == chunk_files, at, -1) if len(file_ids) else np.full(len(chunks), -1)
    if refused := guard.refused((file.path for file in files), snapshot.meta("names")):
        hidden = [index for index, file in enumerate(files) if file.path in refused]
        file_index[np.isin(file_index, hidden)] = -1
    return Listing(chunks, file_index, files, snapshot.stamp)


def rows_of(listing: Listing, parts: Iterable[tuple[Ids, Codes, Vectors]], dims: int) -> Rows:
    """Return the vectors of visible chunks, from parts of (ids, codes, scales)."""
    visible_ids, visible = [np.empty(0, np.int64)], []
    for ids, codes, scales in parts:
        listed = listing.positions(ids) >= 0
        whole = bool(listed.all())
        visible_ids.append(ids if whole else ids[listed])
        visible.append((codes, scales) if whole else (codes[listed], scales[listed]))
    return Rows(np.concatenate(visible_ids), dims, tuple(visible))


def _chunks(snapshot: Snapshot) -> tuple[Ids, Ids]:
    """Return the ids of all chunks, ascending, and the file id of each."""
    rows = snapshot.connection.execute(f"SELECT id, file_id FROM {snapshot.tables.chunks}")
    pairs = integers(rows, 2)
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def _files(snapshot: Snapshot) -> tuple[Ids, tuple[MapFile, ...]]:
    """Return the ids of all files, ascending, and the files."""
    rows = snapshot.connection.execute(
        f"""SELECT f.id, f.path, f.source, coalesce(s.agent, ''), f.mtime_ns / 1e9
            FROM {snapshot.tables.files} f LEFT JOIN {snapshot.tables.sessions} s ON s.file_id = f.id ORDER BY f.id"""
    )
    ids, files = [], []
    for id_, path, source, agent, modified in rows:
        ids.append(id_)
        files.append(MapFile(path=path, source=source, agent=agent, modified=modified))
    return np.array(ids, np.int64), tuple(files)


@dataclass(frozen=True)
class StoredLayout:
    """Positions of the chunks on the map at one moment."""

    layout: MapLayout
    stamp: int
    ids: Ids
    """(n,)"""
    points: Vectors
    """(n, 2)"""
    mean: Vectors
    """(dims,). In a layout by principal components, a vector's position is (vector - mean) @ axes."""
    axes: Vectors
    shown_variance: float
    """Share of the vectors' variance that the layout shows, 0 to 1."""


def save_layout(path: Path, drawn: StoredLayout, identity: str) -> None:
    """Write the layout file; `identity` identifies the index and the model. Raises OSError."""
    arrays = (
        drawn.ids.astype("<i8"),
        drawn.points.astype("<f4"),
        drawn.mean.astype("<f4"),
        drawn.axes.astype("<f4"),
    )
    body = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
    header = _HEADER.pack(
        _MAGIC,
        _VERSION,
        _LAYOUTS.index(drawn.layout),
        len(drawn.ids),
        len(drawn.mean),
        drawn.stamp,
        _digest(identity),
        drawn.shown_variance,
        zlib.crc32(body),
    )
    with replacing(path) as file:
        file.write(header)
        file.write(body)


def load_layout(path: Path, identity: str) -> StoredLayout | None:
    """Load the layout file; None if it is missing, damaged, or of another index or model than `identity`."""
    try:
        content = read_file(path)
    except OSError:
        return None
    if len(content) < _HEADER.size:
        return None
    magic, version, layout, points, dims, stamp, digest, variance, checksum = _HEADER.unpack_from(content)
    if (magic, version, digest) != (_MAGIC, _VERSION, _digest(identity)) or layout >= len(_LAYOUTS):
        return None
    body = memoryview(content)[_HEADER.size :]
    if len(body) != 16 * points + 12 * dims or zlib.crc32(body) != checksum:
        return None
    floats = np.frombuffer(body, "<f4", offset=8 * points).astype(np.float32)
    return StoredLayout(
        layout=_LAYOUTS[layout],
        stamp=stamp,
        ids=np.frombuffer(body, "<i8", points).astype(np.int64),
        points=floats[: 2 * points].reshape(points, 2),
        mean=floats[2 * points : 2 * points + dims],
        axes=floats[2 * points + dims :].reshape(dims, 2),
        shown_variance=variance,
    )


def _digest(identity: str) -> bytes:
    return hashlib.sha256(identity.encode()).digest()
