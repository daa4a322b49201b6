"""Pool of the memories of other workspaces: opened on first use, closed when unused for a while."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.base import lazy_logger
from engine.base.errors import Closed
from engine.memory.executor import BackgroundExecutor, Cancel
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.memory.memory_interface import MemorySearchManager

log = lazy_logger(__name__)

IDLE_SECONDS = 120.0
MAX_OPEN = 8
"""Maximum number of memories that stay open between searches: each has its vectors in memory, an eighth of their size
on disk."""

OpenOther = Callable[[str, Settings], "MemorySearchManager"]
"""Opens the memory of a folder without watcher and timers. Raises `MnemoscopeError`."""


class MemoryPool:
    """Opens the memories of other workspaces for a search, and closes them when unused. Thread-safe."""

    def __init__(
        self,
        open_: OpenOther,
        settings_of: Callable[[str], Settings],
        *,
        executor: Executor | None = None,
        idle_seconds: float = IDLE_SECONDS,
        most_open: int = MAX_OPEN,
    ) -> None:
        """`settings_of` returns the current settings of a folder. Raises `SettingsError`.

        `executor` closes idle memories; see `BackgroundExecutor`.
        """
        self._open = open_
        self._settings_of = settings_of
        self._changes = 0
        """Number of changes of settings."""
        self._idle_seconds = idle_seconds
        self._most_open = most_open
        self._lock = threading.Lock()
        self._entries: dict[str, _PoolEntry] = {}
        """Open memories by folder, ordered by last use."""
        self._threads = BackgroundExecutor(executor)
        self._cancel_timer: Cancel | None = None
        self._closed = False

    @contextmanager
    def using(self, folder: str) -> "Iterator[MemorySearchManager]":
        """Yield the memory of a folder, open at least during the block. Raises the errors of opening it."""
        entry = self._acquire(folder)
        try:
            with entry.opening:
                changes = self._changes
                if entry.memory is None:
                    entry.memory = self._open(folder, self._settings_of(folder))
                elif entry.changes != changes:
                    entry.memory.apply_query_settings(self._settings_of(folder))
                entry.changes = changes
            yield entry.memory
        finally:
            self._release(entry)

    def settings_changed(self) -> None:
        """Have each memory use its folder's latest settings for its next query."""
        self._changes += 1

    def close(self) -> None:
        """Close everything that is open; memories in use are closed by their users."""
        with self._lock:
            self._closed = True
            cancel, self._cancel_timer = self._cancel_timer, None
            unused = self._remove_unused(0.0, 0)
        if cancel is not None:
            cancel()
        _close(unused)
        self._threads.close()

    def _acquire(self, folder: str) -> "_PoolEntry":
        with self._lock:
            if self._closed:
                raise Closed
            entry = self._entries[folder] = self._entries.pop(folder) if folder in self._entries else _PoolEntry()
            entry.users += 1
            return entry

    def _release(self, entry: "_PoolEntry") -> None:
        with self._lock:
            entry.users -= 1
            entry.used = time.monotonic()
            unused = (
                self._remove_unused(0.0, 0)
                if self._closed
                else self._remove_unused(self._idle_seconds, self._most_open)
            )
            self._schedule_closing()
        _close(unused)

    def _close_idle(self) -> None:
        with self._lock:
            self._cancel_timer = None
            if self._closed:
                return
            unused = self._remove_unused(self._idle_seconds, self._most_open)
            self._schedule_closing()
        _close(unused)

    def _schedule_closing(self) -> None:
        if self._cancel_timer is None and self._entries and not self._closed:
            self._cancel_timer = self._threads.later(self._idle_seconds, self._close_idle)

    def _remove_unused(self, seconds: float, most: int) -> "list[MemorySearchManager]":
        """Remove memories that were unused for so long, exceed the limit, or failed to open."""
        now = time.monotonic()
        idle = [folder for folder, entry in self._entries.items() if not entry.users]
        surplus = len(self._entries) - most
        due = [
            folder
            for index, folder in enumerate(idle)
            if index < surplus or self._entries[folder].memory is None or now - self._entries[folder].used >= seconds
        ]
        return [memory for folder in due if (memory := self._entries.pop(folder).memory) is not None]


class _PoolEntry:
    def __init__(self) -> None:
        self.opening = threading.Lock()
        self.memory: MemorySearchManager | None = None
        self.changes = 0
        """Number of changes of settings when it received them."""
        self.users = 0
        self.used = 0.0


def _close(memories: "list[MemorySearchManager]") -> None:
    for memory in memories:
        try:
            memory.close()
        except Exception:  # an error of one must not keep the others open
            log.exception("A memory of another workspace did not close")
