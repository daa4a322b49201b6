"""Rows that are replaced as a whole, some of them headings over the others, as a Qt model."""

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gui.widgets.plain_text import as_tip

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()

RowRole = Qt.ItemDataRole.UserRole + 1
"""The row itself, for the delegate: everything that it draws in one value."""


class KeyedRow(Protocol):
    """A row is a value; `key` identifies it, whatever it displays."""

    @property
    def key(self) -> Hashable: ...


class RowModel(QAbstractListModel):
    """One flat list; views keep their position by the rows' keys."""

    def __init__(self, headings: type | tuple[type, ...] = (), parent: QObject | None = None) -> None:
        """`headings`: kinds that can not be current."""
        super().__init__(parent)
        self._headings = headings
        self._rows: list[Any] = []
        self._places: dict[Hashable, int] | None = None

    def set_rows(self, rows: Sequence[KeyedRow]) -> None:
        self.beginResetModel()
        self._rows = list(rows)
        self._places = None
        self.endResetModel()

    def shows(self, rows: Sequence[KeyedRow]) -> bool:
        """Whether these are the rows already."""
        return self._rows == rows

    def row(self, place: int) -> Any:
        """None if there is none."""
        return self._rows[place] if 0 <= place < len(self._rows) else None

    def place(self, key: Hashable) -> int:
        """Current position of the row with this key; -1 if it was removed."""
        if self._places is None:  # only when a position must be kept: a long list has many keys
            self._places = {row.key: place for place, row in enumerate(self._rows)}
        return self._places.get(key, -1)

    def keys_before(self, place: int) -> frozenset[Hashable]:
        """Of all rows above this place."""
        return frozenset(row.key for row in self._rows[:place])

    def is_header(self, place: int) -> bool:
        return isinstance(self._rows[place], self._headings)

    def first_place(self) -> int:
        """The first row that can be current; -1 in an empty list."""
        return self.step(0, 1, 0)

    def step(self, number: int, direction: int, start: int = 1) -> int:
        """The first row from `number` (or, with `start` 1, after it) that can be current; -1 when there is none."""
        number += direction * start
        while 0 <= number < len(self._rows):
            if not self.is_header(number):
                return number
            number += direction
        return -1

    def nearest(self, number: int) -> int:
        """The row that can be current at `number`, else after it, else before it; -1 when there is none."""
        number = min(max(number, 0), len(self._rows) - 1)
        after = self.step(number, 1, 0)
        return after if after >= 0 else self.step(number, -1, 0)

    # --- text of a row ----------------------------------------------------------------------------------------------

    def told(self, row: Any) -> str:
        """All of it in words, also for screen readers."""
        raise NotImplementedError

    def tip(self, row: Any) -> str:
        """Tooltip; empty if there is none. Plain text."""
        raise NotImplementedError

    # --- QAbstractListModel -----------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row(index.row())
        if row is None:
            return None
        match role:
            case _ if role == RowRole:
                return row
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return self.told(row)
            case Qt.ItemDataRole.ToolTipRole:
                return as_tip(self.tip(row), wrap=True) or None
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        row = self.row(index.row())
        if row is None:
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
        if isinstance(row, self._headings):
            return flags
        return flags | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsDragEnabled
