"""How boxes to tick and buttons to choose one of several are measured and drawn."""

from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPalette, QPen
from PySide6.QtWidgets import QAbstractButton

from gui.style import font_at
from gui.theme import Tokens, tokens
from gui.widgets.elided import elide
from gui.widgets.mirrored import mirror, write

_SIDE = 15
_GAP = 8
_EDGE = 3
"""Room for the focus frame."""
_FEWEST_LETTERS = 4

Mark = Callable[[QPainter, QRectF, Tokens], None]
"""Draws the place of the mark: its edge, its ground and, where it is on, the mark."""


def indent() -> int:
    """Where the words begin, for what is said below them."""
    return _EDGE + font_at(_SIDE).pixelSize() + _GAP


def tick_size(words: str) -> QSize:
    """With all of its words."""
    return _size(QFontMetrics(font_at(13)).horizontalAdvance(words))


def least_size() -> QSize:
    """With the first few letters."""
    return _size(QFontMetrics(font_at(13)).averageCharWidth() * _FEWEST_LETTERS)


def _size(letters: int) -> QSize:
    height = max(QFontMetrics(font_at(13)).height(), font_at(_SIDE).pixelSize())
    return QSize(indent() + letters + _EDGE, height + 2 * _EDGE)


def paint_tick(button: QAbstractButton, words: str, mark: Mark) -> None:
    """The focus frame, the mark and the words, which are cut where there is no room for them."""
    colours = tokens(button.palette())
    side = font_at(_SIDE).pixelSize()
    painter = QPainter(button)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    mirror(painter, button.rect(), button.layoutDirection())
    if button.hasFocus():
        painter.setPen(QPen(colours.accent, 1))
        painter.drawRoundedRect(QRectF(button.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
    painter.setPen(QPen(_edge(button, colours), 1))
    painter.setBrush(colours.base)
    mark(painter, QRectF(_EDGE, (button.height() - side) // 2, side, side).adjusted(0.5, 0.5, -0.5, -0.5), colours)
    group = QPalette.ColorGroup.Normal if button.isEnabled() else QPalette.ColorGroup.Disabled
    painter.setPen(button.palette().color(group, QPalette.ColorRole.WindowText))
    painter.setFont(font_at(13))
    room = button.rect().adjusted(indent(), 0, -_EDGE, 0)
    text = elide(painter.fontMetrics(), words, Qt.TextElideMode.ElideRight, room.width())
    write(painter, room, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), text)


def _edge(button: QAbstractButton, colours: Tokens) -> QColor:
    return colours.accent if button.isChecked() or button.underMouse() else colours.off
