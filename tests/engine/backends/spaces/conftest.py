"""Three workspaces with real indexes, stored in a folder of the test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.backends import builtin
from engine.backends.opening import open_memory
from engine.memory.memory_interface import MemorySearchManager
from engine.settings import Settings
from engine.settings.options import StoreSettings
from tests.helpers.fake_provider import FakeProvider, selection_of

NOTES = {
    "garden": "# Beds\n\nSow the carrots in April, after the last frost.\n",
    "boat": "# Mast\n\nSand the mast and apply seven coats of varnish.\n",
    "work": "# Invoices\n\nNumber every invoice; carrots go to the canteen.\n",
}


Open = Callable[..., MemorySearchManager]
"""Like `open_memory`; uses the settings of the test by default."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(store=StoreSettings(path=str(tmp_path / "data")))


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> dict[str, FakeProvider]:
    """The provider for each memory that is opened from now on, under the key `use`."""
    known = {"use": FakeProvider()}
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(known["use"]))
    return known


@pytest.fixture
def open_(settings: Settings, models: dict[str, FakeProvider]) -> Iterator[Open]:
    opened: list[MemorySearchManager] = []
    usual = settings

    def open_one(folder: str, settings: Settings | None = None) -> MemorySearchManager:
        memory = open_memory(folder, settings or usual)
        opened.append(memory)
        return memory

    yield open_one
    for memory in opened:
        memory.close()


@pytest.fixture
def folders(tmp_path: Path, open_: Open) -> dict[str, Path]:
    """The folders of the workspaces, which are indexed."""
    for name, text in NOTES.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "note.md").write_text(text)
        memory = open_(str(tmp_path / name))
        memory.sync()
        memory.close()
    return {name: tmp_path / name for name in NOTES}
