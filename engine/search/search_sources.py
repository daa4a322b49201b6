"""Interfaces of a searcher's data sources, so that an external index can be searched like the local one.

Such an index copies its candidates into a small one in memory, where the query is then answered as usual; only the
frequencies of words and chunks come from the whole index.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from engine.base.cancellation import CancelToken
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import Ids, StoredModel, Vectors

if TYPE_CHECKING:
    from engine.search.document_frequencies import Beginning


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
