"""The result rows as a Qt model: one flat list of file rows, result rows and at most one row for more."""

import html
import time
from typing import Any

from PySide6.QtCore import QObject, Qt

from gui.search.rows import FileRow, MoreRow, ResultRow, Row
from gui.widgets.row_model import Index, RowModel, RowRole
from gui.widgets.wording import ago, counted, exact


class ResultModel(RowModel):
    """What the result rows say."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(FileRow, parent)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
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
