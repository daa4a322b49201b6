"""Cuts the snippet of a result from a chunk: at most 700 characters around its densest matches, in whole lines if
possible."""

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import compress

import msgspec

from engine.base import lazy_pattern
from engine.records import FileRange

LIMIT = 700
_ELLIPSIS = "…"
_LEAD_SHARE = 4
"""At most one part in this number of the limit may precede the first match."""
EXCERPT_LENGTH = 110
"""Characters that two lines of a narrow list show: a result row's excerpt begins near the part of this length with the
most different matched words."""
_ADDRESS = lazy_pattern(r"[A-Za-z]{2,12}://\S+")
_LONGEST_WORD = 40
"""Maximum number of characters by which a cut moves to keep a word whole: Japanese and URLs have no spaces."""


class Snippet(msgspec.Struct, frozen=True):
    text: str
    first_line: int
    """Line within the chunk's text, from 0."""
    ranges: tuple[FileRange, ...]
    """Matches in `text`."""
    offset: int
    """Offset in the chunk's text of the densest matches, which a row shows; without matches, of the snippet's start."""


def make_snippet(text: str, ranges: Sequence[FileRange], limit: int = LIMIT) -> Snippet:
    """Cut a snippet from a text: the part with the most different matched words, or else the beginning.

    A cut line begins or ends with an ellipsis. `ranges` are the matches, ascending; `limit` is in characters.
    """
    limit = max(limit, 3)  # two characters are ellipses
    begin, end = 0, len(text)
    if end > limit:
        begin, matched = _densest(text, ranges, limit)
        line = text.rfind("\n", 0, begin) + 1
        begin = line if matched <= line + limit - 2 else begin
        end = _end(text, begin, matched, limit)
        begin = _filled(text, begin, end, limit)
    body = text[begin:end]
    if body.strip():
        begin += len(body) - len(body.lstrip("\n\r"))
        end = begin + len(body.lstrip("\n\r").rstrip())
    before = _ELLIPSIS if _cuts_before(text, begin) else ""
    after = _ELLIPSIS if _cuts_after(text, end) else ""
    shift = len(before) - begin
    in_snippet = [
        (max(start, begin) + shift, min(stop, end) + shift) for start, stop in ranges if start < end and stop > begin
    ]
    richest = richest_match(text, [(start, stop) for start, stop in ranges if begin <= start < end], EXCERPT_LENGTH)
    offset = begin if richest is None else richest
    return Snippet(before + text[begin:end] + after, text.count("\n", 0, begin), tuple(in_snippet), offset)


def richest_match(text: str, ranges: Sequence[FileRange], room: int) -> int | None:
    """Return the start of the match that is followed by the most different matched words within `room` characters.

    Of equal parts, the one with fewer matches in web addresses is chosen, since prose is easier to recognise. `ranges`
    are the matches, ascending. None without any.
    """
    words = _matched_words(text, ranges)
    ends = [end for _, end in ranges]
    addresses = [match.span() for match in _ADDRESS.finditer(text)] if "://" in text else []
    prose = [not any(first <= start < last for first, last in addresses) for start, _ in ranges] if addresses else []
    best, best_at = (0, 0, 0), None
    for number, (start, _) in enumerate(ranges):
        end = bisect_right(ends, start + room)
        inside = words[number:end]
        value = len(set(inside)), len(set(compress(inside, prose[number:end]))), len(inside)
        if value > best:
            best, best_at = value, start
    return best_at


def _matched_words(text: str, ranges: Sequence[FileRange]) -> list[str]:
    """Return the matched word of each range; a word that begins with another matched word is replaced by that word.

    "mode-keys" and "modes" are matches of "mode", not different words.
    """
    words = [text[start:end].casefold() for start, end in ranges]
    shortest: dict[str, str] = {}
    before = ""
    for word in sorted(set(words)):
        before = before if before and word.startswith(before) else word
        shortest[word] = before
    return [shortest[word] for word in words]


def _densest(text: str, ranges: Sequence[FileRange], limit: int) -> tuple[int, int]:
    """Return the start of the part with the most different matched words, and the end of its last match."""
    words = _matched_words(text, ranges)
    inside: dict[str, int] = {}
    best, best_value, behind = -1, (0, 0), 0
    matched = 0
    for number, (start, _) in enumerate(ranges):
        last = _earliest(text, start, limit) + limit - 2
        while behind < len(ranges) and (behind <= number or ranges[behind][1] <= last):
            inside[words[behind]] = inside.get(words[behind], 0) + 1
            behind += 1
        value = len(inside), behind - number
        if value > best_value:
            best, best_value, matched = number, value, ranges[behind - 1][1]
        inside[words[number]] -= 1
        if not inside[words[number]]:
            del inside[words[number]]
    if best < 0:
        return 0, 0
    start = ranges[best][0]
    begin = _earliest(text, start, limit)
    return (_word_start(text, begin, start) if begin and text[begin - 1] != "\n" else begin), matched


def _earliest(text: str, start: int, limit: int) -> int:
    """Return the earliest start of a snippet whose first match is at `start`: its line, or a little
    before the match.
    """
    earliest = max(0, start - limit // _LEAD_SHARE)
    return text.rfind("\n", earliest, start) + 1 or earliest


def _end(text: str, begin: int, matched: int, limit: int) -> int:
    """Return the end of a snippet that starts at `begin` and contains matches up to `matched`: a line end or a word
    end.
    """
    end = begin + limit - _cuts_before(text, begin)
    if end >= len(text) or text[end] == "\n":
        return min(end, len(text))
    line = text.rfind("\n", begin, end)
    if line >= max(matched, begin + limit // 2):
        return line
    return _word_end(text, max(begin, min(matched, end - 1)), end - 1)


def _filled(text: str, begin: int, end: int, limit: int) -> int:
    """Return an earlier start for a snippet shorter than `limit`: in whole lines unless they are few."""
    earliest = end - limit + _cuts_after(text, end)
    if earliest <= 0:
        return 0
    line = text.find("\n", earliest - 1, begin - 1) + 1
    if line and (not _cuts_before(text, begin) or end - line >= limit // 2):
        return line
    if _cuts_before(text, begin) or end - begin < limit // 2:
        return _word_start(text, earliest + 1, begin)
    return begin


def _word_start(text: str, low: int, high: int) -> int:
    """Return the first position from `low` to `high` at which a word begins; `low` if there is none."""
    if low >= high:
        return high
    space = text.find(" ", max(0, low - 1), min(high, low + _LONGEST_WORD))
    if space >= 0:
        return space + 1
    while low < high and unicodedata.combining(text[low]):
        low += 1
    return low


def _word_end(text: str, low: int, high: int) -> int:
    """Return the last position from `low` to `high` at which a word ends; `high` if there is none."""
    space = text.rfind(" ", max(low, high - _LONGEST_WORD), high + 1)
    if space >= 0:
        return space
    while high > low and unicodedata.combining(text[high]):
        high -= 1
    return high


def _cuts_before(text: str, begin: int) -> bool:
    """Whether the line has text before position `begin`."""
    return bool(text[text.rfind("\n", 0, begin) + 1 : begin].strip())


def _cuts_after(text: str, end: int) -> bool:
    """Whether the line has text after position `end`."""
    line = text.find("\n", end)
    return bool(text[end : line if line >= 0 else len(text)].strip())
