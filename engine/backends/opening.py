"""The way in: a workspace's memory, whatever backend it has."""

from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING

from engine.backends.builtin import BuiltinMemory
from engine.settings import Settings, load_settings

if TYPE_CHECKING:
    from engine.backends.base import MemorySearchManager


def open_memory(
    workspace: Path | str,
    settings: Settings | None = None,
    *,
    executor: Executor | None = None,
    background: bool = False,
) -> "MemorySearchManager":
    """Open the memory of a workspace; creates its index if there is none, but indexes nothing yet.

    `settings` None loads those of the settings file. `executor` runs parallel work; None uses threads of its own.
    `background` starts the watcher and the scheduled syncs, for programs that stay. Raises `SettingsError` and the
    store's errors (`IndexTooNew`, `IndexReadOnly`, `DiskFull`).
    """
    folder = Path(workspace).expanduser()
    return BuiltinMemory(folder, settings or load_settings(folder), executor=executor, background=background)
