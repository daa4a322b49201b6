"""A box to tick with words beside it, in the program's colours and as large as its text."""

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QWidget

from gui.style import font_at
from gui.theme import tokens
from gui.widgets.elided import elide
from gui.widgets.icons import icon_pixmap

_SIDE = 15
_GAP = 8
_EDGE = 3
"""Room for the focus frame."""
_FEWEST_LETTERS = 4


class CheckBox(QCheckBox):
    """The words are cut where there is no room for them; nothing in them is a shortcut."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = text
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    @staticmethod
    def indent() -> int:
        """Where its words begin, for what is said below them."""
        return _EDGE + font_at(_SIDE).pixelSize() + _GAP

    def _size(self, letters: int) -> QSize:
        height = max(QFontMetrics(font_at(13)).height(), font_at(_SIDE).pixelSize())
        return QSize(self.indent() + letters + _EDGE, height + 2 * _EDGE)

    def sizeHint(self) -> QSize:
        return self._size(QFontMetrics(font_at(13)).horizontalAdvance(self.words))

    def minimumSizeHint(self) -> QSize:
        return self._size(QFontMetrics(font_at(13)).averageCharWidth() * _FEWEST_LETTERS)

    def hitButton(self, at: QPoint) -> bool:
        return self.rect().contains(at)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        on = self.isChecked()
        side = font_at(_SIDE).pixelSize()
        box = QRectF(_EDGE, (self.height() - side) // 2, side, side)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.hasFocus():
            painter.setPen(QPen(colours.accent, 1))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setPen(QPen(colours.accent if on or self.underMouse() else colours.off, 1))
        painter.setBrush(colours.accent if on else colours.base)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        if on:
            mark = icon_pixmap("check", colours.base, side, self.devicePixelRatioF())
            painter.drawPixmap(box.topLeft(), mark)
        group = QPalette.ColorGroup.Normal if self.isEnabled() else QPalette.ColorGroup.Disabled
        painter.setPen(self.palette().color(group, QPalette.ColorRole.WindowText))
        painter.setFont(font_at(13))
        room = self.rect().adjusted(self.indent(), 0, -_EDGE, 0)
        text = elide(painter.fontMetrics(), self.words, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), text)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.HoverEnter, QEvent.Type.HoverLeave):
            self.update()
        elif event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
        return super().event(event)
