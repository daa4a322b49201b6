"""A box to choose from, in the look of the other controls."""

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QSizePolicy, QStyle, QStyleOptionComboBox, QStylePainter, QWidget

from gui.style.stylesheet import font_at
from gui.style.theme import tokens
from gui.widgets.icons import icon_pixmap
from gui.widgets.labels import elide
from gui.widgets.mirrored import line_direction

_CHEVRON = 12
_RIGHT = 10
_TEXT_PADS = 4
"""What the style leaves at the sides of a text."""


class ComboBox(QComboBox):
    """The wheel scrolls the page below it, and changes nothing, until the box has the keys."""

    def __init__(
        self, name: str, cut: Qt.TextElideMode = Qt.TextElideMode.ElideRight, parent: QWidget | None = None
    ) -> None:
        """`name` is the accessible name; `cut` is where overlong text is shortened."""
        super().__init__(parent)
        self._cut = cut
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(12)

    def choose(self, data: object) -> None:
        """Select the entry with this data without a signal; none if there is no such entry."""
        blocked = self.blockSignals(True)
        self.setCurrentIndex(self.findData(data))
        self.blockSignals(blocked)

    def sizeHint(self) -> QSize:
        """Wide enough for the padding, too, which Qt leaves out: the longest entry would be cut."""
        hint = super().sizeHint()
        own = self.sizeAdjustPolicy() == QComboBox.SizeAdjustPolicy.AdjustToContents
        return hint + QSize(_TEXT_PADS + 1, 0) if own else hint  # one more, by which it may round down

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        self._paint_box()
        colours = tokens(self.palette())
        side = font_at(_CHEVRON).pixelSize()
        colour = colours.muted if self.isEnabled() else colours.off
        right_to_left = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        left = _RIGHT if right_to_left else self.width() - side - _RIGHT
        painter = QPainter(self)
        pixmap = icon_pixmap("chevron-down", colour, side, self.devicePixelRatioF())
        painter.drawPixmap(QPoint(left, (self.height() - side) // 2), pixmap)

    def shown_text(self) -> str:
        """The current text shortened to the width; Qt itself would cut it inside a letter."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        room = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        return elide(self.fontMetrics(), self.currentText(), self._cut, room.width() - _TEXT_PADS)

    def _paint_box(self) -> None:
        """As Qt does, but for the text."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        option.currentText = self.shown_text()
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        # In the text's own direction: the ellipsis of a path is at its beginning.
        painter.setLayoutDirection(line_direction(option.currentText))
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
