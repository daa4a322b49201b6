"""Blocks of the quantised matrix, int8 vectors with a scale per row, and the cache file they are saved in.

Blocks are immutable values: a change makes a new block that shares unchanged data, so a running search on an older one
is never disturbed. Rows are only appended; rows visible to older readers are never overwritten.

The file has a header with a checksum of the body, then ids, scales and codes. It is written under a temporary name,
synced and renamed, so a reader sees either the whole old file or the whole new one. A file that does not match is
ignored.
"""

import mmap
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.base.private_files import replacing
from engine.store.vector_encoding import BODY_START, MatrixHeader, decode_header, digest

BLOCK_ROWS = 4096
_CAST_BYTES = 512 * 1024
"""Size of the pieces in which rows are cast to float32, which fits a core's second-level cache; 8 MB pieces take twice
as long.
"""

Ids = NDArray[np.int64]
Codes = NDArray[np.int8]
Floats = NDArray[np.float32]
Halves = NDArray[np.float16]
Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]
Words = NDArray[np.uint64]
Distances = NDArray[np.uint16]

_CHECKSUM_STEP = 1 << 20


def quantise(vectors: Floats | Halves) -> tuple[Codes, Floats]:
    """Quantise each vector to int8 codes from -127 to 127 and a scale factor; returns (n, dims) and (n,)."""
    codes = np.empty(vectors.shape, np.int8)
    scales = np.empty(len(vectors), np.float32)
    step = _cast_rows(vectors.shape[1])
    for start in range(0, len(vectors), step):
        part = slice(start, start + step)
        piece = vectors[part].astype(np.float32)
        scales[part] = np.abs(piece).max(axis=1, initial=0.0) / np.float32(127)
        piece /= np.where(scales[part] > 0, scales[part], np.float32(1))[:, None]
        codes[part] = np.rint(piece, out=piece)
    return codes, scales


def _cast_rows(dims: int) -> int:
    """Return the number of rows in each block that is cast to float32."""
    return max(1, _CAST_BYTES // (4 * max(1, dims)))


def sign_words(vectors: Floats, centre: Floats) -> Words:
    """Return the sign bits of vectors relative to the centre, packed into 64-bit words: (n, dims) to (n, words)."""
    packed = np.packbits(vectors > centre, axis=1)
    padded = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def _mapped_zeros(dims: int) -> Codes:
    """Return zeros (BLOCK_ROWS, dims) in memory that is returned to the system when the array is freed.

    The allocator may place large arrays between small values, where their memory can't be returned.
    """
    size = BLOCK_ROWS * dims
    pages = mmap.mmap(-1, size) if sys.platform == "win32" else mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE)
    return np.frombuffer(pages, np.int8).reshape(BLOCK_ROWS, dims)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Up to `BLOCK_ROWS` quantised vectors. A full block is sealed: it also stores the sign bits of its rows."""

    codes: Codes
    scales: Floats
    ids: Ids
    alive: Mask
    """Mask over all `BLOCK_ROWS`; unfilled rows count as alive."""
    count: int
    """Number of filled rows."""
    live: int
    """Number of filled rows that are not removed."""
    sketch: Words | None = None
    """Sign bits of a sealed block, (words, count), in the memory order of the scan."""

    @classmethod
    def empty(cls, dims: int) -> "Block":
        """Return a block without vectors, with memory for `BLOCK_ROWS` of them."""
        return cls(
            codes=_mapped_zeros(dims),
            scales=np.empty(BLOCK_ROWS, np.float32),
            ids=np.empty(BLOCK_ROWS, np.int64),
            alive=np.ones(BLOCK_ROWS, np.bool_),
            count=0,
            live=0,
        )

    @property
    def nbytes(self) -> int:
        sketch = 0 if self.sketch is None else self.sketch.nbytes
        return self.codes.nbytes + self.scales.nbytes + self.ids.nbytes + self.alive.nbytes + sketch

    def appended(self, ids: Ids, codes: Codes, scales: Floats) -> "Block":
        """Return the block with rows appended. The rows must fit, and only the newest version of a block may grow."""
        end = self.count + len(ids)
        self.codes[self.count : end] = codes
        self.scales[self.count : end] = scales
        self.ids[self.count : end] = ids
        return replace(self, count=end, live=self.live + len(ids))

    def without(self, rows: Rows) -> "Block":
        alive = self.alive.copy()
        alive[rows] = False
        return replace(self, alive=alive, live=int(np.count_nonzero(alive[: self.count])))

    def live_rows(self) -> Rows:
        return np.flatnonzero(self.alive[: self.count])

    def centre(self) -> Floats:
        """Return the mean (dims,) of the rows that are not removed."""
        rows = self.live_rows()
        total = np.zeros(self.codes.shape[1], np.float32)
        for piece, _ in self._widened(rows):
            total += piece.sum(axis=0)
        return total / np.float32(max(1, len(rows)))

    def sealed(self, centre: Floats) -> "Block":
        rows = np.arange(self.count, dtype=np.intp)
        words = np.vstack([sign_words(piece, centre) for piece, _ in self._widened(rows)])
        return replace(self, sketch=np.ascontiguousarray(words.T))

    def distances(self, bits: Words, large: Words) -> Distances:
        """Return how many sign bits of each row of a sealed block differ from `bits` (words,): (count,).

        Those that are set in `large` (words,) count three times.
        """
        assert self.sketch is not None
        differing = self.sketch ^ bits[:, None]
        counts = np.bitwise_count(differing)
        differing &= large[:, None]
        of_large = np.bitwise_count(differing)
        counts += of_large
        counts += of_large  # a shift takes twelve times as long
        distances: Distances = counts.sum(axis=0, dtype=np.uint16)
        return distances

    def cosines(self, query: Floats, rows: Rows | None = None) -> Floats:
        """Return approximate cosines of the query with the given rows, or with all filled rows."""
        scales = self.scales[: self.count] if rows is None else self.scales[rows]
        dots = np.empty(len(scales), np.float32)
        step = _cast_rows(self.codes.shape[1])
        widened = np.empty((min(step, len(dots)), len(query)), np.float32)
        taken = np.empty_like(widened, np.int8)
        for start in range(0, len(dots), step):
            end = min(start + step, len(dots))
            piece, codes = widened[: end - start], self.codes[start:end]
            if rows is not None:  # `take` needs five sixths of the time of an index
                codes = self.codes.take(rows[start:end], axis=0, out=taken[: end - start], mode="clip")
            np.copyto(piece, codes)
            np.dot(piece, query, out=dots[start:end])
        return np.multiply(dots, scales, out=dots)

    def _widened(self, rows: Rows) -> Iterator[tuple[Floats, Rows]]:
        """Yield the vectors of rows as float32, in pieces, with the rows of each piece."""
        step = _cast_rows(self.codes.shape[1])
        for start in range(0, len(rows), step):
            piece = rows[start : start + step]
            yield self.codes[piece] * self.scales[piece, None], piece


@dataclass(frozen=True, slots=True, eq=False)
class RowIndex:
    """Where each id's row is: ids, ascending, with slots, which are block number * `BLOCK_ROWS` + row."""

    ids: Ids
    slots: Ids

    @classmethod
    def empty(cls) -> "RowIndex":
        return cls(np.empty(0, np.int64), np.empty(0, np.int64))

    @property
    def nbytes(self) -> int:
        return self.ids.nbytes + self.slots.nbytes

    def find(self, ids: Ids) -> tuple[Rows, Mask]:
        """Return the sorted position of each id, and whether the index contains the id."""
        positions = np.searchsorted(self.ids, ids)
        inside = positions < len(self.ids)
        found = np.zeros(len(ids), np.bool_)
        found[inside] = self.ids[positions[inside]] == ids[inside]
        return positions, found

    def having(self, ids: Ids, slots: Ids) -> "RowIndex":
        """Return the index with these distinct ids set to these slots; existing ids are moved."""
        order = np.argsort(ids, kind="stable")
        ids, slots = ids[order], slots[order]
        positions, found = self.find(ids)
        moved = self.slots.copy()
        moved[positions[found]] = slots[found]
        new = ~found
        return RowIndex(np.insert(self.ids, positions[new], ids[new]), np.insert(moved, positions[new], slots[new]))

    def excluding(self, positions: Rows) -> "RowIndex":
        return RowIndex(np.delete(self.ids, positions), np.delete(self.slots, positions))


