"""The program's own icons, drawn in the colour of the text next to them."""

from functools import cache
from importlib.resources import files

from PySide6.QtCore import QByteArray, QEvent, QObject, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QIcon,
    QPainter,
    QPaintEvent,
    QPalette,
    QPixmap,
    QPixmapCache,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QLineEdit, QMenu, QPushButton, QWidget

from engine import tr
from gui.style.stylesheet import scaled
from gui.style.theme import tokens
from gui.style.typography import Resized
from gui.text.plain_text import set_tip
from gui.widgets.buttons import Toggle
from gui.widgets.layouts import row_of

_SIZE = 16
_SIDE_PADDING = 3
"""Pixels at each side of an icon with a text, in addition to Qt's fixed space of 4."""
_POINTING = ("chevron-right", "panel")
"""Icons with a direction, which are mirrored in right-to-left layouts."""


@cache
def _drawing(name: str) -> str:
    return files("resources").joinpath("icons", f"{name}.svg").read_text("utf-8")


def icon_pixmap(name: str, colour: QColor, size: int = 16, ratio: float = 1.0, side: int = 0) -> QPixmap:
    """Return an icon in one colour, `size` logical pixels high; directional icons are mirrored with the window.

    `side`: transparent pixels at its left and right.
    """
    turned = name in _POINTING and QGuiApplication.layoutDirection() == Qt.LayoutDirection.RightToLeft
    key = f"mnemoscope/{name}/{colour.name()}/{size}/{ratio}/{turned}/{side}"
    known = QPixmap()
    if QPixmapCache.find(key, known):
        return known
    renderer = QSvgRenderer(QByteArray(_drawing(name).replace("currentColor", colour.name()).encode()))
    pixmap = QPixmap(QSize(round((size + 2 * side) * ratio), round(size * ratio)))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    if turned:
        painter.translate(pixmap.width(), 0)
        painter.scale(-1, 1)
    renderer.render(painter, QRectF(pixmap.rect()).adjusted(side * ratio, 0, -side * ratio, 0))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    QPixmapCache.insert(key, pixmap)
    return pixmap


def _button_icon(name: str, palette: QPalette, size: int, ratio: float, side: int) -> QIcon:
    """Return an icon for a button with this palette, with its disabled and checked colours; see `icon_pixmap`."""
    colours = tokens(palette)
    result = QIcon()
    for mode, state, colour in (
        (QIcon.Mode.Normal, QIcon.State.Off, colours.text),
        (QIcon.Mode.Normal, QIcon.State.On, colours.accent),
        (QIcon.Mode.Disabled, QIcon.State.Off, colours.off),
    ):
        result.addPixmap(icon_pixmap(name, colour, size, ratio, side), mode, state)
    return result


def application_icon() -> QIcon:
    result = QIcon()
    for size in (16, 32, 64, 128, 256):
        result.addPixmap(icon_pixmap("mnemoscope", QColor("black"), size))
    return result


class IconButton(Toggle, QPushButton):
    """A button with one of the program's icons, recoloured with the theme. `name` is required, `text` may be empty."""

    def __init__(self, icon_name: str, accessible_name: str, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._icon_name = icon_name
        self._tinted: tuple[object, ...] = ()
        self.setProperty("role", "flat")
        self.set_accessible(accessible_name)
        self._tint()

    def set_accessible(self, name: str, tip: str = "") -> None:
        """Set the name for screen readers, and the tooltip: the name if `tip` is empty."""
        self.setAccessibleName(name)
        set_tip(self, tip or name)

    def set_icon(self, icon_name: str) -> None:
        if icon_name != self._icon_name:
            self._icon_name = icon_name
            self._tint()

    def setText(self, text: str) -> None:
        super().setText(text)
        self._tint()

    def setMenu(self, menu: QMenu) -> None:
        super().setMenu(menu)
        menu.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Align a menu that would leave the window with the other side of the button, before it is visible."""
        menu = self.menu()
        if watched is menu and event.type() == QEvent.Type.Show:
            area = self.window().frameGeometry()
            left = self.mapToGlobal(QPoint()).x()
            other = left + self.width() - menu.width()
            if menu.geometry().right() > area.right() and other >= area.left():
                menu.move(other, menu.y())
            elif menu.x() < area.left():
                menu.move(left, menu.y())
        return super().eventFilter(watched, event)

    def _tint(self) -> None:
        size = scaled(_SIZE)
        side = _SIDE_PADDING if self.text() else 0
        ratio = self.devicePixelRatioF()
        appearance = (self._icon_name, tokens(self.palette()).text.rgb(), size, ratio, side)
        if appearance == self._tinted:
            return  # one change of theme arrives as several events
        self._tinted = appearance
        self.setIconSize(QSize(size + 2 * side, size))
        self.setIcon(_button_icon(self._icon_name, self.palette(), size, ratio, side))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._tint()

    def paintEvent(self, event: QPaintEvent) -> None:
        self._tint()  # the window may be on a screen with another pixel ratio now
        super().paintEvent(event)


class _ClearButton(Resized, IconButton):
    """A button at the end of a field that clears its text, as large as the text; hidden while the field is empty.

    Qt's own is 16 pixels high at every font scale: neither the style sheet nor the font changes its size.
    """

    def __init__(self, edit: QLineEdit) -> None:
        super().__init__("close", tr("Clear"), parent=edit)
        self._edit = edit
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.clicked.connect(self._clear)
        edit.textChanged.connect(self._show)
        row_of(None, self, margins=(2, 1, 2, 1), parent=edit)
        self._show(edit.text())

    def _clear(self) -> None:
        if self._edit.text():
            self._edit.clear()
            self._edit.textEdited.emit("")

    def _show(self, text: str) -> None:
        self.setVisible(bool(text))
        self.fit()

    def fit(self) -> None:
        """Keep the text of the field free of the button."""
        room = self.sizeHint().width() if self._edit.text() else 0
        mirrored = self._edit.layoutDirection() == Qt.LayoutDirection.RightToLeft
        self._edit.setTextMargins(room if mirrored else 0, 0, 0 if mirrored else room, 0)


def add_clear_button(edit: QLineEdit) -> None:
    """Add a button that clears a field, with an accessible name."""
    _ClearButton(edit)
