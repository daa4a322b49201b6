"""Scrolls through the rows of a conversation: rows in view, the row and the text at a point, jumps to a row.

Only rows near the view are measured. Heights are estimates until texts are laid out; when they become known, the text
being read stays in place. The scroll bar is a map of the messages, long runs of tools, and hits.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPixmap, QResizeEvent, QTextDocument
from PySide6.QtWidgets import QScrollBar, QWidget

from engine import tr
from gui.conversation.row_folding import GROUP, MORE, SUMMARY, Row, Rows
from gui.conversation.row_layout import RowLayout
from gui.core.location import ReadingPosition
from gui.style.stylesheet import font_scale, scaled
from gui.style.theme import Tokens, tokens
from gui.viewer.line_layout import ScrollPosition
from gui.viewer.line_painter import faded
from gui.viewer.text_lines import TextPosition

BAR_UNIT = 32
"""Length of a row on the scroll bar, whatever its height."""
ABOVE = 24
"""Pixels of preceding text that stay visible above the target of a jump."""
_AHEAD = 24
"""Rows before and after the view whose texts are laid out too."""
_BELOW = 24
"""Pixels of space below the last row."""
_ONE_LINE = 20
"""Pixels of a row's text that are seen as text."""
_MAX_MEASURED = 60
"""Rows of a message that are measured to see whether it fits into the view."""

_WIDTH = 34
_CELL = 15
_BLOCK = 18
_EDGE = 10
_VIEW_OPACITY = 46


class VisibleRow(NamedTuple):
    """A row that is at least partly in view."""

    position: int
    row: Row
    top: int
    """Top of the row with its heading, in pixels below the top of the view."""


class TextPoint(NamedTuple):
    """A point of the view that is over the text of a piece."""

    piece: int
    document: QTextDocument
    point: QPointF
    """The point in coordinates of the document."""

    @property
    def position(self) -> TextPosition:
        """The piece, and the nearest cursor position in its document."""
        return self.piece, self.document.documentLayout().hitTest(self.point, Qt.HitTestAccuracy.FuzzyHit)

    @property
    def link(self) -> str:
        """The target of the link at the point; empty if there is none."""
        return self.document.documentLayout().anchorAt(self.point)


@dataclass(frozen=True)
class ScrollTarget:
    """The target of a jump. It stays in place while texts around it are laid out, until the user scrolls."""

    row: Row
    above: int | None = None
    """Pixels between the top of the view and the row, or the target in it; None for a third of the view, whose height
    may be known only later."""
    within: Callable[[Row], int] | None = None
    """Returns how many pixels below the row's head the target is; called again when more texts are laid out."""


