"""Data and interfaces that a sync passes to its stages."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.index_rule_versions import (
    ANALYSER_VERSION,
    CHUNKER_VERSION,
    DOCUMENTS_VERSION,
    LINKS_VERSION,
    PACKER_VERSION,
    REDACTION_VERSION,
    TAGS_VERSION,
    TOOL_TEXTS_VERSION,
    TOOLS_VERSION,
    USAGE_VERSION,
)
from engine.corpus.folder_walk import Drives
from engine.embedding.batch_jobs.batch_api import BatchPolicy
from engine.embedding.provider_interface import EmbeddingProvider
from engine.indexing.cost_estimate import EmbeddingWork
from engine.indexing.crashing_files import CrashRecord
from engine.indexing.sync_progress import ProgressMeter
from engine.records import FileIssue, MemorySearchResult, Source
from engine.settings import Settings
from engine.store.batch_jobs import BatchJobs
from engine.store.index import IndexStore
from engine.store.index_schema import Tables
from engine.store.stored_models import ModelName
from engine.store.vector_encoding import StoredModel
from engine.store.vectors import VectorIndex


def fingerprint(settings: Settings) -> str:
    """Return a hash of everything the stored rows depend on; a change causes a rebuild."""
    chunking, sessions = settings.chunking, settings.sessions
    return (
        f"chunker {CHUNKER_VERSION}, {chunking.tokens}/{chunking.overlap}; analyser {ANALYSER_VERSION}; "
        f"packer {PACKER_VERSION}, thinking {sessions.thinking:d}, tools {sessions.tools * TOOL_TEXTS_VERSION}; "
        f"tool uses {TOOLS_VERSION}; redaction {REDACTION_VERSION}; usage {USAGE_VERSION}; "
        f"links {LINKS_VERSION}; documents {DOCUMENTS_VERSION}; tags {TAGS_VERSION}"
    )


class EmbeddingApproval(Protocol):
    """The user's approval of embedding that costs money or takes minutes."""

    def covers(self, name: ModelName, work: EmbeddingWork) -> bool:
        """Return whether the user has approved this work for this model."""

    def tokens(self, name: ModelName) -> int:
        """Return the number of approved tokens; 0 without an approval."""

    def lower(self, name: ModelName, tokens: int) -> None:
        """Reduce the approval to this number of remaining tokens; 0 ends it."""


class Providers(Protocol):
    """Selects the embedding provider in use, and its fallback."""

    def selected(self) -> EmbeddingProvider | None:
        """Return the provider in use if it is already selected, else None."""

    def provider(self) -> EmbeddingProvider | None:
        """Return the provider in use, selecting it first; None if nothing is embedded. May wait for a keychain."""

    def prepare_fallback(self, reason: str) -> EmbeddingProvider | None:
        """Return the fallback for the provider that failed for `reason`; None without one, or if it is in use."""

    def switch_to_fallback(self) -> None:
        """Use the prepared fallback from now on, for searches too."""


class Sharing(Protocol):
    """Shares the index with other machines. Its `MnemoscopeError`s stop the sharing, not the sync."""

    def text_ready(self, work: "StageWork", pending: int) -> None:
        """Called when the text is up to date; `pending` chunks need vectors, which other machines may have."""

    def share_all(self, work: "StageWork") -> None:
        """Share everything that the index contains now."""


RefusedTexts = dict[tuple[int, bytes], FileIssue]
"""Texts that a provider has refused since the program started, by model id and hash, with path and reason. They are
sent again after the next start or by a forced sync.
"""


class SyncContext(msgspec.Struct, frozen=True):
    """Settings, store and services that all syncs of an open workspace share."""

    workspace: Path
    settings: Settings
    rules: str
    """Fingerprint of the rules for which files are indexed (`PathGuard.rules`)."""
    store: IndexStore
    vectors: VectorIndex
    providers: Providers
    approval: EmbeddingApproval
    batch_jobs: BatchJobs
    batch_policy: BatchPolicy
    executor: Executor
    refused: RefusedTexts
    committed: Callable[[], None]
    """Called after every commit, since searches can find more then."""
    text_ready: Callable[[], None]
    """Called when searches find every change that was made before the start or the last `take_changes`."""
    take_changes: Callable[[], bool]
    """Whether files have changed since the last call."""
    crashes: CrashRecord
    latest_query: Callable[[], str]
    """The text of the last search; notes that contain its words are read first."""
    latest_results: Callable[[], tuple[MemorySearchResult, ...]]
    """The results of the last search; those without a vector are embedded first."""
    stays_open: bool
    """Whether the program runs on after the sync, and will search; a command doesn't."""
    transcripts: frozenset[str] | None = None
    """Paths of the only files that have changed, all in session folders; None if any file may have changed."""
    sharing: Sharing | None = None
    """None if the index is not shared with other machines."""


class StageWork(msgspec.Struct, frozen=True):
    """Data for one stage of a sync: shared context, progress, cancel token, model and generation."""

    context: SyncContext
    meter: ProgressMeter
    token: CancelToken
    model: StoredModel | None
    """The provider's model as stored in the index; None without a provider, or before it was selected."""
    tables: Tables | None
    """The generation to work on; None is the current one, which searches see immediately."""

    @contextmanager
    def drives(self, source: Source) -> Iterator[Drives]:
        """Yield the drives of the last sync of a source, and store those that are found within the block."""
        with self.context.store.read() as snapshot:
            before = snapshot.mounts(source)
        drives = Drives(before)
        yield drives
        if drives.mounts != before:
            with self.context.store.write() as writer:
                writer.set_meta(f"mounts {source}", msgspec.json.encode(drives.mounts).decode())
