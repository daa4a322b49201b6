"""Arranges widgets in lines that wrap."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QStyle, QWidget


class FlowLayout(QLayout):
    """Every widget has its preferred size, limited to the line's; hidden ones take no room."""

    def __init__(self, spacing: int, parent: QWidget | None = None, *, at_end: bool = False) -> None:
        """`at_end`: align incomplete lines at their end."""
        super().__init__(parent)
        self._at_end = at_end
        self._items: list[QLayoutItem] = []
        self._heights: dict[int, int] = {}
        """By width, until something changes: Qt asks many times."""
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
        if width not in self._heights:
            self._heights[width] = self._arrange(QRect(0, 0, width, 0), place=False)
        return self._heights[width]

    def invalidate(self) -> None:
        self._heights.clear()
        super().invalidate()

    def sizeHint(self) -> QSize:
        hints = [item.sizeHint() for item in self._items if not item.isEmpty()]
        gaps = self.spacing() * max(0, len(hints) - 1)
        return QSize(sum(hint.width() for hint in hints) + gaps, max((hint.height() for hint in hints), default=0))

    def minimumSize(self) -> QSize:
        return QSize(0, max((item.sizeHint().height() for item in self._items), default=0))

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, place=True)

    def _arrange(self, rect: QRect, *, place: bool) -> int:
        """The height that is needed."""
        top, gap = rect.top(), self.spacing()
        owner = self.parentWidget()
        direction = Qt.LayoutDirection.LeftToRight if owner is None else owner.layoutDirection()
        for line in self._lines(rect.width()):
            height = max(hint.height() for _, hint in line)
            free = rect.width() - sum(hint.width() for _, hint in line) - gap * (len(line) - 1)
            left = rect.left() + (max(0, free) if self._at_end else 0)
            for item, hint in line if place else ():
                at = QRect(QPoint(left, top + (height - hint.height()) // 2), hint)
                item.setGeometry(QStyle.visualRect(direction, rect, at))
                left += hint.width() + gap
            top += height + gap
        return max(0, top - gap - rect.top())

    def _lines(self, width: int) -> list[list[tuple[QLayoutItem, QSize]]]:
        """The widgets of each line, with their sizes."""
        lines: list[list[tuple[QLayoutItem, QSize]]] = []
        used = 0
        for item in self._items:
            if item.isEmpty():
                continue
            hint = item.sizeHint()
            hint = hint.boundedTo(QSize(max(1, width), hint.height()))
            if not lines or used + self.spacing() + hint.width() > width:
                lines.append([])
                used = -self.spacing()
            lines[-1].append((item, hint))
            used += self.spacing() + hint.width()
        return lines
