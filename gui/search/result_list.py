"""The list of results: keeps the selected or visible rows in place while answers arrive."""

from collections.abc import Hashable, Iterable, Sequence

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QAbstractScrollArea, QPushButton, QWidget

from engine import MemorySearchResult, tr, tr_count
from gui.search.row_delegate import ResultDelegate
from gui.search.row_model import ResultModel
from gui.search.rows import MoreInFileRow, MoreRow, ResultRow, Row
from gui.widgets.row_list import Index, Place, RowList

_TOP = 8


class NewResultsButton(QPushButton):
    """A button at the top of a list; hidden while there is nothing new."""

    def __init__(self, over: QAbstractScrollArea) -> None:
        super().__init__(over)
        self._over = over
        self._overtaken: frozenset[Hashable] = frozenset()
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Home does the same
        self.setProperty("role", "primary")
        self.hide()

    def tell(self, before: frozenset[Hashable], now: frozenset[Hashable]) -> None:
        """`before` and `now`: the rows above the visible ones. Counts new rows and those that moved up."""
        self._overtaken = (self._overtaken & now) | (now - before)
        more = sum(1 for key in self._overtaken if isinstance(key, tuple) and key[0] == "result")
        if more:
            self.setText(tr_count("{count:,} more result above", "{count:,} more results above", more))
            self.place()
        self.setVisible(more > 0)

    def forget(self) -> None:
        """The person has been above."""
        self._overtaken = frozenset()
        self.hide()

    def place(self) -> None:
        """Stand in the middle of the list's upper edge."""
        self.adjustSize()
        self.move((self._over.viewport().width() - self.width()) // 2, _TOP)


class ResultList(RowList):
    """Rows grouped by file; only results and the rows for more can be current."""

    current_changed = Signal(object)
    """The current MemorySearchResult, or None on a row for more."""
    opened = Signal(object)
    """MemorySearchResult, by Enter or a double click."""
    more_wanted = Signal()
    file_wanted = Signal(object)
    """MoreInFileRow: show all results of that file."""
    why_wanted = Signal()
    """By a click on the bar of the current result's score."""
    menu_wanted = Signal(object, QPoint)
    """MemorySearchResult and the global position."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(ResultModel(), tr("Results"), parent)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.painter = ResultDelegate(self)
        self._held = False
        self.chosen = False
        """The person, not the program, made the current result current."""
        self.setItemDelegate(self.painter)
        self.new_above = NewResultsButton(self)
        self.new_above.clicked.connect(self.scrollToTop)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.selectionModel().currentChanged.connect(self._moved)
        self.doubleClicked.connect(self._activate)
        self.clicked.connect(self._clicked)

    # --- display ----------------------------------------------------------------------------------------------------

    def show_rows(self, rows: Sequence[Row], *, keep: bool, shift: int = 0) -> None:
        """Replace the rows: with the first one current or, with `keep`, at the user's position.

        `shift`: pixels that the list itself moved down since the user last saw it.
        """
        if keep and self.rows.shows(rows):
            return
        # A row for more stays last, wherever it was: nothing to hold on to.
        place = self._remember((MoreInFileRow, MoreRow)) if keep and self.rows.rowCount() else None
        several = self._selected_keys() if keep else ()
        self._arranging = True
        try:
            self.painter.forget()
            self._put(rows)
            if place is not None and (self._held or self.verticalScrollBar().value()):
                self._return_to(place, shift)
                self._select_again(several)
            else:
                self._start_at_top()
        finally:
            self._arranging = False
        self.current_changed.emit(self.current_result())

    def hold(self) -> None:
        """The current result has been seen: from now on a better one does not take its place."""
        self._held = True

    def current_result(self) -> MemorySearchResult | None:
        row = self.rows.row(self.currentIndex().row())
        return row.result if isinstance(row, ResultRow) else None

    def selected_results(self) -> tuple[MemorySearchResult, ...]:
        """All selected rows, from top to bottom; at least the current one."""
        rows = map(self.rows.row, sorted(index.row() for index in self.selectedIndexes()))
        found = tuple(row.result for row in rows if isinstance(row, ResultRow))
        current = self.current_result()
        return found or (() if current is None else (current,))

    def _selected_keys(self) -> tuple[Hashable, ...]:
        """Of several; one alone is current anyway."""
        chosen = [self.rows.row(index.row()).key for index in self.selectedIndexes()]
        return tuple(chosen) if len(chosen) > 1 else ()

    def _select_again(self, keys: Iterable[Hashable]) -> None:
        for place in map(self.rows.place, keys):
            if place >= 0:
                self.selectionModel().select(self.rows.index(place), QItemSelectionModel.SelectionFlag.Select)

    def _return_to(self, place: Place, shift: int = 0) -> None:
        super()._return_to(place, shift)
        self.new_above.tell(place.above, self.rows.keys_before(self._first_visible()))

    def _start_at_top(self) -> None:
        self._held = self.chosen = False
        self.new_above.forget()
        self._set_current(self.rows.first_place())
        self.scrollToTop()

    @Slot(int)
    def _scrolled(self, value: int) -> None:
        if value == 0:
            self.new_above.forget()

    # --- events -----------------------------------------------------------------------------------------------------

    @Slot(QModelIndex, QModelIndex)
    def _moved(self, current: QModelIndex, previous: QModelIndex) -> None:
        if not self._arranging and current.isValid():
            self._held = self.chosen = True
            self.new_above.forget()
            self.current_changed.emit(self.current_result())

    @Slot(QModelIndex)
    def _activate(self, index: Index) -> None:
        match self.rows.row(index.row()):
            case ResultRow(result=result):
                self._held = True
                self.opened.emit(result)
            case MoreInFileRow() as row:
                self.file_wanted.emit(row)
            case MoreRow():
                self.more_wanted.emit()

    @Slot(QModelIndex)
    def _clicked(self, index: QModelIndex) -> None:
        if isinstance(self.rows.row(index.row()), MoreInFileRow | MoreRow):
            self._activate(index)

    def _show_menu(self, at: QPoint) -> None:
        result = self.current_result()
        if result is not None:
            self.menu_wanted.emit(result, at)

    def _restyle(self) -> None:
        self.painter.restyle()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        at = event.position().toPoint()
        index = self.indexAt(at)
        if not isinstance(self.rows.row(index.row()), ResultRow) or event.button() != Qt.MouseButton.LeftButton:
            return
        if self.painter.is_on_bar(self.visualRect(index), at, self.layoutDirection()):
            self.why_wanted.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.new_above.place()
