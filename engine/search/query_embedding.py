"""Embeds the query once, and only if there are vectors to compare it with."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.base.errors import ProviderError
from engine.base.language import tr
from engine.corpus.path_guard import PathGuard
from engine.search.query_conditions import hidden
from engine.search.search_context import SearchContext
from engine.search.search_sources import ReadableStore
from engine.search.stages import EmbeddedQuery
from engine.store import stored_models

if TYPE_CHECKING:
    from engine.embedding.base import EmbeddingProvider
    from engine.store.vector_encoding import Vectors
import threading

from engine.base.cancellation import CancelToken
from engine.embedding.base import EmbeddingProvider
from engine.store.vector_encoding import Vectors

_MOST = 64


class QueryVectorCache:
    """Cache of query vectors, in memory only. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str, str, str], Vectors] = {}
        """Ordered by last use."""

    def of(self, provider: EmbeddingProvider, text: str, cancel: CancelToken | None = None) -> Vectors:
        """Unit vector (dims,) of a query. Raises the errors of `embed_query`."""
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
        """The cached vector of a query; None if there is none. Nothing is sent."""
        name = (provider.id, provider.model, provider.key, text)
        with self._lock:
            vector = self._kept.pop(name, None)
            if vector is not None:
                self._kept[name] = vector
            return vector


class QueryEmbedder:
    """Embeds queries. Thread-safe. If the provider fails, the search runs without a vector and has a notice."""

    def __init__(self, store: ReadableStore, guard: PathGuard, note_failure: Callable[[str | None], None]) -> None:
        """`note_failure` receives the reason why a query could not be embedded, or None after success."""
        self._store = store
        self._guard = guard
        self._note_failure = note_failure
        self._questions = QueryVectorCache()

    def take_vectors(self, provider: "EmbeddingProvider", work: SearchContext) -> None:
        """Embed all queries of the search. After a failure the provider is not called again."""
        for level in work.levels:
            level.vector = self._vector(provider, level)
            if level.capabilities is not None:
                return

    def known(self, provider: "EmbeddingProvider", text: str) -> "Vectors | None":
        """The cached vector of a query; None if there is none. Nothing is sent."""
        return self._questions.known(provider, text)

    def _vector(self, provider: "EmbeddingProvider", work: SearchContext) -> "Vectors | None":
        """Unit vector (dims,): of a passage the stored one, else what the provider answers."""
        if work.request.like is None:
            return self._embed(provider, work.query.question, work)
        from engine.search.more_like_this import find_passage, stored_vector

        with self._store.read(work.cancel) as snapshot:
            liked = find_passage(snapshot, work.request.like, hidden(snapshot, self._guard, work))
            model = snapshot.stored_model(provider.id, provider.model, provider.key)
            stored = None if model is None else stored_vector(snapshot, model, liked)
        if stored is None:
            return self._embed(provider, liked.text, work)
        work.stored = True
        work.stages.add("question", 1, 1, unit="questions")
        return stored

    def _embed(self, provider: "EmbeddingProvider", text: str, work: SearchContext) -> "Vectors | None":
        """Return None if only keywords can be searched."""
        if not text.strip() or not self._has_vectors(provider, work):
            return None
        with work.timed("embed"):
            try:
                vector = self._questions.of(provider, text, work.cancel)
            except ProviderError as error:
                work.by_words_only(str(error), "settings")
                self._note_failure(str(error))
                return None
        self._note_failure(None)
        work.stages.add("question", 1, 1, EmbeddedQuery(provider.model, len(vector)), "questions")
        # A vector of zeros has no direction: everything would be equally near.
        return vector if vector.any() else None

    def _has_vectors(self, provider: "EmbeddingProvider", work: SearchContext) -> bool:
        """Whether there are vectors to compare with; otherwise the query is not sent anywhere, and no model is
        loaded."""
        with self._store.read(work.cancel) as snapshot:
            model = snapshot.stored_model(provider.id, provider.model, provider.key)
            if model is not None and snapshot.has_vectors(model.id):
                return True
            waits = stored_models.awaiting(snapshot)
        asked = waits is not None and waits.name == (provider.id, provider.model, provider.key)
        if asked:
            work.by_words_only(tr("the embedding has not been approved yet."), "embed")
        else:
            work.by_words_only(tr("nothing has been embedded yet."), "sync")
        return False
