"""Two texts side by side, line by line; lays out only the visible lines."""

from collections import OrderedDict
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QAccessible, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from engine import marked, tr
from gui.index.duplicates.line_diff import LONGEST, Row, RowKind, Side
from gui.style.theme import tokens
from gui.style.typography import Typography
from gui.viewer.line_layout import LineLayout, LineStyle
from gui.viewer.line_painter import Decoration, Gutter, LinePainter
from gui.viewer.scroll_position import ScrollPosition
from gui.widgets.accessible_painting import Part
from gui.widgets.mirrored import mirror, upright

_SIGNS = {"same": "", "changed": "≠", "left": "−", "right": "+", "moved": "↕"}  # noqa: RUF001 the minus sign is meant
_SAID = {
    "changed": marked("changed"),
    "left": marked("only at the left"),
    "right": marked("only at the right"),
    "moved": marked("in another place"),
    "same": marked("the same"),
}
_MIRRORED: dict[RowKind, RowKind] = {"left": "right", "right": "left"}
_KEPT = 400
_WHEEL_ROWS = 3
_WHEEL_NOTCH = 120
_PAD = 10


class SideBySide(QAbstractScrollArea):
    """Rows of two columns; what differs has a sign before it, a ground, and its words marked."""

    spoken_role = QAccessible.Role.List

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        """Show another comparison from its start."""
        self.rows = rows
        self._current = 0
        self._laid.clear()
        self._scroll.reset(len(rows))
        self._relayout()

    def step(self, *, forward: bool) -> bool:
        """Go to the next or previous difference; False if there is none."""
        places = [
            place
            for place, row in enumerate(self.rows, 1)
            if row.kind != "same" and (place == 1 or self.rows[place - 2].kind == "same")
        ]
        if forward:
            found = next((place for place in places if place > self._current), None)
        else:
            found = next((place for place in reversed(places) if place < self._current), None)
        if found is None:
            return False
        self._current = found
        self._scroll.go_to(found, above=self.viewport().height() // 4)
        self._moved()
        return True

    # --- geometry -------------------------------------------------------------------------------------------------

    def _gutters(self) -> tuple[Gutter, Gutter]:
        """Positions of the line numbers and the text of both columns."""
        last = max((side.number for row in self.rows for side in (row.left, row.right) if side), default=1)
        plain = Gutter.for_lines(last, self._typography)
        middle = self.viewport().width() // 2
        moved = Gutter(
            plain.number_right + middle,
            plain.margin + middle,
            plain.lane_width,
            plain.edge + middle,
            plain.edge_width,
            plain.text_left + middle,
        )
        return plain, moved

    def _relayout(self) -> None:
        self._typography = Typography.current()
        self._both = self._gutters()
        self._laid.clear()
        self._scroll.resize(self.viewport().height(), len(self.rows))
        self._moved()

    def _line(self, number: int, *, right: bool) -> LineLayout | None:
        row = self.rows[number - 1]
        side = row.right if right else row.left
        if side is None:
            return None
        known = self._laid.get((number, right))
        if known is None:
            style = LineStyle(self._typography, self._text_width())
            known = LineLayout(side.text[:LONGEST], " …" if len(side.text) > LONGEST else "", style)
            self._laid[number, right] = known
            if len(self._laid) > _KEPT:
                self._laid.popitem(last=False)
        return known

    def _text_width(self) -> int:
        """Of a column."""
        return max(20, self.viewport().width() // 2 - self._both[0].text_left - self._typography.scaled(_PAD))

    def _height_of(self, number: int, enough: float) -> int:
        rows = 1
        for right in (False, True):
            laid = self._line(number, right=right)
            if laid is not None:
                rows = max(rows, laid.rows_within(float("inf")))
        return rows * self._typography.row_height

    def _moved(self) -> None:
        unit = self._typography.row_height
        bar = self.verticalScrollBar()
        self._moving_bar = True
        bar.setRange(0, self._scroll.maximum(unit))
        bar.setPageStep(max(unit, self.viewport().height()))
        bar.setSingleStep(unit)
        bar.setValue(self._scroll.value(unit))
        self._moving_bar = False
        self.setAccessibleDescription(self._spoken())
        self.viewport().update()

    def _spoken(self) -> str:
        """The line at the top, or the current difference."""
        return self._row_spoken((self._current or self._scroll.line) - 1) if self.rows else ""

    def spoken_parts(self) -> Sequence[Part]:
        """The visible rows, each with its difference."""
        parts, top = [], -self._scroll.hidden
        for number in range(self._scroll.line, len(self.rows) + 1):
            if top >= self.viewport().height():
                break
            tall = self._height_of(number, 0)
            parts.append(Part(self._row_spoken(number - 1), QRect(0, top, self.viewport().width(), tall)))
            top += tall
        return parts

    def _row_spoken(self, place: int) -> str:
        row = self.rows[place]
        texts = [f"{side.number}: {side.text[:200]}" for side in (row.left, row.right) if side is not None]
        kind = _MIRRORED.get(row.kind, row.kind) if self.isRightToLeft() else row.kind
        return f"{tr(_SAID[kind])}. {' / '.join(texts)}"

    # --- painting -------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setFont(self._typography.font)
        mirror(painter, self.viewport().rect(), self.layoutDirection())
        colours = tokens(self.palette())
        width, height = self.viewport().width(), self.viewport().height()
        columns = (QRectF(0, 0, width // 2, height), QRectF(width // 2, 0, width - width // 2, height))
        room = self._text_width()
        pens = [LinePainter(painter, colours, self._typography, gutter, room) for gutter in self._both]
        for pen, column in zip(pens, columns, strict=True):
            pen.visible = QRectF(0, 0, column.right(), height)
        top = -self._scroll.hidden
        for number in range(self._scroll.line, len(self.rows) + 1):
            if top >= height:
                break
            row = self.rows[number - 1]
            tall = self._height_of(number, height)
            for right, side in enumerate((row.left, row.right)):
                if row.kind != "same":
                    ground = colours.alternate if side is None else colours.line_highlight
                    painter.fillRect(QRectF(columns[right].left(), top, columns[right].width(), tall), ground)
                if side is not None:
                    self._paint_side(painter, pens[right], number, side, top, right=bool(right))
            top += tall
        painter.fillRect(QRectF(width // 2, 0, 1, height), colours.line)
        if self.hasFocus():
            painter.setPen(QPen(colours.accent, 1))
            painter.drawRect(QRectF(0.5, 0.5, width - 1, height - 1))
        painter.end()

    def _paint_side(
        self, painter: QPainter, pen: LinePainter, number: int, side: Side, top: int, *, right: bool
    ) -> None:
        sign = _SIGNS[self.rows[number - 1].kind]
        if sign:
            painter.setPen(tokens(self.palette()).accent)
            x = self._both[right].number_right + self._typography.scaled(8)
            with upright(painter, QRectF(x, top, self._typography.character_width, 1)) as stands:
                painter.drawText(stands.topLeft() + QPointF(0, round(self._typography.baseline)), sign)
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
        self._relayout()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        if dy and not self._moving_bar:
            self._scroll.set_value(self.verticalScrollBar().value(), self._typography.row_height)
            self._current = 0
        self.viewport().update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        pixels = event.pixelDelta().y() or round(
            event.angleDelta().y() / _WHEEL_NOTCH * _WHEEL_ROWS * self._typography.row_height
        )
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

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._relayout()
        elif event.type() == QEvent.Type.PaletteChange:
            self.viewport().update()
