"""Runs syncs that nobody waits for: at session start, on search when dirty, on changes, at intervals.

One at a time, so that requests queue instead of piling up; the same reason asked twice runs once.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

from engine.base.errors import MnemoscopeError
from engine.records import SyncReason

log = logging.getLogger(__name__)

_CLOSE_SECONDS = 5.0


class Runner(Protocol):
    """Runs jobs on threads; see `Threads`."""

    def start(self, work: Callable[[], object]) -> object: ...

    def later(self, seconds: float, work: Callable[[], object]) -> Callable[[], None]: ...


class SyncScheduler:
    """Hands syncs over to threads, one after the other. Thread-safe."""

    def __init__(self, run: Callable[[SyncReason], object], threads: Runner, *, interval_seconds: float = 0) -> None:
        """`run` does one sync and returns when it is done. `interval_seconds` 0: no sync by itself."""
        self._run = run
        self._threads = threads
        self._interval = interval_seconds
        self._change = threading.Condition()
        self._asked: list[SyncReason] = []
        self._submitted = False
        self._at_work: int | None = None
        """The thread of the sync that runs."""
        self._due: float | None = None
        """When to sync by itself, on the monotonic clock."""
        self._cancel_timer: Callable[[], None] | None = None
        self._closed = False
        if interval_seconds:
            self._set_due(time.monotonic() + interval_seconds)

    def request(self, reason: SyncReason) -> None:
        """Ask for a sync; returns at once. Asking again before it began changes nothing."""
        with self._change:
            if self._closed or reason in self._asked:
                return
            self._asked.append(reason)
            if self._submitted:
                return
            self._submitted = True
        self._submit()

    def request_later(self, seconds: float) -> None:
        """Ask for one sync by then at the latest, with the reason `interval`; an earlier one makes up for it."""
        due = time.monotonic() + seconds
        with self._change:
            if self._closed or (self._due is not None and self._due <= due):
                return
        self._set_due(due)

    def close(self) -> None:
        """Forget what was asked for and wait some seconds for a running sync; the caller cancels that first."""
        with self._change:
            self._closed = True
            self._asked.clear()
            cancel, self._cancel_timer = self._cancel_timer, None
            if self._at_work != threading.get_ident():
                self._change.wait_for(lambda: self._at_work is None, _CLOSE_SECONDS)
        if cancel is not None:
            cancel()

    def _submit(self) -> None:
        if self._threads.start(self._work) is None:
            with self._change:
                self._submitted = False

    def _set_due(self, due: float) -> None:
        with self._change:
            if self._closed:
                return
            before, self._cancel_timer, self._due = self._cancel_timer, None, due
        if before is not None:
            before()
        cancel = self._threads.later(max(0.0, due - time.monotonic()), lambda: self._fall_due(due))
        with self._change:
            if self._due == due and not self._closed:
                self._cancel_timer = cancel
                return
        cancel()

    def _fall_due(self, due: float) -> None:
        """The time has come, unless a sync has made up for it."""
        with self._change:
            if self._due != due:
                return
            self._due = None
        self.request("interval")

    def _work(self) -> None:
        """Run one sync; further ones get threads of their own, so that other jobs have their turn in between."""
        with self._change:
            if self._closed or not self._asked:
                self._submitted = False
                return
            reason = self._asked.pop(0)
            self._at_work = threading.get_ident()
            self._due = None  # this sync makes up for it
        try:
            self._run(reason)
        except MnemoscopeError as error:
            log.info("A background sync (%s) did not run: %s", reason, type(error).__name__)
        except Exception:
            log.exception("A background sync (%s) failed", reason)
        finally:
            with self._change:
                self._at_work = None
                self._submitted = bool(self._asked) and not self._closed
                again = self._submitted
                self._change.notify_all()
        if self._interval:
            self.request_later(self._interval)
        if again:
            self._submit()
