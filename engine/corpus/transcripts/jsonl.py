"""Lines of JSON: read from any place on, parsed whatever their length, never fatal."""

import io
import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

# Reading, splitting and parsing hold the interpreter's lock: so much at once takes about a millisecond.
_BLOCK = 256 * 1024


class RawLine(NamedTuple):
    number: int
    """From 1."""
    start: int
    """Offset of its first byte in the file."""
    data: bytes
    """Without the line end."""
    whole: bool
    """False for a last line without a line end: someone may still be writing it."""


def raw_lines(descriptor: int, *, offset: int = 0, number: int = 1) -> Iterator[RawLine]:
    """The lines of an open file from `offset`, where line `number` starts. Raises OSError."""
    position = offset
    start, parts = offset, list[bytes]()
    while block := os.pread(descriptor, _BLOCK, position) if hasattr(os, "pread") else _read_at(descriptor, position):
        begin = 0
        while (end := block.find(b"\n", begin)) >= 0:
            parts.append(block[begin:end])
            yield RawLine(number, start, b"".join(parts), True)
            parts.clear()
            begin = end + 1
            start = position + begin
            number += 1
        if begin < len(block):
            parts.append(block[begin:])
        position += len(block)
    if parts:
        yield RawLine(number, start, b"".join(parts), False)


def _read_at(descriptor: int, position: int) -> bytes:
    os.lseek(descriptor, position, os.SEEK_SET)
    return os.read(descriptor, _BLOCK)


def parse_line(data: bytes) -> dict[str, Any] | None:
    """The JSON object on a line; None for anything else. Half surrogate pairs and NaN are let through."""
    try:
        if len(data) > _BLOCK:
            value = _parse_long(data)
        else:
            try:
                value = msgspec.json.decode(data)
            except (msgspec.DecodeError, UnicodeDecodeError):
                value = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _parse_long(data: bytes) -> object:
    """Parsed in steps, between which other threads get their turn. Raises ValueError."""
    import ijson  # only few transcripts have such lines

    try:
        return next(iter(ijson.items(io.BytesIO(data), "", use_float=True, buf_size=_BLOCK)))
    except (ijson.JSONError, StopIteration) as error:
        raise ValueError(str(error)) from None
