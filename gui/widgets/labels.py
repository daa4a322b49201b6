"""Small makers for text and lines with a look of their own."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QWidget


def label(text: str = "", role: str = "", *, wrap: bool = False, parent: QWidget | None = None) -> QLabel:
    """A plain-text label with a role of the style sheet."""
    made = QLabel(text, parent)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if role:
        made.setProperty("role", role)
    return made


def line(*, vertical: bool = False) -> QFrame:
    """A one-pixel line between two areas."""
    made = QFrame()
    made.setProperty("role", "line")
    if vertical:
        made.setFixedWidth(1)
    else:
        made.setFixedHeight(1)
    return made
