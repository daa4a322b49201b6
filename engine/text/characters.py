"""Finds positions where a text may be cut: never inside a user-perceived character."""

import re
import unicodedata

_VARIATIONS = "\u200d\ufe0e\ufe0f"
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_TAGS = range(0xE0020, 0xE0080)
_SKINS = range(0x1F3FB, 0x1F400)
_LOW_SURROGATES = range(0xDC00, 0xE000)
_FURTHEST = 64
"""Most code points to go back: no character of any script is longer."""


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


# --- Text without invisible characters, which can hide a message to a model ------------------------------------------

_JOINERS = "\u200c\u200d"
"""Joiners of letters in some scripts, and of pictographs."""
_SELECTORS = "\u180b-\u180d\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""They choose a form of the sign before them."""
_REPEATED = re.compile(f"(?<=[{_JOINERS}])[{_JOINERS}{_SELECTORS}]+|(?<=[{_SELECTORS}])[{_SELECTORS}]+")
_SHOWS_NOTHING = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Letters and accents by name, but invisible."""
_UNASSIGNED_TAGS = range(0xE0000, 0xE1000)
_GAPS = "\t\n\r"


def visible(text: str) -> str:
    """The same to its reader, but for signs that turn the direction of a text and the tags of some flags.

    A joiner or selector stays where it stands alone, as writing needs it; other control characters become spaces.
    """
    if text.isascii() and text.isprintable():
        return text
    return _REPEATED.sub("", "".join(map(_shown, text)))


def _shown(sign: str) -> str:
    category = unicodedata.category(sign)
    if category == "Cc":
        return sign if sign in _GAPS else " "
    hidden = category == "Cf" and sign not in _JOINERS
    selects = "\U000e0100" <= sign <= "\U000e01ef"
    return "" if hidden or sign in _SHOWS_NOTHING or (ord(sign) in _UNASSIGNED_TAGS and not selects) else sign
