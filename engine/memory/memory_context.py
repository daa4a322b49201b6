"""The parts of one open memory that its services share, and their replacements in a backend that shares its index."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from engine.base.cancellation import CancelToken
from engine.corpus.path_guard import PathGuard
from engine.indexing.service import IndexingService
from engine.memory.active_provider import ActiveProvider
from engine.memory.executor import BackgroundExecutor
from engine.memory.listeners import Listeners
from engine.records import SearchOutcome
from engine.settings import Settings
from engine.settings.query_options import ResultCacheSettings
from engine.store.index import IndexStore
from engine.store.user_data import UserData
from engine.store.vectors import VectorIndex

if TYPE_CHECKING:
    from engine.indexing.sync_parts import Sharing
    from engine.search.search_context import OnKeywords, SearchRequest
    from engine.store.vector_encoding import Vectors


class MemoryContext(msgspec.Struct, frozen=True):
    """One workspace with its index, its user data and the provider in use. Every part is thread-safe."""

    workspace: Path
    settings: Settings
    """Settings at the time the memory was opened."""
    store: IndexStore
    vectors: VectorIndex
    user_data: UserData
    provider: ActiveProvider
    guard: PathGuard
    listeners: Listeners
    indexing: IndexingService
    threads: BackgroundExecutor


class Questions(Protocol):
    """Same interface as `Searcher`."""

    def search(
        self, request: "SearchRequest", cancel: CancelToken | None = None, on_keywords: "OnKeywords | None" = None
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
