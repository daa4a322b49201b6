"""Parse untrusted JSON and TOML with limits on depth and on the digits of numbers.

An integer that Python refuses to read (more than 4,300 digits) makes ijson's C parser continue with an error set,
which can crash the process. `check_digits` finds such a number in a text, and `BoundedDigits` shortens it in a file.
Neither is needed with `use_float=True`: the parser then refuses every integer of more than 64 bits.

A string that continues in the next block is scanned from its beginning for each block: one of 64 MB would take minutes.
`DividedStrings` makes an array of such a string, which `built` joins.
"""

import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any, Protocol, TypeVar

import msgspec

from engine.base import lazy_pattern, skip_reasons

_DEEPEST = 500
_MAX_EVENTS = 3_000_000
_MAX_DIGITS = 4300
# Without the look behind, each digit of a long run would be tried as its beginning.
_RUN = rb"(?<![0-9])[0-9]{%d,}" % (_MAX_DIGITS + 1)
_TOO_MANY_DIGITS = lazy_pattern(_RUN)
_DIGITS = b"0123456789"
_STRUCTURE = lazy_pattern(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
"""Strings and brackets."""
_STRINGS_OR_DIGITS = lazy_pattern(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|(%s)' % _RUN, re.DOTALL)
FIRST_HALF = rb"\\u[dD][89abAB][0-9a-fA-F]{2}"
"""Pattern of the escaped first half of a surrogate pair."""
_FIRST_HALF = lazy_pattern(FIRST_HALF)
ESCAPE, PAIR = 6, 12  # bytes of an escaped half, and of both
_LONGEST_STRING = 256 * 1024
_LONG_STRING_MARK = os.urandom(16).hex()  # not by `secrets`, which imports five modules at each start
"""First value of the array that stands for a long string; no document can have it."""
_KEY_PART = r"""(?:(?<![\w-])[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_KEY_PARTS = 100
_LONG_KEY = lazy_pattern(rf"{_KEY_PART}(?:[ \t]*+\.[ \t]*+{_KEY_PART}){{{_KEY_PARTS}}}")
"""A key of more than 100 parts in TOML: its parser needs memory and time for the square of the parts."""
_Event = tuple[str, Any]
Value = TypeVar("Value")


class Readable(Protocol):
    def read(self, size: int = ..., /) -> bytes: ...


def decode_json(data: bytes | str, kind: type[Value]) -> Value:
    """Decode JSON as a value of this type. Raises ValueError for any other content, however deeply nested."""
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError:
        raise ValueError(skip_reasons.TOO_DEEP.message()) from None


def long_key(text: str) -> re.Match[str] | None:
    """Return the first key of a TOML text that has too many parts."""
    return _LONG_KEY.search(text) if text.count(".") >= _KEY_PARTS else None


def decode_toml(text: str) -> dict[str, Any]:
    """Decode TOML. Raises ValueError for any other content, however deeply nested, and for a key of many parts."""
    if long_key(text):
        raise ValueError("a key has too many parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(skip_reasons.TOO_DEEP.message()) from None


class BoundedDigits:
    """Wraps a binary file and truncates runs of more than 4,300 digits."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._digits = 0
        """Number of digits at the end of the data read so far."""

    def read(self, size: int = -1) -> bytes:
        if not size:
            return b""
        while block := self._file.read(size):
            if bounded := self._bounded(block):
                return bounded
        return b""

    def _bounded(self, block: bytes) -> bytes:
        leading = len(block) - len(block.lstrip(_DIGITS))
        allowed = _MAX_DIGITS - self._digits
        if leading > allowed:
            block = block[:allowed] + block[leading:]
        block = _TOO_MANY_DIGITS.sub(lambda match: match[0][:_MAX_DIGITS], block)
        trailing = len(block) - len(block.rstrip(_DIGITS))
        self._digits = trailing + (self._digits if trailing == len(block) else 0)
        return block


class DividedStrings:
    """Wraps a binary file with JSON and divides strings of more than 256 KB into arrays of short ones, for `built`.

    A document with such a long key is refused as invalid by the parser.
    """

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._held = b""
        """A string that may be long, from its quotation mark on; in a long one, a character that may be incomplete."""
        self._in_long = False

    def read(self, size: int = -1) -> bytes:
        if not size:
            return b""
        while block := self._file.read(size):
            if divided := b"".join(self._divided(self._held + block)):
                return divided
        rest, self._held = self._held, b""
        return rest

    def _divided(self, data: bytes) -> Iterator[bytes]:
        self._held = b""
        # A text of the same length that has only the quotation marks at the ends of strings.
        plain = data.replace(b"\\\\", b"xx").replace(b'\\"', b"xx")
        start = 0
        if self._in_long:
            start = plain.find(b'"') + 1
            if not start:
                cut = _whole_characters(data)
                self._held = data[cut:]
                yield b',"%b"' % data[:cut]
                return
            self._in_long = False
            yield b',"%b]' % data[:start]
        if plain.count(b'"', start) % 2 == 0:
            yield data[start:]
            return
        begin = plain.rfind(b'"')
        yield data[start:begin]
        if len(data) - begin <= _LONGEST_STRING:
            self._held = data[begin:]
            return
        cut = _whole_characters(data)
        self._held, self._in_long = data[cut:], True
        yield b'["%b",%b"' % (_LONG_STRING_MARK.encode(), data[begin:cut])


def _whole_characters(data: bytes) -> int:
    """Return the end of the last character of JSON that is complete in any case."""
    end = whole_escapes(data)
    start = end
    while end - start < 4 and start and data[start - 1] & 0xC0 == 0x80:
        start -= 1
    return start - 1 if start and data[start - 1] >= 0xC0 else end


def whole_escapes(data: bytes) -> int:
    """Return the end of the last escape that is complete, with both halves of a surrogate pair."""
    end = data.find(b"\\", max(0, len(data) - PAIR))
    if end < 0:
        return len(data)
    end -= backslashes_before(data, end) % 2
    if _FIRST_HALF.fullmatch(data, max(0, end - ESCAPE), end):
        end -= ESCAPE
        end -= backslashes_before(data, end) % 2
    return end


def backslashes_before(data: bytes, position: int) -> int:
    """Return the number of consecutive backslashes that end right before a position."""
    start = position
    while start and data[start - 1] == ord("\\"):
        start -= 1
    return position - start


def check_digits(text: bytes) -> None:
    """Raise ValueError where a number outside of strings has more than 4,300 digits in a row."""
    if _has_many_digits(text) and any(match[1] for match in _STRINGS_OR_DIGITS.finditer(text)):
        raise ValueError(f"a number of more than {_MAX_DIGITS} digits")


def _has_many_digits(text: bytes) -> bool:
    """Whether more than 4,300 digits follow each other.

    Only every 4,301st byte is examined, since each such run has one of them: a regex would hold the interpreter lock
    for a second in 64 MB.
    """
    for at in range(_MAX_DIGITS, len(text), _MAX_DIGITS + 1):
        if text[at] in _DIGITS:
            before, after = text[at - _MAX_DIGITS : at], text[at : at + _MAX_DIGITS + 1]
            if len(before) - len(before.rstrip(_DIGITS)) + len(after) - len(after.lstrip(_DIGITS)) > _MAX_DIGITS:
                return True
    return False


def check_depth(text: bytes, deepest: int = _DEEPEST) -> None:
    """Raise ValueError where containers are nested more than `deepest` levels deep; a fast look before parsing.

    Text that isn't JSON may pass.
    """
    depth = 0
    for match in _STRUCTURE.finditer(text):
        match match[0]:
            case b"[" | b"{":
                depth += 1
                if depth > deepest:
                    raise ValueError(skip_reasons.TOO_DEEP.message())
            case b"]" | b"}":
                depth -= 1


def bounded(events: Iterable[_Event]) -> Iterator[_Event]:
    """Yield the events unchanged. Raises ValueError if containers are nested more than 500 levels deep."""
    depth = 0
    for event in events:
        if event[0] in ("start_map", "start_array"):
            depth += 1
            if depth > _DEEPEST:
                raise ValueError(skip_reasons.TOO_DEEP.message())
        elif event[0] in ("end_map", "end_array"):
            depth -= 1
        yield event


def one_value(first: _Event, events: Iterator[_Event]) -> Iterator[_Event]:
    """Yield the events of the value that begins with `first`."""
    yield first
    depth = 1 if first[0] in ("start_map", "start_array") else 0
    while depth:
        event = next(events, None)
        if event is None:
            return
        yield event
        depth += (event[0] in ("start_map", "start_array")) - (event[0] in ("end_map", "end_array"))


def limited(events: Iterable[_Event]) -> Iterator[_Event]:
    """Yield at most three million events, since the values of more take hundreds of MB; then raise ValueError."""
    for number, event in enumerate(events):
        if number == _MAX_EVENTS:
            raise ValueError(skip_reasons.MANY_VALUES.message())
        yield event


def built(events: Iterator[tuple[str, Any]]) -> object:
    """Build the value that parser events describe. Raises ValueError for invalid events.

    (ijson's own builder spells out the path to each value: 100 GB for 400 KB of brackets.)
    """
    top: object = None
    containers: list[Any] = []
    keys: list[str] = []
    for event, scalar in bounded(events):
        if event == "map_key":
            keys[-1] = scalar
            continue
        opens = event in {"start_map", "start_array"}
        value: Any = float(scalar) if event == "number" and not isinstance(scalar, int) else scalar
        if event in {"end_map", "end_array"}:
            container = containers.pop()
            keys.pop()
            if event == "end_map" or not container or container[0] != _LONG_STRING_MARK:
                continue
            value = "".join(container[1:])
            if containers and isinstance(containers[-1], list):
                containers[-1].pop()
        elif opens:
            value = {} if event == "start_map" else []
        if not containers:
            top = value
        elif isinstance(containers[-1], dict):
            containers[-1][keys[-1]] = value
        else:
            containers[-1].append(value)
        if opens:
            containers.append(value)
            keys.append("")
    return top
