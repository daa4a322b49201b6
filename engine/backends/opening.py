"""Open a workspace's memory with the backend of its settings, or share one that is open; test a backend beforehand."""

import importlib
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from engine.base import prepare_logging
from engine.base.cancellation import CancelToken
from engine.base.errors import Closed
from engine.base.language import tr
from engine.base.private_files import clean_up
from engine.corpus.indexed_folders import MEMORY_FOLDER, require_text
from engine.memory.executor import BackgroundExecutor
from engine.settings import Settings, load_settings
from engine.settings.settings_section import with_query_settings
from engine.store.index_paths import index_files
from engine.store.workspace_record import adopt_renamed, record_workspace

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from engine.memory.executor import StatusListener
    from engine.memory.memory_interface import MemorySearchManager, OpenBackend
    from engine.records import SyncReport

Opener = Callable[[Path, Settings, "Executor | None", bool], "MemorySearchManager"]
_Key = tuple[str, bytes]
_OPEN_TO_ALL = frozenset({"unsupported", "insight", "saved_searches", "facts", "unseen_notes"})
"""Attributes available on a closed memory; using their methods raises `Closed`."""


class ManagerCache:
    """Open memories with their number of leases. Thread-safe.

    Concurrent callers wait and share the same memory. It is shared until any user closes it: later callers get a new
    one, because the close may be meant to apply a change outside the settings (a stored key, a downloaded model). Users
    of the old one keep it. A memory with background sync also serves callers without it, but not vice versa. New search
    settings apply to all users of a shared memory, since they come from the same file.
    """

    def __init__(self, open_: Opener) -> None:
        """`open_(workspace, settings, executor, background)` creates a memory."""
        self._open = open_
        self._lock = threading.Lock()
        self._shared: dict[_Key, _SharedMemory] = {}

    def lease(
        self, workspace: Path, settings: Settings, executor: "Executor | None", background: bool
    ) -> "MemorySearchManager":
        """Return a memory whose `close` applies to this caller only.

        Raises the errors of opening, again on each call.
        """
        key = _key(os.path.realpath(workspace), settings)
        while True:
            with self._lock:
                shared = self._shared.get(key)
                if shared is None or (background and not shared.background):
                    shared = self._shared[key] = _SharedMemory(key, settings, background)
            with shared.opening:
                if shared.ended or shared.key != key:
                    continue  # meanwhile the memory was closed, failed to open, or got other settings
                if shared.manager is None:
                    shared.owner, shared.threads = executor, BackgroundExecutor(executor)
                    try:
                        shared.manager = self._open(workspace, settings, shared.threads, background)
                    except BaseException:
                        self._stop_sharing(shared)
                        shared.threads.close()
                        raise
                shared.leases += 1
                release, update_key = partial(self._release, shared, executor), partial(self._update_key, shared)
                return cast("MemorySearchManager", _Lease(shared.manager, release, update_key))

    def _update_key(self, entry: "_SharedMemory", settings: Settings) -> None:
        """Update the cache key after the memory's settings were changed."""
        with self._lock:
            shared = self._shared.get(entry.key) is entry
            if shared:
                del self._shared[entry.key]
            entry.settings = with_query_settings(entry.settings, settings)
            entry.key = _key(entry.key[0], entry.settings)
            if shared:
                self._shared.setdefault(entry.key, entry)

    def _release(self, entry: "_SharedMemory", executor: "Executor | None") -> None:
        with entry.opening:
            self._stop_sharing(entry, only_here=True)
            entry.leases -= 1
            last = entry.leases == 0
            if last:
                entry.ended = True
        if last and entry.manager is not None:
            entry.manager.close()
        if entry.threads is None:
            return
        if last:
            entry.threads.close()
        elif executor is not None and executor is entry.owner:
            entry.threads.detach_executor()

    def _stop_sharing(self, entry: "_SharedMemory", *, only_here: bool = False) -> None:
        """Stop sharing a memory with new callers and, unless `only_here`, with those that wait for it."""
        entry.ended = entry.ended or not only_here
        with self._lock:
            if self._shared.get(entry.key) is entry:
                del self._shared[entry.key]


def _key(folder: str, settings: Settings) -> _Key:
    return folder, msgspec.json.encode(settings)


class _SharedMemory:
    """A memory with its users. The first user opens it."""

    def __init__(self, key: _Key, settings: Settings, background: bool) -> None:
        self.key = key
        self.settings = settings
        self.background = background
        self.opening = threading.Lock()
        self.manager: MemorySearchManager | None = None
        self.threads: BackgroundExecutor | None = None
        self.owner: Executor | None = None
        """The first user's executor; after that user's close, the memory uses its own threads."""
        self.leases = 0
        self.ended = False


