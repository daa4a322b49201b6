"""A conversation view for one of the dozen sessions."""

from collections.abc import Iterator

import pytest

from gui.conversation.panel import ConversationPanel
from gui.core.jobs import Jobs
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import SESSIONS


@pytest.fixture
def memory() -> Iterator[FakeMemory]:
    memory = FakeMemory(sessions=SESSIONS)
    yield memory
    memory.close()


@pytest.fixture
def conversation_panel(qtbot, appearance, jobs: Jobs, memory: FakeMemory) -> Iterator[ConversationPanel]:
    """A conversation view in an active window, without a session yet."""
    panel = ConversationPanel(jobs)
    panel.set_manager(memory)
    qtbot.addWidget(panel)
    panel.resize(800, 600)
    with qtbot.waitActive(panel):
        panel.show()
        panel.activateWindow()
    yield panel
    panel.clear()
    panel.hide()
