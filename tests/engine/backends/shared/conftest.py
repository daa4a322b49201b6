"""The test suite of the backend contract: each test runs on every backend."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.memory.memory_interface import MemorySearchManager
from tests.engine.backends.shared.open_backends import BACKENDS, Bench, bench


@pytest.fixture(params=BACKENDS)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """A bench of its own for a test that changes data."""
    with bench(request.param, tmp_path) as made:
        yield made


@pytest.fixture(scope="module", params=BACKENDS)
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemorySearchManager]:
    """A synced memory for tests that only read."""
    with bench(request.param, tmp_path_factory.mktemp("asked")) as made:
        ready = made.ready()
        ready.search("irrigation")  # create everything that the first query creates before the first test
        yield ready
