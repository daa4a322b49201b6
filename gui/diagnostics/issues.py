"""Files that are not in the index, as a table that sorts by any column."""

from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from engine import FileIssue
from gui.style import font_at

_COLUMNS = ("File", "Rule", "Detail")
_Index = QModelIndex | QPersistentModelIndex


class IssuesModel(QAbstractTableModel):
    """One row a file: path, rule, detail."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._issues: tuple[FileIssue, ...] = ()

    def show_issues(self, issues: tuple[FileIssue, ...]) -> None:
        if issues == self._issues:
            return  # keeps the selection while the status refreshes
        self.beginResetModel()
        self._issues = issues
        self.endResetModel()

    def issue(self, row: int) -> FileIssue:
        return self._issues[row]

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._issues)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(_COLUMNS)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        issue = self._issues[index.row()]
        text = (issue.path, issue.rule, issue.detail)[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return text
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{issue.path}\n{issue.detail}"
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _COLUMNS[section]
        return None


class IssuesTable(QTableView):
    """The table; Enter or a double click asks to reveal the file.

    Signals:
        reveal_requested: path of the file, as in its record.
        chosen: the whole sentence of the current row, "" for none.
    """

    reveal_requested = Signal(str)
    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._issues = IssuesModel(self)
        self._sorted = QSortFilterProxyModel(self)
        self._sorted.setSourceModel(self._issues)
        self._sorted.setSortCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setModel(self._sorted)
        self.setSortingEnabled(True)
        self.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(QFontMetrics(font_at(13)).height() + 10)
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for column, letters in enumerate((24, 15, 40)):
            header.resizeSection(column, QFontMetrics(font_at(13)).averageCharWidth() * letters)
        header.setStretchLastSection(True)
        self.doubleClicked.connect(self._reveal)

    def show_issues(self, issues: tuple[FileIssue, ...]) -> None:
        self._issues.show_issues(issues)
        if issues and not self.currentIndex().isValid():
            self.selectRow(0)

    def currentChanged(self, current: QModelIndex, previous: QModelIndex) -> None:
        super().currentChanged(current, previous)
        issue = self._issue_at(current)
        self.chosen.emit(f"{issue.path}: {issue.detail}" if issue else "")

    def _issue_at(self, index: QModelIndex) -> FileIssue | None:
        return self._issues.issue(self._sorted.mapToSource(index).row()) if index.isValid() else None

    @Slot(QModelIndex)
    def _reveal(self, index: QModelIndex) -> None:
        issue = self._issue_at(index)
        if issue is not None:
            self.reveal_requested.emit(issue.path)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._reveal(self.currentIndex())
        else:
            super().keyPressEvent(event)
