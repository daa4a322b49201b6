"""One bar that is divided into pieces, each named below with its size."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QWidget

from gui.style.stylesheet import font_at
from gui.style.theme import Tokens
from gui.widgets.charts.chart import Chart
from gui.widgets.labels import elide
from gui.widgets.mirrored import write

_BAR = 14
_SWATCH = 10
_LEGEND = 12
_BELOW = 10


class ShareChart(Chart):
    """The names below belong to the chart: each line is a piece, pointed at like the piece itself.

    There is room for `most` lines from the beginning, so that nothing moves when a piece comes.
    """

    def __init__(self, title: str, most: int, parent: QWidget | None = None) -> None:
        self._most = most
        super().__init__(title, _BAR, parent)

    def _line(self) -> int:
        return QFontMetrics(font_at(_LEGEND)).height() + 4

    def plot(self) -> QRectF:
        return QRectF(0, 0, self.width(), self._scaled(_BAR + _BELOW) + self._most * self._line())

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), round(self.plot().height()))

    def footer(self) -> tuple[str, str]:
        return "", ""  # every piece is named all the time

    def _bar(self) -> QRectF:
        return QRectF(0, 0, self.width(), self._scaled(_BAR)).adjusted(2, 2, -2, 0)

    def _pieces(self) -> list[QRectF]:
        bar, total = self._bar(), sum(mark.height for mark in self.series.marks) or 1.0
        pieces, left = [], bar.left()
        for mark in self.series.marks:
            width = bar.width() * mark.height / total
            pieces.append(QRectF(left, bar.top(), width, bar.height()))
            left += width
        return pieces

    def _lines(self) -> list[QRectF]:
        top, height = self._scaled(_BAR + _BELOW), self._line()
        return [QRectF(2, top + number * height, self.width() - 4, height) for number in range(len(self.series.marks))]

    def mark_at(self, position: QPointF) -> int | None:
        for rects in (self._pieces(), self._lines()):
            for index, rect in enumerate(rects):
                if rect.contains(position):
                    return index
        return None

    def place_of(self, index: int) -> QRectF:
        return self._lines()[index]

    def paint_marks(self, painter: QPainter, colours: Tokens) -> None:
        fills = _fills(colours)
        rounded = QPainterPath()
        rounded.addRoundedRect(self._bar(), 4, 4)
        painter.save()
        painter.setClipPath(rounded)
        for index, piece in enumerate(self._pieces()):
            for fill in fills[index % len(fills)]:
                painter.fillRect(piece, fill)
            painter.fillRect(QRectF(piece.right() - 0.5, piece.top(), 1, piece.height()), colours.base)
        painter.restore()
        painter.setFont(font_at(_LEGEND))
        metrics, side = painter.fontMetrics(), self._scaled(_SWATCH)
        for index, (mark, line) in enumerate(zip(self.series.marks, self._lines(), strict=True)):
            chosen = index == self.chosen
            if chosen:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colours.accent_ground)
                painter.drawRoundedRect(line, 4, 4)
                painter.setPen(QPen(colours.text, 1.5))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(self._pieces()[index].adjusted(0.5, 0.5, -0.5, -0.5))
            swatch = QRectF(line.left() + 4, line.center().y() - side / 2, side, side)
            painter.setPen(Qt.PenStyle.NoPen)
            for fill in fills[index % len(fills)]:
                painter.setBrush(fill)
                painter.drawRoundedRect(swatch, 2, 2)
            name, size = mark.row[0][0], mark.row[1][0]
            painter.setPen(colours.muted)
            words = line.adjusted(side + 12, 0, -4, 0)
            write(painter, words, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), size)
            painter.setPen(colours.text)
            room = int(words.width()) - metrics.horizontalAdvance(size) - 8
            cut = elide(metrics, name, Qt.TextElideMode.ElideRight, room)
            write(painter, words, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), cut)


def _fills(colours: Tokens) -> tuple[tuple[QBrush, QBrush], ...]:
    """Two hues in several strengths, each with a pattern over it: no two pieces differ by their colours alone."""
    none, pattern = Qt.BrushStyle.NoBrush, Qt.BrushStyle
    fills = (
        (colours.accent, none),
        (_mixed(colours.accent, colours.base, 0.65), pattern.BDiagPattern),
        (_mixed(colours.accent, colours.base, 0.38), pattern.HorPattern),
        (colours.meaning, pattern.FDiagPattern),
        (_mixed(colours.meaning, colours.base, 0.6), none),
        (_mixed(colours.meaning, colours.base, 0.32), pattern.CrossPattern),
        (colours.off, pattern.DiagCrossPattern),
        (colours.line, none),
    )
    return tuple((QBrush(ground), QBrush(_ink_on(ground, colours), style)) for ground, style in fills)


def _ink_on(ground: QColor, colours: Tokens) -> QColor:
    """The ground or the text of the theme: whichever is seen better."""
    return max((colours.base, colours.text), key=lambda ink: abs(ink.lightness() - ground.lightness()))


def _mixed(one: QColor, other: QColor, share: float) -> QColor:
    return QColor.fromRgbF(
        one.redF() * share + other.redF() * (1 - share),
        one.greenF() * share + other.greenF() * (1 - share),
        one.blueF() * share + other.blueF() * (1 - share),
    )
