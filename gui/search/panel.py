"""The search panel: the box, the chips and the results, and their connections.

It owns two widgets that the window places separately: `header` for the top bar and `body` for the left column.
"""

import re
from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from engine import MemoryProviderStatus, MemorySearchManager, MemorySearchResult, marked, tr
from gui.commands.commands import give_key, show_key_in_tooltip
from gui.commands.keymap import command
from gui.core.capabilities import Gate
from gui.core.jobs import Jobs
from gui.core.view_spec import ViewPanel
from gui.search.completion import Completion
from gui.search.filters import Filters
from gui.search.query import Answer
from gui.search.result_list import ResultActions
from gui.search.results_view import ResultsView
from gui.search.search_controller import SearchController
from gui.search.start_page import StartContent, StartPage
from gui.text.plain_text import set_tip
from gui.text.right_to_left import code
from gui.widgets.icons import IconButton
from gui.widgets.labels import elide
from gui.widgets.layouts import FoldingRow
from gui.widgets.query_box import QueryBox

# --- The syntax of the search box as a menu of examples: choosing one inserts it into the box ------------------------

_HELP = command("search.help", "Query syntax of the search box", "window", "Alt+H")
_OPERATOR = re.compile(r"[a-z]+:")
_NOTES = (
    marked("Dates\t2026-05-31, 2026-05, 2026, yesterday, monday, last week, 7d, 3m"),
    marked("Ctrl+Space\tcompletes operators; their values are offered as you type"),
)


