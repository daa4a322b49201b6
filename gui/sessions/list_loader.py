"""Reads the list of sessions from the memory, off the GUI thread, and again when the index has changed."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal, Slot

from engine import MemoryProviderStatus, MemorySearchManager, SessionSummary
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.sessions.catalog import SessionCatalog, make_catalogue


@dataclass(frozen=True)
class Known:
    """What a reading gave."""

    summaries: tuple[SessionSummary, ...]
    catalogue: SessionCatalog
    status: MemoryProviderStatus


class SessionListLoader(QObject):
    """Stores the newest result in `known`."""

    read = Signal()
    failed = Signal(str)
    idle = Signal()

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.known: Known | None = None
        self._jobs = jobs
        self._manager: MemorySearchManager | None = None
        self._job = JobSlot(self)
        self._stale = False

    @property
    def busy(self) -> bool:
        return self._job.busy

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Read this memory's sessions; None forgets all."""
        self._job.cancel()
        self.known = None
        self._stale = False
        self._manager = manager
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        manager, before = self._manager, self.known
        if manager is None:
            return
        if self._job.busy:
            self._stale = True  # a running read may be from before the change
            return

        def work(_token: object) -> Known:
            summaries, status = manager.sessions(), manager.status()
            if before is not None and before.summaries == summaries:
                return Known(summaries, before.catalogue, status)  # the same entries: rows that need no change
            return Known(summaries, make_catalogue(summaries), status)

        self._job.put(self._jobs.read(work, self._take, self._fail))

    def _take(self, known: Known) -> None:
        self.known = known
        self._end()
        self.read.emit()
        self._tell_idle()

    def _fail(self, sentence: str) -> None:
        self._end()
        self.failed.emit(sentence)
        self._tell_idle()

    def _end(self) -> None:
        self._job.done()
        if self._stale:
            self._stale = False
            self.refresh()

    def _tell_idle(self) -> None:
        if not self._job.busy:
            self.idle.emit()
