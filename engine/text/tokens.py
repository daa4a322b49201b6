"""Splits text into tokens, through runs and groups.

A *run* is text without spaces and plain punctuation; a *group* is a word, an identifier, a stretch of an unspaced
script, a Korean word or one pictograph inside a run; a *piece* is one token of a word group with its position.

Tokens contain only letters, digits, non-ASCII characters and `._-+#/@:`, so that the keyword index, whose tokenizer is
`ascii` with these token characters, keeps each one unchanged.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import add

import msgspec

from engine.base import lazy_pattern
from engine.text.folding import INVISIBLE, fold, with_anusvara
from engine.text.writing_systems import FLAG, HANGUL, MARK, SYMBOL, UNSPACED, script_of, shape

DELIMITERS = '\x00-"$-&(-*,;-?\\[-\\^`{-\x7f'
"""ASCII characters between runs, as part of a character class: in ranges, since each query compiles some."""
RUN = re.compile(
    f"[^{DELIMITERS}"
    # Not needed for the result, but for short and repeated runs, so that caches of runs work:
    "\xa0\xab\xb7\xbb\u2012-\u2018\u201a-\u2026\u3000-\u3002\u3008-\u3020\u30fb\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]+"
)
"""Matches runs. Every group lies within one run."""

_KINDS = {HANGUL: HANGUL, UNSPACED: UNSPACED, SYMBOL: SYMBOL, FLAG: SYMBOL}
_IN_WORD = f"[A-Za-z0-9_][A-Za-z0-9_{MARK}]*"
_GROUP = lazy_pattern(
    f"[#@]?{_IN_WORD}(?:(?:::|://|[.\\-+/@:'#]){MARK}*{_IN_WORD})*(?:\\+\\+|#)?"
    f"|{UNSPACED}[{UNSPACED}{MARK}]*|{HANGUL}[{HANGUL}{MARK}]*|{SYMBOL}|{FLAG}{FLAG}?"
)
_CLUSTER = lazy_pattern(f"(?:{FLAG}{FLAG}|[^{MARK}]){MARK}*")
_SEGMENT = lazy_pattern(f"[A-Za-z0-9](?:[A-Za-z0-9'{MARK}]*[A-Za-z0-9{MARK}])?")
_PRERELEASE = lazy_pattern(r"([0-9]{1,4})(?:a|b|c|rc|alpha|beta|pre|dev|post)[0-9]{1,4}", re.IGNORECASE)
"""Matches the last number of a version with its stage of development, such as `0rc1` in `2.0rc1`."""
_DUNDER = lazy_pattern(f"__[A-Za-z0-9{MARK}]+(?:_[A-Za-z0-9{MARK}]+)*__")
_AFTER_INNER_APOSTROPHE = frozenset("яюєїеёі")
_NOT_SINGLE = frozenset((MARK, FLAG))
_BETWEEN_APOSTROPHES = lazy_pattern("[^']+")
_HUMP = lazy_pattern(
    f"(?<=[a-z{MARK}])(?=[A-Z])"  # camel|Case
    f"|(?<=[0-9])(?=[A-Z][a-z])"  # utf8|Decoder
    f"|(?<=[A-Z])(?=[A-Z][a-z{MARK}]{{2}})"  # HTTP|Server, but not URLs
)
_NOT_IN_TOKEN = dict.fromkeys(
    (*range(0x21), *map(ord, "!\"$%&'()*,;<=>?[\\]^`{|}~\x7f\u2019\u02bc\uff07\u055a")), None
)  # for `str.translate`: compiling a pattern takes longer than a word
_TERMINAL_SEQUENCE = lazy_pattern(r"\x1b\[[0-?]*+[ -/]*+[@-~]")
_UNSEEN = lazy_pattern(f"[\u0300-\u036f\u093c{INVISIBLE}]")

LONGEST_WORD = 64
"""Length from which words are cut into several tokens."""
_LONGEST_WHOLE = 128
"""Longest identifier that is indexed as a whole; longer ones are found by their parts only."""
_MAX_HUMPS = 7
"""Maximum number of case changes of a camelCase word; a word with more is noise, such as base64."""

# don't -> dont; we'll -> we; dog's -> dog; l'eau -> eau
_DROPPED_TAILS = frozenset({"s", "ll", "re", "ve", "d", "m"})
_DROPPED_HEADS = frozenset(
    "l d j m t s n c qu jusqu lorsqu puisqu quoiqu un dell all nell sull dall coll quell quest".split()
)


class Group(msgspec.Struct, frozen=True):
    """A part of a run or of a text."""

    kind: str
    """`HANGUL`, `UNSPACED` or `SYMBOL` of `engine.text.writing_systems`, or "" for a word or identifier."""
    start: int
    end: int


class Piece(msgspec.Struct, frozen=True):
    """One token of a word group."""

    start: int
    end: int
    token: str
    """The token as the `words` stream contains it."""
    root: str
    """Lower-case form from which the stem is made; "" for an identifier as a whole, which has no stem."""
    inner: bool = False
    """Whether it is a part of a camelCase word: in a phrase, the whole word is next to the words around it."""


def without_terminal_sequences(text: str) -> str:
    """Return `text` with spaces in place of terminal colours, whose last letter would join the next word."""
    if "\x1b" not in text:
        return text
    return _TERMINAL_SEQUENCE.sub(lambda match: " " * len(match[0]), text)


def groups(run: str) -> Iterator[Group]:
    """Yield the groups of a run in reading order, with offsets into the run."""
    if run.isascii() and run.isalnum():
        yield Group("", 0, len(run))  # most runs are plain words
        return
    shaped = shape(run)
    for match in _GROUP.finditer(shaped):
        start, end = match.span()
        first = shaped[start]
        yield Group(_KINDS.get(first, ""), start, end)


def pieces(word: str) -> list[Piece]:
    """Return the tokens of one word group: the whole first if it has parts, then the parts in order.

    A word without parts is one piece. Possessives, contractions and elided articles lose their stubs. Empty for a group
    without letters, such as `__`.
    """
    shaped = shape(word)
    if word.isalnum():
        return _segment_pieces(word, shaped, 0, len(word))
    suffix = 2 if shaped.endswith("++") else int(shaped.endswith("#"))
    end = len(word) - suffix
    segments = [match.span() for match in _SEGMENT.finditer(shaped, 0, end)]
    if not segments:
        return []
    parts: list[Piece] = []
    for index, (first, following) in enumerate(pairwise(segments)):
        if shaped[first[0]] in "vV" and shaped[first[0] - 1 : first[0]] != ".":
            segments[index] = _without_version_letter(shaped, first, following[0])
    for start, stop in segments[:-1] if suffix else segments:
        if parts and shaped[start - 1] == "." and parts[-1].token.isdigit():
            number = _PRERELEASE.fullmatch(shaped, start, stop)
            if number is not None:
                parts += _plain(word, *number.span(1))
                start = number.end(1)  # noqa: PLW2901 - the stage is the rest of the part
        parts += _segment_pieces(word, shaped, start, stop)
    if suffix:
        parts += _plain(word, segments[-1][0], len(word))
    whole = _whole_span(word, shaped, segments)
    if whole is None:
        return parts
    token = to_token(word[slice(*whole)])
    return [Piece(*whole, token, ""), *parts] if token else parts


def clusters(text: str) -> Sequence[str]:
    """Return the folded characters of a Korean, pictograph or unspaced group, each with its marks."""
    if unicodedata.is_normalized("NFKC", text) and _NOT_SINGLE.isdisjoint(shape(text)):
        return text
    return [token for token in (cluster_token(text[start:end]) for start, end in cluster_spans(text)) if token]


def cluster_spans(text: str) -> list[tuple[int, int]]:
    """Return the range of each character, with its marks, in a group."""
    return [match.span() for match in _CLUSTER.finditer(shape(text))]


def pairs(characters: Sequence[str]) -> list[str]:
    """Return overlapping pairs of characters, then the last character alone: a one-character query is then a prefix."""
    return [*map(add, characters, characters[1:]), *characters[-1:]]


def to_token(text: str) -> str:
    """Return `text` folded, without characters that no token may contain; may be empty."""
    folded = fold(text)
    return folded if folded.isalnum() and "\u02bc" not in folded else folded.translate(_NOT_IN_TOKEN)


cluster_token = lru_cache(maxsize=1 << 13)(to_token)
"""`to_token` for one character with its marks: a text repeats some hundred of the thousands of Chinese ones."""


def _plain(word: str, start: int, end: int) -> list[Piece]:
    """Return the piece of a word that isn't split further; a very long word is cut into several."""
    if end - start > LONGEST_WORD:
        cuts = [*range(start, end, LONGEST_WORD), end]
        return [piece for span in pairwise(cuts) for piece in _plain(word, *span)]
    text = word[start:end]
    token = to_token(text)
    if not token:
        return []
    root = token if text.isascii() else with_anusvara(_UNSEEN.sub("", _composed(text))).translate(_NOT_IN_TOKEN)
    return [Piece(start, end, token, root or token)]


