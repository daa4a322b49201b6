import pytest

from gui.window.main_window import MainWindow
from gui.window.quick_search import QuickWay


@pytest.fixture
def way(qtbot, opened: MainWindow, jobs) -> QuickWay:
    """The quick search of a window with the garden open."""
    way = QuickWay(opened, opened.workspace, jobs)
    qtbot.addWidget(way.quick)
    return way
