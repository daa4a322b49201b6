"""The list of the dozen sessions on the evening of their last day."""

from collections.abc import Callable, Iterator
from datetime import date, datetime

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.core.jobs import Jobs
from gui.core.status_feed import StatusFeed
from gui.sessions.panel import SessionsPanel
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import NOW, SESSIONS

TODAY = datetime.fromtimestamp(NOW).date()


@pytest.fixture
def today() -> date:
    return TODAY


@pytest.fixture
def memory() -> Iterator[FakeMemory]:
    memory = FakeMemory(sessions=SESSIONS)
    yield memory
    memory.close()


@pytest.fixture
def show_panel(qtbot, jobs: Jobs) -> Iterator[Callable[[FakeMemory], SessionsPanel]]:
    """Return a function that shows a panel on a memory in an active window, and waits until it is idle."""
    windows: list[QWidget] = []
    feeds: list[StatusFeed] = []

    def run(memory: FakeMemory) -> SessionsPanel:
        window = QWidget()
        windows.append(window)
        qtbot.addWidget(window)
        panel = SessionsPanel(jobs, today=lambda: TODAY, parent=window)
        column = QVBoxLayout(window)
        column.addWidget(panel.header)
        column.addWidget(panel.body, 1)
        window.resize(900, 700)
        with qtbot.waitActive(window):
            window.show()
            window.activateWindow()
        panel.set_manager(memory)
        feed = StatusFeed(jobs)
        feeds.append(feed)
        feed.status_changed.connect(panel.show_status)
        feed.set_manager(memory)
        qtbot.waitUntil(lambda: feed.latest is not None and not panel.busy)
        return panel

    yield run
    for feed in feeds:
        feed.set_manager(None)
        feed.deleteLater()


@pytest.fixture
def panel(show_panel: Callable[[FakeMemory], SessionsPanel], memory: FakeMemory) -> SessionsPanel:
    return show_panel(memory)
