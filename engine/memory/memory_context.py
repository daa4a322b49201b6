"""The parts of one open memory that its services share.

A backend that shares its index with other machines replaces some of the parts by an `IndexOverride`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.path_guard import PathGuard
    from engine.indexing.stage_data import Sharing
    from engine.indexing.sync_scheduler import IndexingService
    from engine.memory.active_provider import ActiveProvider
    from engine.memory.executor import BackgroundExecutor, Listeners
    from engine.records import SearchOutcome
    from engine.search.search_context import OnKeywords, SearchRequest
    from engine.settings import Settings
    from engine.settings.search_settings import ResultCacheSettings
    from engine.store.index import IndexStore
    from engine.store.user_data import UserData
    from engine.store.vector_encoding import Vectors
    from engine.store.vectors import VectorIndex


class MemoryContext(msgspec.Struct, frozen=True):
    """The parts of one open workspace: index, user data, provider in use and more. Every part is thread-safe."""

    workspace: Path
    settings: "Settings"
    """Settings at the time the memory was opened."""
    store: "IndexStore"
    vectors: "VectorIndex"
    user_data: "UserData"
    provider: "ActiveProvider"
    guard: "PathGuard"
    listeners: "Listeners"
    indexing: "IndexingService"
    threads: "BackgroundExecutor"


class QueryAnswerer(Protocol):
    """Interface for answering queries: `Searcher`, or its replacement in a backend."""

    def search(
        self, request: "SearchRequest", cancel: "CancelToken | None" = None, on_keywords: "OnKeywords | None" = None
    ) -> "SearchOutcome": ...

    def query_values(self, operator: str, start: str) -> tuple[str, ...]: ...

    def cached_vector(self, query: str) -> "Vectors | None": ...

    def set_cache_settings(self, cache_settings: "ResultCacheSettings") -> None: ...


class IndexOverride(msgspec.Struct, frozen=True):
    answerer: QueryAnswerer
    """Handles queries instead of the built-in searcher."""
    sharing: "Sharing"
    """Takes part in every sync."""
