"""What a sync works on and with, handed from the run to its stages."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from engine.base.cancellation import CancelToken
from engine.embedding.base import EmbeddingProvider
from engine.embedding.batch_jobs.policy import BatchPolicy
from engine.indexing.cost_estimate import EmbeddingWork
from engine.indexing.crash_record import CrashRecord
from engine.indexing.progress import ProgressMeter
from engine.records import FileIssue
from engine.settings import Settings
from engine.store.batch_jobs import BatchJobs
from engine.store.index import IndexStore
from engine.store.schema import Tables
from engine.store.stored_models import ModelName
from engine.store.vector_encoding import StoredModel
from engine.store.vectors import VectorIndex


class Agreement(Protocol):
    """Embedding that the user has approved although it costs money or minutes."""

    def covers(self, name: ModelName, work: EmbeddingWork) -> bool:
        """Whether this work may be done with this model."""

    def tokens(self, name: ModelName) -> int:
        """How much was agreed to; 0 without an approval."""

    def lower(self, name: ModelName, tokens: int) -> None:
        """So much is left to do; 0 ends the approval."""


class Providers(Protocol):
    """The provider in use, and the one that stands in for it when it fails."""

    def known(self) -> EmbeddingProvider | None:
        """The provider in use, where one has been chosen already."""

    def provider(self) -> EmbeddingProvider | None:
        """The provider in use; None: keywords only, nothing is embedded. Choosing may wait for a keychain."""

    def prepare(self, reason: str) -> EmbeddingProvider | None:
        """Return the provider that replaces the one that failed for `reason`; None if there is none, or it is in use
        already."""

    def take_over(self) -> None:
        """Use the prepared provider from now on, for searches too."""


class Sharing(Protocol):
    """Shares the index with other machines. Its `MnemoscopeError`s end the sharing, not the sync."""

    def text_ready(self, work: "StageWork", pending: int) -> None:
        """The text is up to date, and so many chunks wait for their vectors: others may have them already."""

    def settle(self, work: "StageWork") -> None:
        """Share everything the index contains now."""


RefusedTexts = dict[tuple[int, bytes], FileIssue]
"""Texts that a provider refused since the program started, by model id and hash, with their location and reason. They
are sent again after the next start or by a forced sync."""


@dataclass(frozen=True)
class SyncParts:
    """The same for every sync of an open workspace."""

    workspace: Path
    settings: Settings
    rules: str
    """What the settings say of names (`PathGuard.rules`)."""
    store: IndexStore
    vectors: VectorIndex
    providers: Providers
    agreement: Agreement
    batch_jobs: BatchJobs
    batch_policy: BatchPolicy
    executor: Executor
    refused: RefusedTexts
    committed: Callable[[], None]
    """Called after every commit: searches can find more now."""
    text_ready: Callable[[], None]
    """Called when searches find every change that was made before the start or the last `take_changes`."""
    take_changes: Callable[[], bool]
    """Whether files have changed since the last call."""
    crashes: CrashRecord
    sharing: Sharing | None = None
    """None where the index is this machine's alone."""


@dataclass(frozen=True)
class StageWork:
    """One stage of one sync."""

    parts: SyncParts
    meter: ProgressMeter
    token: CancelToken
    model: StoredModel | None
    """The provider's model as the index knows it; None without a provider, or before it was chosen."""
    tables: Tables | None
    """The generation to work on; None is the current one, which searches see immediately."""
