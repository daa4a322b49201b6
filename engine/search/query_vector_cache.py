"""Vectors of the last questions, so that the same question is not sent, and paid for, again.

The window asks the same question anew whenever the index has changed under its answer.
"""

import threading

from engine.base.cancellation import CancelToken
from engine.embedding.base import EmbeddingProvider
from engine.store.vector_encoding import Vectors

_MOST = 64


class QueryVectorCache:
    """Thread-safe. Questions are kept in memory alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str, str, str], Vectors] = {}
        """Used last stands last."""

    def of(self, provider: EmbeddingProvider, text: str, cancel: CancelToken | None = None) -> Vectors:
        """Unit vector (dims,) of a question. Raises what `embed_query` raises."""
        name = (provider.id, provider.model, provider.key, text)
        vector = self.known(provider, text)
        if vector is not None:
            return vector
        vector = provider.embed_query(text, cancel=cancel)
        with self._lock:
            self._kept[name] = vector
            if len(self._kept) > _MOST:
                del self._kept[next(iter(self._kept))]
        return vector

    def known(self, provider: EmbeddingProvider, text: str) -> Vectors | None:
        """The same of a question that was asked lately; None of any other, for nothing is sent."""
        name = (provider.id, provider.model, provider.key, text)
        with self._lock:
            vector = self._kept.pop(name, None)
            if vector is not None:
                self._kept[name] = vector
            return vector
