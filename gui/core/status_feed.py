"""Reads the status record after changes on any thread, and delivers it on the GUI thread at most ten times a second."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engine import MemoryProviderStatus, MemorySearchManager
from gui.core.jobs import Job, Jobs

_INTERVAL_MS = 100

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
    _poked = Signal()

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._manager: MemorySearchManager | None = None
        self._first: _First | None = None
        self._stop_listening: Callable[[], None] = lambda: None
        self._job: Job | None = None
        self._requested = False
        self._waiting: list[OnStatus] = []
        """Functions that are called once, with the next record that is read."""
        self._poke_sent = False
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_INTERVAL_MS)
        self._pause.timeout.connect(self._read_if_requested)
        self._poked.connect(self.refresh)
        self.latest: MemoryProviderStatus | None = None

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Set the memory to follow; None for none."""
        self._stop_listening()
        self._stop_listening = lambda: None
        if self._job is not None:
            self._job.cancel()
            self._job = None
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

    @Slot()
    def refresh(self) -> None:
        """Read the record soon; may be called any number of times."""
        self._poke_sent = False
        self._requested = True
        if not self._pause.isActive():
            self._read_if_requested()

    def refresh_then(self, on_status: OnStatus) -> None:
        """Read the record soon, and call `on_status` with it after all listeners were notified."""
        self._waiting.append(on_status)
        self.refresh()

    def _listen(self) -> None:
        """Request a new record, on any thread; a burst of calls queues one event, not thousands."""
        if not self._poke_sent:
            self._poke_sent = True
            self._poked.emit()

    @Slot()
    def _read_if_requested(self) -> None:
        manager = self._manager
        if not self._requested or self._job is not None or manager is None:
            return
        self._requested = False
        self._pause.start()
        waiting, self._waiting = self._waiting, []
        self._job = self._jobs.read(
            lambda _: manager.status(), lambda status: self._arrived(status, waiting), self._failed
        )

    def _arrived(self, status: MemoryProviderStatus, waiting: Iterable[OnStatus]) -> None:
        self._job = None
        self._show(status)
        for on_status in waiting:
            on_status(status)
        if self._requested and not self._pause.isActive():
            self._read_if_requested()

    def _failed(self, _sentence: str) -> None:
        self._job = None  # closed meanwhile; the next change starts a new read

    def _show(self, status: MemoryProviderStatus | None) -> None:
        self.latest = status
        self.status_changed.emit(status)
