"""Ends work early: a token to cancel or pause it, and calls that may block forever without blocking the caller.

A call into the system can't be interrupted, and an executor waits for its threads at exit. Therefore it gets a daemon
thread of its own, or a thread of an executor that the program can leave behind.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from engine.base.errors import Cancelled

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future


class CancelToken:
    """Shared between a caller and the work: thread-safe, one use.

    Work calls `checkpoint()` wherever it can stop; the call blocks while paused and raises `Cancelled` after
    a cancel. `on_cancel` notifies work that cannot poll (an SQLite statement, a request) immediately.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = threading.Event()
        self._running = threading.Event()
        self._running.set()
        self._callbacks: list[Callable[[], object]] = []

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    @property
    def paused(self) -> bool:
        return not self._running.is_set()

    def cancel(self) -> None:
        """Stop the work, paused or not. Calling it again does nothing."""
        with self._lock:
            self._cancelled.set()
            self._running.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def pause(self) -> None:
        with self._lock:  # a pause between the two steps of a cancel would block the cancelled work
            if not self._cancelled.is_set():
                self._running.clear()

    def resume(self) -> None:
        self._running.set()

    def checkpoint(self) -> None:
        """Wait while paused; raise `Cancelled` once cancelled."""
        if not self._running.is_set():  # nearly never; waiting takes a lock
            self._running.wait()
        if self._cancelled.is_set():
            raise Cancelled

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Call `callback` (from the cancelling thread) on cancel, immediately if cancelled; returns a remover."""
        with self._lock:
            if not self._cancelled.is_set():
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        callback()
        return lambda: None

    def _forget(self, callback: Callable[[], object]) -> None:
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)


def checkpoint(cancel: CancelToken | None) -> None:
    """Wait while paused; raise `Cancelled` once cancelled. Does nothing without a token."""
    if cancel is not None:
        cancel.checkpoint()


def pause(seconds: float, cancel: CancelToken | None) -> None:
    """Wait, but no longer than until a cancel. Raises `Cancelled`."""
    over = threading.Event()
    with on_cancel(over.set, cancel):
        over.wait(seconds)
    checkpoint(cancel)


@contextmanager
def on_cancel(callback: Callable[[], object], cancel: CancelToken | None) -> Iterator[None]:
    """Call a function if `cancel` fires during the block, see `CancelToken.on_cancel`; none without a token."""
    forget = None if cancel is None else cancel.on_cancel(callback)
    try:
        yield
    finally:
        if forget is not None:
            forget()


Answer = TypeVar("Answer")
_executor: "Executor | None" = None


def run_blocking_calls_on(executor: "Executor | None") -> None:
    """Set the executor for these calls in this process; None for daemon threads."""
    global _executor  # noqa: PLW0603 - the keychain and the loaded libraries belong to the process, too
    _executor = executor


def start_call(work: Callable[[], Answer], name: str) -> "Future[Answer]":
    """Start a call; the caller waits for its future with a timeout. `name` is that of a daemon thread."""
    executor = _executor
    if executor is not None:
        try:
            return executor.submit(work)
        except RuntimeError:  # it was shut down
            pass
    from concurrent.futures import Future  # it imports `logging`

    future: Future[Any] = Future()
    threading.Thread(target=_run, args=(work, future), name=name, daemon=True).start()
    return future


def _run(work: Callable[[], object], future: "Future[Any]") -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)
