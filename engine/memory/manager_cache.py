"""Shares one memory among all users in this process with the same workspace and settings."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import Closed
from engine.memory.executor import BackgroundExecutor
from engine.settings import Settings
from engine.settings.section import answering_as

if TYPE_CHECKING:
    from engine.memory.contract import MemorySearchManager
    from engine.memory.listeners import StatusListener
    from engine.records import SyncReport

Opener = Callable[[Path, Settings, "Executor | None", bool], "MemorySearchManager"]
_Key = tuple[str, bytes]
_OPEN_TO_ALL = frozenset({"lacks", "insight", "saved_searches", "facts", "unseen_notes"})
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
        self._shared: dict[_Key, _Held] = {}

    def lease(
        self, workspace: Path, settings: Settings, executor: Executor | None, background: bool
    ) -> "MemorySearchManager":
        """Return a memory whose `close` applies to this caller only.

        Raises the errors of opening, again on each call.
        """
        key = _key(os.path.realpath(workspace), settings)
        while True:
            with self._lock:
                held = self._shared.get(key)
                if held is None or (background and not held.background):
                    held = self._shared[key] = _Held(key, settings, background)
            with held.opening:
                if held.ended or held.key != key:
                    continue  # closed, failed to open, or changed settings meanwhile
                if held.manager is None:
                    held.owner, held.threads = executor, BackgroundExecutor(executor)
                    try:
                        held.manager = self._open(workspace, settings, held.threads, background)
                    except BaseException:
                        self._end(held)
                        held.threads.close()
                        raise
                held.leases += 1
                release, file_again = partial(self._release, held, executor), partial(self._file_again, held)
                return cast("MemorySearchManager", _Lease(held.manager, release, file_again))

    def _file_again(self, held: "_Held", settings: Settings) -> None:
        """Update the cache key after the memory's settings were changed."""
        with self._lock:
            shared = self._shared.get(held.key) is held
            if shared:
                del self._shared[held.key]
            held.settings = answering_as(held.settings, settings)
            held.key = _key(held.key[0], held.settings)
            if shared:
                self._shared.setdefault(held.key, held)

    def _release(self, held: "_Held", executor: Executor | None) -> None:
        with held.opening:
            self._end(held, only_here=True)
            held.leases -= 1
            last = held.leases == 0
            if last:
                held.ended = True
        if last and held.manager is not None:
            held.manager.close()
        if held.threads is None:
            return
        if last:
            held.threads.close()
        elif executor is not None and executor is held.owner:
            held.threads.give_back()

    def _end(self, held: "_Held", *, only_here: bool = False) -> None:
        """Stop sharing it with new callers and, unless `only_here`, with those waiting for it."""
        held.ended = held.ended or not only_here
        with self._lock:
            if self._shared.get(held.key) is held:
                del self._shared[held.key]


def _key(folder: str, settings: Settings) -> _Key:
    return folder, msgspec.json.encode(settings)


class _Held:
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
    """One user's view of a memory; everything but its lifetime is delegated."""

    def __init__(
        self, manager: "MemorySearchManager", release: Callable[[], None], file_again: Callable[[Settings], None]
    ) -> None:
        self._manager = manager
        self._release = release
        self._file_again = file_again
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

    def answer_as(self, settings: Settings) -> None:
        if self._closed:
            raise Closed
        self._manager.answer_as(settings)
        self._file_again(settings)

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
