"""Runs a memory's background jobs, records whether the memory is open, and notifies listeners of its changes.

Jobs run on the caller's executor, or else on a few threads of the memory. The watcher with its listener, calls that may
block forever (`engine/base/cancellation.py`) and LanceDB's event loop have threads of their own. So does a search in
another workspace if the caller gives no executor, since an executor waits for its threads at exit.
"""

import heapq
import itertools
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engine.base import lazy_logger
from engine.base.errors import Closed, MnemoscopeError

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future, ThreadPoolExecutor
else:
    Executor = object  # the package imports `logging`, which takes as long as a search

log = lazy_logger(__name__)

_MAX_THREADS = 6
"""Number of threads without a given executor: four for concurrent requests, one for a sync, one for short jobs."""
_CLOSE_SECONDS = 5.0
"""How long to wait for cancelled work to end; after that, it is abandoned."""

Cancel = Callable[[], None]
StatusListener = Callable[[], None]


class Job:
    """A function that runs once, unless cancelled before it starts. Thread-safe."""

    def __init__(self, work: Callable[[], object], on_end: "Callable[[Job], None]", due: float = 0.0) -> None:
        """`due`: earliest start, on the monotonic clock."""
        self.due = due
        self.timer: Cancel | None = None
        self._work = work
        self._on_end = on_end
        self._lock = threading.Lock()
        self._begun = False
        self._thread: int | None = None
        self._ended = threading.Event()

    def run(self) -> None:
        """Call the function, unless it has started or was cancelled; errors are logged."""
        if not self._claim():
            return
        self._thread = threading.get_ident()
        try:
            self._work()
        except MnemoscopeError as error:
            log.info("A job could not be done: %s", type(error).__name__)
        except Exception:
            log.exception("A job failed")
        finally:
            self._thread = None
            self._end()

    def wait(self, seconds: float) -> bool:
        """Wait until the job has ended or was cancelled; False on timeout."""
        return self._ended.wait(seconds)

    def cancel(self) -> bool:
        """Prevent the job from starting; False if it has started."""
        if not self._claim():
            return False
        if self.timer is not None:
            self.timer()
        self._end()
        return True

    def join(self, seconds: float = _CLOSE_SECONDS) -> bool:
        """Cancel the job or wait for its end; False on timeout, or if called by the job itself."""
        return self.cancel() or (self._thread != threading.get_ident() and self.wait(seconds))

    def _claim(self) -> bool:
        with self._lock:
            begun, self._begun = self._begun, True
            return not begun

    def _end(self) -> None:
        self._ended.set()
        self._on_end(self)


class BackgroundExecutor(Executor):
    """Runs jobs on threads, immediately or after a delay. Thread-safe.

    If the given executor has a method `later(seconds, job) -> cancel`, that is used for delays and runs the job as if
    it was submitted; otherwise a thread is started here to wait.
    """

    def __init__(self, executor: Executor | None) -> None:
        """`executor`: the executor to use; None for own threads, created on first use."""
        self._executor = executor
        self._own: ThreadPoolExecutor | None = None
        self._clock: _Clock | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._jobs: set[Job] = set()
        self._futures: set[Future[Any]] = set()
        """Futures that are running or queued on own threads."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Run a function on a thread, see `Executor.submit`. Raises `RuntimeError` after shutdown."""
        executor = self._executor
        if executor is not None:
            return executor.submit(fn, *args, **kwargs)
        with self._lock:
            if self._closed:
                raise RuntimeError("The threads were closed")
            if self._own is None:
                from concurrent.futures import ThreadPoolExecutor

                self._own = ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="mnemoscope")
            future = self._own.submit(fn, *args, **kwargs)
            self._futures.add(future)
        future.add_done_callback(self._discard_future)
        return future

    def start(self, work: Callable[[], object]) -> Job | None:
        """Run a function in the background and return its job; after shutdown, return None instead."""
        job = Job(work, self._forget)
        return job if self._add(job) and self._submit_job(job) else None

    def later(self, seconds: float, work: Callable[[], object]) -> Cancel:
        """Run a function in the background after a delay; returns a function that cancels it."""
        job = Job(work, self._forget, time.monotonic() + seconds)
        if self._add(job):
            self._wait_for(job)

        def cancel() -> None:
            job.cancel()

        return cancel

    def detach_executor(self) -> None:
        """Stop using the given executor, which its owner may shut down: pending jobs move to our own threads.

        Running jobs finish on their threads; delayed jobs keep their time.
        """
        with self._lock:
            self._executor = None
            jobs = tuple(self._jobs)
        for job in jobs:
            if job.due > time.monotonic():
                self._wait_for(job)
            else:
                self._submit_job(job)  # no effect if it has started

    def close(self) -> None:
        """Cancel pending work, and wait some seconds for the rest. The given executor stays open."""
        with self._lock:
            self._closed = True
            jobs = tuple(self._jobs)
        end = time.monotonic() + _CLOSE_SECONDS
        ended = all([job.join(max(0.0, end - time.monotonic())) for job in jobs])
        if self._clock is not None:
            self._clock.close()
        if self._own is not None:
            from concurrent.futures import wait

            with self._lock:
                futures = tuple(self._futures)
            for future in futures:
                future.cancel()
            ended = ended and not wait(futures, max(0.0, end - time.monotonic())).not_done
            self._own.shutdown(wait=ended, cancel_futures=True)

    def _add(self, job: Job) -> bool:
        with self._lock:
            if not self._closed:
                self._jobs.add(job)
            return not self._closed

    def _submit_job(self, job: Job) -> bool:
        executor = self._executor
        try:
            if isinstance(executor, BackgroundExecutor):
                started = executor.start(job.run) is not None  # allows moving it when the given executor is returned
            else:
                started = self.submit(job.run) is not None
        except RuntimeError:
            started = False
        if not started:
            log.info("A job was not run: the executor was shut down")
            job.cancel()
        return started

    def _wait_for(self, job: Job) -> None:
        """Set the timer that runs a delayed job, replacing an earlier timer."""
        if job.timer is not None:
            job.timer()
        later = getattr(self._executor, "later", None)
        if later is not None:
            job.timer = later(max(0.0, job.due - time.monotonic()), job.run)
        else:
            with self._lock:
                if self._clock is None and not self._closed:
                    self._clock = _Clock()
                if self._clock is not None:
                    job.timer = self._clock.at(job.due, lambda: self._submit_job(job))
        if job.timer is not None and job.wait(0):  # the job was cancelled meanwhile
            job.timer()

    def _forget(self, job: Job) -> None:
        with self._lock:
            self._jobs.discard(job)

    def _discard_future(self, future: "Future[Any]") -> None:
        with self._lock:
            self._futures.discard(future)


