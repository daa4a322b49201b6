"""Embeds the query once, and only if there are vectors to compare it with."""

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.corpus.path_guard import PathGuard
from engine.search.pipeline_stages import EmbeddedQuery, KeywordsOnly
from engine.search.search_context import SearchContext
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import Vectors

if TYPE_CHECKING:
    from engine.embedding.provider_interface import EmbeddingProvider, WordVectors

_MAX_CACHED = 64
_NONSENSE = 5
"""Minimum number of letters of a word whose spelling shows that it has no meaning: models know many abbreviations."""
_LETTERS_PER_PIECE = 2.1
"""Words have no meaning if the model spells them in pieces of fewer letters on average. This holds for 86 % of random
words, and for 2 % of the words of eight languages.
"""
_RARITY_OF_TYPO, _RARER = 24.0, 6.0
"""Least rarity of a typing error, and how much rarer it is than the word that was meant. These hold for 7 of 10 errors
in ten languages, and for 1 % of English and 5 % of other words that resemble an indexed word.
"""
_RARE = 16.0
"""Rarity from which a short word is probably not a word. This holds for 7 of 10 errors that leave four letters, and
for 17 of 100 words of four letters that resemble an indexed word."""
_LETTERS_OF_KNOWN = 3
"""Letters per piece from which a single word has a meaning, whatever the other words are."""


class QueryVectorCache:
    """Cache of query vectors, in memory only. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cached: dict[tuple[str, str, str, str], Vectors] = {}
        """Ordered by last use."""

    def vectors_of(self, provider: "EmbeddingProvider", text: str, cancel: CancelToken | None = None) -> Vectors:
        """Return the unit vector (dims,) of a query, from the cache or the provider. Raises the errors of
        `embed_query`.
        """
        name = (provider.id, provider.model, provider.key, text)
        vector = self.cached(provider, text)
        if vector is not None:
            return vector
        vector = provider.embed_query(text, cancel=cancel)
        with self._lock:
            self._cached[name] = vector
            if len(self._cached) > _MAX_CACHED:
                del self._cached[next(iter(self._cached))]
        return vector

    def cached(self, provider: "EmbeddingProvider", text: str) -> Vectors | None:
        """Return the cached vector of a query; None if there is none. Nothing is sent."""
        name = (provider.id, provider.model, provider.key, text)
        with self._lock:
            vector = self._cached.pop(name, None)
            if vector is not None:
                self._cached[name] = vector
            return vector


class WordModel:
    """Tells words from typing errors by the vocabulary of a provider's model."""

    def __init__(
        self, provider: "EmbeddingProvider | None", has_vectors: Callable[[], bool], knows_language: Callable[[], bool]
    ) -> None:
        """Nothing is known without vectors: the first search in a new folder must not wait until the model is
        unpacked. `knows_language`: whether rarities show typing errors; in other languages, real words are as rare.
        """
        self._given, self._has_vectors, self._knows_language = provider, has_vectors, knows_language

    @cached_property
    def _provider(self) -> "EmbeddingProvider | None":
        return self._given if self._given is not None and self._has_vectors() else None

    def knows(self, word: str) -> bool:
        """Whether the vocabulary has this word, so that it is probably not a typing error."""
        return self.pieces(word) == 1

    def is_typo(self, word: str, other: str) -> bool:
        """Whether a word is so rare that it is probably a typing error of `other`, which is far more frequent."""
        return self._rarity(word) >= max(_RARITY_OF_TYPO, self._rarity(other) + _RARER)

    def is_rare(self, word: str) -> bool:
        """Whether a short word is probably a typing error."""
        return self._rarity(word) >= _RARE

    @cached_property
    def _frequencies(self) -> "WordVectors | None":
        from engine.embedding.provider_interface import WordVectors

        return self._provider if isinstance(self._provider, WordVectors) and self._knows_language() else None

    def _rarity(self, word: str) -> float:
        """Return the negative logarithm of a word's frequency; 0 if that is not known."""
        try:
            return 0.0 if self._frequencies is None else self._frequencies.rarity(word.lower())
        except ProviderError:
            return 0.0

    def pieces(self, word: str) -> int:
        """Return how many pieces of the vocabulary spell a word, 0 if that is not known."""
        try:
            return self._provider.pieces(word.lower()) if self._provider is not None else 0
        except ProviderError:
            return 0

    def is_nonsense(self, words: Sequence[str]) -> bool:
        """Whether the model spells these words in pieces of a letter or two, so that their vector has no meaning."""
        letters = sum(map(len, words))
        if letters < _NONSENSE or not all(word.isascii() and word.isalnum() for word in words):
            return False
        pieces = list(map(self.pieces, words))
        if any(len(word) >= _LETTERS_OF_KNOWN * count for word, count in zip(words, pieces, strict=True)):
            return False
        return letters < _LETTERS_PER_PIECE * sum(pieces)


class QueryEmbedder:
    """Embeds queries. Thread-safe. If the provider fails, the search continues with keywords and a notice."""

    def __init__(self, guard: PathGuard, report_failure: Callable[[str | None], None]) -> None:
        """`report_failure` receives the reason why a query could not be embedded, or None after success."""
        self._guard = guard
        self._report_failure = report_failure
        self._cached = QueryVectorCache()

    def set_query_vector(self, snapshot: Snapshot, provider: "EmbeddingProvider", context: SearchContext) -> None:
        """Set `context.vector` to the query's vector: the stored one of a passage, else one from the provider.

        After a failure the provider is not called again: neither for this query, if `context.failure` says why it could
        not be embedded, nor if embedding another query of this search has failed.
        """
        if any(level.keywords_only is not None for level in context.levels):
            return
        stored, text = self._stored(snapshot, provider, context)
        if stored is not None:
            context.vector, context.stored = stored, True
            context.stages.add_query_vector(embedded=True)
            return
        if not text.strip() or not self._can_compare(snapshot, provider, context):
            return
        with context.timed("embed"):
            vector = context.failure or self._embed(provider, text, context.cancel)
        if isinstance(vector, str):
            context.record_keywords_only(KeywordsOnly("failure", vector))
            return
        context.stages.add_query_vector(embedded=True, details=EmbeddedQuery(provider.model, len(vector)))
        # A zero vector has no direction: all passages would be equally near.
        context.vector = vector if vector.any() else None

    def unknown(self, snapshot: Snapshot, provider: "EmbeddingProvider", context: SearchContext) -> list[str]:
        """Return the texts of this search whose vectors are neither stored nor cached, so the provider
        must embed them.
        """
        if not self.has_vectors(snapshot, provider):
            return []
        pairs = (self._stored(snapshot, provider, level) for level in context.levels)
        return [
            text for stored, text in pairs if stored is None and text.strip() and self.cached(provider, text) is None
        ]

    def embed(self, provider: "EmbeddingProvider", texts: Iterable[str], cancel: CancelToken | None) -> str:
        """Embed and cache texts; return the reason why one could not be embedded, or ""."""
        answers = (self._embed(provider, text, cancel) for text in texts)
        return next((answer for answer in answers if isinstance(answer, str)), "")

    def _embed(self, provider: "EmbeddingProvider", text: str, cancel: CancelToken | None) -> Vectors | str:
        """Return the unit vector (dims,) of a query, or a message why it could not be embedded."""
        try:
            vector = self._cached.vectors_of(provider, text, cancel)
        except ProviderError as error:
            self._report_failure(str(error))
            return str(error)
        self._report_failure(None)
        return vector

    def cached(self, provider: "EmbeddingProvider", text: str) -> Vectors | None:
        """Return the cached vector of a query; None if there is none. Nothing is sent."""
        return self._cached.cached(provider, text)

    def has_vectors(self, snapshot: Snapshot, provider: "EmbeddingProvider | None") -> bool:
        """Whether the index has vectors of the provider's model.

        Otherwise the query is not sent anywhere, and no model is loaded.
        """
        model = None if provider is None else snapshot.stored_model(provider.id, provider.model, provider.key)
        return model is not None and snapshot.has_vectors(model.id)

    def _stored(
        self, snapshot: Snapshot, provider: "EmbeddingProvider", context: SearchContext
    ) -> tuple[Vectors | None, str]:
        """Return the stored vector (dims,) of the searched passage if there is one, and the text to embed otherwise."""
        if context.request.like is None:
            return None, context.embedded or context.query.free_text
        from engine.search.more_like_this import find_passage, stored_vector

        example = find_passage(snapshot, context.request.like, self._guard)
        model = snapshot.stored_model(provider.id, provider.model, provider.key)
        return None if model is None else stored_vector(snapshot, model, example), example.text

    def _can_compare(self, snapshot: Snapshot, provider: "EmbeddingProvider", context: SearchContext) -> bool:
        if self.has_vectors(snapshot, provider):
            return True
        from engine.store import stored_models

        name = stored_models.ModelName(provider.id, provider.model, provider.key)
        waits = stored_models.unapproved_embedding(snapshot)
        if waits is not None and waits.name == name:
            context.record_keywords_only(KeywordsOnly("not approved"))
        elif failure := stored_models.embedding_failure(snapshot, name):
            context.record_keywords_only(KeywordsOnly("no vectors after failure", failure))
        else:
            context.record_keywords_only(KeywordsOnly("no vectors"))
        return False
