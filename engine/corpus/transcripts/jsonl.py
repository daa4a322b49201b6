"""Reads lines of JSON, of any length, from any position in a plain or compressed file; damaged lines raise no error."""

import codecs
import errno
import functools
import io
import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec

from engine.base import skip_reasons
from engine.base.bounded_json import BoundedDigits, DividedStrings, built, check_digits, limited, one_value
from engine.base.cancellation import CancelToken, checkpoint
from engine.base.errors import PathRefused
from engine.corpus.safe_open import open_regular

# Reading, splitting and parsing hold the interpreter lock: blocks of this size take about a millisecond.
_BLOCK = 256 * 1024
LONGEST_LINE = 64 * 1024 * 1024
"""Longest line in bytes that is parsed; parsing takes several times as much memory."""
LARGEST_CONVERSATION = 128 * 1024**2
"""Largest conversation in bytes, which is held in memory as a whole."""
_KEPT = 512 * 1024
"""Number of bytes before the current position that can be read again without restarting."""
_LARGEST = 16 * 1024**3
"""Largest decompressed transcript in bytes; a few bytes of zstd can expand to any number."""
_WINDOW = 128 * 1024**2
"""Largest decompression window in bytes; Codex uses 2 MB."""
_T = TypeVar("_T")
_NO_CONTROLS = bytes(max(code, ord(" ")) for code in range(256))


class Unpacked:
    """Reads a compressed file's decompressed bytes at any position, block by block. For one thread.

    Codex compresses rollouts unchanged for a week (`rollout-*.jsonl.zst`, one zstd stream, with the same modification
    time), and restores the plain file to continue one. If both exist, the plain one counts.
    """

    def __init__(self, descriptor: int) -> None:
        """The caller keeps ownership of `descriptor`, and closes it afterwards."""
        self._descriptor = descriptor
        self._begin()

    def read_at(self, position: int, size: int) -> bytes:
        """Return at most `size` bytes from `position` on, fewer only at the end. Raises OSError."""
        if position < self._start:
            self._begin()
        while self._start + len(self._kept) < position + size:
            block = self._next()
            if not block:
                break
            self._kept += block
            spare = min(len(self._kept) - _KEPT, position - self._start)
            if spare > _BLOCK:
                del self._kept[:spare]
                self._start += spare
        begin = position - self._start
        return bytes(self._kept[begin : begin + size])

    def _begin(self) -> None:
        import zstandard  # only Codex compresses, and only old transcripts

        os.lseek(self._descriptor, 0, os.SEEK_SET)
        file = os.fdopen(self._descriptor, "rb", buffering=0, closefd=False)
        unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
        self._stream = unpacker.stream_reader(file, read_size=_BLOCK, read_across_frames=True, closefd=False)
        self._failure = zstandard.ZstdError
        self._kept = bytearray()
        self._start = 0

    def _next(self) -> bytes:
        if self._start + len(self._kept) >= _LARGEST:
            raise OSError(errno.EFBIG, skip_reasons.LARGE_WHEN_UNPACKED.message())
        try:
            return self._stream.read(_BLOCK)
        except self._failure:
            raise OSError(errno.EIO, skip_reasons.BAD_COMPRESSION.message()) from None


def cached_by_version(read: Callable[[str], Mapping[str, _T]]) -> Callable[[str], Mapping[str, _T]]:
    """Cache what a function reads from a file about many sessions, by session, until the file changes.

    The new function returns nothing for a file that can't be read.
    """

    @functools.lru_cache(maxsize=8)
    def read_version(path: str, _mtime: int, _size: int) -> Mapping[str, _T]:
        return read(path)

    def read_current(path: str) -> Mapping[str, _T]:
        try:
            state = os.lstat(path)
            return read_version(path, state.st_mtime_ns, state.st_size)
        except (OSError, ValueError, PathRefused):
            return {}

    return read_current


Source = int | Unpacked
"""An open file, as descriptor or decompressor."""


class RawLine(NamedTuple):
    number: int
    """Line number, from 1."""
    start: int
    """Offset of the line's first byte in the file."""
    end: int
    """Offset after the line's last byte, where its "\\n" is."""
    data: bytes
    """Bytes of the line without its "\\n" ("\\r" before it stays); only the beginning of a line that is too long."""
    complete: bool
    """False for a last line without a line end, which may be incomplete."""


