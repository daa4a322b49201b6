"""Encodes where each message begins in a session's chunk, and ranges of lines or times of a session."""

from collections.abc import Iterable

import msgspec

from engine.base.bounded_json import decode_json
from engine.base.errors import IndexCorrupt
from engine.base.language import tr


class MessageOffset(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Start of a message in a chunk, and its position in the transcript."""

    offset: int
    """Code points from the chunk's beginning."""
    line: int
    ordinal: int
    id: str
    role: str


def read_offsets(encoded: bytes) -> tuple[MessageOffset, ...]:
    """Decode where each message begins in a chunk. Raises `IndexCorrupt`."""
    try:
        offsets = decode_json(encoded, tuple[MessageOffset, ...])
    except ValueError:
        offsets = ()
    if not offsets:
        raise IndexCorrupt(tr("The index does not record which messages a passage comes from."))
    return offsets


def write_ranges(ranges: Iterable[tuple[int, int]]) -> str:
    """Encode ranges of lines or seconds for the index: `7-12 30-31`."""
    return " ".join(f"{first}-{last}" for first, last in ranges)


def read_ranges(stored: str) -> tuple[tuple[int, int], ...]:
    """Decode the ranges that `write_ranges` has encoded."""
    bounds = (text.partition("-") for text in stored.split())
    return tuple((int(first), int(last)) for first, _, last in bounds if first.isdecimal() and last.isdecimal())


def in_ranges(line: int, stored: str) -> bool:
    """Whether a line is in one of the ranges that `write_ranges` has encoded."""
    return any(first <= line <= last for first, last in read_ranges(stored))
