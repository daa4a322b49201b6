"""Interfaces of a searcher's data sources, so that an external index can be searched like the local one.

Such an index copies its candidates into a small one in memory, where the query is then answered as usual; only the
frequencies of words and chunks come from the whole index.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

import msgspec

from engine.base.cancellation import CancelToken
from engine.settings import Settings
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import Ids, StoredModel, Vectors

if TYPE_CHECKING:
    from engine.embedding.provider_interface import EmbeddingProvider
    from engine.search.document_frequencies import Beginning
    from engine.search.search_context import SearchContext


class ReadableStore(Protocol):
    """Interface of a database that a searcher reads; `IndexStore` is the local one."""

    @property
    def recovered(self) -> str:
        """Message that a damaged index was replaced, in one sentence; empty if it was not."""

    def read(self, cancel: CancelToken | None = None) -> AbstractContextManager[Snapshot]: ...


class NearVectors(Protocol):
    """Finds the vectors nearest to a query; `VectorIndex` is the local one."""

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
    """Looks up how many chunks of the whole index contain a word."""

    @property
    def total(self) -> int:
        """Number of chunks in the index."""

    @property
    def average_length(self) -> float | None:
        """Average length of all chunks in tokens; None if the searched index is complete and computes it."""

    def expect(self, tokens: Iterable[str]) -> None:
        """Announce tokens that will be looked up, so that they are read together."""

    def chunks(self, token: str, column: str) -> int: ...

    def words(self, start: str) -> "Beginning": ...

    def loose(self, token: str, column: str) -> int:
        """Return the number of chunks that contain a token; with `*` at its end, the sum over all tokens with this
        prefix.
        """

    def spelled_out(self, token: str, column: str) -> Sequence[str]:
        """Return the words to search in place of a prefix (with `*` at its end); empty to search the prefix."""


class WordCountSource(Protocol):
    """Interface that returns the word counts of a snapshot; `Frequencies` is the local one."""

    def counts(self, snapshot: Snapshot) -> WordCounts: ...


class CandidateLoader(Protocol):
    """Copies a query's candidates from an external index into the local one that is searched."""

    def by_keywords(self, context: "SearchContext") -> None: ...

    def by_vector(self, context: "SearchContext", provider: "EmbeddingProvider") -> None:
        """Copy the vector candidates; called after embedding the query, even if that failed."""


class SearchSources(msgspec.Struct, frozen=True):
    """The data sources of a searcher: the database, the vectors, and more for an external index."""

    store: ReadableStore
    vectors: NearVectors
    frequencies: WordCountSource | None = None
    """Word counts of the whole external index, if `store` holds only candidates from it; None to count in `store`."""
    load: CandidateLoader | None = None
    """Copies candidates of an external index to `store`; None for the local index."""
    unavailable: Callable[[], str] = str
    """Returns why the provider of the settings cannot be used, one sentence; empty if it can, or if there is none."""
    settings: Settings | None = None
    """Settings with the folders of sessions, whose unindexed texts may be looked at; None for an external index."""
