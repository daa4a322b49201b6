"""A scroll area that paints a text of any size line by line.

No work is done per line of the file: visible lines are read, laid out and highlighted when painted, within a time
budget for each frame. Lines that don't fit into it follow in the next frame.
"""

import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPoint, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QAccessible, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame

from engine import marked, tr
from gui.core.jobs import Jobs
from gui.style.theme import tokens
from gui.style.typography import FontSized, Typography
from gui.text.right_to_left import mirror, mirrored_x
from gui.viewer.line_layout import LineLayout, LineStyle, ScrollPosition
from gui.viewer.line_painter import Decoration, Gutter, LinePainter
from gui.viewer.match_list import Finder, MatchMarks, MatchScrollBar
from gui.viewer.outline import Outline
from gui.viewer.text_lines import LINE_LIMIT, FileLines, TextPosition
from gui.widgets.accessibility import Part

_FRAME_BUDGET = 0.008
"""Seconds per frame for reading, layout and highlights; the rest of the screen waits for the next frame."""
_REST_BUDGET = 0.004
"""Seconds for laying out the rest of long lines before the event loop continues."""
_PAD = 8
"""Pixels above the first and below the last line."""
_RIGHT_PAD = 12
_LINE_CHARACTERS = 100
"""Maximum number of characters in a row of wrapped text."""
_WHEEL_ROWS = 3
_WHEEL_NOTCH = 120
CUT_MARK = marked(" … line cut at {limit:,} characters")
_MAX_CACHED = 600
"""Cached lines: more than the tallest screen shows."""
_MAX_CACHED_CHARACTERS = 3_000_000
"""Maximum number of characters of cached lines: a tall screen of lines of full length, about 140 MB."""


class LayoutCache:
    """Caches the layouts of a file's lines for one width; `wrap_width` None disables wrapping."""

    def __init__(self, typography: Typography) -> None:
        self._lines: FileLines | None = None
        self._outline = Outline()
        self._cached: OrderedDict[int, LineLayout] = OrderedDict()
        self._characters = 0
        self.typography = typography
        self.wrap_width: int | None = None

    def set_lines(self, lines: FileLines | None, outline: Outline) -> None:
        self._lines, self._outline = lines, outline
        self._forget()

    def set_geometry(self, typography: Typography, wrap_width: int | None) -> bool:
        """Set fonts and wrap width; drops all layouts and returns True if one of them changed."""
        if (typography, wrap_width) == (self.typography, self.wrap_width):
            return False
        self.typography, self.wrap_width = typography, wrap_width
        self._forget()
        return True

    def _forget(self) -> None:
        self._cached.clear()
        self._characters = 0

    def is_cached(self, number: int) -> bool:
        return number in self._cached

    def estimated_rows(self, number: int) -> int:
        """Return the number of rows of a line, estimated from its length unless it is laid out already."""
        laid = self._cached.get(number)
        if laid is not None or self._lines is None or self.wrap_width is None:
            return 1 if laid is None else laid.guessed_rows
        text, _ = self._lines.display_line(number)
        return 1 + int(len(text) * self.typography.character_width / max(1, self.wrap_width))

    def line(self, number: int) -> LineLayout:
        """Return the layout of a line; at least its beginning is complete."""
        laid = self._cached.get(number)
        if laid is not None:
            self._cached.move_to_end(number)
            return laid
        text, cut = self._lines.display_line(number) if self._lines is not None else ("", False)
        bold, code = self._outline.is_heading(number), self._outline.is_code(number)
        style = LineStyle(self.typography, self.wrap_width, bold=bold, code=code)
        laid = self._cached[number] = LineLayout(text, tr(CUT_MARK, limit=LINE_LIMIT) if cut else "", style)
        self._characters += len(text)
        while len(self._cached) > _MAX_CACHED or self._characters > _MAX_CACHED_CHARACTERS:
            self._characters -= len(self._cached.popitem(last=False)[1].text)
        return laid


