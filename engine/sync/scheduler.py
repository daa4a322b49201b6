"""Runs syncs that nobody waits for: at session start, on search when dirty, on changes, at intervals.

One thread, so that requests queue instead of piling up; the same reason asked twice runs once.
"""

import logging
import threading
import time
from collections.abc import Callable

from engine.errors import MnemoscopeError
from engine.records import SyncReason

log = logging.getLogger(__name__)


class SyncScheduler:
    """Owns the background thread. `run` does one sync and returns when it is done."""

    def __init__(self, run: Callable[[SyncReason], object], *, interval_seconds: float = 0) -> None:
        self._run = run
        self._interval = interval_seconds
        self._wake = threading.Condition()
        self._asked: list[SyncReason] = []
        self._later: float | None = None
        """When to look by itself, though no interval says so."""
        self._closed = False
        self._thread: threading.Thread | None = None
        if self._interval:
            self._start()

    def request(self, reason: SyncReason) -> None:
        """Ask for a sync; returns at once. Asking again before it began changes nothing."""
        with self._wake:
            if self._closed or reason in self._asked:
                return
            self._asked.append(reason)
            self._wake.notify()
        self._start()

    def request_later(self, seconds: float) -> None:
        """Ask for one sync by then at the latest, with the reason `interval`; an earlier one makes up for it."""
        with self._wake:
            due = time.monotonic() + seconds
            if self._closed or (self._later is not None and self._later <= due):
                return
            self._later = due
            self._wake.notify()
        self._start()

    def close(self) -> None:
        """Forget what was asked for and wait for the thread; the caller cancels a running sync first."""
        with self._wake:
            self._closed = True
            self._asked.clear()
            self._wake.notify()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _start(self) -> None:
        with self._wake:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._loop, name="mnemoscope-scheduler", daemon=True)
                self._thread.start()

    def _loop(self) -> None:
        due = time.monotonic() + self._interval
        while (reason := self._next(due)) is not None:
            if reason == "interval":
                due = time.monotonic() + self._interval
            try:
                self._run(reason)
            except MnemoscopeError as error:
                log.info("A background sync (%s) did not run: %s", reason, type(error).__name__)
            except Exception:
                log.exception("A background sync (%s) failed", reason)

    def _next(self, due: float) -> SyncReason | None:
        """Wait for the next reason to sync; None when closed."""
        with self._wake:
            while not self._closed:
                dues = [moment for moment in (due if self._interval else None, self._later) if moment is not None]
                left = min(dues) - time.monotonic() if dues else None
                if self._asked or (left is not None and left <= 0):
                    self._later = None
                    return self._asked.pop(0) if self._asked else "interval"
                self._wake.wait(left)
            return None
