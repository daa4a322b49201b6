"""Classifies code points by script, describes a text by its shape, and finds where it may be cut.

The shape of a text has one ASCII character for each code point of the text. So one small regular expression over the
shape finds words in every script, with offsets that are valid in the text. ASCII text is its own shape.
"""

import unicodedata
from bisect import bisect_right

UNSPACED = "\x01"
"""Shape of a character in a script without spaces between words."""
HANGUL = "\x02"
MARK = "\x03"
"""Shape of a combining mark or an invisible character, such as a zero-width space: never the end of a word."""
SYMBOL = "\x04"
"""Shape of an emoji or pictograph, which is a separate token."""
FLAG = "\x05"
"""Shape of half a flag: two such letters are one pictograph."""
_WORDS = (UNSPACED, HANGUL, SYMBOL, FLAG)
_SEPARATOR = " "

# first and last code point; only letters, letter numbers and radicals of these blocks count
_UNSPACED_BLOCKS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19DF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x1B00, 0x1B7F),  # Balinese
    (0x2E80, 0x2FDF),  # CJK radicals
    (0x3005, 0x3007),
    (0x3021, 0x303C),
    (0x3041, 0x30FF),  # Hiragana, Katakana
    (0x3100, 0x312F),  # Bopomofo
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),
    (0x3400, 0xA4CF),  # Han, Yi
    (0xA980, 0xA9FF),  # Javanese, Myanmar extended
    (0xAA60, 0xAADF),  # Myanmar extended, Tai Viet
    (0xF900, 0xFAFF),  # Han compatibility forms
    (0xFF66, 0xFF9F),  # half-width Katakana
    (0x16FE0, 0x1B2FF),  # Tangut, Khitan, Nushu, old Kana
    (0x20000, 0x3FFFF),  # Han extensions
)
_RADICALS = range(0x2E80, 0x2FE0)
# Syllables and the letters that can start one; the vowels and finals of decomposed text belong to the preceding ones.
_HANGUL_BLOCKS = (
    (0x1100, 0x115F),
    (0x3131, 0x318E),
    (0xA960, 0xA97F),
    (0xAC00, 0xD7A3),
    (0xFFA0, 0xFFDC),
)
_HANGUL_INNER_BLOCKS = ((0x1160, 0x11FF), (0xD7B0, 0xD7FB))
_SYMBOL_BLOCKS = ((0x2600, 0x27BF), (0x2B00, 0x2BFF), (0x1F300, 0x1FAFF))
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_UNIT_BLOCKS = ((0x3371, 0x337A), (0x3380, 0x33DF))
"""Units of measurement in one character, such as ㎏."""

_EXCEPTIONS = (
    # All characters typed for an apostrophe, and the two hyphens that look like the plain one.
    dict.fromkeys(map(ord, "\u2019\u02bc\uff07\u055a"), "'")
    | dict.fromkeys(map(ord, "\u2010\u2011"), "-")
    # The half-width voicing marks, which are letters in Unicode.
    | dict.fromkeys(map(ord, "\uff9e\uff9f"), MARK)
    | dict.fromkeys(_FLAG_LETTERS, FLAG)
)

_SCRIPT_BLOCKS = """
    0041 latin 0250 - 0370 greek 0400 cyrillic 0530 armenian 0590 hebrew 0600 arabic 0700 - 0750 arabic 0780 - 08a0
    arabic 0900 devanagari 0980 - 0b80 tamil 0c00 - 1100 hangul 1200 - 1c80 cyrillic 1c90 - 1e00 latin 1f00 greek
    2000 - 2c60 latin 2c80 - 2de0 cyrillic 2e00 - 3131 hangul 3190 - a640 cyrillic a6a0 - a720 latin a800 - a960
    hangul a980 - ac00 hangul d800 - fb00 latin fb07 - fb50 arabic fe00 - fe70 arabic feff - ff21 latin ff5b -
""".split()
"""The first code point of each block, and the script of its letters; "-" for scripts without a stemmer."""
_SCRIPT_STARTS = [int(start, 16) for start in _SCRIPT_BLOCKS[::2]]
_SCRIPTS = [name.strip("-") for name in _SCRIPT_BLOCKS[1::2]]


