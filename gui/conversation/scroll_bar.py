"""The scroll bar of a conversation: a strip that shows its messages, long runs of tools and the hits."""

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QScrollBar, QWidget

from engine import tr
from gui.conversation.rows import Rows
from gui.style.theme import Tokens, tokens
from gui.style.typography import font_scale
from gui.viewer.line_painter import faded

_WIDTH = 34
_CELL = 15
_BLOCK = 18
_EDGE = 10
_VIEW_OPACITY = 46


class MessageScrollBar(QScrollBar):
    """Each row has a cell of the same height; the user's are in the accent colour, tools are thin.

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
        """The cells as they were drawn last: in a long conversation drawing them takes longer than scrolling may."""

    def show_rows(self, rows: Rows | None, hits: bytes | bytearray) -> None:
        """The rows have changed, or those with hits: `hits` has a byte an entry, 1 for one with a hit."""
        self._rows, self._hits, self._strip = rows, hits, None
        self.update()

    def show_view(self, first: int, after: int) -> None:
        """Positions of the first row in view and of the one behind it."""
        self._view = first, after
        self.update()

    @property
    def entries_in_view(self) -> tuple[int, int]:
        """The first entry in view and the one behind the last."""
        first, after = self._view
        if self._rows is None or not after:
            return 0, 0
        return self._rows.rows[first].entry, self._rows.rows[after - 1].entry + 1

    def sizeHint(self) -> QSize:
        return QSize(round(_WIDTH * font_scale()), 80)

    @property
    def _count(self) -> int:
        return len(self._rows.kinds) if self._rows is not None else 0

    @property
    def row_pixels(self) -> float:
        """Height of a row's cell; below one pixel in a long conversation."""
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
            held = QRectF(2, _EDGE + first * cell - 2, self.width() - 4, max(6.0, (after - first) * cell + 3))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(faded(colours.muted, _VIEW_OPACITY))
            painter.drawRoundedRect(held, 4, 4)
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
        width = round(_BLOCK * font_scale())
        left = (self.width() - width) // 2
        quiet = _between(colours.line, colours.off)
        step = 1 if cell >= 2 else round(2 / cell)
        for start in range(0, self._count, step):
            after = min(self._count, start + step)
            top = round(_EDGE + start * cell)
            height = max(2, round(_EDGE + after * cell) - top - (2 if cell > 5 else 0))
            entries = slice(rows.rows[start].entry, rows.rows[after - 1].entry + 1)
            kinds = rows.kinds[start:after]
            if 1 in self._hits[entries]:  # hits have priority over the user's messages, and these over the rest
                painter.setPen(colours.mark_tick)
                painter.setBrush(colours.mark)
                painter.drawRect(left, top, width - 1, height - 1)
            elif b"u" in kinds:
                painter.fillRect(left, top, width, height, colours.accent)
            elif b"s" in kinds:
                painter.fillRect(left, top, width, height, quiet)
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


def _between(one: QColor, other: QColor) -> QColor:
    """Two thirds of the one and one third of the other."""
    return QColor(
        (2 * one.red() + other.red()) // 3, (2 * one.green() + other.green()) // 3, (2 * one.blue() + other.blue()) // 3
    )
