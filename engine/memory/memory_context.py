"""The parts of one open memory that its services share, with the listeners for changes of its status.

A backend that shares its index with other machines replaces some of the parts by an `IndexOverride`.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from engine.base import lazy_logger

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.path_guard import PathGuard
    from engine.indexing.stage_data import Sharing
    from engine.indexing.sync_scheduler import IndexingService
    from engine.memory.active_provider import ActiveProvider
    from engine.memory.executor import BackgroundExecutor
    from engine.records import SearchOutcome
    from engine.search.search_context import OnKeywords, SearchRequest
    from engine.settings import Settings
    from engine.settings.search_settings import ResultCacheSettings
    from engine.store.index import IndexStore
    from engine.store.user_data import UserData
    from engine.store.vector_encoding import Vectors
    from engine.store.vectors import VectorIndex

log = lazy_logger(__name__)

StatusListener = Callable[[], None]


class Listeners:
    """Calls functions when the status of a memory changes, on the notifying thread. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: list[StatusListener] = []

    def add(self, listener: StatusListener) -> Callable[[], None]:
        """Add a listener; returns a function that removes it."""
        with self._lock:
            self._all.append(listener)
        return lambda: self._remove(listener)

    def notify(self) -> None:
        with self._lock:
            listeners = tuple(self._all)
        for listener in listeners:
            try:
                listener()
            except Exception:
                # An error in a listener must not stop a sync.
                log.exception("A status listener failed")

    def _remove(self, listener: StatusListener) -> None:
        with self._lock:
            if listener in self._all:
                self._all.remove(listener)


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
    listeners: Listeners
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
