import pytest

from gui.app.quick_search_controller import QuickSearchController
from gui.window.main_window import MainWindow


@pytest.fixture
def way(qtbot, opened: MainWindow, jobs) -> QuickSearchController:
    """The quick search of a window with the garden open."""
    way = QuickSearchController(opened, opened.workspace, jobs)
    qtbot.addWidget(way.quick)
    return way
