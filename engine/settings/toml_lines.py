"""Finds the line of a key in a TOML text, which the standard parser doesn't report."""

import re
import tomllib
from collections.abc import Sequence

_PART = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)"""
_NAME = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_TABLE = re.compile(rf"[ \t]*\[\[?[ \t]*({_NAME})[ \t]*\]")
_KEY = re.compile(rf"[ \t]*({_NAME})[ \t]*=")
_TOKEN = re.compile(r'''"""|\'\'\'|"(?:[^"\\]|\\.)*"|'[^']*'|#.*''')
_CLOSING = {'"""': re.compile(r'(?:[^"\\]|\\.|"(?!""))*"""'), "'''": re.compile(r"(?:[^']|'(?!''))*'''")}

KeyPath = tuple[str, ...]


def find_lines(text: str) -> dict[KeyPath, int]:
    """Line (from 1) of every table header and key of a valid TOML text, by its full path."""
    found: dict[KeyPath, int] = {}
    table: KeyPath = ()
    quote = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if not quote:
            if header := _TABLE.match(line):
                table = _path(header[1])
                found.setdefault(table, number)
            elif key := _KEY.match(line):
                found.setdefault(table + _path(key[1]), number)
        quote = _open_quote(line, quote)
    return found


def line_of(lines: dict[KeyPath, int], path: Sequence[str]) -> int:
    """Line of `path`, or of its parent (an inline table); 1 if nothing of it was found."""
    for length in range(len(path), 0, -1):
        if number := lines.get(tuple(path[:length])):
            return number
    return 1


def _path(name: str) -> KeyPath:
    """The parts of a dotted name, unquoted by the real parser."""
    level = tomllib.loads(f"{name} = 0")
    parts = []
    while isinstance(level, dict):
        part, level = next(iter(level.items()))
        parts.append(part)
    return tuple(parts)


def _open_quote(line: str, quote: str) -> str:
    """The triple quote that is still open after `line`, given the one open before it."""
    position = 0
    while True:
        if quote:
            end = _CLOSING[quote].match(line, position)
            if not end:
                return quote
            position, quote = end.end(), ""
        else:
            token = _TOKEN.search(line, position)
            if not token:
                return ""
            position = token.end()
            quote = token[0] if token[0] in _CLOSING else ""
