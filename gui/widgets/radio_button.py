"""A radio button with a label, in the program's colours and text size."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QRadioButton, QWidget

from gui.style.theme import Tokens
from gui.widgets.checkable import Checkable

_DOT = 0.25
"""Of the width of the ring, on each side of the dot."""


class RadioButton(Checkable, QRadioButton):
    """Unchecked when another one of its group is checked."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.begin(text)

    def paint_mark(self, painter: QPainter, ring: QRectF, colours: Tokens) -> None:
        painter.drawEllipse(ring)
        if self.isChecked():
            gap = ring.width() * _DOT
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colours.accent)
            painter.drawEllipse(ring.adjusted(gap, gap, -gap, -gap))
