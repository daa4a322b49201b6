"""Bars side by side: as many as there are in the whole width, or those of a fixed width that fit."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from gui.style.theme import Tokens
from gui.widgets.charts.chart import PATTERNS, Chart, part_inks
from gui.widgets.charts.series import Mark, Series

_WIDEST = 56
_LEAST = 2
_TOP = 4
_FAINT = 0.72
_ROUND = 2


class BarChart(Chart):
    """Heights are relative to the highest bar; the parts of a bar are stacked.

    Each part has its own pattern, and a failed bar is hatched; the selected one has an edge.
    """

    def __init__(
        self, title: str, plot_height: int, *, bar_width: int | None = None, parent: QWidget | None = None
    ) -> None:
        """`bar_width`: pixels at font scale 1; the newest bars are visible, and the keys reach the others."""
        super().__init__(title, plot_height, parent)
        self._bar_width = bar_width
        self._last: int | None = None
        """The mark at the right, where not the newest is."""

    def show_series(self, series: Series) -> None:
        if series != self.series:
            self._last = None
        super().show_series(series)
        if self.chosen is not None:
            self.bring_into_view(self.chosen)

    def _slot(self) -> float:
        """Width of a bar including its gap."""
        if self._bar_width is not None:
            return self._scaled(self._bar_width) * 1.5
        return min(self._scaled(_WIDEST), self.plot().width() / max(1, len(self.series.marks)))

    def _window(self) -> range:
        """The marks that are shown."""
        count = len(self.series.marks)
        if self._bar_width is None:
            return range(count)
        fit = max(1, int((self.plot().width() + self._slot() / 3) // self._slot()))
        stop = count if self._last is None else self._last + 1
        return range(max(0, stop - fit), max(stop, min(fit, count)))

    def bring_into_view(self, index: int) -> None:
        if self._bar_width is None or index in self._window():
            return
        shown = self._window()
        last = index + len(shown) - 1 if index < shown.start else index
        self._last = min(last, len(self.series.marks) - 1)

    def mark_at(self, position: QPointF) -> int | None:
        shown = self._window()
        index = shown.start + int(position.x() // self._slot())
        return index if 0 <= position.y() < self.plot().bottom() and index in shown else None

    def place_of(self, index: int) -> QRectF:
        slot, shown = self._slot(), self._window()
        return QRectF((index - shown.start) * slot, 0, slot, self.plot().bottom()) if index in shown else QRectF()

    def paint_marks(self, painter: QPainter, colours: Tokens) -> None:
        plot, slot, shown = self.plot(), self._slot(), self._window()
        painter.setPen(QPen(colours.line, 1))
        painter.drawLine(QPointF(0, plot.bottom() - 0.5), QPointF(plot.right(), plot.bottom() - 0.5))
        most = max(self.series.marks[index].height for index in shown) or 1.0
        gap = min(slot / 3, self._scaled(6))
        for place, index in enumerate(shown):
            self._paint_bar(
                painter,
                colours,
                self.series.marks[index],
                QRectF(place * slot, plot.top() + _TOP, slot - gap, plot.height() - _TOP),
                most,
                chosen=index == self.chosen,
            )

    def _paint_bar(
        self, painter: QPainter, colours: Tokens, mark: Mark, room: QRectF, most: float, *, chosen: bool
    ) -> None:
        bottom = room.bottom()
        for part, ink, pattern in zip(mark.parts, part_inks(colours), PATTERNS, strict=False):
            if part <= 0:
                continue
            height = max(_LEAST, room.height() * part / most)
            colour = QColor(colours.degraded if mark.failed else ink)
            colour.setAlphaF(1.0 if chosen else _FAINT)
            bar = QRectF(room.left(), bottom - height, room.width(), height)
            painter.setPen(QPen(colours.text if chosen else colour, 1))
            painter.setBrush(QBrush(colour, Qt.BrushStyle.BDiagPattern if mark.failed else pattern))
            painter.drawRoundedRect(bar.adjusted(0.5, 0.5, -0.5, -0.5), _ROUND, _ROUND)
            bottom -= height + 1
