"""The rows of a list: their model, and the base class of their delegates."""

from collections.abc import Hashable, Iterable, Sequence
from itertools import takewhile
from typing import Any, Protocol

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gui.style.theme import Tokens, tokens
from gui.text.plain_text import as_tip
from gui.text.right_to_left import mirror

Index = QModelIndex | QPersistentModelIndex
_MAX_CHANGED = 60
"""Maximum number of rows that are inserted, moved or removed one at a time."""
_EDGE = 3

_HEADING_FLAGS = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
_ROW_FLAGS = _HEADING_FLAGS | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsDragEnabled
_NOWHERE = QModelIndex()

RowRole = Qt.ItemDataRole.UserRole + 1
"""Data role of the row object, from which the delegate draws."""


# --- The model --------------------------------------------------------------------------------------------------------


class KeyedRow(Protocol):
    """Protocol of a row, a plain value; `key` identifies it when the rows are replaced."""

    @property
    def key(self) -> Hashable: ...


def _same_start(pairs: Iterable[tuple[Hashable, Hashable]]) -> int:
    """Return the number of leading pairs that are equal."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _changed_keys(before: Sequence[Hashable], after: Sequence[Hashable]) -> set[Hashable] | None:
    """Return the keys to insert, move or remove to turn one order into another; None if too many or not unique."""
    known, coming = set(before), set(after)
    if len(known) < len(before) or len(coming) < len(after):
        return None  # equal keys don't identify rows
    changed = known ^ coming
    at = 0
    remaining = [key for key in before if key in coming]
    for key in [key for key in after if key in known]:
        while at < len(remaining) and remaining[at] in changed:
            at += 1
        if key not in changed and remaining[at] != key:
            if remaining[at + 1 : at + 2] == [key]:
                changed.add(remaining[at])
                at += 1
            else:
                changed.add(key)
        at += key not in changed
        if len(changed) > _MAX_CHANGED:
            return None
    return changed if len(changed) <= _MAX_CHANGED else None


class RowModel(QAbstractListModel):
    """The Qt model of a flat list of rows."""

    def __init__(self, headings: type | tuple[type, ...] = (), parent: QObject | None = None) -> None:
        """`headings`: types of rows that can't be current."""
        super().__init__(parent)
        self._headings = headings
        self._rows: list[Any] = []
        self._positions: dict[Hashable, int] | None = None

    def set_rows(self, rows: Sequence[KeyedRow]) -> None:
        self.beginResetModel()
        self._rows = list(rows)
        self._positions = None
        self.endResetModel()

    def update_rows(self, rows: Sequence[KeyedRow]) -> bool:
        """Replace the contents of rows that keep their keys and their order; else returns False and changes nothing.

        Nothing is laid out again: rows with the same key have the same height.
        """
        if len(rows) != len(self._rows) or any(
            before.key != after.key for before, after in zip(self._rows, rows, strict=True)
        ):
            return False
        self._rows = list(rows)
        return True

    def change_rows(self, rows: Sequence[KeyedRow]) -> bool:
        """Insert, move and remove rows until they equal `rows`; returns False without a change if that needs many.

        Unlike `set_rows`, this preserves the current row, the selection and the position of a screen reader.
        """
        keys, after = [row.key for row in self._rows], [row.key for row in rows]
        same = _same_start(zip(keys, after, strict=False))
        last = -_same_start(zip(reversed(keys[same:]), reversed(after[same:]), strict=False)) or None
        before, coming = set(keys[same:last]), dict(zip(after[same:last], rows[same:last], strict=True))
        if (changed := _changed_keys(keys[same:last], after[same:last])) is None:
            return False
        for key in changed.difference(coming):
            at = keys.index(key, same)
            self.beginRemoveRows(_NOWHERE, at, at)
            del keys[at], self._rows[at]
            self.endRemoveRows()
        for place in [place for place, key in enumerate(after[same:last], same) if key in changed]:
            key, to = after[place], keys.index(after[place - 1], same) + 1 if place > same else same
            at = keys.index(key, same) if key in before else to
            if key not in before:
                self.beginInsertRows(_NOWHERE, to, to)
            elif not self.beginMoveRows(_NOWHERE, at, at, _NOWHERE, to):
                continue  # already in its position
            else:
                del keys[at], self._rows[at]
            keys.insert(to - (at < to), key)
            self._rows.insert(to - (at < to), coming[key])
            self.endMoveRows() if key in before else self.endInsertRows()
        self._rows, self._positions = list(rows), {key: position for position, key in enumerate(after)}
        return True

    def shows(self, rows: Sequence[KeyedRow]) -> bool:
        """Return whether the model has exactly these rows."""
        return self._rows == rows

    @property
    def all(self) -> Sequence[Any]:
        """All rows, in their order."""
        return self._rows

    def row(self, position: int) -> Any:
        """Return the row at a position; None if there is none."""
        return self._rows[position] if 0 <= position < len(self._rows) else None

    def position(self, key: Hashable) -> int:
        """Return the position of the row with this key; -1 if there is none."""
        if self._positions is None:  # only when a position must be kept: a long list has many keys
            self._positions = {row.key: position for position, row in enumerate(self._rows)}
        return self._positions.get(key, -1)

    def keys_before(self, position: int) -> frozenset[Hashable]:
        """Return the keys of all rows above a position."""
        return frozenset(row.key for row in self._rows[:position])

    def is_header(self, position: int) -> bool:
        return isinstance(self._rows[position], self._headings)

    def first_position(self) -> int:
        """Return the position of the first row that can be current (not a heading); -1 without any."""
        return self.step(0, 1, 0)

    def step(self, number: int, direction: int, start: int = 1) -> int:
        """Return the nearest position in a direction (1: down, -1: up) that is not a heading; -1 without any.

        The search begins at `number` or, if `start` is 1, next to it.
        """
        number += direction * start
        while 0 <= number < len(self._rows):
            if not self.is_header(number):
                return number
            number += direction
        return -1

    def nearest(self, number: int) -> int:
        """Return the selectable row nearest to `number`: this one, else the next, else the previous; -1 without any."""
        number = min(max(number, 0), len(self._rows) - 1)
        after = self.step(number, 1, 0)
        return after if after >= 0 else self.step(number, -1, 0)

    # --- text of a row ----------------------------------------------------------------------------------------------

    def spoken(self, row: Any) -> str:
        """Return the row as text, also for screen readers."""
        raise NotImplementedError

    def tip(self, row: Any) -> str:
        """Return the tooltip of a row as plain text; empty without one."""
        raise NotImplementedError

    # --- QAbstractListModel -----------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row(index.row())
        if row is None or role == RowRole:  # first, since a layout requests this role once per row
            return row
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return self.spoken(row)
            case Qt.ItemDataRole.ToolTipRole:
                return as_tip(self.tip(row), wrap=True) or None
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        row = self.row(index.row())
        if row is None:
            return Qt.ItemFlag.NoItemFlags
        return _HEADING_FLAGS if isinstance(row, self._headings) else _ROW_FLAGS


# --- Painting ---------------------------------------------------------------------------------------------------------


class RowDelegate(QStyledItemDelegate):
    """Base class of delegates that paint rows; everything except text is mirrored in a right-to-left window."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.restyle()

    def restyle(self) -> None:
        """Recompute fonts and heights after a change of the font; for subclasses that store them."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        mirror(painter, option.rect, option.direction)
        self.paint_row(painter, option, index, tokens(option.palette))
        painter.restore()

    def paint_row(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, colours: Tokens) -> None:
        """Paint a row; for subclasses."""
        raise NotImplementedError


def paint_row_background(painter: QPainter, option: QStyleOptionViewItem, colours: Tokens) -> None:
    """Paint the background of a row that is selected or under the mouse."""
    state = option.state
    rect = option.rect
    if state & QStyle.StateFlag.State_Selected:
        painter.fillRect(rect, colours.accent_ground)
        painter.fillRect(QRect(rect.left(), rect.top(), _EDGE, rect.height()), colours.accent)
        if state & QStyle.StateFlag.State_HasFocus:  # shows whether the list or the box has the focus
            painter.setPen(colours.accent)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5))
    elif state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(rect, colours.alternate)
