"""Paints one line of source: background, number, highlights and text."""

import math
import time
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QTextCharFormat, QTextLayout

from gui.style.theme import Tokens, edge_pen
from gui.style.typography import Typography
from gui.text.right_to_left import upright
from gui.viewer.line_layout import LineLayout

_MIN_DIGITS = 3
SELECTED_OPACITY = 70
FOUND_OPACITY = 45


@dataclass(frozen=True)
class Gutter:
    """The X coordinates, in pixels from the left, of line numbers, chunk lanes, accent edge and text."""

    number_right: int
    margin: int
    lane_width: int
    edge: int
    edge_width: int
    text_left: int

    @classmethod
    def for_lines(cls, line_count: int, typography: Typography, lanes: int = 0) -> "Gutter":
        """Return the gutter for a file with this many lines; `lanes` are its columns of chunk bars."""
        digits = max(_MIN_DIGITS, len(str(line_count)))
        number_right = typography.scaled(16) + round(digits * typography.character_width)
        margin, lane = number_right + typography.scaled(9), typography.scaled(10)
        edge = margin + lanes * lane + typography.scaled(5)
        return cls(number_right, margin, lane, edge, typography.scaled(2), edge + typography.scaled(18))

    def shifted(self, right: int) -> "Gutter":
        """Return a copy of the gutter that is moved to the right by `right` pixels."""
        number_right, margin, edge = (x + right for x in (self.number_right, self.margin, self.edge))
        return Gutter(number_right, margin, self.lane_width, edge, self.edge_width, self.text_left + right)


@dataclass(frozen=True)
class Decoration:
    """The ranges of one line to highlight, in UTF-16 code units."""

    marks: Sequence[tuple[int, int]] = ()
    found: Sequence[tuple[int, int]] = ()
    current: tuple[int, int] | None = None
    selected: tuple[int, int] | None = None


_PLAIN = Decoration([], [])


