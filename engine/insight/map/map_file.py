"""The disposable file of a map, so that it is shown immediately after a start.

It contains only numbers, no names and no text: deleted notes must not survive here. Written to a temporary file, synced
and renamed; an invalid file is treated as missing.
"""

import hashlib
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.base.private_files import read_file, replacing
from engine.records import MapLayout
from engine.store.vector_encoding import Ids, Vectors

_MAGIC = b"MNEMOMAP"
_VERSION = 1
_HEADER = struct.Struct("<8sIIIIq32sfI")
"""Magic, version, layout, points, dims, stamp, owner (hash), shown variance, checksum of the body."""
_LAYOUTS: tuple[MapLayout, ...] = ("directions", "neighbours")


@dataclass(frozen=True)
class StoredLayout:
    """Where the chunks of one moment lie."""

    layout: MapLayout
    stamp: int
    ids: Ids
    """(n,)"""
    points: Vectors
    """(n, 2)"""
    mean: Vectors
    """(dims,), and the two axes (dims, 2) on which a vector's place by directions is (vector - mean) @ axes."""
    axes: Vectors
    shown: float
    """Share of the variance, 0 to 1."""


def save(path: Path, drawn: StoredLayout, whose: str) -> None:
    """Replace the file; `whose` identifies the index and the model. Raises OSError."""
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
        _digest(whose),
        drawn.shown,
        zlib.crc32(body),
    )
    with replacing(path) as file:
        file.write(header)
        file.write(body)


def load(path: Path, whose: str) -> StoredLayout | None:
    """What was saved for the same index and model; None for a missing, another or a damaged file."""
    try:
        content = read_file(path)
    except OSError:
        return None
    if len(content) < _HEADER.size:
        return None
    magic, version, layout, points, dims, stamp, of, shown, checksum = _HEADER.unpack_from(content)
    if (magic, version, of) != (_MAGIC, _VERSION, _digest(whose)) or layout >= len(_LAYOUTS):
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
        shown=shown,
    )


def _digest(whose: str) -> bytes:
    return hashlib.sha256(whose.encode()).digest()
