from collections.abc import Iterator

import pytest

from gui.app.application import Demo
from gui.app.desktop_integration import QuickSearchController
from gui.core.window_context import AppPaths
from gui.core.window_state import WindowState
from gui.core.workspace import Workspace
from gui.widgets.accessibility import describe_painted_widgets
from gui.window.main_window import MainWindow
from tests.helpers.every_view import Program


@pytest.fixture(scope="session")
def demo() -> Iterator[Demo]:
    """Return the folder of the sample notes and their index, which the first window makes and no test changes."""
    demo = Demo()
    yield demo
    demo.close()


@pytest.fixture
def program(qtbot, appearance, jobs, demo, tmp_path) -> Iterator[Program]:
    describe_painted_widgets()
    workspace = Workspace(jobs, config=demo.config, store_path=str(demo.store), prepare=demo.fill)
    with appearance.bare():
        window = MainWindow(workspace, jobs, appearance, WindowState(), paths=AppPaths(demo.config), remembers=False)
    qtbot.addWidget(window)
    window.show()
    program = Program(qtbot, window, QuickSearchController(window, workspace, jobs), demo, tmp_path)
    yield program
    program.close_others()
    program.quick.quick.deleteLater()
    assert window.shut_down(60_000)
