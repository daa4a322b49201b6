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
    """What someone agreed to embed though it costs money or minutes."""

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
        """The one to take over from a provider that failed for `reason`; None where there is none, or it has."""

    def take_over(self) -> None:
        """Use what was prepared from now on, for searches too."""


class Sharing(Protocol):
    """Where the index is shared with other machines; raises `MnemoscopeError`s, which cost no more than the sharing."""

    def text_ready(self, work: "StageWork", pending: int) -> None:
        """The text is up to date, and so many chunks wait for their vectors: others may have them already."""

    def settle(self, work: "StageWork") -> None:
        """Share all that the index holds now."""


RefusedTexts = dict[tuple[int, bytes], FileIssue]
"""By model id and hash: texts that a provider refused since the program began, where they stand and why. They are not
sent again before the next start, or a forced sync."""


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
    """Called when searches find what the files held when this was last begun or asked for changes."""
    take_changes: Callable[[], bool]
    """Whether files were seen to change since this was last asked."""
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
    """The generation to work on; None is the current one, which searches follow at once."""