class LineScroller(FontSized, QAbstractScrollArea):
    """Scrolls lines of different heights by pixels; the unit of the vertical bar is a row."""

    def __init__(self) -> None:
        super().__init__()
        self.scroll_position = ScrollPosition(self._height_of, self._estimated_height)
        self._moving_bar = False
        self.setFrameShape(QFrame.Shape.NoFrame)

    @property
    def line_count(self) -> int:
        raise NotImplementedError

    @property
    def row_height(self) -> int:
        raise NotImplementedError

    def _height_of(self, number: int, enough: float) -> int:
        """Return the height of line `number`; if it is taller than `enough`, any value of at least `enough`."""
        raise NotImplementedError

    def _estimated_height(self, number: int) -> int:
        return self._height_of(number, 0)

    def _visible(self) -> Iterator[tuple[int, int, int]]:
        """Yield number, top and height of each line in view; the height of the last one may be too small."""
        top, bottom = -self.scroll_position.hidden, self.viewport().height()
        for number in range(self.scroll_position.line, self.line_count + 1):
            if top >= bottom:
                return
            height = self._height_of(number, bottom - top)
            yield number, top, height
            top += height

    def scroll_by(self, pixels: int) -> None:
        self.scroll_position.move(pixels)
        self._moved()

    def scroll_to_end(self, *, top: bool) -> None:
        if top:
            self.scroll_position.go_to(1)
        else:
            self.scroll_position.go_to_end()
        self._moved()

    def _moved(self) -> None:
        """Update scroll bars and viewport after scrolling."""
        self._sync_bars()
        self.viewport().update()

    def _sync_bars(self) -> None:
        bar, unit = self.verticalScrollBar(), self.row_height
        self._moving_bar = True
        bar.setRange(0, self.scroll_position.maximum(unit))
        bar.setPageStep(max(unit, self.viewport().height()))
        bar.setSingleStep(unit)
        bar.setValue(self.scroll_position.value(unit))
        self._moving_bar = False

    def _bar_moved(self) -> None:
        """The user has moved the vertical bar."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.measure()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        if dy and not self._moving_bar:
            self.scroll_position.set_value(self.verticalScrollBar().value(), self.row_height)
            self._bar_moved()
        self.viewport().update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()  # the viewer changes the size of the text
            return
        pixels, angle = event.pixelDelta(), event.angleDelta()
        if abs(angle.x()) > abs(angle.y()) or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            super().wheelEvent(event)
            return
        rows = angle.y() / _WHEEL_NOTCH * _WHEEL_ROWS
        self.scroll_by(-(pixels.y() or round(rows * self.row_height)))
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, row = event.key(), self.row_height
        page = max(row, self.viewport().height() - 2 * row)
        match key:
            case Qt.Key.Key_Up | Qt.Key.Key_Down:
                self.scroll_by(row if key == Qt.Key.Key_Down else -row)
            case Qt.Key.Key_PageUp | Qt.Key.Key_PageDown | Qt.Key.Key_Space:
                shift = event.modifiers() == Qt.KeyboardModifier.ShiftModifier
                up = key == Qt.Key.Key_PageUp or (shift and key == Qt.Key.Key_Space)
                self.scroll_by(-page if up else page)
            case Qt.Key.Key_Home | Qt.Key.Key_End:
                self.scroll_to_end(top=key == Qt.Key.Key_Home)
            case _:
                event.ignore()


class LineCanvas(LineScroller):
    """Shows lines with numbers, a highlighted part and marked hits; scrolls by pixels and lays out only visible
    lines."""

    spoken_role = QAccessible.Role.Document

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self._lines: FileLines | None = None
        self.highlight: tuple[int, int] | None = None
        """First and last line of the part that was found."""
        self._wrap = False
        self._widest = 0.0
        self._lanes = 0
        """Number of lanes in the margin next to the line numbers."""
        self.layouts = LayoutCache(Typography.current())
        self._marks, self._found = MatchMarks(jobs, self), MatchMarks(jobs, self)
        for marks in (self._marks, self._found):
            marks.found.connect(self.viewport().update)
        self.gutter = Gutter.for_lines(0, self.layouts.typography)
        self.painted = True
        """Whether the last frame showed all visible text: on a busy machine, the rest follows in the next ones."""
        self._next_frame = QTimer(self, singleShot=True)
        self._next_frame.timeout.connect(self._paint_rest)
        self._unpainted = QRect()
        """The part of the viewport that is still to be painted."""
        self._rest_timer = QTimer(self, singleShot=True)
        self._rest_timer.timeout.connect(self._lay_out_rest)
        self._overview = MatchScrollBar(self)
        self.setVerticalScrollBar(self._overview)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.horizontalScrollBar().setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # long lines begin at the left

    # --- display --------------------------------------------------------------------------------------------------

    @property
    def lines(self) -> FileLines | None:
        return self._lines

    @property
    def line_count(self) -> int:
        return self._lines.line_count if self._lines is not None else 0

    def set_lines(self, lines: FileLines | None, outline: Outline, *, first: int | None = 1) -> None:
        """Show a text, or none, with line `first` a third below the top.

        `first` None: a new version of the text, same position.
        """
        self._lines = lines
        self.layouts.set_lines(lines, outline)
        self._marks.forget()
        self._found.forget()
        self._widest = 0.0
        if first is not None:
            self.scroll_position.reset(self.line_count, first, above=self.viewport().height() // 3)
            self.horizontalScrollBar().setValue(0)
        self.measure()

    def set_highlight(self, lines: tuple[int, int] | None) -> None:
        """Set first and last line of the highlighted part; None for none."""
        self.highlight = lines
        self._overview.set_highlight(lines)
        self.viewport().update()

    def set_finders(self, marks: Finder | None, found: Finder | None) -> None:
        """Set the finders of the query's words and of the find bar's text, whose hits are highlighted."""
        self._marks.set_finder(marks)
        self._found.set_finder(found)
        self.viewport().update()

    @property
    def wrap(self) -> bool:
        return self._wrap

    def set_wrap(self, wrap: bool) -> None:
        """Turn wrapping of long lines at the edge of the view on or off."""
        if wrap != self._wrap:
            self._wrap = wrap
            self.horizontalScrollBar().setValue(0)
            self.measure()

    # --- scrolling ------------------------------------------------------------------------------------------------

    @property
    def row_height(self) -> int:
        return self.layouts.typography.row_height

    def text_at(self, line: int) -> str:
        """Return one line as displayed."""
        return self.layouts.line(line).text

    def spoken_parts(self) -> Sequence[Part]:
        """Return the lines in view with their numbers, for screen readers."""
        width = self.viewport().width()
        return [
            Part(f"{number}: {self.text_at(number)}", QRect(0, top, width, line_height))
            for number, top, line_height in self._visible()
        ]

    def ensure_visible(self, position: TextPosition) -> None:
        """Scroll as little as needed to show a position (line and column)."""
        laid = self.layouts.line(position[0])
        row_top = self._pad_above(position[0]) + laid.row_of(laid.unit(position[1])) * self.row_height
        top = self.scroll_position.top_of(position[0])
        last_row = self.viewport().height() - self.row_height
        if top is None:
            above = last_row if position[0] > self.scroll_position.line else 0
            self.scroll_position.go_to(position[0], above=above, within=row_top)
        else:
            y = top + row_top
            self.scroll_position.move(min(y, 0) or max(0, y - last_row))
        self._moved()

    def position_at(self, point: QPoint) -> TextPosition:
        """Return the text position nearest to a point, which may be outside of the viewport."""
        number, top = self.scroll_position.line, -self.scroll_position.hidden
        for number, top, _ in self._visible():
            if point.y() < top + self._height_of(number, point.y() - top + 1):
                break
        laid = self.layouts.line(number)
        x = point.x() - self._text_left() + self.horizontalScrollBar().value()
        return number, laid.column_at(x, point.y() - top - self._pad_above(number))

    def in_gutter(self, point: QPoint) -> bool:
        return self._mirrored(point) < self.gutter.edge

    def _mirrored(self, point: QPoint) -> int:
        """Return the X coordinate of a point, mirrored in right-to-left layouts."""
        return round(mirrored_x(point.x(), self.viewport().width(), self.layoutDirection()))

    def _text_left(self) -> int:
        """Return the X coordinate in the viewport at which text begins if it is not scrolled sideways."""
        left = self.gutter.text_left
        return self.viewport().width() - left - self._text_width() if self.isRightToLeft() else left

    def _sync_bars(self) -> None:
        super()._sync_bars()
        self._overview.set_length(max(self.line_count, self.viewport().height() // self.row_height))
        self._sync_across()

    def _sync_across(self) -> None:
        """Update the horizontal bar, whose range grows with the widest line painted so far."""
        across = self.horizontalScrollBar()
        across.setRange(0, 0 if self._wrap else max(0, round(self._widest) - self._text_width()))
        across.setPageStep(self._text_width())
        across.setSingleStep(round(4 * self.layouts.typography.character_width))

    # --- geometry -------------------------------------------------------------------------------------------------

    def _pad_above(self, number: int) -> int:
        return _PAD if number == 1 else 0

    def _height_of(self, number: int, enough: float) -> int:
        rows = self.layouts.line(number).rows_within(enough / self.row_height) if self._wrap else 1
        return rows * self.row_height + self._pads(number)

    def _estimated_height(self, number: int) -> int:
        return self.layouts.estimated_rows(number) * self.row_height + self._pads(number)

    def _pads(self, number: int) -> int:
        return self._pad_above(number) + (_PAD if number == self.line_count else 0)

    def _text_width(self) -> int:
        """Return the width of the column of text; wrapped lines stay short enough to read in a wide window."""
        typography = self.layouts.typography
        free = max(1, self.viewport().width() - self.gutter.text_left - typography.scaled(_RIGHT_PAD))
        return min(free, round(_LINE_CHARACTERS * typography.character_width)) if self._wrap else free

    def measure(self) -> None:
        """Lay out again after a change of width, font, wrapping or text; the top line stays in place."""
        line, row_offset = self.scroll_position.line, 0
        if self.layouts.wrap_width is not None and line <= self.line_count:
            row = max(0, self.scroll_position.hidden - self._pad_above(line)) // self.row_height
            row_offset = self.layouts.line(line).row_start(row)
        typography = Typography.current()
        self.gutter = Gutter.for_lines(self.line_count, typography, self._lanes)
        if self.layouts.set_geometry(typography, self._text_width() if self._wrap else None):
            self._widest = 0.0
            row = self.layouts.line(line).row_of(row_offset) if row_offset else 0
            self.scroll_position.hidden = row * self.row_height + self._pad_above(line) if row else 0
        self.scroll_position.resize(self.viewport().height(), self.line_count)
        self._moved()

    # --- painting -------------------------------------------------------------------------------------------------

    def _decoration(self, number: int, laid: LineLayout, *, late: bool) -> Decoration:
        """Return the ranges to highlight in a line; if `late`, only those that are known already."""
        return Decoration(
            marks=[] if late and not self._marks.is_searched(number) else self._marks.ranges_in(number, laid.text),
            found=[] if late and not self._found.is_searched(number) else self._found.ranges_in(number, laid.text),
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setFont(self.layouts.typography.font)
        mirror(painter, self.viewport().rect(), self.layoutDirection())
        typography = self.layouts.typography
        pen = LinePainter(painter, tokens(self.palette()), typography, self.gutter, self._text_width())
        pen.visible = QRectF(self.viewport().rect())
        pen.shift = self.horizontalScrollBar().value()
        pen.deadline = until = time.perf_counter() + _FRAME_BUDGET
        widest = self._widest
        late = False
        left_out: list[int] = []
        dirty = event.rect()
        for number, top, height in self._visible():
            if top > dirty.bottom():
                break
            if top + height <= dirty.top():
                continue
            if self.highlight is not None and self.highlight[0] <= number <= self.highlight[1]:
                pen.highlight(top, height)
            first_row = top + self._pad_above(number)
            pen.number(first_row, number)
            if late and not self.layouts.is_cached(number):
                left_out.append(top)
                continue
            marked = not late or (self._marks.is_searched(number) and self._found.is_searched(number))
            laid = self.layouts.line(number)
            drawn = pen.text(first_row, laid, self._decoration(number, laid, late=late))
            late |= not drawn
            if not (marked and drawn):
                left_out.append(top)
            widest = max(widest, laid.width)
            late = late or time.perf_counter() > until
        painter.end()
        self.painted = not left_out and self._unpainted.isEmpty()
        if widest > self._widest:
            self._widest = widest
            self._sync_across()
        if left_out:  # painted parts would use up the time of the next frame again
            self._unpainted = self._unpainted.united(self.viewport().rect().adjusted(0, left_out[0], 0, 0))
            self._next_frame.start(0)
        elif not self._rest_timer.isActive() and self._unfinished() is not None:
            self._rest_timer.start(0)

    def _paint_rest(self) -> None:
        """Paint the part that the last frame had no time for."""
        rest, self._unpainted = self._unpainted, QRect()
        self.viewport().update(rest)

    def _unfinished(self) -> LineLayout | None:
        """Return a partly laid-out line whose height or width will be needed soon; None if there is none."""
        near = [self.scroll_position.line - 1, self.line_count] if self._wrap else []
        for number in (*(number for number, _, _ in self._visible()), *near):
            if number and self.layouts.is_cached(number) and not (laid := self.layouts.line(number)).complete:
                return laid
        return None

    def _lay_out_rest(self) -> None:
        """Lay out the rest of long lines while idle, so that scroll bars become exact and later jumps are fast."""
        until = time.perf_counter() + _REST_BUDGET
        while (laid := self._unfinished()) is not None and time.perf_counter() < until:
            while not laid.complete and time.perf_counter() < until:
                laid.lay_out_more()
            self._widest = max(self._widest, laid.width)
        self._sync_bars()
        if laid is not None:
            self._rest_timer.start(0)
