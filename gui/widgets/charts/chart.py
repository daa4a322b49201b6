"""The base class of all charts, and a card that shows a chart or the table of its values.

A chart shows a `Series` of marks, which are also the rows of its table. The mark selected by mouse or keyboard is
described below the chart and announced.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QBrush,
    QColor,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QVBoxLayout, QWidget

from engine import number, tr
from gui.commands.commands import COPY_TABLE, TOGGLE_TABLE, key_action, show_key_in_tooltip
from gui.style.stylesheet import font_at, font_scale
from gui.style.theme import Tokens, tokens
from gui.style.typography import FontSized
from gui.text.plain_text import PositionTip
from gui.text.right_to_left import mirrored_painter, mirrored_x, write
from gui.widgets.accessibility import LastInTabOrder, Part
from gui.widgets.buttons import push_button
from gui.widgets.labels import ElidedLabel, elide, label
from gui.widgets.layouts import column_of, row_of
from gui.widgets.table import Column, RecordsTable

_FOOT = 12
_GAP = 6
_WIDTH = 160
_SWATCH, _APART, _MIN_APART = 8, 14, 4
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}

PATTERNS = (Qt.BrushStyle.SolidPattern, Qt.BrushStyle.HorPattern)
"""Patterns of the parts, so that they differ by more than their colours; unfilled ones have an edge."""

Cell = tuple[str, str | int | float]
"""A table cell: its text and its sort key."""


def part_colours(colours: Tokens) -> tuple[QColor, ...]:
    """Return the colours of a mark's parts, from the lowest up."""
    return colours.accent, colours.meaning


@dataclass(frozen=True)
class Mark:
    """One bar, piece or point of a chart."""

    parts: tuple[float, ...]
    """Heights of its parts from the lowest up; for a piece, its share."""
    caption: str
    """Short name."""
    row: tuple[Cell, ...]
    failed: bool = False
    """Whether it is drawn as failed, also without colours."""
    detail: str = ""
    """Long description for the tooltip."""

    @property
    def key(self) -> str:
        """A value that identifies the mark across updates."""
        return self.row[0][0]

    @property
    def height(self) -> float:
        return sum(self.parts)


@dataclass(frozen=True)
class Series:
    marks: tuple[Mark, ...] = ()
    summary: str = ""
    """A summary in a sentence, for screen readers."""
    ends: tuple[str, str] = ("", "")
    """Labels below the first and the last mark."""
    idle_label: str = ""
    """Label shown instead of `ends` while no mark is selected."""
    legend: tuple[str, ...] = ()
    """Names of a mark's parts, if there are several."""


