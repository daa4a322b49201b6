"""A sortable table of text and numbers, in the look of the program."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QSortFilterProxyModel,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPolygonF
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from engine import FileIssue, tr, tr_reason
from gui.style.stylesheet import font_at, scaled
from gui.style.theme import tokens
from gui.style.typography import FontSized, Resized
from gui.text.plain_text import as_tip
from gui.text.right_to_left import in_reading_order
from gui.text.status_texts import rule_text
from gui.widgets.labels import breakable, label

Index = QModelIndex | QPersistentModelIndex
Record = TypeVar("Record")
_SORT_ROLE = Qt.ItemDataRole.UserRole
_ROOT = QModelIndex()
_ARROW = 8
_TOP = 1
_TITLE_PAD, _ARROW_GAP = 6, 5


class SortHeader(QHeaderView):
    """A table header whose sort arrow scales with the text; an arrow up means ascending."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setSectionsClickable(True)

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        painter.save()
        super().paintSection(painter, rect, logicalIndex)
        painter.restore()
        if not self.isSortIndicatorShown() or logicalIndex != self.sortIndicatorSection():
            return
        width = scaled(_ARROW)
        middle, top = self._arrow_position(rect, logicalIndex, width)
        tip, base = top, top + width / 2
        if self.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder:
            tip, base = base, tip
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(tokens(self.palette()).muted)
        painter.drawPolygon(
            QPolygonF([QPointF(middle, tip), QPointF(middle - width / 2, base), QPointF(middle + width / 2, base)])
        )
        painter.restore()

    def _arrow_position(self, rect: QRect, section: int, width: int) -> tuple[float, float]:
        """Return the middle and the top of the arrow: next to the title, or above it in a narrow section."""
        title = str(self.model().headerData(section, Qt.Orientation.Horizontal) or "")
        side = _TITLE_PAD + QFontMetrics(font_at(12)).horizontalAdvance(title) + _ARROW_GAP + width / 2
        if side + width / 2 > rect.width():
            return rect.center().x() + 0.5, float(rect.top() + _TOP)
        aligned = self.model().headerData(section, Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole)
        at_right = bool(Qt.AlignmentFlag(aligned or self.defaultAlignment()) & Qt.AlignmentFlag.AlignRight)
        if at_right != (self.layoutDirection() == Qt.LayoutDirection.RightToLeft):
            side = rect.width() - side
        return rect.left() + side, rect.center().y() + 0.5 - width / 4


@dataclass(frozen=True)
class Column(Generic[Record]):
    """A table column. `value` returns the sort key of a record; `figures` aligns right."""

    title: str
    characters: int
    """Initial width, in average characters; the one column with 0 takes the rest."""
    value: Callable[[Record], str | int | float]
    text: Callable[[Record], str] | None = None
    figures: bool = False


class RecordsModel(QAbstractTableModel, Generic[Record]):
    """The Qt model of a table with one record per row."""

    def __init__(self, columns: Sequence[Column[Record]], tip: Callable[[Record], str], parent: QObject) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self._tip = tip
        self._records: tuple[Record, ...] = ()

    def show_records(self, records: tuple[Record, ...]) -> None:
        if records == self._records:
            return  # preserves the selection if the records are unchanged
        self.beginResetModel()
        self._records = records
        self.endResetModel()

    def record(self, row: int) -> Record:
        return self._records[row]

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._records)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        record, column = self._records[index.row()], self.columns[index.column()]
        value = column.value(record)
        if role == Qt.ItemDataRole.DisplayRole:
            return in_reading_order(column.text(record) if column.text else str(value))
        if role == _SORT_ROLE:
            return value
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_tip(self._tip(record))
        if role == Qt.ItemDataRole.TextAlignmentRole and column.figures:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.TextAlignmentRole and column.figures:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None


