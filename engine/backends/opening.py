"""Opens a workspace's memory with the backend of its settings, and tests a backend before it is chosen."""

import importlib
import os
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from engine.base.cancellation import CancelToken
from engine.base.language import tr
from engine.base.private_files import clean_up, remove_leftovers
from engine.corpus.roots import MEMORY_FOLDER, require_text
from engine.memory.manager_cache import ManagerCache
from engine.settings import Settings, load_settings
from engine.store.location import index_files, note_workspace

if TYPE_CHECKING:
    from engine.memory.contract import MemorySearchManager, OpenBackend

_HOMES = {
    "builtin": ("engine.backends.builtin", "BuiltinMemory"),
    "qmd": ("engine.backends.qmd.memory", "QmdMemory"),
    "lancedb": ("engine.backends.lancedb.memory", "LanceMemory"),
}
_NAMES = {"qmd": "qmd", "lancedb": "LanceDB"}

_TESTS = {"qmd": "engine.backends.qmd.command", "lancedb": "engine.backends.lancedb.table"}


def open_memory(
    workspace: Path | str,
    settings: Settings | None = None,
    *,
    executor: Executor | None = None,
    background: bool = False,
) -> "MemorySearchManager":
    """Open the memory of a workspace; creates its index if there is none, but indexes nothing yet.

    `settings` None loads those of the settings file. `executor` runs parallel work and background syncs; None uses own
    threads. One with a method `later(seconds, job) -> cancel` also runs their timers. `background` starts the watcher
    and the scheduled syncs, for programs that stay open. Raises `SettingsError`, `WorkspaceError` for an invalid folder
    name, and the store's errors (`IndexTooNew`, `IndexReadOnly`, `DiskFull`).

    Opened twice in one process it is one memory, which is closed when both users have closed it (`ManagerCache`).
    """
    folder = Path(workspace).expanduser()
    require_text(str(folder))
    require_text(os.path.realpath(folder))
    chosen = settings or load_settings(folder)
    memory = _managers.lease(folder, chosen, executor, background)
    note_workspace(index_files(folder, chosen.store.path), folder.resolve())
    return memory


def _opened(folder: Path, settings: Settings, executor: Executor | None, background: bool) -> "MemorySearchManager":
    if background:
        remove_leftovers(folder)
        remove_leftovers(folder / MEMORY_FOLDER)
        clean_up()

    def open_(backend: str, settings: Settings = settings) -> "MemorySearchManager":
        return _backend(backend)(folder, settings, executor=executor, background=background)

    chosen = settings.backend
    if chosen == "builtin":
        return open_(chosen)
    from engine.backends.fallback import FallbackMemoryManager
    from engine.store.user_data import open_user_data

    name, open_chosen = _NAMES[chosen], partial(open_, chosen)
    _, user = open_user_data(folder, settings)
    if chosen != "qmd":
        return FallbackMemoryManager(name, open_chosen, partial(open_, "builtin"), user, executor=executor)
    from engine.backends.qmd.collections import with_paths
    from engine.backends.qmd.unsupported import refusal

    # The fallback searches the same paths and sessions.
    same_places = partial(open_, "builtin", with_paths(settings))
    refuse = partial(refusal, settings.qmd.scope)
    return FallbackMemoryManager(name, open_chosen, same_places, user, refusal=refuse, executor=executor)


def _backend(name: str) -> "OpenBackend":
    """Return the factory of a backend, importing only that one."""
    module, made = _HOMES[name]
    return cast("OpenBackend", getattr(importlib.import_module(module), made))


_managers = ManagerCache(_opened)


class _TryOut(Protocol):
    def __call__(self, workspace: Path, settings: Settings, cancel: CancelToken | None) -> str: ...


def try_backend(workspace: Path, settings: Settings, *, cancel: CancelToken | None = None) -> str:
    """Describe the backend of these settings in a sentence; may take seconds.

    Raises `BackendError` with the reason why it doesn't work, `Cancelled`.
    """
    home = _TESTS.get(settings.backend)
    if home is None:
        return tr("It is a part of this program, and ready.")
    return cast("_TryOut", importlib.import_module(home).try_out)(workspace, settings, cancel)
