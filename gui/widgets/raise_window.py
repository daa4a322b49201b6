"""Brings a window to the front, from anywhere."""

import os

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def bring_to_front(window: QWidget) -> None:
    """Show it, also where it was hidden or minimized, and give it the keys."""
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