class QueryHelpMenu(QMenu):
    """A menu of example queries, each with an explanation."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setToolTipsVisible(True)
        self.setAccessibleName(tr("Query syntax"))

    def fill(self, examples: tuple[tuple[str, str], ...], choose: Callable[[str], None]) -> None:
        for example, meaning in examples:
            action = self.addAction(f"{code(example)}\t{tr(meaning)}")
            action.setData((code(example), tr(meaning)))
            action.triggered.connect(lambda _=False, chosen=example: choose(chosen))
            if _OPERATOR.match(example):
                Gate(action, "filters")
        self.addSeparator()
        for note in _NOTES:
            action = self.addAction(tr(note))
            action.setEnabled(False)
            action.setData(tuple(tr(note).split("\t")))

    def fit(self, width: int) -> None:
        """Shorten explanations that would make the menu wider than `width` pixels."""
        self.ensurePolished()
        lines = [(action, *action.data()) for action in self.actions() if action.data()]
        for action, example, meaning in lines:
            action.setText(f"{example}\t{meaning}")
        metrics = self.fontMetrics()
        longest = max((metrics.horizontalAdvance(meaning) for _, _, meaning in lines), default=0)
        room = longest - (self.sizeHint().width() - width)
        for action, example, meaning in lines if room < longest else ():
            action.setText(f"{example}\t{elide(metrics, meaning, Qt.TextElideMode.ElideRight, room)}")
            if action.isEnabled():  # else the tooltip says why it is not
                set_tip(action, meaning)


class QueryHelpButton(IconButton):
    """The button that opens the menu of example queries."""

    example_chosen = Signal(str)

    def __init__(self, jobs: Jobs) -> None:
        super().__init__("help", tr("Query syntax"))
        show_key_in_tooltip(self, tr("Query syntax"), _HELP.name)
        opener = QAction(_HELP.label, self)
        opener.triggered.connect(self.open)
        give_key(self, opener, _HELP, Qt.ShortcutContext.WindowShortcut)
        self._jobs = jobs
        self._menu = QueryHelpMenu(self)
        self.clicked.connect(self.open)

    @Slot()
    def open(self) -> None:
        if self._menu.isEmpty():
            self._jobs.read(lambda token: _examples(), self._fill)
        else:
            self._pop_up()

    def _fill(self, examples: tuple[tuple[str, str], ...]) -> None:
        if self._menu.isEmpty():
            self._menu.fill(examples, self.example_chosen.emit)
        self._pop_up()

    def _pop_up(self) -> None:
        if self.isVisible():
            self._menu.fit(self.screen().availableGeometry().width())
            left = 0 if self.isRightToLeft() else self.width() - self._menu.sizeHint().width()
            self._menu.popup(self.mapToGlobal(QPoint(left, self.height() + 8)))


def _examples() -> tuple[tuple[str, str], ...]:
    from engine import QUERY_HELP  # imports the analysis of text, so not on the GUI thread

    return QUERY_HELP


# ---------------------------------------------------------------------------------------------------------------------

BOX_CHARACTERS = 58
"""Least width of the box in characters; if it would be narrower, the filters move below it."""
ROW_CHARACTERS = 148
"""Least width of box and filters in one line, in characters: a window of 1,400 pixels has it."""
PREVIEW_MS = 60
"""Milliseconds after which a result that the user selects is emitted."""
_TYPING_MS = 150
"""Milliseconds after which the first result of an answer is emitted: none while the user types quickly, where it would
be replaced by the next key, and opening its file would delay the results of that key.
"""


class Preview(QObject):
    """Emits the current result once it has been current for a moment, so that scrolling does not open each one."""

    selected = Signal(object, object)
    """Show this MemorySearchResult, found by this query."""
    idle = Signal()
    """No result is about to be emitted."""

    def __init__(self, view: ResultsView, parent: QObject) -> None:
        super().__init__(parent)
        self.view = view
        self._emitted: tuple[object, ...] = ()
        self._skips = False
        """Whether the first result of the next answer is not emitted."""
        self._before: Answer | None = None
        """The answer that was shown at the call of `skip`: the list may be empty until the next answer."""
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.emit_now)
        view.list.current_changed.connect(self._follow)
        view.list.clicked.connect(lambda _: self._timer.start(PREVIEW_MS))  # the viewer may show something else by now

    @property
    def busy(self) -> bool:
        return self._timer.isActive()

    @property
    def query(self) -> str:
        """The query of the shown results; the viewer highlights its words."""
        answer = self.view.answer
        return "" if answer is None else answer.searched.text or " ".join(answer.outcome.passage_words)

    def skip(self, *, shown: bool) -> None:
        """Don't emit the current result, if it is `shown` already, or else the first result of the next answer."""
        result = self.view.list.current_result()
        self._timer.stop()
        self._skips, self._before = not shown, self.view.answer
        if shown and result is not None:
            self._emitted = self._identity(result)
        self.idle.emit()

    @Slot()
    def wait(self) -> None:
        """Wait again for the whole time if a result is about to be emitted: the next answer will replace it."""
        if self._timer.isActive():
            self._timer.start()

    @Slot(object)
    def _follow(self, result: MemorySearchResult | None) -> None:
        if result is None:
            self._skips = self._skips and self.view.answer is self._before
            self._timer.stop()
            self._emitted = ()  # the viewer may show something else by the next result
        elif self._skips:
            self._emitted = self._identity(result)
            self._skips = self.view.answer is not None and not self.view.answer.final
        elif self._identity(result) != self._emitted:
            self._timer.start(PREVIEW_MS if self.view.list.chosen else _TYPING_MS)
        else:
            self._keep_selection()

    @Slot()
    def emit_now(self) -> None:
        """Emit the current result immediately."""
        self._timer.stop()
        result = self.view.list.current_result()
        if result is not None:
            self._keep_selection()
            self._emitted = self._identity(result)
            self.selected.emit(result, self.query)
        self.idle.emit()

    def _keep_selection(self) -> None:
        """Keep the current row selected if the answer is complete.

        A keyword-only answer will be replaced, and the first indexing finds better results all the time.
        """
        if self.view.answer is not None and self.view.answer.final and not self.view.first_indexing:
            self.view.list.pin_current()

    def _identity(self, result: MemorySearchResult) -> tuple[object, ...]:
        """Return the identity of a result, without its score: the viewer needn't reload when only the score changes."""
        return result.path, result.start_line, result.end_line, self.query


