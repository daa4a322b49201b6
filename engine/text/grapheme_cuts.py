"""Finds where a text may be cut without splitting a user-perceived character."""

import unicodedata

_VARIATIONS = "\u200d\ufe0e\ufe0f"
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_TAGS = range(0xE0020, 0xE0080)
_SKINS = range(0x1F3FB, 0x1F400)
_LOW_SURROGATES = range(0xDC00, 0xE000)
_FURTHEST = 64
"""Most code points to go back: no character of any script is longer."""


def character_start(text: str, start: int, stop: int) -> int:
    """Return the last position in (`start`, `stop`] that splits no character; `stop` if there is none.

    An accent, an emoji with its skin tone, a flag of two letters and a line end of two stay whole.
    """
    for place in range(stop, max(start, stop - _FURTHEST), -1):
        if not _joined(text, place):
            return place
    return stop


def cut(text: str, most: int) -> str:
    """Return the beginning of a text, at most `most` code points, without splitting a character."""
    return text if len(text) <= most else text[: character_start(text, 0, max(0, most))]


def _joined(text: str, place: int) -> bool:
    """Whether the code points before and after a position belong to one character."""
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
