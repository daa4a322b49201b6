"""Typo variants of a word, edit distances, and the written form of an index token.

All words are folded, so case and accents aren't typos.
"""

import math
import unicodedata
from collections.abc import Container, Iterator

from engine.base import lazy_pattern
from engine.text.tokens import RUN, clusters, groups, pieces
from engine.text.writing_systems import HANGUL

SHORTEST = 4
"""Shortest word that is corrected, in characters: shorter ones are similar to too many others."""
LONGEST = 24
SHORTEST_NUMBER = 7
"""Minimum number of digits of a number that may be written in groups, such as a telephone number."""
_MIN_AVERAGE = 3
_ONE_SLIP = 5
"""Length up to which a word may have one typo; longer words may have two."""
_LIKE_OTHERS = 8
"""Length up to which a word with two typos must have no wrong letter: short words resemble too many others."""
_SWAPPED, _DOUBLED, _MISSING, _ADDED, _REPLACED = -1.0, -0.5, 0.5, 1.0, 2.0
"""Rarity of a typo by its kind, on the scale of `_FREQUENT` times the natural logarithm of a word's frequency. These
are fitted to half of the words in a list of common misspellings (codespell's).
"""
_FIRST_LETTER = 1.0
"""Further rarity of a typo in the first letter."""
_FREQUENT = 0.3

# The letters of an alphabet after folding. Scripts that are missing here have too many.
_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "αβγδεζηθικλμνξοπρστυφχψω",
    "אבגדהוזחטיךכלםמןנסעףפץצקרשת",
    "ءابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ",
)
_LATIN_LETTERS = "tsya shch sch zh kh ts ch sh yu ju ya ja yo jo ye je ay ey iy oy uy yy"
_CYRILLIC_LETTERS = "ться щ щ ж х ц ч ш ю ю я я е е е е ай ей ий ой уй ый"
_CYRILLIC = dict(zip(_LATIN_LETTERS.split(), _CYRILLIC_LETTERS.split(), strict=True)) | dict(
    zip("abcdefghijklmnopqrstuvwxyz", "абцдефгхийклмнопкрстуввхыз", strict=True)
)
"""Cyrillic letters of usual transliterations, the longest first."""
_LATIN = lazy_pattern(f"{'|'.join(_CYRILLIC)}")
SAME_IN_LATIN = str.maketrans({"ь": "", "ъ": "", "э": "е", "й": "и"})
"""Cyrillic letters that a transliteration leaves out or doesn't distinguish."""
_SYLLABLES = range(0xAC00, 0xD7A4)
_MEDIALS, _FINALS = 21, 28
_ATTACHED = "\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7a3"
"""Scripts whose words follow a word in other letters without a space, such as the particle of `API를`."""
_LETTER, _ANY_LETTER = lazy_pattern(rf"[^\W{_ATTACHED}]"), lazy_pattern(r"\w")


def with_word_replaced(text: str, word: str, instead: str, most: int = -1) -> str:
    """Return `text` with the first `most` occurrences (by default all) of a word replaced, but not inside longer words.

    Without a regex, since compiling one with all letters takes milliseconds.
    """
    letter = _LETTER if _LETTER.match(word) else _ANY_LETTER
    parts, end, at = list[str](), 0, text.find(word)
    while at >= 0 and len(parts) != 2 * most:
        after = at + len(word)
        if (at and letter.match(text, at - 1)) or letter.match(text, after):
            after = at + 1
        else:
            parts += text[end:at], instead
            end = after
        at = text.find(word, after)
    return "".join((*parts, text[end:]))


def in_cyrillic(word: str) -> str:
    """Return a folded word in Latin letters as a Russian word."""
    return _LATIN.sub(lambda letters: _CYRILLIC[letters[0]], word)


def most_typos(word: str) -> int:
    """Return the most typos that a word of this length may have."""
    return 1 if len(word) <= _ONE_SLIP else 2


def is_plain(token: str) -> bool:
    """Return whether a word consists only of letters and their marks."""
    return not non_letters(token)


def same_letters(word: str, other: str) -> bool:
    """Return whether letters of `other` were added, omitted or swapped in `word`, but none replaced by another."""
    return len(word) != len(other) or sorted(word) == sorted(other)


def non_letters(token: str) -> str:
    """Return the characters of a word other than letters and their marks."""
    return "".join(char for char in token if not char.isalpha() and unicodedata.category(char)[0] != "M")


