import pytest

from gui.quick_search.controller import QuickWay
from gui.window.main_window import MainWindow


@pytest.fixture
def way(qtbot, opened: MainWindow, jobs) -> QuickWay:
    """The quick search of a window with the garden open."""
    way = QuickWay(opened, opened.workspace, jobs)
    qtbot.addWidget(way.quick)
    return way
