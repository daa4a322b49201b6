"""Opens small windows with text, and brings windows to the front."""

import os

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget


def sheet(title: str, content: QWidget, parent: QWidget) -> QDialog:
    """Open a dialog with `content` and a close button; closing it deletes it."""
    dialog = QDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    column = QVBoxLayout(dialog)
    column.setContentsMargins(20, 18, 20, 14)
    column.setSpacing(14)
    column.addWidget(content)
    column.addWidget(buttons)
    dialog.open()
    return dialog


def bring_to_front(window: QWidget) -> None:
    """Show a window, also if it was hidden or minimized, and focus it."""
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.show()
    window.raise_()
    window.activateWindow()


def use_token(token: str) -> None:
    """Set the activation token of another process for the next window that is raised.

    Wayland requires it, and Qt reads it from the environment as if it had been given to this process.
    """
    if token:
        os.environ["XDG_ACTIVATION_TOKEN"] = token