def script_of(character: str) -> str:
    """Return the name of a letter's script; "" for scripts without a stemmer here, unspaced ones included."""
    block = bisect_right(_SCRIPT_STARTS, ord(character)) - 1
    return _SCRIPTS[block] if block >= 0 else ""


def shape(text: str) -> str:
    """Return a text's shape, one ASCII character for each code point.

    `A` stands for upper case, `a` for other letters, `0` for digits; see also the constants of this module. Apostrophes
    and hyphens become the plain ones, everything that can't be in a token a space. ASCII stays unchanged.
    """
    return text if text.isascii() else text.translate(_SHAPES)


def has_one_character_word(text: str) -> bool:
    """Return whether a character of a text is a word: an emoji, or one of a script such as Chinese or Korean."""
    return any(shape(char) in _WORDS for char in text if not char.isascii())


class _Shapes(dict[int, str]):
    """Cache of shapes by code point."""

    def __missing__(self, code_point: int) -> str:
        sign = self[code_point] = _EXCEPTIONS.get(code_point) or _shape_of(code_point)
        return sign


_SHAPES = _Shapes()


def _shape_of(code_point: int) -> str:
    character = chr(code_point)
    if character.isascii():
        return character
    category = unicodedata.category(character)
    if category == "Nd":
        return "0"
    if category[0] == "M" or category == "Cf" or _is_in_blocks(code_point, _HANGUL_INNER_BLOCKS):
        return MARK
    if category[0] in "LN" or code_point in _RADICALS:
        return _letter_shape(code_point, category)
    if category == "So" and _is_in_blocks(code_point, _SYMBOL_BLOCKS):
        return SYMBOL
    if _is_in_blocks(code_point, _UNIT_BLOCKS) and unicodedata.normalize("NFKC", character).isalnum():
        return "a"
    return _SEPARATOR


def _letter_shape(code_point: int, category: str) -> str:
    if _is_in_blocks(code_point, _UNSPACED_BLOCKS):
        return UNSPACED
    if _is_in_blocks(code_point, _HANGUL_BLOCKS):
        return HANGUL
    return "A" if category in ("Lu", "Lt") else "a"


def _is_in_blocks(code_point: int, blocks: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code_point <= last for first, last in blocks)


_VARIATIONS = "\u200d\ufe0e\ufe0f"
_TAGS = range(0xE0020, 0xE0080)
_SKINS = range(0x1F3FB, 0x1F400)
_LOW_SURROGATES = range(0xDC00, 0xE000)
_FURTHEST = 64
"""Maximum number of code points to go back: no character of any script is longer."""


def character_start(text: str, start: int, stop: int) -> int:
    """Return the last position in (`start`, `stop`] that splits no character; `stop` if there is none.

    An accent, an emoji with its skin tone, a flag of two letters and a line end of two stay whole.
    """
    for position in range(stop, max(start, stop - _FURTHEST), -1):
        if not _joined(text, position):
            return position
    return stop


def cut(text: str, most: int) -> str:
    """Return the beginning of a text, at most `most` code points, without splitting a character."""
    return text if len(text) <= most else text[: character_start(text, 0, max(0, most))]


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` code points: a longer one is cut as by `cut`, and ends in an ellipsis."""
    return text if len(text) <= most else f"{cut(text, most - 1).rstrip()}…"


def _joined(text: str, position: int) -> bool:
    """Whether the code points before and after a position belong to one character."""
    if position >= len(text):
        return False
    before, after = text[position - 1], text[position]
    if after in _VARIATIONS or before == "\u200d" or unicodedata.category(after).startswith("M"):
        return True
    code = ord(after)
    if code in _SKINS or code in _TAGS or code in _LOW_SURROGATES:
        return True
    if code in _FLAG_LETTERS:
        return _flag_letters_before(text, position) % 2 == 1
    return before == "\r" and after == "\n"


def _flag_letters_before(text: str, position: int) -> int:
    start = position
    while start > 0 and position - start < 2 * _FURTHEST and ord(text[start - 1]) in _FLAG_LETTERS:
        start -= 1
    return position - start
