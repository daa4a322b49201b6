"""Finds positions where a text may be cut: never inside a user-perceived character."""

import unicodedata

_VARIATIONS = "\u200d\ufe0e\ufe0f"
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_TAGS = range(0xE0020, 0xE0080)
_SKINS = range(0x1F3FB, 0x1F400)
_LOW_SURROGATES = range(0xDC00, 0xE000)
_FURTHEST = 64
"""Number of code points to go back at most: no character of any script is longer."""


def character_start(text: str, start: int, stop: int) -> int:
    """The last position at or before `stop`, after `start`, that splits no character; `stop` itself if there is none.

    An accent, an emoji with its skin tone, a flag of two letters and a line end of two stay whole.
    """
    for place in range(stop, max(start, stop - _FURTHEST), -1):
        if not _joined(text, place):
            return place
    return stop


def cut(text: str, most: int) -> str:
    """The beginning of a text, at most `most` code points and of whole characters."""
    return text if len(text) <= most else text[: character_start(text, 0, max(0, most))]


def _joined(text: str, place: int) -> bool:
    """Whether the code points before and after a position are one character."""
    if place >= len(text):
        return False
    before, after = text[place - 1], text[place]
    if after in _VARIATIONS or before == "\u200d" or unicodedata.category(after).startswith("M"):
        return True
    code = ord(after)
    if code in _SKINS or code in _TAGS or code in _LOW_SURROGATES:
        return True
    if code in _FLAG_LETTERS:
        return _flag_letters_before(text, place) % 2 == 1
    return before == "\r" and after == "\n"


def _flag_letters_before(text: str, place: int) -> int:
    start = place
    while start > 0 and place - start < 2 * _FURTHEST and ord(text[start - 1]) in _FLAG_LETTERS:
        start -= 1
    return place - start
