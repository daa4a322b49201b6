"""The threads on which a memory works when nobody waits for it: its caller's, else its own."""

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future, ThreadPoolExecutor

log = logging.getLogger(__name__)

_MOST = 6
"""Four for requests under way, one for a sync, one for short jobs."""

Cancel = Callable[[], None]


class Threads:
    """An executor, and jobs that run on it later. Thread-safe.

    An executor that has a method `later(seconds, job) -> cancel` measures the time itself, and runs the job as one that
    was submitted; for any other one thread waits here.
    """

    def __init__(self, given: "Executor | None") -> None:
        """`given` None: threads of its own, made when they are first needed."""
        self._given = given
        self._own: ThreadPoolExecutor | None = None
        self._clock: _Clock | None = None
        self._lock = threading.Lock()

    def executor(self) -> "Executor":
        given = self._given
        if given is not None:
            return given
        with self._lock:
            if self._own is None:
                from concurrent.futures import ThreadPoolExecutor

                self._own = ThreadPoolExecutor(_MOST, thread_name_prefix="mnemoscope")
            return self._own

    def submit(self, job: Callable[[], object]) -> "Future[Any] | None":
        """Run a job that reports its own errors; None where the executor takes no more."""
        try:
            return self.executor().submit(job)
        except RuntimeError:  # it was shut down before the memory was closed
            log.info("A job was not run: the executor was shut down")
            return None

    def later(self, seconds: float, job: Callable[[], object]) -> Cancel:
        """Submit the job after so many seconds, unless it is cancelled first."""
        later = getattr(self._given, "later", None)
        if later is not None:
            cancel: Cancel = later(seconds, job)
            return cancel
        with self._lock:
            if self._clock is None:
                self._clock = _Clock()
            return self._clock.at(time.monotonic() + seconds, lambda: self.submit(job))

    def give_back(self) -> None:
        """What was given is not used from now on: its owner may end it."""
        self._given = None

    def close(self) -> None:
        """At the very end: nothing that runs needs them any more. What was given stays as it is."""
        if self._clock is not None:
            self._clock.close()
        if self._own is not None:
            self._own.shutdown(wait=True, cancel_futures=True)


class _Clock:
    """One thread that waits, and calls what is due; the calls must be short."""

    def __init__(self) -> None:
        self._wake = threading.Condition()
        self._numbers = itertools.count()
        self._due: list[tuple[float, int]] = []
        self._calls: dict[int, Callable[[], object]] = {}
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="mnemoscope-clock", daemon=True)
        self._thread.start()

    def at(self, moment: float, call: Callable[[], object]) -> Cancel:
        with self._wake:
            number = next(self._numbers)
            self._calls[number] = call
            heapq.heappush(self._due, (moment, number))
            self._wake.notify()
        return lambda: self._forget(number)

    def close(self) -> None:
        with self._wake:
            self._closed = True
            self._wake.notify()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _forget(self, number: int) -> None:
        with self._wake:
            self._calls.pop(number, None)

    def _run(self) -> None:
        while (call := self._next()) is not None:
            call()

    def _next(self) -> Callable[[], object] | None:
        with self._wake:
            while not self._closed:
                left = self._due[0][0] - time.monotonic() if self._due else None
                if left is not None and left <= 0:
                    _, number = heapq.heappop(self._due)
                    if (call := self._calls.pop(number, None)) is not None:
                        return call
                else:
                    self._wake.wait(left)
            return None
