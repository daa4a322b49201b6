"""Estimates the number of tokens in a text by its characters: four per token, fewer in scripts that need more tokens.

A Chinese, Japanese or Korean character is about a token and weighs 4; other characters beyond the basic plane (emoji)
are two UTF-16 units and weigh 2; everything else weighs 1.
"""

from engine.base import lazy_pattern
from engine.text.grapheme_cuts import character_start

CHARACTERS_PER_TOKEN = 4

_STEP = 64 * 1024
_CJK_WEIGHT = 4
_ASTRAL_WEIGHT = 2
_CJK = "⺀-鿿ꀀ-꓿가-힯豈-﫿\U00020000-\U0002fa1f"  # noqa: RUF001 the ranges of the reference
_HEAVY = lazy_pattern(f"[{_CJK}\U00010000-\U0010ffff]")
_CJK_RUN = lazy_pattern(f"[{_CJK}]+")
_OTHER_ASTRAL_RUN = lazy_pattern("[\U00010000-\U0001ffff\U0002fa20-\U0010ffff]+")
_SENTENCE_END = lazy_pattern(r"[.!?…]['\")\]”’»*_]*\s+|[。！？]['\")\]”’」』]*\s*")  # noqa: RUF001
_SPACE = lazy_pattern(r"\s+|[、，；：]")  # noqa: RUF001


def is_heavy(text: str) -> bool:
    """Whether any character of a text weighs more than 1."""
    return not text.isascii() and any(_HEAVY.search(text, at, at + _STEP) for at in range(0, len(text), _STEP))


def weigh(text: str) -> int:
    """Return the weight of a text: its length in characters, with some counted as several; a token weighs 4.

    Meant for lines: one call examines all of it.
    """
    length = len(text)
    if text.isascii():
        return length
    cjk = sum(map(len, _CJK_RUN.findall(text)))
    astral = sum(map(len, _OTHER_ASTRAL_RUN.findall(text)))
    return length + (_CJK_WEIGHT - 1) * cjk + (_ASTRAL_WEIGHT - 1) * astral


def cut_piece(text: str, start: int, end: int, limit: int) -> tuple[int, str]:
    """Return where to end the first piece, of at most `limit` (4 or more), of a long line.

    Also returns what precedes the cut: `sentence`, `space` (as late as possible, but in the second half) or `word` if
    the text has neither. White space stays with the words before it.
    """
    stop = min(end, start + limit)
    while (weight := weigh(text[start:stop])) > limit:
        stop = start + max(1, (stop - start) * limit // weight)
    if stop == end:
        return end, "sentence"
    middle = start + (stop - start) // 2
    for kind, expression in (("sentence", _SENTENCE_END), ("space", _SPACE)):
        places = [match.end() for match in expression.finditer(text, middle, stop)]
        if places and places[-1] > start:
            return places[-1], kind
    return character_start(text, start, stop), "word"
