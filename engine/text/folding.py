"""Folds spellings of a word that users consider the same to one string, and removes invisible characters."""

import unicodedata

from engine.base import lazy_pattern

INVISIBLE = (
    "\u00ad\u034f\u061c\u0640\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0001\U000e0020-\U000e007f"
)
"""Invisible characters, for use within brackets of a regular expression."""
_MARKS = (
    "\u0300-\u0305\u0307\u0309-\u036f"  # Latin, Greek and Cyrillic accents (breve and diaeresis are below)
    "\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u08ca-\u08ff"
    "\u093c\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\U000e0100-\U000e01ef"
    f"{INVISIBLE}"
)
# Accents are removed, but й, ў and ї are separate letters; ё is not: most Russian text writes it as е.
_STRIPPED = lazy_pattern(rf"[{_MARKS}]|(?<![иИуУ])\u0306|(?<![іІ])\u0308")

# A Hindi nasal before a consonant of its own class is written with its letter or as anusvara: हिन्दी, हिंदी.
_NASALS = lazy_pattern(
    "ङ\u094d(?=[\u0915-\u0918])|ञ\u094d(?=[\u091a-\u091d])|ण\u094d(?=[\u091f-\u0922])"
    "|न\u094d(?=[\u0924-\u0927])|म\u094d(?=[\u092a-\u092d])"
)

_LETTERS = str.maketrans(
    {
        "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "ł": "l", "ŧ": "t", "ŋ": "n",
        "æ": "ae", "œ": "oe", "þ": "th",
        "\u0649": "\u064a", "\u06cc": "\u064a", "\u06a9": "\u0643", "\u0629": "\u0647",  # Arabic and Persian twins
        "\u0901": "\u0902",  # Devanagari: both nasal signs are written for one sound
        "\u2010": "-", "\u2011": "-", "\u2044": "/",
    }
)  # fmt: skip
_ZEROS = (
    0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0E50, 0x0ED0,
    0x0F20, 0x1040, 0x17E0, 0x1810,
)  # fmt: skip
_LETTERS.update({zero + digit: str(digit) for zero in _ZEROS for digit in range(10)})


def with_anusvara(text: str) -> str:
    """Return `text` with the nasals of Hindi words in one spelling."""
    return _NASALS.sub("\u0902", text) if "\u094d" in text else text


def fold(text: str) -> str:
    """Return `text` without case, accents, widths, ligatures and invisible characters. Folding twice changes nothing.

    Vowel signs and voicing marks that make another letter (Thai, Devanagari, Kana) stay. The result may be longer or
    shorter than `text`, even empty: to get offsets, fold one word at a time. Never raises.
    """
    if text.isascii():
        return text.lower()
    bare = with_anusvara(_STRIPPED.sub("", unicodedata.normalize("NFKD", text)))
    return unicodedata.normalize("NFKC", bare.casefold().translate(_LETTERS))


_JOINERS = "\u200c\u200d"
"""Joiners of letters in some scripts, and of pictographs."""
_SELECTORS = "\u180b-\u180d\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""Variation selectors, which choose a form of the preceding character."""
_REPEATED = lazy_pattern(f"(?<=[{_JOINERS}])[{_JOINERS}{_SELECTORS}]+|(?<=[{_SELECTORS}])[{_SELECTORS}]+")
_SHOWS_NOTHING = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Letters and marks, by Unicode category, that are invisible."""
_UNASSIGNED_TAGS = range(0xE0000, 0xE1000)
_GAPS = "\t\n\r"


def visible(text: str) -> str:
    """Return `text` without invisible characters; only text direction and some flags change visibly.

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
