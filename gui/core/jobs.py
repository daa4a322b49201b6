"""The only module that uses threads: read jobs and write jobs on QThreadPool.

`Jobs` lives on the GUI thread and owns the one signal by which all jobs report, so that it is never destroyed on a pool
thread. A *read* fetches an answer and is dropped when outdated; a *write* changes the index, and stops at exit where it
can; a *save* stores what the user has entered, and is completed even at exit.
"""

import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal, Slot

from engine import Cancelled, CancelToken, MnemoscopeError, run_blocking_calls_on, tr

log = logging.getLogger(__name__)

_LONGEST_MS = 2**31 - 1
"""The longest time of a Qt timer, some 24 days."""

Work = Callable[[CancelToken], Any]
OnDone = Callable[[Any], object]
OnError = Callable[[str], None]


def _do_nothing(_: object) -> None:
    """Do nothing: replaces a job's callback after it was called, so that the callback's owner can be freed."""


class Job:
    """A background job as its owner sees it: it calls back once on the GUI thread, unless it is cancelled.

    Not a `QObject`: that would have to be deleted on the GUI thread, while Python's collector may visit it.
    """

    def __init__(
        self,
        work: Work,
        on_done: OnDone,
        on_error: OnError | None,
        on_first: OnDone | None = None,
        *,
        completes: bool = False,
    ) -> None:
        """`completes`: do all of the work even if the job is cancelled, which drops only its answer."""
        self.token = CancelToken()
        self._work_token = CancelToken() if completes else self.token
        self._work = work
        self._on_done = on_done
        self._on_error = on_error
        self._on_first = on_first or _do_nothing
        self.held_in: list[Job] = []
        """The jobs of the `JobSlot` that holds this one, until it reports."""

    def cancel(self) -> None:
        """Stop the work and drop its answer; work that has not begun never begins, unless the job completes."""
        self.token.cancel()

    def run(self) -> tuple[Any, BaseException | None]:
        """Do the work on a pool thread; returns the result and the error, one of them None."""
        try:
            self._work_token.checkpoint()
            return self._work(self._work_token), None
        except BaseException as problem:  # a `SystemExit` would end only the thread, and the pool would wait for it
            return None, problem

    def deliver_first(self, result: Any) -> None:
        """Call the callback for a first result on the GUI thread, unless the job was cancelled."""
        if not self.token.cancelled:
            self._on_first(result)

    def deliver(self, result: Any, error: BaseException | None) -> BaseException | None:
        """Call a callback on the GUI thread, unless the job was cancelled; returns an error that is a bug."""
        on_done, on_error = self._on_done, self._on_error
        if self in self.held_in:
            self.held_in.remove(self)
        # The pool thread may hold the job a moment longer, and must not be the last to hold what belongs to a widget.
        self._work, self._on_done, self._on_error, self._on_first = _do_nothing, _do_nothing, None, _do_nothing
        if isinstance(error, Cancelled) or self.token.cancelled:
            return None
        if error is None:
            on_done(result)
            return None
        foreseen = isinstance(error, MnemoscopeError | OSError)
        if not foreseen:
            log.error("A job failed", exc_info=error)
        if on_error is not None:
            on_error(_sentence(error))
        return None if foreseen else error


def _sentence(error: BaseException) -> str:
    """Return an error as a message for the user; unexpected errors are only named, since the log has the details."""
    if isinstance(error, MnemoscopeError):
        return str(error)
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return f"{reason}: {error.filename}." if error.filename else f"{reason}."
    return tr("Unexpected error ({name}); the log has the details.", name=type(error).__name__)


def _run_plain(work: Callable[[], Any]) -> None:
    """Run a function that no job reports for on a pool thread; its errors are handled by `sys.excepthook`."""
    try:
        work()
    except Exception:
        raise
    except BaseException as error:  # Qt's bindings would end the thread in the middle, and the pool would wait for it
        raise RuntimeError(type(error).__name__) from error


class _DelayedJob:
    """A job of the engine that starts after a delay, with its timer; used on the GUI thread alone."""

    def __init__(self, pool: QThreadPool, seconds: float, job: Callable[[], Any]) -> None:
        self.pool = pool
        self.milliseconds = min(max(0, round(1000 * seconds)), _LONGEST_MS)
        self.job = job
        self.cancelled = False
        self.timer: QTimer | None = None


