"""Offsets between Python's text (code points) and Qt's (UTF-16 units); they differ after an emoji.

The engine counts in code points; `QTextLayout`, `QTextCursor` and their kind count in UTF-16 units.
"""

import re
from collections.abc import Iterable

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


def utf16_length(text: str) -> int:
    """How many UTF-16 units Qt needs for `text`."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_ranges(text: str, ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Half-open code-point ranges of `text`, in ascending order, as UTF-16 ranges."""
    wide = [found.start() for found in _ASTRAL.finditer(text)]
    if not wide:
        return [(start, end) for start, end in ranges]
    moved = []
    passed = 0
    for start, end in ranges:
        while passed < len(wide) and wide[passed] < start:
            passed += 1
        inside = passed
        while inside < len(wide) and wide[inside] < end:
            inside += 1
        moved.append((start + passed, end + inside))
    return moved


def code_point_offset(text: str, offset: int) -> int:
    """The code-point offset of a UTF-16 offset; inside a surrogate pair, that of its start."""
    passed = 0
    for found in _ASTRAL.finditer(text):
        if found.start() + passed >= offset:
            break
        passed += 1
    return offset - passed
