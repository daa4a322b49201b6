"""The disposable map file, which lets a start show the map immediately.

It contains only numbers, no names or text, so that nothing survives its removal from the index. It is written under a
temporary name, synced and renamed; a file that does not match is ignored.
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
"""Magic, version, layout, points, dims, stamp, index and model (hash), shown variance, checksum of the body."""
_LAYOUTS: tuple[MapLayout, ...] = ("directions", "neighbours")


@dataclass(frozen=True)
class StoredLayout:
    """Positions of the chunks at one moment."""

    layout: MapLayout
    stamp: int
    ids: Ids
    """(n,)"""
    points: Vectors
    """(n, 2)"""
    mean: Vectors
    """(dims,). A vector's position by directions is (vector - mean) @ axes."""
    axes: Vectors
    shown: float
    """Share of the variance, 0 to 1."""


def save(path: Path, drawn: StoredLayout, whose: str) -> None:
    """Write or replace the file; `whose` identifies the index and the model. Raises OSError."""
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
    """Load the file of the same index and model; None if it is missing, damaged or of another one."""
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
