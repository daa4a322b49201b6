"""The suite that every backend passes: each test runs on each of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.memory.contract import MemorySearchManager
from tests.engine.backends.shared.benches import BACKENDS, Bench, bench


@pytest.fixture(params=BACKENDS)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """A folder of notes of its own, for a test that changes something."""
    with bench(request.param, tmp_path) as made:
        yield made


@pytest.fixture(scope="module", params=BACKENDS)
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemorySearchManager]:
    """Up to date, for tests that only ask."""
    with bench(request.param, tmp_path_factory.mktemp("asked")) as made:
        ready = made.ready()
        ready.search("irrigation")  # what is made at the first question is there before the first test
        yield ready
