"""What the bars of an explanation have in common: as wide as there is room, and as high as their content asks for."""

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gui.style.stylesheet import font_at
from gui.style.theme import Tokens, tokens
from gui.widgets.mirrored import mirror

_LEAST_WIDTH = 120


class Drawing(QWidget):
    """A subclass says how high it is (`wanted_height`), paints (`draw`), and calls `show_anew` with other content."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def wanted_height(self) -> int:
        """In pixels, at the width of now."""
        raise NotImplementedError

    def draw(self, painter: QPainter, colours: Tokens) -> None:
        """In small type, with round edges."""
        raise NotImplementedError

    def show_anew(self) -> None:
        """There is something else to draw."""
        self._measure()
        self.update()

    def _measure(self) -> None:
        self.setFixedHeight(self.wanted_height())

    def minimumSizeHint(self) -> QSize:
        return QSize(_LEAST_WIDTH, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._measure()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._measure()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mirror(painter, self.rect(), self.layoutDirection())
        painter.setFont(font_at(12))
        self.draw(painter, tokens(self.palette()))
