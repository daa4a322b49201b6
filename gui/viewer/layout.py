"""Lays out single lines of source text, when they come into view, and keeps the last ones."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QTextCharFormat, QTextLayout, QTextOption

from gui.viewer.lines import LINE_LIMIT, FileLines
from gui.viewer.outline import Outline
from gui.viewer.spans import cursor_x, row_of, spans
from gui.viewer.typography import Typography
from gui.widgets.utf16 import code_point_offset, utf16_length

CUT_MARK = f" … line cut at {LINE_LIMIT:,} characters"
_KEPT = 600
"""Laid-out lines kept: more than the tallest screen shows."""
_KEPT_CHARACTERS = 3_000_000
"""Their characters: as many lines of full length as the tallest screen shows, in some 140 MB."""

_TAB_STOP = 4
_UNBOUNDED = 1e8

# What a terminal would obey and Qt would break a line at is shown as a picture of itself, one for one.
_PICTURES = {code: 0x2400 + code for code in range(32) if code != 9}
_PICTURES |= {0x7F: 0x2421, 0x85: 0x2424, 0x2028: 0x2424, 0x2029: 0x2424}


@dataclass(frozen=True)
class LaidLine:
    """One line on one or more rows; Qt's offsets (UTF-16 units) inside, columns in code points outside."""

    text: str
    layout: QTextLayout
    length: int
    """Units of the text; what follows in the layout is the cut mark."""
    width: float
    """Pixels of the widest row."""
    row_height: int

    @property
    def rows(self) -> int:
        return max(1, self.layout.lineCount())

    @property
    def is_cut(self) -> bool:
        return len(self.layout.text()) > len(self.text)

    def unit(self, column: int) -> int:
        """The unit at which a column begins."""
        return utf16_length(self.text[:column])

    def column_at(self, x: float, y: float) -> int:
        """The column nearest to a point, relative to the line's first row."""
        row = min(max(0, int(y // self.row_height)), self.rows - 1)
        return code_point_offset(self.text, min(self.layout.lineAt(row).xToCursor(x), self.length))

    def row_of(self, unit: int) -> int:
        """The row that shows this unit."""
        return row_of(self.layout, min(unit, self.length))

    def spans(self, start: int, end: int) -> Iterator[tuple[int, float, float]]:
        """The row, left and right edge of each piece of a range of units."""
        for box in spans(self.layout, start, end):
            yield round(box.center().y()) // self.row_height, box.left(), box.right()

    def units_in(self, area: QRectF) -> tuple[int, int]:
        """First and last unit that may be seen in a rectangle relative to the line."""
        first = self.layout.lineAt(min(max(0, int(area.top() // self.row_height)), self.rows - 1))
        last = self.layout.lineAt(min(max(0, int(area.bottom() // self.row_height)), self.rows - 1))
        if not last.isValid():
            return 0, 0
        if self.rows == 1 and self.text.isascii():  # elsewhere the left edge need not be the beginning
            return first.xToCursor(area.left()), last.xToCursor(area.right())
        return first.textStart(), last.textStart() + last.textLength()

    def end_x(self) -> float:
        """Where the text of the last row ends."""
        line = self.layout.lineAt(self.rows - 1)
        return cursor_x(line, self.length) if line.isValid() else 0.0

    def row_start(self, row: int) -> int:
        return self.layout.lineAt(min(row, self.rows - 1)).textStart()


class LineLayouts:
    """Lines of one file for one width; `wrap_width` None keeps each on one row."""

    def __init__(self, typography: Typography) -> None:
        self._lines: FileLines | None = None
        self._outline = Outline()
        self._kept: OrderedDict[int, LaidLine] = OrderedDict()
        self._characters = 0
        self.typography = typography
        self.wrap_width: int | None = None

    def set_lines(self, lines: FileLines | None, outline: Outline) -> None:
        self._lines, self._outline = lines, outline
        self._forget()

    def set_geometry(self, typography: Typography, wrap_width: int | None) -> bool:
        """False when nothing changed."""
        if (typography, wrap_width) == (self.typography, self.wrap_width):
            return False
        self.typography, self.wrap_width = typography, wrap_width
        self._forget()
        return True

    def _forget(self) -> None:
        self._kept.clear()
        self._characters = 0

    def known(self, number: int) -> bool:
        return number in self._kept

    def line(self, number: int) -> LaidLine:
        laid = self._kept.get(number)
        if laid is not None:
            self._kept.move_to_end(number)
            return laid
        text, cut = self._lines.shown(number) if self._lines is not None else ("", False)
        laid = self._lay_out(text, cut=cut, bold=self._outline.is_heading(number))
        self._kept[number] = laid
        self._characters += len(text)
        while len(self._kept) > _KEPT or self._characters > _KEPT_CHARACTERS:
            self._characters -= len(self._kept.popitem(last=False)[1].text)
        return laid

    def _lay_out(self, text: str, *, cut: bool, bold: bool) -> LaidLine:
        drawn = text if text.isprintable() else text.translate(_PICTURES)
        layout = QTextLayout(drawn + CUT_MARK if cut else drawn, self.typography.font)
        layout.setCacheEnabled(True)
        option = QTextOption(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute)
        option.setTabStopDistance(_TAB_STOP * self.typography.character_width)
        wrap = QTextOption.WrapMode
        option.setWrapMode(wrap.NoWrap if self.wrap_width is None else wrap.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        if bold:
            layout.setFormats([_whole_line_bold(len(text) * 2)])
        width = self._place_rows(layout)
        return LaidLine(text, layout, utf16_length(text), width, self.typography.row_height)

    def _place_rows(self, layout: QTextLayout) -> float:
        """Break the text into rows; returns the width of the widest."""
        height, baseline = self.typography.row_height, self.typography.baseline
        width = _UNBOUNDED if self.wrap_width is None else float(self.wrap_width)
        layout.beginLayout()
        row, widest = 0, 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0, row * height + baseline - line.ascent()))
            widest = max(widest, line.naturalTextWidth())
            row += 1
        layout.endLayout()
        return widest


def _whole_line_bold(length: int) -> QTextLayout.FormatRange:
    bold = QTextCharFormat()
    bold.setFontWeight(QFont.Weight.Bold)
    made = QTextLayout.FormatRange()
    made.start, made.length, made.format = 0, length, bold
    return made
