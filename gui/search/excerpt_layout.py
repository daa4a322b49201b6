"""Text with marked words, laid out once and drawn many times: two lines of an excerpt, or one line of a row."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QTextCharFormat, QTextLayout, QTextLine, QTextOption

from gui.search.excerpt import ELLIPSIS, Excerpt
from gui.search.text_ranges import Range
from gui.style.theme import Tokens, mark_pen
from gui.widgets.mirrored import is_mirrored, line_direction, text_direction, upright, write
from gui.widgets.row_painting import AT_LEFT, AT_RIGHT
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
        _draw_marks(painter, self.mark_boxes, origin, colours)
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


class MarkedLine:
    """One line of a row, such as a title, with its marked words.

    Attributes:
        text: what is drawn.
        mark_boxes: where the marked words are, relative to the text's top left.
    """

    def __init__(self, whole: str, text: str, ranges: Sequence[Range], font: QFont, mark_text: QColor) -> None:
        """`text` is `whole` as it fits, cut with an ellipsis at one end; `ranges` are code points of `whole`."""
        self.text = text
        self.mark_boxes: list[QRectF] = []
        self._font = font
        self._layout: QTextLayout | None = None
        if kept := utf16_ranges(text, _ranges_in_cut(whole, text, ranges)):
            self._layout = layout = QTextLayout(text, font)
            option = QTextOption(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute)
            option.setTextDirection(line_direction(text))
            option.setWrapMode(QTextOption.WrapMode.NoWrap)
            layout.setTextOption(option)
            layout.setFormats([_format_range(start, end, mark_text) for start, end in kept])
            layout.setCacheEnabled(True)
            layout.beginLayout()
            line = layout.createLine()
            line.setLineWidth(QFontMetrics(font).horizontalAdvance(text))
            layout.endLayout()
            self.mark_boxes = _mark_boxes(line, kept)

    def draw(self, painter: QPainter, rect: QRect, *, at_end: bool, ink: QColor, colours: Tokens) -> None:
        """Draw at the beginning or the end of a line in `rect`; the painter is antialiasing."""
        if self._layout is None:
            painter.setFont(self._font)
            painter.setPen(ink)
            write(painter, rect, AT_RIGHT if at_end else AT_LEFT, self.text)
            return
        at_right = at_end != is_mirrored(painter)
        with upright(painter, rect) as bounds:
            line = self._layout.lineAt(0)
            x = bounds.right() - line.naturalTextWidth() if at_right else bounds.left()
            origin = QPointF(x, bounds.top() + round((bounds.height() - line.height()) / 2))
            _draw_marks(painter, self.mark_boxes, origin, colours)
            painter.setPen(ink)
            self._layout.draw(painter, origin)


def _draw_marks(painter: QPainter, boxes: Sequence[QRectF], origin: QPointF, colours: Tokens) -> None:
    painter.setPen(mark_pen(colours))
    painter.setBrush(colours.mark)
    for box in boxes:
        painter.drawRoundedRect(box.translated(origin), MARK_RADIUS, MARK_RADIUS)


def _ranges_in_cut(whole: str, text: str, ranges: Sequence[Range]) -> list[Range]:
    """The ranges of `whole` as they are in `text`, which is it or one end of it with an ellipsis."""
    first, last, shift = 0, len(whole), 0
    if text != whole:
        kept = len(text) - 1
        if whole.startswith(text[:-1]):
            last = kept
        elif whole.endswith(text[1:]):
            first, shift = len(whole) - kept, 1
        else:
            return []
    moved = ((max(start, first) - first + shift, min(end, last) - first + shift) for start, end in ranges)
    return [(start, end) for start, end in moved if start < end]


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
