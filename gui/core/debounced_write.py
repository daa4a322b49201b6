"""Debounces writes and runs them off the GUI thread."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

from engine import CancelToken
from gui.core.jobs import Jobs, JobSlot

Writing = Callable[[CancelToken], None]


class DebouncedWrite(QObject):
    """Debounces writes: one at a time, of the newest value."""

    def __init__(self, jobs: Jobs, take: Callable[[], Writing | None], pause_ms: int, parent: QObject) -> None:
        """`take` is called on the GUI thread and returns a job that writes; None if there is nothing to write."""
        super().__init__(parent)
        self._jobs = jobs
        self._take = take
        self._job = JobSlot(self)
        self._pause = QTimer(self, singleShot=True, interval=pause_ms)
        self._pause.timeout.connect(self._write)

    def note(self) -> None:
        """Something has changed. It is written after the pause, however many changes follow."""
        if not self._pause.isActive():
            self._pause.start()

    def stop(self) -> None:
        """Cancel a pending write; called before an immediate one, so that nothing older follows it."""
        self._pause.stop()
        self._job.cancel()

    @Slot()
    def _write(self) -> None:
        if self._job.busy:
            self._pause.start()
            return
        writing = self._take()
        if writing is not None:
            self._job.put(self._jobs.write(writing, lambda _: self._job.done(), lambda _: self._job.done()))
