"""The built-in model's weights and vocabulary: unpacked once into the cache folder, then mapped into memory.

Unpacking takes a second. The mapped file takes some milliseconds, and all processes share its memory. Its name contains
a hash of the package's files, so that other ones are unpacked again.
"""

import contextlib
import errno
import hashlib
import math
import mmap
import os
import stat
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from engine.base import lazy_logger
from engine.base.bounded_json import decode_json
from engine.base.private_files import cache_folder, make_folder, remove_leftovers, replacing
from engine.embedding.sentence_network import (
    TABLE,
    Network,
    Pieces,
    StringTable,
    Vocabulary,
    read_vocabulary,
    read_weights,
)

if TYPE_CHECKING:
    from engine.embedding.sentence_network import Arrays

log = lazy_logger(__name__)

_LAYOUT = b"mnemoscope model 1\n"
"""The first bytes of the file. Increase the number when the content changes."""
_NAME = "built-in-{hash}.model"
_ALIGNED = 64
_END_OF_ARCHIVE = 16 * 1024
"""Bytes at the end of the package's archive of weights that list its arrays, each with its checksum."""
_LENGTH = 4
"""Bytes that hold the length of the header."""
_LARGEST_HEADER = 64 * 1024


class Model(NamedTuple):
    network: Network
    pieces: Pieces


class _Part(msgspec.Struct, array_like=True, frozen=True):
    name: str
    kind: str
    """Type of the numbers, in numpy's notation."""
    shape: tuple[int, ...]
    start: int


class _Header(msgspec.Struct, frozen=True):
    parts: tuple[_Part, ...]
    size: int
    """Bytes behind the header."""
    checked: int
    """Number of bytes that `checksum` covers: all but the word table, since a query reads a few of its rows."""
    checksum: int


def open_model(resources: Path) -> Model:
    """Return the model of the package whose files are in this folder.

    Where the cache folder cannot be used, the model is read from the package. Damaged files of the package may raise
    any error.
    """
    path = cache_folder() / _NAME.format(hash=_hash(resources))
    cached = _cached(path)
    if cached is not None:
        return cached
    weights, vocabulary = read_weights(resources / "weights.npz"), read_vocabulary(resources / "sp.model")
    try:
        _store(path, {**_packed(vocabulary), **weights})
        cached = _cached(path)
    except OSError as error:
        log.info("The built-in model is not cached: %s", error.strerror)
    return cached or Model(Network(weights), Pieces(vocabulary))


def _hash(resources: Path) -> str:
    digest = hashlib.sha256(_LAYOUT)
    with (resources / "weights.npz").open("rb") as archive:
        size = os.fstat(archive.fileno()).st_size
        archive.seek(max(0, size - _END_OF_ARCHIVE))
        digest.update(b"%d\n" % size + archive.read())
    digest.update((resources / "sp.model").read_bytes())
    return digest.hexdigest()[:32]


# --- Reading the file ------------------------------------------------------------------------------------------------


def _cached(path: Path) -> Model | None:
    """Return the model in this file; None if there is none, or a damaged one, or one that other users may change."""
    try:
        with path.open("rb") as file:
            if not _is_private(os.fstat(file.fileno())):
                return None
            arrays = _mapped(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))
        return Model(Network(arrays), Pieces(_unpacked(arrays)))
    except (OSError, ValueError, KeyError):
        return None


def _is_private(state: os.stat_result) -> bool:
    if not stat.S_ISREG(state.st_mode):
        return False
    return sys.platform == "win32" or (state.st_uid == os.getuid() and not stat.S_IMODE(state.st_mode) & 0o022)


def _mapped(whole: memoryview) -> "Arrays":
    """Return the arrays in the file's content. Raises ValueError if it is damaged."""
    begin = len(_LAYOUT) + _LENGTH
    end = begin + int.from_bytes(whole[len(_LAYOUT) : begin], "little")
    if whole[: len(_LAYOUT)] != _LAYOUT or end > _LARGEST_HEADER:
        raise ValueError("no header")
    header = decode_json(bytes(whole[begin:end]), _Header)
    content = whole[end:]
    if len(content) != header.size or zlib.crc32(content[: header.checked]) != header.checksum:
        raise ValueError("damaged")
    return {
        part.name: np.frombuffer(content, part.kind, math.prod(part.shape), part.start).reshape(part.shape)
        for part in header.parts
    }


def _unpacked(arrays: "Arrays") -> Vocabulary:
    ids, longest = (
        StringTable({key.removeprefix(name): array for key, array in arrays.items() if key.startswith(name)})
        for name in ("ids_", "longest_")
    )
    scores = arrays["scores"]
    return Vocabulary(ids, scores.data, float(arrays["lowest"]), longest, arrays["rules"].tobytes())


# --- Writing it ------------------------------------------------------------------------------------------------------


def _packed(vocabulary: Vocabulary) -> "Arrays":
    arrays = {
        "scores": np.array(vocabulary.scores, dtype=np.float32),
        "lowest": np.array(vocabulary.lowest),
        "rules": np.frombuffer(vocabulary.rules, np.uint8),
    }
    for name, values in (("ids", vocabulary.ids), ("longest", vocabulary.longest)):
        assert isinstance(values, dict)
        arrays |= {f"{name}_{part}": array for part, array in StringTable.arrays_of(values).items()}
    return arrays


def _store(path: Path, arrays: "Arrays") -> None:
    """Write the file under another name first, verify its content, and remove other versions. Raises OSError."""
    make_folder(path.parent)
    remove_leftovers(path.parent)
    parts: list[_Part] = []
    blocks: list[bytes | memoryview] = []
    size = checked = checksum = 0
    for name in (*(name for name in arrays if name != TABLE), TABLE):
        array = np.ascontiguousarray(arrays[name])
        data = array.reshape(-1).view(np.uint8).data
        padding = bytes(-len(data) % _ALIGNED)
        parts.append(_Part(name, array.dtype.str, arrays[name].shape, size))
        blocks += data, padding
        size += len(data) + len(padding)
        if name != TABLE:
            checked, checksum = size, zlib.crc32(padding, zlib.crc32(data, checksum))
    header = msgspec.json.encode(_Header(tuple(parts), size, checked, checksum))
    header += b" " * (-(len(_LAYOUT) + _LENGTH + len(header)) % _ALIGNED)
    blocks.insert(0, _LAYOUT + len(header).to_bytes(_LENGTH, "little") + header)
    with replacing(path) as file:
        for block in blocks:
            file.write(block)
    with path.open("rb") as written:
        whole = all(written.read(len(block)) == block for block in blocks)
    if not whole:
        path.unlink()
        raise OSError(errno.EIO, "the disk returns other data than was written")
    for other in path.parent.glob(_NAME.format(hash="*")):
        if other != path:
            with contextlib.suppress(OSError):  # Windows cannot delete a mapped file
                other.unlink()
