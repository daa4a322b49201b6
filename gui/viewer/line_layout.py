"""The layout of one line of source, computed only as far as needed, and the scroll position among such lines.

Shaping a long line of Chinese or of emoji takes a tenth of a second, so such a line is laid out in pieces, each with
its own layout. The result looks the same: unwrapped, they are side by side; wrapped, each begins with a new row. Units
are UTF-16 code units, columns are code points, rows are the visible rows of a wrapped line.

The scroll position is the line at the top and how much of it is hidden. The scroll bar is derived from it and counts
every line equally, wrapped or not, so that later layouts can't move the visible text.
"""

import math
import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt, QTextBoundaryFinder
from PySide6.QtGui import QFont, QTextCharFormat, QTextLayout, QTextOption

from gui.style.typography import Typography
from gui.text.plain_text import code_point_offset, utf16_length
from gui.text.right_to_left import cursor_x, range_edges, text_direction

# --- Rectangles of a range of laid out text, for backgrounds of words ------------------------------------------------


def row_of(layout: QTextLayout, unit: int) -> int:
    """Return the row of a layout that shows this UTF-16 unit; 0 for a layout without rows."""
    line = layout.lineForTextPosition(unit)
    return line.lineNumber() if line.isValid() else 0


def spans(layout: QTextLayout, start: int, end: int) -> Iterator[QRectF]:
    """Yield one rectangle per row for a range of UTF-16 units, relative to the layout."""
    for row in range(row_of(layout, start), row_of(layout, max(start, end - 1)) + 1):
        line = layout.lineAt(row)
        first = max(start, line.textStart())
        last = min(end, line.textStart() + line.textLength())
        if first < last:
            left, right = range_edges(layout, line, first, last)
            yield QRectF(left, line.y(), right - left, line.height())


# ---------------------------------------------------------------------------------------------------------------------

_PIECE = 200
_WRAPPED_PIECE = 400
"""Characters laid out together: a few milliseconds in slow scripts if no glyph was drawn before. A wrapped piece has
several rows, since its last one is laid out twice."""
_TAB_STOP = 4
_FAR = 8e6
"""Pixels, more than any line has. Qt measures text in 64ths of a pixel, as 32-bit integers: 1e8 overflows, and a layout
with a row there paints nothing."""
_TOUCHING = 0.5

