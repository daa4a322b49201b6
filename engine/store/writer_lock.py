"""Lock that lets one process at a time write an index; the system releases it when the process dies."""

import threading
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import FileLock

_TIMEOUT = 0.03
"""Timeout in seconds. Another process that only checks the lock also holds it for a moment."""
_POLL = 0.01


class WriterLock:
    """Re-entrant process lock that counts its acquisitions. Thread-safe, which `FileLock` itself is not."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mutex = threading.Lock()

    @cached_property
    def _lock(self) -> "FileLock":
        """Created under the mutex on the first write, since importing the package takes longer than a search."""
        from filelock import FileLock

        # Not thread-local: a sync may end in another thread than it started in.
        return FileLock(self._path, mode=0o600, thread_local=False)

    def acquire(self) -> bool:
        """Acquire the lock (re-entrant); False if another process holds it. Raises OSError if it can't be created."""
        with self._mutex:
            return self._acquire()

    def release(self) -> None:
        with self._mutex:
            self._lock.release()

    def held_elsewhere(self) -> bool:
        """Whether another process holds the lock."""
        with self._mutex:
            if self._lock.is_locked or not self._path.exists():
                return False
            if not self._acquire():
                return True
            self._lock.release()
            return False

    def close(self) -> None:
        """Release the lock completely, however often it was acquired."""
        with self._mutex:
            if "_lock" in vars(self):
                self._lock.release(force=True)

    def _acquire(self) -> bool:
        from filelock import Timeout

        try:
            self._lock.acquire(timeout=_TIMEOUT, poll_interval=_POLL)
        except Timeout:
            return False
        return True
