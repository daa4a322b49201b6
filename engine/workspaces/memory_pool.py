"""Pool of the memories of other workspaces: opened on first use, closed when unused for a while."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.base.errors import Closed
from engine.memory.executor import BackgroundExecutor, Cancel
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.memory.contract import MemorySearchManager

log = logging.getLogger(__name__)

IDLE_SECONDS = 120.0
MOST_OPEN = 8
"""Maximum number of memories that stay open between searches: each has its vectors in memory, an eighth of their size
on disk."""

OpenOther = Callable[[str, Settings], "MemorySearchManager"]
"""Opens the memory of a folder without watcher and timers. Raises `MnemoscopeError`."""


class MemoryPool:
    """Thread-safe."""

    def __init__(
        self,
        open_: OpenOther,
        settings_of: Callable[[str], Settings],
        *,
        executor: Executor | None = None,
        idle_seconds: float = IDLE_SECONDS,
        most_open: int = MOST_OPEN,
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
        self._kept: dict[str, _Kept] = {}
        """Open memories by folder, ordered by last use."""
        self._threads = BackgroundExecutor(executor)
        self._cancel_timer: Cancel | None = None
        self._closed = False

    @property
    def open_folders(self) -> tuple[str, ...]:
        """Folders with open memories, the last used at the end."""
        with self._lock:
            return tuple(folder for folder, kept in self._kept.items() if kept.memory is not None)

    @contextmanager
    def using(self, folder: str) -> "Iterator[MemorySearchManager]":
        """Yield the memory of a folder, open at least during the block. Raises the errors of opening it."""
        kept = self._take(folder)
        try:
            with kept.opening:
                changes = self._changes
                if kept.memory is None:
                    kept.memory = self._open(folder, self._settings_of(folder))
                elif kept.changes != changes:
                    kept.memory.answer_as(self._settings_of(folder))
                kept.changes = changes
            yield kept.memory
        finally:
            self._give_back(folder, kept)

    def settings_changed(self) -> None:
        """Make each memory answer its next query by its folder's settings at that time."""
        self._changes += 1

    def close(self) -> None:
        """Close everything that is open; memories in use are closed by their users."""
        with self._lock:
            self._closed = True
            cancel, self._cancel_timer = self._cancel_timer, None
            unused = self._without(0.0, 0)
        if cancel is not None:
            cancel()
        _close(unused)
        self._threads.close()

    def _take(self, folder: str) -> "_Kept":
        with self._lock:
            if self._closed:
                raise Closed
            kept = self._kept[folder] = self._kept.pop(folder) if folder in self._kept else _Kept()
            kept.users += 1
            return kept

    def _give_back(self, folder: str, kept: "_Kept") -> None:
        with self._lock:
            kept.users -= 1
            kept.used = time.monotonic()
            unused = self._without(0.0, 0) if self._closed else self._without(self._idle_seconds, self._most_open)
            self._watch_the_clock()
        _close(unused)

    def _close_idle(self) -> None:
        with self._lock:
            self._cancel_timer = None
            if self._closed:
                return
            unused = self._without(self._idle_seconds, self._most_open)
            self._watch_the_clock()
        _close(unused)

    def _watch_the_clock(self) -> None:
        if self._cancel_timer is None and self._kept and not self._closed:
            self._cancel_timer = self._threads.later(self._idle_seconds, self._close_idle)

    def _without(self, seconds: float, most: int) -> "list[MemorySearchManager]":
        """Remove memories that were unused for so long, exceed the limit, or failed to open."""
        now = time.monotonic()
        idle = [folder for folder, kept in self._kept.items() if not kept.users]
        surplus = len(self._kept) - most
        due = [
            folder
            for place, folder in enumerate(idle)
            if place < surplus or self._kept[folder].memory is None or now - self._kept[folder].used >= seconds
        ]
        return [memory for folder in due if (memory := self._kept.pop(folder).memory) is not None]


class _Kept:
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
