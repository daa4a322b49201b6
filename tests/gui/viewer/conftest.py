"""A visible viewer with a memory."""

from collections.abc import Iterator

import pytest

from engine import MemorySearchResult
from gui.core.jobs import Jobs
from gui.viewer.panel import ViewerPanel
from tests.helpers.fake_memory import FakeMemory


@pytest.fixture
def panel(qtbot, appearance, jobs: Jobs, memory: FakeMemory) -> Iterator[ViewerPanel]:
    panel = ViewerPanel(jobs)
    panel.set_manager(memory)
    qtbot.addWidget(panel)
    panel.resize(700, 500)
    panel.location_chosen.connect(lambda location: panel.show_file(location.path, location.line))
    with qtbot.waitExposed(panel):
        panel.show()
    yield panel
    panel.clear()
    panel.hide()


@pytest.fixture
def find(memory: FakeMemory):
    """The first result of a query, as a `MemorySearchResult`."""

    def first(query: str, name: str = "") -> MemorySearchResult:
        results = memory.search(query, max_results=50, min_score=0).results
        return next(result for result in results if name in result.path)

    return first


@pytest.fixture
def show(qtbot, panel: ViewerPanel):
    """Show a result or a file and wait until it is on the screen."""

    def show_and_wait(what: MemorySearchResult | str, *arguments) -> None:
        with qtbot.waitSignal(panel.file_shown):
            if isinstance(what, str):
                panel.show_file(what, *arguments)
            else:
                panel.show_result(what, *arguments)

    return show_and_wait
