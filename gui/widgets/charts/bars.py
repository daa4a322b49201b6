"""Three kinds of charts: a bar chart, one divided bar with a legend, and a line over time."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QPainter, QPainterPath, QPen, QPolygonF

from gui.style.stylesheet import font_at
from gui.style.theme import Tokens
from gui.text.right_to_left import write
from gui.widgets.charts.chart import PATTERNS, Chart, Mark, Series, part_colours
from gui.widgets.labels import elide

_WIDEST = 56
_MIN_HEIGHT = 2
_BARS_TOP = 4
_FAINT = 0.72
_ROUND = 2

_BAR = 14
_SWATCH = 10
_LEGEND = 12
_BELOW = 10

_LINE_TOP = 6
_GROUND = 0.16
_STEP = 4
_DOT = 3.5


class BarChart(Chart):
    """A bar chart. Heights are relative to the highest bar; a bar can be stacked from parts.

    Each part has its own pattern, a failed bar is hatched, and the selected bar has an edge.
    """

    def __init__(self, title: str, plot_height: int, *, bar_width: int | None = None) -> None:
        """`bar_width`: pixels at font scale 1; if not all bars fit, the newest are visible and keys scroll."""
        super().__init__(title, plot_height)
        self._bar_width = bar_width
        self._last_shown: int | None = None
        """The rightmost mark; None for the newest."""

    def show_series(self, series: Series) -> None:
        if series != self.series:
            self._last_shown = None
        super().show_series(series)
        if self.chosen is not None:
            self.bring_into_view(self.chosen)

    def _slot(self) -> float:
        """Return the width of a bar with its gap."""
        if self._bar_width is not None:
            return self._scaled(self._bar_width) * 1.5
        return min(self._scaled(_WIDEST), self.plot().width() / max(1, len(self.series.marks)))

    def _window(self) -> range:
        """Return the range of visible marks."""
        count = len(self.series.marks)
        if self._bar_width is None:
            return range(count)
        fit = max(1, int((self.plot().width() + self._slot() / 3) // self._slot()))
        stop = count if self._last_shown is None else self._last_shown + 1
        return range(max(0, stop - fit), max(stop, min(fit, count)))

    def bring_into_view(self, index: int) -> None:
        if self._bar_width is None or index in self._window():
            return
        window = self._window()
        last = index + len(window) - 1 if index < window.start else index
        self._last_shown = min(last, len(self.series.marks) - 1)

    def mark_at(self, position: QPointF) -> int | None:
        window = self._window()
        index = window.start + int(position.x() // self._slot())
        return index if 0 <= position.y() < self.plot().bottom() and index in window else None

    def rect_of_mark(self, index: int) -> QRectF:
        slot, window = self._slot(), self._window()
        return QRectF((index - window.start) * slot, 0, slot, self.plot().bottom()) if index in window else QRectF()

    def paint_marks(self, painter: QPainter, colours: Tokens) -> None:
        plot, slot, window = self.plot(), self._slot(), self._window()
        painter.setPen(QPen(colours.line, 1))
        painter.drawLine(QPointF(0, plot.bottom() - 0.5), QPointF(plot.right(), plot.bottom() - 0.5))
        most = max(self.series.marks[index].height for index in window) or 1.0
        gap = min(slot / 3, self._scaled(6))
        for column, index in enumerate(window):
            self._paint_bar(
                painter,
                colours,
                self.series.marks[index],
                QRectF(column * slot, plot.top() + _BARS_TOP, slot - gap, plot.height() - _BARS_TOP),
                most,
                chosen=index == self.chosen,
            )

    def _paint_bar(
        self, painter: QPainter, colours: Tokens, mark: Mark, room: QRectF, most: float, *, chosen: bool
    ) -> None:
        bottom = room.bottom()
        for part, part_colour, pattern in zip(mark.parts, part_colours(colours), PATTERNS, strict=False):
            if part <= 0:
                continue
            height = max(_MIN_HEIGHT, room.height() * part / most)
            colour = QColor(colours.degraded if mark.failed else part_colour)
            colour.setAlphaF(1.0 if chosen else _FAINT)
            bar = QRectF(room.left(), bottom - height, room.width(), height)
            painter.setPen(QPen(colours.text if chosen else colour, 1))
            painter.setBrush(QBrush(colour, Qt.BrushStyle.BDiagPattern if mark.failed else pattern))
            painter.drawRoundedRect(bar.adjusted(0.5, 0.5, -0.5, -0.5), _ROUND, _ROUND)
            bottom -= height + 1


class ShareChart(Chart):
    """One bar divided into pieces, with their names below; hovering over a name selects its piece.

    Space for `most` lines is reserved, so that nothing moves when a piece is added.
    """

    def __init__(self, title: str, most: int) -> None:
        self._most = most
        super().__init__(title, _BAR)

    def _line(self) -> int:
        return QFontMetrics(font_at(_LEGEND)).height() + 4

    def plot(self) -> QRectF:
        return QRectF(0, 0, self.width(), self._scaled(_BAR + _BELOW) + self._most * self._line())

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), round(self.plot().height()))

    def footer(self) -> tuple[str, str]:
        return "", ""  # each segment has its label already

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

    def rect_of_mark(self, index: int) -> QRectF:
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
    """Return fill and pattern brushes of the pieces: two hues in several shades, each with its own pattern."""
    none, pattern = Qt.BrushStyle.NoBrush, Qt.BrushStyle
    fills = (
        (colours.accent, none),
        (_blend(colours.accent, colours.base, 0.65), pattern.BDiagPattern),
        (_blend(colours.accent, colours.base, 0.38), pattern.HorPattern),
        (colours.meaning, pattern.FDiagPattern),
        (_blend(colours.meaning, colours.base, 0.6), none),
        (_blend(colours.meaning, colours.base, 0.32), pattern.CrossPattern),
        (colours.off, pattern.DiagCrossPattern),
        (colours.line, none),
    )
    return tuple((QBrush(fill), QBrush(_contrasting_colour(fill, colours), style)) for fill, style in fills)


def _contrasting_colour(background: QColor, colours: Tokens) -> QColor:
    """Return the theme's background or text colour, whichever has more contrast with `background`."""
    return max((colours.base, colours.text), key=lambda colour: abs(colour.lightness() - background.lightness()))


