"""A memory that can be made to fail in various ways, with the built-in one as fallback."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.backends.fallback import ChosenMemory, FallbackMemoryManager
from engine.settings import Settings
from engine.store.user_data import open_user_data
from tests.helpers.fake_provider import FakeProvider, selection_of


class Elsewhere:
    """A fake backend: a separate index in another location, and failures on request."""

    def __init__(self, backend: "FakeBackend", memory: BuiltinMemory) -> None:
        self._backend = backend
        self.index = memory
        self.closed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.index, name)

    def search(self, *args: Any, **options: Any) -> Any:
        self._backend.searched += 1
        self._backend.before_search(self, options.get("cancel"))
        return self.index.search(*args, **options)

    def search_like(self, *args: Any, **options: Any) -> Any:
        self._backend.before_search(self, options.get("cancel"))
        return self.index.search_like(*args, **options)

    def close(self) -> None:
        self.closed = True
        self.index.close()


class FakeBackend:
    """A fake primary backend: the memories that it opened, and hooks that make them fail."""

    def __init__(self, workspace: Path, settings: Settings) -> None:
        self._workspace = workspace
        self._settings = settings
        self.opened: list[Elsewhere] = []
        self.searched = 0
        self.before_open: Callable[[], None] = lambda: None
        self.before_search: Callable[[Elsewhere, Any], None] = lambda memory, cancel: None
        self._lock = threading.Lock()

    def open(self) -> Elsewhere:
        self.before_open()
        memory = Elsewhere(self, BuiltinMemory(self._workspace, self._settings, executor=None, background=False))
        with self._lock:
            self.opened.append(memory)
        return memory

    def fails(self, error: Exception) -> None:
        def fail(_memory: Elsewhere, _cancel: object) -> None:
            raise error

        self.before_search = fail

    def works(self) -> None:
        self.before_search = lambda memory, cancel: None


@pytest.fixture
def settings(tmp_path: Path, monkeypatch) -> Settings:
    use = FakeProvider()
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(use))
    return _stored_in(tmp_path / "data")


@pytest.fixture
def backend(workspace: Path, tmp_path: Path, settings) -> FakeBackend:
    return FakeBackend(workspace, _stored_in(tmp_path / "elsewhere"))


OpenManager = Callable[..., FallbackMemoryManager]


@pytest.fixture
def open_manager(workspace: Path, settings: Settings, backend: FakeBackend) -> Iterator[OpenManager]:
    """Open fallback managers; `pause` in seconds, `open_builtin` replaces the real one."""
    opened: list[FallbackMemoryManager] = []

    def open_(
        *, pause: float = 3600, background: bool = False, open_builtin: Any = None, **options: Any
    ) -> FallbackMemoryManager:
        def real() -> BuiltinMemory:
            return BuiltinMemory(workspace, settings, executor=None, background=background)

        _, user = open_user_data(workspace, settings)
        chosen = ChosenMemory("qmd", backend.open, **options)
        manager = FallbackMemoryManager(chosen, open_builtin or real, user, pause_seconds=pause)
        opened.append(manager)
        return manager

    yield open_
    for manager in opened:
        manager.close()


def _stored_in(folder: Path) -> Settings:
    store = msgspec.structs.replace(Settings().store, path=str(folder))
    return msgspec.structs.replace(Settings(), store=store)
