"""Progress, reports and cost estimates of syncs."""

from collections.abc import Callable
from typing import Literal

from engine.records.base import Record

SyncReason = Literal["session-start", "search", "watch", "session-delta", "interval", "cli", "manual", "fallback"]
SyncPhase = Literal["waiting", "discovering", "indexing", "embedding", "publishing", "done"]
"""`waiting`: another process writes this index; the remaining work is done afterwards."""
NOT_EMBEDDED = "not-embedded"
"""Rule of an indexed file with a passage that is found by keywords only."""


class FileIssue(Record, frozen=True):
    """A file that is not indexed, or only in part, and why."""

    path: str
    """The file's stable name, or its path if it can't have one."""
    rule: str
    """Short name of the rule or failure: `symlink`, `ignored-folder`, `exclude`, `secret`, `too-large`, `binary` …"""
    detail: str
    """One sentence with the specifics, such as the pattern, the size or the byte."""


class EmbeddingEstimate(Record, frozen=True):
    """Estimate of embedding all chunks that have no vector of a model."""

    provider: str
    model: str
    remote: bool
    """Whether the texts would leave this machine."""
    chunks: int
    """Chunks without a vector of this model."""
    cached: int
    """Chunks with a vector of this model."""
    tokens: int
    """Estimated tokens of the texts to embed, from a sample if there are many."""
    price: float | None
    """US dollars for a million tokens; 0 where nothing is charged, None where the price is not known."""
    cost: float | None
    """US dollars; None where the price is not known."""
    price_checked: str
    """Day of the price as `YYYY-MM-DD`; empty if the user has set it, or there is none."""
    seconds: float
    """Duration at the model's measured speed, else at a typical one; with batch jobs, the maximum."""
    batch: bool = False
    """Whether batch jobs would be used; `price` is then theirs."""
    most_cost: float | None = None
    """US dollars if the jobs fail, since their texts then need direct requests; None without jobs or a price."""


class MemorySyncProgressUpdate(Record, frozen=True):
    """One step of a running sync; sent at most about 20 times a second, and once per change of phase."""

    phase: SyncPhase
    completed: int
    total: int
    """Files while indexing, chunks while embedding; 0 while it is not known."""
    label: str
    current_file: str
    rate: float
    """Units per second over the last seconds; 0 while unknown."""
    seconds_left: float | None
    reused: int
    """Chunks whose vector was cached."""
    embedded: int
    """Chunks embedded in this run."""
    reason: SyncReason
    tokens: int = 0
    """Sent to a provider that charges for them, in this run."""
    cost: float | None = 0.0
    """US dollars for them; None where the price is not known."""
    waiting: int = 0
    """Number of batch jobs for which the sync waits."""


class SyncReport(Record, frozen=True):
    reason: SyncReason
    started: float
    seconds: float
    cancelled: bool
    error: str
    """Empty, or why the sync stopped early, as one sentence."""
    files_seen: int
    files_indexed: int
    files_unchanged: int
    files_removed: int
    chunks_indexed: int
    chunks_removed: int
    vectors_reused: int
    vectors_embedded: int
    vectors_pending: int
    full: bool
    """Whether a new generation was built."""
    failed: tuple[FileIssue, ...]
    skipped: tuple[FileIssue, ...]
    tokens: int = 0
    """Sent to a provider that charges for them."""
    cost: float | None = 0.0
    """US dollars for them; None where the price is not known."""
    awaiting: EmbeddingEstimate | None = None
    """Embedding that was not started because it needs approval; everything else was done."""
    provider_failed: bool = False
    """Whether the provider failed: the text was indexed, and the settings may have to be changed."""
    batch_jobs: int = 0
    """Batch jobs that continue at the provider, also after a cancel; a later sync stores their results."""


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
    """As in `SyncReport`, as is the next."""
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
    """First failed files; `files_failed` is their total number."""


ProgressCallback = Callable[[MemorySyncProgressUpdate], None]