class ConversationScroller(QObject):
    """The scroll position, in pixels, in the rows of one conversation.

    Call `set_layout` with the sizes of the rows and the height of the view first.

    Signals:
        moved: other rows are in view, or at other heights.
        rows_changed: rows were folded or unfolded.
    """

    moved = Signal()
    rows_changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.layout: RowLayout | None = None
        """None without a conversation."""
        self.view_height = 0
        self._target: ScrollTarget | None = None
        self._restored: ScrollTarget | None = None
        self._top_height = 0
        """Height of the row at the top when the view moved last."""
        self._position = ScrollPosition(lambda number, _enough: self._height(number), self._height)

    @property
    def _count(self) -> int:
        return self.layout.count if self.layout is not None else 0

    def _height(self, number: int) -> int:
        """Return the height of row `number`, counted from 1, in pixels. The last row has some space below it."""
        assert self.layout is not None
        below = self.layout.measures.px(_BELOW) if number == self._count else 0
        return self.layout.height(number - 1) + below

    # --- sizes ----------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Forget the position: the next layout is that of another conversation, shown from its start."""
        self._target = None
        self._position.reset(0)

    def set_layout(self, layout: RowLayout | None, view_height: int) -> None:
        """Set the sizes of the rows, or None without a conversation. The position does not change."""
        self.layout, self.view_height = layout, view_height
        self._position.resize(view_height, self._count)
        self._reach_target()
        self._moved()

    def hold_top_row(self) -> None:
        """Keep the row at the top of the view in place when the layout changes next."""
        top = self.top_row
        if top is not None:
            self._target = ScrollTarget(top.row, top.top)

    def update_rows(self) -> None:
        """Adapt the position to rows that were folded or unfolded."""
        self._position.resize(self.view_height, self._count)
        self.rows_changed.emit()

    @Slot()
    def update_heights(self) -> None:
        """Adapt the position to texts that were laid out: the bottom of the top row stays where it was."""
        if self._target is not None:
            self._reach_target()
        elif self._position.hidden > 0 and self.layout is not None:
            grown = self.layout.height(self._position.line - 1) - self._top_height
            self._position.hidden = max(0, self._position.hidden + grown)
        self._position.resize(self.view_height, self._count)
        self._moved()

    # --- rows in view ---------------------------------------------------------------------------------------------

    def visible(self) -> Iterator[VisibleRow]:
        """Yield the rows in view, from the top."""
        layout, top = self.layout, -self._position.hidden
        if layout is None:
            return
        for position in range(self._position.line - 1, layout.count):
            if top >= self.view_height:
                return
            yield VisibleRow(position, layout.rows.rows[position], top)
            top += layout.height(position)

    @property
    def top_row(self) -> VisibleRow | None:
        """The row at the top of the view; None if there are no rows."""
        return next(self.visible(), None)

    @property
    def shows_end(self) -> bool:
        """Whether text of the last row is in view, not only its heading."""
        layout, last = self.layout, next((row for row in self.visible() if row.position == self._count - 1), None)
        if layout is None or last is None:
            return not self._count
        return last.top + layout.head(last.position).height + layout.measures.px(_ONE_LINE) <= self.view_height

    def near_pieces(self) -> Iterator[int]:
        """Yield the pieces of the rows in view, then of the rows just outside of it."""
        layout, positions = self.layout, [visible_row.position for visible_row in self.visible()]
        if layout is None or not positions:
            return
        first, last = positions[0], positions[-1]
        positions.extend(range(last + 1, min(self._count, last + 1 + _AHEAD)))
        positions.extend(range(first - 1, max(-1, first - 1 - _AHEAD), -1))
        for position in positions:
            piece = layout.piece_of(layout.rows.rows[position])
            if piece is not None:
                yield piece

    def row_at(self, y: int) -> VisibleRow | None:
        """Return the row at the height `y` of the view, or the nearest one."""
        last_above = None
        for visible_row in self.visible():
            if last_above is not None and y < visible_row.top:
                break
            last_above = visible_row
        return last_above

    def text_at(self, point: QPoint) -> TextPoint | None:
        """Return the text position nearest to a point of the view; None over a row without text."""
        visible_row, layout = self.row_at(point.y()), self.layout
        if visible_row is None or layout is None:
            return None
        piece, laid = layout.piece_of(visible_row.row), layout.document_of(visible_row.row)
        if piece is None or laid is None:
            return None
        top = visible_row.top + layout.head(visible_row.position).height + layout.pads(visible_row.row)[0]
        return TextPoint(piece, laid.document, QPointF(point.x() - layout.text_left(visible_row.row), point.y() - top))

    def fold_control_at(self, point: QPoint) -> Row | None:
        """The group, summary or "Show all" row at a point, where a click folds or unfolds."""
        visible_row, layout = self.row_at(point.y()), self.layout
        if visible_row is None or layout is None or visible_row.row.slot not in (GROUP, SUMMARY, MORE):
            return None
        top = visible_row.top + layout.head(visible_row.position).height
        box = layout.measures.column(top, layout.body_height(visible_row.row))
        return visible_row.row if box.contains(point) else None

    # --- scrolling ------------------------------------------------------------------------------------------------

    def scroll_by(self, pixels: int) -> None:
        """Scroll down by some pixels, or up if negative."""
        self._target = None
        self._position.move(pixels)
        self._moved()

    def scroll_to_end(self, *, top: bool) -> None:
        """Scroll to the first row if `top`, else to the end of the last one, also after texts there are laid out."""
        layout = self.layout
        if layout is not None and layout.count and not top:
            self.go_to(ScrollTarget(layout.rows.rows[-1], self.view_height, self._end_of))
            return
        self._target = None
        self._position.go_to(1)
        self._moved()

    def _end_of(self, row: Row) -> int:
        """Return how many pixels below a row's head the space below it ends."""
        assert self.layout is not None
        return self.layout.body_height(row) + self.layout.measures.px(_BELOW)

    def go_to(self, target: ScrollTarget) -> None:
        """Scroll until the target is at its position in the view, and keep it there."""
        self._target = target
        self._reach_target()
        self._moved()

    def go_to_entry(self, number: int) -> None:
        """Scroll until an entry is at the top of the view."""
        self.go_to(ScrollTarget(Row(number, GROUP), ABOVE))

    def show_entry(self, number: int) -> None:
        """Scroll to an entry, unless all of it is in view."""
        layout, tops = (
            self.layout,
            {visible_row.row.entry: visible_row for visible_row in reversed(list(self.visible()))},
        )
        if number in tops and layout is not None:
            position, _, top = tops[number]
            after = layout.rows.position(Row(number + 1, GROUP))
            height = sum(layout.height(entry) for entry in range(position, min(after, position + _MAX_MEASURED)))
            begins = layout.rows.position_of_entry(number) == position
            if begins and top >= 0 and top + height <= self.view_height:
                return
        self.go_to_entry(number)

    def _reach_target(self) -> None:
        target, layout = self._target, self.layout
        if target is None or layout is None or not layout.count:
            return
        position = min(layout.rows.position_in_view(target.row), layout.count - 1)
        within = 0
        if target.within is not None:
            within = layout.head(position).height + target.within(layout.rows.rows[position])
        above = self.view_height // 3 if target.above is None else target.above
        self._position.go_to(position + 1, above=above, within=within)

    def _moved(self) -> None:
        self._top_height = self.layout.height(self._position.line - 1) if self.layout is not None and self._count else 0
        self.moved.emit()

    # --- scroll bar -----------------------------------------------------------------------------------------------

    @property
    def bar_value(self) -> int:
        """Value for the scroll bar, on which each row has the length `BAR_UNIT`."""
        return self._position.value(BAR_UNIT)

    @property
    def bar_maximum(self) -> int:
        """Maximum for the scroll bar."""
        return self._position.maximum(BAR_UNIT)

    def set_bar_value(self, value: int) -> None:
        """Scroll to the position of a scroll bar value that the user chose."""
        if value >= self.bar_maximum:
            self.scroll_to_end(top=False)
            return
        self._target = None
        self._position.set_value(value, BAR_UNIT)
        self._moved()

    # --- reading position -----------------------------------------------------------------------------------------

    @property
    def reading(self) -> ReadingPosition | None:
        """The location at the top of the view; None if there are no rows."""
        top, layout = self.top_row, self.layout
        if top is None or layout is None:
            return None
        conversation = layout.conversation
        line = conversation.message(conversation.entries[top.row.entry]).line
        return ReadingPosition(path=conversation.session.summary.path, line=line, slot=top.row.slot, top=top.top)

    def return_to(self, position: ReadingPosition) -> None:
        """Scroll to a location that `reading` returned, as far as it still exists."""
        if self.layout is not None and self._count:
            entry, _ = self.layout.conversation.at_line(position.line)
            self._restored = ScrollTarget(Row(entry, position.slot), position.top)
            self.go_to(self._restored)

    @property
    def is_restored(self) -> bool:
        """Whether the view is where `return_to` scrolled to, and the user has not scrolled since."""
        return self._target is not None and self._target is self._restored