class _Clock:
    """Runs delayed calls on one thread; the calls must be short."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._numbers = itertools.count()
        self._due: list[tuple[float, int]] = []
        self._calls: dict[int, Callable[[], object]] = {}
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="mnemoscope-clock", daemon=True)
        self._thread.start()

    def at(self, moment: float, call: Callable[[], object]) -> Cancel:
        with self._condition:
            number = next(self._numbers)
            self._calls[number] = call
            heapq.heappush(self._due, (moment, number))
            self._condition.notify()
        return lambda: self._forget(number)

    def close(self) -> None:
        with self._condition:
            self._closed = True
            self._condition.notify()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _forget(self, number: int) -> None:
        with self._condition:
            self._calls.pop(number, None)

    def _run(self) -> None:
        while (call := self._next()) is not None:
            call()

    def _next(self) -> Callable[[], object] | None:
        with self._condition:
            while not self._closed:
                seconds_left = self._due[0][0] - time.monotonic() if self._due else None
                if seconds_left is not None and seconds_left <= 0:
                    _, number = heapq.heappop(self._due)
                    if (call := self._calls.pop(number, None)) is not None:
                        return call
                else:
                    self._condition.wait(seconds_left)
            return None


class IdleTimer:
    """Calls a function in the background once a memory has been idle for at least `seconds`, at most twice that.

    Thread-safe.
    """

    def __init__(self, threads: BackgroundExecutor, seconds: float, work: Callable[[], object]) -> None:
        self._threads = threads
        self._seconds = seconds
        self._work = work
        self._lock = threading.Lock()
        self._used = self._waiting = False

    def record_use(self) -> None:
        """Record that the memory was used; the function is called once after that."""
        with self._lock:
            self._used, waiting, self._waiting = True, self._waiting, True
        if not waiting:
            self._wait()

    def _wait(self) -> None:
        self._threads.later(self._seconds, self._check)

    def _check(self) -> None:
        with self._lock:
            again = self._waiting = self._used
            self._used = False
        (self._wait if again else self._work)()


class Lifetime:
    """Records whether a memory is open. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended = False

    def check(self) -> None:
        """Raise `Closed` if the memory was closed."""
        if self._ended:
            raise Closed

    def end(self) -> bool:
        """Mark the memory as closed; returns True for the first caller, which must then close everything."""
        with self._lock:
            before, self._ended = self._ended, True
        return not before


class Listeners:
    """Calls functions when the status of a memory changes, on the notifying thread. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: list[StatusListener] = []

    def add(self, listener: StatusListener) -> Callable[[], None]:
        """Add a listener; returns a function that removes it."""
        with self._lock:
            self._all.append(listener)
        return lambda: self._remove(listener)

    def notify(self) -> None:
        with self._lock:
            listeners = tuple(self._all)
        for listener in listeners:
            try:
                listener()
            except Exception:
                # An error in a listener must not stop a sync.
                log.exception("A status listener failed")

    def _remove(self, listener: StatusListener) -> None:
        with self._lock:
            if listener in self._all:
                self._all.remove(listener)
