"""What can be done with the current result of the list besides opening it: by its menu, and by a key."""

from PySide6.QtCore import QObject, QPoint, Signal, Slot

from engine import MemorySearchResult
from gui.lacking import Lacks
from gui.search.result_list import ResultList
from gui.search.result_menu import ResultMenu, copy_text


class ResultActions(QObject):
    """Copies by itself; the rest is for whoever owns the files."""

    editor_requested = Signal(object)
    """MemorySearchResult to open in the external editor."""
    reveal_requested = Signal(object)
    """MemorySearchResult whose file to show in the file manager."""
    like_wanted = Signal(object)
    """MemorySearchResult like which others are to be found."""
    within_wanted = Signal()
    """Another question among the results on show."""

    why_wanted = Signal()
    """The current result's score is to be explained."""

    def __init__(self, results: ResultList, parent: QObject) -> None:
        super().__init__(parent)
        self._results = results
        self.lacks: Lacks = {}
        results.copy_wanted.connect(self._copy_citation)
        results.edit_wanted.connect(self._edit)
        results.like_wanted.connect(self._want_like)
        results.menu_wanted.connect(self._show_menu)

    @Slot()
    def _copy_citation(self) -> None:
        result = self._results.current_result()
        if result is not None:
            copy_text(result.citation)

    @Slot()
    def _edit(self) -> None:
        result = self._results.current_result()
        if result is not None:
            self.editor_requested.emit(result)

    @Slot()
    def _want_like(self) -> None:
        result = self._results.current_result()
        if result is not None:
            self.like_wanted.emit(result)

    @Slot(object, QPoint)
    def _show_menu(self, result: MemorySearchResult, at: QPoint) -> None:
        menu = ResultMenu(result, self.lacks, self._results)
        menu.why.triggered.connect(self.why_wanted)
        menu.editor.triggered.connect(lambda: self.editor_requested.emit(result))
        menu.reveal.triggered.connect(lambda: self.reveal_requested.emit(result))
        menu.like.triggered.connect(lambda: self.like_wanted.emit(result))
        menu.within.triggered.connect(self.within_wanted)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(at)
