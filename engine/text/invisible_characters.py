"""Removes invisible characters, which can hide a message to a language model in a text."""

import re
import unicodedata

_JOINERS = "\u200c\u200d"
"""Joiners of letters in some scripts, and of pictographs."""
_SELECTORS = "\u180b-\u180d\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""Variation selectors, which choose a form of the preceding character."""
_REPEATED = re.compile(f"(?<=[{_JOINERS}])[{_JOINERS}{_SELECTORS}]+|(?<=[{_SELECTORS}])[{_SELECTORS}]+")
_SHOWS_NOTHING = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Letters and marks by category, but invisible."""
_UNASSIGNED_TAGS = range(0xE0000, 0xE1000)
_GAPS = "\t\n\r"


def visible(text: str) -> str:
    """Remove invisible characters; only text direction and some flags change visibly.

    Single joiners and selectors stay, since scripts need them; other control characters become spaces.
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
