"""Toggle buttons that react to screen readers like to a mouse.

Assistive technology calls `toggle()` of such a button, which doesn't emit `clicked`: handlers of `clicked`, used where
the program toggles the button too, would miss it.
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
