"""A check box with a label, in the program's colours and text size."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QCheckBox, QWidget

from gui.style.theme import Tokens
from gui.widgets.checkable import Checkable
from gui.widgets.icons import icon_pixmap
from gui.widgets.mirrored import put


class CheckBox(Checkable, QCheckBox):
    """On or off."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.begin(text)

    def paint_mark(self, painter: QPainter, box: QRectF, colours: Tokens) -> None:
        if self.isChecked():
            painter.setBrush(colours.accent)
        painter.drawRoundedRect(box, 3, 3)
        if self.isChecked():
            check = icon_pixmap("check", colours.base, round(box.width()) + 1, self.devicePixelRatioF())
            put(painter, int(box.left()), int(box.top()), check)
