"""Runs LanceDB's coroutines on a separate event loop, so that every call has a time limit and can be cancelled."""

import asyncio
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from engine.base.cancellation import CancelToken, on_cancel
from engine.base.errors import BackendError, Cancelled, Closed
from engine.base.language import tr

# LanceDB's blocking functions wait indefinitely, and can't be stopped from outside.
Answer = TypeVar("Answer")
_CLOSE_SECONDS = 5.0


def load_lancedb() -> Any:
    """Return the module `lancedb`, whose import takes a second or two. Raises `BackendError` if it isn't installed."""
    # Its native part prints warnings to the terminal.
    os.environ.setdefault("LANCEDB_LOG", "error")
    try:
        import lancedb
    except ImportError as error:
        missing = tr(
            "The LanceDB backend needs the package lancedb, which this installation doesn't have: "
            'install Mnemoscope from its source with pipx install --force ".[lancedb]", or set backend = "builtin".'
        )
        raise BackendError(missing) from error
    return lancedb


class AsyncBridge:
    """Runs coroutines on an event loop in its own thread, from the first call until `close`. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def run(
        self, work: Coroutine[Any, Any, Answer], *, seconds: float | None, cancel: CancelToken | None = None
    ) -> Answer:
        """Run a coroutine and return its result. Raises its error, `TimeoutError`, `Cancelled`, `Closed`."""
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._running())
        except Closed:
            work.close()
            raise
        try:
            with on_cancel(future.cancel, cancel):
                return future.result(seconds)
        except concurrent.futures.CancelledError:
            if cancel is not None and cancel.cancelled:
                raise Cancelled from None
            raise Closed from None
        except concurrent.futures.TimeoutError:
            future.cancel()
            raise

    def close(self) -> None:
        """Cancel running calls and end the thread. Can be called twice."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        ended = asyncio.run_coroutine_threadsafe(_end(), loop)
        with contextlib.suppress(concurrent.futures.TimeoutError, concurrent.futures.CancelledError):
            ended.result(_CLOSE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CLOSE_SECONDS)
        if not thread.is_alive():
            loop.close()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise Closed
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="mnemoscope-lancedb", daemon=True)
                self._thread.start()
            return self._loop


async def _end() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
