"""Paints the rows of the session list: headings over pairs of lines, each two heights known from the font alone."""

import re
from collections.abc import Sequence

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QTextLayout
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from engine import number, tr
from gui.sessions.rows import HeadingRow, SessionRow
from gui.sessions.wording import hits_text, message_count, parts_text, span
from gui.style.stylesheet import font_at
from gui.style.theme import Tokens, mark_pen, tokens
from gui.widgets.elided import elide
from gui.widgets.formatting import grouped
from gui.widgets.icons import icon_pixmap
from gui.widgets.mirrored import mirror, mirrored_x, put, upright, write
from gui.widgets.row_model import Index, RowRole
from gui.widgets.row_painting import AT_LEFT, AT_RIGHT, GUTTER, paint_ground
from gui.widgets.utf16 import utf16_ranges

PAD = 6
GAP = 10
INDENT = 16
"""Of a sub-agent's session below its parent's."""
CHEVRON = 12
CHEVRON_ROOM = 4
HEADING_TOP = 6
"""Space above a heading beyond that below it, so that it sits nearer to its own rows."""
MARK_RADIUS = 2.5
MARK_PAD = 1.5
UNIT_LETTERS = 64
"""A row of fewer letters has no room for the unit of its messages beside agent and project."""


class SessionDelegate(QStyledItemDelegate):
    """Draws in the colours of the palette that it is given. `words`: what was typed, marked in titles."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.words: Sequence[str] = ()
        self.restyle()

    def restyle(self) -> None:
        """The font changed: measure anew."""
        self._title = font_at(13, QFont.Weight.DemiBold)
        self._meta = font_at(12)
        self._chevron = font_at(CHEVRON).pixelSize()
        self._indent = font_at(INDENT).pixelSize()
        self._left = max(GUTTER, self._chevron + CHEVRON_ROOM)
        self._title_metrics = QFontMetrics(self._title)
        self._meta_metrics = QFontMetrics(self._meta)
        self._title_line = round(self._title_metrics.height() * 1.35)
        self._meta_line = round(self._meta_metrics.height() * 1.35)
        self._heading_size = QSize(0, self._title_metrics.height() + 18)
        self._session_size = QSize(0, PAD + self._title_line + self._meta_line + PAD)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return self._heading_size if isinstance(index.data(RowRole), HeadingRow) else self._session_size

    def toggles(self, row: object, rect: QRect, at: QPoint, direction: Qt.LayoutDirection) -> bool:
        """Whether a click at this place of a row in `rect` shows or hides the sub-agents."""
        along = mirrored_x(at.x() - rect.left(), rect.width(), direction)
        return isinstance(row, SessionRow) and bool(row.entry.parts) and along < self._left + 2

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(RowRole)
        colours = tokens(option.palette)
        rect = option.rect.adjusted(GUTTER, 0, -GUTTER, 0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mirror(painter, option.rect, option.direction)
        if isinstance(row, HeadingRow):
            self._paint_heading(painter, rect.adjusted(0, HEADING_TOP, 0, 0), row, colours)
        else:
            paint_ground(painter, option, colours)
            self._paint_session(painter, option.rect.adjusted(self._left, 0, -GUTTER, 0), row, colours)
        painter.restore()

    def _paint_heading(self, painter: QPainter, rect: QRect, row: HeadingRow, colours: Tokens) -> None:
        painter.setPen(colours.muted)
        painter.setFont(self._meta)
        sessions = grouped(row.sessions)
        write(painter, rect, AT_RIGHT, sessions)
        room = rect.width() - self._meta_metrics.horizontalAdvance(sessions) - GAP
        painter.setFont(self._title)
        write(painter, rect, AT_LEFT, elide(self._title_metrics, row.title, Qt.TextElideMode.ElideRight, room))

    def _paint_session(self, painter: QPainter, rect: QRect, row: SessionRow, colours: Tokens) -> None:
        top = QRect(rect.left(), rect.top() + PAD, rect.width(), self._title_line)
        below = QRect(rect.left(), top.bottom() + 1, rect.width(), self._meta_line)
        if row.depth:
            top.adjust(self._indent, 0, 0, 0)
            below.adjust(self._indent, 0, 0, 0)
        if row.entry.parts:
            name = "chevron-down" if row.opened else "chevron-right"
            arrow = icon_pixmap(name, colours.muted, self._chevron, painter.device().devicePixelRatioF())
            put(painter, rect.left() - self._chevron - 1, top.center().y() - self._chevron // 2 + 1, arrow)
        note = _note(row)
        painter.setFont(self._meta)
        painter.setPen(colours.accent)
        write(painter, top, AT_RIGHT, note)
        taken = self._meta_metrics.horizontalAdvance(note) + GAP if note else 0
        self._paint_title(painter, top.adjusted(0, 0, -taken, 0), row, colours)
        self._paint_meta(painter, below, row, colours)

    def _paint_title(self, painter: QPainter, rect: QRect, row: SessionRow, colours: Tokens) -> None:
        text = elide(self._title_metrics, row.entry.title[: rect.width()], Qt.TextElideMode.ElideRight, rect.width())
        ink = colours.text if row.entry.summary.title else colours.muted
        marks = _marks(text, self.words) if row.entry.summary.title else []
        painter.setFont(self._title)
        painter.setPen(ink)
        if not marks:
            write(painter, rect, AT_LEFT, text)
            return
        layout = QTextLayout(text, self._title)
        layout.beginLayout()
        line = layout.createLine()
        layout.endLayout()
        boxes = []
        for start, end in utf16_ranges(text, marks):
            left, right = sorted((_x(line.cursorToX(start)), _x(line.cursorToX(end))))
            boxes.append(QRectF(left - MARK_PAD, 0, right - left + 2 * MARK_PAD, line.height()))
        width = line.naturalTextWidth()
        with upright(painter, QRectF(rect.left(), rect.top(), width, rect.height())) as stands:
            corner = stands.topLeft() + QPointF(0, (rect.height() - line.height()) / 2)
            painter.setPen(mark_pen(colours))
            painter.setBrush(colours.mark)
            for box in boxes:
                painter.drawRoundedRect(box.translated(corner), MARK_RADIUS, MARK_RADIUS)
            painter.setPen(ink)
            layout.draw(painter, corner)

    def _paint_meta(self, painter: QPainter, rect: QRect, row: SessionRow, colours: Tokens) -> None:
        metrics = self._meta_metrics
        words = " · ".join(part for part in (row.entry.agent, row.entry.project, _parts_note(row)) if part)
        summary = row.entry.summary
        took = span(summary.started, summary.ended)
        # All rows tell the unit or none does; the tooltip always does.
        roomy = rect.width() >= UNIT_LETTERS * metrics.averageCharWidth()
        messages = message_count(summary.messages) if roomy else grouped(summary.messages)
        shown = " · ".join(part for part in (messages, took) if part)
        painter.setFont(self._meta)
        painter.setPen(colours.muted)
        write(painter, rect, AT_RIGHT, shown)
        room = rect.width() - metrics.horizontalAdvance(shown) - GAP
        write(painter, rect, AT_LEFT, elide(metrics, words, Qt.TextElideMode.ElideRight, room))


def _note(row: SessionRow) -> str:
    """At the right of the title: why the row is listed."""
    if row.alike is not None:
        return number(row.alike, ".2f")
    return hits_text(row.hits) if row.hits else ""


def _parts_note(row: SessionRow) -> str:
    if row.depth:
        return tr("sub-agent")
    return parts_text(len(row.entry.parts)) if row.entry.parts else ""


def _marks(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Where the typed words stand in the text."""
    if not words:
        return []
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return [found.span() for found in re.finditer(pattern, text, re.IGNORECASE)]


def _x(answer: object) -> float:
    """PySide hands the cursor's position back beside the coordinate."""
    return float(answer[0] if isinstance(answer, tuple) else answer)  # type: ignore[arg-type]
