"""Runs the syncs of the built-in index, replaces a damaged index, and stores approvals of embedding.

Embedding that the user has approved is stored in tokens until it is done, so that a restart can resume it.
"""

import threading
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from engine.base import lazy_logger
from engine.base.cancellation import CancelToken
from engine.base.errors import IndexCorrupt, MnemoscopeError, ProviderError
from engine.memory.memory_context import MemoryContext
from engine.records import EmbeddingEstimate, SyncReason, SyncReport
from engine.store.batch_jobs import BatchJobs
from engine.store.stored_models import ModelName
from engine.store.user_data import UserData

if TYPE_CHECKING:
    from engine.embedding.batch_jobs.batch_api import BatchPolicy
    from engine.indexing.cost_estimate import EmbeddingWork
    from engine.indexing.stage_data import EmbeddingApproval, RefusedTexts, Sharing
    from engine.records.sync import ProgressCallback

log = lazy_logger(__name__)

_PARTIAL_REASONS: tuple[SyncReason, ...] = ("session-delta", "search")
"""Reasons for which the transcripts that have changed are enough, if nothing else has."""
_TOLERANCE = 1.05
"""Tolerance of an approval: estimates from samples differ by some percent for nearly the same texts."""


class IndexUpdates:
    """Runs the syncs of one open workspace. Thread-safe."""

    def __init__(
        self,
        context: MemoryContext,
        *,
        on_repaired: Callable[[], None],
        sharing: "Sharing | None" = None,
    ) -> None:
        """`on_repaired` is called after the index was replaced."""
        self._context = context
        self._store = context.store
        self._provider = context.provider
        self._listeners = context.listeners
        self._on_repaired = on_repaired
        self._sharing = sharing
        self._indexing = context.indexing
        self.approvals = Approvals(context.user_data)
        self.batch_jobs = BatchJobs(context.user_data)
        self._refused: RefusedTexts = {}

    @cached_property
    def batch_policy(self) -> "BatchPolicy":
        from engine.embedding.batch_jobs.batch_api import BatchPolicy  # takes longer than a keyword search

        return BatchPolicy()

    def run(
        self,
        reason: SyncReason,
        *,
        force: bool,
        progress: "ProgressCallback | None",
        cancel: CancelToken | None,
        approve: bool | EmbeddingEstimate,
    ) -> SyncReport:
        """Run a sync and return its report; see `MemorySearchManager.sync`."""

        approval = extended_approvals(self.approvals, approve)

        def work(listener: "ProgressCallback", token: CancelToken) -> SyncReport:
            return self._run_sync(reason, force, approval, listener, token)

        report = self._indexing.run(work, force=force, progress=progress, cancel=cancel)
        if approve and report.awaiting_approval is not None:
            # The joined sync was not approved in advance.
            report = self._indexing.run(work, progress=progress, cancel=cancel)
        return report

    def repair(self, damage: IndexCorrupt) -> bool:
        """Replace the index if it is damaged; returns False if it is intact."""
        try:
            if not self._store.repair(damage):
                return False
        except MnemoscopeError as error:
            log.warning("The damaged index could not be set aside: %s", error)
            return True
        self.replaced()
        return True

    def notify(self) -> None:
        """Notify listeners that the index has changed without a sync."""
        self._listeners.notify()

    def replaced(self) -> None:
        """Called when a damaged index was replaced by a new one, which the next sync must fill."""
        self._indexing.record_change(None)
        self._refused.clear()
        self._on_repaired()

    def _run_sync(
        self,
        reason: SyncReason,
        force: bool,
        approval: "EmbeddingApproval",
        listener: "ProgressCallback",
        token: CancelToken,
    ) -> SyncReport:
        # imported here because a search must not wait for the modules of a sync
        from engine.indexing.crashing_files import CrashRecord
        from engine.indexing.stage_data import SyncContext
        from engine.indexing.sync_run import SyncRun

        context = self._context
        sync_context = SyncContext(
            workspace=context.workspace,
            settings=context.settings,
            rules=context.guard.rules,
            store=context.store,
            vectors=context.vectors,
            providers=context.provider,
            approval=approval,
            batch_jobs=self.batch_jobs,
            batch_policy=self.batch_policy,
            executor=context.threads,
            refused=self._refused,
            committed=self._listeners.notify,
            text_ready=self._indexing.text_ready,
            take_changes=self._indexing.take_changes,
            sharing=self._sharing,
            crashes=CrashRecord(self._store.files.folder),
            latest_query=lambda: self._indexing.latest_query,
            latest_results=lambda: self._indexing.latest_results,
            stays_open=self._indexing.watcher_status() is not None,
            transcripts=self._indexing.take_transcripts() if reason in _PARTIAL_REASONS else None,
        )
        if reason == "manual":
            self._provider.reconsider()
        if force:
            self._refused.clear()
        run = SyncRun(sync_context, reason, listener, token)
        report = run.run(force=force)
        if not (report.cancelled or report.error):
            self._store.recovered = ""  # everything that was lost is restored
        if isinstance(run.failure, IndexCorrupt):
            self.repair(run.failure)
        if isinstance(run.failure, ProviderError):
            self._provider.report_failure(str(run.failure))
        elif report.vectors_embedded:
            self._provider.report_failure(None)
        return report


