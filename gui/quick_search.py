"""The quick search: a small window with a search box, and below it the results or a message.

It has no frame, opens on the screen where the mouse is, and closes when it loses the focus.
"""

from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QCursor, QGuiApplication, QHideEvent, QKeySequence, QScreen, QShortcut
from PySide6.QtWidgets import QApplication, QFrame, QVBoxLayout, QWidget

from engine import MemoryProviderStatus, MemorySearchManager, MemorySearchResult, marked, tr
from gui.commands.commands import key_action
from gui.commands.keymap import command, keymap
from gui.core.jobs import Jobs
from gui.search import messages
from gui.search.query import Answer, Query, Scope, is_searchable
from gui.search.result_list import ResultList
from gui.search.result_rows import MoreInFileRow
from gui.search.search_runner import SearchRunner
from gui.style.stylesheet import scaled
from gui.widgets.accessibility import announce
from gui.widgets.labels import ElidedLabel, line
from gui.widgets.layouts import PageStack, column_of
from gui.widgets.placeholder_page import StatePage
from gui.widgets.query_box import QueryBox
from gui.widgets.row_list import ListPosition

_MAX_SHARE = 0.9
"""Largest shares of the screen's width and height."""

WIDTH, RESULTS_HEIGHT = 640, 420
SHOW_ALL = command("quick.all", "Show all results in the window", "quick", "Ctrl+Return")
_NOT_OPEN = (marked("No folder is open"), marked("Choose a folder of notes in the window first."))


