"""The list of chunks that the user has selected on the map."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from engine import IndexInsight, MapPlace, tr, tr_count
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.index.map import wording
from gui.style.stylesheet import font_at
from gui.style.theme import tokens
from gui.widgets.icons import IconButton
from gui.widgets.labels import elide, label
from gui.widgets.mirrored import mirror, write
from gui.widgets.plain_text import set_tip
from gui.widgets.row_list import AT_LEFT, paint_ground
from gui.widgets.row_model import Index

MOST = 500
"""Chunks that are listed; more are counted."""
_PAD_X, _PAD_Y = 10, 5


class _Rows(QStyledItemDelegate):
    """Heading above, citation below: a line each, for any height of letters."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, sum(_line_height(size) for size in (13, 12)) + 2 * _PAD_Y)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colours = tokens(option.palette)
        painter.save()
        mirror(painter, option.rect, option.direction)
        paint_ground(painter, option, colours)
        rect = option.rect.adjusted(_PAD_X, _PAD_Y, -_PAD_X, 0)
        heading, _, citation = index.data(Qt.ItemDataRole.DisplayRole).partition("\n")
        for size, text, cut, ink in (
            (13, heading, Qt.TextElideMode.ElideRight, colours.text),
            (12, citation, Qt.TextElideMode.ElideMiddle, colours.muted),
        ):
            painter.setFont(font_at(size))
            painter.setPen(ink)
            rect.setHeight(_line_height(size))
            write(painter, rect, AT_LEFT, elide(painter.fontMetrics(), text, cut, rect.width()))
            rect.translate(0, rect.height())
        painter.restore()


def _line_height(size: int) -> int:
    return round(QFontMetrics(font_at(size)).height() * 1.25)


class SelectionList(QFrame):
    """Hidden while nothing is selected.

    Signals: opened: a MapPlace to open. shown: the chunk id of the current row. closed: nothing is selected any more.
    """

    opened = Signal(object)
    shown = Signal(object)
    closed = Signal()

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._reading = JobSlot(self)
        self._chunks: tuple[int, ...] = ()
        self.places: tuple[MapPlace, ...] = ()
        self._count = label("", "strong")
        self._copy = QPushButton(tr("Copy citations"))
        set_tip(self._copy, tr("Put the paths and lines of these chunks on the clipboard"))
        self._copy.clicked.connect(self.copy_citations)
        self._open = QPushButton(tr("Open"))
        set_tip(self._open, tr("Read the chunk of the current row in its file"))
        self._open.clicked.connect(self._open_current)
        close = IconButton("close", tr("Close the list"))
        close.clicked.connect(self.closed)
        head = QHBoxLayout()
        head.setSpacing(6)
        head.addWidget(self._count, 1)
        head.addWidget(close)
        foot = QHBoxLayout()
        foot.setSpacing(6)
        foot.addWidget(self._open)
        foot.addWidget(self._copy)
        foot.addStretch(1)
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Chosen chunks"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setItemDelegate(_Rows(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.itemActivated.connect(self._open_current)
        self.list.currentRowChanged.connect(self._show_row)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(self.list, 1)
        column.addLayout(foot)
        self.hide()

    @property
    def busy(self) -> bool:
        return self._reading.busy

    @property
    def chunks(self) -> tuple[int, ...]:
        return self._chunks

    def show_chunks(self, insight: IndexInsight, chunks: Sequence[int]) -> None:
        """List these, of very many the first ones."""
        self._chunks = tuple(chunks)
        listed = self._chunks[:MOST]
        self._tell(len(listed))
        self.show()
        self._reading.put(
            self._jobs.read(lambda token: insight.map_places(listed, token), self._fill, self._count.setText)
        )

    def clear(self) -> None:
        self._reading.cancel()
        self._chunks, self.places = (), ()
        self.list.clear()
        self.hide()

    def _tell(self, listed: int) -> None:
        count = len(self._chunks)
        if listed == count:
            self._count.setText(tr_count("{count:,} chunk", "{count:,} chunks", count))
        else:
            self._count.setText(tr("{listed:,} of {count:,} chunks", listed=listed, count=count))

    def _fill(self, places: tuple[MapPlace, ...]) -> None:
        self._reading.done()
        before = self.list.currentRow()
        self.places = places
        blocked = self.list.blockSignals(True)
        self.list.clear()
        for place in places:
            item = QListWidgetItem(f"{wording.heading_of(place)}\n{place.citation}")
            set_tip(item, f"{wording.heading_of(place)}\n{wording.where(place)}")
            item.setData(Qt.ItemDataRole.AccessibleTextRole, wording.spoken(place))
            self.list.addItem(item)
        self.list.setCurrentRow(min(max(before, 0), len(places) - 1))
        self.list.blockSignals(blocked)
        for button in (self._open, self._copy):
            button.setEnabled(bool(places))

    @Slot()
    def copy_citations(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(place.citation for place in self.places))

    @Slot()
    def _open_current(self) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self.places):
            self.opened.emit(self.places[row])

    @Slot(int)
    def _show_row(self, row: int) -> None:
        if 0 <= row < len(self.places):
            self.shown.emit(self.places[row].chunk)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)