class Approvals:
    """Stores the user's approvals of embedding; if that fails, until the program ends. Thread-safe."""

    def __init__(self, user: UserData) -> None:
        self._user = user
        self._lock = threading.Lock()
        self._unsaved: dict[ModelName, int] = {}
        """Approvals that could not be saved, in tokens by model."""

    def approve(self, name: ModelName, tokens: int) -> None:
        """Approve embedding this many tokens with this model."""
        with self._lock:
            self._store(name, tokens)

    def tokens(self, name: ModelName) -> int:
        """Return the number of tokens approved for a model; 0 without an approval."""
        with self._lock:
            return self._tokens(name)

    def covers(self, name: ModelName, work: "EmbeddingWork") -> bool:
        """Whether embedding may start: it needs no approval, or hardly exceeds the approved amount."""
        return not work.needs_approval() or not work.needs_approval(beyond=round(self.tokens(name) * _TOLERANCE))

    def lower(self, name: ModelName, tokens: int) -> None:
        """Reduce the approval to the remaining tokens; 0 ends it. A larger number than approved has no effect."""
        with self._lock:
            if tokens < self._tokens(name):
                self._store(name, tokens)

    def _tokens(self, name: ModelName) -> int:
        try:
            return self._unsaved.get(name) or self._user.approved_tokens(name)
        except MnemoscopeError as error:
            log.warning("The approvals could not be read: %s", type(error).__name__)
            return 0

    def _store(self, name: ModelName, tokens: int) -> None:
        self._unsaved.pop(name, None)
        try:
            if tokens:
                self._user.approve(name, tokens)
            else:
                self._user.end_approval(name)
            if self._user.can_save:
                return
        except MnemoscopeError as error:
            log.warning("An approval could not be kept: %s", type(error).__name__)
        if tokens:
            self._unsaved[name] = tokens


def extended_approvals(approvals: Approvals, beforehand: bool | EmbeddingEstimate) -> "EmbeddingApproval":
    """Return the user's approvals and those that the caller of a sync gives; see `MemorySearchManager.sync`."""
    if not beforehand:
        return approvals
    return _EstimateApprovals(approvals, None if beforehand is True else beforehand)


class _EstimateApprovals:
    def __init__(self, approvals: Approvals, estimate: EmbeddingEstimate | None) -> None:
        """`estimate`: the approved estimate; None approves any amount."""
        self._approvals = approvals
        self._estimate = estimate
        self._is_approved = False

    def covers(self, name: ModelName, work: "EmbeddingWork") -> bool:
        if not self._approvals.covers(name, work):
            self._approve_work(name, work)
        return self._approvals.covers(name, work)

    def tokens(self, name: ModelName) -> int:
        return self._approvals.tokens(name)

    def lower(self, name: ModelName, tokens: int) -> None:
        self._approvals.lower(name, tokens)

    def _approve_work(self, name: ModelName, work: "EmbeddingWork") -> None:
        estimate = self._estimate
        if estimate is None:
            self._approvals.approve(name, work.estimate.tokens)
        elif not self._is_approved and (estimate.provider, estimate.model) == (name.provider, name.model):
            self._is_approved = True  # only once: work added meanwhile was not approved
            self._approvals.approve(name, estimate.tokens)
