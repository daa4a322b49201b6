"""The titles of a table's columns, with an arrow over the one that it is sorted by."""

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QPainter, QPolygonF
from PySide6.QtWidgets import QHeaderView, QWidget

from gui.style.stylesheet import font_at
from gui.style.theme import tokens

_ARROW = 8
_TOP = 1


class SortHeader(QHeaderView):
    """The arrow grows with the text, which the style's own does not. Up: the least comes first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setSectionsClickable(True)

    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        painter.save()
        super().paintSection(painter, rect, logicalIndex)
        painter.restore()
        if not self.isSortIndicatorShown() or logicalIndex != self.sortIndicatorSection():
            return
        width = font_at(_ARROW).pixelSize()
        middle, top = rect.center().x() + 0.5, float(rect.top() + _TOP)
        tip, base = top, top + width / 2
        if self.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder:
            tip, base = base, tip
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(tokens(self.palette()).muted)
        painter.drawPolygon(
            QPolygonF([QPointF(middle, tip), QPointF(middle - width / 2, base), QPointF(middle + width / 2, base)])
        )
        painter.restore()
