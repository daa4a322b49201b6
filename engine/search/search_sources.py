"""What a searcher asks, so that an index that lies elsewhere can be searched in the same way as the one in the file.

Such an index brings its candidates into a small one in memory, before the question is answered there as always; only
how often words and chunks occur is told of the whole.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from engine.base.cancellation import CancelToken
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import Ids, StoredModel, Vectors

if TYPE_CHECKING:
    from engine.embedding.base import EmbeddingProvider
    from engine.search.document_frequencies import Word
    from engine.search.search_context import SearchContext


class ReadableStore(Protocol):
    """As `IndexStore`."""

    @property
    def recovered(self) -> str:
        """That a damaged index was replaced, one sentence; else empty."""

    def read(self, cancel: CancelToken | None = None) -> AbstractContextManager[Snapshot]: ...


class NearVectors(Protocol):
    """As `VectorIndex`."""

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
    """How often words occur in all that is indexed."""

    @property
    def total(self) -> int:
        """How many chunks are indexed."""

    @property
    def average_length(self) -> float | None:
        """Of all chunks, in tokens; None where what is searched is all there is, which then knows it itself."""

    def expect(self, tokens: Iterable[str]) -> None:
        """These will be asked for."""

    def chunks(self, token: str, column: str) -> int: ...

    def words(self, start: str) -> "Sequence[Word]": ...

    def loose(self, token: str, column: str) -> int:
        """As `chunks`, of a token of a looser form: with `*` at its end, of all tokens that begin so."""


class CountsOf(Protocol):
    """As `Frequencies`."""

    def of(self, snapshot: Snapshot) -> WordCounts: ...


Bring = Callable[["SearchContext", "EmbeddingProvider | None"], None]
"""Brings the candidates of a question, whose vector is known by then, to where they are searched."""
