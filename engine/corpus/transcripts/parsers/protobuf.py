"""Reads Protobuf messages without their definition, by the numbers of their fields."""

from collections.abc import Mapping, Sequence
from typing import Any

_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5
_LONGEST_VARINT = 10
_MAX_FIELDS = 100_000
"""Fields of a message that are read, since a damaged one of 64 MB may have tens of millions."""

Fields = Mapping[int, Sequence[Any]]
"""Values of a Protobuf message by the number of their field: int or bytes."""


def fields_of(data: object) -> Fields:
    """Return the fields of a Protobuf message; those after the first error are missing."""
    fields: dict[int, list[Any]] = {}
    if not isinstance(data, bytes):
        return fields
    at = 0
    value: int | bytes
    for _ in range(_MAX_FIELDS):
        if at >= len(data):
            break
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, end = _varint(data, at)
        elif kind == _BYTES:
            length, start = _varint(data, at)
            end = start + length
            value = data[start:end]
        elif kind in (_FIXED_64, _FIXED_32):
            end = at + (8 if kind == _FIXED_64 else 4)
            value = data[at:end]
        else:
            break
        if end > len(data) or not number:
            break
        fields.setdefault(number, []).append(value)
        at = end
    return fields


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return an integer of variable length, and where it ends; beyond the data if it is truncated."""
    value = 0
    for number, byte in enumerate(data[at : at + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << 7 * number
        if byte < 0x80:
            return value, at + number + 1
    return 0, len(data) + 1
