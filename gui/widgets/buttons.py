"""Toggle buttons, and buttons that copy a record as JSON or open a page of the guide.

Assistive technology calls `toggle()` of a toggle button, which doesn't emit `clicked`: handlers of `clicked`, used
where the program toggles the button too, would miss it.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QTimer, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QPushButton, QWidget

from engine import to_json, tr
from gui.text.plain_text import set_tip

if TYPE_CHECKING:
    _Button = QAbstractButton
else:
    _Button = object  # a class can have only one base of Qt


def push_button(
    words: str = "", run: Callable[[], object] | None = None, *, role: str = "", name: str = "", tip: str = ""
) -> QPushButton:
    """Create a button that calls `run`; `role` selects its style in the style sheet.

    The role "flush" is a link without padding. `name`: accessible name, if it isn't the label.
    """
    button = QPushButton(words)
    if role:
        button.setProperty("role", "link" if role == "flush" else role)
    if role == "flush":
        button.setProperty("flush", True)
    if name:
        button.setAccessibleName(name)
    if tip:
        set_tip(button, tip)
    if run is not None:
        button.clicked.connect(lambda _checked: run())
    return button


class Toggle(_Button):
    """Mixin for a Qt button class, listed before it, with a `clicked` signal that assistive technology triggers too."""

    _handled = False
    """Whether the current change comes from the program or a click."""

    def setCheckable(self, checkable: bool) -> None:
        if checkable and not self.isCheckable():
            self.connect_assistive_technology()
        super().setCheckable(checkable)

    def connect_assistive_technology(self) -> None:
        """Emit `clicked` also when assistive technology toggles the button; for classes that are always checkable."""
        self.toggled.connect(self._emit_clicked)

    def setChecked(self, on: bool) -> None:
        self._handled = True
        try:
            super().setChecked(on)
        finally:
            self._handled = False

    def nextCheckState(self) -> None:
        self._handled = True
        try:
            super().nextCheckState()
        finally:
            self._handled = False

    def _emit_clicked(self, on: bool) -> None:
        group = self.group()
        unchecked_by_group = not on and (self.autoExclusive() or (group is not None and group.exclusive()))
        if not self._handled and not unchecked_by_group:
            self.clicked[bool].emit(on)  # type: ignore[index]


class ToggleButton(Toggle, QPushButton):
    """A push button that can be toggled."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setCheckable(True)


# --- A button that copies a whole record, for a report or another program --------------------------------------------

_COPIED_MS = 1500


class CopyJsonButton(QPushButton):
    """A button that copies a record as JSON, and briefly confirms it in its label."""

    def __init__(self, record: Callable[[], Any], description: str) -> None:
        """`record` returns the record to copy, None if there is none; `description` is the button's tooltip."""
        super().__init__(tr("Copy as JSON"))
        self._record = record
        set_tip(self, description)
        self._copied = QTimer(self, singleShot=True, interval=_COPIED_MS)
        self._copied.timeout.connect(self._name)
        self.clicked.connect(self._copy)

    @Slot()
    def _copy(self) -> None:
        record = self._record()
        if record is not None:
            QGuiApplication.clipboard().setText(to_json(record, indent=2))
            self.setText(tr("Copied"))
            self._copied.start()

    @Slot()
    def _name(self) -> None:
        self.setText(tr("Copy as JSON"))


SCHEME = "mnemoscope-guide"


def open_guide(page: str) -> None:
    """Open the user guide at a page."""
    QDesktopServices.openUrl(QUrl(f"{SCHEME}:{page}"))


def guide_action(page: str) -> tuple[str, Callable[[], None]]:
    """Return label and function of a button that opens a page of the guide."""
    return tr("Learn more"), partial(open_guide, page)


def guide_button(page: Callable[[], str]) -> QPushButton:
    """Return a button that opens the guide at the page that `page` returns."""
    button = QPushButton(tr("Learn more"))
    set_tip(button, tr("Open the guide's page about this view"))
    button.clicked.connect(lambda _checked: open_guide(page()))
    return button
