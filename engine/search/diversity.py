"""Maximal marginal relevance: of similar results, the best stays in place and the others move down.

The next result is always the one with the highest `lambda * relevance - (1 - lambda) * similarity`: relevance is its
score, normalised to 0 to 1 over all candidates, similarity that to the most similar result chosen before. Only the
order changes, not the scores.
"""

import string
from collections.abc import Callable, Sequence
from typing import NamedTuple

from engine.store.snapshot import Snapshot, StoredChunk
from engine.store.vector_encoding import StoredModel, decode
from engine.text import analyse

MAX_REORDERED = 200
"""Number of best results that are reordered; the others stay in place."""

_NO_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation), " ")

Similarity = Callable[[int, Sequence[int]], Sequence[float]]
"""Function that returns the similarity, 0 to 1, of each of `others` to `chosen`, all given by position."""


class Chosen(NamedTuple):
    """A result's new rank after similar results moved down: its rank by score and its penalty."""

    by_score: int
    """Rank of the result by score alone, from 0."""
    penalty: float
    """Part of the result's relevance that is lost by similarity."""
    like: int | None
    """Rank by score of the most similar result chosen before; None for the first result, or if no other is similar."""


def diversify(scores: Sequence[float], similarity: Similarity, weight: float, count: int) -> list[Chosen]:
    """Return the `count` best results in an order that moves similar ones apart.

    `scores` are descending; `weight` is lambda. Ties are decided by score.
    """
    count = min(count, len(scores))
    lowest, spread = min(scores, default=0.0), max(scores, default=0.0) - min(scores, default=0.0)
    relevance = [(score - lowest) / spread if spread else 1.0 for score in scores]
    remaining = list(range(len(scores)))
    nearest = [0.0] * len(scores)
    like: list[int | None] = [None] * len(scores)
    chosen: list[Chosen] = []
    while len(chosen) < count:
        best = max(remaining, key=lambda index: (weight * relevance[index] - (1 - weight) * nearest[index], -index))
        remaining.remove(best)
        chosen.append(Chosen(best, (1 - weight) * nearest[best], like[best]))
        if len(chosen) == count:
            break
        for index, value in zip(remaining, similarity(best, remaining), strict=True):
            if value > nearest[index]:
                nearest[index], like[index] = value, best
    return chosen


def similarity_of(snapshot: Snapshot, ids: Sequence[int], model: StoredModel | None) -> Similarity:
    """Return a function for the similarity of two chunks.

    The similarity is the cosine of their vectors if both have a vector of this model, else the Jaccard similarity of
    their tokens: words in any script, pairs of characters in scripts without spaces.
    """
    by_tokens = _token_similarity(snapshot, ids)
    if model is None:
        return by_tokens
    rows = dict(snapshot.vectors(model.id, model.dims, ids))
    row_of = {index: row for row, index in enumerate(i for i, id_ in enumerate(ids) if id_ in rows)}
    if not row_of:
        return by_tokens
    matrix = decode([rows[ids[index]] for index in row_of], model.dims)

    def similarity(chosen: int, others: Sequence[int]) -> list[float]:
        if chosen not in row_of:
            return list(by_tokens(chosen, others))
        cosines = (matrix @ matrix[row_of[chosen]]).clip(0, 1).tolist()
        bare = [index for index in others if index not in row_of]
        shared = dict(zip(bare, by_tokens(chosen, bare), strict=True)) if bare else {}
        return [shared[index] if index in shared else cosines[row_of[index]] for index in others]

    return similarity


def _tokens(chunk: StoredChunk) -> set[str]:
    """Return the tokens of a chunk's text.

    ASCII text is only split into words, which is as good for similarity and ten times as fast.
    """
    text = chunk.text
    if text.isascii():
        return set(text.lower().translate(_NO_PUNCTUATION).split())
    return set(analyse(text, chunk.language).words.split())


def _token_similarity(snapshot: Snapshot, ids: Sequence[int]) -> Similarity:
    """Return a function for the Jaccard similarity of two chunks' tokens.

    The sets of tokens are integers with a bit for each token, so a pair takes a microsecond. They are made on first
    use: never if all chunks have vectors.
    """
    sets: list[int] = []
    sizes: list[int] = []

    def make() -> None:
        chunks = snapshot.chunks(ids)
        tokens = [_tokens(chunks[id_]) if id_ in chunks else set[str]() for id_ in ids]
        number_of = {token: number for number, token in enumerate(set().union(*tokens))}
        for each in tokens:
            bits = bytearray(len(number_of) // 8 + 1)
            for number in map(number_of.__getitem__, each):
                bits[number >> 3] |= 1 << (number & 7)
            sets.append(int.from_bytes(bits, "little"))
            sizes.append(len(each))

    def similarity(chosen: int, others: Sequence[int]) -> list[float]:
        if not sets:
            make()
        own_words, own_size = sets[chosen], sizes[chosen]
        shared = [(own_words & sets[index]).bit_count() for index in others]
        return [
            both / (own_size + sizes[index] - both) if both else 0.0 for both, index in zip(shared, others, strict=True)
        ]

    return similarity
