"""What the tests of the window share: jobs that end, and a memory to look at."""

import gc
from collections.abc import Iterator

import pytest

from gui.appearance import Appearance
from gui.collector import collect_due
from gui.jobs import Jobs
from gui.qt_messages import silence_fonts
from tests.helpers.fake_memory import FakeMemory


@pytest.fixture(scope="session", autouse=True)
def _collector_off() -> None:
    """As in the program, no other thread comes upon garbage with a widget in it, not even one of a later test."""
    gc.disable()


@pytest.fixture(scope="session", autouse=True)
def _no_standstill() -> None:
    """As in the program: the tests, too, listen to Qt's messages in Python."""
    silence_fonts()


@pytest.fixture(autouse=True)
def _collected(_collector_off: None) -> Iterator[None]:
    yield
    collect_due()


@pytest.fixture
def jobs(qapp) -> Iterator[Jobs]:
    jobs = Jobs()
    yield jobs
    assert jobs.shutdown()
    qapp.processEvents()


@pytest.fixture
def memory() -> Iterator[FakeMemory]:
    memory = FakeMemory()
    yield memory
    memory.close()


@pytest.fixture
def appearance(qapp) -> Iterator[Appearance]:
    """The light theme at scale 1, and the same again for the next test."""
    appearance = Appearance(qapp, "light")
    yield appearance
    appearance.set_theme("light")
    appearance.set_font_scale(1.0)
    appearance.deleteLater()
