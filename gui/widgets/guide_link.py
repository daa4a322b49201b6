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
    """For pages of words with something to do."""
    return tr("Learn more"), partial(open_guide, page)


def guide_button(page: Callable[[], str]) -> QPushButton:
    """For a window whose content changes. `page`: returns the page for the current content."""
    button = QPushButton(tr("Learn more"))
    set_tip(button, tr("What the guide says about this page"))
    button.setAutoDefault(True)  # Enter presses it while it has the keys, on every platform
    button.clicked.connect(lambda _checked: open_guide(page()))
    return button
