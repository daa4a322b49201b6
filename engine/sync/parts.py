"""What a sync works on and with, handed from the run to its stages."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from engine.control import CancelToken
from engine.embedding.base import EmbeddingProvider
from engine.settings import Settings
from engine.store.coding import StoredModel
from engine.store.index import IndexStore
from engine.store.schema import Tables
from engine.store.vectors import VectorIndex
from engine.sync.progress import ProgressMeter


@dataclass(frozen=True)
class SyncParts:
    """The same for every sync of an open workspace."""

    workspace: Path
    settings: Settings
    rules: str
    """What the settings say of names (`PathGuard.rules`)."""
    store: IndexStore
    vectors: VectorIndex
    provider: EmbeddingProvider | None
    """None: keywords only, nothing is embedded."""
    executor: Executor
    committed: Callable[[], None]
    """Called after every commit: searches can find more now."""
    take_changes: Callable[[], bool]
    """Whether files were seen to change since this was last asked."""


@dataclass(frozen=True)
class StageWork:
    """One stage of one sync."""

    parts: SyncParts
    meter: ProgressMeter
    token: CancelToken
    model: StoredModel | None
    """The provider's model as the index knows it; None without a provider."""
    tables: Tables | None
    """The generation to work on; None is the current one, which searches follow at once."""
