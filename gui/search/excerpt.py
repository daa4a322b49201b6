"""What a result row shows of a snippet: one flowing line of text that starts near the matches.

Offsets are code points throughout; the painter turns them into Qt's units when it lays the text out.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

Range = tuple[int, int]

ROOM = 110
"""Code points that two lines of a narrow list hold; the matches are looked for in a window of this size."""
LEAD = 40
"""A first match within so many code points of the start needs no cut before it."""
ELLIPSIS = "…"
SEPARATOR = " · "

# A line break with the Markdown marks that open the next line, or any other blanks and control characters that are not
# one plain space already.
_GAP = re.compile(
    r"(?P<break>(?:\A|[^\S\n]*\n)\s*(?P<marks>(?:(?:#{1,6}|[-*+]|\d{1,3}[.)])[^\S\n]+(?:\[[ xX]\][^\S\n]+)?"
    r"|>[^\S\n]?|`{3,}[^\n`]*(?:\n|\Z))*))"
    r"|[\s\x00-\x1f\x7f]{2,}|[^\S ]|[\x00-\x1f\x7f]"
)
_BOUNDARY = re.compile(r"(?<=[.!?…])\s|(?<= ·)\s")


@dataclass(frozen=True)
class Excerpt:
    """Text for two lines of a row and the matched words in it (code points, ascending)."""

    text: str
    marks: tuple[Range, ...]


def make_excerpt(snippet: str, ranges: Sequence[Range], heading: str = "") -> Excerpt:
    """The snippet as one line without Markdown's line marks, cut to start near its richest matches.

    `heading` is shown elsewhere in the row and is not repeated in front, unless a word of it is marked.
    """
    text, marks = _flatten(snippet, ranges)
    opening = f"{heading}{SEPARATOR}"
    if heading and text.startswith(opening) and not (marks and marks[0][0] < len(opening)):
        text, marks = _cut_front(text, marks, len(opening), "")
    if not marks:
        return Excerpt(text, ())
    focus = _richest(text, marks)
    if focus <= LEAD:
        return Excerpt(text, tuple(marks))
    start, front = _start_before(text, focus)
    return Excerpt(*_as_tuple(_cut_front(text, marks, start, front)))


def _as_tuple(cut: tuple[str, list[Range]]) -> tuple[str, tuple[Range, ...]]:
    return cut[0], tuple(cut[1])


def _flatten(snippet: str, ranges: Sequence[Range]) -> tuple[str, list[Range]]:
    """Every gap becomes one blank, or a separator in front of a list item or heading; ranges move along."""
    parts: list[str] = []
    old: list[int] = [0]  # where each kept piece begins in the snippet …
    new: list[int] = [0]  # … and in the result
    length = position = 0
    after_heading = False
    for gap in _GAP.finditer(snippet):
        if gap.end() == gap.start():
            continue
        piece = snippet[position : gap.start()]
        parts.append(piece)
        length += len(piece)
        marked = bool(gap["marks"])
        joint = ""
        if length and gap.end() < len(snippet):
            joint = SEPARATOR if gap["break"] and (marked or after_heading) else " "
        if gap["break"] is not None:
            after_heading = "#" in (gap["marks"] or "")
        parts.append(joint)
        length += len(joint)
        position = gap.end()
        old.append(position)
        new.append(length)
    parts.append(snippet[position:])
    text = "".join(parts)

    def moved(offset: int) -> int:
        piece = bisect_right(old, offset) - 1
        limit = new[piece + 1] if piece + 1 < len(new) else len(text)
        return min(new[piece] + offset - old[piece], limit)

    kept = []
    for start, end in ranges:
        first, last = moved(start), moved(end - 1) + 1 if end > start else moved(start)
        if first < last <= len(text) and text[first:last].strip():
            kept.append((first, last))
    return text, kept


def _cut_front(text: str, marks: Sequence[Range], start: int, front: str) -> tuple[str, list[Range]]:
    shift = len(front) - start
    return front + text[start:], [(first + shift, last + shift) for first, last in marks if first >= start]


def _richest(text: str, marks: Sequence[Range]) -> int:
    """Start of the first window of `ROOM` code points that holds the most different marked words."""
    best, best_at = (0, 0), marks[0][0]
    for number, (start, _) in enumerate(marks):
        inside = [text[first:last].casefold() for first, last in marks[number:] if last <= start + ROOM]
        richness = (len(set(inside)), len(inside))
        if richness > best:
            best, best_at = richness, start
    return best_at


def _start_before(text: str, focus: int) -> tuple[int, str]:
    """Where to begin so that `focus` is soon read: at a sentence or item, else at a word after an ellipsis."""
    begins = [found.end() for found in _BOUNDARY.finditer(text, focus - LEAD, focus)]
    if begins:
        return begins[0], ""
    blank = text.find(" ", focus - LEAD, focus)
    return (blank + 1 if blank >= 0 else focus - LEAD), ELLIPSIS
