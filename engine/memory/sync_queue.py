"""The syncs of one open memory on any backend: one at a time, joined by later callers, with a history."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, MnemoscopeError
from engine.indexing.sync_gate import SyncGate
from engine.memory.listeners import Listeners
from engine.records import MemorySyncProgressUpdate, SyncReport, SyncSummary
from engine.store.user_data import UserData

if TYPE_CHECKING:
    from engine.records.sync import ProgressCallback
import logging

from engine.records import KeptSync

_CLOSE_SECONDS = 5.0
_POLL_SECONDS = 0.01
_OTHER_WRITER_SECONDS = 1.0
"""Timeout for another writer, which indexes the same changes; after that, an immediate result is better."""

SyncWork = Callable[["ProgressCallback", CancelToken], SyncReport]
"""Does one sync: reports progress, stops when the token is cancelled, and returns a report. Its errors reach only
its own caller."""
log = logging.getLogger(__name__)

_SHOWN = 30
_NAMED_FAILURES = 10
_REPORTED = frozenset(SyncSummary.__struct_fields__) & frozenset(SyncReport.__struct_fields__)


class SyncHistory:
    """Sync history of one backend; each backend has its own index."""

    def __init__(self, user: UserData, backend: str) -> None:
        self._user = user
        self._backend = backend
        self.recent = tuple(sync for sync in user.recent_syncs(_SHOWN) if sync.backend == backend)
        """Newest last."""

    def add(self, report: SyncReport) -> None:
        """Record a sync. A full disk must not make a successful sync fail."""
        facts = {name: getattr(report, name) for name in _REPORTED}
        facts |= {"files_failed": len(report.failed), "backend": self._backend}
        self.recent = (*self.recent, SyncSummary(**facts))[-_SHOWN:]
        try:
            self._user.add_sync(KeptSync(**facts, failed=report.failed[:_NAMED_FAILURES]))
        except MnemoscopeError as error:
            log.warning("The sync could not be noted in the history: %s", type(error).__name__)


class SyncQueue:
    """Runs and records syncs. Thread-safe."""

    def __init__(self, user: UserData, listeners: Listeners, backend: str = "builtin") -> None:
        self.listeners = listeners
        self._history = SyncHistory(user, backend)
        self.gate = SyncGate()
        self.dirty = False
        """Whether changes since the last sync are known."""
        self._reading = False
        """Whether a running sync has taken changes that searches do not find yet."""
        self._ended = 0
        """Number of ended syncs, successful or not."""
        self.problem = ""
        """Why the last sync failed; empty if it succeeded. The only place where background syncs report errors."""

    @property
    def recent(self) -> tuple[SyncSummary, ...]:
        """The last syncs, newest last."""
        return self._history.recent

    def run(
        self,
        work: SyncWork,
        *,
        force: bool = False,
        progress: "ProgressCallback | None" = None,
        cancel: CancelToken | None = None,
    ) -> SyncReport:
        """Do the work, or join the running sync. Raises the errors of `SyncGate.run`.

        Notifies status listeners of all progress and of the end.
        """

        def start(listener: "ProgressCallback", token: CancelToken) -> SyncReport:
            def tell(update: MemorySyncProgressUpdate) -> None:
                listener(update)
                self.listeners.tell()

            # Cleared before the work: a change while it runs makes the index dirty again.
            self._reading, self.dirty = True, False
            try:
                report = work(tell, token)
            except BaseException as error:
                self.dirty = True
                if isinstance(error, MnemoscopeError) and not isinstance(error, (Cancelled, Closed)):
                    self.problem = str(error)
                raise
            finally:
                self._reading = False
                self._ended += 1
            if report.cancelled or report.error:
                self.dirty = True
            if not report.cancelled:
                self.problem = report.error
            self._history.add(report)
            return report

        try:
            return self.gate.run(start, force=force, progress=progress, cancel=cancel)
        finally:
            self.listeners.tell()

    def take_changes(self) -> bool:
        """Whether there were changes meanwhile; the calling sync must index them."""
        dirty = self.dirty
        self._reading = self._reading or dirty
        self.dirty = False
        return dirty

    def text_ready(self) -> None:
        """Mark the changes taken so far as searchable."""
        self._reading = False

    def wait_for_text(self, seconds: float) -> None:
        """Wait until searches include all known changes, or until that can't be expected any more.

        The latter is the case after `seconds`, after a failed sync, or while another process prevents this one from
        writing.
        """
        now = time.monotonic()
        end, end_waiting = now + seconds, now + _OTHER_WRITER_SECONDS
        enough = self._ended + (2 if self.gate.current() is not None else 1)
        while (self.dirty or self._reading) and (self._reading or self._ended < enough):
            update, now = self.gate.update(), time.monotonic()
            held_up = update is not None and update.phase == "waiting"
            if now >= end or (held_up and now >= end_waiting):
                return
            time.sleep(_POLL_SECONDS)

    def close(self) -> None:
        """Cancel the running sync and wait for it."""
        self.gate.close(_CLOSE_SECONDS)
