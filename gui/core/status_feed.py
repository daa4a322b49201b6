"""Reads the status record after changes on any thread, and derives events from it (changed index, new problem).

It is delivered on the GUI thread at most ten times a second. Syncs are announced to screen readers.
"""

from collections.abc import Callable, Iterable
from time import monotonic
from typing import NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget

from engine import (
    EmbeddingEstimate,
    MemoryProviderStatus,
    MemorySearchManager,
    SyncSummary,
    UserDataStatus,
    tr,
    tr_count,
)
from gui.core.jobs import Jobs, JobSlot
from gui.text.status_texts import FailedService, failed_engine, index_remedy, why_keywords_only
from gui.widgets.accessibility import announce

_INTERVAL_MS = 100
_WRITER_INTERVAL_MS = 1000
"""Interval at which the status is read while another process writes to the index, since its end changes nothing."""

OnStatus = Callable[[MemoryProviderStatus], None]


class _First(NamedTuple):
    """The first status record of a memory that is being opened."""

    manager: MemorySearchManager
    status: MemoryProviderStatus
    stop_listening: Callable[[], None]


class StatusFeed(QObject):
    """Emits the status record of one memory after each change; reads it in a job, since that may touch the disk.

    Signals:
        status_changed: the newest MemoryProviderStatus, or None when no manager is set.
    """

    status_changed = Signal(object)
    _refresh_requested = Signal()

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._manager: MemorySearchManager | None = None
        self._first: _First | None = None
        self._stop_listening: Callable[[], None] = lambda: None
        self._job = JobSlot(self, jobs)
        self._requested = False
        self._waiting: list[OnStatus] = []
        """Functions that are called once, with the next record that is read."""
        self._refresh_queued = False
        self._pause = QTimer(self, singleShot=True, interval=_INTERVAL_MS)
        self._pause.timeout.connect(self._read_if_requested)
        self._refresh_requested.connect(self.refresh)
        self._writer_check = QTimer(self, singleShot=True, interval=_WRITER_INTERVAL_MS)
        self._writer_check.timeout.connect(self.refresh)
        self.latest: MemoryProviderStatus | None = None

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Set the memory to follow; None for none."""
        self._stop_listening()
        self._stop_listening = lambda: None
        self._job.cancel()
        self._pause.stop()
        self._waiting.clear()
        self._manager = manager
        requested, self._requested = self._requested, False
        first, self._first = self._first, None
        if manager is None:
            self._show(None)
        elif first is not None and first.manager is manager:
            self._stop_listening = first.stop_listening
            self._show(first.status)
            if requested:  # the status has changed since then
                self.refresh()
        else:
            self._stop_listening = manager.add_status_listener(self._listen)
            self.refresh()

    def read_first(self, manager: MemorySearchManager) -> MemoryProviderStatus:
        """Read the status record of a memory that is being opened; `set_manager` then emits it. Any thread."""
        self._requested = False
        stop_listening = manager.add_status_listener(self._listen)
        self._first = _First(manager, manager.status(), stop_listening)
        return self._first.status

    @property
    def busy(self) -> bool:
        """Whether a newer record than the latest is being read, or will be soon."""
        return self._requested or self._job.busy

    @Slot()
    def refresh(self) -> None:
        """Read the record soon; may be called any number of times."""
        self._refresh_queued = False
        self._requested = True
        if not self._pause.isActive():
            self._read_if_requested()

    def refresh_then(self, on_status: OnStatus) -> None:
        """Read the record soon, and call `on_status` with it after all listeners were notified."""
        self._waiting.append(on_status)
        self.refresh()

    def _listen(self) -> None:
        """Request a new record, on any thread; a burst of calls queues one event, not thousands."""
        if not self._refresh_queued:
            self._refresh_queued = True
            self._refresh_requested.emit()

    @Slot()
    def _read_if_requested(self) -> None:
        manager = self._manager
        if not self._requested or self._job.busy or manager is None:
            return
        self._requested = False
        self._pause.start()
        waiting, self._waiting = self._waiting, []
        # An error means that the memory was closed meanwhile; the next change starts a new read.
        self._job.read(lambda _: manager.status(), lambda status: self._set_status(status, waiting))

    def _set_status(self, status: MemoryProviderStatus, waiting: Iterable[OnStatus]) -> None:
        self._show(status)
        for on_status in waiting:
            on_status(status)
        if self._requested and not self._pause.isActive():
            self._read_if_requested()

    def _show(self, status: MemoryProviderStatus | None) -> None:
        self.latest = status
        self._writer_check.stop()
        if status is not None and status.writer_elsewhere:
            self._writer_check.start()
        self.status_changed.emit(status)


_WHILE_SYNCING_MS = 1000
_SECOND_MS = 100
"""Delay of the second change while a folder is indexed for the first time; the first has none, and it doubles with each
later one, since a new user searches while hardly anything is indexed.
"""


class StatusEvents(QObject):
    """Compares each status record with the last one, and emits a signal for each change.

    Signals:
        changed: results may differ now; immediately at the end of a sync, once a second during one, and sooner at the
            beginning of the first one. Not after a sync that failed immediately: a repeated query may start the next
            one, and so on.
        problem: a new problem as one sentence, and its `IndexRemedy`.
        awaiting: EmbeddingEstimate of work that needs approval, if it is new; None once there is none.
        provider_problem: a new reason why the provider of the settings can't be used, as a sentence; empty once it can.
        engine_replaced: FailedService while a fallback answers, also for a new reason; None once the chosen engine
            answers again.
        user_data: UserDataStatus, on a new problem with facts, saved searches and history; None once it is solved.
        synced: a sync ended well.
    """

    changed = Signal()
    problem = Signal(str, str)
    awaiting = Signal(object)
    provider_problem = Signal(str)
    engine_replaced = Signal(object)
    user_data = Signal(object)
    synced = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._seen: tuple[object, ...] = ()
        self._reported = ""
        self._awaited: tuple[str, str] | None = None
        self._user_data = ""
        self._provider_reason = ""
        self._instead: FailedService | None = None
        self._last_sync: SyncSummary | None = None
        self._last_change: SyncSummary | None = None
        self._later = QTimer(self, singleShot=True)
        self._delay = 0
        self._later.timeout.connect(self.changed)

    def update_status(self, status: MemoryProviderStatus | None) -> None:
        """Emit signals for the changes since the last record; None if no index is open any more."""
        if status is None:
            self._later.stop()
            self._delay = 0
            self._seen = ()
            self._reported = ""
            self._last_sync = self._last_change = None
            self._report_user_data(None)
            self._report_awaiting(None)
            self._report_provider("")
            self._report_engine(None)
            return
        self._report_change(status)
        if status.index_error and status.index_error != self._reported:
            self.problem.emit(status.index_error, index_remedy(status))
        self._reported = status.index_error or ""
        self._report_user_data(status.user_data)
        self._report_awaiting(status.awaiting_approval)
        self._report_provider(why_keywords_only(status))
        self._report_engine(failed_engine(status))
        last, self._last_sync = self._last_sync, status.last_sync
        if status.last_sync is not None and last != status.last_sync and not status.last_sync.error:
            self.synced.emit()

    def _report_user_data(self, status: UserDataStatus | None) -> None:
        problem = "" if status is None else status.problem
        if problem != self._user_data:
            self._user_data = problem
            self.user_data.emit(status)

    def _report_provider(self, reason: str) -> None:
        if reason != self._provider_reason:
            self._provider_reason = reason
            self.provider_problem.emit(reason)

    def _report_engine(self, instead: FailedService | None) -> None:
        if instead != self._instead:
            self._instead = instead
            self.engine_replaced.emit(instead)

    def _report_awaiting(self, estimate: EmbeddingEstimate | None) -> None:
        """Emit `awaiting` once for embedding that awaits approval; a larger amount of it is not reported again."""
        awaited = None if estimate is None else (estimate.provider, estimate.model)
        if awaited != self._awaited:
            self._awaited = awaited
            self.awaiting.emit(estimate)

    def _report_change(self, status: MemoryProviderStatus) -> None:
        if status.last_sync is None or not _wrote_nothing(status.last_sync):
            self._last_change = status.last_sync
        state = (
            status.backend,
            status.generation,
            status.files,
            status.chunks,
            status.vector.rows,
            self._last_change,
        )
        before, self._seen = self._seen, state
        if not before:
            return
        due, changed = self._later.isActive(), before != state
        if status.syncing is None and (due or changed):  # the last change may be from a record during the sync
            self._later.stop()
            self.changed.emit()
        elif changed and not due:
            self._later.start(_WHILE_SYNCING_MS if status.last_sync is not None else self._delay)
            self._delay = min(max(_SECOND_MS, 2 * self._delay), _WHILE_SYNCING_MS)


def _wrote_nothing(sync: SyncSummary) -> bool:
    """Return whether a sync failed before it wrote anything, for example because the folder is missing."""
    return bool(sync.error) and not (sync.files_indexed or sync.files_removed or sync.vectors_embedded)


# --- Announces to screen readers when an index update begins and ends ------------------------------------------------

_LONG_S = 2.0
"""Seconds; a shorter sync isn't announced, unless the user started it."""


class SyncAnnouncer(QObject):
    """Announces the beginning and the end of each sync to screen readers; the banner reports failures."""

    def __init__(self, widget: QWidget, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(widget)
        self._widget = widget
        self._clock = clock
        self._since: float | None = None
        self._begun = False

    def update_status(self, status: MemoryProviderStatus | None) -> None:
        """Announce the changes since the last status record; None if no index is open."""
        if status is None:
            self._since, self._begun = None, False
        elif status.syncing is not None:
            self._continue(by_hand=status.syncing.reason == "manual")
        elif self._since is not None:
            self._end(status)

    def _continue(self, *, by_hand: bool) -> None:
        now = self._clock()
        self._since = now if self._since is None else self._since
        if not self._begun and (by_hand or now - self._since >= _LONG_S):
            self._begun = True
            announce(self._widget, tr("The index is being brought up to date."))

    def _end(self, status: MemoryProviderStatus) -> None:
        begun, self._begun, self._since = self._begun, False, None
        last = status.last_sync
        if not begun or last is None or last.error:
            return
        sentences = [
            tr_count(
                "The index is up to date: {count:,} file.", "The index is up to date: {count:,} files.", status.files
            )
        ]
        if failed := len(status.failed_files):
            sentences.append(
                tr_count("{count:,} file could not be read.", "{count:,} files could not be read.", failed)
            )
        announce(self._widget, " ".join(sentences))
