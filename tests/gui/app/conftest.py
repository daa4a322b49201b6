from typing import Any

import pytest
from PySide6.QtWidgets import QSystemTrayIcon

from gui.app import tray as tray_module
from gui.app.desktop_integration import QuickSearchController
from gui.app.tray import Tray
from gui.window.main_window import MainWindow


class FakeIcon(QSystemTrayIcon):
    """A tray icon on a desktop that has a tray; this machine has none, so its calls are recorded."""

    messages: list[tuple[str, str]]

    def __init__(self, parent: Any) -> None:
        super().__init__(parent)
        self.messages = []

    def show(self) -> None:
        """Do nothing: the test platform would warn about the missing tray."""

    def showMessage(self, title: str, sentence: str, *_: Any) -> None:
        self.messages.append((title, sentence))


@pytest.fixture
def tray_there(monkeypatch) -> None:
    """Simulate a desktop with a tray."""
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    monkeypatch.setattr(QSystemTrayIcon, "supportsMessages", lambda: True)
    monkeypatch.setattr(tray_module, "QSystemTrayIcon", FakeIcon)


@pytest.fixture
def tray(window: MainWindow, tray_there) -> Tray:
    tray = Tray(window.workspace, window)
    tray.set_enabled(True)
    return tray


@pytest.fixture
def quick_search(qtbot, window: MainWindow, jobs) -> QuickSearchController:
    quick_search = QuickSearchController(window, window.workspace, jobs)
    qtbot.addWidget(quick_search.quick)
    return quick_search