def _blend(one: QColor, other: QColor, share: float) -> QColor:
    return QColor.fromRgbF(
        one.redF() * share + other.redF() * (1 - share),
        one.greenF() * share + other.greenF() * (1 - share),
        one.blueF() * share + other.blueF() * (1 - share),
    )


class SparkChart(Chart):
    """A line chart without axes, newest at the right edge; heights are relative to the highest visible point."""

    def _points(self) -> list[QPointF]:
        """Return the positions of the marks that fit, in order."""
        plot, step = self.plot(), self._scaled(_STEP)
        marks = self.series.marks[-max(2, int((plot.width() - 2 * _DOT) // step)) :]
        most = max(mark.height for mark in marks) or 1.0
        right, room = plot.right() - _DOT, plot.height() - _LINE_TOP - 1
        return [
            QPointF(right - (len(marks) - 1 - column) * step, plot.bottom() - 1 - room * mark.height / most)
            for column, mark in enumerate(marks)
        ]

    def mark_at(self, position: QPointF) -> int | None:
        if not self.series.marks or not 0 <= position.y() < self.plot().bottom():
            return None
        points = self._points()
        column = min(range(len(points)), key=lambda index: abs(points[index].x() - position.x()))
        near = abs(points[column].x() - position.x()) <= self._scaled(_STEP)
        return len(self.series.marks) - len(points) + column if near else None

    def rect_of_mark(self, index: int) -> QRectF:
        points = self._points()
        column = index - len(self.series.marks) + len(points)
        return QRectF(points[column], points[column]).adjusted(-_DOT, -_DOT, _DOT, _DOT) if column >= 0 else QRectF()

    def paint_marks(self, painter: QPainter, colours: Tokens) -> None:
        plot, points = self.plot(), self._points()
        painter.setPen(QPen(colours.line, 1))
        painter.drawLine(QPointF(0, plot.bottom() - 0.5), QPointF(plot.right(), plot.bottom() - 0.5))
        background = QColor(colours.working)
        background.setAlphaF(_GROUND)
        floor = plot.bottom() - 1
        painter.setPen(QPen(background, 0))
        painter.setBrush(background)
        painter.drawPolygon(QPolygonF([QPointF(points[0].x(), floor), *points, QPointF(points[-1].x(), floor)]))
        painter.setPen(QPen(colours.working, 1.5))
        painter.drawPolyline(QPolygonF(points))
        first = len(self.series.marks) - len(points)
        if self.chosen is not None and self.chosen >= first:
            painter.setBrush(colours.working)
            painter.drawEllipse(points[self.chosen - first], _DOT, _DOT)
