"""The window with a garden with sessions, and search results."""

from collections.abc import Callable, Iterator

import pytest

from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import SESSIONS
from tests.helpers.windows import at_rest


@pytest.fixture
def memory() -> Iterator[FakeMemory]:
    memory = FakeMemory(sessions=SESSIONS)
    yield memory
    memory.close()


@pytest.fixture
def find(qtbot, opened) -> Callable[[str], None]:
    """Search in the window, and wait for the answer."""

    def run(query: str) -> None:
        opened.search.search(query)
        qtbot.waitUntil(lambda: at_rest(opened) and opened.search.body.has_results)

    return run
