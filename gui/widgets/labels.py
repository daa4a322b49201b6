"""Small makers for text and lines with a look of their own."""

import re

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from gui.widgets.mirrored import at_start
from gui.widgets.plain_text import set_plain

_JOINTS = re.compile(r"[/\\_-](?=\w)|\.(?=[^\W\d])")
_PART = 12
_NO_WORD = re.compile(rf"\w{{{_PART}}}(?=\w{{{_PART // 2}}})")
"""The beginning of a text longer than words are, such as a hash or an unhyphenated name."""


def label(text: str = "", role: str = "", *, wrap: bool = False, parent: QWidget | None = None) -> QLabel:
    """A plain-text label with a role of the style sheet."""
    made = QLabel(parent)
    set_plain(made, text)
    made.setWordWrap(wrap)
    made.setAlignment(at_start(Qt.AlignmentFlag.AlignVCenter))
    if role:
        made.setProperty("role", role)
    return made


def breakable(text: str) -> str:
    """`text` with places at which a long path or name may be wrapped, which change nothing that is seen."""
    return _NO_WORD.sub("\\g<0>\u200b", _JOINTS.sub("\\g<0>\u200b", text))


def line(*, vertical: bool = False) -> QFrame:
    """A one-pixel line between two areas."""
    made = QFrame()
    made.setProperty("role", "line")
    if vertical:
        made.setFixedWidth(1)
    else:
        made.setFixedHeight(1)
    return made
