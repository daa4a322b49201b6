"""The part of a chunk that answers the question: whole lines round its best matches, at most 700 characters."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from engine.records import FileRange

LIMIT = 700
_ELLIPSIS = "…"


@dataclass(frozen=True)
class Snippet:
    text: str
    first_line: int
    """Line within the chunk's text, from 0."""
    ranges: tuple[FileRange, ...]
    """Matches in `text`."""
    place: int
    """Offset in the chunk's text of its first match, else of its beginning."""


def make_snippet(text: str, ranges: Sequence[FileRange], limit: int = LIMIT) -> Snippet:
    """The window with the most different matched words; the beginning when nothing matched."""
    starts = _line_starts(text)
    first, last = _best_window(text, starts, ranges, limit)
    begin, end = starts[first], starts[last + 1] - 1
    body = text[begin:end]
    lead = len(body) - len(body.lstrip("\n\r"))
    if body.strip():
        first += body[:lead].count("\n")
        begin += lead
        body = body[lead:].rstrip()
    end = begin + len(body)
    if len(body) <= limit:
        return Snippet(body, first, _shifted(ranges, begin, end, 0), _first_match(ranges, begin, end))
    return _cut_line(text, begin, end, first, ranges, limit)


def _line_starts(text: str) -> list[int]:
    """Offset of each line, and one past the end as if another line followed."""
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    starts.append(len(text) + 1)
    return starts


def _best_window(text: str, starts: list[int], ranges: Sequence[FileRange], limit: int) -> tuple[int, int]:
    """First and last line (inclusive) of the window; a single line may be longer than the limit."""
    lines = len(starts) - 1
    matched = sorted({bisect_right(starts, start) - 1 for start, _ in ranges})
    best, best_value = 0, 0.0
    for line in matched:
        end = starts[line] + limit
        words = [text[a:b].lower() for a, b in ranges if starts[line] <= a and b <= end]
        # A word twice is worth a little; another word is worth more.
        value = len(set(words)) + 0.1 * len(words)
        if value > best_value:
            best, best_value = line, value
    first = last = best
    while last + 1 < lines and starts[last + 2] - 1 - starts[first] <= limit:
        last += 1
    # Room is left only at the end of a chunk: show what comes before.
    while first > 0 and starts[last + 1] - 1 - starts[first - 1] <= limit:
        first -= 1
    return first, last


def _cut_line(text: str, begin: int, end: int, line: int, ranges: Sequence[FileRange], limit: int) -> Snippet:
    """Part of one overlong line round its first match, cut between words where there are any."""
    inside = [r for r in ranges if begin <= r[0] < end]
    room = limit - 2 * len(_ELLIPSIS)
    start = begin
    if inside and inside[0][1] - begin > room:
        start = max(begin, inside[0][0] - limit // 4)
        space = text.find(" ", start, inside[0][0])
        start = space + 1 if space >= 0 else start
    stop = min(end, start + room)
    if stop < end:
        space = text.rfind(" ", start + room // 2, stop)
        stop = space if space >= 0 else stop
    before = _ELLIPSIS if start > begin else ""
    after = _ELLIPSIS if stop < end else ""
    shown = before + text[start:stop] + after
    return Snippet(shown, line, _shifted(ranges, start, stop, len(before)), _first_match(ranges, start, stop))


def _first_match(ranges: Sequence[FileRange], begin: int, end: int) -> int:
    return next((start for start, _ in ranges if begin <= start < end), begin)


def _shifted(ranges: Sequence[FileRange], begin: int, end: int, offset: int) -> tuple[FileRange, ...]:
    return tuple(
        (max(a, begin) - begin + offset, min(b, end) - begin + offset) for a, b in ranges if a < end and b > begin
    )
