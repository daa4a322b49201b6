"""Cuts text of scripts without spaces into segments: pieces of words that are searched, and grammar that is not."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from engine.base import lazy_pattern
from engine.text.folding import fold
from engine.text.stopwords import FUNCTION_CHARACTERS, stop_words, unspaced_stops
from engine.text.tokens import cluster_spans

_HAN = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_KATAKANA = "\u30a1-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HIRAGANA = "\u3041-\u3098\u309d-\u309f"
_LONG_VOWEL = "\u30fc"
"""A sign of Katakana that is also in some Hiragana words, as in らーめん."""
_PARTICLES = "はがをにのとでもへやか"

_LONGEST_HAN_TERM = 3
_LONGEST_TERM = 6
"""Longer stretches without a word boundary (Thai, Khmer …) are searched pair by pair."""
_LONGEST_KATAKANA = 8
"""Longer stretches of Katakana are several words, which texts may write apart."""
_KATAKANA_PART = 4
"""Length of the parts that are searched instead; each begins with the last character of the one before. Shorter ones
are in many other words: half of コミュニケーション is in アプリケーション."""
_LONGEST_ENDING = 6
"""Maximum length of a Hiragana ending after another script that counts as grammar."""
_POLITE = lazy_pattern("(?:[のん]?(?:です|でしょう|でした)|ます|ました|ません|ましょう|ください)[かね]?$")
"""Matches polite sentence endings; only the rest of an ending counts for its length."""


class Segment(NamedTuple):
    start: int
    end: int
    stop: bool
    """Whether it is a function word or an ending, which is not searched."""


def segments(text: str) -> Iterator[Segment]:
    """Cut a stretch of an unspaced script into segments to search; pairs of a long stretch overlap.

    Offsets are within the stretch.
    """
    at = 0
    for start, end in [*unspaced_stops(text), (len(text), len(text))]:
        if at < start:
            yield from (Segment(at + a, at + b, stop) for a, b, stop in _without_stops(text[at:start]))
        if start < end:
            yield Segment(start, end, True)
        at = end


def _without_stops(text: str) -> Iterator[Segment]:
    spans = cluster_spans(text)
    for first, last, stop in _cuts("".join(text[start] for start, _ in spans)):
        yield Segment(spans[first][0], spans[last - 1][1], stop)


def _cuts(characters: str) -> Iterator[Segment]:
    """Yield the segments of a stretch given as characters without their marks."""
    is_japanese = re.search(f"[{_HIRAGANA}{_KATAKANA}]", characters) is not None
    function_characters = frozenset[str]() if is_japanese else FUNCTION_CHARACTERS
    previous = ""
    for match in _script_runs().finditer(characters):
        kind = match.lastgroup
        if kind == "hiragana":
            yield Segment(*match.span(), _is_grammar(match[0], after=previous))
        elif kind == "katakana":
            yield from _parts_of_katakana(*match.span())
        elif kind == "other":
            yield from _pairs_when_long(match[0], match.start(), _LONGEST_TERM)
        else:
            yield from _pairs_when_long(match[0], match.start(), _LONGEST_HAN_TERM, function_characters)
        previous = kind or ""


@cache
def _script_runs() -> re.Pattern[str]:
    """Return a regex for stretches of one script; compiled on first use, since that takes some milliseconds."""
    return re.compile(
        f"(?P<katakana>[{_KATAKANA}]+)"
        # A single character of a verb includes its first ending (行く), which distinguishes it from its other readings.
        f"|(?P<han>[{_HAN}]{{2,}}|[{_HAN}](?:(?![{_PARTICLES}])[{_HIRAGANA}])?)"
        f"|(?P<hiragana>[{_HIRAGANA}][{_HIRAGANA}{_LONG_VOWEL}]*)"
        f"|(?P<other>[^{_HAN}{_KATAKANA}{_HIRAGANA}]+)"
    )


def _is_grammar(hiragana: str, *, after: str) -> bool:
    longest = _LONGEST_ENDING if after else 1
    bare = _POLITE.sub("", hiragana) if after else hiragana
    return len(bare) <= longest or fold(hiragana) in stop_words("japanese")


def _parts_of_katakana(start: int, end: int) -> Iterator[Segment]:
    """Yield a stretch of Katakana as one segment, or parts of a long one."""
    if end - start <= _LONGEST_KATAKANA:
        yield Segment(start, end, False)
        return
    for first in range(start, end - 1, _KATAKANA_PART - 1):
        yield Segment(first, min(first + _KATAKANA_PART, end), False)


def _pairs_when_long(
    stretch: str, offset: int, longest: int, function_characters: frozenset[str] = frozenset()
) -> Iterator[Segment]:
    if len(stretch) < _LONGEST_HAN_TERM or (len(stretch) <= longest and function_characters.isdisjoint(stretch)):
        yield Segment(offset, offset + len(stretch), function_characters.issuperset(stretch))
        return
    for position, pair in enumerate(pairwise(stretch), offset):
        yield Segment(position, position + 2, not function_characters.isdisjoint(pair))
