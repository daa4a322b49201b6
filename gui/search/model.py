"""The result rows as a Qt model: one flat list of file rows, result rows and at most one row for more."""

import html
import time
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gui.search.rows import FileRow, MoreRow, ResultRow, Row, RowKey
from gui.widgets.wording import ago, counted, exact

_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()

RowRole = Qt.ItemDataRole.UserRole + 1
"""The row itself, for the delegate: title, text and match ranges in one value."""


class ResultModel(QAbstractListModel):
    """Rows are replaced as a whole; whoever shows them keeps place by their keys."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Row] = []
        self._places: dict[RowKey, int] = {}

    def set_rows(self, rows: Sequence[Row]) -> None:
        self.beginResetModel()
        self._rows = list(rows)
        self._places = {row.key: place for place, row in enumerate(self._rows)}
        self.endResetModel()

    def shows(self, rows: Sequence[Row]) -> bool:
        """Whether these are the rows already."""
        return self._rows == rows

    def row(self, place: int) -> Row | None:
        return self._rows[place] if 0 <= place < len(self._rows) else None

    def place(self, key: RowKey) -> int:
        """Where the row with this key is now; -1 when it is gone."""
        return self._places.get(key, -1)

    def keys_in_order(self) -> list[RowKey]:
        """Of all rows, in order."""
        return [row.key for row in self._rows]

    def is_header(self, place: int) -> bool:
        return isinstance(self._rows[place], FileRow)

    def first_place(self) -> int:
        """The best result; -1 in an empty list."""
        return next((place for place, row in enumerate(self._rows) if isinstance(row, ResultRow)), -1)

    # --- QAbstractListModel -----------------------------------------------------------------------------------------

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def step(self, number: int, direction: int, start: int = 1) -> int:
        """The first row from `number` (or, with `start` 1, after it) that can be current; -1 when there is none."""
        number += direction * start
        while 0 <= number < self.rowCount():
            if not self.is_header(number):
                return number
            number += direction
        return -1

    def nearest_result(self, number: int) -> int:
        """The row that can be current at `number`, else after it, else before it; -1 when there is none."""
        number = min(max(number, 0), self.rowCount() - 1)
        after = self.step(number, 1, 0)
        return after if after >= 0 else self.step(number, -1, 0)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        row = self.row(index.row())
        if row is None:
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
        return flags if isinstance(row, FileRow) else flags | Qt.ItemFlag.ItemIsSelectable

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row(index.row()) if index.isValid() else None
        if row is None:
            return None
        match role:
            case _ if role == RowRole:
                return row
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return _spoken(row)
            case Qt.ItemDataRole.ToolTipRole:
                return f"<qt>{html.escape(_tip(row)).replace(chr(10), '<br>')}</qt>"
        return None


def _spoken(row: Row) -> str:
    match row:
        case FileRow():
            return f"{row.title}, {counted(row.results, 'result')}, {ago(row.modified, time.time())}"
        case ResultRow():
            about = (row.excerpt.text, f"{row.result.path}, lines {row.lines}", row.leg or row.heading)
            return ". ".join(part for part in about if part)
        case MoreRow():
            return more_text(row)


def _tip(row: Row) -> str:
    match row:
        case FileRow():
            return f"{row.path}\nChanged {exact(row.modified)}"
        case ResultRow():
            result = row.result
            words = result.score * result.text_share
            parts = f"words {words:.2f}, meaning {result.score - words:.2f}"
            return "\n".join(
                (f"{result.path}, lines {row.lines}", " › ".join(result.heading), f"Score {result.score:.2f}: {parts}")
            )
        case MoreRow():
            return "Search again for more results (Enter)"


def more_text(row: MoreRow) -> str:
    return f"{row.hidden:,}{'+' * row.at_least} more below the cut \N{EN DASH} show more"
