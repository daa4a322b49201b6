"""Phrases: consecutive words, in the keyword index and in the original text."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from engine.text.analysis import text_pieces
from engine.text.scripts import SYMBOL
from engine.text.tokens import RUN, cluster_spans, groups, pairs, pieces, to_token


class PhraseTokens(NamedTuple):
    """Adjacent tokens of the `words` stream."""

    tokens: tuple[str, ...]
    open: bool
    """Whether the last token is a prefix: one character of a script whose tokens are pairs."""


class _Token(NamedTuple):
    text: str
    start: int
    end: int
    """End within the run."""
    tail: bool = False
    """Whether it is the repeated last character of a stretch whose tokens are pairs."""
    single: bool = False
    """Whether it is the only character of such a stretch."""


def phrase_tokens(text: str) -> PhraseTokens:
    """Return the tokens of a phrase; empty if it has neither letters nor digits."""
    tokens = [token for run in RUN.findall(text) for token in _tokens(run)]
    # The last character is not alone where the stretch continues, as it may in the text.
    kept = tokens[:-1] if tokens and tokens[-1].tail else tokens
    return PhraseTokens(tuple(token.text for token in kept), open=bool(tokens) and tokens[-1].single)


def phrase_ranges(text: str, phrases: Sequence[PhraseTokens]) -> Iterator[tuple[int, int]]:
    """Half-open code-point ranges of these phrases, one for each line; in no order."""
    wanted = {token for phrase in phrases for token in phrase.tokens}
    starts = tuple(phrase.tokens[-1] for phrase in phrases if phrase.open)
    found: dict[int, tuple[str, int, int]] = {}
    place = 0
    for offset, piece in text_pieces(text):
        for match in RUN.finditer(piece):
            at = offset + match.start()
            for token in _tokens(match[0]):
                if token.text in wanted or token.text.startswith(starts):
                    found[place] = token.text, at + token.start, at + token.end
                place += 1
    for phrase in phrases:
        for first in found if phrase.tokens else ():
            spans = _spans(found, first, phrase)
            yield from spans
            gaps = ((end, start) for (_, end), (start, _) in pairwise(spans) if end < start)
            yield from (gap for gap in gaps if "\n" not in text[slice(*gap)])


def _spans(found: dict[int, tuple[str, int, int]], first: int, phrase: PhraseTokens) -> list[tuple[int, int]]:
    """Positions of the tokens of a phrase that begins here; empty if it doesn't."""
    spans = []
    last = len(phrase.tokens) - 1
    for index, wanted in enumerate(phrase.tokens):
        token, start, end = found.get(first + index, ("", 0, 0))
        if token != wanted and not (phrase.open and index == last and token.startswith(wanted)):
            return []
        spans.append((start, end))
    if phrase.open:
        spans[-1] = spans[-1][0], spans[-1][0] + 1
    return spans


@lru_cache(maxsize=1 << 14)
def _tokens(run: str) -> tuple[_Token, ...]:
    """The tokens that a run adds to the `words` stream, in its order."""
    found: list[_Token] = []
    for kind, start, end in groups(run):
        text = run[start:end]
        if not kind:
            found += [_Token(piece.token, start + piece.start, start + piece.end) for piece in pieces(text)]
            continue
        spans = [(a, b) for a, b in cluster_spans(text) if to_token(text[a:b])]
        tokens = pairs([to_token(text[a:b]) for a, b in spans])
        for index, token in enumerate(tokens):
            last = min(index + 1, len(spans) - 1)
            ends = kind != SYMBOL and index == len(spans) - 1
            found.append(
                _Token(token, start + spans[index][0], start + spans[last][1], ends and index > 0, ends and not index)
            )
    return tuple(found)