class LinePainter:
    """Paints lines into the rectangle `visible` of a view; their text is scrolled `shift` pixels to the left.

    Positions are measured from the left; the painter may be mirrored (`gui/text/right_to_left.py`).
    """

    def __init__(
        self, painter: QPainter, colours: Tokens, typography: Typography, gutter: Gutter, text_width: int
    ) -> None:
        """`text_width`: the width available for the text, next to the gutter."""
        self._painter = painter
        self._colours = colours
        self._typography = typography
        self.gutter = gutter
        self._text_width = text_width
        self.visible = QRectF()
        self.shift = 0
        self.deadline = math.inf
        """Time (`perf_counter`) after which nothing more is laid out or drawn for the first time. One piece is always
        drawn: otherwise one whose highlights alone take longer would never appear."""
        self._drew_first = False

    def highlight(self, top: int, height: int) -> None:
        """Paint the background and the edge of a line in the highlighted part."""
        self._painter.fillRect(QRectF(0, top, self.visible.width(), height), self._colours.line_highlight)
        self._painter.fillRect(self.gutter.edge, top, self.gutter.edge_width, height, self._colours.accent)

    def number(self, top: int, number: int) -> None:
        """Draw the line number on the baseline of the first row."""
        text = str(number)
        width = len(text) * self._typography.character_width
        self._painter.setPen(self._colours.muted)
        with upright(self._painter, QRectF(self.gutter.number_right - width, top, width, 1)) as unmirrored:
            self._painter.drawText(unmirrored.topLeft() + QPointF(0, self._typography.baseline), text)

    def text(self, top: int, laid: LineLayout, decoration: Decoration) -> bool:
        """Paint the text and its highlights; returns False if part of it is not laid out yet."""
        self._painter.setClipRect(self.visible.adjusted(self.gutter.text_left - self._typography.scaled(4), 0, 0, 0))
        with upright(self._painter, self.visible) as unmirrored:
            visible = QRectF(unmirrored)
        with upright(self._painter, QRectF(self.gutter.text_left, top, self._text_width, 1)) as unmirrored:
            whole = self._text(unmirrored.topLeft() - QPointF(self.shift, 0), visible, laid, decoration)
        self._painter.setClipping(False)
        return whole

    def _text(self, origin: QPointF, visible: QRectF, laid: LineLayout, decoration: Decoration) -> bool:
        area = visible.translated(-origin)
        whole = laid.lay_out_area(area, self.deadline)
        marks: Sequence[tuple[int, int]] = ()
        first = last = 0
        if decoration != _PLAIN:
            first, last = laid.units_in(area)
            marks = _ranges_touching(decoration.marks, first, last)
            for start, end in marks:
                self._box(origin, laid, start, end, self._colours.mark)
            for start, end in _ranges_touching(decoration.found, first, last):
                self._box(origin, laid, start, end, faded(self._colours.accent, FOUND_OPACITY))
        if decoration.selected is not None:
            start, end = decoration.selected
            self._selection(origin, laid, max(start, first - 1), end if last >= laid.length else min(end, last + 1))
        self._painter.setPen(self._colours.text)
        formats = self._formats(laid, marks)
        for piece in laid.pieces_in(area):
            if not piece.drawn:
                if self._drew_first and time.perf_counter() > self.deadline:
                    whole = False
                    break
                self._drew_first = True
            corner = origin + QPointF(piece.left, piece.first_row * self._typography.row_height)
            piece.layout.draw(self._painter, corner, _shifted_formats(formats, piece.start), visible)
            piece.drawn = True
        if decoration.current and _ranges_touching([decoration.current], first, last):
            self._box(origin, laid, *decoration.current, None)
        return whole

    def _box(self, origin: QPointF, laid: LineLayout, start: int, end: int, fill: QColor | None) -> None:
        """Paint a rounded box behind a range of text, or a frame around it if `fill` is None."""
        height = self._typography.row_height
        inset = self._typography.scaled(1.5)
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._painter.setPen(edge_pen(self._colours, fill))
        self._painter.setBrush(Qt.BrushStyle.NoBrush if fill is None else fill)
        for row, left, right in laid.spans(start, end):
            box = QRectF(left - 1.5, row * height + inset, right - left + 3, height - 2 * inset)
            self._painter.drawRoundedRect(box.translated(origin), 3, 3)
        self._painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _selection(self, origin: QPointF, laid: LineLayout, start: int, end: int) -> None:
        colour = faded(self._colours.accent, SELECTED_OPACITY)
        height = self._typography.row_height
        for row, left, right in laid.spans(start, min(end, laid.length)):
            self._painter.fillRect(QRectF(left, row * height, right - left, height).translated(origin), colour)
        if end > laid.length and laid.complete:  # the line end is selected too
            row = laid.guessed_rows - 1
            after = laid.end_x()
            box = QRectF(after, row * height, self._typography.character_width, height)
            self._painter.fillRect(box.translated(origin), colour)

    def _formats(self, laid: LineLayout, marks: Sequence[tuple[int, int]]) -> list[QTextLayout.FormatRange]:
        ranges = []
        if self._colours.mark_text != self._colours.text:
            ranges = [_colour_range(start, end, self._colours.mark_text) for start, end in marks]
        if laid.is_cut:
            end = laid.length + len(laid.drawn_text) - len(laid.text)
            ranges.append(_colour_range(laid.length, end, self._colours.muted))
        return ranges


def _colour_range(start: int, end: int, colour: QColor) -> QTextLayout.FormatRange:
    char_format = QTextCharFormat()
    char_format.setForeground(colour)
    format_range = QTextLayout.FormatRange()
    format_range.start, format_range.length, format_range.format = start, end - start, char_format
    return format_range


def _shifted_formats(formats: Sequence[QTextLayout.FormatRange], start: int) -> list[QTextLayout.FormatRange]:
    """Shift text formats of a line to the piece of it that begins with the UTF-16 unit `start`."""
    if not start:
        return list(formats)
    moved = []
    for piece in formats:
        if piece.start + piece.length > start:
            copy = QTextLayout.FormatRange()
            copy.start = max(0, piece.start - start)
            copy.length, copy.format = piece.start + piece.length - start - copy.start, piece.format
            moved.append(copy)
    return moved


def faded(colour: QColor, opacity: int) -> QColor:
    """Return a colour with this opacity, 0 to 255."""
    faded = QColor(colour)
    faded.setAlpha(opacity)
    return faded


def _ranges_touching(ranges: Sequence[tuple[int, int]], first: int, last: int) -> Sequence[tuple[int, int]]:
    """Return those of ascending, disjoint ranges that touch units `first` to `last`: a long line may have many."""
    begin = bisect_left(ranges, first, key=lambda found: found[1])
    return ranges[begin : bisect_right(ranges, last, key=lambda found: found[0])]
