"""Progress, reports and cost estimates of index updates (syncs)."""

from collections.abc import Callable
from typing import Literal

from engine.records.base import Record

SyncReason = Literal["session-start", "search", "watch", "session-delta", "interval", "cli", "manual", "fallback"]
SyncPhase = Literal["waiting", "discovering", "indexing", "embedding", "publishing", "done"]
"""Phases of a sync. `waiting`: another process is writing the index."""
NOT_EMBEDDED = "not-embedded"
"""Rule of a file with a passage that the provider refused to embed, so that only keywords find it."""


class FileIssue(Record, frozen=True):
    """A file that is not indexed, or only in part, and why."""

    path: str
    """The file's stable name, or its path if it can't have one."""
    rule: str
    """Short name of the rule or failure: `symlink`, `ignored-folder`, `exclude`, `secret`, `too-large`, `binary` …"""
    detail: str
    """One sentence with the specifics, such as the pattern, the size or the byte."""


class EmbeddingEstimate(Record, frozen=True):
    """Estimated tokens, cost and time for embedding all chunks that have no vector of a model."""

    provider: str
    model: str
    remote: bool
    """Whether the texts would leave this machine."""
    chunks: int
    """Number of chunks without a vector of this model."""
    cached: int
    """Number of chunks with a vector of this model."""
    tokens: int
    """Estimated tokens of the texts to embed, from a sample if there are many."""
    price: float | None
    """US dollars per million tokens; 0 if nothing is charged, None if the price is unknown."""
    cost: float | None
    """US dollars; None if the price is unknown."""
    price_checked: str
    """Day on which the list price was looked up, as `YYYY-MM-DD`; empty if the user has set the price, or there is
    none.
    """
    seconds: float
    """Duration at the model's measured speed, else at a typical one; with batch jobs, the maximum."""
    batch: bool = False
    """Whether batch jobs would be used; `price` is then that of batch jobs."""
    most_cost: float | None = None
    """US dollars if the jobs fail, since their texts then need direct requests; None without jobs or a price."""


class MemorySyncProgressUpdate(Record, frozen=True):
    """One step of a running sync; sent at most about 20 times a second, and once per change of phase."""

    phase: SyncPhase
    completed: int
    total: int
    """Number of files while indexing, of chunks while embedding; 0 while unknown."""
    label: str
    current_file: str
    rate: float
    """Units per second over the last seconds; 0 while unknown."""
    seconds_left: float | None
    reused: int
    """Number of chunks whose vector was cached."""
    embedded: int
    """Number of chunks embedded in this run."""
    reason: SyncReason
    tokens: int = 0
    """Number of tokens sent in this run to a provider that charges for them."""
    cost: float | None = 0.0
    """Cost of `tokens` in US dollars; None if the price is unknown."""
    waiting: int = 0
    """Number of batch jobs for which the sync waits."""


class SyncReport(Record, frozen=True):
    """The result of a sync: what it read, indexed and embedded, and why it stopped early."""

    reason: SyncReason
    started: float
    seconds: float
    cancelled: bool
    error: str
    """Why the sync stopped early, as one sentence; empty if it did not."""
    files_seen: int
    files_indexed: int
    files_unchanged: int
    """Number of files in the index that were not indexed again; a file with several sessions counts as several."""
    files_removed: int
    chunks_indexed: int
    chunks_removed: int
    vectors_reused: int
    vectors_embedded: int
    vectors_pending: int
    full: bool
    """Whether the whole index was rebuilt."""
    failed: tuple[FileIssue, ...]
    skipped: tuple[FileIssue, ...]
    tokens: int = 0
    """Number of tokens sent to a provider that charges for them."""
    cost: float | None = 0.0
    """Cost of `tokens` in US dollars; None if the price is unknown."""
    awaiting_approval: EmbeddingEstimate | None = None
    """Embedding that was not started because it needs approval; everything else was done."""
    provider_failed: bool = False
    """Whether the provider failed: the text was indexed, and the settings may have to be changed."""
    batch_jobs: int = 0
    """Number of batch jobs that continue at the provider, also after a cancel; a later sync stores their results."""


class SyncSummary(Record, frozen=True):
    """One finished sync, as recorded in the history."""

    started: float
    seconds: float
    reason: SyncReason
    files_indexed: int
    files_removed: int
    chunks_indexed: int
    vectors_embedded: int
    cancelled: bool
    error: str
    tokens: int = 0
    """Number of tokens sent to a provider that charges for them; `cost` is their cost, as in `SyncReport`."""
    cost: float | None = 0.0
    vectors_reused: int | None = None
    """None for records older than this field."""
    files_failed: int = 0
    full: bool = False
    backend: str = "builtin"
    """The backend whose index was synced."""


class StoredSync(SyncSummary, frozen=True):
    """A sync with its details, as recorded in the history."""

    failed: tuple[FileIssue, ...] = ()
    """The first failed files; `files_failed` is the number of all."""


ProgressCallback = Callable[[MemorySyncProgressUpdate], None]
