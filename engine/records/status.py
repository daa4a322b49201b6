"""The status of a memory, and the records that it consists of."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from engine.records.base import Record, Source
from engine.records.sync import EmbeddingEstimate, FileIssue, MemorySyncProgressUpdate, SyncSummary

# --- Features that a memory may or may not support, by the names that the window and the verbs use -------------------

Feature = Literal[
    "sessions",
    "similar",
    "filters",
    "within",
    "ordering",
    "completion",
    "explanation",
    "path-states",
    "models",
    "insight",
]
"""Names of features that not every backend supports, in terms of `MemorySearchManager`.
sessions: `sessions`, `read_session`, `raw_lines`, `session_image`; similar: `search_like`, `similar_sessions`;
filters: sources, paths and dates, as options and as operators of the query language; within: `within`; ordering:
ageing and diversity; completion: `query_values`; explanation: the stages and scores of `explain`; path-states:
`explain_path`; models: estimates, approvals, stored models; insight: the contents of the index.
"""


# ---------------------------------------------------------------------------------------------------------------------


class SourceCount(Record, frozen=True):
    """Numbers of files and chunks of one source."""

    source: Source
    files: int
    chunks: int


class StoredModelInfo(Record, frozen=True):
    """A model with stored vectors."""

    provider: str
    model: str
    key: str
    """Everything else that the vectors depend on, as named by the provider."""
    dims: int
    vectors: int
    bytes: int
    """Size of the vectors in bytes."""
    active: bool
    """Whether searches use this model at present."""


class CacheStatus(Record, frozen=True):
    """The cache of vectors: whether it is on, and its numbers of entries."""

    enabled: bool
    entries: int
    """Number of vectors of all models, including those of indexed texts."""
    max_entries: int | None
    bytes: int = 0
    models: tuple[StoredModelInfo, ...] = ()
    """Models with stored vectors, most vectors first."""


class FtsStatus(Record, frozen=True):
    """Whether the keyword index works."""

    enabled: bool
    available: bool
    error: str | None


class FallbackStatus(Record, frozen=True):
    """The provider or backend that was replaced, and why."""

    from_: str = msgspec.field(name="from")
    reason: str


class VectorStatus(Record, frozen=True):
    """Whether vectors can be compared, with which engine, and how many are missing."""

    enabled: bool
    available: bool | None
    """Whether sqlite-vec can be loaded; None if it wasn't needed yet."""
    extension_path: str | None
    load_error: str | None
    dims: int | None
    engine: Literal["numpy", "sqlite-vec", "qmd", "lancedb"]
    """The engine in use."""
    rows: int
    """Number of searchable vectors."""
    requested: Literal["auto", "numpy", "sqlite-vec", ""] = ""
    """The engine set in the settings; empty if another program compares vectors."""
    reason: str = ""
    """Why this engine is used, one sentence."""
    switches_at: int | None = None
    """Number of passages at which `auto` changes the engine: sqlite-vec up to it, numpy above; None if their number
    makes no difference.
    """

    @property
    def needs_extension(self) -> bool:
        """Whether numpy is used only because sqlite-vec can't be loaded."""
        applicable = self.requested in ("auto", "sqlite-vec") and self.switches_at is None
        return applicable and self.engine == "numpy" and self.available is False


class BatchJobStatus(Record, frozen=True):
    """One batch job whose results are not all stored."""

    provider: str
    model: str
    id: str
    """Id given by the provider; empty until it is known whether the job was created."""
    state: str
    """Last known state, as named by the provider."""
    texts: int
    """Number of texts to embed."""
    created: float
    attempt: int
    """2 for the retry of a job that took too long."""


class BatchStatus(Record, frozen=True):
    """The batch jobs of the provider, and their settings."""

    enabled: bool
    """Whether jobs are used: enabled, supported by the provider, and not disabled after failures."""
    failures: int
    limit: int
    wait: bool
    concurrency: int
    poll_interval_ms: int
    timeout_ms: int
    last_error: str | None
    last_provider: str | None
    jobs: tuple[BatchJobStatus, ...] = ()
    """Open jobs of all models, oldest first."""


class WatcherStatus(Record, frozen=True):
    """Status of the file watchers; without arguments, that of a program that doesn't watch."""

    enabled: bool = False
    mode: Literal["native", "polling", "off"] = "off"
    roots: tuple[str, ...] = ()
    last_change: float | None = None
    """Unix seconds."""
    error: str | None = None
    """Why watching is off or polls, one sentence."""


class IndexSizes(Record, frozen=True):
    """Sizes of the index files on disk, in bytes."""

    database: int
    wal: int
    matrix: int
    user: int


class UserDataStatus(Record, frozen=True):
    """A problem with the file of facts, saved searches and history, which can't be rebuilt."""

    problem: str
    """Whether the file is damaged, empty or missing, and what to do without a backup; in sentences."""
    backup: float | None
    """Time of the backup that can be restored, in seconds since the epoch; None if there is none."""


class Degraded(Record, frozen=True):
    """A part that works worse than configured, or not at all."""

    part: str
    """backend, index, user-data, keywords, provider, vectors, sqlite-vec, update, files, batch-jobs or watcher."""
    reason: str
    remedy: str
    """Advice, in sentences; empty if `reason` contains it."""


class MemoryProviderStatus(Record, frozen=True):
    """The whole status of an open workspace."""

    backend: str
    provider: str
    """The provider in use, `none` in keyword mode."""
    model: str
    requested_provider: str
    files: int
    chunks: int
    dirty: bool
    workspace_dir: str
    db_path: str
    extra_paths: tuple[str, ...]
    sources: tuple[Source, ...]
    source_counts: tuple[SourceCount, ...]
    cache: CacheStatus
    fts: FtsStatus
    fallback: FallbackStatus | None
    vector: VectorStatus
    batch: BatchStatus
    custom: dict[str, Any]
    """searchMode, providerUnavailableReason, readonlyRecovery … as in the reference."""
    pending_vectors: int
    failed_files: tuple[FileIssue, ...]
    skipped_files: tuple[FileIssue, ...]
    last_sync: SyncSummary | None
    recent_syncs: tuple[SyncSummary, ...]
    """Newest last, at most 30."""
    sizes: IndexSizes
    generation: int
    watcher: WatcherStatus
    syncing: MemorySyncProgressUpdate | None
    """Latest progress of the sync running in this process."""
    paused: bool
    writer_elsewhere: bool
    """Whether another process holds the writer lock."""
    index_error: str | None
    """Why the index could not be opened or had to be set aside, one sentence."""
    user_data: UserDataStatus | None = None
    """A problem with the user's data; None if there is none."""
    awaiting_approval: EmbeddingEstimate | None = None
    """Embedding that awaits approval (`approve` of `sync`); meanwhile only keywords find these texts."""
    unsupported: Mapping[Feature, str] = msgspec.field(default_factory=dict)
    """Unsupported features of the backend in use, each with the reason in a sentence that a user can act on."""
    degraded: tuple[Degraded, ...] = ()
    """Parts that work worse than configured; empty if there are none."""
