"""The list of results: a view that keeps its place while answers come and go, and walks from result to result."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent, QKeySequence, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QWidget

from engine import MemorySearchResult
from gui.search.above_button import AboveButton
from gui.search.delegate import ResultDelegate
from gui.search.model import ResultModel
from gui.search.rows import MoreRow, ResultRow, Row, RowKey

_Index = QModelIndex | QPersistentModelIndex
_Action = QAbstractItemView.CursorAction
_MINUTE_MS = 60_000
_WALKING = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End}
_COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


def _is_text(event: QKeyEvent) -> bool:
    return bool(event.text()) and event.text().isprintable()


@dataclass(frozen=True)
class _Place:
    """What a person looks at, told without row numbers."""

    current: RowKey | None
    number: int
    anchors: tuple[tuple[RowKey, int], ...]
    """Rows to hold on to and where their tops are in the viewport; the first that still exists counts."""
    above: frozenset[RowKey]
    """Rows that stood higher than what is seen."""


class ResultList(QListView):
    """One column of rows grouped by file; only results and the row for more can be current."""

    current_changed = Signal(object)
    """The current MemorySearchResult, or None on the row for more."""
    opened = Signal(object)
    """MemorySearchResult, by Enter or a double click."""
    more_wanted = Signal()
    left = Signal()
    """Up on the first result, or Escape: back to where the person came from."""
    typed = Signal(object)
    """QKeyEvent that belongs to the search box."""
    copy_wanted = Signal()
    edit_wanted = Signal()
    menu_wanted = Signal(object, QPoint)
    """MemorySearchResult and the global position."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = ResultModel(self)
        self.painter = ResultDelegate(self)
        self._arranging = False
        self._held = False
        self.chosen = False
        """The person, not the program, made the current result current."""
        self.setModel(self.rows)
        self.setItemDelegate(self.painter)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setMouseTracking(True)
        self.setAccessibleName("Results")
        self._above = AboveButton(self)
        self._above.clicked.connect(self.scrollToTop)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.selectionModel().currentChanged.connect(self._moved)
        self.doubleClicked.connect(self._activate)
        self.clicked.connect(self._clicked)
        minute = QTimer(self, interval=_MINUTE_MS)  # "14 min ago" must not stay true for ever
        minute.timeout.connect(self.viewport().update)
        minute.start()

    # --- what is shown ----------------------------------------------------------------------------------------------

    def show_rows(self, rows: Sequence[Row], *, keep: bool, shift: int = 0) -> None:
        """Replace the rows: at the top with the best one current, or, with `keep`, where the person is.

        `shift`: pixels that the list itself moved down since the person last saw it.
        """
        if keep and self.rows.shows(rows):
            return
        place = self._remember() if keep and self.rows.rowCount() else None
        self._arranging = True
        try:
            self.painter.forget()
            self.rows.set_rows(rows)
            self.doItemsLayout()
            if place is not None and (self._held or self.verticalScrollBar().value()):
                self._return_to(place, shift)
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

    def take_focus(self) -> None:
        """Go into the list, where it has rows; the best result is current if none was."""
        if self.rows.rowCount():
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def open_current(self) -> None:
        self._activate(self.currentIndex())

    def _remember(self) -> _Place:
        current = self.rows.row(self.currentIndex().row())
        visible = self._visible_places()
        if current is not None and self.currentIndex().row() in visible:
            visible = [self.currentIndex().row(), *visible]
        anchors = []
        for number in visible:
            row = self.rows.row(number)
            if row is not None and not isinstance(row, MoreRow):  # that one stays last, wherever it was
                anchors.append((row.key, self.visualRect(self.rows.index(number)).top()))
        above = frozenset(self.rows.keys_in_order()[: self._first_visible()])
        return _Place(current.key if current else None, self.currentIndex().row(), tuple(anchors), above)

    def _visible_places(self) -> list[int]:
        first = self.indexAt(QPoint(1, 1)).row()
        last = self.indexAt(QPoint(1, self.viewport().height() - 1)).row()
        return list(range(max(first, 0), (last if last >= 0 else self.rows.rowCount() - 1) + 1))

    def _return_to(self, place: _Place, shift: int) -> None:
        # On the row for more, the first of what came in its place follows.
        number = self.rows.place(place.current) if place.current and place.current[0] == "result" else -1
        self._set_current(number if number >= 0 else self.rows.nearest_result(place.number))
        for key, top in place.anchors:
            now = self.rows.place(key)
            if now >= 0:
                bar = self.verticalScrollBar()
                bar.setValue(bar.value() + self.visualRect(self.rows.index(now)).top() - (top - shift))
                break
        self._above.tell(place.above, frozenset(self.rows.keys_in_order()[: self._first_visible()]))

    def _start_at_top(self) -> None:
        self._held = self.chosen = False
        self._above.forget()
        self._set_current(self.rows.first_place())
        self.scrollToTop()

    def _set_current(self, number: int) -> None:
        index = self.rows.index(number)
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def _first_visible(self) -> int:
        return next(iter(self._visible_places()), 0)

    @Slot(int)
    def _scrolled(self, value: int) -> None:
        if value == 0:
            self._above.forget()

    # --- walking ----------------------------------------------------------------------------------------------------

    def moveCursor(self, action: _Action, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        count = self.rows.rowCount()
        current = self.currentIndex().row()
        if not count:
            return QModelIndex()
        match action:
            case _Action.MoveHome:
                target = self.rows.step(0, 1, 0)
            case _Action.MoveEnd:
                target = self.rows.step(count - 1, -1, 0)
            case _Action.MoveDown | _Action.MoveNext:
                target = self.rows.step(current, 1)
            case _Action.MoveUp | _Action.MovePrevious:
                target = self.rows.step(current, -1)
            case _Action.MovePageDown | _Action.MovePageUp:
                target = self._page(current, 1 if action == _Action.MovePageDown else -1)
            case _:
                target = current
        return self.rows.index(target if target >= 0 else current)

    def _page(self, current: int, direction: int) -> int:
        """The row about one viewport away, at least the next one, at most the last one that way."""
        rect = self.visualRect(self.rows.index(current))
        wanted = rect.top() + direction * (self.viewport().height() - rect.height())
        target = self.rows.step(current, direction)
        following = target
        while following >= 0:
            top = self.visualRect(self.rows.index(following)).top()
            if (top - wanted) * direction > 0:
                break
            target, following = following, self.rows.step(following, direction)
        return target

    def scrollTo(
        self, index: _Index, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        if self._arranging:
            return
        super().scrollTo(index, hint)
        above = index.row() - 1
        if above >= 0 and self.rows.is_header(above):  # a first result is not shown without its file
            top = self.visualRect(self.rows.index(above)).top()
            if top < 0:
                self.verticalScrollBar().setValue(self.verticalScrollBar().value() + top)

    # --- events -----------------------------------------------------------------------------------------------------

    @Slot(QModelIndex, QModelIndex)
    def _moved(self, current: QModelIndex, previous: QModelIndex) -> None:
        if not self._arranging and current.isValid():
            self._held = self.chosen = True
            self._above.forget()
            self.current_changed.emit(self.current_result())

    @Slot(QModelIndex)
    def _activate(self, index: QModelIndex) -> None:
        match self.rows.row(index.row()):
            case ResultRow(result=result):
                self._held = True
                self.opened.emit(result)
            case MoreRow():
                self.more_wanted.emit()

    @Slot(QModelIndex)
    def _clicked(self, index: QModelIndex) -> None:
        if isinstance(self.rows.row(index.row()), MoreRow):
            self.more_wanted.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        commanded = bool(event.modifiers() & _COMMANDS)
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
        elif key == Qt.Key.Key_E and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            self.edit_wanted.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_current()
        elif key == Qt.Key.Key_Escape or (key == Qt.Key.Key_Up and self.rows.step(self.currentIndex().row(), -1) < 0):
            self.left.emit()
        elif key in _WALKING:
            super().keyPressEvent(event)
        elif not commanded and (_is_text(event) or key == Qt.Key.Key_Backspace):
            self.typed.emit(event)
        else:
            event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number = self.indexAt(event.position().toPoint()).row()
        if number >= 0 and not self.rows.is_header(number):
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() == Qt.MouseButton.NoButton:  # dragging over rows would select each
            super().mouseMoveEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        result = self.current_result()
        rect = self.visualRect(self.currentIndex())
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        if result is not None and (by_key or rect.contains(event.pos())):
            at = QRect(rect).bottomLeft() + QPoint(24, 0) if by_key else event.pos()
            self.menu_wanted.emit(result, self.viewport().mapToGlobal(at))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self.currentIndex().isValid() and self.rows.rowCount():
            self._set_current(self.rows.first_place())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._above.place()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.painter.restyle()
            self.scheduleDelayedItemsLayout()
