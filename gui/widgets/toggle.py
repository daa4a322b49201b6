"""Buttons that are on or off, and hear a screen reader as they hear a mouse.

An assistive tool turns such a button with `toggle()`, which Qt does not call a click: whoever listens to `clicked`, as
one does where the program turns the button too, would hear nothing of it.
"""

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QAbstractButton, QPushButton, QWidget

if TYPE_CHECKING:
    _Button = QAbstractButton
else:
    _Button = object  # of Qt's classes only one may be a base


class Toggle(_Button):
    """To be mixed in before a class of Qt's; `heed_tools()` begins it."""

    _told = False
    """The program turns it, or it was clicked."""

    def heed_tools(self) -> None:
        """Emit `clicked` as well for a turn that came from neither."""
        self.toggled.connect(self._turned)

    def setChecked(self, on: bool) -> None:
        self._told = True
        try:
            super().setChecked(on)
        finally:
            self._told = False

    def nextCheckState(self) -> None:
        self._told = True
        try:
            super().nextCheckState()
        finally:
            self._told = False

    def _turned(self, on: bool) -> None:
        group = self.group()
        gave_way = not on and (self.autoExclusive() or (group is not None and group.exclusive()))
        if not self._told and not gave_way:
            self.clicked[bool].emit(on)  # type: ignore[index]


class ToggleButton(Toggle, QPushButton):
    """A plain button that stays down."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setCheckable(True)
        self.heed_tools()
