"""What can be done with the current result of the list besides opening it: by its menu, and by a key."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, QPoint, Signal, Slot

from engine import MemorySearchResult
from gui.commands.binding import key_action
from gui.commands.commands import EDIT, LIKE, LINK
from gui.core.capabilities import MissingFeatures
from gui.core.location import Location
from gui.search.result_list import ResultList
from gui.search.result_menu import (
    CITE,
    COPY_PATH,
    COPY_SNIPPET,
    QUOTE,
    REVEAL,
    SWITCH_TO,
    ResultMenu,
    copy_citations,
    copy_quotes,
    copy_text,
)


class ResultActions(QObject):
    """Copies itself; the other actions are signals to the owner of the files."""

    editor_requested = Signal(object)
    """MemorySearchResult to open in the external editor."""
    reveal_requested = Signal(object)
    """MemorySearchResult whose file to show in the file manager."""
    like_wanted = Signal(object)
    """MemorySearchResult like which others are to be found."""
    link_wanted = Signal(object)
    """Copy a link to this Location."""
    export_wanted = Signal()
    """The selected results, or all, are to be written to a file."""
    switch_wanted = Signal(object)
    """MemorySearchResult whose workspace should be opened."""
    within_wanted = Signal()
    """Search within the current results."""

    why_wanted = Signal()
    """The current result's score is to be explained."""

    def __init__(self, results: ResultList, parent: QObject) -> None:
        super().__init__(parent)
        self._results = results
        self.lacks: MissingFeatures = {}
        for known, run in (
            (COPY_PATH, lambda result: copy_text(result.path)),
            (COPY_SNIPPET, lambda result: copy_text(result.snippet)),
            (EDIT, self.editor_requested.emit),
            (REVEAL, self.reveal_requested.emit),
            (LIKE, self.like_wanted.emit),
            (SWITCH_TO, self.switch_wanted.emit),
            (LINK, self._link),
        ):
            key_action(results, known).triggered.connect(partial(self._with_current, run))
        for known, copy in ((CITE, copy_citations), (QUOTE, copy_quotes)):
            key_action(results, known).triggered.connect(partial(self._with_selected, copy))
        results.menu_wanted.connect(self._show_menu)

    def _with_current(self, run: Callable[[MemorySearchResult], None]) -> None:
        result = self._results.current_result()
        if result is not None:
            run(result)

    def _with_selected(self, run: Callable[[Sequence[MemorySearchResult]], None]) -> None:
        selected = self._results.selected_results()
        if selected:
            run(selected)

    @Slot(object, QPoint)
    def _show_menu(self, result: MemorySearchResult, at: QPoint) -> None:
        menu = ResultMenu(result, self._results.selected_results(), self.lacks, self._results)
        menu.why.triggered.connect(self.why_wanted)
        menu.editor.triggered.connect(lambda: self.editor_requested.emit(result))
        menu.reveal.triggered.connect(lambda: self.reveal_requested.emit(result))
        menu.like.triggered.connect(lambda: self.like_wanted.emit(result))
        menu.link.triggered.connect(lambda: self._link(result))
        menu.export.triggered.connect(self.export_wanted)
        menu.within.triggered.connect(self.within_wanted)
        menu.switch.triggered.connect(lambda: self.switch_wanted.emit(result))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(at)

    def _link(self, result: MemorySearchResult) -> None:
        """To the lines that the citation names; of a session to the message, which is known by its id."""
        message = result.message.id if result.message else ""
        line = result.start_line if result.message is None else result.snippet_line
        end = result.end_line if result.message is None else None
        self.link_wanted.emit(Location(result.path, line, end, message))
