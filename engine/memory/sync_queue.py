"""The syncs of one open memory, whatever does them: one at a time, later callers join, the last ones are kept."""

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
"""It sees the same changes, so this is mostly enough; after that, an answer of now is better."""

SyncWork = Callable[["ProgressCallback", CancelToken], SyncReport]
"""Does one sync: tells its progress, stops at the token, and reports. What it raises reaches its own caller alone."""
log = logging.getLogger(__name__)

_SHOWN = 30
_NAMED_FAILURES = 10
_REPORTED = frozenset(SyncSummary.__struct_fields__) & frozenset(SyncReport.__struct_fields__)


class SyncHistory:
    """Of one backend: each has an index of its own, and says of it alone when it was brought up to date."""

    def __init__(self, user: UserData, backend: str) -> None:
        self._user = user
        self._backend = backend
        self.recent = tuple(sync for sync in user.recent_syncs(_SHOWN) if sync.backend == backend)
        """Newest last."""

    def add(self, report: SyncReport) -> None:
        """Note a sync. A full disk must not turn a sync that did its work into a failure."""
        facts = {name: getattr(report, name) for name in _REPORTED}
        facts |= {"files_failed": len(report.failed), "backend": self._backend}
        self.recent = (*self.recent, SyncSummary(**facts))[-_SHOWN:]
        try:
            self._user.add_sync(KeptSync(**facts, failed=report.failed[:_NAMED_FAILURES]))
        except MnemoscopeError as error:
            log.warning("The sync could not be noted in the history: %s", type(error).__name__)


class SyncQueue:
    """Thread-safe."""

    def __init__(self, user: UserData, listeners: Listeners, backend: str = "builtin") -> None:
        self.listeners = listeners
        self._history = SyncHistory(user, backend)
        self.gate = SyncGate()
        self.dirty = False
        """Whether something is known to have changed since the last sync."""
        self._reading = False
        """Whether a sync has taken changes over that searches do not find yet."""
        self._ended = 0
        """How many syncs have ended, however."""
        self.problem = ""
        """Why the last sync could not be done; empty if it could. One in the background has nobody else to tell."""

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
        """Do the work, or join the sync that runs. Raises as `SyncGate.run`.

        Status listeners hear of all progress and of the end.
        """

        def start(listener: "ProgressCallback", token: CancelToken) -> SyncReport:
            def tell(update: MemorySyncProgressUpdate) -> None:
                listener(update)
                self.listeners.tell()

            # Cleared before the work: a change that comes while it runs makes the index dirty again.
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
        """Whether something has changed meanwhile; a sync that asks deals with it."""
        dirty = self.dirty
        self._reading = self._reading or dirty
        self.dirty = False
        return dirty

    def text_ready(self) -> None:
        """Searches find what a sync has taken over so far."""
        self._reading = False

    def wait_for_text(self, seconds: float) -> None:
        """Wait until searches find every change that is known, or until nothing more is to be expected of it.

        That is after `seconds`, after a sync that failed, or while another process keeps this one from writing.
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
        """Cancel what runs and wait for it."""
        self.gate.close(_CLOSE_SECONDS)
