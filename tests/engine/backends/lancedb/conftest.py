"""Machines that share a table in a folder, each with separate notes and a separate index."""

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

if importlib.util.find_spec("lancedb") is None:  # imported by the first test: that takes seconds in every process
    pytest.skip("the extra lancedb is not installed", allow_module_level=True)

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.backends.lancedb.memory import LanceMemory
from tests.helpers.fake_provider import FakeProvider, selection_of
from tests.helpers.shared_tables import table_settings

Machine = Callable[..., LanceMemory]


@pytest.fixture
def machine(tmp_path: Path, provider, monkeypatch) -> Iterator[Machine]:
    """Open the memory of a machine by its name; keyword arguments replace settings, `use` embeds."""
    opened: list[LanceMemory] = []
    chosen: dict[str, FakeProvider | None] = {}

    def open_(
        name: str = "desk", *, notes: dict[str, str] | None = None, use: FakeProvider | None = provider, **changes
    ) -> LanceMemory:
        data = tmp_path / name / "data"
        chosen[str(data)] = use
        monkeypatch.setattr(builtin, "select_provider", lambda settings, **_: selection_of(chosen[settings.store.path]))
        workspace = tmp_path / name / "notes"
        workspace.mkdir(parents=True, exist_ok=True)
        write(workspace, notes or {})
        settings = table_settings(data, str(tmp_path / "shared"), name, **changes)
        memory = LanceMemory(workspace, settings, executor=None, background=False)
        opened.append(memory)
        return memory

    yield open_
    for memory in opened:
        memory.close()


@pytest.fixture
def builtin_memory(tmp_path: Path, provider, monkeypatch) -> Iterator[Callable[[str], BuiltinMemory]]:
    """Open the built-in memory of a machine's notes, with a separate index."""
    opened: list[BuiltinMemory] = []

    def open_(name: str) -> BuiltinMemory:
        monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(provider))
        settings = table_settings(tmp_path / name / "builtin", "", name)
        memory = BuiltinMemory(tmp_path / name / "notes", settings, executor=None, background=False)
        opened.append(memory)
        return memory

    yield open_
    for memory in opened:
        memory.close()


def write(workspace: Path, notes: dict[str, str]) -> None:
    for name, text in notes.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text, "utf-8")
