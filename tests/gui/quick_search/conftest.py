import pytest

from gui.app.desktop_integration import QuickSearchController
from gui.window.main_window import MainWindow


@pytest.fixture
def quick_search(qtbot, opened: MainWindow, jobs) -> QuickSearchController:
    """The quick search of a window with the garden open."""
    quick_search = QuickSearchController(opened, opened.workspace, jobs)
    qtbot.addWidget(quick_search.quick)
    return quick_search
