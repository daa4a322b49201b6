"""Paints the visible part of a conversation, with its highlights."""

import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPolygonF,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QWidget

from engine import tr, tr_count
from gui.conversation.entries import Conversation
from gui.conversation.piece_builder import PieceLayout
from gui.conversation.row_layout import Head, Measures
from gui.conversation.rows import MORE, SUMMARY, Row, Rows
from gui.conversation.scroll_area import ConversationScroll
from gui.conversation.wording import clock, day_text, summary
from gui.core.jobs import Jobs
from gui.style.stylesheet import font_at
from gui.style.theme import Tokens, ground_pen, tokens
from gui.viewer.line_painter import FOUND_OPACITY, faded
from gui.viewer.match_marks import MatchMarks, Ranges
from gui.viewer.page_painting import PagePainter
from gui.widgets.labels import elide
from gui.widgets.mirrored import mirror, write

_FRAME_BUDGET = 0.004
"""Seconds for looking for marks before the rest of them waits for the next frame."""
_AHEAD = 24
"""Rows before and behind the view that are laid out too."""
_BLOCKS = 1 << 12
"""More than the blocks of a piece, so that each block has a unique number for its highlights."""
_SELECTION_OPACITY = 76
_RADIUS = 8
_MIDDLE = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft

BlockRanges = Callable[[int, str], Sequence[tuple[int, int]]]
"""Marked ranges (UTF-16 units) of a block, by its number and text."""


@dataclass(frozen=True)
class Decoration:
    """What is special about the text of one piece."""

    marks: BlockRanges
    found: BlockRanges
    framed: tuple[int, int, int] | None
    """Block, start and end of the hit that was stepped to."""
    selected: tuple[int, int] | None
    """Positions in the document."""


class RowPainter:
    """Paints on the viewport, clipped to `area`."""

    def __init__(
        self, painter: QPainter, colours: Tokens, measures: Measures, area: QRect, direction: Qt.LayoutDirection
    ) -> None:
        """Mirrored around the column, which keeps its position, as does the text in it."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mirror(painter, measures.column(0, 1), direction)
        self._painter = painter
        self._colours = colours
        self._measures = measures
        self._area = area
        self._meta = font_at(12)
        self._name = font_at(13, QFont.Weight.DemiBold)

    def head(self, head: Head, top: int, speaker: str, moment: float | None) -> None:
        px, pen = self._measures.px, self._painter
        bottom = top + head.height
        if head.day:
            pen.setFont(self._meta)
            pen.setPen(self._colours.muted)
            box = self._measures.column(top, px(40))
            metrics, room = QFontMetrics(self._meta), box.width()
            words = day_text(head.day, lambda words: metrics.horizontalAdvance(words) <= room)
            write(pen, box, Qt.AlignmentFlag.AlignCenter, words)
        if head.names:
            box = self._measures.column(bottom - px(26), px(22))
            pen.setFont(self._name)
            pen.setPen(self._colours.text)
            write(pen, box, _MIDDLE, speaker)
            box.setLeft(box.left() + QFontMetrics(self._name).horizontalAdvance(speaker) + px(6))
            pen.setFont(self._meta)
            pen.setPen(self._colours.muted)
            write(pen, box, _MIDDLE, clock(moment))

    def current(self, top: int, height: int) -> None:
        """The bar next to the current message."""
        px = self._measures.px
        self._painter.fillRect(self._measures.left - px(12), top, max(2, px(2)), height, self._colours.accent)

    def bubble(self, top: int, height: int, *, first: bool, last: bool) -> None:
        """The background of the user's messages; open at the ends unless it is the first or last row."""
        box = QRectF(self._measures.column(top, height))
        box.adjust(0, 0 if first else -2 * _RADIUS, 0, 0 if last else 2 * _RADIUS)
        self._box(box, self._colours.accent_ground, None, QRect(self._area.left(), top, self._area.width(), height))

    def output(self, top: int, height: int, *, first: bool, last: bool) -> None:
        """The background of a tool's input or output."""
        indent = self._measures.indent
        below = self._measures.px(4) * last
        box = QRectF(self._measures.column(top, height - below)).adjusted(indent + 0.5, 0.5, -indent - 0.5, -0.5)
        box.adjust(0, 0 if first else -2 * _RADIUS, 0, 0 if last else 2 * _RADIUS)
        clip = QRect(self._area.left(), top, self._area.width(), height)
        self._box(box, self._colours.alternate, self._colours.line, clip)

    def summary(self, top: int, height: int, words: tuple[str, str, str], *, folded: bool, hit: bool) -> None:
        """The one line that stands for a tool's call or for thinking."""
        px, pen, indent = self._measures.px, self._painter, self._measures.indent
        box = self._measures.column(top, height).adjusted(indent, 0, -indent, 0)
        clip = QRect(self._area.left(), top, self._area.width(), height)
        self._box(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), self._colours.base, self._colours.line, clip)
        inner = box.adjusted(px(10), 0, -px(10), 0)
        self._triangle(inner, folded=folded)
        inner.setLeft(inner.left() + px(14))
        name, words_, size = words
        pen.setFont(self._meta)
        metrics = QFontMetrics(self._meta)
        pen.setPen(self._colours.muted)
        write(pen, inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, size)
        inner.setRight(inner.right() - metrics.horizontalAdvance(size) - px(12))
        bold = font_at(12, QFont.Weight.DemiBold)
        pen.setFont(bold)
        pen.setPen(self._colours.text)
        shown = elide(QFontMetrics(bold), name, Qt.TextElideMode.ElideRight, inner.width() // 2)
        width = QFontMetrics(bold).horizontalAdvance(shown)
        if hit:
            ground = QRectF(inner.left() - 2, inner.center().y() - metrics.height() / 2, width + 4, metrics.height())
            self._box(ground, self._colours.mark, None, clip, 3)
            pen.setPen(self._colours.mark_text)
        write(pen, inner, _MIDDLE, shown)
        inner.setLeft(inner.left() + width + px(8))
        pen.setFont(self._meta)
        pen.setPen(self._colours.muted)
        write(pen, inner, _MIDDLE, elide(metrics, words_, Qt.TextElideMode.ElideRight, inner.width()))

    def more(self, top: int, height: int, words: str) -> None:
        """What shows all of a long output."""
        indent = self._measures.indent
        self._painter.setFont(self._meta)
        self._painter.setPen(self._colours.accent)
        write(self._painter, self._measures.column(top, height).adjusted(2 * indent, 0, 0, 0), _MIDDLE, words)

    def waiting(self, left: int, top: int) -> None:
        """Where text will be in a moment."""
        self._painter.setFont(self._meta)
        self._painter.setPen(self._colours.muted)
        write(self._painter, QRect(left, top, self._measures.text_width, self._measures.px(20)), _MIDDLE, "…")

    def piece(self, laid: PieceLayout, left: int, top: int, palette: QPalette, decoration: Decoration) -> None:
        """The text of a piece with its top left corner here."""
        pen, document = self._painter, laid.document
        area = QRectF(self._area).translated(-left, -top)
        pen.save()
        pen.resetTransform()  # the text has the direction of its document
        pen.translate(left, top)
        under = PagePainter(pen, document, self._colours, scale=self._measures.scale, width=round(document.textWidth()))
        first = max(0, bisect_right(laid.tops, area.top()) - 1)
        for number in range(first, bisect_right(laid.tops, area.bottom())):
            text = laid.texts[number]
            marks, found = decoration.marks(number, text), decoration.found(number, text)
            framed = decoration.framed is not None and decoration.framed[0] == number
            if not (marks or found or framed or number in laid.grounded):
                continue  # each call to Qt is felt while other threads are busy
            block = document.findBlockByNumber(number)
            rect = document.documentLayout().blockBoundingRect(block)
            under.grounds(block, rect, first=number == first)
            under.boxes(block, rect, marks, self._colours.mark)
            under.boxes(block, rect, found, faded(self._colours.accent, FOUND_OPACITY))
            if framed and decoration.framed is not None:
                under.boxes(block, rect, [decoration.framed[1:]], None)
        context = QAbstractTextDocumentLayout.PaintContext()
        context.palette = palette
        context.palette.setColor(QPalette.ColorRole.Text, self._colours.text)
        context.clip = area
        if decoration.selected is not None:
            context.selections = [self._selection(laid, decoration.selected)]
        pen.setClipRect(area)
        document.documentLayout().draw(pen, context)
        pen.restore()

    def _selection(self, laid: PieceLayout, ends: tuple[int, int]) -> QAbstractTextDocumentLayout.Selection:
        selection = QAbstractTextDocumentLayout.Selection()
        cursor = QTextCursor(laid.document)
        last = laid.document.characterCount() - 1
        cursor.setPosition(min(ends[0], last))
        cursor.setPosition(min(ends[1], last), QTextCursor.MoveMode.KeepAnchor)
        selection.cursor = cursor
        look = QTextCharFormat()
        look.setBackground(faded(self._colours.accent, _SELECTION_OPACITY))
        selection.format = look
        return selection

    def _box(self, box: QRectF, fill: QColor, edge: QColor | None, clip: QRect, radius: float = _RADIUS) -> None:
        pen = self._painter
        pen.save()
        pen.setClipRect(clip)
        pen.setPen(QPen(edge, 1) if edge is not None else ground_pen(self._colours, fill))
        pen.setBrush(fill)
        pen.drawRoundedRect(box, radius, radius)
        pen.restore()

    def _triangle(self, box: QRect, *, folded: bool) -> None:
        size = self._measures.px(7)
        middle = QPointF(box.left() + size / 2, box.center().y() + 0.5)
        half = size / 2
        points = [(-0.6, -1), (0.8, 0), (-0.6, 1)] if folded else [(-1, -0.6), (1, -0.6), (0, 0.8)]
        pen = self._painter
        pen.setPen(Qt.PenStyle.NoPen)
        pen.setBrush(self._colours.muted)
        pen.drawPolygon(QPolygonF([middle + QPointF(x * half, y * half) for x, y in points]))


class ConversationCanvas(ConversationScroll):
    """Rows with highlights, and the current row."""

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._marks, self._found = MatchMarks(jobs, self), MatchMarks(jobs, self)
        for marks in (self._marks, self._found):
            marks.found.connect(self.viewport().update)
        self._framed: tuple[int, int] | None = None

    def set_conversation(self, conversation: Conversation | None, rows: Rows | None) -> None:
        self._forget_marks()
        self._framed = None
        super().set_conversation(conversation, rows)

    def grow(self, conversation: Conversation, rows: Rows, same: int) -> None:
        self._forget_marks()
        if self._framed is not None and self._framed[0] >= same:
            self._framed = None
        super().grow(conversation, rows, same)

    def _forget_marks(self) -> None:
        self._marks.forget()
        self._found.forget()

    def _ranges(self, marks: MatchMarks, piece: int, until: float) -> "_Budgeted":
        return _Budgeted(marks, piece * _BLOCKS, until)

    def _current_entry(self) -> int | None:
        """The entry that the keys are about."""
        return None

    def _selected(self, _piece: int, _length: int) -> tuple[int, int] | None:
        """The selected positions in a piece."""
        return None

    def paintEvent(self, event: QPaintEvent) -> None:
        layout, rows, conversation = self._layout, self._rows, self._conversation
        if layout is None or rows is None or conversation is None:
            return
        painter = QPainter(self.viewport())
        area, direction = self.viewport().rect(), self.layoutDirection()
        pen = RowPainter(painter, tokens(self.palette()), layout.measures, area, direction)
        until = time.perf_counter() + _FRAME_BUDGET
        late = False
        wanted: list[int] = []
        positions = [position for position, _ in self._visible()]
        for position, above in self._visible():
            row = rows.rows[position]
            entry = conversation.entries[row.entry]
            head, height = layout.head(position), layout.body_height(row)
            pen.head(head, above, entry.speaker, entry.time)
            top = above + head.height
            if row.entry == self._current_entry():
                pen.current(top, height)
            folded = rows.fold(row.entry)
            if row.slot == SUMMARY:
                words = summary(conversation, entry)
                hit = folded == "folded" and bool(self._hit_entries[row.entry])
                pen.summary(top, height, words, folded=folded == "folded", hit=hit)
            elif row.slot == MORE:
                pen.more(top, height, _fold_words(entry.longest, all_shown=folded == "all"))
            else:
                piece = entry.first_piece + row.slot
                wanted.append(piece)
                late |= self._paint_piece(pen, row, piece, top, height, until)
        painter.end()
        wanted += self._near(positions)
        self._documents.want(wanted)
        if late:
            self.viewport().update()

    def _paint_piece(self, pen: RowPainter, row: Row, piece: int, top: int, height: int, until: float) -> bool:
        """Returns whether marks are missing that the next frame has to look for."""
        assert self._layout is not None
        assert self._conversation is not None
        entry = self._conversation.entries[row.entry]
        if entry.kind == "user":
            pen.bubble(top, height, first=row.slot == 0, last=row.slot == entry.piece_count - 1)
        elif entry.kind == "tool":
            follows = piece + 1 in entry.clamped or row.slot == entry.piece_count - 1
            alone = self._rows is not None and self._rows.fold(row.entry) == "clamped"
            pen.output(top, height, first=piece in entry.clamped, last=follows or alone)
        left = self._layout.text_left(row)
        laid = self._documents.of(piece)
        top += self._layout.pads(row)[0]
        if laid is None:
            pen.waiting(left, top)
            return False
        marks, found = self._ranges(self._marks, piece, until), self._ranges(self._found, piece, until)
        framed = None
        if self._framed is not None and self._framed[0] == piece:
            framed = self._block_of_hit(laid, self._framed[1])
        selected = self._selected(piece, laid.document.characterCount() - 1)
        pen.piece(laid, left, top, self.palette(), Decoration(marks, found, framed, selected))
        return marks.late or found.late

    def _near(self, positions: list[int]) -> list[int]:
        """Pieces that come into view next."""
        if not positions or self._rows is None or self._layout is None:
            return []
        after = range(positions[-1] + 1, min(self._count, positions[-1] + 1 + _AHEAD))
        before = range(positions[0] - 1, max(-1, positions[0] - 1 - _AHEAD), -1)
        pieces = (self._layout.piece_of(self._rows.rows[position]) for position in (*after, *before))
        return [piece for piece in pieces if piece is not None]


def _fold_words(lines: int, *, all_shown: bool) -> str:
    return tr("Show less") if all_shown else tr_count("Show all {count:,} line", "Show all {count:,} lines", lines)


class _Budgeted:
    """The marks of the blocks of one piece, as far as there is time in this frame."""

    def __init__(self, marks: MatchMarks, first: int, until: float) -> None:
        self._marks = marks
        self._first = first
        self._until = until
        self.late = False

    def __call__(self, block: int, text: str) -> Ranges:
        key = self._first + block
        if not self._marks.known(key) and time.perf_counter() > self._until:
            self.late = True
            return []
        return self._marks.of(key, text)
