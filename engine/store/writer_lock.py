"""The lock by which one process at a time writes an index; the system frees it when that process dies."""

import threading
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import FileLock

_PATIENCE = 0.03
"""Seconds. Another process that only tests for a writer also holds the lock for a moment."""
_POLL = 0.01


class WriterLock:
    """Counts how often this process has taken it. Thread-safe, which `FileLock` itself is not."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mutex = threading.Lock()

    @cached_property
    def _lock(self) -> "FileLock":
        """Created under the mutex on the first write: importing the package takes longer than a search."""
        from filelock import FileLock

        # Not bound to the thread that took it: another one may end the sync.
        return FileLock(self._path, mode=0o600, thread_local=False)

    def acquire(self) -> bool:
        """Take it, or once more; False when another process has it. Raises OSError where no lock can be made."""
        with self._mutex:
            return self._acquire()

    def release(self) -> None:
        with self._mutex:
            self._lock.release()

    def held_elsewhere(self) -> bool:
        """Whether another process has it now."""
        with self._mutex:
            if self._lock.is_locked or not self._path.exists():
                return False
            if not self._acquire():
                return True
            self._lock.release()
            return False

    def close(self) -> None:
        """Give it back however often it was taken."""
        with self._mutex:
            if "_lock" in vars(self):
                self._lock.release(force=True)

    def _acquire(self) -> bool:
        from filelock import Timeout

        try:
            self._lock.acquire(timeout=_PATIENCE, poll_interval=_POLL)
        except Timeout:
            return False
        return True
