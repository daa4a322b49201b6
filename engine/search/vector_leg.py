"""The vector search: candidates from the vector index, approximate cosines for all of them, exact ones for the best.

It also returns whether any passages share the query's subject, and whether the model knows their language.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from engine.base import in_batches
from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.providers import Calibration
from engine.search import scoring
from engine.search.chunk_filter import ChunkFilter, SnapshotCache
from engine.search.search_context import VectorSearch
from engine.store.connection import id_array
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import StoredModel, Vectors, decode

if TYPE_CHECKING:
    from engine.embedding.provider_interface import EmbeddingProvider

_SPELT, _SPELT_WORDS = 12, 40
"""Number of files, and of words in each, whose spelling shows whether the model knows their language."""
_MIN_PIECES = 100
"""Minimum number of pieces of words that are enough for that."""
_WORD = re.compile(r"[^\W\d_]{3,20}")
_ANY_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]{1,2}|(?:(?![\u3040-\u30ff\u4e00-\u9fff])\w)+|[^\w\s]+")
"""A word, two characters of a script without spaces, or signs, which the models read like words."""
_MAX_WORDS, _BYTES_PER_WORD = 10, 20
"""Number of words of a query and a passage together from which they count as texts of usual length, and most bytes of
a word in a short text.
"""
_MANY = 64
"""Factor of the candidates up to which more are searched if most of them are excluded."""
_TRANSLATION = 0.7
"""Score between two passages from which one is probably a translation of the other: with the built-in model, nine of
ten translations reach it, and less than 5 % of other pairs of passages in two languages on one subject.
"""
_FARTHER = 0.4
"""Largest difference of the vector scores of a passage and its translation for one query."""


def count_words(text: str) -> int:
    """Return the number of words of a short text, at least 1."""
    return max(1, len(_ANY_WORD.findall(text)))


class KnownLanguages:
    """Caches which languages of an index's latest state a model knows. Thread-safe: parallel measurements are alike.

    A vocabulary spells the words of languages that the model was trained with in longer pieces than others.
    """

    def __init__(self) -> None:
        self._known = SnapshotCache[dict[tuple[str, str, str], bool]](lambda snapshot: {})

    def of_notes(self, snapshot: Snapshot, provider: "EmbeddingProvider", language: str) -> bool:
        """Return whether the model knows the language of the notes that may answer a query in `language`.

        These are notes in the same language, or without any, notes in all languages: across languages, even a model
        that knows the query's language badly finds more than keywords do.
        """
        known, indexed = self._known.get(snapshot), snapshot.languages()

        def knows(name: str) -> bool:
            key = provider.id, provider.model, name
            if key not in known:
                listed = name in provider.calibration.unknown_languages
                known[key] = not listed and self._measured(snapshot, provider, name)
            return known[key]

        searched = [language] if language and language in indexed else indexed
        return not searched or any(map(knows, searched))

    @staticmethod
    def _measured(snapshot: Snapshot, provider: "EmbeddingProvider", language: str) -> bool:
        letters = pieces = 0
        least = provider.calibration.letters_a_piece
        for text in snapshot.beginnings(language, _SPELT) if least else ():
            words = _WORD.findall(text)[:_SPELT_WORDS]
            cased = [lower for word in words if (lower := word.lower()) != word.upper()]
            if 2 * len("".join(cased)) < len("".join(words)):
                continue  # in other scripts, a word has few letters, or there are no words
            try:
                counts = [(len(word), provider.pieces(word)) for word in cased]
            except ProviderError:
                return True
            letters += sum(length for length, count in counts if count)
            pieces += sum(count for _, count in counts)
        return pieces < _MIN_PIECES or letters >= least * pieces


@dataclass(frozen=True)
class VectorLeg:
    """Compares the vector of one query with the vectors of one snapshot."""

    snapshot: Snapshot
    vectors: VectorSearch
    model: StoredModel
    calibration: Calibration
    query: Vectors
    """Unit vector (dims,)."""
    query_words: int = _MAX_WORDS
    """Number of words in the query."""
    _near: dict[int, float] = field(default_factory=dict)
    """Cosines of candidates, within a few thousandths."""
    _exact: dict[int, float] = field(default_factory=dict)
    _stored: dict[int, Vectors] = field(default_factory=dict)
    """Vectors read so far."""
    _short: dict[int, int] = field(default_factory=dict)
    """Number of words of short candidates."""

    def candidates(self, limit: int, scope: ChunkFilter, cancel: CancelToken | None) -> list[int]:
        """Return the ids of the chunks nearest to the query, best first."""
        allowed, known, passed = scope.listed(self.snapshot), set[int](), set[int]()
        wanted = 4 * limit if allowed is None and scope.narrows else limit
        while True:
            match = self.vectors.search(self.snapshot, self.model, self.query, wanted, allowed=allowed, cancel=cancel)
            ids, cosines = (values.tolist() for values in match)
            self._near.update(zip(ids, cosines, strict=True))
            for some in in_batches([id_ for id_ in ids if id_ not in known], limit):
                if len(passed) < limit:
                    passed.update(scope.matching(self.snapshot, some))
            if len(passed) >= limit or len(ids) < wanted or wanted >= _MANY * limit:
                return [id_ for id_ in ids if id_ in passed][:limit]
            known.update(ids)
            wanted *= 2

    def rows(self) -> int:
        """Return the number of chunks that have a vector."""
        return self.vectors.rows(self.snapshot, self.model)

    def near_cosines(self, ids: Sequence[int]) -> dict[int, float]:
        """Return approximate cosines, within a few thousandths, by id; chunks without a vector are left out."""
        if others := [id_ for id_ in ids if id_ not in self._near]:
            known, cosines = self.vectors.search(self.snapshot, self.model, self.query, len(others), allowed=others)
            self._near.update(zip(known.tolist(), cosines.tolist(), strict=True))
        known_cosines = {id_: self._near[id_] for id_ in ids if id_ in self._near}
        found = known_cosines | self.cosines([id_ for id_ in others if id_ not in known_cosines])
        self._count_words([id_ for id_, cosine in found.items() if cosine > self.calibration.low])
        return found

    def cosines(self, ids: Sequence[int]) -> dict[int, float]:
        """Return exact cosines by id; chunks without a vector are left out. Each reads three pages of the index."""
        new = [id_ for id_ in ids if id_ not in self._exact]
        if known := self._vectors(new):
            cosines = (np.stack([*known.values()]) @ self.query).tolist()
            self._exact.update(zip(known, cosines, strict=True))
        return {id_: self._exact[id_] for id_ in ids if id_ in self._exact}

    def translating(self, languages: Mapping[int, str], others: Collection[int]) -> set[int]:
        """Return the chunks among `languages` (language by chunk) that are probably translations of `others`.

        A chunk has at most one translation in each language, its nearest one. Pages of the same manual can be as
        similar, so the chunk must also be about as near to the query.
        """
        found, compared = self._vectors(languages), self._vectors(others)
        if not found or not compared:
            return set()
        originals = np.stack([*compared.values()])
        scale, farther = self.calibration.between_passages, _FARTHER * (self.calibration.high - self.calibration.low)
        least = scale.low + _TRANSLATION * (scale.high - scale.low)
        translations = set[int]()
        for language in {languages[id_] for id_ in found}:
            ids = [id_ for id_ in found if languages[id_] == language]
            vectors = np.stack([found[id_] for id_ in ids])
            cosines = vectors @ originals.T
            nearest = cosines.argmax(axis=0)
            near = originals @ self.query >= (vectors @ self.query)[nearest] - farther
            translations.update(ids[index] for index in nearest[near & (cosines.max(axis=0) >= least)])
        return translations

    def similarities(self, ids: Sequence[int], best: int) -> dict[int, float]:
        """Return how similar each chunk is to the others among the `best` first ones, by id, as the score of its cosine
        to their average; chunks without a vector are left out.
        """
        found = self._vectors(ids)
        if not found:
            return {}
        vectors = np.stack([*found.values()])
        products = vectors @ vectors[:best].T
        sums, own = products.sum(axis=1), np.diagonal(products)
        squares = np.full(len(sums), sums[:best].sum())
        squares[:best] += own - 2 * sums[:best]
        sums[:best] -= own
        cosines = (sums / np.sqrt(np.maximum(squares, 1e-9))).tolist()
        scale = self.calibration.between_passages
        return {id_: scoring.vector_evidence(cosine, scale) for id_, cosine in zip(found, cosines, strict=True)}

    def _vectors(self, ids: Collection[int]) -> dict[int, Vectors]:
        """Return the vectors of chunks, by id; chunks without a vector are left out."""
        if new := [id_ for id_ in ids if id_ not in self._stored]:
            rows = dict(self.snapshot.vectors(self.model.id, self.model.dims, new))
            if rows:
                self._stored.update(zip(rows, decode([*rows.values()], self.model.dims), strict=True))
        return {id_: self._stored[id_] for id_ in ids if id_ in self._stored}

    def calibration_of(self, id_: int) -> Calibration:
        """Return the calibration for a chunk, which depends on its length."""
        words = self._short.get(id_)
        return self.calibration if words is None else self.calibration.for_words(self.query_words + words)

    def evidence(self, cosines: Mapping[int, float]) -> dict[int, float]:
        """Return the vector score of each chunk's cosine, by id, without limits of 0 and 1."""
        low, range_ = self.calibration.low, self.calibration.high - self.calibration.low
        found = {id_: (cosine - low) / range_ for id_, cosine in cosines.items()}
        for id_ in self._short.keys() & cosines.keys():
            found[id_] = scoring.vector_evidence(cosines[id_], self.calibration_of(id_))
        return found

    def _count_words(self, ids: Sequence[int]) -> None:
        """Count the words of chunks that are so short that they have another calibration."""
        most = _MAX_WORDS - self.query_words
        if most > 0 and any(self.calibration.words):
            query = f"""SELECT c.id, c.text FROM carray(?) wanted
                CROSS JOIN {self.snapshot.tables.chunks} c ON c.id = wanted.value WHERE octet_length(c.text) <= ?"""
            texts = self.snapshot.connection.execute(query, (id_array(ids), most * _BYTES_PER_WORD))
            self._short.update((id_, words) for id_, text in texts if (words := count_words(text)) <= most)