class PoolExecutor(Executor):
    """Adapts a `QThreadPool` to the executor that the engine needs, so that all its work runs on the pool."""

    def __init__(self, pool: QThreadPool, changed: Callable[[_DelayedJob], None]) -> None:
        """`changed` is called, on any thread, for each new or cancelled timer."""
        self._pool = pool
        self._changed = changed

    def later(self, seconds: float, job: Callable[[], Any]) -> Callable[[], None]:
        """Run `job` on the pool after some seconds; returns a function that cancels it. Qt measures the time."""
        delayed = _DelayedJob(self._pool, seconds, job)
        self._changed(delayed)

        def cancel() -> None:
            if not delayed.cancelled:
                delayed.cancelled = True
                self._changed(delayed)

        return cancel

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        self._pool.start(run)
        return future


class Jobs(QObject):
    """Starts jobs on thread pools, and keeps them until they have reported."""

    failed = Signal(object)
    """An unexpected exception of a job, which is a bug; the job's owner is notified, too."""
    _finished = Signal(object, object, object)
    _first_arrived = Signal(object, object)
    _delay_changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._reports: deque[tuple[Job, Callable[[], None]]] = deque()
        """Reports that are still to be delivered, oldest first, with their jobs."""
        self._delivered = False
        """Whether the last turn of the event loop delivered a report, whose changes are painted in this one."""
        self._delivery_timer = QTimer(self, singleShot=True, interval=0)
        self._delivery_timer.timeout.connect(self._deliver_next)
        self._finished.connect(self._take_report)
        self._first_arrived.connect(self._take_first)
        self._delay_changed.connect(self._set_timer)
        self._readers = self._pool(3)
        self._writers = self._pool(4)
        self._engine = self._pool(8)  # of these, four requests of remote providers only wait
        self._external = self._pool(16)  # a disk that hangs may hold each of them
        self._blocking = self._pool(4)  # the keychain or a library that is loaded may hold each of them
        run_blocking_calls_on(self._executor(self._blocking))
        self._running: set[Job] = set()

    def _pool(self, threads: int) -> QThreadPool:
        pool = QThreadPool(self)
        pool.setMaxThreadCount(threads)
        return pool

    def executor(self) -> PoolExecutor:
        """The executor for the engine's parallel and background work."""
        return self._executor(self._engine)

    def executor_elsewhere(self) -> PoolExecutor:
        """A separate executor for searches in other workspaces: a disk that hangs doesn't block the open workspace."""
        return self._executor(self._external)

    def _executor(self, pool: QThreadPool) -> PoolExecutor:
        return PoolExecutor(pool, self._delay_changed.emit)

    def read(self, work: Work, on_done: OnDone, on_error: OnError | None = None) -> Job:
        """Run `work(token)` in the background; `on_done(result)` or `on_error(sentence)` follow on the GUI thread."""
        return self._start(self._readers, Job(work, on_done, on_error))

    def read_twice(
        self,
        work: Callable[[CancelToken, Callable[[Any], None]], Any],
        on_first: OnDone,
        on_done: OnDone,
        on_error: OnError | None = None,
    ) -> Job:
        """Like `read`, for work that has a first result to show: `work` passes it to its second argument.

        `on_first(result)` follows on the GUI thread. The work is paused until the job's token is resumed.
        """

        def pass_on(result: Any) -> None:
            job.token.pause()
            self._first_arrived.emit(job, result)
            job.token.checkpoint()

        job = Job(lambda token: work(token, pass_on), on_done, on_error, on_first)
        return self._start(self._readers, job)

    def write(self, work: Work, on_done: OnDone, on_error: OnError | None = None) -> Job:
        """Like `read`, for work that changes something; readers never wait behind it."""
        return self._start(self._writers, Job(work, on_done, on_error))

    def save(self, work: Work, on_done: OnDone, on_error: OnError | None = None) -> Job:
        """Like `write`, for a short change that the user has made: the work is done even if the job is cancelled."""
        return self._start(self._writers, Job(work, on_done, on_error, completes=True))

    def cancel_all(self) -> None:
        """Cancel every job that has not reported back."""
        for job in list(self._running):
            job.cancel()

    def shutdown(self, timeout_ms: int, last: Callable[[], None] | None = None) -> bool:
        """Cancel all jobs, run `last` in parallel and wait for all threads; False if one did not stop in time.

        Pending saves are completed, and no callback runs.
        """
        self.cancel_all()
        self._delivery_timer.stop()
        self._drop_cancelled()
        run_blocking_calls_on(None)
        if last is not None:
            self._writers.start(partial(_run_plain, last))
        deadline = time.monotonic() + timeout_ms / 1000
        pools = (self._readers, self._writers, self._engine, self._external, self._blocking)
        return all([pool.waitForDone(max(0, round((deadline - time.monotonic()) * 1000))) for pool in pools])

    def _start(self, pool: QThreadPool, job: Job) -> Job:
        self._running.add(job)
        # Not by a `QRunnable`: one that ends before `start` returns is never freed, nor is its job.
        pool.start(lambda: self._finished.emit(job, *job.run()))
        return job

    @Slot(object)
    def _set_timer(self, delayed: _DelayedJob) -> None:
        if delayed.timer is not None:
            delayed.timer.stop()
            delayed.timer.deleteLater()
            delayed.timer = None
        elif not delayed.cancelled:
            delayed.timer = timer = QTimer(self, singleShot=True, interval=delayed.milliseconds)
            timer.timeout.connect(lambda: self._run_due(delayed))
            timer.start()

    def _run_due(self, delayed: _DelayedJob) -> None:
        if not delayed.cancelled:
            delayed.pool.start(partial(_run_plain, delayed.job))
        self._set_timer(delayed)

    @Slot(object, object)
    def _take_first(self, job: Job, result: Any) -> None:
        self._enqueue(job, partial(job.deliver_first, result))

    @Slot(object, object, object)
    def _take_report(self, job: Job, result: Any, error: BaseException | None) -> None:
        self._enqueue(job, partial(self._deliver, job, result, error))

    def _enqueue(self, job: Job, report: Callable[[], None]) -> None:
        """Deliver a report in a separate turn: two of them and their painting would block the window longer."""
        if job.token.cancelled:
            report()  # a cancelled job calls nothing back
            return
        self._reports.append((job, report))
        if not self._delivery_timer.isActive():
            self._delivery_timer.start()

    @Slot()
    def _deliver_next(self) -> None:
        self._drop_cancelled()
        self._delivered = not self._delivered and bool(self._reports)
        if self._delivered or self._reports:
            self._delivery_timer.start()
        if self._delivered:
            _job, report = self._reports.popleft()
            report()

    def _drop_cancelled(self) -> None:
        """Handle the oldest reports without a turn each if their jobs were cancelled: these call nothing back."""
        while self._reports and self._reports[0][0].token.cancelled:
            _job, report = self._reports.popleft()
            report()

    def _deliver(self, job: Job, result: Any, error: BaseException | None) -> None:
        self._running.discard(job)
        unforeseen = job.deliver(result, error)
        if unforeseen is not None:
            self.failed.emit(unforeseen)