def variants(word: str, head: int) -> set[str]:
    """Return all spellings of a word with one typo among its first `head` characters: one omitted, added, replaced or
    swapped.
    """
    letters = set(next((known for known in _ALPHABETS if word[:1] in known), "")) | set(word)
    words: set[str] = set()
    for at in range(min(head, len(word))):
        before, letter, after = word[:at], word[at], word[at + 1 :]
        words.add(before + after)
        if after:
            words.add(before + after[0] + letter + after[1:])
        for other in letters:
            words.add(before + other + after)
            words.add(before + other + letter + after)
    words -= {word, ""}
    return words


# rapidfuzz 3.14.6 (OSA) returns the same for 500,000 pairs and compares 3,000 words, the most per query, in 0.9 ms
# instead of 3.2, but takes 45 ms to import and 3.3 MB of a bundle whose limit leaves 1.4.
def typos(word: str, other: str, most: int) -> int | None:
    """Return the edit distance of two words: characters omitted, added, replaced or swapped with the next.

    None if it exceeds `most`. No character is part of two edits.
    """
    if abs(len(word) - len(other)) > most or len(set(word) ^ set(other)) > 2 * most:
        return None
    begin = _same_beginning(word, other)
    word, other = word[begin:], other[begin:]
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(word, 1):
        current = [row]
        for column, against in enumerate(other, 1):
            cost = min(last[column] + 1, current[-1] + 1, last[column - 1] + (letter != against))
            swapped = row > 1 and column > 1 and letter == other[column - 2] and word[row - 2] == against
            current.append(min(cost, before[column - 2] + 1) if swapped else cost)
        if min(current) > most:
            return None
        before, last = last, current
    return last[-1] if last[-1] <= most else None


def _same_beginning(word: str, other: str) -> int:
    """Return the number of first characters that two words share."""
    begin = 0
    while begin < min(len(word), len(other)) and word[begin] == other[begin]:
        begin += 1
    return begin


def is_probable(word: str, other: str, count: int) -> bool:
    """Return whether `word` may be `other` with this many typos, and not a different word, such as a name."""
    return count < 2 or len(word) > _LIKE_OTHERS or set(word) <= set(other)


def rarity(word: str, other: str, count: int, frequency: int) -> float:
    """Return how rarely `word` is a typo of `other`, which occurs `frequency` times; for comparisons only.

    `count`: the number of typos; with several, their kinds are not compared.
    """
    begin = _same_beginning(word, other)
    kind = _kind(word, other, begin) if count == 1 else 0.0
    return kind + _FIRST_LETTER * (begin == 0) - _FREQUENT * math.log1p(frequency)


def _kind(word: str, other: str, begin: int) -> float:
    """Return the rarity of the kind of a word's only typo; `begin`: number of equal letters before it."""
    if len(word) == len(other):
        return _SWAPPED if word[begin : begin + 2] == other[begin : begin + 2][::-1] else _REPLACED
    longer = max(word, other, key=len)
    if begin and longer[begin] == longer[begin - 1]:
        return _DOUBLED
    return _ADDED if len(word) > len(other) else _MISSING


def parts(word: str) -> set[str]:
    """Return all parts of a word that have at least two characters, except the whole."""
    ends = range(2, len(word) + 1)
    return {word[start:end] for end in ends for start in range(end - 1)} - {word}


def splits(word: str, known: Container[str], most: int) -> Iterator[tuple[str, ...]]:
    """Yield the ways to split a word into two to `most` known words of three characters on average."""
    begun: list[tuple[tuple[str, ...], int]] = [((), 0)]
    for _ in range(most):
        longer = [
            ((*before, word[start:end]), end)
            for before, start in begun
            for end in range(start + 2, len(word) + 1)
            if word[start:end] in known
        ]
        yield from (split for split, end in longer if end == len(word) >= _MIN_AVERAGE * len(split))
        begun = [(split, end) for split, end in longer if end < len(word)]


def jamo(word: str) -> str:
    """Return a Korean word as single letters, so that one wrong letter is one typo, not a whole syllable."""
    return "".join(part for syllable in word for part in _letters(syllable))


def _letters(syllable: str) -> Iterator[str]:
    code = ord(syllable)
    if code not in _SYLLABLES:
        yield syllable
        return
    rest, final = divmod(code - _SYLLABLES.start, _FINALS)
    first, medial = divmod(rest, _MEDIALS)
    yield chr(0x1100 + first)
    yield chr(0x1161 + medial)
    if final:
        yield chr(0x11A7 + final)


def written(text: str, token: str) -> str | None:
    """Return the first word of `text` that has this token, as written; None if there is none."""
    for run in RUN.findall(text):
        for part in groups(run):
            kind, start, end = part.kind, part.start, part.end
            group = run[start:end]
            if kind == HANGUL:
                joined = "".join(clusters(group))
                if joined.startswith(token):
                    return token
            elif not kind:
                for piece in pieces(group):
                    if piece.token == token:
                        return str(group[piece.start : piece.end])
    return None
