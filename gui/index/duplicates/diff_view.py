"""Two texts side by side, with their lines marked as equal, changed, moved or in one of them only.

Lays out only the visible lines.
"""

from collections import OrderedDict
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QAccessible, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen

from engine import marked, tr
from gui.index.duplicates.line_comparison import LONGEST, Row, RowKind, Side
from gui.style.theme import tokens
from gui.style.typography import Typography
from gui.text.right_to_left import mirror, upright
from gui.viewer.line_layout import LineLayout, LineStyle
from gui.viewer.line_painter import Decoration, Gutter, LinePainter
from gui.viewer.text_canvas import LineScroller
from gui.widgets.accessibility import Part

_SIGNS = {"same": "", "wrapped": "", "changed": "≠", "left": "−", "right": "+", "moved": "↕"}  # noqa: RUF001 the minus sign is meant
_KIND_NAMES = {
    "changed": marked("changed"),
    "left": marked("only in the note on the left"),
    "right": marked("only in the note on the right"),
    "moved": marked("moved"),
    "same": marked("the same"),
    "wrapped": marked("the same text, with other line breaks"),
}
_MIRRORED: dict[RowKind, RowKind] = {"left": "right", "right": "left"}
_MAX_CACHED = 400
_PAD = 10


class SideBySide(LineScroller):
    """Shows two columns of lines; each difference has a sign, a background, and highlighted words."""

    spoken_role = QAccessible.Role.List

    def __init__(self) -> None:
        super().__init__()
        self.rows: Sequence[Row] = ()
        self._laid: OrderedDict[tuple[int, bool], LineLayout] = OrderedDict()
        self._typography = Typography.current()
        self._current = 0
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Both texts side by side"))

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show two compared texts from their first line."""
        self.rows = rows
        self._current = 0
        self._laid.clear()
        self.scroll_position.reset(len(rows))
        self.measure()

    def step(self, *, forward: bool) -> bool:
        """Go to the next or previous difference; returns False if there is none."""
        starts = [n for n, row in enumerate(self.rows, 1) if row.differs and (n < 2 or not self.rows[n - 2].differs)]
        ahead = [start for start in starts if (start > self._current if forward else start < self._current)]
        if not ahead:
            return False
        self._current = ahead[0 if forward else -1]
        self.scroll_position.go_to(self._current, above=self.viewport().height() // 4)
        self._moved()
        return True

    @property
    def line_count(self) -> int:
        return len(self.rows)

    @property
    def row_height(self) -> int:
        return self._typography.row_height

    # --- geometry -------------------------------------------------------------------------------------------------

    def _gutters(self) -> tuple[Gutter, Gutter]:
        """Return the positions of line numbers and text in both columns."""
        last = max((side.number for row in self.rows for side in (row.left, row.right) if side), default=1)
        plain = Gutter.for_lines(last, self._typography)
        return plain, plain.shifted(self.viewport().width() // 2)

    def measure(self) -> None:
        self._typography = Typography.current()
        self._both = self._gutters()
        self._laid.clear()
        self.scroll_position.resize(self.viewport().height(), len(self.rows))
        self._moved()

    def _line(self, number: int, *, right: bool) -> LineLayout | None:
        side = self.rows[number - 1].right if right else self.rows[number - 1].left
        if side is None:
            return None
        known = self._laid.get((number, right))
        if known is None:
            style = LineStyle(self._typography, self._text_width())
            known = LineLayout(side.text[:LONGEST], " …" if len(side.text) > LONGEST else "", style)
            self._laid[number, right] = known
            if len(self._laid) > _MAX_CACHED:
                self._laid.popitem(last=False)
        return known

    def _text_width(self) -> int:
        """Return the width of a column's text in pixels."""
        return max(20, self.viewport().width() // 2 - self._both[0].text_left - self._typography.scaled(_PAD))

    def _height_of(self, number: int, enough: float) -> int:
        both = (self._line(number, right=right) for right in (False, True))
        return max(laid.rows_within(float("inf")) for laid in both if laid) * self.row_height

    def _moved(self) -> None:
        super()._moved()
        self.setAccessibleDescription(self._description())

    def _description(self) -> str:
        """Describe the line at the top, or the current difference, for screen readers."""
        return self._row_description((self._current or self.scroll_position.line) - 1) if self.rows else ""

    def spoken_parts(self) -> Sequence[Part]:
        """Return the visible rows with their differences, for screen readers."""
        width = self.viewport().width()
        return [
            Part(self._row_description(number - 1), QRect(0, top, width, height))
            for number, top, height in self._visible()
        ]

    def _row_description(self, index: int) -> str:
        row = self.rows[index]
        sides = [side for side in (row.left, row.right) if side is not None]
        texts = [f"{side.number}: {side.text[:200]}" if side.number else side.text[:200] for side in sides]
        kind = _MIRRORED.get(row.kind, row.kind) if self.isRightToLeft() else row.kind
        return f"{tr(_KIND_NAMES[kind])}. {' / '.join(texts)}"

    # --- painting -------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setFont(self._typography.font)
        mirror(painter, self.viewport().rect(), self.layoutDirection())
        colours = tokens(self.palette())
        width, height = self.viewport().width(), self.viewport().height()
        columns = (QRectF(0, 0, width // 2, height), QRectF(width // 2, 0, width - width // 2, height))
        available = self._text_width()
        pens = [LinePainter(painter, colours, self._typography, gutter, available) for gutter in self._both]
        for pen, column in zip(pens, columns, strict=True):
            pen.visible = QRectF(0, 0, column.right(), height)
        for number, top, tall in self._visible():
            row = self.rows[number - 1]
            for right, side in enumerate((row.left, row.right)):
                if row.differs:
                    background = colours.alternate if side is None else colours.line_highlight
                    painter.fillRect(QRectF(columns[right].left(), top, columns[right].width(), tall), background)
                if side is not None:
                    self._paint_side(painter, pens[right], number, side, top, right=bool(right))
        painter.fillRect(QRectF(width // 2, 0, 1, height), colours.line)
        if self.hasFocus():
            painter.setPen(QPen(colours.accent, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)  # the last mark has set another one
            painter.drawRect(QRectF(0.5, 0.5, width - 1, height - 1))
        painter.end()

    def _paint_side(
        self, painter: QPainter, pen: LinePainter, number: int, side: Side, top: int, *, right: bool
    ) -> None:
        sign = _SIGNS[self.rows[number - 1].kind]
        if sign:
            painter.setPen(tokens(self.palette()).accent)
            x = self._both[right].number_right + self._typography.scaled(8)
            with upright(painter, QRectF(x, top, self._typography.character_width, 1)) as area:
                painter.drawText(area.topLeft() + QPointF(0, round(self._typography.baseline)), sign)
        if side.number:
            pen.number(top, side.number)
        laid = self._line(number, right=right)
        if laid is not None:
            marks = [(laid.unit(first), laid.unit(last)) for first, last in side.marks]
            pen.text(top, laid, Decoration(marks=marks))

    # --- Qt's events ----------------------------------------------------------------------------------------------

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def _bar_moved(self) -> None:
        self._current = 0

    def scroll_by(self, pixels: int) -> None:
        self._current = 0
        super().scroll_by(pixels)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_N:
            self.step(forward=not event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        else:
            super().keyPressEvent(event)
