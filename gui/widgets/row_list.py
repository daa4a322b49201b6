"""A list of rows under headings. It keeps its position when the rows are replaced, and skips headings."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QRect,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import QAction, QContextMenuEvent, QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QMenu

from engine import tr
from gui.commands.commands import allow, key_action
from gui.commands.keymap import Command
from gui.style.typography import FontSized
from gui.widgets.rows import Index, KeyedRow, RowDelegate, RowModel

_Action = QAbstractItemView.CursorAction
_MINUTE_MS = 60_000
_BATCH = 100
"""Rows laid out per step, under 1 ms; the rest follows while the event loop is idle."""
_WALKING = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End}
_COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier

GUTTER = 16
Allow = Callable[[bool, str], None]
"""Enables an action, or disables it with a reason."""


def _is_text(event: QKeyEvent) -> bool:
    return bool(event.text()) and event.text().isprintable()


@dataclass(frozen=True)
class ListPosition:
    """The current row and the scroll position, stored by the keys of rows instead of their numbers."""

    current: Hashable
    number: int
    anchors: tuple[tuple[Hashable, int], ...]
    """Rows and their tops in the viewport; the first of them that still exists gets the same top again."""
    above: frozenset[Hashable]
    """Rows above the visible ones."""

    def renamed(self, key: Hashable) -> "ListPosition":
        """Return the position with another key of the current row."""
        anchors = tuple((key if anchor == self.current else anchor, top) for anchor, top in self.anchors)
        return replace(self, current=key, anchors=anchors)


class _RowMenu(QMenu):
    """A menu of the current row. It closes when another row becomes current, on which its actions would be run."""

    def __init__(self, rows: "RowList") -> None:
        super().__init__(rows)
        self._rows, self._key = rows, rows.current_key
        self.aboutToHide.connect(self.deleteLater)
        self.setToolTipsVisible(True)
        rows.current_changed.connect(self._follow)

    @Slot()
    def _follow(self) -> None:
        if self._rows.current_key != self._key:
            self.close()


class RowList(FontSized, QListView):
    """A list view of a `RowModel`; headings can't be current.

    A subclass sets the delegate, changes its rows within `_rearranging`, and defines what opening a row does.
    """

    current_changed = Signal(object)
    """What `current` is now."""
    opened = Signal(object)
    """Open `current`, after Enter or a double click."""
    left = Signal()
    """Up on the first row, or Escape: return to the previous focus."""
    typed = Signal(object)
    """QKeyEvent that belongs to the box above."""
    menu_requested = Signal(QPoint)
    """Open the menu of the current row at a screen position."""
    drag_requested = Signal()
    """The selected rows are being dragged away; `button_down` stays true as long as the button is down."""

    def __init__(self, rows: RowModel, name: str) -> None:
        super().__init__()
        self.rows = rows
        self._arranging = False
        self._held = False
        """Whether the user chose or is reading the current row, so that it stays current when rows come above it."""
        self._current_actions: dict[str, tuple[QAction, Allow]] = {}
        """The actions on the current row by the names of their commands, and functions that allow them."""
        self.button_down = self._drag_reported = False
        rows.setParent(self)
        self.setModel(rows)
        rows.modelReset.connect(self._allow_actions)
        self.selectionModel().currentChanged.connect(self._allow_actions)
        self.selectionModel().currentChanged.connect(self._moved)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setMouseTracking(True)
        self.setDragEnabled(True)
        self.setAccessibleName(name)
        minute = QTimer(self, interval=_MINUTE_MS)  # relative times such as "14 min ago" must be updated
        minute.timeout.connect(self.viewport().update)
        minute.start()

    @property
    def current(self) -> Any:
        """What the current row shows; None without such a row."""
        raise NotImplementedError

    @property
    def current_key(self) -> Hashable:
        """The key of the current row; None without one."""
        row = self.rows.row(self.currentIndex().row())
        return None if row is None else row.key

    def take_focus(self) -> None:
        """Focus the list if it has rows; if no row is current, the first one becomes current."""
        if self.rows.rowCount():
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def open_current(self) -> None:
        self._activate(self.currentIndex())

    @property
    def position(self) -> ListPosition | None:
        """The user's position in the list; None in an empty list."""
        return self._remember() if self.rows.rowCount() else None

    def return_to(self, position: ListPosition) -> None:
        """Restore a position, as if the user had gone there."""
        if self.rows.rowCount():
            self._return_to(position)

    def pin_current(self) -> None:
        """Keep the current row when new rows come, as if the user had chosen it."""
        self._held = True

    @property
    def _moved_away(self) -> bool:
        """Whether the user has chosen a row or scrolled, so that new rows must not change the position."""
        return self.rows.rowCount() > 0 and (self._held or self.verticalScrollBar().value() > 0)

    def _activate(self, index: Index) -> None:
        """Open a row, after Enter or a double click."""
        if self.current is not None:
            self._held = True
            self.opened.emit(self.current)

    def measure(self) -> None:
        self._restyle()
        self.scheduleDelayedItemsLayout()

    def _restyle(self) -> None:
        """Recompute row heights after a change of the font."""
        delegate = self.itemDelegate()
        if isinstance(delegate, RowDelegate):
            delegate.restyle()

    # --- actions on the current row ---------------------------------------------------------------------------------

    def add_action(
        self,
        known: Command,
        run: Callable[[Any], object] | None = None,
        gate: Callable[[QAction], Allow] | None = None,
    ) -> QAction:
        """Return a new action with the keys of a command, which is disabled while nothing is selected.

        `run`: called with `current`. `gate`: returns a function that allows the action, in place of `allow`.
        """
        action = key_action(self, known)
        if run is not None:
            action.triggered.connect(partial(self._with_current, run))
        self._current_actions[known.name] = action, partial(allow, action) if gate is None else gate(action)
        self._allow_actions()
        return action

    def open_menu(self, at: QPoint, *entries: Command | QAction | None) -> None:
        """Open a menu of actions: those of the list by their commands, and others; None separates them.

        The row stays current when others come above it; the menu closes if it is removed.
        """
        self.pin_current()
        menu = _RowMenu(self)
        for entry in entries:
            if entry is None:
                menu.addSeparator()
            elif isinstance(entry, QAction):
                entry.setParent(menu)
                menu.addAction(entry)
            else:
                menu.addAction(self._current_actions[entry.name][0])
        menu.popup(at)

    def _with_current(self, run: Callable[[Any], object], _checked: bool = False) -> None:
        if self.current is not None:
            run(self.current)

    def _has_current(self) -> bool:
        """Return whether the actions can be applied to the current row."""
        return self.currentIndex().isValid()

    @Slot()
    def _allow_actions(self) -> None:
        if self._arranging:
            return  # the rows have no current one until they are all there
        allowed = self._has_current()
        for _, allowing in self._current_actions.values():
            allowing(allowed, tr("Select something in the list first."))

    # --- keeping the position ---------------------------------------------------------------------------------------

    @contextmanager
    def _rearranging(self) -> Iterator[None]:
        """Change the rows and the current one within this context, where this isn't taken for the user's choice."""
        self._arranging = True
        try:
            yield
        finally:
            self._arranging = False
            self._allow_actions()

    def _lay_out_in_batches(self) -> None:
        """Lay out the first rows of a long list immediately, and the others in later turns of the event loop."""
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setBatchSize(_BATCH)

    def _set_rows(self, rows: Sequence[KeyedRow], deepest: int = 0, *, keep: bool = False) -> None:
        """Replace all rows, or with `keep` only changed ones, and lay out the rows up to `deepest`."""
        self.setBatchSize(deepest + _BATCH)
        if not (keep and self.rows.change_rows(rows)):
            self.rows.set_rows(rows)
        self.doItemsLayout()
        self.setBatchSize(_BATCH)

    def _lay_out_to(self, number: int) -> None:
        """Lay out all rows up to row `number`: in batches, later rows have no position yet."""
        batched = self.layoutMode() == QListView.LayoutMode.Batched and self.rows.row(number) is not None
        if batched and not self.visualRect(self.rows.index(number)).isValid():
            self.setLayoutMode(QListView.LayoutMode.SinglePass)
            self.doItemsLayout()
            self.setLayoutMode(QListView.LayoutMode.Batched)

    def _deepest(self) -> int:
        """Return the last row that is current or in view."""
        return max((self.currentIndex().row(), *self._visible_positions()))

    def _remember(self, unsteady: type | tuple[type, ...] = ()) -> ListPosition:
        """Return the scroll position and the current row, to be restored after the rows have changed.

        `unsteady`: types of rows that are often replaced, so that the position is not measured from them.
        """
        current = self.rows.row(self.currentIndex().row())
        visible = self._visible_positions()
        above = self.rows.keys_before(next(iter(visible), 0))
        if current is not None and self.currentIndex().row() in visible:
            visible = [self.currentIndex().row(), *visible]
        anchors = []
        for number in visible:
            row = self.rows.row(number)
            if row is not None and not isinstance(row, unsteady):
                anchors.append((row.key, self.visualRect(self.rows.index(number)).top()))
        key = None if current is None or isinstance(current, unsteady) else current.key
        return ListPosition(key, self.currentIndex().row(), tuple(anchors), above)

    def _visible_positions(self) -> list[int]:
        first = self.indexAt(QPoint(1, 1)).row()
        last = self.indexAt(QPoint(1, self.viewport().height() - 1)).row()
        return list(range(max(first, 0), (last if last >= 0 else self.rows.rowCount() - 1) + 1))

    def _first_visible(self) -> int:
        return next(iter(self._visible_positions()), 0)

    def _return_to(self, position: ListPosition, shift: int = 0) -> None:
        """Restore the current row and its position in the viewport, moved up by `shift` pixels."""
        number = self.rows.position(position.current)
        self._set_current(number if number >= 0 else self.rows.nearest(position.number))
        for key, top in position.anchors:
            now = self.rows.position(key)
            if now >= 0:
                self._lay_out_to(now)  # other rows may have come before it
                bar = self.verticalScrollBar()
                bar.setValue(bar.value() + self.visualRect(self.rows.index(now)).top() - (top - shift))
                break

    def _set_current(self, number: int) -> None:
        index = self.rows.index(number)
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    # --- navigation -------------------------------------------------------------------------------------------------

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
        """Return the row one viewport below or above `current`, at least one row away."""
        rect = self.visualRect(self.rows.index(current))
        target_top = rect.top() + direction * (self.viewport().height() - rect.height())
        target = self.rows.step(current, direction)
        following = target
        while following >= 0:
            top = self.visualRect(self.rows.index(following)).top()
            if (top - target_top) * direction > 0:
                break
            target, following = following, self.rows.step(following, direction)
        return target

    def scrollTo(
        self, index: Index, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        if self._arranging:
            return
        self._lay_out_to(index.row())
        super().scrollTo(index, hint)
        above = index.row() - 1
        if above >= 0 and self.rows.is_header(above):  # a first row is not shown without its heading
            top = self.visualRect(self.rows.index(above)).top()
            if top < 0:
                self.verticalScrollBar().setValue(self.verticalScrollBar().value() + top)

    # --- events -----------------------------------------------------------------------------------------------------

    @Slot()
    def _moved(self) -> None:
        if not self._arranging and self.currentIndex().isValid():
            self._held = True
            self.current_changed.emit(self.current)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        commanded = bool(event.modifiers() & _COMMANDS)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
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
            self.button_down, self._drag_reported = event.button() == Qt.MouseButton.LeftButton, False
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        # Dragging from outside of the rows, or during a drag, would select every row passed.
        if event.buttons() == Qt.MouseButton.NoButton or (self.button_down and not self._drag_reported):
            super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.button_down = False
        super().mouseReleaseEvent(event)

    def startDrag(self, supportedActions: Qt.DropAction) -> None:
        """Emit `drag_requested` instead of starting Qt's drag, since the dragged data may have to be loaded first."""
        self._drag_reported = True
        self.drag_requested.emit()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        rect = self.visualRect(self.currentIndex())
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        if self.currentIndex().isValid() and (by_key or rect.contains(event.pos())):
            at = QRect(rect).bottomLeft() + QPoint(24, 0) if by_key else event.pos()
            self.menu_requested.emit(self.viewport().mapToGlobal(at))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self.currentIndex().isValid() and self.rows.rowCount():
            self._set_current(self.rows.first_position())