def by_block(slots: Ids) -> Iterator[tuple[int, Rows, Rows]]:
    """Group slots by block; yields the block's number, the rows in it, and their positions in `slots`."""
    if not len(slots):
        return
    order = np.argsort(slots, kind="stable")
    numbers = slots[order] // BLOCK_ROWS
    borders = np.flatnonzero(np.diff(numbers)) + 1
    for start, end in zip([0, *borders], [*borders, len(slots)], strict=True):
        positions = order[start:end]
        yield int(numbers[start]), (slots[positions] % BLOCK_ROWS).astype(np.intp), positions


def write_matrix(  # noqa: PLR0913 - most are options, given by name
    path: Path,
    *,
    ids: Ids,
    scales: Floats,
    codes: Iterable[Codes],
    dims: int,
    generation: int,
    model_key: str,
    stamp: int,
) -> None:
    """Write or replace the cache file; `codes` are pieces that together have one row per id.

    Raises OSError (disk full, read-only, and on Windows while another process still maps the older file).
    """
    with replacing(path) as file:
        file.write(bytes(BODY_START))
        checksum = 0
        # One piece at a time: together, the codes are as large as the whole matrix.
        for piece in chain((ids.astype("<i8", copy=False), scales.astype("<f4", copy=False)), codes):
            data = np.ascontiguousarray(piece).data.cast("B") if piece.size else b""
            checksum = zlib.crc32(data, checksum)
            file.write(data)
        file.seek(0)
        file.write(MatrixHeader(dims, len(ids), generation, stamp, digest(model_key), checksum).encode())


def read_matrix(path: Path, *, generation: int, model_key: str) -> tuple[int, Ids, Floats, Codes] | None:
    """Read the stamp, ids and scales, and map the codes; None for a missing, mismatched or damaged file."""
    try:
        with open(path, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None
    header = decode_header(mapped[:BODY_START])
    if header is None or not header.is_of(generation, model_key):
        return None
    if len(mapped) != header.file_size or _checksum(mapped) != header.checksum:
        return None
    return (
        header.stamp,
        np.frombuffer(mapped, "<i8", header.rows, BODY_START).astype(np.int64),
        np.frombuffer(mapped, "<f4", header.rows, BODY_START + header.rows * 8).astype(np.float32),
        _codes(mapped, header.rows, header.dims),
    )


def map_codes(path: Path, rows: int, dims: int) -> Codes:
    """Map the codes, (rows, dims), of a file that this process has just written. Raises OSError."""
    with open(path, "rb") as file:
        return _codes(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), rows, dims)


def _codes(mapped: mmap.mmap, rows: int, dims: int) -> Codes:
    return np.frombuffer(mapped, np.int8, rows * dims, BODY_START + rows * (8 + 4)).reshape(rows, dims)


def _checksum(mapped: mmap.mmap) -> int:
    view = memoryview(mapped)
    checksum = 0
    for start in range(BODY_START, len(view), _CHECKSUM_STEP):
        checksum = zlib.crc32(view[start : start + _CHECKSUM_STEP], checksum)
    return checksum
