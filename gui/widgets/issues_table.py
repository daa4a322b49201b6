"""Files that are not, or would not be, in the index: which, by which rule, and the details."""

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from engine import FileIssue, tr, tr_reason
from gui.widgets.skip_rules import rule_words
from gui.widgets.table import Column, Index, RecordsTable


def _columns() -> tuple[Column[FileIssue], ...]:
    return (
        Column[FileIssue](tr("File"), 24, _path),
        Column[FileIssue](tr("Rule"), 15, lambda issue: rule_words(issue.rule)),
        Column[FileIssue](tr("Detail"), 60, _detail),
    )


def _path(issue: FileIssue) -> str:
    """Of files that are only counted, what they have in common."""
    return tr(issue.path) if issue.path.startswith("(") else issue.path


def _detail(issue: FileIssue) -> str:
    return tr_reason(issue.detail)


class IssuesTable(RecordsTable[FileIssue]):
    """Enter or a double click reveals the file.

    Signals: reveal_requested: path of the file, as in its record. chosen: the whole sentence of the current row, "" for
    none.
    """

    reveal_requested = Signal(str)
    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_columns(), lambda issue: f"{_path(issue)}\n{_detail(issue)}", parent)
        self.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self.doubleClicked.connect(self._reveal)

    @Slot(QModelIndex)
    def _reveal(self, index: Index) -> None:
        issue = self.record_at(index)
        if issue is not None:
            self.reveal_requested.emit(issue.path)

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        issue = self.record_at(current)
        self.chosen.emit(f"{_path(issue)}: {_detail(issue)}" if issue else "")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._reveal(self.currentIndex())
        else:
            super().keyPressEvent(event)