class _Lease:
    """Gives one user a shared memory: `close` applies to this user only, everything else is delegated."""

    def __init__(
        self, manager: "MemorySearchManager", release: Callable[[], None], update_key: Callable[[Settings], None]
    ) -> None:
        self._manager = manager
        self._release = release
        self._update_key = update_key
        self._lock = threading.Lock()
        self._closed = False
        self._removers: list[Callable[[], None]] = []
        self._syncs: list[CancelToken] = []

    def __getattr__(self, name: str) -> Any:
        if self._closed and name not in _OPEN_TO_ALL:
            raise Closed
        return getattr(self._manager, name)

    def sync(self, *, cancel: CancelToken | None = None, **options: Any) -> "SyncReport":
        token = cancel or CancelToken()
        with self._lock:
            if self._closed:
                raise Closed
            self._syncs.append(token)
        try:
            return self._manager.sync(cancel=token, **options)
        finally:
            with self._lock:
                self._syncs.remove(token)

    def apply_query_settings(self, settings: Settings) -> None:
        if self._closed:
            raise Closed
        self._manager.apply_query_settings(settings)
        self._update_key(settings)

    def current_sync(self) -> CancelToken | None:
        return None if self._closed else self._manager.current_sync()

    def add_status_listener(self, listener: "StatusListener") -> Callable[[], None]:
        remove = self._manager.add_status_listener(listener)
        with self._lock:
            self._removers.append(remove)
        return remove

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            syncs, removers = tuple(self._syncs), tuple(self._removers)
        for token in syncs:
            token.cancel()
        for remove in removers:
            remove()
        self._release()


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
    executor: "Executor | None" = None,
    background: bool = False,
) -> "MemorySearchManager":
    """Open the memory of a workspace; creates its index if there is none, but indexes nothing yet.

    `settings`: None loads the settings file, after `adopt_renamed`. `executor` runs parallel work and background syncs;
    None uses threads of its own. One with a method `later(seconds, job) -> cancel` also runs their timers. `background`
    starts the watcher and the scheduled syncs, for programs that stay open. Raises `SettingsError`, `WorkspaceError`
    for an invalid folder name, and the store's errors (`IndexTooNew`, `IndexReadOnly`, `DiskFull`).

    Two calls in one process share one memory, which is closed when both users have closed it (`ManagerCache`).
    """
    folder = Path(workspace).expanduser()
    require_text(str(folder))
    require_text(os.path.realpath(folder))
    chosen = settings or load_settings(folder)
    if settings is None and adopt_renamed(folder, chosen):
        chosen = load_settings(folder)
    if chosen.provider != "none" or chosen.backend != "builtin":
        prepare_logging()  # they use packages that log
    memory = _managers.lease(folder, chosen, executor, background)
    record_workspace(index_files(folder, chosen.store.path), folder.resolve())
    return memory


def _opened(folder: Path, settings: Settings, executor: "Executor | None", background: bool) -> "MemorySearchManager":
    if background:
        clean_up(folder, folder / MEMORY_FOLDER)

    def open_(backend: str, settings: Settings = settings) -> "MemorySearchManager":
        return _backend(backend)(folder, settings, executor=executor, background=background)

    chosen = settings.backend
    if chosen == "builtin":
        return open_(chosen)
    from engine.backends.fallback import ChosenMemory, FallbackMemoryManager
    from engine.store.user_data import open_user_data

    memory, builtin = ChosenMemory(_NAMES[chosen], partial(open_, chosen)), settings
    if chosen == "qmd":
        from dataclasses import replace

        from engine.backends.qmd.collections import with_paths
        from engine.backends.qmd.status import refusal

        memory = replace(memory, refusal=partial(refusal, settings.qmd.scope))
        builtin = with_paths(settings)  # the fallback searches the same paths and sessions
    _, user = open_user_data(folder, settings)
    return FallbackMemoryManager(memory, partial(open_, "builtin", builtin), user, executor=executor)


def _backend(name: str) -> "OpenBackend":
    """Return the factory of a backend, importing only that one."""
    module, class_name = _HOMES[name]
    return cast("OpenBackend", getattr(importlib.import_module(module), class_name))


_managers = ManagerCache(_opened)


def try_backend(workspace: Path, settings: Settings, *, cancel: CancelToken | None = None) -> str:
    """Describe the backend of these settings in a sentence; may take seconds.

    Raises `BackendError` with the reason why it doesn't work, `Cancelled`.
    """
    module = _TESTS.get(settings.backend)
    if module is None:
        return tr("The built-in index is part of this program and ready to use.")
    sentence: str = importlib.import_module(module).try_out(workspace, settings, cancel)
    return sentence
