"""Cuts the text of one message into pieces that are laid out one at a time, so that no message is too long to show.

A piece of Markdown ends where a paragraph does; where one has to end inside a fenced block, the next begins with the
same fence again.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

CLAMP_LINES = 40
"""Most lines of a piece of plain text; the first piece is the visible part of a long output."""
_MOST = 3_000
"""Characters: laid out in some milliseconds in any script."""
_ENOUGH = 1_500

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
"""Colours and titles that a program sent to its terminal."""


class Cut(NamedTuple):
    """Characters `start` to `end` of a text; `fence` is the line that opens the code block they begin in."""

    start: int
    end: int
    fence: str = ""


def cut_plain(text: str) -> Iterator[Cut]:
    """Split into pieces of lines; an overlong line continues in the next. The line break between pieces is dropped."""
    start = 0
    while start < len(text):
        part = text[start : start + _MOST]
        lines = part.split("\n", CLAMP_LINES)
        if len(lines) > CLAMP_LINES:
            length = len(part) - len(lines[-1]) - 1
        elif start + len(part) >= len(text):
            length = len(part)
        else:
            last = part.rfind("\n", 1)
            length = last if last > 0 else len(part)
        end = start + length
        yield Cut(start, end)
        start = end + 1 if text[end : end + 1] == "\n" else end


def cut_markdown(text: str) -> Iterator[Cut]:
    """Split into pieces of valid Markdown."""
    if len(text) <= _MOST:
        yield Cut(0, len(text))
        return
    start = place = 0
    opened = fence = ""  # the fence open now, and the one that was open where the piece began
    while place < len(text):
        end = text.find("\n", place) + 1 or len(text)
        end = min(end, place + _MOST)
        length = end - start
        if length > _MOST and place > start:
            yield Cut(start, place, fence)
            start, fence = place, opened
        line = text[place : min(end, place + 200)]
        place = end
        opened = _fence_after(line, opened)
        if not opened and not line.strip() and place - start >= _ENOUGH:
            yield Cut(start, place, fence)
            start, fence = place, ""
    if start < len(text):
        yield Cut(start, len(text), fence)


def _fence_after(line: str, opened: str) -> str:
    """The fence that is open behind this line, as its opening line; empty outside of code."""
    found = _FENCE.match(line)
    if found is None:
        return opened
    if not opened:
        return "" if found[1][0] == "`" and "`" in found[2] else line.strip()
    closes = found[1].startswith(opened[: len(opened) - len(opened.lstrip(opened[0]))]) and not found[2].strip()
    return "" if closes else opened


def without_escapes(text: str) -> str:
    """What a terminal would show of a program's output, without its colours."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text
