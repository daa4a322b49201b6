"""Two texts side by side, with their lines marked as equal, changed, moved or in one of them only.

Lays out only the visible lines.
"""

from collections import OrderedDict
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QAccessible, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame

from engine import marked, tr
from gui.index.duplicates.line_comparison import LONGEST, Row, RowKind, Side
from gui.style.theme import tokens
from gui.style.typography import FontSized, Typography
from gui.text.right_to_left import mirror, upright
from gui.viewer.line_layout import LineLayout, LineStyle, ScrollPosition
from gui.viewer.line_painter import Decoration, Gutter, LinePainter
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
_WHEEL_ROWS = 3
_WHEEL_NOTCH = 120
_PAD = 10


class SideBySide(FontSized, QAbstractScrollArea):
    """Shows two columns of lines; each difference has a sign, a background, and highlighted words."""

    spoken_role = QAccessible.Role.List

    def __init__(self) -> None:
        super().__init__()
        self.rows: Sequence[Row] = ()
        self._laid: OrderedDict[tuple[int, bool], LineLayout] = OrderedDict()
        self._typography = Typography.current()
        self._scroll = ScrollPosition(self._height_of, lambda number: self._height_of(number, 0))
        self._moving_bar = False
        self._current = 0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Both texts side by side"))

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show two compared texts from their first line."""
        self.rows = rows
        self._current = 0
        self._laid.clear()
        self._scroll.reset(len(rows))
        self.measure()

    def step(self, *, forward: bool) -> bool:
        """Go to the next or previous difference; returns False if there is none."""
        starts = [n for n, row in enumerate(self.rows, 1) if row.differs and (n < 2 or not self.rows[n - 2].differs)]
        ahead = [start for start in starts if (start > self._current if forward else start < self._current)]
        if not ahead:
            return False
        self._current = ahead[0 if forward else -1]
        self._scroll.go_to(self._current, above=self.viewport().height() // 4)
        self._moved()
        return True

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
        self._scroll.resize(self.viewport().height(), len(self.rows))
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
        return max(laid.rows_within(float("inf")) for laid in both if laid) * self._typography.row_height

    def _moved(self) -> None:
        unit = self._typography.row_height
        bar = self.verticalScrollBar()
        self._moving_bar = True
        bar.setRange(0, self._scroll.maximum(unit))
        bar.setPageStep(max(unit, self.viewport().height()))
        bar.setSingleStep(unit)
        bar.setValue(self._scroll.value(unit))
        self._moving_bar = False
        self.setAccessibleDescription(self._description())
        self.viewport().update()

    def _description(self) -> str:
        """Describe the line at the top, or the current difference, for screen readers."""
        return self._row_description((self._current or self._scroll.line) - 1) if self.rows else ""

    def spoken_parts(self) -> Sequence[Part]:
        """Return the visible rows with their differences, for screen readers."""
        parts, top = [], -self._scroll.hidden
        for number in range(self._scroll.line, len(self.rows) + 1):
            if top >= self.viewport().height():
                break
            tall = self._height_of(number, 0)
            parts.append(Part(self._row_description(number - 1), QRect(0, top, self.viewport().width(), tall)))
            top += tall
        return parts

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
        top = -self._scroll.hidden
        for number in range(self._scroll.line, len(self.rows) + 1):
            if top >= height:
                break
            row = self.rows[number - 1]
            tall = self._height_of(number, height)
            for right, side in enumerate((row.left, row.right)):
                if row.differs:
                    background = colours.alternate if side is None else colours.line_highlight
                    painter.fillRect(QRectF(columns[right].left(), top, columns[right].width(), tall), background)
                if side is not None:
                    self._paint_side(painter, pens[right], number, side, top, right=bool(right))
            top += tall
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

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.measure()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        if dy and not self._moving_bar:
            self._scroll.set_value(self.verticalScrollBar().value(), self._typography.row_height)
            self._current = 0
        self.viewport().update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        notches = event.angleDelta().y() / _WHEEL_NOTCH
        pixels = event.pixelDelta().y() or round(notches * _WHEEL_ROWS * self._typography.row_height)
        self._move(-pixels)
        event.accept()

    def _move(self, pixels: int) -> None:
        self._scroll.move(pixels)
        self._current = 0
        self._moved()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        unit = self._typography.row_height
        page = max(unit, self.viewport().height() - 2 * unit)
        match event.key():
            case Qt.Key.Key_Up | Qt.Key.Key_Down:
                self._move(unit if event.key() == Qt.Key.Key_Down else -unit)
            case Qt.Key.Key_PageUp | Qt.Key.Key_PageDown | Qt.Key.Key_Space:
                self._move(-page if event.key() == Qt.Key.Key_PageUp else page)
            case Qt.Key.Key_Home:
                self._scroll.go_to(1)
                self._moved()
            case Qt.Key.Key_End:
                self._scroll.go_to_end()
                self._moved()
            case Qt.Key.Key_N:
                self.step(forward=not event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            case _:
                event.ignore()
