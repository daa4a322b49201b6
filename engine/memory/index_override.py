"""Replacement parts for the built-in backend, for a backend that shares its index with other machines."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from engine.base.cancellation import CancelToken
from engine.corpus.path_guard import PathGuard
from engine.memory.active_provider import ActiveProvider
from engine.memory.listeners import Listeners
from engine.records import SearchOutcome
from engine.search.search_context import OnKeywords, SearchRequest
from engine.settings.query_options import ResultCacheSettings
from engine.store.index import IndexStore

if TYPE_CHECKING:
    from engine.indexing.sync_parts import Sharing
    from engine.store.vector_encoding import Vectors


class Questions(Protocol):
    """Same interface as `Searcher`."""

    def search(
        self, request: SearchRequest, cancel: CancelToken | None = None, on_keywords: OnKeywords | None = None
    ) -> SearchOutcome: ...

    def query_values(self, operator: str, start: str) -> tuple[str, ...]: ...

    def known_vector(self, query: str) -> "Vectors | None": ...

    def remember_as(self, remembering: ResultCacheSettings) -> None: ...


class IndexOverride(NamedTuple):
    questions: Questions
    """Handles queries instead of the built-in searcher."""
    sharing: "Sharing"
    """Takes part in every sync."""


Share = Callable[[IndexStore, ActiveProvider, PathGuard, Listeners], IndexOverride]
