"""How an open memory is brought up to date: one sync at a time, its history, and what becomes of a damaged index."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.backends.approvals import Approvals, agreeing
from engine.backends.history import SyncHistory
from engine.backends.listeners import Listeners
from engine.backends.provider_slot import ProviderSlot
from engine.control import CancelToken
from engine.corpus.guard import PathGuard
from engine.embedding.batch_jobs.policy import BatchPolicy
from engine.errors import IndexCorrupt, MnemoscopeError, ProviderError
from engine.records import EmbeddingEstimate, MemorySyncProgressUpdate, SyncReason, SyncReport, SyncSummary
from engine.settings import Settings
from engine.store.batch_jobs import BatchJobs
from engine.store.index import IndexStore
from engine.store.user_data import UserData
from engine.store.vectors import VectorIndex
from engine.sync.gate import SyncGate

if TYPE_CHECKING:
    from concurrent.futures import Executor, ThreadPoolExecutor

    from engine.backends.base import ProgressCallback
    from engine.sync.parts import Agreement, RefusedTexts

log = logging.getLogger(__name__)

_CLOSE_SECONDS = 5.0
_EMBEDDING_THREADS = 4


class Updates:
    """The syncs of one open workspace. Thread-safe."""

    def __init__(
        self,
        workspace: Path,
        settings: Settings,
        guard: PathGuard,
        store: IndexStore,
        vectors: VectorIndex,
        user: UserData,
        slot: ProviderSlot,
        listeners: Listeners,
        executor: "Executor | None",
        *,
        mended: Callable[[], None],
    ) -> None:
        """`executor` None: threads of its own, made when they are first needed. `mended` hears of a replaced index."""
        self._workspace = workspace
        self._settings = settings
        self._guard = guard
        self._store = store
        self._vectors = vectors
        self._slot = slot
        self._listeners = listeners
        self._mended = mended
        self._executor_given = executor
        self._own_executor: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._history = SyncHistory(user)
        self.gate = SyncGate()
        self.approvals = Approvals(user)
        self.batch_jobs = BatchJobs(user)
        self.batch_policy = BatchPolicy()
        self._refused: RefusedTexts = {}
        self.dirty = False
        """Whether something is known to have changed since the last sync."""

    @property
    def recent(self) -> tuple[SyncSummary, ...]:
        """The last syncs, newest last."""
        return self._history.recent

    def run(
        self,
        reason: SyncReason,
        *,
        force: bool,
        progress: "ProgressCallback | None",
        cancel: CancelToken | None,
        approve: bool | EmbeddingEstimate,
    ) -> SyncReport:
        """See `MemorySearchManager.sync`."""

        agreement = agreeing(self.approvals, approve)

        def start(listener: "ProgressCallback", token: CancelToken) -> SyncReport:
            return self._once(reason, force, agreement, listener, token)

        try:
            report = self.gate.run(start, force=force, progress=progress, cancel=cancel)
            if approve and report.awaiting is not None:
                # The sync that was joined had not been agreed to beforehand.
                report = self.gate.run(start, force=False, progress=progress, cancel=cancel)
            return report
        finally:
            self._listeners.tell()

    def mend(self, damage: IndexCorrupt) -> bool:
        """Replace the index if it is damaged; False when it is sound."""
        try:
            if not self._store.mend(damage):
                return False
        except MnemoscopeError as error:
            log.warning("The damaged index could not be set aside: %s", error)
            return True
        self.replaced()
        return True

    def tell(self) -> None:
        """The index changed without an update."""
        self._listeners.tell()

    def replaced(self) -> None:
        """A damaged index made way for a new one, which has to be filled."""
        self.dirty = True
        self._refused.clear()
        self._mended()

    def close(self) -> None:
        """Cancel what runs and wait for it."""
        self.gate.close(_CLOSE_SECONDS)

    def close_executor(self) -> None:
        """At the very end: nothing that runs needs it any more."""
        if self._own_executor is not None:
            self._own_executor.shutdown(wait=True, cancel_futures=True)

    def _once(
        self, reason: SyncReason, force: bool, agreement: "Agreement", listener: "ProgressCallback", token: CancelToken
    ) -> SyncReport:
        from engine.sync.parts import SyncParts  # a search must not wait for all that a sync takes
        from engine.sync.syncer import SyncRun

        def tell(update: MemorySyncProgressUpdate) -> None:
            listener(update)
            self._listeners.tell()

        parts = SyncParts(
            workspace=self._workspace,
            settings=self._settings,
            rules=self._guard.rules,
            store=self._store,
            vectors=self._vectors,
            providers=self._slot,
            agreement=agreement,
            batch_jobs=self.batch_jobs,
            batch_policy=self.batch_policy,
            executor=self._executor(),
            refused=self._refused,
            committed=self._listeners.tell,
            take_changes=self._take_changes,
        )
        if reason == "manual":
            self._slot.reconsider()
        if force:
            self._refused.clear()
        # Cleared before the work: a change that comes while it runs makes the index dirty again.
        self.dirty = False
        run = SyncRun(parts, reason, tell, token)
        report = run.run(force=force)
        if report.cancelled or report.error:
            self.dirty = True
        else:
            self._store.recovered = ""  # all that was lost is there again
        if isinstance(run.failure, IndexCorrupt):
            self.mend(run.failure)
        if isinstance(run.failure, ProviderError):
            self._slot.note(str(run.failure))
        elif report.vectors_embedded:
            self._slot.note(None)
        self._history.add(report)
        return report

    def _take_changes(self) -> bool:
        dirty, self.dirty = self.dirty, False
        return dirty

    def _executor(self) -> "Executor":
        if self._executor_given is not None:
            return self._executor_given
        with self._lock:
            if self._own_executor is None:
                from concurrent.futures import ThreadPoolExecutor

                self._own_executor = ThreadPoolExecutor(_EMBEDDING_THREADS, thread_name_prefix="mnemoscope")
            return self._own_executor