def cancel_all(jobs: list[Job]) -> None:
    """Cancel all jobs of a list, for owners that may be deleted already."""
    for job in jobs:
        job.cancel()


class JobSlot:
    """Holds one running job until it reports; a new one cancels it, unless it is added.

    Cancelled jobs never report back, so results are always those of the newest job.
    """

    def __init__(self, owner: QObject, jobs: Jobs) -> None:
        self._jobs = jobs
        self._held: list[Job] = []  # a list, so that it can be cleared after its owner was deleted
        owner.destroyed.connect(partial(cancel_all, self._held))

    @property
    def busy(self) -> bool:
        return bool(self._held)

    def read(self, work: Work, on_done: OnDone, on_error: OnError | None = None) -> None:
        """Start a read job and hold it; see `Jobs.read`."""
        self.replace(self._jobs.read(work, on_done, on_error))

    def write(self, work: Work, on_done: OnDone, on_error: OnError | None = None) -> None:
        """Start a write job and hold it; see `Jobs.write`."""
        self.replace(self._jobs.write(work, on_done, on_error))

    def save(self, work: Work, on_done: OnDone, on_error: OnError | None = None) -> None:
        """Start a save job and hold it; see `Jobs.save`."""
        self.replace(self._jobs.save(work, on_done, on_error))

    def replace(self, job: Job) -> None:
        """Hold a job that was started, and cancel the previous one."""
        self.cancel()
        self.add(job)

    def add(self, job: Job) -> None:
        """Hold a job in addition to the others."""
        self._held.append(job)
        job.held_in = self._held

    def resume(self) -> None:
        """Resume work that is paused after its first result."""
        for job in self._held:
            job.token.resume()

    def cancel(self) -> None:
        cancel_all(self._held)
        self._held.clear()


class JobOwner:
    """Mixin of a class that holds its one background job in `_job`."""

    _job: JobSlot

    @property
    def busy(self) -> bool:
        """Whether the job is running."""
        return self._job.busy
