"""Measures how much of a query occurs within two adjacent lines of a text, about one sentence."""

import re
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import groupby
from operator import or_

from engine.text import QueryTerm
from engine.text.tokens import RUN, without_terminal_sequences
from engine.text.tokens_and_stems import streams_of
from engine.text.writing_systems import HANGUL, UNSPACED, shape

_NO_TERM = 0
_LETTERS = 2
"""Number of leading letters that a word and all its forms share."""
_BLANK = re.compile(r"\n\s*\n")


class AdjacentLines:
    """Measures how much of one query a text holds outside its best two adjacent lines."""

    def __init__(self, terms: Sequence[QueryTerm], weights: Sequence[float]) -> None:
        """`weights`: idf of each term."""
        total = sum(weights) or 1.0
        self._bits: dict[str, int] = {}
        masks = ([sum({self._bit(token) for token in form}) for form in _forms(term)] for term in terms)
        self._forms = [
            (weight / total, reduce(or_, forms), forms) for weight, forms in zip(weights, masks, strict=True)
        ]
        """Of each term: its weight, the bits of all its forms, and those of each."""
        self._beginnings = tuple(token[:-1] for token in self._bits if token.endswith("*"))
        written = (term.surface.lower() for term in terms)  # tokens have no accents
        begins = sorted(
            {word[:_LETTERS].rstrip("*") for word in (*self._bits, *written)}, key=lambda word: (len(word), word)
        )
        # Matching the letters before the lookbehind is twice as fast.
        words = (
            rf"(?:{'|'.join(map(re.escape, letters))})(?<!\w{'.' * size})" for size, letters in groupby(begins, key=len)
        )
        self._begins = re.compile(rf"(?:{'|'.join(words)})\S*", re.DOTALL)
        self._unspaced = any(kind in shape("".join(self._bits)) for kind in (UNSPACED, HANGUL))
        self._masks: dict[str, dict[str, int]] = {}
        """Cached masks, by language and word."""
        self._shares: dict[int, float] = {_NO_TERM: 0.0}

    def scattered(self, text: str, language: str) -> float:
        """Return the share of the query, 0 to 1, that the text holds outside its best two adjacent lines.

        Neither blank lines count nor terms that no line holds, such as terms in a title.
        """
        masks = self._masks_of_lines(_BLANK.sub("\n", without_terminal_sequences(text).strip()), language)
        whole = _NO_TERM
        for mask in masks.values():
            whole |= mask
        pairs = (mask | masks.get(line + 1, _NO_TERM) for line, mask in masks.items())
        return max(0.0, self._share(whole) - max(map(self._share, pairs), default=0.0))

    def _masks_of_lines(self, text: str, language: str) -> dict[int, int]:
        """Return a bit mask for each line that contains query tokens, by line number; each token has one bit.

        Only words that begin like a token are analysed: all of them would take longer than the rest of a search. In
        scripts without spaces a word may begin anywhere.
        """
        words = RUN if self._unspaced else self._begins
        if not self._unspaced:
            text = text.lower()
        masks: dict[int, int] = {}
        known, streams = self._masks.setdefault(language, {}), streams_of(language)
        line = at = 0
        for match in words.finditer(text):
            word = match[0]
            mask = known.get(word)
            if mask is None:
                mask = _NO_TERM
                for run in RUN.findall(word):
                    mask |= self._mask_of(streams[run])
                known[word] = mask
            if mask:  # counting lines only for words with a mask, which are few
                line += text.count("\n", at, match.start())
                at = match.start()
                masks[line] = masks.get(line, _NO_TERM) | mask
        return masks

    def _bit(self, token: str) -> int:
        return self._bits.setdefault(token, 1 << len(self._bits))

    def _mask_of(self, streams: Iterable[str]) -> int:
        bits, beginnings, mask = self._bits, self._beginnings, _NO_TERM
        for tokens in filter(None, streams):
            for token in tokens.split(" ") if " " in tokens else (tokens,):
                mask |= bits.get(token, _NO_TERM)
                if beginnings and token.startswith(beginnings):
                    for beginning in beginnings:
                        if token.startswith(beginning):
                            mask |= bits[f"{beginning}*"]
        return mask

    def _share(self, mask: int) -> float:
        """Return the share of the query, by idf, made up of terms whose tokens (of any form) are all in `mask`."""
        share = self._shares.get(mask)
        if share is None:
            held = (weight for weight, bits, forms in self._forms if bits & mask and any(f & mask == f for f in forms))
            share = self._shares[mask] = sum(held)
        return share


def _forms(term: QueryTerm) -> list[Sequence[str]]:
    """Return each form of a term as its tokens; a token with `*` at its end is a prefix."""
    word = (term.word,) if isinstance(term.word, str) else term.word
    forms = [word, *(stem.split(" ") for stem in (*term.stems, *term.loose_stems)), *term.loose]
    if term.prefix_ok:
        forms.append((*word[:-1], f"{word[-1]}*"))
    return forms