class RecordsTable(FontSized, QTableView, Generic[Record]):
    """A table of records. Whole rows are selected, a click on a header sorts, Tab leaves the table."""

    opened = Signal(object)
    """The record on which Enter was pressed or which was double-clicked."""
    chosen = Signal(object)
    """The record of the current row; None without one."""

    def __init__(self, columns: Sequence[Column[Record]], tip: Callable[[Record], str]) -> None:
        super().__init__()
        self.doubleClicked.connect(self._open)
        self._records = RecordsModel(columns, tip, self)
        self._sorted = QSortFilterProxyModel(self)
        self._sorted.setSourceModel(self._records)
        self._sorted.setSortRole(_SORT_ROLE)
        self._sorted.setSortCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setHorizontalHeader(SortHeader(self))
        self.setModel(self._sorted)
        self.setSortingEnabled(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setTabKeyNavigation(False)
        metrics = QFontMetrics(font_at(13))
        self.verticalHeader().hide()
        self.measure()
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        header.ensurePolished()  # a title in another language may be longer than the cells below it
        header.setAccessibleName(tr("Titles of the table's columns"))
        for number, column in enumerate(columns):
            if column.characters:
                preferred = metrics.averageCharWidth() * column.characters
                header.resizeSection(number, max(preferred, header.sectionSizeHint(number)))
            else:
                header.setSectionResizeMode(number, QHeaderView.ResizeMode.Stretch)

    def show_records(self, records: tuple[Record, ...]) -> None:
        """Replace the records; the first one becomes current, unless the same records are shown already."""
        self._records.show_records(records)
        if records and not self.currentIndex().isValid():
            self.selectRow(0)

    def selectRow(self, row: int) -> None:
        """Select a row. Unlike Qt's own method, it works in right-to-left layouts before the table is laid out."""
        self.setCurrentIndex(self._sorted.index(row, 0))

    def measure(self) -> None:
        self.verticalHeader().setDefaultSectionSize(QFontMetrics(font_at(13)).height() + 10)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(self.currentIndex())
        else:
            super().keyPressEvent(event)

    @Slot(QModelIndex)
    def _open(self, index: Index) -> None:
        if index.isValid():
            self.opened.emit(self._record_at(index))

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        self.chosen.emit(self._record_at(current))

    @property
    def current(self) -> Record | None:
        return self._record_at(self.currentIndex())

    @property
    def records(self) -> list[Record]:
        """The records in the order of the rows."""
        rows = (self._sorted.index(row, 0) for row in range(self._sorted.rowCount()))
        return [self._records.record(self._sorted.mapToSource(row).row()) for row in rows]

    def _record_at(self, index: Index) -> Record | None:
        return self._records.record(self._sorted.mapToSource(index).row()) if index.isValid() else None


# --- Files that failed or were skipped, each with the rule and details -----------------------------------------------


_DETAIL = 2
"""Number of the column with the detail."""
_MIN_DETAIL = 16
"""Minimum number of characters of the detail column."""


def _columns() -> tuple[Column[FileIssue], ...]:
    return (
        Column[FileIssue](tr("File"), 24, _path),
        Column[FileIssue](tr("Rule"), 22, lambda issue: rule_text(issue.rule)),
        Column[FileIssue](tr("Detail"), 0, _detail),
    )


def _path(issue: FileIssue) -> str:
    """Return the path of a skipped file or, for files that are only counted, their common property."""
    return tr(issue.path) if issue.path.startswith("(") else issue.path


def _detail(issue: FileIssue) -> str:
    return tr_reason(issue.detail)


class IssuesTable(Resized, RecordsTable[FileIssue]):
    """A table of failed or skipped files; Enter or a double click reveals the file.

    Signals:
        reveal_requested: path of the file, as in its record.
    """

    reveal_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__(_columns(), lambda issue: f"{_path(issue)}\n{_detail(issue)}")
        self.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self.detail = label("", "meta", wrap=True)
        """Shows the whole sentence of the current row, below the table."""
        self.chosen.connect(
            lambda issue: self.detail.setText(breakable(f"{_path(issue)}: {_detail(issue)}") if issue else "")
        )
        self.opened.connect(lambda issue: self.reveal_requested.emit(issue.path))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._fixed_width = sum(self.horizontalHeader().sectionSize(number) for number in range(_DETAIL))

    def fit(self) -> None:
        """Give the detail column the remaining width; if that is too little, hide it, and the file gets its width."""
        left = self.viewport().width() - self._fixed_width
        hidden = left < QFontMetrics(font_at(13)).averageCharWidth() * _MIN_DETAIL
        mode = QHeaderView.ResizeMode
        self.setColumnHidden(_DETAIL, hidden)
        self.horizontalHeader().setSectionResizeMode(0, mode.Stretch if hidden else mode.Interactive)
