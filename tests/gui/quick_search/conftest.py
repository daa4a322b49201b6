import pytest

from gui.window.main_window import MainWindow
from gui.window.quick_search import QuickSearchController


@pytest.fixture
def way(qtbot, opened: MainWindow, jobs) -> QuickSearchController:
    """The quick search of a window with the garden open."""
    way = QuickSearchController(opened, opened.workspace, jobs)
    qtbot.addWidget(way.quick)
    return way
