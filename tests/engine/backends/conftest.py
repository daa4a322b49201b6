"""A workspace of notes, and memories opened on it with a provider that needs no model."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.embedding.provider_selection import Selection
from engine.indexing import folder_watch, sync_scheduler
from engine.settings import Settings
from engine.settings.options import StoreSettings
from engine.settings.search_settings import VectorEngine, VectorSettings
from engine.store import vector_matrix_engine
from tests.helpers.fake_provider import FakeProvider, fallback_to, selection_of

NOTES = {
    "greenhouse.md": "# Greenhouse\n\n## Watering\n\nThe timer on the drip irrigation skipped Tuesday again.\n",
    "shopping.md": "# Shopping\n\nIrrigation hose 16 mm, two T-pieces, spare timer batteries.\n",
    "daily/2026-02-08.md": "# Sunday\n\nTomatoes limp. Probably the watering clock, not the soil.\n",
    "people/ines.md": "# Ines\n\nShe lent us the pressure gauge.\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture
def provider() -> FakeProvider:
    return FakeProvider()


@pytest.fixture
def saved_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even a matrix of one vector is saved."""
    monkeypatch.setattr(vector_matrix_engine, "WORTH_SAVING", 1)


@pytest.fixture
def quick_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Growing sessions are indexed soon."""
    monkeypatch.setattr(folder_watch, "_SESSION_DEBOUNCE_MS", 30)


@pytest.fixture
def short_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the scheduler's minute to 20 ms."""
    monkeypatch.setattr(sync_scheduler, "_SECONDS_PER_MINUTE", 0.02)


OpenMemory = Callable[..., BuiltinMemory]


@pytest.fixture
def open_memory(workspace: Path, tmp_path: Path, provider, monkeypatch) -> Iterator[OpenMemory]:
    """Open memories that are closed after the test; keyword arguments replace settings.

    `use` embeds, `instead` is its fallback provider; `engine` compares vectors. `select` chooses the provider for
    other settings.
    """
    opened: list[BuiltinMemory] = []

    def open_(
        *,
        background: bool = False,
        use: FakeProvider | None = provider,
        instead: FakeProvider | None = None,
        select: Callable[..., Selection] | None = None,
        executor: Executor | None = None,
        engine: VectorEngine = "auto",
        **changes,
    ) -> BuiltinMemory:
        store = StoreSettings(path=str(tmp_path / "data"), vector=VectorSettings(engine=engine))
        settings = msgspec.structs.replace(Settings(), **{"store": store, **changes})

        def choose(wanted: Settings, **options: Any) -> Selection:
            return selection_of(use) if select is None or wanted == settings else select(wanted, **options)

        monkeypatch.setattr(builtin, "select_provider", choose)
        monkeypatch.setattr(builtin, "use_fallback", lambda _, first, reason, **__: fallback_to(instead, first, reason))
        memory = BuiltinMemory(workspace, settings, executor=executor, background=background)
        opened.append(memory)
        return memory

    yield open_
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory) -> BuiltinMemory:
    """A memory of the workspace, which is indexed with vectors."""
    memory = open_memory()
    memory.sync()
    return memory
