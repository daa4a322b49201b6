"""One of several to choose from, with words beside it, in the program's colours and as large as its text."""

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QRadioButton, QSizePolicy, QWidget

from gui.theme import Tokens
from gui.widgets import ticks
from gui.widgets.toggling import Toggling

_DOT = 0.25
"""Of the width of the ring, on each side of the dot."""


class RadioButton(Toggling, QRadioButton):
    """The words are cut where there is no room for them; nothing in them is a shortcut."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heed_tools()
        self.words = text
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return ticks.tick_size(self.words)

    def minimumSizeHint(self) -> QSize:
        return ticks.least_size()

    def hitButton(self, at: QPoint) -> bool:
        return self.rect().contains(at)

    def paintEvent(self, event: QPaintEvent) -> None:
        ticks.paint_tick(self, self.words, self._mark)

    def _mark(self, painter: QPainter, ring: QRectF, colours: Tokens) -> None:
        painter.drawEllipse(ring)
        if self.isChecked():
            gap = ring.width() * _DOT
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colours.accent)
            painter.drawEllipse(ring.adjusted(gap, gap, -gap, -gap))

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.HoverEnter, QEvent.Type.HoverLeave):
            self.update()
        elif event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
        return super().event(event)
