"""The widget that shows the source of a file: hits, selection, keys and accessibility."""

from dataclasses import replace

from PySide6.QtCore import QBasicTimer, QPoint, Qt, QTimerEvent, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent

from engine import tr
from gui.core.jobs import Jobs
from gui.viewer.line_layout import LineLayout
from gui.viewer.line_painter import Decoration
from gui.viewer.match_list import Hit, MatchMap
from gui.viewer.outline import Outline
from gui.viewer.text_canvas import LineCanvas
from gui.viewer.text_lines import FileLines, Selection, TextPosition, word_at

_SPOKEN_CHARACTERS = 300
_CONTEXT_ROWS = 4
_DRAG_INTERVAL = 40
_TURNED = {Qt.Key.Key_Left: Qt.Key.Key_Right, Qt.Key.Key_Right: Qt.Key.Key_Left}
_CARET_KEYS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End)


class SourceView(LineCanvas):
    """Shows the source of a file; keys that it doesn't use go to its parent.

    Signals: selected: the user has selected text with the mouse.
    """

    selected = Signal()

    def __init__(self, jobs: Jobs) -> None:
        self.current_hit: Hit | None = None
        """The framed hit."""
        self._revealed: tuple[int, int] | None = None
        self._drag = QBasicTimer()
        self.selection = Selection()
        super().__init__(jobs)
        self._dragged_to = QPoint()
        self._second_click: QPoint | None = None
        self.setAccessibleName(tr("Source text"))
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)

    def set_lines(self, lines: FileLines | None, outline: Outline, *, first: int | None = 1) -> None:
        self.current_hit = None
        self.selection.clear()
        self._drag.stop()
        super().set_lines(lines, outline, first=first)

    def set_highlight(self, lines: tuple[int, int] | None) -> None:
        if lines != self.highlight:
            self.selection.clear()  # it was about the part before
        super().set_highlight(lines)

    def reveal_part(self, first: int, focus: int) -> None:
        """Scroll line `first` of a part to a third from the top, or line `focus` if that would be hidden then."""
        third = self.viewport().height() // 3
        self.scroll_position.go_to(first, above=third)
        top = self.scroll_position.top_of(focus)
        if top is None or top > self.viewport().height() - _CONTEXT_ROWS * self.row_height:
            self.scroll_position.go_to(focus, above=third)
        self.horizontalScrollBar().setValue(0)
        self._moved()
        self._revealed = first, focus

    @property
    def top_line(self) -> int:
        """The first line in view."""
        return self.scroll_position.line

    def go_to_line(self, line: int) -> None:
        """Scroll a line to the top of the view."""
        self.scroll_position.go_to(min(max(1, line), max(1, self.line_count)))
        self._moved()

    # --- hits (the protocol `MatchView`) --------------------------------------------------------------------------

    def position(self) -> TextPosition:
        """Return where the search for hits starts: the highlighted part or, if that was scrolled away, the top."""
        if self.highlight is not None and self.scroll_position.top_of(self.highlight[0]) is not None:
            return self.highlight[0], -1
        return self.scroll_position.line + (self.scroll_position.hidden > 0), -1

    def level(self, hit: Hit) -> float | None:
        top = self.scroll_position.top_of(hit.line)
        if top is None:
            return None
        laid = self.layouts.line(hit.line)
        row = next((row for row, _, _ in laid.spans(laid.unit(hit.start), laid.unit(hit.end))), 0)
        return (top + row * self.row_height) / self.viewport().height()

    def show_hit(self, hit: Hit | None) -> None:
        """Frame a hit and scroll to it; None frames none."""
        self.current_hit = hit
        self.viewport().update()
        if hit is not None:
            self.selection.start_at((hit.line, hit.end))
            self._bring_into_view(hit)

    def show_hits(self, marks: MatchMap, found: MatchMap | None) -> None:
        """Show ticks in the scroll bar for the hits that the keys n and N go to."""
        self._overview.set_ticks((marks if found is None else found).lines())

    def _bring_into_view(self, hit: Hit) -> None:
        laid = self.layouts.line(hit.line)
        row, left, right = next(laid.spans(laid.unit(hit.start), laid.unit(hit.end)), (0, 0.0, 0.0))
        height = self.viewport().height()
        top = self.scroll_position.top_of(hit.line)
        if top is None or not 0 <= top + row * self.row_height <= height - 2 * self.row_height:
            self.scroll_position.go_to(hit.line, above=height // 3, within=row * self.row_height)
        self._widest = max(self._widest, laid.width)
        self._moved()
        bar, available = self.horizontalScrollBar(), self._text_width()
        if not bar.value() <= left <= right <= bar.value() + available:
            bar.setValue(round(max(0.0, right - available * 2 / 3)))

    # --- selection ------------------------------------------------------------------------------------------------

    def select_all(self) -> None:
        if self.line_count:
            last = self.line_count
            self.selection.select((1, 0), (last, len(self.text_at(last))))
            self.viewport().update()

    def select_hit(self) -> None:
        """Select the framed hit, so that it can be copied after the frame disappears."""
        if self.current_hit is not None:
            self.selection.select(self.current_hit.position, (self.current_hit.line, self.current_hit.end))

    def selected_word(self) -> str:
        """Return the selected text if it is within one line; else an empty text."""
        ends = self.selection.ends
        if ends is None or ends[0][0] != ends[1][0]:
            return ""
        return self.text_at(ends[0][0])[ends[0][1] : ends[1][1]]

    def selected_lines(self) -> tuple[int, int] | None:
        """Return first and last line of the selection, or None; a last line without selected text doesn't count."""
        ends = self.selection.ends
        if ends is None:
            return None
        (first, _), (last, column) = ends
        return first, last - (column == 0)

    def current_line(self) -> int:
        """Return the user's current line: of the selection, the framed hit, the found part, or the top of the view."""
        if self.selection.caret is not None:
            return self.selection.caret[0]
        return max(1, self.position()[0])

    def _select_line(self, number: int) -> None:
        after = (number + 1, 0) if number < self.line_count else (number, len(self.text_at(number)))
        self.selection.select((number, 0), after)
        self.viewport().update()

    def _move_caret(self, key: int) -> None:
        """Extend the selection by a key (arrow, Home or End) that was pressed with Shift."""
        line, column = self.selection.caret or (self.scroll_position.line, 0)
        length = len(self.text_at(line))
        if self.layouts.line(line).runs_left:
            key = _TURNED.get(Qt.Key(key), key)
        match key:
            case Qt.Key.Key_Left:
                position = (line, column - 1) if column else (line - 1, len(self.text_at(max(1, line - 1))))
            case Qt.Key.Key_Right:
                position = (line, column + 1) if column < length else (line + 1, 0)
            case Qt.Key.Key_Up:
                position = (line - 1, column)
            case Qt.Key.Key_Down:
                position = (line + 1, column)
            case Qt.Key.Key_Home:
                position = (line, 0)
            case _:
                position = (line, length)
        if 1 <= position[0] <= self.line_count:
            position = position[0], min(position[1], len(self.text_at(position[0])))
            self.selection.extend(position)
            self.ensure_visible(position)

    # --- accessibility --------------------------------------------------------------------------------------------

    def _moved(self) -> None:
        super()._moved()
        self._revealed = None
        caret = self.selection.caret
        number = min(caret[0] if caret is not None else self.scroll_position.line, self.line_count)
        line_text = self.text_at(number)[:_SPOKEN_CHARACTERS] if number else ""
        self.setAccessibleDescription(tr("Line {number:,}: {text}", number=number, text=line_text) if number else "")

    # --- Qt's events ----------------------------------------------------------------------------------------------

    def _decoration(self, number: int, laid: LineLayout, *, late: bool) -> Decoration:
        plain = super()._decoration(number, laid, late=late)
        current = selected = None
        if self.current_hit is not None and self.current_hit.line == number:
            current = laid.unit(self.current_hit.start), laid.unit(self.current_hit.end)
        if (columns := self.selection.columns(number, len(laid.text))) is not None:
            line_end = columns[1] > len(laid.text)
            selected = laid.unit(columns[0]), laid.unit(columns[1] - line_end) + line_end
        return replace(plain, current=current, selected=selected) if current or selected else plain

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the revealed location visible, unless the user has scrolled."""
        revealed = self._revealed
        super().resizeEvent(event)
        if revealed is not None:
            self.reveal_part(*revealed)

    def _bar_moved(self) -> None:
        self._revealed = None

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        super().scrollContentsBy(dx, dy)
        if self._drag.isActive():
            self._extend_to(self._dragged_to)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or not self.line_count:
            return
        point = event.position().toPoint()
        position = self.position_at(point)
        third_click = self._second_click is not None and (point - self._second_click).manhattanLength() < _DRAG_INTERVAL
        self._second_click = None
        if self.in_gutter(point) or third_click:
            self._select_line(position[0])
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.selection.extend(position)
        else:
            self.selection.start_at(position)
        self._moved()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or not self.line_count:
            return
        self._second_click = event.position().toPoint()
        line, column = self.position_at(self._second_click)
        start, end = word_at(self.text_at(line), column)
        self.selection.select((line, start), (line, end))
        self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and self.selection.caret is not None:
            self._dragged_to = event.position().toPoint()
            self._extend_to(self._dragged_to)
            if self.viewport().rect().contains(self._dragged_to):
                self._drag.stop()
            elif not self._drag.isActive():
                self._drag.start(_DRAG_INTERVAL, self)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._drag.stop()
        if event.button() == Qt.MouseButton.LeftButton and self.selection.ends is not None:
            self.selected.emit()

    def timerEvent(self, event: QTimerEvent) -> None:
        """Scroll while the mouse is held outside the view, faster the farther it is."""
        if event.timerId() != self._drag.timerId():
            super().timerEvent(event)
            return
        area, point = self.viewport().rect(), self._dragged_to
        across = min(0, point.x() - area.left()) + max(0, point.x() - area.right())
        self.horizontalScrollBar().setValue(self.horizontalScrollBar().value() + across)
        self.scroll_by(min(0, point.y() - area.top()) + max(0, point.y() - area.bottom()))
        self._extend_to(point)

    def _extend_to(self, point: QPoint) -> None:
        area = self.viewport().rect()
        inside = QPoint(point.x(), min(max(point.y(), area.top()), area.bottom()))
        self.selection.extend(self.position_at(inside))
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        shift = event.modifiers() == Qt.KeyboardModifier.ShiftModifier
        bar = self.horizontalScrollBar()
        if shift and event.key() in _CARET_KEYS and self.line_count:
            self._move_caret(event.key())
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            step = bar.singleStep() if event.key() == Qt.Key.Key_Right else -bar.singleStep()
            bar.setValue(bar.value() + step)
        else:
            super().keyPressEvent(event)