class MessageScrollBar(QScrollBar):
    """A scroll bar with a map of the conversation: a cell per row, in the accent colour for the user's, thin for tools.

    Signals: jumped: scroll to this row (its position); True if clicked, False if dragged.
    """

    jumped = Signal(int, bool)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self.setAccessibleName(tr("Map of the conversation"))
        self._rows: Rows | None = None
        self._hits: bytes | bytearray = b""
        self._view = (0, 0)
        self._strip: QPixmap | None = None
        """Cached drawing of the cells, since drawing them in a long conversation is too slow for scrolling."""

    def show_rows(self, rows: Rows | None, hits: bytes | bytearray) -> None:
        """Set the rows to map; `hits` has one byte per entry, 1 for an entry with a hit."""
        self._rows, self._hits, self._strip = rows, hits, None
        self.update()

    def show_view(self, first: int, after: int) -> None:
        """Mark the part in view: from row `first` to before row `after`."""
        self._view = first, after
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(scaled(_WIDTH), 80)

    @property
    def _count(self) -> int:
        return len(self._rows.kinds) if self._rows is not None else 0

    @property
    def row_pixels(self) -> float:
        """The height of a row's cell in pixels; below 1 in a long conversation."""
        return min(_CELL * font_scale(), (self.height() - 2 * _EDGE) / max(1, self._count))

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        if self._strip is None:
            self._strip = self._draw_strip(colours)
        painter = QPainter(self)
        painter.fillRect(self.rect(), colours.base)
        first, after = self._view
        if after:
            cell = self.row_pixels
            frame = QRectF(2, _EDGE + first * cell - 2, self.width() - 4, max(6.0, (after - first) * cell + 3))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(faded(colours.muted, _VIEW_OPACITY))
            painter.drawRoundedRect(frame, 4, 4)
        painter.drawPixmap(QPoint(0, 0), self._strip)

    def _draw_strip(self, colours: Tokens) -> QPixmap:
        ratio = self.devicePixelRatioF()
        strip = QPixmap(self.size() * ratio)
        strip.setDevicePixelRatio(ratio)
        strip.fill(Qt.GlobalColor.transparent)
        rows, cell = self._rows, self.row_pixels
        if rows is None or cell <= 0:
            return strip
        painter = QPainter(strip)
        width = scaled(_BLOCK)
        left = (self.width() - width) // 2
        quiet = _mix(colours.line, colours.off)
        step = 1 if cell >= 2 else round(2 / cell)
        for start in range(0, self._count, step):
            after = min(self._count, start + step)
            top = round(_EDGE + start * cell)
            height = max(2, round(_EDGE + after * cell) - top - (2 if cell > 5 else 0))
            entries = slice(rows.rows[start].entry, rows.after(after - 1))
            kinds = rows.kinds[start:after]
            if 1 in self._hits[entries]:  # hits have priority over the user's messages, and these over the rest
                painter.setPen(colours.mark_tick)
                painter.setBrush(colours.mark)
                painter.drawRect(left, top, width - 1, height - 1)
            elif b"u" in kinds or b"s" in kinds:
                # By the share of the user's messages: in a long session, nearly every pair of pixels has one.
                painter.fillRect(left, top, width, height, quiet)
                share = math.sqrt(kinds.count(b"u") / len(kinds))
                painter.fillRect(left, top, width, height, faded(colours.accent, round(255 * share)))
            else:
                painter.fillRect(left + width // 3, top, width // 3, height, quiet)
        painter.end()
        return strip

    def _jump(self, event: QMouseEvent, *, clicked: bool) -> None:
        position = int((event.position().y() - _EDGE) / self.row_pixels)
        self.jumped.emit(max(0, min(self._count - 1, position)), clicked)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._count:
            self._jump(event, clicked=True)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and self._count:
            self._jump(event, clicked=False)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._strip = None

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self._strip = None


def _mix(one: QColor, other: QColor) -> QColor:
    """Mix two colours: two thirds of the first, one third of the second."""
    return QColor(
        (2 * one.red() + other.red()) // 3, (2 * one.green() + other.green()) // 3, (2 * one.blue() + other.blue()) // 3
    )
