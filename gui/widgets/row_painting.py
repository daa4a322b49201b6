"""Common painting of the rows of all lists."""

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from gui.style.theme import Tokens

GUTTER = 16
EDGE = 3
AT_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
AT_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)


def paint_ground(painter: QPainter, option: QStyleOptionViewItem, colours: Tokens) -> None:
    """The ground of a row that can be current: selected, under the mouse, or none."""
    state = option.state
    rect = option.rect
    if state & QStyle.StateFlag.State_Selected:
        painter.fillRect(rect, colours.accent_ground)
        painter.fillRect(QRect(rect.left(), rect.top(), EDGE, rect.height()), colours.accent)
        if state & QStyle.StateFlag.State_HasFocus:  # shows whether the list or the box has the focus
            painter.setPen(colours.accent)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5))
    elif state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(rect, colours.alternate)
