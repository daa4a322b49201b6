"""Run calls into the system that may block forever, so that the caller can stop waiting for them.

Such a call can't be interrupted, and an executor waits for its threads at exit. Therefore it gets a daemon thread of
its own, or a thread of an executor that the program can leave behind.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

Answer = TypeVar("Answer")
_executor: Executor | None = None


def run_blocking_calls_on(executor: Executor | None) -> None:
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