class SearchPanel(QObject, ViewPanel):
    """The search view: the search box with its controls, the results, and the signal with the result to open."""

    result_activated = Signal(object, object)
    """MemorySearchResult and the query: the user opens it."""
    answer_changed = Signal(object)
    """Current Answer, or None without a query."""
    list_focus_requested = Signal()
    """Down was pressed in the box while another widget covers the results."""
    settled = Signal()
    """Nothing is running or due: the results match the box, and the preview is up to date."""

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._status: MemoryProviderStatus | None = None
        self.box = QueryBox()
        self.completion = Completion(self.box.edit, jobs)
        self._help = QueryHelpButton(jobs)
        self.box.add_button(self._help)
        self.filters = Filters()
        self.view = ResultsView()
        self.preview = Preview(self.view, self)
        self.actions = ResultActions(self.view.list, self)
        self._list_due = False
        """Whether Down was pressed before there were results: these get the focus, unless the user types on."""
        self.header = FoldingRow(self.box, self.filters, BOX_CHARACTERS, ROW_CHARACTERS)
        self.body: ResultsView = self.view
        self.ranking = self.view.ranking
        self.controller = SearchController(self.box, self.completion, self.filters, self.view, jobs, self)
        self.view.header.add_tool(self.controller.saved_searches.star)
        self.start = StartPage(jobs, self.controller.saved_searches.store, self)
        self._connect()
        self.set_manager(None)

    def _connect(self) -> None:
        self.controller.idle.connect(self._forget_list)
        self.controller.idle.connect(self._emit_settled)
        self.controller.answer_changed.connect(self._on_answer)
        self.controller.builder.query_changed.connect(self._forget_list)
        self.preview.idle.connect(self._emit_settled)
        self.box.text_changed.connect(self.preview.wait)
        self.box.edit.list_requested.connect(self.focus_list)
        self.box.edit.accepted.connect(self._accept)
        self._help.example_chosen.connect(self.box.insert)
        self.start.changed.connect(self._show_start)
        self.view.start_lists.recent_chosen.connect(self.controller.show_query)
        results = self.view.list
        results.opened.connect(self._open)
        results.file_requested.connect(self.controller.search_file)
        results.left.connect(self.box.focus)
        results.typed.connect(self.box.type_key)
        actions = self.actions
        actions.like_requested.connect(self.controller.search_like_result)
        actions.within_requested.connect(self.controller.search_within)

    # --- for the window ---------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether a query is due or running; False once `settled` was emitted."""
        return self.controller.busy or self.preview.busy

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Set the memory to search, and repeat the query in the box.

        `reopening`: it belongs to the same folder; the results stay until its answer.
        """
        self.completion.set_manager(manager)
        self.start.set_manager(manager)
        self.controller.set_manager(manager, reopening=reopening)
        if reopening:
            return
        self.box.setEnabled(manager is not None)
        self.view.show_hint(None)
        if manager is None:
            self.filters.show_workspace("")
        self.filters.set_scope(None)
        self.controller.run_query()

    def accept_typing(self) -> None:
        """Let the user type while a folder is being opened: the query runs once it is open."""
        self.box.setEnabled(True)
        self.box.focus_all()

    @Slot(object)
    def show_status(self, status: MemoryProviderStatus | None) -> None:
        """Show the latest status; called whenever it changes."""
        self._status = status
        self.view.show_status(status)
        if self.view.answer is None:
            self.start.refresh(status)
        if status is not None:
            self.filters.show_workspace(status.workspace_dir)
            self.filters.show_indexed({count.source for count in status.source_counts if count.files})

    @Slot()
    def focus_list(self) -> None:
        """Focus the results or the buttons shown instead of them; else the box."""
        answer, subject = self.view.answer, self.controller.view_state.subject
        is_new = subject is not None and (answer is None or answer.query.subject != subject)
        self._list_due = is_new and self.controller.busy and not self.view.has_results
        if not self.view.isVisible():
            self.list_focus_requested.emit()
        elif self.view.has_results:
            self.view.list.take_focus()
        elif self._list_due or not (self.view.suggestions.take_focus() or self.view.page.take_focus()):
            self.box.focus()

    def search(self, text: str) -> None:
        """Enter `text` in the box and search for it."""
        self.controller.search(text)

    @Slot()
    def refresh(self) -> None:
        """Repeat the query after a change of the index, without moving the list."""
        self.controller.repeat()

    def preview_again(self) -> None:
        """Show the current result again, unless the current query has no answer yet."""
        if self._answered:
            self.preview.emit_now()

    def skip_preview(self) -> None:
        """Keep the viewer's current location while the list returns to its position."""
        self.preview.skip(shown=self._answered)

    @property
    def _answered(self) -> bool:
        """Whether the results of the current query are shown."""
        return self.controller.view_state.position is not None

    # --- from the box to a result -----------------------------------------------------------------------------------

    @Slot()
    def _accept(self) -> None:
        """Handle Enter in the box: open the best result of the current query, else search immediately."""
        if self._answered:
            self.view.list.open_current()
        else:
            self.controller.run_query()

    @Slot(object)
    def _open(self, result: MemorySearchResult) -> None:
        self.box.remember()
        self.preview.emit_now()  # later, it would replace what the user goes to from this result
        self.result_activated.emit(result, self.preview.query)

    @Slot(object)
    def _on_answer(self, answer: Answer | None) -> None:
        if answer is None:
            self.view.show_hint(self._status)
            self.start.refresh(self._status)
        elif self._list_due and self.view.has_results and self.box.edit.hasFocus():
            self.focus_list()
        self.answer_changed.emit(answer)

    @Slot()
    def _forget_list(self) -> None:
        self._list_due = False

    @Slot(object)
    def _show_start(self, content: StartContent) -> None:
        self.view.show_start(content, now=not self.box.query)  # with a query, an answer follows

    @Slot()
    def _emit_settled(self) -> None:
        if not self.busy:
            self.settled.emit()