_ONE_PIECE_ONLY = re.compile(
    "[\t\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
"""Tab stops depend on the whole line, and so does the order of right-to-left text."""

# Control characters and line separators are shown as their Unicode symbols, one for one.
_PICTURES = {code: 0x2400 + code for code in range(32) if code != 9}
_PICTURES |= {0x7F: 0x2421, 0x85: 0x2424, 0x2028: 0x2424, 0x2029: 0x2424}
# Qt drops a byte order mark at the start of a text, and swaps the bytes of one that begins with U+FFFE.
_PICTURES |= {0xFEFF: 0x2060, 0xFFFE: 0xFFFD}


@dataclass(frozen=True)
class LineStyle:
    """Fonts and width with which lines are laid out; `wrap_width` None disables wrapping."""

    typography: Typography
    wrap_width: int | None
    bold: bool = False
    code: bool = False
    """Whether the text runs from left to right, whatever it begins with."""

    def direction(self, text: str) -> Qt.LayoutDirection:
        return Qt.LayoutDirection.LeftToRight if self.code else text_direction(text)

    def lay_out(self, text: str) -> QTextLayout:
        """Lay out a text in rows of equal height."""
        layout = QTextLayout(text, self.typography.font)
        layout.setCacheEnabled(True)
        option = QTextOption()
        # Each line has its own text's direction, independent of the window's; an unwrapped line begins at the left.
        direction = self.direction(text)
        option.setTextDirection(direction)
        if self.wrap_width is not None and direction == Qt.LayoutDirection.RightToLeft:
            option.setAlignment(Qt.AlignmentFlag.AlignRight)
        option.setTabStopDistance(_TAB_STOP * self.typography.character_width)
        wrap = QTextOption.WrapMode
        option.setWrapMode(wrap.NoWrap if self.wrap_width is None else wrap.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        if self.bold:
            layout.setFormats([_whole_line_bold(len(text) * 2)])
        height, baseline = self.typography.row_height, self.typography.baseline
        width = _FAR if self.wrap_width is None else float(self.wrap_width)
        layout.beginLayout()
        row = 0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            line.setPosition(QPointF(0, row * height + baseline - line.ascent()))
            row += 1
        layout.endLayout()
        return layout


@dataclass
class Piece:
    """A part of a line with its own layout: UTF-16 units `start` to `end`, on `rows` rows from `first_row` on."""

    layout: QTextLayout
    start: int
    end: int
    first_row: int
    rows: int
    left: float
    right: float
    drawn: bool = False
    """Whether it was drawn before: drawing a glyph for the first time is slow."""


class LineLayout:
    """The layout of one line on one or more rows. Columns are code points, units are UTF-16 code units."""

    def __init__(self, text: str, cut_mark: str, style: LineStyle) -> None:
        """`cut_mark` is shown after the text if the line was shortened; empty otherwise."""
        self.text = text
        self.drawn_text = (text if text.isprintable() else text.translate(_PICTURES)) + cut_mark
        """The drawn text, with the cut mark."""
        self.length = utf16_length(text)
        """Units of the text without the mark."""
        self.is_cut = bool(cut_mark)
        self.runs_left = style.direction(self.drawn_text) == Qt.LayoutDirection.RightToLeft
        self.row_height = style.typography.row_height
        self.pieces: list[Piece] = []
        self._style = style
        self._wrapped = style.wrap_width is not None
        size = _WRAPPED_PIECE if self._wrapped else _PIECE
        whole = len(self.drawn_text) <= 2 * size or self.drawn_text.isascii() or _ONE_PIECE_ONLY.search(self.drawn_text)
        self._piece = len(self.drawn_text) if whole else size
        self._done = 0
        self.lay_out_more()

    # --- laying out -----------------------------------------------------------------------------------------------

    @property
    def complete(self) -> bool:
        """Whether the whole line is laid out."""
        return self._done >= len(self.drawn_text)

    def lay_out_more(self) -> None:
        """Lay out the next part of a long line."""
        size = self._piece
        while True:
            text = self.drawn_text[self._done : self._done + size]
            rest = self._done + len(text) < len(self.drawn_text)
            if rest and not self._wrapped:
                text = text[: _joint(text)]
            layout = self._style.lay_out(text)
            if not rest or not self._wrapped or layout.lineCount() > 1:
                break
            size *= 2  # a row of very thin characters
        units, rows = utf16_length(text), layout.lineCount()
        if rest and self._wrapped:  # the next text may continue the last row, so this row begins the next piece
            rows -= 1
            last = layout.lineAt(rows)
            last.setPosition(QPointF(0, _FAR))
            units = last.textStart()
            text = text[: code_point_offset(text, units)]
        before = self.pieces[-1] if self.pieces else None
        start, left, row = (before.end, before.right, before.first_row + before.rows) if before else (0, 0.0, 0)
        if self._wrapped:
            left = 0.0
        right = left + (cursor_x(layout.lineAt(0), units) if not self._wrapped and layout.lineCount() else 0.0)
        row = row if self._wrapped else 0
        self.pieces.append(Piece(layout, start, start + units, row, max(1, rows), left, right))
        self._done += len(text)

    def lay_out_area(self, area: QRectF, until: float) -> bool:
        """Lay out the text in a rectangle relative to the line; False if the `perf_counter` time `until` is over."""
        while not self.complete and not self._covers(area):
            if time.perf_counter() > until:
                return False
            self.lay_out_more()
        return True

    def _covers(self, area: QRectF) -> bool:
        last = self.pieces[-1]
        return (
            (last.first_row + last.rows) * self.row_height >= area.bottom()
            if self._wrapped
            else (last.right >= area.right())
        )

    def _lay_out_until(self, unit: int) -> None:
        while not self.complete and self.pieces[-1].end <= unit:
            self.lay_out_more()

    def rows_within(self, enough: float) -> int:
        """Return the number of rows; if there are more than `enough`, any number of at least `enough`."""
        while self._wrapped and not self.complete and self._known_rows < enough:
            self.lay_out_more()
        return self._known_rows

    @property
    def _known_rows(self) -> int:
        return self.pieces[-1].first_row + self.pieces[-1].rows

    @property
    def guessed_rows(self) -> int:
        """Estimate the number of rows from the part that is laid out."""
        known = self._known_rows
        return known if self.complete or not self._wrapped else known * len(self.drawn_text) // max(1, self._done)

    @property
    def width(self) -> float:
        """The width in pixels of the part laid out so far, if not wrapped."""
        return self.pieces[-1].right

    # --- positions ------------------------------------------------------------------------------------------------

    def unit(self, column: int) -> int:
        """Return the UTF-16 unit at which a column begins."""
        return utf16_length(self.text[:column])

    def column_at(self, x: float, y: float) -> int:
        """Return the column nearest to a point, relative to the line's first row."""
        self.lay_out_area(QRectF(x, y, 0, self.row_height), math.inf)
        row = min(max(0, int(y // self.row_height)), self._known_rows - 1)
        piece = self._piece_at(row) if self._wrapped else self._piece_right_of(x)
        unit = piece.start + piece.layout.lineAt(row - piece.first_row).xToCursor(x - piece.left)
        return code_point_offset(self.text, min(unit, piece.end, self.length))

    def row_of(self, unit: int) -> int:
        """Return the row that shows this UTF-16 unit."""
        unit = min(unit, self.length)
        self._lay_out_until(unit)
        piece = self.pieces[self._piece_of(unit)]
        return piece.first_row + row_of(piece.layout, unit - piece.start)

    def row_start(self, row: int) -> int:
        """Return the first UTF-16 unit of a row."""
        if not self._wrapped:
            return 0
        row = min(row, self.rows_within(row + 1) - 1)
        piece = self._piece_at(row)
        return piece.start + piece.layout.lineAt(row - piece.first_row).textStart()

    def spans(self, start: int, end: int) -> Iterator[tuple[int, float, float]]:
        """Yield row, left and right edge of each part of a range of UTF-16 units."""
        self._lay_out_until(end)
        part: tuple[int, float, float] | None = None
        for number in range(self._piece_of(start), len(self.pieces)):
            piece = self.pieces[number]
            first, last = max(start, piece.start), min(end, piece.end)
            if first >= last:
                break
            for box in spans(piece.layout, first - piece.start, last - piece.start):
                row = piece.first_row + round(box.center().y()) // self.row_height
                left, right = box.left() + piece.left, box.right() + piece.left
                if part is not None and part[0] == row and abs(part[2] - left) < _TOUCHING:
                    part = row, part[1], right  # continues in the next piece
                    continue
                if part is not None:
                    yield part
                part = row, left, right
        if part is not None:
            yield part

    def end_x(self) -> float:
        """The X coordinate at which the text of the last row ends, once all is laid out."""
        last = self.pieces[-1]
        line = last.layout.lineAt(last.rows - 1)
        return last.left + cursor_x(line, min(self.length, last.end) - last.start) if line.isValid() else 0.0

    # --- visible part ---------------------------------------------------------------------------------------------

    def pieces_in(self, area: QRectF) -> list[Piece]:
        """Return the pieces laid out so far that may be visible in a rectangle relative to the line."""
        if len(self.pieces) == 1:
            return self.pieces
        if not self._wrapped:
            return [piece for piece in self.pieces if piece.left <= area.right() and piece.right >= area.left()]
        top, bottom = area.top() / self.row_height - 1, area.bottom() / self.row_height + 1
        return [piece for piece in self.pieces if piece.first_row <= bottom and piece.first_row + piece.rows >= top]

    def units_in(self, area: QRectF) -> tuple[int, int]:
        """Return the first and last UTF-16 unit that may be visible in a rectangle relative to the line."""
        pieces = self.pieces_in(area)
        if not pieces:
            return 0, 0
        if len(self.pieces) > 1:
            return pieces[0].start, pieces[-1].end
        layout, rows = pieces[0].layout, pieces[0].rows
        first = layout.lineAt(min(max(0, int(area.top() // self.row_height)), rows - 1))
        last = layout.lineAt(min(max(0, int(area.bottom() // self.row_height)), rows - 1))
        if not last.isValid():
            return 0, 0
        if rows == 1 and self.text.isascii():  # elsewhere the left edge need not be the beginning
            return first.xToCursor(area.left()), last.xToCursor(area.right())
        return first.textStart(), last.textStart() + last.textLength()

    def _piece_of(self, unit: int) -> int:
        """Return the index of the piece that contains this UTF-16 unit, or of the last one before it."""
        return max(0, bisect_right(self.pieces, unit, key=lambda piece: piece.start) - 1)

    def _piece_at(self, row: int) -> Piece:
        return self.pieces[max(0, bisect_right(self.pieces, row, key=lambda piece: piece.first_row) - 1)]

    def _piece_right_of(self, x: float) -> Piece:
        return self.pieces[max(0, bisect_right(self.pieces, x, key=lambda piece: piece.left) - 1)]


def _joint(text: str) -> int:
    """Return where to end a piece of text: after the last space of its second half, else between two characters."""
    blank = text.rfind(" ", len(text) // 2)
    if blank >= 0:
        return blank + 1
    finder = QTextBoundaryFinder(QTextBoundaryFinder.BoundaryType.Grapheme, text)
    finder.toEnd()
    return code_point_offset(text, max(1, finder.toPreviousBoundary()))


def _whole_line_bold(length: int) -> QTextLayout.FormatRange:
    bold = QTextCharFormat()
    bold.setFontWeight(QFont.Weight.Bold)
    format_range = QTextLayout.FormatRange()
    format_range.start, format_range.length, format_range.format = 0, length, bold
    return format_range


class ScrollPosition:
    """Stores the line at the top of the view and how many pixels of it are hidden.

    `height_of(number, enough)` may lay the line out: it returns the line's height, or any value of at least `enough`
    for a taller line. It is called only for lines near the view. `estimated_height(number)` needs no layout, for the
    scroll bar.
    """

    def __init__(self, height_of: Callable[[int, float], int], estimated_height: Callable[[int], int]) -> None:
        self._height_of = height_of
        self._estimated_height = estimated_height
        self._count = 0
        self._view = 0
        self.line = 1
        """The line at the top."""
        self.hidden = 0
        """Pixels of it above the view."""

    def reset(self, line_count: int, line: int = 1, *, above: int = 0) -> None:
        """Go to a line of another text with this number of lines, as `go_to`; `resize` follows."""
        self._count = line_count
        self.line, self.hidden = min(line, max(1, line_count)), -above

    def resize(self, view_height: int, line_count: int) -> None:
        """Set the view's height and the text's length; the top line stays if there is enough text below it."""
        self._view, self._count = view_height, line_count
        self._correct()

    def move(self, pixels: int) -> None:
        """Scroll down by some pixels (up, if negative), as far as there is text."""
        self.hidden += pixels
        self._correct()

    def go_to(self, line: int, *, above: int = 0, within: int = 0) -> None:
        """Scroll `line` to `above` pixels below the top; `within`: pixels of the line itself that may be hidden."""
        self.line, self.hidden = line, within - above
        self._correct()

    def go_to_end(self) -> None:
        self.line, self.hidden = self._end()

    def top_of(self, line: int) -> int | None:
        """Return how many pixels a line begins below the top of the view; None if it is not in view."""
        if not self.line <= line <= self._count:
            return None
        top = -self.hidden
        for number in range(self.line, line):
            top += self._height_of(number, self._view - top)
            if top >= self._view:
                return None
        return top

    def value(self, unit: int) -> int:
        """Return the scroll bar's value if each line has the length `unit`."""
        return self._value(self.line, self.hidden, unit) if self._count else 0

    def maximum(self, unit: int) -> int:
        """Return the scroll bar's maximum if each line has the length `unit`."""
        remaining = self._view
        for number in range(self._count, 0, -1):
            remaining -= self._estimated_height(number)
            if remaining <= 0:
                return self._value(number, -remaining, unit)
        return 0

    def set_value(self, value: int, unit: int) -> None:
        """Scroll to a value of the scroll bar, on which each line has the length `unit`."""
        if value >= self.maximum(unit):
            self.go_to_end()
            return
        line, part = divmod(value, unit)
        self.line = min(line + 1, max(1, self._count))
        self.hidden = part * self._estimated_height(self.line) // unit if part else 0
        self._correct()

    def _value(self, line: int, hidden: int, unit: int) -> int:
        return (line - 1) * unit + min(unit, hidden * unit // max(1, self._estimated_height(line)))

    def _correct(self) -> None:
        """Correct the position so that the hidden pixels belong to the top line and the view ends with the text."""
        if self._count == 0:
            self.line, self.hidden = 1, 0
            return
        self.line = min(max(1, self.line), self._count)
        while self.hidden < 0 and self.line > 1:
            self.line -= 1
            self.hidden += self._height_of(self.line, math.inf)
        self.hidden = max(0, self.hidden)
        while self.line < self._count and self.hidden >= (height := self._height_of(self.line, self.hidden + 1)):
            self.hidden -= height
            self.line += 1
        remaining = self._view + self.hidden
        for number in range(self.line, self._count + 1):
            remaining -= self._height_of(number, remaining)
            if remaining <= 0:
                return
        self.line, self.hidden = self._end()

    def _end(self) -> tuple[int, int]:
        """Return the position (line, hidden pixels) at which the last line ends at the bottom of the view."""
        remaining = self._view
        for number in range(self._count, 0, -1):
            remaining -= self._height_of(number, math.inf)
            if remaining <= 0:
                return number, -remaining
        return 1, 0


_WORD_CHARACTERS = 24


def unbroken(text: str) -> set[str]:
    """Return the first characters of each part of a text in which Qt doesn't break lines."""
    units = text.encode("utf-16-le")
    finder = QTextBoundaryFinder(QTextBoundaryFinder.BoundaryType.Line, text)
    parts, start = set(), 0
    while (end := finder.toNextBoundary()) >= 0:
        parts.add(units[2 * start : 2 * end].decode("utf-16-le").strip()[:_WORD_CHARACTERS])
        start = end
    return parts
