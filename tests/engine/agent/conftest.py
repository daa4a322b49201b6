from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.agent.memory_access import AgentAccess
from engine.settings import Settings
from tests.helpers.fake_memory import FakeMemory


@pytest.fixture
def memory() -> Iterator[FakeMemory]:
    fake = FakeMemory()
    yield fake
    fake.close()


@pytest.fixture
def access(memory: FakeMemory):
    """Create an `AgentAccess` to the fake memory; keyword arguments are settings or arguments of `AgentAccess`."""

    def make(*, session_key: str | None = None, deadline: float = 15.0, cooldown: float = 60.0, **settings: Any):
        changed = msgspec.structs.replace(Settings(), **settings)
        return AgentAccess(lambda: memory, changed, session_key=session_key, deadline=deadline, cooldown=cooldown)

    return make


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder
