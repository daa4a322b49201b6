"""Interfaces of a searcher's data sources, so that an external index can be searched like the local one.

Such an index copies its candidates into a small one in memory, where the query is then answered as usual; only the
frequencies of words and chunks come from the whole index.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

from engine.base.cancellation import CancelToken
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import Ids, StoredModel, Vectors

if TYPE_CHECKING:
    from engine.embedding.base import EmbeddingProvider
    from engine.search.document_frequencies import Word
    from engine.search.search_context import SearchContext


class ReadableStore(Protocol):
    """See `IndexStore`."""

    @property
    def recovered(self) -> str:
        """Message that a damaged index was replaced, one sentence; else empty."""

    def read(self, cancel: CancelToken | None = None) -> AbstractContextManager[Snapshot]: ...


class NearVectors(Protocol):
    """See `VectorIndex`."""

    def search(
        self,
        snapshot: Snapshot,
        model: StoredModel,
        query: Vectors,
        k: int,
        *,
        allowed: Sequence[int] | None = None,
        cancel: CancelToken | None = None,
    ) -> tuple[Ids, Vectors]: ...

    def rows(self, snapshot: Snapshot, model: StoredModel) -> int: ...


class WordCounts(Protocol):
    """Frequencies of words in the whole index."""

    @property
    def total(self) -> int:
        """Number of indexed chunks."""

    @property
    def average_length(self) -> float | None:
        """Average of all chunks, in tokens; None if the searched index is complete and knows it itself."""

    def expect(self, tokens: Iterable[str]) -> None:
        """Prepare for lookups of these tokens."""

    def chunks(self, token: str, column: str) -> int: ...

    def words(self, start: str) -> "Sequence[Word]": ...

    def loose(self, token: str, column: str) -> int:
        """Like `chunks`, for a token of a looser form: with `*` at its end, for all tokens with this prefix."""


class CountsOf(Protocol):
    """See `Frequencies`."""

    def of(self, snapshot: Snapshot) -> WordCounts: ...


class Bring(Protocol):
    """Copies a query's candidates into the index that is searched."""

    def by_words(self, work: "SearchContext") -> None: ...

    def by_vector(self, work: "SearchContext", provider: "EmbeddingProvider") -> None:
        """Copy the vector candidates; called after the query was embedded, or could not be."""


class SearchSources(NamedTuple):
    """The index that a searcher reads."""

    store: ReadableStore
    vectors: NearVectors
    frequencies: CountsOf | None = None
    """Counts words in the whole index if `store` holds only the candidates of an index elsewhere; None to count in
    `store`."""
    bring: Bring | None = None
    """Copies those candidates to `store`."""
