"""Two lines of an excerpt with their marked words, laid out once and drawn many times."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QTextCharFormat, QTextLayout, QTextLine, QTextOption

from gui.search.excerpt import ELLIPSIS, Excerpt
from gui.theme import Tokens, mark_pen
from gui.widgets.mirrored import text_direction
from gui.widgets.utf16 import utf16_length, utf16_ranges

LINES = 2
MARK_RADIUS = 2.5
MARK_PAD = 1.5
_WAYS = (Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft)


class ExcerptLayout:
    """The excerpt in two lines of `width` pixels at most; what does not fit is cut at a word, with an ellipsis.

    Attributes:
        mark_boxes: where the marked words stand, relative to the excerpt's top left.
        shown: how much of the text is drawn, in UTF-16 units.
        ellipsis: where the ellipsis is drawn (its baseline's left end); None when nothing was cut.
    """

    def __init__(
        self, excerpt: Excerpt, font: QFont, metrics: QFontMetrics, *, width: int, line_height: int, mark_text: QColor
    ) -> None:
        text = excerpt.text[:width]  # two lines of the narrowest letters hold less; shaping more would be for nothing
        ranges = utf16_ranges(text, [(start, end) for start, end in excerpt.marks if end <= len(text)])
        self._font = font
        self._layout = QTextLayout(text, font)
        self._layout.setTextOption(_OPTIONS[text_direction(text)])
        self._layout.setFormats([_format_range(start, end, mark_text) for start, end in ranges])
        self._layout.setCacheEnabled(True)
        whole = utf16_length(text) if len(text) == len(excerpt.text) else -1
        lines = self._break(width, whole, metrics.horizontalAdvance(ELLIPSIS))
        for number, line in enumerate(lines):
            line.setPosition(QPointF(0, number * line_height + (line_height - line.height()) / 2))
        self.shown = lines[-1].textStart() + lines[-1].textLength() if lines else 0
        self.ellipsis = None if not lines or self.shown == whole else _after(lines[-1], metrics)
        self.mark_boxes = [box for line in lines for box in _mark_boxes(line, ranges)]

    def draw(self, painter: QPainter, origin: QPointF, colours: Tokens) -> None:
        """Draw with the excerpt's top left at `origin`; the painter is antialiasing."""
        painter.setPen(mark_pen(colours))
        painter.setBrush(colours.mark)
        for box in self.mark_boxes:
            painter.drawRoundedRect(box.translated(origin), MARK_RADIUS, MARK_RADIUS)
        painter.setPen(colours.text)
        self._layout.draw(painter, origin)
        if self.ellipsis is not None:
            painter.setFont(self._font)
            painter.drawText(origin + self.ellipsis, ELLIPSIS)

    def _break(self, width: int, whole: int, ellipsis_width: int) -> list[QTextLine]:
        """Break into lines; the last leaves room for an ellipsis unless it reaches `whole`, the text's end."""
        lines = []
        self._layout.beginLayout()
        for number in range(LINES):
            line = self._layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(width)
            if number == LINES - 1 and line.textStart() + line.textLength() != whole:
                line.setLineWidth(max(1, width - ellipsis_width))
            lines.append(line)
        self._layout.endLayout()
        return lines


def _make_option(direction: Qt.LayoutDirection) -> QTextOption:
    option = QTextOption()
    option.setTextDirection(direction)
    if direction == Qt.LayoutDirection.RightToLeft:
        option.setAlignment(Qt.AlignmentFlag.AlignRight)
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    return option


_OPTIONS = {direction: _make_option(direction) for direction in _WAYS}


def _after(line: QTextLine, metrics: QFontMetrics) -> QPointF:
    """Where the ellipsis goes: behind the line's last word, which is at its left in right-to-left text."""
    rect = line.naturalTextRect()
    to_left = _x(line, line.textStart()) > _x(line, line.textStart() + line.textLength())
    x = rect.left() - metrics.horizontalAdvance(ELLIPSIS) if to_left else rect.right()
    return QPointF(x, line.y() + line.ascent())


def _format_range(start: int, end: int, ink: QColor) -> QTextLayout.FormatRange:
    span = QTextLayout.FormatRange()
    span.start, span.length = start, end - start
    style = QTextCharFormat()
    style.setForeground(ink)
    span.format = style
    return span


def _mark_boxes(line: QTextLine, ranges: Sequence[tuple[int, int]]) -> list[QRectF]:
    """Boxes of the ranges (UTF-16) that touch this line; one that goes over its end has a box on each line."""
    first = line.textStart()
    last = first + line.textLength()
    boxes = []
    for start, end in ranges:
        if start >= last or end <= first:
            continue
        left, right = sorted((_x(line, max(start, first)), _x(line, min(end, last))))
        boxes.append(QRectF(left - MARK_PAD, line.y(), right - left + 2 * MARK_PAD, line.height()))
    return boxes


def _x(line: QTextLine, offset: int) -> float:
    answer: object = line.cursorToX(offset)  # PySide hands the cursor's position back beside the coordinate
    return float(answer[0] if isinstance(answer, tuple) else answer)  # type: ignore[arg-type]
