"""Memories that use `qmd`: the real one if it is installed, or a fake that misbehaves."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from engine.backends.qmd.memory import QmdMemory
from engine.settings import Settings
from engine.settings.backend_settings import QmdLimitSettings
from tests.helpers.fake_qmd import FakeQmd
from tests.helpers.peers import qmd_command

OpenQmd = Callable[..., QmdMemory]

_PATIENT = {"command_timeout_seconds": 600.0, "update_timeout_seconds": 600.0, "embed_timeout_seconds": 600.0}
"""On a busy machine `qmd` is slow, which must not fail a test."""


@pytest.fixture
def fake(tmp_path: Path) -> FakeQmd:
    return FakeQmd(tmp_path / "bin with a space")


@pytest.fixture
def real() -> str:
    command = qmd_command()
    if command is None:
        pytest.skip("qmd is not installed: packaging/dev.py test --peers")
    return str(command)


@pytest.fixture
def open_qmd(workspace: Path, tmp_path: Path) -> Iterator[OpenQmd]:
    """Open memories that are closed after the test; `qmd`, `limits` and other keyword arguments replace settings."""
    opened: list[QmdMemory] = []

    def open_(
        command: str,
        *,
        folder: Path = workspace,
        background: bool = False,
        qmd: dict | None = None,
        limits: dict | None = None,
        **changes,
    ) -> QmdMemory:
        settings = Settings(backend="qmd")
        store = msgspec.structs.replace(settings.store, path=str(tmp_path / "data"))
        limited = QmdLimitSettings(**{"timeout_ms": 600_000, **(limits or {})})
        options = msgspec.structs.replace(settings.qmd, command=command, limits=limited, **{**_PATIENT, **(qmd or {})})
        settings = msgspec.structs.replace(settings, **{"store": store, "qmd": options, **changes})
        memory = QmdMemory(folder, settings, executor=None, background=background)
        opened.append(memory)
        return memory

    yield open_
    for memory in opened:
        memory.close()


@pytest.fixture
def data(tmp_path: Path) -> Callable[[], Path]:
    """Return a function for qmd's folder of the only workspace."""
    return lambda: next((tmp_path / "data" / "indexes").glob("*/qmd"))
