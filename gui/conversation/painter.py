"""Paints the visible part of a conversation, with its highlights."""

from bisect import bisect_right
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QFontMetrics,
    QPainter,
    QPalette,
    QPen,
    QPolygonF,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QAbstractScrollArea

from engine import tr, tr_count
from gui.conversation.display_entries import SummaryLine, clock, day_text, summary
from gui.conversation.hit_navigation import BlockRanges, Highlights, SearchTime
from gui.conversation.row_folding import GROUP, MORE, SUMMARY, Row
from gui.conversation.row_layout import Head, Measures, PieceLayout, RowLayout
from gui.conversation.scroller import ConversationScroller
from gui.conversation.selection import ConversationSelection, CurrentMessage
from gui.style.stylesheet import font_at
from gui.style.theme import Tokens, edge_pen, tokens
from gui.text.right_to_left import mirror, write
from gui.viewer.line_painter import FOUND_OPACITY, faded
from gui.viewer.markdown_page import PagePainter
from gui.widgets.icons import icon_pixmap
from gui.widgets.labels import elide

_SEARCH_SECONDS = 0.004
"""Seconds per frame for finding highlights; the rest waits for the next frame."""
_SELECTION_OPACITY = 76
_RADIUS = 8
_MIDDLE = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


@dataclass(frozen=True)
class Decoration:
    """The highlights and the selection to paint in the text of one piece."""

    marks: BlockRanges
    """Finds the words of the query to highlight."""
    found: BlockRanges
    """Finds the matches of the find bar to highlight."""
    framed: tuple[int, int, int] | None
    """Block, start and end of the hit with a frame; None for none."""
    selected: tuple[int, int] | None
    """Selected positions in the document; None for none."""


