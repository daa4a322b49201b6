"""Sessions like one: compared off the GUI thread, shown in place of the list until the person goes back."""

from PySide6.QtCore import QObject, Signal

from engine import MemorySearchManager, SessionSummary
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.sessions.catalog import Entry

MOST_ALIKE = 30

Alike = tuple[tuple[SessionSummary, float], ...]


class SimilaritySearch(QObject):
    """At most one session is compared with the others at a time; `entry` is that one, until `end`."""

    found = Signal(object)
    """Alike: the sessions, nearest first, with their cosine."""
    failed = Signal(str)

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entry: Entry | None = None
        self._jobs = jobs
        self._job = JobSlot(self)

    @property
    def busy(self) -> bool:
        return self._job.busy

    def start(self, manager: MemorySearchManager, entry: Entry) -> None:
        self.end()
        self.entry = entry
        path = entry.summary.path
        self._job.put(
            self._jobs.read(lambda _: manager.similar_sessions(path, max_results=MOST_ALIKE), self._take, self._fail)
        )

    def end(self) -> Entry | None:
        """Back to all sessions; returns the one that was compared."""
        self._job.cancel()
        before, self.entry = self.entry, None
        return before

    def _take(self, alike: Alike) -> None:
        self._job.done()
        self.found.emit(alike)

    def _fail(self, sentence: str) -> None:
        self._job.done()
        self.failed.emit(sentence)
