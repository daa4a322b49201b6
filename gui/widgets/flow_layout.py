"""Widgets one after the other, going on in further lines where one is full."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Every widget has the size that it asks for, and no more than the line's."""

    def __init__(self, spacing: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), place=False)

    def sizeHint(self) -> QSize:
        hints = [item.sizeHint() for item in self._items]
        gaps = self.spacing() * max(0, len(hints) - 1)
        return QSize(sum(hint.width() for hint in hints) + gaps, max((hint.height() for hint in hints), default=0))

    def minimumSize(self) -> QSize:
        return QSize(0, max((item.sizeHint().height() for item in self._items), default=0))

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, place=True)

    def _arrange(self, rect: QRect, *, place: bool) -> int:
        """The height that is needed."""
        left, top, tallest = rect.left(), rect.top(), 0
        for item in self._items:
            hint = item.sizeHint().boundedTo(QSize(max(1, rect.width()), item.sizeHint().height()))
            if left > rect.left() and left + hint.width() > rect.left() + rect.width():
                left, top, tallest = rect.left(), top + tallest + self.spacing(), 0
            if place:
                item.setGeometry(QRect(QPoint(left, top), hint))
            left += hint.width() + self.spacing()
            tallest = max(tallest, hint.height())
        return top + tallest - rect.top()
