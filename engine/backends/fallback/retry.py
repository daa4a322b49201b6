"""Retries a failed memory after a pause, with the next query."""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.backends.fallback.switch import MemorySwitch, Opener
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, PassageMissing, Unsupported
from engine.memory.executor import BackgroundExecutor, Job
from engine.records import SearchOutcome

if TYPE_CHECKING:
    from engine.memory.contract import MemorySearchManager

Ask = Callable[["MemorySearchManager", CancelToken | None], SearchOutcome]

PAUSE_SECONDS = 60.0
_LONGEST_SECONDS = 16 * 60.0
_PATIENCE = 2.0
"""Seconds for which an answer waits for a retry; then the built-in index answers, and the retry continues."""
_POLL = 0.05


class _Try:
    def __init__(self) -> None:
        self.token = CancelToken()
        self.ended = threading.Event()
        self.outcome: SearchOutcome | None = None
        self.job: Job | None = None


class RetryPolicy:
    """One try at a time, each twice as long after the one before. Thread-safe."""

    def __init__(
        self,
        switch: MemorySwitch,
        open_primary: Opener,
        threads: BackgroundExecutor,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        self._switch = switch
        self._open_primary = open_primary
        self._threads = threads
        self._shortest = pause_seconds
        self._lock = threading.Lock()
        self._pause = pause_seconds
        self._due: float | None = None
        """When to try next; None: nothing has failed."""
        self._running: _Try | None = None
        self._closed = False

    def outcome(self, ask: Ask, cancel: CancelToken | None) -> SearchOutcome | None:
        """The answer of the failed memory, if a retry is due and quick enough.

        Raises `Cancelled` for the caller alone: the retry continues.
        """
        mine = self._begin(ask)
        if mine is None:
            return None
        until = time.monotonic() + _PATIENCE
        while not mine.ended.is_set() and time.monotonic() < until:
            if cancel is not None:
                cancel.checkpoint()
            mine.ended.wait(_POLL)
        return mine.outcome

    def failed(self) -> None:
        """It has failed now: the first try comes after a pause."""
        with self._lock:
            if self._due is None:
                self._due = time.monotonic() + self._pause

    def soon(self) -> None:
        """Retry with the next query: the cause may be fixed."""
        with self._lock:
            self._pause = self._shortest
            if self._due is not None:
                self._due = time.monotonic()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            running = self._running
        if running is not None:
            running.token.cancel()
            if running.job is not None:
                running.job.join()

    def _begin(self, ask: Ask) -> _Try | None:
        with self._lock:
            wanted = self._due is not None and time.monotonic() >= self._due
            if self._closed or self._running is not None or not wanted:
                return None
            mine = _Try()
            mine.job = self._threads.start(lambda: self._run(mine, ask))
            if mine.job is None:
                return None
            self._running = mine
        return mine

    def _run(self, mine: _Try, ask: Ask) -> None:
        failed = True
        primary = None
        try:
            primary = self._open_primary()
            mine.outcome = ask(primary, mine.token)
            failed = False
        except (Cancelled, Unsupported, PassageMissing):
            pass  # doesn't show whether it works: the next query will
        except Exception as error:
            self._switch.fails_still(error)
            with self._lock:
                self._pause = min(2 * self._pause, _LONGEST_SECONDS)
                self._due = time.monotonic() + self._pause
        else:
            with self._lock:
                self._due, self._pause = None, self._shortest
        if primary is not None:
            if failed:
                primary.close()
            else:
                self._switch.return_to(primary)
        with self._lock:
            self._running = None
        mine.ended.set()
