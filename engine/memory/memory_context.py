"""The parts of one open memory that its services share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.corpus.path_guard import PathGuard
from engine.memory.active_provider import ActiveProvider
from engine.memory.executor import BackgroundExecutor
from engine.memory.listeners import Listeners
from engine.memory.sync_queue import SyncQueue
from engine.records import WatcherStatus
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
    syncs: SyncQueue
    threads: BackgroundExecutor
    watcher: Callable[[], WatcherStatus | None]
    """Status of the file watcher; None for a program that doesn't stay open."""
