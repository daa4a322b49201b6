"""Drawn over the points: names, a query and its results, the current point, a loop."""

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from gui.style.stylesheet import font_at
from gui.style.theme import Tokens
from gui.viewer.line_painter import faded
from gui.widgets.labels import elide

_LONGEST_NAME = 160
_NAME_PAD = 4
_GROUND = 150
_CROSS, _TICK = 9.0, 15.0
_HIT = 5.5
_LOOP_GROUND = 40


def paint_names(
    painter: QPainter, names: Iterable[tuple[str, float, float]], room: QRectF, colours: Tokens, unit: float
) -> None:
    """Names above their places, the first ones first; one that would lie on another is left out."""
    font = font_at(13)
    metrics = QFontMetricsF(font)
    painter.setFont(font)
    taken: list[QRectF] = []
    for name, x, y in names:
        if not room.contains(QPointF(x, y)):
            continue
        text = elide(painter.fontMetrics(), name, Qt.TextElideMode.ElideMiddle, round(_LONGEST_NAME * unit))
        width, height = metrics.horizontalAdvance(text) + 2 * _NAME_PAD, metrics.height()
        left = min(max(x - width / 2, room.left()), room.right() - width)
        top = min(max(y - height - 12 * unit, room.top()), room.bottom() - height)
        box = QRectF(left, top, width, height)
        if any(box.intersects(other) for other in taken):
            continue
        taken.append(box)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(faded(colours.base, _GROUND))
        painter.drawRoundedRect(box, 4, 4)
        painter.setPen(colours.text)
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine), text)


def paint_hits(painter: QPainter, places: Iterable[QPointF], colours: Tokens, unit: float) -> None:
    """The results of the query in the box."""
    painter.setPen(QPen(colours.text, 1.6))
    painter.setBrush(colours.mark)
    for place in places:
        painter.drawEllipse(place, _HIT * unit, _HIT * unit)


def paint_question(painter: QPainter, place: QPointF, colours: Tokens, unit: float) -> None:
    """Cross-hairs at the query's location, with a rim that separates them from the points below."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for colour, width in ((colours.base, 5.5), (colours.text, 2.5)):
        painter.setPen(QPen(colour, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
        painter.drawEllipse(place, _CROSS * unit, _CROSS * unit)
        for right, down in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            way = QPointF(right, down) * unit
            painter.drawLine(place + way * (_CROSS - 3), place + way * _TICK)


def paint_point(painter: QPainter, place: QPointF, radius: float, colours: Tokens, *, focused: bool) -> None:
    """A ring around the current point; a second one for the keyboard cursor."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for colour, width in ((colours.base, 4.5), (colours.accent if focused else colours.text, 2.0)):
        painter.setPen(QPen(colour, width))
        painter.drawEllipse(place, radius + 3.5, radius + 3.5)


def paint_chosen(painter: QPainter, places: Iterable[QPointF], radius: float, colour: QColor) -> None:
    """Thin rings around the points that are listed."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(colour, 1.2))
    for place in places:
        painter.drawEllipse(place, radius + 1.5, radius + 1.5)


def paint_loop(painter: QPainter, loop: Sequence[QPointF], colours: Tokens) -> None:
    """The lasso while it is drawn."""
    painter.setBrush(faded(colours.accent, _LOOP_GROUND))
    painter.setPen(QPen(colours.accent, 1.5, Qt.PenStyle.DashLine))
    painter.drawPolygon(QPolygonF(list(loop)))
