"""A box to tick with words beside it, in the program's colours and as large as its text."""

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QWidget

from gui.theme import Tokens
from gui.widgets import ticks
from gui.widgets.icons import icon_pixmap
from gui.widgets.mirrored import put
from gui.widgets.toggling import Toggling


class CheckBox(Toggling, QCheckBox):
    """The words are cut where there is no room for them; nothing in them is a shortcut."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
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

    def _mark(self, painter: QPainter, box: QRectF, colours: Tokens) -> None:
        if self.isChecked():
            painter.setBrush(colours.accent)
        painter.drawRoundedRect(box, 3, 3)
        if self.isChecked():
            check = icon_pixmap("check", colours.base, round(box.width()) + 1, self.devicePixelRatioF())
            put(painter, int(box.left()), int(box.top()), check)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.HoverEnter, QEvent.Type.HoverLeave):
            self.update()
        elif event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
        return super().event(event)