class Chart(QWidget):
    """Base class of charts. A subclass paints the marks into `plot()` and finds the mark at a point.

    Signals:
        opened: Mark, by Enter or a double click.
    """

    opened = Signal(object)
    spoken_role = QAccessible.Role.Chart

    def __init__(self, title: str, plot_height: int) -> None:
        """`plot_height`: height of the area for the marks, in pixels at font scale 1."""
        super().__init__()
        self.series = Series()
        self._title = title
        self._plot_height = plot_height
        self._pointed: int | None = None
        self._keyboard_mark: int | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        PositionTip(self, self._tip_at)
        self._describe()

    def show_series(self, series: Series) -> None:
        """Show a series; the selected mark stays selected if the series has it."""
        if series == self.series:
            return
        before, self.series = self.series, series
        self._keyboard_mark = self._same_mark(before, self._keyboard_mark)
        self._pointed = self._same_mark(before, self._pointed)
        self._describe()
        self.update()

    def _same_mark(self, before: Series, index: int | None) -> int | None:
        """Return the index in the current series of a mark with this index in the series `before`, or None."""
        key = None if index is None else before.marks[index].key
        return next((number for number, mark in enumerate(self.series.marks) if mark.key == key), None)

    # --- for subclasses ---------------------------------------------------------------------------------------------

    def mark_at(self, position: QPointF) -> int | None:
        """Return the index of the mark at a point; coordinates here and below assume a left-to-right layout."""
        raise NotImplementedError

    def rect_of_mark(self, index: int) -> QRectF:
        """Return a mark's rectangle; empty if it is out of view."""
        raise NotImplementedError

    def paint_marks(self, painter: QPainter, colours: Tokens) -> None:
        """Paint the marks; called only if there are any."""
        raise NotImplementedError

    def bring_into_view(self, index: int) -> None:
        """Scroll to a mark that was selected by a key."""

    @property
    def chosen(self) -> int | None:
        """The index of the mark under the mouse, else of the one that was selected by a key."""
        return self._keyboard_mark if self._pointed is None else self._pointed

    def plot(self) -> QRectF:
        """Return the rectangle in which the marks are painted."""
        return QRectF(0, 0, self.width(), self._scaled(self._plot_height))

    def focus_frame(self) -> QRectF:
        """Return the rectangle that is drawn around the marks while the chart has the focus."""
        return self.plot()

    @staticmethod
    def _scaled(pixels: float) -> float:
        return pixels * font_scale()

    # --- selection --------------------------------------------------------------------------------------------------

    def choose(self, index: int) -> None:
        """Select a mark of the chart, as the arrow keys do."""
        self._keyboard_mark, self._pointed = index, None
        self.bring_into_view(index)
        self._describe()
        self.update()

    def mark(self) -> Mark | None:
        """The selected mark; None without a selection."""
        return None if self.chosen is None else self.series.marks[self.chosen]

    def _point_at(self, index: int | None) -> None:
        if index != self._pointed:
            self._pointed = index
            self._describe()
            self.update()

    def spoken_parts(self) -> Sequence[Part]:
        return [
            Part(mark.detail or mark.caption, self._mirrored(self.rect_of_mark(index)).toAlignedRect())
            for index, mark in enumerate(self.series.marks)
        ]

    def _mark_under(self, position: QPointF) -> int | None:
        return self.mark_at(QPointF(mirrored_x(position.x(), self.width(), self.layoutDirection()), position.y()))

    def _mirrored(self, rect: QRectF) -> QRectF:
        """Return a rectangle in widget coordinates, mirrored in a right-to-left layout."""
        if self.isRightToLeft():
            rect.moveRight(self.width() - rect.left())
        return rect

    def _describe(self) -> None:
        """Set the accessible name, which includes the selected mark since changes of it are announced immediately."""
        mark = self.mark()
        words = mark.detail or mark.caption if mark else self.series.idle_label
        self.setAccessibleName(f"{self._title}: {words}" if words else self._title)
        self.setAccessibleDescription(self.series.summary)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, last = Qt.Key(event.key()), len(self.series.marks) - 1
        if last < 0 or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        elif key in _STEPS:
            step = -_STEPS[key] if self.isRightToLeft() else _STEPS[key]
            self.choose(last if self.chosen is None else min(max(self.chosen + step, 0), last))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.choose(0 if key == Qt.Key.Key_Home else last)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and (mark := self.mark()):
            self.opened.emit(mark)
        else:
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point_at(self._mark_under(event.position()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        index = self._mark_under(event.position())
        if index is not None:
            self.choose(index)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._mark_under(event.position()) is not None and (mark := self.mark()):
            self.opened.emit(mark)

    def leaveEvent(self, event: QEvent) -> None:
        self._point_at(None)
        super().leaveEvent(event)

    # --- painting ---------------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        foot = QFontMetrics(font_at(_FOOT)).height()
        return QSize(_WIDTH, round(self._scaled(self._plot_height)) + _GAP + foot)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def footer(self) -> tuple[str, str]:
        """Return the labels below the chart, at the left and at the right."""
        mark = self.mark()
        label = mark.caption if mark else self.series.idle_label
        return (label, "") if mark or label else self.series.ends

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = mirrored_painter(self)
        plot, frame = self.plot(), self.focus_frame()
        if self.series.marks:
            self.paint_marks(painter, colours)
        if self.hasFocus():
            painter.setPen(QPen(colours.accent, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setFont(font_at(_FOOT))
        painter.setPen(colours.text if self.mark() else colours.muted)
        left, right = self.footer()
        top = frame.bottom() + _GAP
        room = QRectF(plot.left(), top, plot.width(), self.height() - top)
        cut = elide(painter.fontMetrics(), left, Qt.TextElideMode.ElideRight, int(room.width()))
        write(painter, room, int(Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine), cut)
        advance = painter.fontMetrics().horizontalAdvance
        marks = self.rect_of_mark(len(self.series.marks) - 1).right() if right else room.right()
        # A few marks end before the edge.
        end = min(max(marks, advance(left) + _APART + advance(right)), room.right())
        room.setRight(end)
        write(painter, room, int(Qt.AlignmentFlag.AlignRight | Qt.TextFlag.TextSingleLine), right)
        if not self.mark():
            self._paint_legend(painter, colours, room.adjusted(advance(left), 0, -advance(right), 0), end)

    def _paint_legend(self, painter: QPainter, colours: Tokens, between: QRectF, end: float) -> None:
        """Paint the legend of the parts between the two footer labels, else after them, where they `end`.

        If it fits in neither place, it is set closer together between them; without room for that, it is left out.
        """
        side = self._scaled(_SWATCH)
        widths = [side + 5 + painter.fontMetrics().horizontalAdvance(name) for name in self.series.legend]
        apart = min(_APART, (between.width() - sum(widths)) / (len(widths) + 1))
        if apart < _APART and end + sum(widths) + len(widths) * _APART <= self.width():
            left, apart = end + _APART, _APART
        elif apart >= _MIN_APART:
            left = between.center().x() - (sum(widths) + (len(widths) - 1) * apart) / 2
        else:
            return
        height = painter.fontMetrics().height()
        legend = zip(self.series.legend, part_colours(colours), PATTERNS, widths, strict=False)
        for name, colour, pattern, width in legend:
            swatch = QRectF(left, between.top() + (height - side) / 2, side, side)
            painter.setPen(QPen(colour, 1))
            painter.setBrush(QBrush(colour, pattern))
            painter.drawRoundedRect(swatch.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
            painter.setPen(colours.muted)
            write(painter, QRectF(swatch.right() + 5, between.top(), width, height), 0, name)
            left += width + apart

    def _tip_at(self, at: QPoint) -> str:
        index = self._mark_under(QPointF(at))
        mark = None if index is None else self.series.marks[index]
        return "" if mark is None else mark.detail or mark.caption

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._keyboard_mark is not None:
            self.bring_into_view(self._keyboard_mark)


def figure_cell(count: int | None) -> Cell:
    """Return the table cell of a count; None is shown as unknown."""
    return ("–", -1) if count is None else (number(count), count)


def tab_separated(titles: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table as tab-separated text; tabs and line breaks in cells are replaced."""
    return "\n".join("\t".join(" ".join(text.split()) for text in row) for row in (titles, *rows))


_ROWS = 4
_PAD = 10


@dataclass(frozen=True)
class TableColumn:
    title: str
    """Title, translated when shown."""
    characters: int
    """Width of the table's columns, see `Column`."""
    figures: bool = False


class ChartCard(FontSized, QFrame):
    """A card with a chart or its table. T, the button or the menu switch between them; Ctrl+C copies the table."""

    def __init__(
        self, title: str, chart: Chart, columns: Sequence[TableColumn], empty: str, *, newest_first: bool = False
    ) -> None:
        """`empty`: the message if there are no marks. `newest_first`: reverse the order of the table's rows."""
        super().__init__()
        self.setProperty("role", "card")
        self.chart = chart
        self._title = title
        self._columns = tuple(columns)
        self._newest_first = newest_first
        self._shows_table = False
        self._meta = ElidedLabel()
        self._meta.setProperty("role", "meta")
        self._toggle_button = push_button("", self.toggle_table, role="link")
        show_key_in_tooltip(self._toggle_button, TOGGLE_TABLE.label, TOGGLE_TABLE.name)
        self.empty = label(empty, "meta", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        head = row_of(label(title, "strong"), (self._meta, 1), self._toggle_button, spacing=8)
        column_of(head, self.empty, chart, spacing=8, margins=(14, 8, 14, 12), parent=self)
        self.setAccessibleName(title)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self._toggle_action = key_action(self, TOGGLE_TABLE)
        self._toggle_action.triggered.connect(self.toggle_table)
        key_action(self, COPY_TABLE).triggered.connect(self.copy)
        self._show_side()

    @cached_property
    def table(self) -> RecordsTable[Mark]:
        """The table, created when first shown: it takes longer than the chart, and is rarely opened."""
        table = RecordsTable([self._column(*column) for column in enumerate(self._columns)], lambda mark: mark.detail)
        table.setAccessibleName(tr("{title}, as a table", title=self._title))
        order = Qt.SortOrder
        table.sortByColumn(0, order.DescendingOrder if self._newest_first else order.AscendingOrder)
        table.opened.connect(self.chart.opened)
        table.hide()
        end = LastInTabOrder(self)
        cast("QVBoxLayout", self.layout()).addWidget(table)
        end.append(table)
        return table

    def show_series(self, series: Series, meta: str = "") -> None:
        """Show a series. `meta`: text next to the title."""
        self._meta.setText(meta)
        if series != self.chart.series:
            self.chart.show_series(series)
            self._show_side()

    @Slot()
    def toggle_table(self) -> None:
        """Switch between chart and table."""
        had_focus = (self.table if self._shows_table else self.chart).hasFocus()
        if had_focus:
            self._toggle_button.setFocus()  # otherwise Qt would move the focus of the hidden widget to the next card
        self._shows_table = not self._shows_table
        self._show_side()
        if had_focus:
            (self.table if self._shows_table else self.chart).setFocus()

    @Slot()
    def copy(self) -> None:
        """Copy the table as tab-separated text for a spreadsheet."""
        rows = ((text for text, _ in mark.row) for mark in self.chart.series.marks)
        QGuiApplication.clipboard().setText(tab_separated([tr(column.title) for column in self._columns], rows))

    def _show_side(self) -> None:
        has_marks = bool(self.chart.series.marks)
        for side, shown in ((self.empty, not has_marks), (self.chart, has_marks and not self._shows_table)):
            side.setVisible(shown)
        if self._shows_table:  # sorting takes longer than drawing, so only when visible
            self.table.show_records(self.chart.series.marks)
            self.measure()
            self.table.setVisible(has_marks)
        elif "table" in vars(self):
            self.table.hide()
        self._toggle_button.setText(tr("Chart") if self._shows_table else tr("Table"))
        self._toggle_action.setText(tr("Show as chart") if self._shows_table else tr("Show as table"))
        accessible_name = tr("{title}: show as chart", title=self._title)
        if not self._shows_table:
            accessible_name = tr("{title}: show as table", title=self._title)
        self._toggle_button.setAccessibleName(accessible_name)
        self._toggle_button.setVisible(has_marks)
        for action in self.actions():
            action.setEnabled(has_marks)
        self.setAccessibleDescription(self.chart.series.summary)

    @staticmethod
    def _column(number: int, column: TableColumn) -> Column[Mark]:
        return Column[Mark](
            tr(column.title),
            column.characters,
            lambda mark: mark.row[number][1],
            lambda mark: mark.row[number][0],
            figures=column.figures,
        )

    def measure(self) -> None:
        if "table" in vars(self):
            row = QFontMetrics(font_at(13)).height() + _PAD
            self.table.setFixedHeight(max(self.chart.sizeHint().height(), (_ROWS + 1) * row))