def _composed(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())


def _segment_pieces(word: str, shaped: str, start: int, end: int) -> list[Piece]:
    """Return the pieces of a part without connectors, split at apostrophes and camelCase."""
    text = word[start:end]
    if text.isascii() and text.isalnum() and text == text.lower() and len(text) <= LONGEST_WORD:
        return [Piece(start, end, text, text)]  # most parts are plain words
    if "'" not in shaped[start:end]:
        return _humps(word, shaped, start, end)
    spans = list(_apostrophe_spans(word, shaped, start, end))
    texts = [word[slice(*span)].lower() for span in spans]
    if len(spans) > 1 and texts[-1] == "t" and texts[-2].endswith("n"):
        spans[-2:] = [(spans[-2][0], spans[-1][1])]
    elif len(spans) > 1 and texts[-1] in _DROPPED_TAILS:
        del spans[-1], texts[-1]
    if len(spans) > 1 and texts[0] in _DROPPED_HEADS:
        del spans[0]
    if len(spans) == 1:
        return _humps(word, shaped, *spans[0]) if "'" not in shaped[slice(*spans[0])] else _plain(word, *spans[0])
    whole = (spans[0][0], spans[-1][1])
    parts = [piece for span in spans for piece in _plain(word, *span)]
    return [Piece(*whole, to_token(word[slice(*whole)]), ""), *parts] if len(parts) > 1 else parts


