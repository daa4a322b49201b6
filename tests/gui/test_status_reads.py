"""The window reads the status once per change, however many panels show it."""

import pytest

from gui.window.main_window import MainWindow
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import SESSIONS
from tests.helpers.windows import at_rest


@pytest.fixture
def memory():
    memory = FakeMemory(sessions=SESSIONS)
    yield memory
    memory.close()


@pytest.fixture
def reads(memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list with one entry per call of `status`."""
    made: list[int] = []
    plain = memory.status
    monkeypatch.setattr(memory, "status", lambda: (made.append(1), plain())[1])
    return made


def test_status_is_read_once_per_change(qtbot, window: MainWindow, memory: FakeMemory, reads: list[int]) -> None:
    window.panes.show_dock(False)  # while the diagnostics are visible, they ask for a new record every few seconds
    received: list[object] = []
    window.workspace.feed.status_changed.connect(received.append)
    window.workspace.open(memory.folder)
    qtbot.waitUntil(lambda: window.workspace.status is not None)
    for view in ("sessions", "index", "facts", "search"):
        window.views.switch(view)
        qtbot.waitUntil(lambda: not window.views.panel.busy)
    assert len(reads) == 1

    window.search.search("timer")
    qtbot.waitUntil(lambda: not window.search.busy)
    assert window.search.view.has_results
    assert len(reads) == 1

    memory.script = ()
    window.workspace.sync()
    qtbot.waitUntil(lambda: at_rest(window))
    qtbot.waitUntil(lambda: len(reads) == len(received))
    assert len(reads) in (2, 3)  # the end that the memory reports, and the end of the job if that comes later
