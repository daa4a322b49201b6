"""Opens each backend on the same notes with normal settings, but with a provider that needs no model."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from engine.backends.builtin import BuiltinMemory
from engine.backends.fallback import ChosenMemory, FallbackMemoryManager
from engine.base.errors import BackendError
from engine.memory.memory_interface import MemorySearchManager, OpenBackend
from engine.settings import Settings
from engine.store.user_data import open_user_data
from tests.helpers.fake_provider import FakeProvider, fallback_to, selection_of
from tests.helpers.peers import qmd_command

BACKENDS = ("builtin", "wrapped", "fallen back", "lancedb", "qmd")
"""`wrapped`: a working backend with the built-in one as fallback; `fallen back`: after it has failed."""

NOTES = {
    "greenhouse.md": "# Greenhouse\n\n## Watering\n\nThe timer on the drip irrigation skipped Tuesday again.\n",
    "shopping.md": "# Shopping\n\nIrrigation hose 16 mm, two T-pieces, spare timer batteries.\n",
    "daily/2026-02-08.md": "# Sunday\n\nTomatoes limp. Probably the watering clock, not the soil.\n",
    "people/ines.md": "# Ines\n\nShe lent us the pressure gauge.\n\nHer dog is called Bruno.\n",
    "shed.md": "# Shed\n\nThe key of the irrigation shed hangs behind the door.\n",
}

_HOMES = {
    "builtin": "engine.backends.builtin",
    "lancedb": "engine.backends.lancedb.memory",
    "qmd": "engine.backends.qmd.memory",
}
_CHOOSING = ("engine.backends.builtin", "engine.backends.qmd.memory")
"""Modules that select a provider."""
_GONE = BackendError("The other index is not there.")


class Bench:
    """One backend on one folder of notes; closing it closes all memories that it opened."""

    def __init__(self, backend: str, folder: Path) -> None:
        self.backend = backend
        self.workspace = folder / "notes"
        self.data = folder / "data"
        self.external = folder / "elsewhere"
        self.provider = FakeProvider()
        self._opened: list[MemorySearchManager] = []
        write_notes(self.workspace, NOTES)

    def open(self, *, background: bool = False, **changes: object) -> MemorySearchManager:
        """Open a memory; `changes` replace settings."""
        settings = msgspec.structs.replace(_settings(self.data), **changes)
        memory = _OPENERS[self.backend](self, settings, background)
        self._opened.append(memory)
        return memory

    def ready(self, **options: object) -> MemorySearchManager:
        """Open a memory and sync it."""
        memory = self.open(**options)  # type: ignore[arg-type]
        report = memory.sync()
        assert not report.error
        return memory

    def close(self) -> None:
        while self._opened:
            self._opened.pop().close()

    def open_builtin(self, settings: Settings, background: bool) -> MemorySearchManager:
        return BuiltinMemory(self.workspace, settings, executor=None, background=background)

    def _made(self, name: str, settings: Settings, background: bool) -> MemorySearchManager:
        make: OpenBackend = getattr(importlib.import_module(_HOMES[self.backend]), name)
        return make(self.workspace, settings, executor=None, background=background)

    def open_lancedb(self, settings: Settings, background: bool) -> MemorySearchManager:
        settings = msgspec.structs.replace(settings, backend="lancedb")
        return self._made("LanceMemory", settings, background)

    def open_qmd(self, settings: Settings, background: bool) -> MemorySearchManager:
        patient = msgspec.structs.replace(settings.qmd.limits, timeout_ms=600_000)  # the machine may be busy
        qmd = msgspec.structs.replace(
            settings.qmd,
            command=str(qmd_command()),
            limits=patient,
            command_timeout_seconds=600.0,
            update_timeout_seconds=600.0,
        )
        settings = msgspec.structs.replace(settings, backend="qmd", qmd=qmd)
        return self._made("QmdMemory", settings, background)

    def open_wrapped(self, settings: Settings, background: bool) -> FallbackMemoryManager:
        other = msgspec.structs.replace(settings, store=_settings(self.external).store)
        _, user = open_user_data(self.workspace, settings)
        return FallbackMemoryManager(
            ChosenMemory("another program", lambda: self.open_builtin(other, background)),
            lambda: self.open_builtin(settings, background),
            user,
        )

    def open_fallen_back(self, settings: Settings, background: bool) -> FallbackMemoryManager:
        def refuse() -> MemorySearchManager:
            raise _GONE

        _, user = open_user_data(self.workspace, settings)
        return FallbackMemoryManager(
            ChosenMemory("another program", refuse), lambda: self.open_builtin(settings, background), user
        )


_OPENERS: Mapping[str, Callable[[Bench, Settings, bool], MemorySearchManager]] = {
    "builtin": Bench.open_builtin,
    "wrapped": Bench.open_wrapped,
    "fallen back": Bench.open_fallen_back,
    "lancedb": Bench.open_lancedb,
    "qmd": Bench.open_qmd,
}


@contextmanager
def bench(backend: str, folder: Path) -> Iterator[Bench]:
    """Open a bench; skip the test if the backend is not installed."""
    if backend == "lancedb":
        pytest.importorskip("lancedb", reason="the extra lancedb is not installed")
    if backend == "qmd" and qmd_command() is None:
        pytest.skip("qmd is not installed: packaging/dev.py test --peers does it")
    opened = Bench(backend, folder)
    with pytest.MonkeyPatch.context() as patch:
        for name in _CHOOSING:
            home = importlib.import_module(name)
            patch.setattr(home, "select_provider", lambda *_, **__: selection_of(opened.provider))
            patch.setattr(home, "use_fallback", lambda settings, first, reason, **_: fallback_to(None, first, reason))
        try:
            yield opened
        finally:
            opened.close()


def write_notes(folder: Path, notes: Mapping[str, str]) -> None:
    for name, text in notes.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


def _settings(data: Path) -> Settings:
    return msgspec.structs.replace(Settings(), store=msgspec.structs.replace(Settings().store, path=str(data)))
