"""What can be done with the current result of the list besides opening it: by its menu, and by a key."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, QPoint, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from engine import MemorySearchResult, result_quote, split_name, tr_count
from gui.commands.commands import EDIT, EXPLAIN, EXPORT, LIKE, LINK, WITHIN, key_action, show_keys_of
from gui.commands.keymap import Command, command
from gui.core.capabilities import Gates, MissingFeatures
from gui.core.location import Location
from gui.search.result_list import ResultList

# --- The menu of one result ------------------------------------------------------------------------------------------

CITE = command("results.cite", "Copy citation", "results", QKeySequence.StandardKey.Copy)
COPY_PATH = command("results.copy-path", "Copy path", "results")
QUOTE = command("results.copy-quote", "Copy as a Markdown quote", "results")
COPY_SNIPPET = command("results.copy-snippet", "Copy snippet", "results")
SWITCH_TO = command("results.switch-workspace", "Switch to this workspace", "results")
REVEAL = command("results.reveal", "Reveal in file manager", "results")


def copy_text(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


def copy_citations(results: Sequence[MemorySearchResult]) -> None:
    """Copy the citations of the results, one per line."""
    copy_text("\n".join(result.citation for result in results))


def copy_quotes(results: Sequence[MemorySearchResult]) -> None:
    copy_text("\n\n".join(map(result_quote, results)))


class ResultMenu(QMenu):
    """The context menu of `result`, or of several that are selected with it.

    Copying happens here; the other actions are for the owner to connect.
    """

    def __init__(
        self,
        result: MemorySearchResult,
        selected: Sequence[MemorySearchResult],
        lacks: MissingFeatures,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setToolTipsVisible(True)
        self.like = self._entry(LIKE)
        self.within = self._entry(WITHIN)
        self.addSeparator()
        self._entry(CITE).triggered.connect(lambda: copy_citations(selected))
        self._entry(QUOTE).triggered.connect(lambda: copy_quotes(selected))
        for known, copied in ((COPY_PATH, result.path), (COPY_SNIPPET, result.snippet)):
            self._entry(known).triggered.connect(lambda _=False, copied=copied: copy_text(copied))
        self.link = self._entry(LINK)
        self.addSeparator()
        self.why = self._entry(EXPLAIN)
        self.addSeparator()
        self.editor = self._entry(EDIT)
        self.reveal = self._entry(REVEAL)
        self.switch = self._entry(SWITCH_TO)
        self.switch.setVisible(bool(split_name(result.path)[0]))
        self.addSeparator()
        self.export = self._entry(EXPORT)
        if len(selected) > 1:
            self.export.setText(tr_count("Export {count:,} result…", "Export {count:,} results…", len(selected)))
        gates = Gates()
        gates.hear(lacks)
        gates.add(self.like, "alike")
        gates.add(self.within, "narrowing")
        gates.add(self.why, "explanation")

    def _entry(self, known: Command) -> QAction:
        made = self.addAction(known.words)
        show_keys_of(made, known.name)
        return made


# ---------------------------------------------------------------------------------------------------------------------


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
