"""A pill-shaped button: a filter that is on or off, or the head of a small menu."""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QWidget

from gui.style.stylesheet import font_at
from gui.style.theme import tokens
from gui.widgets.buttons import Toggle
from gui.widgets.icons import icon_pixmap
from gui.widgets.labels import elide
from gui.widgets.right_to_left import mirror, write

_PAD = 12
_HEIGHT = 26
_ARROW = 12
_FEWEST_CHARACTERS = 4


class Chip(Toggle, QPushButton):
    """Checkable by default; with a menu it shows an arrow and opens the menu instead.

    The width does not change between on and off, though the text becomes semibold; one that `yields` is shortened where
    there is no room for all of it.
    """

    def __init__(
        self, text: str, menu: QMenu | None = None, *, yields: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(text, parent)
        self.heed_tools()
        self._yields = yields
        self._narrows = False
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._opens_menu = menu is not None
        if menu is None:
            self.setCheckable(True)
        else:
            self.setMenu(menu)

    def set_narrows(self, narrows: bool) -> None:
        """Set whether the choice of a chip's menu filters anything, so that the chip looks checked."""
        self._narrows = narrows
        self.update()

    def sizeHint(self) -> QSize:
        self.ensurePolished()
        bold = self._font(bold=True)
        metrics = QFontMetrics(bold)
        arrow = self._arrow() + 4 if self._opens_menu else 0
        return QSize(metrics.horizontalAdvance(self.text()) + 2 * _PAD + arrow, max(_HEIGHT, metrics.height() + 10))

    def minimumSizeHint(self) -> QSize:
        if not self._yields:
            return self.sizeHint()
        few = QFontMetrics(self._font(bold=True)).averageCharWidth() * _FEWEST_CHARACTERS
        arrow = self._arrow() + 4 if self._opens_menu else 0
        hint = self.sizeHint()
        return QSize(min(hint.width(), few + 2 * _PAD + arrow), hint.height())

    @staticmethod
    def _arrow() -> int:
        return font_at(_ARROW).pixelSize()

    @staticmethod
    def _font(*, bold: bool) -> QFont:
        return font_at(13, QFont.Weight.DemiBold if bold else QFont.Weight.Normal)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        on = self.isChecked() or self.isDown() or self._narrows
        thick = 2 if on and self.hasFocus() else 1  # the edge of one that is on may have the colour of the focus
        box = QRectF(self.rect()).adjusted(thick / 2, thick / 2, -thick / 2, -thick / 2)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mirror(painter, self.rect(), self.layoutDirection())
        edge = colours.accent if self.hasFocus() else colours.chosen_edge if on else colours.edge
        painter.setPen(QPen(edge, thick))
        if self.isEnabled():  # else no ground at all, since its ink is about that of one that is off
            painter.setBrush(colours.accent_ground if on else colours.base)
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        ink = colours.accent if on else colours.text if self.underMouse() else colours.muted
        if not self.isEnabled():
            ink = self.palette().color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText)
        painter.setPen(ink)
        painter.setFont(self._font(bold=on))
        inner = self.rect().adjusted(_PAD, 0, -_PAD, 0)
        if self._opens_menu:
            side = self._arrow()
            arrow = icon_pixmap("chevron-down", ink, side, self.devicePixelRatioF())
            painter.drawPixmap(inner.right() - side + 3, (self.height() - side) // 2 + 1, arrow)
            inner.adjust(0, 0, -side - 2, 0)
        along = Qt.AlignmentFlag.AlignLeft if self._opens_menu else Qt.AlignmentFlag.AlignHCenter
        text = elide(painter.fontMetrics(), self.text(), Qt.TextElideMode.ElideRight, inner.width())
        write(painter, inner, Qt.AlignmentFlag.AlignVCenter | along, text)

    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.HoverEnter, QEvent.Type.HoverLeave):
            self.update()
        elif event.type() == QEvent.Type.StyleChange:
            self.updateGeometry()
        return super().event(event)
