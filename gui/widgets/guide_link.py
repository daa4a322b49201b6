"""Opens a page of the guide from anywhere in the window, by an internal URL."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton

from engine import tr
from gui.widgets.plain_text import set_tip

SCHEME = "mnemoscope-guide"


def open_guide(page: str) -> None:
    """Show this page of the guide."""
    QDesktopServices.openUrl(QUrl(f"{SCHEME}:{page}"))


def guide_action(page: str) -> tuple[str, Callable[[], None]]:
    """Return the action of a message page that opens a page of the guide."""
    return tr("Learn more"), partial(open_guide, page)


def guide_button(page: Callable[[], str]) -> QPushButton:
    """Return a button that opens the guide. `page` returns the page for the window's current content."""
    button = QPushButton(tr("Learn more"))
    set_tip(button, tr("What the guide says about this page"))
    button.setAutoDefault(True)  # Enter presses it while it has the keys, on every platform
    button.clicked.connect(lambda _checked: open_guide(page()))
    return button
