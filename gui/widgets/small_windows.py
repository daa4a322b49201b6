"""Opens small windows of text, and brings a window to the front."""

import os

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget


def sheet(title: str, content: QWidget, parent: QWidget) -> QDialog:
    """Show a window with `content` and a close button; closing it deletes it."""
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
    """Let the next window that is raised use the activation token of another start.

    Wayland requires it, and Qt takes it from the environment as if it had been given to this start.
    """
    if token:
        os.environ["XDG_ACTIVATION_TOKEN"] = token
