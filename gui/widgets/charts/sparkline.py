"""A line over time."""

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from gui.style.theme import Tokens
from gui.widgets.charts.chart import Chart

_TOP = 6
_GROUND = 0.16
_STEP = 4
_DOT = 3.5


class SparkChart(Chart):
    """Points from left to right, the newest at the right edge; the height is relative to the highest that is shown."""

    def _points(self) -> list[QPointF]:
        """Those that fit, in the order of the marks."""
        plot, step = self.plot(), self._scaled(_STEP)
        marks = self.series.marks[-max(2, int((plot.width() - 2 * _DOT) // step)) :]
        most = max(mark.height for mark in marks) or 1.0
        right, room = plot.right() - _DOT, plot.height() - _TOP - 1
        return [
            QPointF(right - (len(marks) - 1 - place) * step, plot.bottom() - 1 - room * mark.height / most)
            for place, mark in enumerate(marks)
        ]

    def mark_at(self, position: QPointF) -> int | None:
        if not self.series.marks or not 0 <= position.y() < self.plot().bottom():
            return None
        points = self._points()
        place = min(range(len(points)), key=lambda index: abs(points[index].x() - position.x()))
        near = abs(points[place].x() - position.x()) <= self._scaled(_STEP)
        return len(self.series.marks) - len(points) + place if near else None

    def place_of(self, index: int) -> QRectF:
        points = self._points()
        place = index - len(self.series.marks) + len(points)
        return QRectF(points[place], points[place]).adjusted(-_DOT, -_DOT, _DOT, _DOT) if place >= 0 else QRectF()

    def paint_marks(self, painter: QPainter, colours: Tokens) -> None:
        plot, points = self.plot(), self._points()
        painter.setPen(QPen(colours.line, 1))
        painter.drawLine(QPointF(0, plot.bottom() - 0.5), QPointF(plot.right(), plot.bottom() - 0.5))
        ground = QColor(colours.working)
        ground.setAlphaF(_GROUND)
        floor = plot.bottom() - 1
        painter.setPen(QPen(ground, 0))
        painter.setBrush(ground)
        painter.drawPolygon(QPolygonF([QPointF(points[0].x(), floor), *points, QPointF(points[-1].x(), floor)]))
        painter.setPen(QPen(colours.working, 1.5))
        painter.drawPolyline(QPolygonF(points))
        first = len(self.series.marks) - len(points)
        if self.chosen is not None and self.chosen >= first:
            painter.setBrush(colours.working)
            painter.drawEllipse(points[self.chosen - first], _DOT, _DOT)