def _apostrophe_spans(word: str, shaped: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges between apostrophes. Ukrainian and Belarusian words may contain one: зв'язок is one part."""
    begin = None
    for match in _BETWEEN_APOSTROPHES.finditer(shaped, start, end):
        first, last = match.span()
        begin = first if begin is None else begin
        if word[last + 1 : last + 2].lower() not in _AFTER_INNER_APOSTROPHE or script_of(word[last - 1]) != "cyrillic":
            yield begin, last
            begin = None


def _humps(word: str, shaped: str, start: int, end: int) -> list[Piece]:
    """Return the pieces of a stretch of letters and digits: the whole, then the parts of its camelCase."""
    whole = _plain(word, start, end)
    if len(whole) != 1 or shaped[start + 1 : end].islower():
        return whole
    cuts = [match.start() for match in _HUMP.finditer(shaped, start, end)]
    if not cuts or len(cuts) > _MAX_HUMPS:
        return whole
    cuts = [start, *cuts, end]
    parts = (piece for span in pairwise(cuts) for piece in _plain(word, *span))
    return whole + [msgspec.structs.replace(part, inner=True) for part in parts]


def _without_version_letter(shaped: str, part: tuple[int, int], following: int) -> tuple[int, int]:
    """Return the range of a part of an identifier, without the letter of a version; `following`: start of the next one.

    `v1.4.2` and `release/v1.4.2` have the parts 1, 4, 2, so that `1.4.2` finds both.
    """
    start, end = part
    is_version = shaped[start + 1 : end].isdigit() and shaped[end:following] == "." and shaped[following].isdigit()
    return (start + 1, end) if is_version else (start, end)


def _whole_span(word: str, shaped: str, segments: list[tuple[int, int]]) -> tuple[int, int] | None:
    """Return the range of an identifier without the underscores of Markdown emphasis; None for a simple word."""
    start, end = 0, len(word)
    if not (shaped.startswith("__") and _DUNDER.fullmatch(shaped)):
        start = len(shaped) - len(shaped.lstrip("_"))
        end = len(shaped.rstrip("_"))
    sigil = shaped[start] in "#@"
    single = len(segments) == 1 and not sigil and shaped[start] != "_"
    return None if single or end - start > _LONGEST_WHOLE else (start, end)
