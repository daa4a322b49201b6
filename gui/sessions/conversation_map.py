"""The scroll bar of a conversation: a strip on which its messages, long runs of tools and the hits are seen at once."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QScrollBar, QWidget

from gui.sessions.conversation_rows import Row
from gui.theme import tokens
from gui.viewer.typography import font_scale

_WIDTH = 34
_CELL = 15
_BLOCK = 18
_EDGE = 10
_VIEW_OPACITY = 46


class MessageMap(QScrollBar):
    """Each row has a cell of the same height; the person's are in the accent's colour, tools are thin.

    Signals:
        jumped: a place was clicked (position of the row).
    """

    jumped = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self.setAccessibleName("Map of the conversation")
        self._rows: Sequence[Row] = ()
        self._kinds: bytes | bytearray = b""
        self._hits: bytes | bytearray = b""
        self._view = (0, 0)

    def show_rows(
        self, rows: Sequence[Row], kinds: bytes | bytearray, hits: bytes | bytearray, view: tuple[int, int]
    ) -> None:
        """`kinds` has a byte a row, `hits` a byte an entry; `view` is the first row in view and the one behind it."""
        self._rows, self._kinds, self._hits, self._view = rows, kinds, hits, view
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(_WIDTH * font_scale()), 80)

    @property
    def _cell(self) -> float:
        """Height of a row's cell; below one pixel in a long conversation."""
        return min(_CELL * font_scale(), (self.height() - 2 * _EDGE) / max(1, len(self._kinds)))

    def y_of(self, position: int) -> int:
        return round(_EDGE + position * self._cell)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = QPainter(self)
        painter.fillRect(self.rect(), colours.base)
        first, after = self._view
        if after:
            held = QRectF(2, self.y_of(first) - 2, self.width() - 4, max(6, self.y_of(after) - self.y_of(first) + 3))
            ground = QColor(colours.muted)
            ground.setAlpha(_VIEW_OPACITY)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ground)
            painter.drawRoundedRect(held, 4, 4)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        step = max(1, round(1 / self._cell * 2)) if self._cell < 2 else 1
        for start in range(0, len(self._kinds), step):
            self._paint_cell(painter, start, min(len(self._kinds), start + step))

    def _paint_cell(self, painter: QPainter, start: int, after: int) -> None:
        """Some rows that share some pixels: a hit shows before the person's words, and these before the rest."""
        colours = tokens(self.palette())
        top = self.y_of(start)
        height = max(1, self.y_of(after) - top - (2 if self._cell > 5 else 0))
        kinds = self._kinds[start:after]
        width = round(_BLOCK * font_scale())
        left = (self.width() - width) // 2
        entries = self._rows[start].entry, self._rows[after - 1].entry + 1
        if 1 in self._hits[slice(*entries)]:
            painter.setPen(QPen(QColor.fromHsv(colours.mark.hsvHue(), 230, 225), 1))
            painter.setBrush(colours.mark)
            painter.drawRect(left, top, width - 1, max(2, height - 1))
        elif b"u" in kinds:
            painter.fillRect(left, top, width, max(2, height), colours.accent)
        elif b"s" in kinds:
            painter.fillRect(left, top, width, height, colours.off)
        else:
            painter.fillRect(left + width // 3, top, width // 3, height, colours.line)

    def _jump(self, event: QMouseEvent) -> None:
        position = int((event.position().y() - _EDGE) / self._cell)
        self.jumped.emit(max(0, min(len(self._kinds) - 1, position)))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._kinds:
            self._jump(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and self._kinds:
            self._jump(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()
