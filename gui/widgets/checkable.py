"""Check boxes and radio buttons, with a label in the program's colours and text size."""

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QRadioButton, QSizePolicy, QWidget

from gui.style.stylesheet import font_at
from gui.style.theme import Tokens, tokens
from gui.widgets.buttons import Toggle
from gui.widgets.icons import icon_pixmap
from gui.widgets.labels import elide
from gui.widgets.mirrored import mirror, put, write

_SIDE = 15
_GAP = 8
_EDGE = 3
"""Room for the focus frame."""
_FEWEST_LETTERS = 4


def indent() -> int:
    """Start of the label, to align text below it."""
    return _EDGE + font_at(_SIDE).pixelSize() + _GAP


def _size(letters: int) -> QSize:
    height = max(QFontMetrics(font_at(13)).height(), font_at(_SIDE).pixelSize())
    return QSize(indent() + letters + _EDGE, height + 2 * _EDGE)


class Checkable(Toggle):
    """To be mixed in before a class of Qt's; `begin()` begins it. Nothing in the words is a shortcut."""

    words = ""
    """Cut if there is no room."""

    def begin(self, text: str) -> None:
        self.heed_tools()
        self.words = text
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def paint_mark(self, painter: QPainter, place: QRectF, colours: Tokens) -> None:
        """Draw the indicator's edge, its fill and, if checked, the mark."""
        raise NotImplementedError

    def sizeHint(self) -> QSize:
        """With all of its words."""
        return _size(QFontMetrics(font_at(13)).horizontalAdvance(self.words))

    def minimumSizeHint(self) -> QSize:
        """With the first few characters."""
        return _size(QFontMetrics(font_at(13)).averageCharWidth() * _FEWEST_LETTERS)

    def hitButton(self, at: QPoint) -> bool:
        return self.rect().contains(at)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The focus frame, the mark and the words."""
        colours = tokens(self.palette())
        side = font_at(_SIDE).pixelSize()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mirror(painter, self.rect(), self.layoutDirection())
        if self.hasFocus():
            painter.setPen(QPen(colours.accent, 1))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setPen(QPen(_edge(self, colours), 1))
        painter.setBrush(colours.base)
        place = QRectF(_EDGE, (self.height() - side) // 2, side, side).adjusted(0.5, 0.5, -0.5, -0.5)
        self.paint_mark(painter, place, colours)
        group = QPalette.ColorGroup.Normal if self.isEnabled() else QPalette.ColorGroup.Disabled
        painter.setPen(self.palette().color(group, QPalette.ColorRole.WindowText))
        painter.setFont(font_at(13))
        room = self.rect().adjusted(indent(), 0, -_EDGE, 0)
        text = elide(painter.fontMetrics(), self.words, Qt.TextElideMode.ElideRight, room.width())
        write(painter, room, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), text)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.HoverEnter, QEvent.Type.HoverLeave):
            self.update()
        elif event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
        return super().event(event)


def _edge(button: QAbstractButton, colours: Tokens) -> QColor:
    return colours.accent if button.isChecked() or button.underMouse() else colours.off


# --- A check box with a label, in the program's colours and text size ------------------------------------------------


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


# --- A radio button with a label, in the program's colours and text size ---------------------------------------------

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
