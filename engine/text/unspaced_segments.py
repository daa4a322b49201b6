"""Which stretches of a query in an unspaced script are asked for on their own.

People type whole questions without a space; if every pair of one had to follow the other in a note, nothing would
ever be found. Without a dictionary the cuts are made where script and function characters make them likely.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from engine.text.folding import fold
from engine.text.question_words import unspaced_stops
from engine.text.stopwords import stop_words
from engine.text.tokens import cluster_spans

_HAN = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_KATAKANA = "\u30a1-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HIRAGANA = "\u3041-\u3098\u309d-\u309f"
_PARTICLES = "はがをにのとでもへやか"
_FUNCTION_CHARACTERS = frozenset("的了吗嗎呢吧啊们們这這那是在和与與我你您他她它把被就也很么麼着谁誰哪什")

_LONGEST_HAN_TERM = 3
_LONGEST_TERM = 6
"""Longer stretches without a cut (Thai, Khmer …) are asked for pair by pair."""
_LONGEST_ENDING = 6
"""Hiragana after another script up to this length is grammar."""


_POLITE = re.compile("(?:[のん]?(?:です|でしょう|でした)|ます|ました|ません|ましょう|ください)[かね]?$")
"""How a sentence ends that is put politely; what is left of an ending counts."""


class Segment(NamedTuple):
    start: int
    end: int
    stop: bool
    """A function word or an ending: not what the question asks for."""


def segments(text: str) -> Iterator[Segment]:
    """Cut one group of an unspaced script, with offsets into it; pairs of a long stretch overlap."""
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
    """The same for characters without their marks."""
    is_japanese = re.search(f"[{_HIRAGANA}{_KATAKANA}]", characters) is not None
    function_characters = frozenset[str]() if is_japanese else _FUNCTION_CHARACTERS
    previous = ""
    for match in _stretches().finditer(characters):
        kind = match.lastgroup
        if kind == "hiragana":
            yield Segment(*match.span(), _is_grammar(match[0], after=previous))
        elif kind == "katakana":
            yield Segment(*match.span(), False)
        elif kind == "other":
            yield from _pairs_when_long(match[0], match.start(), _LONGEST_TERM)
        else:
            yield from _pairs_when_long(match[0], match.start(), _LONGEST_HAN_TERM, function_characters)
        previous = kind or ""


@cache
def _stretches() -> re.Pattern[str]:
    """Stretches of one script; compiled when first needed, since that takes some milliseconds."""
    return re.compile(
        f"(?P<katakana>[{_KATAKANA}]+)"
        # A lone character of a verb takes its first ending with it (行く), which tells it from its other readings.
        f"|(?P<han>[{_HAN}]{{2,}}|[{_HAN}](?:(?![{_PARTICLES}])[{_HIRAGANA}])?)"
        f"|(?P<hiragana>[{_HIRAGANA}]+)"
        f"|(?P<other>[^{_HAN}{_KATAKANA}{_HIRAGANA}]+)"
    )


def _is_grammar(hiragana: str, *, after: str) -> bool:
    longest = _LONGEST_ENDING if after else 1
    bare = _POLITE.sub("", hiragana) if after else hiragana
    return len(bare) <= longest or fold(hiragana) in stop_words("japanese")


def _pairs_when_long(
    stretch: str, offset: int, longest: int, function_characters: frozenset[str] = frozenset()
) -> Iterator[Segment]:
    if len(stretch) < _LONGEST_HAN_TERM or (len(stretch) <= longest and function_characters.isdisjoint(stretch)):
        yield Segment(offset, offset + len(stretch), function_characters.issuperset(stretch))
        return
    for place, pair in enumerate(pairwise(stretch), offset):
        yield Segment(place, place + 2, not function_characters.isdisjoint(pair))
