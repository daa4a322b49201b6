"""The list of results and its actions; the selected or visible rows stay in place when answers arrive."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QObject, QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeySequence, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QAbstractScrollArea, QPushButton

from engine import MemorySearchResult, result_quote, split_name, tr, tr_count
from gui.commands.commands import EDIT, EXPLAIN, EXPORT, LIKE, LINK, WITHIN, menu_entry
from gui.commands.keymap import command
from gui.core.capabilities import Gate
from gui.core.location import Location
from gui.search.result_rows import (
    ButtonRow,
    CopiesRow,
    MoreInFileRow,
    MoreRow,
    ResultModel,
    ResultRow,
    Row,
    RowKey,
    list_copies,
    with_selected,
)
from gui.search.row_delegate import ResultDelegate
from gui.widgets.row_list import ListPosition, RowList
from gui.widgets.rows import Index

_TOP = 8


class NewResultsButton(QPushButton):
    """A button at the top of a list with the number of new results above the visible rows; hidden if there are none."""

    def __init__(self, over: QAbstractScrollArea) -> None:
        super().__init__(over)
        self._over = over
        self._overtaken: frozenset[Hashable] = frozenset()
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the key Home does the same
        self.setProperty("role", "primary")
        self.hide()

    def show_count(self, before: frozenset[Hashable], now: frozenset[Hashable]) -> None:
        """Show how many results above the visible rows are new or moved up.

        `before`, `now`: the keys of the rows above the visible ones, in the old and the new list.
        """
        self._overtaken = (self._overtaken & now) | (now - before)
        more = sum(1 for key in self._overtaken if isinstance(key, tuple) and key[0] == "result")
        if more:
            self.setText(tr_count("{count:,} more result above", "{count:,} more results above", more))
            self.place()
        self.setVisible(more > 0)

    def forget(self) -> None:
        """Hide the button and reset its count: the user has scrolled to the top."""
        self._overtaken = frozenset()
        self.hide()

    def place(self) -> None:
        """Move to the middle of the list's upper edge."""
        self.adjustSize()
        self.move((self._over.viewport().width() - self.width()) // 2, _TOP)


class ResultList(RowList):
    """A list of results grouped by file. Only results and "more" rows can be current, headings can't."""

    more_requested = Signal()
    file_requested = Signal(object)
    """MoreInFileRow: show all results of that file."""
    why_requested = Signal()
    """The bar of the current result's score was clicked."""

    def __init__(self) -> None:
        super().__init__(ResultModel(), tr("Results"))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.painter = ResultDelegate(self)
        self._answered: Sequence[Row] = ()
        """The rows of the answer, before copies are listed."""
        self._listed: set[RowKey] = set()
        """Keys of the rows that were replaced by a list of copies."""
        self.chosen = False
        """Whether the user, not the program, selected the current result."""
        self.setItemDelegate(self.painter)
        self.new_above = NewResultsButton(self)
        self.new_above.clicked.connect(self.scrollToTop)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.doubleClicked.connect(self._activate)
        self.clicked.connect(self._clicked)

    # --- display ----------------------------------------------------------------------------------------------------

    def show_rows(self, rows: Sequence[Row], *, keep: bool, shift: int = 0) -> None:
        """Replace the rows. The first result becomes current or, with `keep`, the user's position is preserved.

        `shift`: pixels by which the whole list moved down since it was last painted.
        """
        if not keep:
            self._listed.clear()
        self._answered, rows = rows, list_copies(rows, self._listed)
        current, key = self.rows.row(self.currentIndex().row()), None
        if keep and self._held and isinstance(current, ResultRow):
            rows, key = with_selected(rows, current, self.rows.all)
        if keep and self.rows.shows(rows):
            return
        # A "more" row is always last, so the position isn't measured from it.
        position = self._remember((MoreInFileRow, MoreRow)) if keep and self._moved_away else None
        if position is not None and key is not None:
            position = position.renamed(key)
        several = self._selected_keys() if keep else ()
        with self._rearranging():
            self._set_rows(rows)
            if position is not None:
                self._return_to(position, shift)
                self._select_again(several)
            else:
                self._start_at_top()
        self.current_changed.emit(self.current_result())

    def lay_out(self, rows: Sequence[Row], area: QSize) -> None:
        """Lay out the first rows of an answer in advance, so that showing it only needs to paint them.

        `area`: the size of the list when it is shown, since a hidden list has another size.
        """
        needs_bar = self.painter.height(rows) > area.height()
        bar = self.verticalScrollBar().sizeHint().width() if needs_bar else 0
        self.painter.lay_out(rows, QSize(area.width() - bar, area.height()), self.palette())

    @Slot()
    def select_next(self) -> None:
        """Select the next result or, if there is none below, the previous one."""
        at = self.currentIndex().row()
        results = [number for number, row in enumerate(self.rows.all) if isinstance(row, ResultRow) and number != at]
        if results:
            self._set_current(next((number for number in results if number > at), results[-1]))

    def current_result(self) -> MemorySearchResult | None:
        """The selected result; None if there is none or a heading is selected."""
        row = self.rows.row(self.currentIndex().row())
        return row.result if isinstance(row, ResultRow) else None

    current = property(current_result)

    def selected_results(self) -> tuple[MemorySearchResult, ...]:
        """Return the results of all selected rows, from top to bottom; at least the current one."""
        rows = map(self.rows.row, sorted(index.row() for index in self.selectedIndexes()))
        results = tuple(row.result for row in rows if isinstance(row, ResultRow))
        current = self.current_result()
        return results or (() if current is None else (current,))

    def _selected_keys(self) -> tuple[Hashable, ...]:
        """Return the keys of the selected rows if there are several; a single row is restored as the current one."""
        chosen = [self.rows.row(index.row()).key for index in self.selectedIndexes()]
        return tuple(chosen) if len(chosen) > 1 else ()

    def _select_again(self, keys: Iterable[Hashable]) -> None:
        for number in map(self.rows.position, keys):
            if number >= 0:
                self.selectionModel().select(self.rows.index(number), QItemSelectionModel.SelectionFlag.Select)

    def _return_to(self, position: ListPosition, shift: int = 0) -> None:
        super()._return_to(position, shift)
        self.new_above.show_count(position.above, self.rows.keys_before(self._first_visible()))

    def _start_at_top(self) -> None:
        self._held = self.chosen = False
        self.new_above.forget()
        self._set_current(self.rows.first_position())
        self.scrollToTop()

    @Slot(int)
    def _scrolled(self, value: int) -> None:
        if value == 0:
            self.new_above.forget()

    # --- events -----------------------------------------------------------------------------------------------------

    @Slot()
    def _moved(self) -> None:
        if not self._arranging and self.currentIndex().isValid():
            self.chosen = True
            self.new_above.forget()
        super()._moved()

    @Slot(QModelIndex)
    def _activate(self, index: Index) -> None:
        match self.rows.row(index.row()):
            case ResultRow():
                super()._activate(index)
            case CopiesRow(key=key):
                self._held = True
                self._listed.add(key)
                self.show_rows(self._answered, keep=True)  # the first copy is where the row was, and becomes current
            case MoreInFileRow() as row:
                self.file_requested.emit(row)
            case MoreRow():
                self.more_requested.emit()

    @Slot(QModelIndex)
    def _clicked(self, index: QModelIndex) -> None:
        if isinstance(self.rows.row(index.row()), ButtonRow):
            self._activate(index)

    def _has_current(self) -> bool:
        return bool(self.selected_results())

    def _restyle(self) -> None:
        self.painter.restyle()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        at = event.position().toPoint()
        if event.button() == Qt.MouseButton.LeftButton and self._bar_at(at) >= 0:
            self.why_requested.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._hover(self._bar_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(-1)

    def _bar_at(self, at: QPoint) -> int:
        """Return the row whose score bar is at a point; -1 if there is none."""
        index = self.indexAt(at)
        if not isinstance(self.rows.row(index.row()), ResultRow):
            return -1
        return index.row() if self.painter.is_on_bar(self.visualRect(index), at, self.layoutDirection()) else -1

    def _hover(self, row: int) -> None:
        """Show the score bar of this row as a button under the mouse."""
        if row != self.painter.hovered:
            for changed in (self.painter.hovered, row):
                self.viewport().update(self.visualRect(self.rows.index(changed)))
            self.painter.hovered = row
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if row >= 0 else Qt.CursorShape.ArrowCursor)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.new_above.place()


# --- The actions on results -------------------------------------------------------------------------------------------

CITE = command("results.cite", "Copy citation", "results", QKeySequence.StandardKey.Copy, "Ctrl+Shift+C")
COPY_PATH = command("results.copy-path", "Copy path", "results")
QUOTE = command("results.copy-quote", "Copy as a Markdown quote", "results")
COPY_SNIPPET = command("results.copy-snippet", "Copy snippet", "results")
SWITCH_TO = command("results.switch-workspace", "Switch to this workspace", "results")
REVEAL = command("results.reveal", "Show in file manager", "results")


def copy_text(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


def copy_citations(results: Sequence[MemorySearchResult]) -> None:
    """Copy the citations of the results, one per line."""
    copy_text("\n".join(result.citation for result in results))


def copy_quotes(results: Sequence[MemorySearchResult]) -> None:
    copy_text("\n\n".join(map(result_quote, results)))


class ResultActions(QObject):
    """The actions on the selected results, for the context menu and as keyboard shortcuts.

    Copying is done here; the other actions are signals.
    """

    editor_requested = Signal(object)
    """MemorySearchResult to open in the external editor."""
    reveal_requested = Signal(object)
    """MemorySearchResult whose file to show in the file manager."""
    like_requested = Signal(object)
    """MemorySearchResult to find similar results for."""
    link_requested = Signal(object)
    """Copy a link to this Location."""
    export_requested = Signal()
    """The selected results, or all, are to be written to a file."""
    switch_requested = Signal(object)
    """MemorySearchResult whose workspace should be opened."""
    within_requested = Signal()
    """Search within the current results."""

    def __init__(self, results: ResultList, parent: QObject) -> None:
        super().__init__(parent)
        self._results = results
        for known, run in (
            (COPY_PATH, lambda result: copy_text(result.path)),
            (COPY_SNIPPET, lambda result: copy_text(result.snippet)),
            (EDIT, self.editor_requested.emit),
            (REVEAL, self.reveal_requested.emit),
            (SWITCH_TO, self.switch_requested.emit),
            (LINK, self._link),
        ):
            results.add_action(known, run)
        results.add_action(LIKE, self.like_requested.emit, lambda action: Gate(action, "similar").allow)
        for known, copy in ((CITE, copy_citations), (QUOTE, copy_quotes)):
            results.add_action(known).triggered.connect(partial(self._with_selected, copy))
        results.menu_requested.connect(self._show_menu)

    def _with_selected(self, run: Callable[[Sequence[MemorySearchResult]], None], _checked: bool = False) -> None:
        selected = self._results.selected_results()
        if selected:
            run(selected)

    @Slot(QPoint)
    def _show_menu(self, at: QPoint) -> None:
        """Open the menu of the current result, or of all selected ones."""
        result, selected = self._results.current_result(), len(self._results.selected_results())
        if result is None:
            return
        within = menu_entry(WITHIN.label, self.within_requested.emit, WITHIN.name)
        why = menu_entry(EXPLAIN.label, self._results.why_requested.emit, EXPLAIN.name)
        export = menu_entry(EXPORT.label, self.export_requested.emit, EXPORT.name)
        if selected > 1:
            export.setText(tr_count("Export {count:,} result…", "Export {count:,} results…", selected))
        Gate(within, "within")
        Gate(why, "explanation")
        copies = CITE, QUOTE, COPY_PATH, COPY_SNIPPET, LINK
        switch = (SWITCH_TO,) if split_name(result.path)[0] else ()
        entries = LIKE, within, None, *copies, None, why, None, EDIT, REVEAL, *switch, None, export
        self._results.open_menu(at, *entries)

    def _link(self, result: MemorySearchResult) -> None:
        """Return a link to the cited lines of a note, or to a session's message by its id."""
        message = result.message.id if result.message else ""
        line = result.start_line if result.message is None else result.snippet_line
        end = result.end_line if result.message is None else None
        self.link_requested.emit(Location(result.path, line, end, message))