class QuickPanel(QWidget):
    """The contents of the quick search: a search box and the results, like the search panel.

    Signals:
        chosen: a Chosen to open in the main window.
        window_requested: show the main window unchanged.
        resized: results were shown or removed, so that `sizeHint` has changed.
    """

    chosen = Signal(object)
    window_requested = Signal()
    resized = Signal()

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self._manager: MemorySearchManager | None = None
        self._answer: Answer | None = None
        self._reading = ""
        """Progress of the first indexing."""
        self._files = 0
        self._instead = _not_open()
        self._runner = SearchRunner(jobs, self)
        self.box = QueryBox(name=tr("Quick search"))
        self.list = ResultList()
        self.page = StatePage()
        self._stack = PageStack()
        for widget in (self.page, self.list):
            self._stack.addWidget(widget)
        self._footer = ElidedLabel()
        self._footer.setProperty("role", "meta")
        self._footer.setContentsMargins(14, 6, 14, 8)
        self._below = QWidget()
        below = QVBoxLayout(self._below)
        above = column_of(self.box, margins=(12, 12, 12, 12))
        column = QVBoxLayout(self)
        for layout in (column, below):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        for part in (line(), self._stack, line(), self._footer):
            below.addWidget(part)
        column.addLayout(above)
        column.addWidget(self._below)
        self._below.hide()
        self._all = key_action(self, SHOW_ALL)
        self._connect()
        keymap().changed.connect(self._show_keys)
        self._show_keys()

    def _connect(self) -> None:
        self.box.text_changed.connect(self._typed)
        self.box.edit.accepted.connect(self._accept)
        self.box.edit.list_requested.connect(self.list.take_focus)
        self.list.left.connect(self.box.focus)
        self.list.typed.connect(self.box.type_key)
        self.list.opened.connect(self._open)
        self.list.clicked.connect(self._click)
        self.list.more_requested.connect(self._show_all)
        self.list.file_requested.connect(self._show_file)
        self._all.triggered.connect(self._show_all)
        self._runner.arrived.connect(self._prepare)
        self._runner.answered.connect(self._show_answer)
        self._runner.failed.connect(self._show_failure)
        self._runner.waiting.connect(self._show_waiting)

    @property
    def busy(self) -> bool:
        """Whether a query is running, or its results are incomplete."""
        return self._runner.busy

    @property
    def is_wide(self) -> bool:
        """Whether results or a message are shown below the box."""
        return not self._below.isHidden()

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Set the memory to search, and repeat the query in the box."""
        self._manager = manager
        self._runner.set_manager(manager)
        self._answer = None
        self.list.show_rows((), keep=False)
        self._instead = _not_open()
        self._search(immediately=True)

    @Slot(object)
    def show_status(self, status: MemoryProviderStatus | None) -> None:
        """Update the progress of the first indexing in an empty answer, and repeat its query."""
        before, self._reading = self._reading, messages.reading(status)
        files, self._files = self._files, 0 if status is None else status.files
        answer = self._answer
        if answer is None or answer.outcome.results or not self.isVisible():
            return
        if files != self._files:
            self._runner.repeat(answer.query)
        elif before != self._reading:
            self._show_message(*messages.empty(answer.query, answer.outcome, self._reading))

    def show_reason(self, title: str, sentence: str) -> None:
        """Show why nothing can be searched now."""
        self._instead = (title, sentence)
        self._search(immediately=True)

    def begin(self, text: str = "") -> None:
        """Prepare for typing: search for `text`; if it is empty, select the last query and repeat it."""
        if text:
            self.box.edit.setText(text)
        self._search(immediately=True)
        self.box.focus_all()

    def stop(self) -> None:
        """Cancel the search, since the window was hidden."""
        self._runner.stop()

    def sizeHint(self) -> QSize:
        height = self.box.height() + 24
        if self.is_wide:
            height += scaled(RESULTS_HEIGHT) + self._footer.sizeHint().height()
        return QSize(scaled(WIDTH), height)

    # --- queries ----------------------------------------------------------------------------------------------------

    @Slot()
    def _typed(self) -> None:
        self._search(immediately=False)

    def _search(self, *, immediately: bool) -> None:
        text = self.box.query
        searchable = is_searchable(text)
        if searchable and self._manager is not None:
            same = self._answer is not None and self._answer.query.text == text
            self._runner.run_query(Query(text), immediately=immediately, complete_only=same and immediately)
        else:
            self._runner.stop()
            self._answer = None
            self.box.set_state("")
            if searchable:
                self._show_message(*self._instead)
        self._unfold(searchable)

    def _unfold(self, searchable: bool) -> None:
        if searchable != self.is_wide:
            self._below.setVisible(searchable)
            self.updateGeometry()
            self.resized.emit()

    @Slot()
    def _accept(self) -> None:
        """Handle Enter in the box: open the best result if it belongs to the current text."""
        if self._answer is not None and self._answer.query.text == self.box.query:
            if self._stack.currentWidget() is self.list:
                self.list.open_current()
            else:
                self._show_all()
        elif self._manager is None:
            self.window_requested.emit()
        else:
            self._search(immediately=True)

    @Slot(object)
    def _open(self, result: MemorySearchResult) -> None:
        if self._answer is not None:
            self.chosen.emit(Chosen(self._answer.query, result, self.list.position, self._answer.searched.text))

    @Slot()
    def _click(self) -> None:
        if self.list.current_result() is not None:
            self.list.open_current()

    @Slot()
    def _show_all(self) -> None:
        if is_searchable(self.box.query):
            self.chosen.emit(Chosen(Query(self.box.query)))
        else:
            self.window_requested.emit()

    @Slot(object)
    def _show_file(self, row: MoreInFileRow) -> None:
        """Open the main window with all results of one file."""
        if self._answer is not None:
            self.chosen.emit(Chosen(replace(self._answer.query, scope=Scope(row.path, row.title))))

    # --- answers ----------------------------------------------------------------------------------------------------

    @Slot(object)
    def _prepare(self, answer: Answer) -> None:
        self.list.lay_out(answer.rows("relevance"), self._stack.size())

    @Slot(object)
    def _show_answer(self, answer: Answer) -> None:
        outcome = answer.outcome
        if not outcome.results and not answer.final:
            return  # semantic search may still find something
        before, self._answer = self._answer, answer
        keep = before is not None and before.query == answer.query
        self.box.set_state(messages.box_state(outcome))
        if outcome.results:
            self.list.show_rows(answer.rows("relevance"), keep=keep)
            self._stack.setCurrentWidget(self.list)
        else:
            self._show_message(*messages.empty(answer.query, outcome, self._reading))
        if answer.final:
            announce(self, messages.spoken_counts(outcome))

    @Slot(object, str)
    def _show_failure(self, _query: Query, sentence: str) -> None:
        self._answer = None
        self.box.set_state("")
        self._show_message(tr("The search failed"), sentence)
        announce(self, sentence)

    @Slot(bool)
    def _show_waiting(self, waiting: bool) -> None:
        if waiting:
            self.box.set_state(tr(messages.SEARCHING))

    def _show_message(self, title: str, sentence: str) -> None:
        self.list.show_rows((), keep=False)
        self.page.show_state(title, sentence)
        self._stack.setCurrentWidget(self.page)

    @Slot()
    def _show_keys(self) -> None:
        every = keymap().first_key(SHOW_ALL.name)
        shows_all = tr("{key} shows all in the window", key=every) if every else ""
        parts = (tr("Enter opens the result"), shows_all, tr("Esc closes"))
        self._footer.setText("   ·   ".join(part for part in parts if part))


class QuickWindow(QFrame):
    """The window of the quick search. It is hidden instead of closed, so that it opens fast the next time."""

    def __init__(self, panel: QuickPanel) -> None:
        super().__init__(
            None,
            Qt.WindowType.Tool | Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowStaysOnTopHint,
        )
        self.panel = panel
        self._was_active = False
        self.setWindowTitle(tr("Quick search – Mnemoscope"))
        self.setProperty("role", "quick")
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        column_of(panel, margins=(1, 1, 1, 1), parent=self)
        panel.resized.connect(self._fit)
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self, self.hide)

    def toggle(self) -> None:
        """Show the window, or hide it if it is visible."""
        if self.isVisible():
            self.hide()
        else:
            self.call_up()

    def call_up(self, text: str = "") -> None:
        """Show the window with the box focused; `text` is searched for."""
        if not self.isVisible():
            self._place(_screen())
        self.show()
        self.raise_()
        self.activateWindow()
        self.panel.begin(text)

    def _place(self, screen: QScreen) -> None:
        """Place the window on a screen with room for its results below, since it grows only downwards."""
        room = screen.availableGeometry()
        size = self._size(room)
        whole = size.height() if self.panel.is_wide else size.height() + scaled(RESULTS_HEIGHT)
        top = room.top() + max(0, (room.height() - whole) // 2)
        self.setGeometry(QRect(room.left() + (room.width() - size.width()) // 2, top, size.width(), size.height()))

    @Slot()
    def _fit(self) -> None:
        """Resize the window to its contents."""
        for layout in (self.panel.layout(), self.layout()):
            if layout is not None:
                layout.activate()  # immediately: hidden widgets must not keep the window large
        self.resize(self._size(self.screen().availableGeometry()))

    def _size(self, room: QRect) -> QSize:
        self.ensurePolished()
        size = self.panel.sizeHint() + QSize(2, 2)
        return size.boundedTo(QSize(round(room.width() * _MAX_SHARE), round(room.height() * _MAX_SHARE)))

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._was_active = False
        self.panel.stop()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange:
            if self._was_active and not self.isActiveWindow() and QApplication.activePopupWidget() is None:
                self.hide()  # the user switched to another program
            self._was_active = self.isActiveWindow()
        elif event.type() == QEvent.Type.FontChange:
            self._fit()


def _screen() -> QScreen:
    return QGuiApplication.screenAt(QCursor.pos()) or QGuiApplication.primaryScreen()


@dataclass(frozen=True)
class Chosen:
    """The choice in the quick search, to open in the main window: a result or the whole query."""

    query: Query
    result: MemorySearchResult | None = None
    """The chosen result; None for all results."""
    position: ListPosition | None = None
    """Position in the list of results; None if there is none."""
    words: str = ""
    """Words to highlight in the result."""


def _not_open() -> tuple[str, str]:
    title, sentence = _NOT_OPEN
    return tr(title), tr(sentence)
