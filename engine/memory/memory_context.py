"""The parts of one open memory that its services share."""

from dataclasses import dataclass
from pathlib import Path

from engine.corpus.path_guard import PathGuard
from engine.indexing.service import IndexingService
from engine.memory.active_provider import ActiveProvider
from engine.memory.executor import BackgroundExecutor
from engine.memory.listeners import Listeners
from engine.settings import Settings
from engine.store.index import IndexStore
from engine.store.user_data import UserData
from engine.store.vectors import VectorIndex


@dataclass(frozen=True)
class MemoryContext:
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
