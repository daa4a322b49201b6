"""Ranking methods for comparison; all use the same chunks and vectors of one index."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import apsw
import numpy as np

from engine.backends.builtin import BuiltinMemory
from engine.store.vector_encoding import decode
from engine.text import analyse_query
from engine.text.languages import detect_language

_CANDIDATES = 200
_RRF = 60
_REFERENCE_SHARE = 0.7
_WORD = re.compile(r"\w+")
Rank = Callable[[str], Sequence[int]]


class Row(NamedTuple):
    path: str
    first: int
    last: int
    text: str


class Methods:
    """Ranking methods; each returns the ids of chunks, best first."""

    def __init__(self, memory: BuiltinMemory) -> None:
        with memory.store.read() as snapshot:
            files = [file.id for source in ("memory", "sessions") for file in snapshot.files(source).values()]
            ids = sorted(snapshot.chunks_of_files(files))
            chunks = snapshot.chunks(ids)
            provider = memory._provider.provider()
            assert provider is not None
            model = snapshot.stored_model(provider.id, provider.model, provider.key)
            assert model is not None
            stored = dict(snapshot.vectors(model.id, model.dims, ids))
        self.rows = {id_: Row(c.path, c.start_line, c.end_line, c.text) for id_, c in chunks.items()}
        self._embed = provider.embed_query
        self._ids = np.array(ids)
        self._matrix = decode([stored[id_] for id_ in ids], model.dims)
        self._connection = apsw.Connection(":memory:")
        for table, tokenizer in (("plain", "unicode61"), ("stemmed", "porter unicode61")):
            self._connection.execute(f"CREATE VIRTUAL TABLE {table} USING fts5 (text, tokenize='{tokenizer}')")
            self._connection.executemany(
                f"INSERT INTO {table} (rowid, text) VALUES (?, ?)", ((id_, row.text) for id_, row in self.rows.items())
            )

    def all(self) -> dict[str, Rank]:
        return {
            "BM25 (FTS5, unicode61)": lambda question: [id_ for id_, _ in self._bm25("plain", _words(question))],
            "stemmed BM25 (FTS5, porter)": lambda question: [id_ for id_, _ in self._bm25("stemmed", _words(question))],
            "stemmed BM25 without stop words": lambda question: [
                id_ for id_, _ in self._bm25("stemmed", _asked(question))
            ],
            "vectors alone": lambda question: [id_ for id_, _ in self._nearest(question)],
            "the reference's 0.7/0.3, any word": lambda question: self._reference(question, _words(question)),
            "the reference's 0.7/0.3, all words": lambda question: self._reference(question, _words(question), "AND"),
            "RRF (k 60) of stemmed BM25 and vectors": self._rrf,
        }

    def _bm25(self, table: str, words: Sequence[str], between: str = "OR") -> list[tuple[int, float]]:
        if not words:
            return []
        expression = f" {between} ".join(f'"{word}"' for word in words)
        query = f"SELECT rowid, bm25({table}) AS b FROM {table} WHERE {table} MATCH ? ORDER BY b LIMIT {_CANDIDATES}"
        return [(id_, score) for id_, score in self._connection.execute(query, (expression,))]

    def _nearest(self, question: str) -> list[tuple[int, float]]:
        cosines = self._matrix @ self._embed(question)
        best = np.argsort(-cosines)[:_CANDIDATES]
        return list(zip(self._ids[best].tolist(), cosines[best].tolist(), strict=True))

    def _reference(self, question: str, words: Sequence[str], between: str = "OR") -> list[int]:
        scores = {id_: _REFERENCE_SHARE * cosine for id_, cosine in self._nearest(question)}
        for id_, rank in self._bm25("plain", words, between):
            text = abs(rank) / (1 + abs(rank))
            scores[id_] = scores.get(id_, 0.0) + (1 - _REFERENCE_SHARE) * text
        return sorted(scores, key=lambda id_: -scores[id_])

    def _rrf(self, question: str) -> list[int]:
        scores: dict[int, float] = {}
        legs: Iterable[list[tuple[int, float]]] = (self._bm25("stemmed", _words(question)), self._nearest(question))
        for leg in legs:
            for index, (id_, _) in enumerate(leg, 1):
                scores[id_] = scores.get(id_, 0.0) + 1 / (_RRF + index)
        return sorted(scores, key=lambda id_: -scores[id_])


def _words(question: str) -> list[str]:
    return _WORD.findall(question)


def _asked(question: str) -> list[str]:
    """Return the words of a question, without those that our analysis takes for function words."""
    terms = analyse_query(question, (detect_language(question),)).terms
    return [word for term in terms if not term.stop for word in _WORD.findall(term.surface)]