class RowPainter:
    """Paints the parts of rows (headings, boxes, texts) on the viewport, clipped to `area`.

    Everything except the text of pieces is mirrored in right-to-left layouts.
    """

    def __init__(
        self, painter: QPainter, colours: Tokens, measures: Measures, area: QRect, direction: Qt.LayoutDirection
    ) -> None:
        """Mirror `painter` around the column of the rows if `direction` is right to left."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mirror(painter, measures.column(0, 1), direction)
        self._painter = painter
        self._colours = colours
        self._measures = measures
        self._area = area
        self._meta = font_at(12)
        self._name = font_at(13, QFont.Weight.DemiBold)

    def head(self, head: Head, top: int, speaker: str, moment: float | None) -> None:
        """Paint the heading of a row: the date of a new day, the speaker, and the time."""
        px, pen = self._measures.px, self._painter
        bottom = top + head.height
        if head.day:
            pen.setFont(self._meta)
            pen.setPen(self._colours.muted)
            box = self._measures.column(top, px(40))
            metrics, available = QFontMetrics(self._meta), box.width()
            words = day_text(head.day, lambda words: metrics.horizontalAdvance(words) <= available)
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
        """Paint the bar next to the current message."""
        px = self._measures.px
        self._painter.fillRect(self._measures.left - px(12), top, max(2, px(2)), height, self._colours.accent)

    def bubble(self, top: int, height: int, *, first: bool, last: bool) -> None:
        """Paint the background of a user's message; it is rounded only at its `first` and `last` row."""
        box = QRectF(self._measures.column(top, height))
        box.adjust(0, 0 if first else -2 * _RADIUS, 0, 0 if last else 2 * _RADIUS)
        self._box(box, self._colours.accent_ground, None, QRect(self._area.left(), top, self._area.width(), height))

    def output(self, top: int, height: int, *, first: bool, last: bool) -> None:
        """Paint the background of a tool's input or output; it is rounded only at its `first` and `last` row."""
        indent = self._measures.indent
        below = self._measures.px(4) * last
        box = QRectF(self._measures.column(top, height - below)).adjusted(indent + 0.5, 0.5, -indent - 0.5, -0.5)
        box.adjust(0, 0 if first else -2 * _RADIUS, 0, 0 if last else 2 * _RADIUS)
        clip = QRect(self._area.left(), top, self._area.width(), height)
        self._box(box, self._colours.alternate, self._colours.line, clip)

    def summary(self, top: int, height: int, line: SummaryLine, *, folded: bool, hit: bool) -> None:
        """Paint the line that replaces a group of tool calls, or a folded call or thinking."""
        px, pen, indent = self._measures.px, self._painter, self._measures.indent
        box = self._measures.column(top, height).adjusted(indent, 0, -indent, 0)
        clip = QRect(self._area.left(), top, self._area.width(), height)
        self._box(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), self._colours.base, self._colours.line, clip)
        inner = box.adjusted(px(10), 0, -px(10), 0)
        self._triangle(inner, folded=folded)
        inner.setLeft(inner.left() + px(14))
        pen.setFont(self._meta)
        metrics = QFontMetrics(self._meta)
        pen.setPen(self._colours.muted)
        write(pen, inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, line.size)
        inner.setRight(inner.right() - metrics.horizontalAdvance(line.size) - px(12))
        if line.failed:
            self._failure(inner, line.failed)
        bold = font_at(12, QFont.Weight.DemiBold)
        pen.setFont(bold)
        pen.setPen(self._colours.text)
        elided = elide(QFontMetrics(bold), line.name, Qt.TextElideMode.ElideRight, inner.width() * 2 // 3)
        width = QFontMetrics(bold).horizontalAdvance(elided)
        if hit:
            background = QRectF(inner.left() - 2, 0, width + 4, metrics.height())
            background.moveTop(inner.center().y() - metrics.height() / 2)
            self._box(background, self._colours.mark, None, clip, 3)
            pen.setPen(self._colours.mark_text)
        write(pen, inner, _MIDDLE, elided)
        inner.setLeft(inner.left() + width + px(8))
        pen.setFont(self._meta)
        pen.setPen(self._colours.muted)
        write(pen, inner, _MIDDLE, elide(metrics, line.words, Qt.TextElideMode.ElideRight, inner.width()))

    def _failure(self, inner: QRect, words: str) -> None:
        """Paint an icon and a word at the right side of a line, and shorten the line by them."""
        pen, size = self._painter, self._measures.px(14)
        pen.setPen(self._colours.text)
        write(pen, inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, words)
        inner.setRight(inner.right() - QFontMetrics(self._meta).horizontalAdvance(words) - self._measures.px(4))
        icon = icon_pixmap("warning", self._colours.degraded, size, pen.device().devicePixelRatio())
        pen.drawPixmap(inner.right() - size, inner.center().y() - size // 2, icon)
        inner.setRight(inner.right() - size - self._measures.px(8))

    def more(self, top: int, height: int, words: str) -> None:
        """Paint the "Show all" line below a shortened output."""
        indent = self._measures.indent
        self._painter.setFont(self._meta)
        self._painter.setPen(self._colours.accent)
        write(self._painter, self._measures.column(top, height).adjusted(2 * indent, 0, 0, 0), _MIDDLE, words)

    def waiting(self, left: int, top: int) -> None:
        """Paint a placeholder for a text that is not laid out yet."""
        self._painter.setFont(self._meta)
        self._painter.setPen(self._colours.muted)
        write(self._painter, QRect(left, top, self._measures.text_width, self._measures.px(20)), _MIDDLE, "…")

    def piece(self, laid: PieceLayout, left: int, top: int, palette: QPalette, decoration: Decoration) -> None:
        """Paint the text of a piece with its top left corner at (`left`, `top`)."""
        pen, document = self._painter, laid.document
        area = QRectF(self._area).translated(-left, -top)
        pen.save()
        pen.resetTransform()  # the text has the direction of its document
        pen.translate(left, top)
        under = PagePainter(pen, document, self._colours, scale=self._measures.scale)
        first = max(0, bisect_right(laid.tops, area.top()) - 1)
        for number in range(first, bisect_right(laid.tops, area.bottom())):
            text = laid.texts[number]
            marks, found = decoration.marks(number, text), decoration.found(number, text)
            framed = decoration.framed is not None and decoration.framed[0] == number
            if not (marks or found or framed or number in laid.with_background):
                continue  # each call to Qt is slow while other threads are busy
            block = document.findBlockByNumber(number)
            rect = document.documentLayout().blockBoundingRect(block)
            under.paint_backgrounds(block, rect, first=number == first)
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
        mark_format = QTextCharFormat()
        mark_format.setBackground(faded(self._colours.accent, _SELECTION_OPACITY))
        selection.format = mark_format
        return selection

    def _box(self, box: QRectF, fill: QColor, edge: QColor | None, clip: QRect, radius: float = _RADIUS) -> None:
        pen = self._painter
        pen.save()
        pen.setClipRect(clip)
        pen.setPen(QPen(edge, 1) if edge is not None else edge_pen(self._colours, fill))
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


class ConversationPainter:
    """Paints the rows in view: headings, boxes, texts with highlights and selection, and the current message's bar.

    It changes none of the objects that it is given.
    """

    def __init__(
        self,
        scroller: ConversationScroller,
        highlights: Highlights,
        selection: ConversationSelection,
        current: CurrentMessage,
    ) -> None:
        self._scroller = scroller
        self._highlights = highlights
        self._selection = selection
        self._current = current

    def paint(self, view: QAbstractScrollArea) -> bool:
        """Paint on the viewport of `view`; returns whether highlights are missing and need another frame."""
        layout = self._scroller.layout
        if layout is None:
            return False
        painter = QPainter(view.viewport())
        area, palette = view.viewport().rect(), view.palette()
        pen = RowPainter(painter, tokens(palette), layout.measures, area, view.layoutDirection())
        search_time = SearchTime(_SEARCH_SECONDS)
        for position, row, above in self._scroller.visible():
            entry = layout.conversation.entries[row.entry]
            head, height = layout.head(position), layout.body_height(row)
            pen.head(head, above, entry.speaker, entry.time)
            top = above + head.height
            fold = layout.rows.fold(row.entry)
            if row.entry == self._current.number and (row.slot != GROUP or fold == "grouped"):
                pen.current(top, height)
            if row.slot == GROUP:
                group, closed = layout.rows.group(row.entry), fold == "grouped"
                hit = closed and any(self._highlights.entries[group.start : group.stop])
                pen.summary(top, height, layout.rows.group_line(row.entry), folded=closed, hit=hit)
            elif row.slot == SUMMARY:
                hit = fold == "folded" and any(self._highlights.entries[row.entry : row.entry + 1 + entry.members])
                pen.summary(top, height, summary(layout.conversation, entry), folded=fold == "folded", hit=hit)
            elif row.slot == MORE:
                pen.more(top, height, _more_text(entry.longest, all_shown=fold == "all"))
            else:
                self._paint_box(pen, layout, row, top, height)
                self._paint_text(pen, palette, row, top + layout.pads(row)[0], search_time)
        painter.end()
        return search_time.is_incomplete

    def _paint_box(self, pen: RowPainter, layout: RowLayout, row: Row, top: int, height: int) -> None:
        """Paint the background of a row's piece, if it has one."""
        entry = layout.conversation.entries[row.entry]
        piece = entry.first_piece + row.slot
        if entry.kind == "user":
            pen.bubble(top, height, first=row.slot == 0, last=row.slot == entry.piece_count - 1)
        elif entry.kind == "tool":
            pen.output(top, height, first=piece in entry.clamped, last=layout.ends_part(row))

    def _paint_text(self, pen: RowPainter, palette: QPalette, row: Row, top: int, time: SearchTime) -> None:
        """Paint the text of a row's piece, with the highlights that can be found in the rest of `time`."""
        layout = self._scroller.layout
        assert layout is not None
        piece, laid, left = layout.piece_of(row), layout.document_of(row), layout.text_left(row)
        if piece is None or laid is None:
            pen.waiting(left, top)
            return
        marks, found = self._highlights.of_piece(piece, time)
        framed = self._highlights.framed
        frame = self._highlights.find_in(laid, framed[1]) if framed is not None and framed[0] == piece else None
        selected = self._selection.columns(piece, laid.document.characterCount() - 1)
        pen.piece(laid, left, top, palette, Decoration(marks, found, frame, selected))


def _more_text(lines: int, *, all_shown: bool) -> str:
    return tr("Show less") if all_shown else tr_count("Show all {count:,} line", "Show all {count:,} lines", lines)
