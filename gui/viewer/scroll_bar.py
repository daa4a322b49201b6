"""The scroll bar of the source: a strip that also shows where in the whole text the hits are."""

from collections.abc import Iterable

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QScrollBar, QStyle, QStyleOptionSlider, QWidget

from engine import tr
from gui.style.theme import tokens
from gui.widgets.mirrored import mirror

_TICK_HEIGHT = 3
_TICK_INSET = 3
_HANDLE_OPACITY = 60
_HELD_OPACITY = 110


class MatchScrollBar(QScrollBar):
    """Ticks are lines with a hit; the band at the side of the text is the highlighted part."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Position in the file"))
        self._length = 1
        self._lines: frozenset[int] = frozenset()
        self._highlight: tuple[int, int] | None = None

    def set_length(self, lines: int) -> None:
        """How many lines the height of the strip stands for."""
        if lines != self._length:
            self._length = max(1, lines)
            self.update()

    def set_ticks(self, lines: Iterable[int]) -> None:
        found = frozenset(lines)
        if found != self._lines:
            self._lines = found
            self.update()

    def set_highlight(self, lines: tuple[int, int] | None) -> None:
        self._highlight = lines
        self.update()

    def y_of(self, line: int) -> int:
        """The pixel of the strip that stands for a line."""
        return (line - 1) * self.height() // self._length

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = QPainter(self)
        mirror(painter, self.rect(), self.layoutDirection())
        painter.fillRect(self.rect(), colours.base)
        painter.fillRect(0, 0, 1, self.height(), colours.line)
        if self._highlight is not None:
            first, last = self._highlight
            top = self.y_of(first)
            painter.fillRect(1, top, 2, max(2, self.y_of(last + 1) - top), colours.accent)
        self._paint_handle(painter, colours.muted)
        painter.setPen(QPen(colours.mark_tick, 1))
        painter.setBrush(colours.mark)
        right = self.width() - 1 - 2 * _TICK_INSET
        for y in sorted({self.y_of(line) for line in self._lines}):
            painter.drawRect(_TICK_INSET + 1, min(y, self.height() - _TICK_HEIGHT - 1), right, _TICK_HEIGHT - 1)

    def _paint_handle(self, painter: QPainter, colour: QColor) -> None:
        if self.minimum() == self.maximum():
            return
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        control = QStyle.ComplexControl.CC_ScrollBar
        handle = self.style().subControlRect(control, option, QStyle.SubControl.SC_ScrollBarSlider, self)
        faded = QColor(colour)
        faded.setAlpha(_HELD_OPACITY if self.isSliderDown() or self.underMouse() else _HANDLE_OPACITY)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(0, 0, 0, 0)))
        painter.setBrush(faded)
        painter.drawRoundedRect(QRectF(handle).adjusted(4, 1, -2, -1), 4, 4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
