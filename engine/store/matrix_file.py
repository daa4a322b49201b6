"""File format of the disposable matrix file.

A header with a checksum of the body, then ids, scales and codes. The file is written under a temporary name, synced and
renamed, so a reader sees either the whole old file or the whole new one. A file that does not match is ignored.
"""

import hashlib
import mmap
import struct
import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from engine.base.private_files import replacing
from engine.store.matrix_block import Codes, Floats, Ids

_MAGIC = b"MNEMOMTX"
_VERSION = 1
_HEADER = struct.Struct("<8sIIQqq16sI")
"""Magic, version, dims, rows, generation, stamp, model key hash, checksum of the body."""
_BODY_START = 64
_CHECKSUM_STEP = 1 << 20


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
    """Write or replace the file; `codes` are pieces that together have one row per id.

    Raises OSError (disk full, read-only, and on Windows while another process still maps the older file).
    """
    with replacing(path) as file:
        file.write(bytes(_BODY_START))
        checksum = 0
        for piece in (ids.astype("<i8", copy=False), scales.astype("<f4", copy=False), *codes):
            data = np.ascontiguousarray(piece).data.cast("B") if piece.size else b""
            checksum = zlib.crc32(data, checksum)
            file.write(data)
        file.seek(0)
        file.write(_HEADER.pack(_MAGIC, _VERSION, dims, len(ids), generation, stamp, _digest(model_key), checksum))


def read_matrix(path: Path, *, generation: int, model_key: str) -> tuple[int, Ids, Floats, Codes] | None:
    """Read the stamp, ids and scales, and map the codes; None for a missing, mismatched or damaged file."""
    try:
        with open(path, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None
    if len(mapped) < _BODY_START:
        return None
    magic, version, dims, rows, of_generation, stamp, of_model, checksum = _HEADER.unpack_from(mapped)
    if (magic, version, of_generation, of_model) != (_MAGIC, _VERSION, generation, _digest(model_key)):
        return None
    if len(mapped) != _BODY_START + rows * (8 + 4 + dims) or _checksum(mapped) != checksum:
        return None
    return (
        stamp,
        np.frombuffer(mapped, "<i8", rows, _BODY_START).astype(np.int64),
        np.frombuffer(mapped, "<f4", rows, _BODY_START + rows * 8).astype(np.float32),
        _codes(mapped, rows, dims),
    )


def map_codes(path: Path, rows: int, dims: int) -> Codes:
    """Map the codes, (rows, dims), of a file that this process has just written. Raises OSError."""
    with open(path, "rb") as file:
        return _codes(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), rows, dims)


def _codes(mapped: mmap.mmap, rows: int, dims: int) -> Codes:
    return np.frombuffer(mapped, np.int8, rows * dims, _BODY_START + rows * (8 + 4)).reshape(rows, dims)


def _digest(model_key: str) -> bytes:
    return hashlib.sha256(model_key.encode()).digest()[:16]


def _checksum(mapped: mmap.mmap) -> int:
    view = memoryview(mapped)
    checksum = 0
    for start in range(_BODY_START, len(view), _CHECKSUM_STEP):
        checksum = zlib.crc32(view[start : start + _CHECKSUM_STEP], checksum)
    return checksum
