"""Finds how much of a query stands together in a text: within two adjacent lines, where a sentence or a turn is."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from engine.text import QueryTerm
from engine.text.analysis import streams_of
from engine.text.tokens import RUN

_NO_TERM = 0


class AdjacentLines:
    """The terms of one query, to be looked for line by line."""

    def __init__(self, terms: Sequence[QueryTerm], weights: Sequence[float]) -> None:
        """`weights`: of each term, the idf."""
        total = sum(weights) or 1.0
        self._bits: dict[str, int] = {}
        self._beginnings: dict[str, int] = {}
        self._forms = [
            (weight / total, [sum({self._bit(token) for token in form}) for form in _forms(term)])
            for term, weight in zip(terms, weights, strict=True)
        ]
        self._masks: dict[str, dict[str, int]] = {}
        self._shares: dict[int, float] = {_NO_TERM: 0.0}

    def scattered(self, text: str, language: str) -> float:
        """Share of the query, 0 to 1, that the text holds outside its best two adjacent lines.

        Blank lines don't count; terms that no line holds, such as those of a title, don't either.
        """
        masks = [self._mask(line, language) for line in text.split("\n") if line.strip()]
        whole = _NO_TERM
        for mask in masks:
            whole |= mask
        together = max((self._share(mask | below) for mask, below in pairwise([*masks, _NO_TERM])), default=0.0)
        return max(0.0, self._share(whole) - together)

    def _bit(self, token: str) -> int:
        bits = self._bits
        if token not in bits:
            bits[token] = 1 << len(bits)
            if token.endswith("*"):
                self._beginnings[token[:-1]] = bits[token]
        return bits[token]

    def _mask(self, line: str, language: str) -> int:
        """One bit for each token of the query in this line."""
        found = _NO_TERM
        known = self._masks.setdefault(language, {})
        for run in RUN.findall(line):
            mask = known.get(run)
            if mask is None:
                mask = known[run] = self._mask_of(" ".join(streams_of(language)[run]).split())
            found |= mask
        return found

    def _mask_of(self, tokens: Iterable[str]) -> int:
        mask = _NO_TERM
        for token in tokens:
            mask |= self._bits.get(token, _NO_TERM)
            for beginning, bit in self._beginnings.items():
                if token.startswith(beginning):
                    mask |= bit
        return mask

    def _share(self, mask: int) -> float:
        """Share of the query of the terms that have all tokens of one of their forms in this mask."""
        share = self._shares.get(mask)
        if share is None:
            share = sum(weight for weight, forms in self._forms if any(form & mask == form for form in forms))
            self._shares[mask] = share
        return share


def _forms(term: QueryTerm) -> list[Sequence[str]]:
    """The tokens of each form by which a text holds the term; one with `*` at its end is a prefix."""
    word = (term.word,) if isinstance(term.word, str) else term.word
    forms = [word, *(stem.split(" ") for stem in (*term.stems, *term.loose_stems)), *term.loose]
    if term.prefix_ok:
        forms.append((*word[:-1], f"{word[-1]}*"))
    return forms