def raw_lines(source: Source, *, offset: int = 0, number: int = 1, at_once: int = _BLOCK) -> Iterator[RawLine]:
    """Yield the lines of an open file from `offset`, where line `number` starts, read in blocks. Raises OSError."""
    position = offset
    start, parts, length = offset, list[bytes](), 0
    while block := read_at(source, position, at_once):
        begin = 0
        while (end := block.find(b"\n", begin)) >= 0:
            if length <= LONGEST_LINE:
                parts.append(block[begin:end])
            data = b"".join(parts)
            parts.clear()  # not to hold a long line twice
            yield RawLine(number, start, position + end, data, True)
            begin, length = end + 1, 0
            start = position + begin
            number += 1
        if begin < len(block) and length <= LONGEST_LINE:
            parts.append(block[begin:])
            length += len(block) - begin
        position += len(block)
    if position > start:
        yield RawLine(number, start, position, b"".join(parts), False)


def read_at(source: Source, position: int, size: int) -> bytes:
    """Return at most `size` bytes of an open file from `position` on. Raises OSError."""
    if not isinstance(source, int):
        return source.read_at(position, size)
    if hasattr(os, "pread"):
        return os.pread(source, size, position)
    os.lseek(source, position, os.SEEK_SET)
    return os.read(source, size)


def parse_line(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object on a line; None for any other content.

    Damage is repaired where the object survives: broken UTF-8, NUL bytes, a byte order mark, half surrogate pairs and
    (in lines up to 256 KB) NaN.
    """
    try:
        if len(data) > _BLOCK:
            value = _parse_long(data)
        else:
            try:
                value = msgspec.json.decode(data)
            except (msgspec.DecodeError, UnicodeDecodeError):
                value = json.loads(b"".join(_repaired(data)))
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def json_lines(
    path: str, cancel: CancelToken | None = None, *, mark: bytes = b""
) -> Iterator[Mapping[str, Any] | None]:
    """Yield the JSON object of each line of a file that has `mark`; None for a complete line that is not an object.

    Raises OSError, `PathRefused`, Cancelled, and ValueError if the file is larger than a conversation can be.
    """
    descriptor, state = open_regular(path)
    try:
        if state.st_size > LARGEST_CONVERSATION:
            raise ValueError(skip_reasons.LARGE_CONVERSATION.message(limit=LARGEST_CONVERSATION))
        for raw in raw_lines(descriptor):
            checkpoint(cancel)
            value = parse_line(raw.data) if len(raw.data) <= LONGEST_LINE and mark in raw.data else None
            if value is not None or (raw.complete and raw.data.strip() and not mark):
                yield value
    finally:
        os.close(descriptor)


def _repaired(data: bytes) -> Iterator[bytes]:
    """Yield a line in pieces of valid UTF-8, with blanks for control characters and a byte order mark."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for start in range(0, len(data) + 1, _BLOCK):
        text = decoder.decode(data[start : start + _BLOCK], final=start + _BLOCK > len(data))
        if not start and text.startswith("\ufeff"):
            text = text[1:]
        yield text.encode().translate(_NO_CONTROLS)


def _parse_long(data: bytes) -> object:
    """Parse a long line in steps, so that other threads can run. Raises ValueError, ArithmeticError."""
    import ijson  # only few transcripts have such lines

    check_digits(data)
    try:
        try:
            return built(limited(ijson.basic_parse(DividedStrings(io.BytesIO(data)), buf_size=_BLOCK)))
        except ijson.JSONError:
            return built(limited(ijson.basic_parse(DividedStrings(_Pieces(_repaired(data))), buf_size=_BLOCK)))
    except ijson.JSONError as error:
        raise ValueError(str(error)) from None


def list_in(data: bytes, key: str) -> Iterator[object]:
    """Yield the values of the list under a key of a JSON object, one at a time; nothing for other JSON.

    A long object is never built as a whole. Raises ValueError where it breaks off, and after very many values.
    """
    if len(data) <= _BLOCK:
        values = (parse_line(data) or {}).get(key)
        yield from values if isinstance(values, list) else ()
        return
    import ijson  # only few transcripts are that long

    events = limited(ijson.basic_parse(DividedStrings(BoundedDigits(_Pieces(_repaired(data)))), buf_size=_BLOCK))
    try:
        if next(events, ("", None))[0] != "start_map":
            return
        for event, name in events:
            value = next(events, None) if event == "map_key" else None
            if value is None or name != key or value[0] != "start_array":
                deque(() if value is None else one_value(value, events), maxlen=0)
                continue
            for first in events:
                if first[0] == "end_array":
                    break
                yield built(one_value(first, events))
    except ijson.JSONError as error:
        raise ValueError(first_line(error)) from None


class _Pieces:
    """A file object that reads from an iterator of bytes."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def read(self, _size: int = -1, /) -> bytes:
        return next(filter(None, self._pieces), b"")


def first_line(error: Exception) -> str:
    """Return the first line of a JSON parser's error message.

    Further lines quote the text, and half a secret in them would not be recognised.
    """
    return str(error).partition("\n")[0]
