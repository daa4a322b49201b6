"""Lets what is read follow the current result: a moment after it has become current, and once."""

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engine import MemorySearchResult
from gui.search.results_view import ResultsView

PREVIEW_MS = 60


class Preview(QObject):
    """Tells of each result that stays current for so long."""

    selected = Signal(object, object)
    """MemorySearchResult and the query."""
    idle = Signal()
    """Nothing is about to be told."""

    def __init__(self, view: ResultsView, parent: QObject) -> None:
        super().__init__(parent)
        self._view = view
        self._told: tuple[object, ...] = ()
        self._timer = QTimer(self, singleShot=True, interval=PREVIEW_MS)
        self._timer.timeout.connect(self._tell)
        view.list.current_changed.connect(self._follow)

    @property
    def busy(self) -> bool:
        return self._timer.isActive()

    @property
    def query(self) -> str:
        """The words that led to what is shown, and are marked in what is read."""
        answer = self._view.answer
        return "" if answer is None else answer.question.text or " ".join(answer.outcome.telling)

    @Slot(object)
    def _follow(self, result: MemorySearchResult | None) -> None:
        if result is None:
            self._timer.stop()
            self._told = ()  # something else may be read meanwhile, or nothing
        elif self._identity(result) != self._told:
            self._timer.start()
        else:
            self._hold()

    @Slot()
    def _tell(self) -> None:
        result = self._view.list.current_result()
        if result is not None:
            self._hold()
            self._told = self._identity(result)
            self.selected.emit(result, self.query)
        self.idle.emit()

    def _hold(self) -> None:
        """What was seen of a whole answer stays current; beside the words alone, the meaning may know better."""
        if self._view.answer is not None and self._view.answer.final:
            self._view.list.hold()

    def _identity(self, result: MemorySearchResult) -> tuple[object, ...]:
        """A new score does not make it another result, and the viewer need not move."""
        return result.path, result.start_line, result.end_line, self.query
