"""A card with a chart, and the table behind it."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, Qt, Slot
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from engine import tr
from gui.commands.commands import COPY_TABLE, key_action, show_key_in_tooltip, show_keys_of
from gui.commands.keymap import command
from gui.style.stylesheet import font_at
from gui.widgets.charts.chart import Chart, Mark, Series, tab_separated
from gui.widgets.labels import ElidedLabel, label
from gui.widgets.table import Column, RecordsTable

_TURN = command("index.turn", "Chart or table", "index", "T")
_ROWS = 4
_PAD = 10


@dataclass(frozen=True)
class TableColumn:
    title: str
    """Title, translated when shown."""
    letters: int
    """Width of the table's columns, see `Column`."""
    figures: bool = False


class ChartCard(QFrame):
    """A chart or its table: T, the button or the menu switch between them; Ctrl+C always copies the table."""

    def __init__(
        self,
        title: str,
        chart: Chart,
        columns: Sequence[TableColumn],
        empty: str,
        *,
        newest_first: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        """`empty`: message instead of a chart without marks. `newest_first`: the order of the table's rows."""
        super().__init__(parent)
        self.setProperty("role", "card")
        self.chart = chart
        self._title = title
        self._columns = tuple(columns)
        self._turned = False
        self._meta = ElidedLabel()
        self._meta.setProperty("role", "meta")
        self._turn = QPushButton()
        self._turn.setProperty("role", "link")
        show_key_in_tooltip(self._turn, _TURN.words, _TURN.name)
        self._turn.clicked.connect(self.turn)
        self.empty = label(empty, "meta", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.table = RecordsTable([self._column(*one) for one in enumerate(self._columns)], lambda mark: mark.detail)
        self.table.setAccessibleName(tr("{title}, as a table", title=title))
        order = Qt.SortOrder
        self.table.sortByColumn(0, order.DescendingOrder if newest_first else order.AscendingOrder)
        self.table.doubleClicked.connect(lambda index: self._open(self.table.record_at(index)))
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(label(title, "strong"))
        head.addWidget(self._meta, 1)
        head.addWidget(self._turn)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 8, 14, 12)
        column.setSpacing(8)
        column.addLayout(head)
        for side in (self.empty, chart, self.table):
            column.addWidget(side)
        self.setAccessibleName(title)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)
        key_action(self, _TURN).triggered.connect(self.turn)
        key_action(self, COPY_TABLE).triggered.connect(self.copy)
        self._measure()
        self._show_side()

    def show_series(self, series: Series, meta: str = "") -> None:
        """`meta`: text next to the title."""
        self._meta.setText(meta)
        if series != self.chart.series:
            self.chart.show_series(series)
            self._show_side()

    @Slot()
    def turn(self) -> None:
        """Show the table in place of the chart, or the chart again."""
        had_focus = self.chart.hasFocus() or self.table.hasFocus()
        if had_focus:
            self._turn.setFocus()  # otherwise Qt would move the focus of the hidden widget to the next card
        self._turned = not self._turned
        self._show_side()
        if had_focus:
            (self.table if self._turned else self.chart).setFocus()

    @Slot()
    def copy(self) -> None:
        """Copy the table as text for a spreadsheet."""
        text = tab_separated([tr(column.title) for column in self._columns], self.chart.series)
        QGuiApplication.clipboard().setText(text)

    def _show_side(self) -> None:
        some = bool(self.chart.series.marks)
        if self._turned:  # sorting takes longer than drawing: done only when visible
            self.table.show_records(self.chart.series.marks)
        for side, shown in ((self.empty, not some), (self.chart, some and not self._turned)):
            side.setVisible(shown)
        self.table.setVisible(some and self._turned)
        self._turn.setText(tr("Chart") if self._turned else tr("Table"))
        said = tr("{title}: show as chart", title=self._title)
        if not self._turned:
            said = tr("{title}: show as table", title=self._title)
        self._turn.setAccessibleName(said)
        self._turn.setVisible(some)
        self.setAccessibleDescription(self.chart.series.gist)

    @staticmethod
    def _column(number: int, column: TableColumn) -> Column[Mark]:
        return Column[Mark](
            tr(column.title),
            column.letters,
            lambda mark: mark.row[number][1],
            lambda mark: mark.row[number][0],
            figures=column.figures,
        )

    def _open(self, mark: Mark | None) -> None:
        if mark is not None:
            self.chart.opened.emit(mark)

    @Slot(QPoint)
    def _show_menu(self, at: QPoint) -> None:
        menu = QMenu(self)
        turn = menu.addAction(tr("Show as chart") if self._turned else tr("Show as table"), self.turn)
        show_keys_of(turn, _TURN.name)
        show_keys_of(menu.addAction(COPY_TABLE.words, self.copy), COPY_TABLE.name)
        menu.setEnabled(bool(self.chart.series.marks))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.mapToGlobal(at))

    def _measure(self) -> None:
        row = QFontMetrics(font_at(13)).height() + _PAD
        self.table.setFixedHeight(max(self.chart.sizeHint().height(), (_ROWS + 1) * row))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "_table"):
            self._measure()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._turned and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(self.table.record_at(self.table.currentIndex()))
        else:
            super().keyPressEvent(event)
