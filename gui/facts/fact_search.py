"""Finds the facts that the box asks for, by words or meaning: a moment after it was typed, off the GUI thread."""

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engine import FactsFound
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.facts.fact_store import FactStore
from gui.widgets.query_box import QueryBox

_PAUSE_MS = 150
_MIN_SCORE = 0.25
"""Less than agents are told of: a person sees at a glance what does not belong."""


class FactSearch(QObject):
    """`found` is the last answer, None where nothing is asked; the answer to an older text stays until the next."""

    changed = Signal()
    """`found` is another one."""
    failed = Signal(str)
    """One sentence."""

    def __init__(self, box: QueryBox, shelf: FactStore, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._box = box
        self._saved = shelf
        self._jobs = jobs
        self._job = JobSlot(self)
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self.find)
        self.found: FactsFound | None = None
        box.text_changed.connect(self._typed)

    @property
    def due(self) -> bool:
        """Whether what was typed waits for the pause to end."""
        return self._pause.isActive()

    @property
    def busy(self) -> bool:
        """Whether `found` does not answer the box yet."""
        return self.due or self._job.busy

    def forget(self) -> None:
        """The facts are other ones: nothing is found, and what is under way is not wanted."""
        self._job.cancel()
        self.found = None

    @Slot()
    def find(self) -> None:
        """Look for what stands in the box now."""
        self._pause.stop()
        kept, text = self._saved.kept, self._box.query
        if kept is None or not text:
            self.forget()
            self.changed.emit()
            return
        self._job.put(
            self._jobs.read(
                lambda token: kept.find(text, max_results=None, min_score=_MIN_SCORE, everything=True, cancel=token),
                self._take,
                self._fail,
            )
        )

    @Slot()
    def _typed(self) -> None:
        if self._box.query:
            self._pause.start()
        else:
            self.find()

    def _take(self, found: FactsFound) -> None:
        self._job.done()
        self.found = found
        self.changed.emit()

    def _fail(self, sentence: str) -> None:
        self._job.done()
        self.failed.emit(sentence)
