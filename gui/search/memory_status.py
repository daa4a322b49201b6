"""The memory's status for the search panel, read off the GUI thread and again after possible changes."""

from PySide6.QtCore import QObject, Signal

from engine import MemoryProviderStatus, MemorySearchManager
from gui.core.jobs import Job, Jobs


class MemoryStatus(QObject):
    """Remembers the last state that was read."""

    read = Signal(object)
    """MemoryProviderStatus."""
    idle = Signal()
    """Nothing is being read any more."""

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._manager: MemorySearchManager | None = None
        self._job: Job | None = None
        self._stale = False
        self.status: MemoryProviderStatus | None = None

    @property
    def busy(self) -> bool:
        return self._job is not None

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Read this memory's state."""
        self._manager = manager
        self.status = self._job = None
        self._stale = False
        self.refresh()

    def refresh(self) -> None:
        """Read it again."""
        manager = self._manager
        if manager is None:
            return
        if self._job is not None:
            self._stale = True  # a running read may be from before the change
            return
        self._job = self._jobs.read(
            lambda token: (manager, manager.status()), self._take, lambda sentence: self._forget_job()
        )

    def _take(self, answer: tuple[MemorySearchManager, MemoryProviderStatus]) -> None:
        manager, status = answer
        if manager is self._manager:
            self.status = status
            self.read.emit(status)
            self._forget_job()

    def _forget_job(self) -> None:
        self._job = None
        if self._stale:
            self._stale = False
            self.refresh()
        self.idle.emit()
