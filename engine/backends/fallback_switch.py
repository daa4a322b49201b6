"""Switch between the chosen memory and the built-in one when the chosen one fails or works again.

A failed memory is tried again after a pause, with the next query.
"""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from engine.base import lazy_logger
from engine.base.cancellation import CancelToken, checkpoint
from engine.base.errors import BackendError, Cancelled, Closed, MnemoscopeError, PassageMissing, Unsupported
from engine.base.language import marked, tr
from engine.memory.executor import BackgroundExecutor, Job
from engine.records import SearchOutcome

if TYPE_CHECKING:
    from engine.memory.memory_interface import MemorySearchManager

_REFRESH_TIMEOUT = 2.0
"""Seconds that answers wait for the refresh, enough for an index that existed before."""
_REFRESH_POLL = 0.05
_STILL = marked("The built-in index is being updated, so results may be missing.")
_STOPPED = marked("The update of the built-in index was stopped, so results may be missing.")

log = lazy_logger(__name__)

Opener = Callable[[], "MemorySearchManager"]

SearchCall = Callable[["MemorySearchManager", CancelToken | None], SearchOutcome]

PAUSE_SECONDS = 60.0
_LONGEST_SECONDS = 16 * 60.0
_RETRY_TIMEOUT = 2.0
"""Seconds that an answer waits for a retry; then the built-in index answers, and the retry continues."""
_RETRY_POLL = 0.05


class IndexRefresh:
    """Runs one sync of the built-in index, started on creation, before it answers. Thread-safe."""

    def __init__(self, memory: "MemorySearchManager", threads: BackgroundExecutor) -> None:
        self._memory = memory
        self._until = time.monotonic() + _REFRESH_TIMEOUT
        self._sentence = tr(_STILL)
        self._ended = threading.Event()
        self._job = threads.start(self._run)
        if self._job is None:
            self._stopped()

    def wait(self, cancel: CancelToken | None) -> None:
        """Wait a moment for the index to be up to date. Raises `Cancelled`."""
        while not self._ended.is_set() and time.monotonic() < self._until:
            checkpoint(cancel)
            self._ended.wait(_REFRESH_POLL)

    def sentence(self) -> str:
        """The remark to show with an answer of this index while it may be out of date; empty once it is up to date."""
        return self._sentence

    def join(self) -> None:
        """Wait some seconds for the end of the sync, which closing the memory cancels."""
        if self._job is not None and self._job.cancel():
            self._stopped()
        elif self._job is not None:
            self._job.join()

    def _stopped(self) -> None:
        self._sentence = tr(_STOPPED)
        self._ended.set()

    def _run(self) -> None:
        try:
            report = self._memory.sync(reason="fallback")
            self._sentence = tr(_STOPPED) if report.cancelled else _not_updated_message(report.error)
        except (Cancelled, Closed):
            self._sentence = tr(_STOPPED)
        except MnemoscopeError as error:
            self._sentence = _not_updated_message(str(error))
        except Exception as error:  # nothing above it on this thread: answers must report it, too
            log.exception("The built-in index could not be brought up to date")
            self._sentence = _not_updated_message(type(error).__name__)
        finally:
            self._ended.set()


def _not_updated_message(why: str) -> str:
    if not why:
        return ""
    return tr("The built-in index could not be updated, so results may be missing: {reason}", reason=why)


class ActiveMemory(NamedTuple):
    memory: "MemorySearchManager"
    failure: str
    """Why the built-in memory answers; empty for the chosen one."""
    catching_up: IndexRefresh | None
    """Refresh of the built-in index; None for the chosen memory."""


class MemorySwitch:
    """Opens the memory that is needed, and closes the other one. Thread-safe."""

    def __init__(
        self, open_primary: Opener, open_builtin: Opener, changed: Callable[[], None], threads: BackgroundExecutor
    ) -> None:
        """A chosen memory that can't be opened counts as its first failure. `changed` is called for both memories."""
        self._open_builtin = open_builtin
        self._changed = changed
        self._threads = threads
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._closed = False
        self._builtin: ActiveMemory | None = None
        self._primary: MemorySearchManager | None = None
        self.failure = ""
        """Why the chosen memory does not answer; empty if it does."""
        try:
            self._primary = open_primary()
        except Exception as error:
            self.failure = sentence_of(error)
        else:
            self._primary.add_status_listener(changed)

    def peek(self) -> "MemorySearchManager | None":
        """Return the memory in use if it is open; never waits."""
        with self._lock:
            return self._primary or (self._builtin.memory if self._builtin else None)

    def in_use(self) -> ActiveMemory:
        """Return the memory in use; opens the built-in one if necessary. Raises `Closed`, and `BackendError` when that
        fails."""
        active = self._active()
        if active is None:
            with self._opening:
                active = self._active() or self._open()
            self._changed()
        return active

    def fail(self, memory: "MemorySearchManager", error: Exception) -> None:
        """Report a failure: the first report about the chosen one closes it."""
        with self._lock:
            if self._closed or memory is not self._primary:
                return
            self._primary, self.failure = None, sentence_of(error)
        log.warning("The chosen memory failed (%s), so the built-in index answers", type(error).__name__)
        memory.close()
        self._changed()

    def fails_still(self, error: Exception) -> None:
        """Record that retrying the chosen memory failed, perhaps for another reason."""
        with self._lock:
            self.failure = sentence_of(error)
        self._changed()

    def return_to(self, primary: "MemorySearchManager") -> None:
        """Switch to the chosen memory, which works again, and close the built-in one."""
        with self._lock:
            if self._closed:
                unused: MemorySearchManager | None = primary
                catching_up = None
            else:
                unused, catching_up = (
                    (self._builtin.memory, self._builtin.catching_up) if self._builtin else (None, None)
                )
                self._primary, self._builtin, self.failure = primary, None, ""
        if unused is not primary:
            log.info("The chosen memory works again")
            primary.add_status_listener(self._changed)
            self._changed()
        _close(unused, catching_up)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            primary, builtin = self._primary, self._builtin
        if primary is not None:
            primary.close()
        if builtin is not None:
            _close(builtin.memory, builtin.catching_up)

    def _active(self) -> ActiveMemory | None:
        with self._lock:
            if self._closed:
                raise Closed
            if self._primary is not None:
                return ActiveMemory(self._primary, "", None)
            return None if self._builtin is None else self._builtin._replace(failure=self.failure)

    def _open(self) -> ActiveMemory:
        try:
            memory = self._open_builtin()
        except MnemoscopeError as error:
            raise both(self.failure, error) from error
        memory.add_status_listener(self._changed)
        with self._lock:
            closed = self._closed
            if not closed:
                self._builtin = active = ActiveMemory(memory, self.failure, IndexRefresh(memory, self._threads))
        if closed:
            memory.close()
            raise Closed
        return active


def both(failure: str, error: Exception) -> BackendError:
    """Return the error to raise when the chosen memory and the built-in index both fail."""
    also = tr("The built-in index could not answer either: {reason}", reason=sentence_of(error))
    return BackendError(f"{failure} {also}")


def sentence_of(error: Exception) -> str:
    """Return the error as a sentence for the user."""
    if not isinstance(error, MnemoscopeError):
        log.error("A memory failed with an unexpected error", exc_info=error)
        return tr("The search engine failed unexpectedly ({error}).", error=type(error).__name__)
    text = str(error).strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _close(memory: "MemorySearchManager | None", catching_up: IndexRefresh | None) -> None:
    if memory is not None:
        memory.close()
    if catching_up is not None:
        catching_up.join()


class _Try:
    def __init__(self) -> None:
        self.token = CancelToken()
        self.ended = threading.Event()
        self.outcome: SearchOutcome | None = None
        self.job: Job | None = None


class RetryPolicy:
    """Retries a failed memory, one try at a time, with doubling pauses. Thread-safe."""

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
        """Time of the next try; None if nothing has failed."""
        self._running: _Try | None = None
        self._closed = False

    def outcome(self, call: SearchCall, cancel: CancelToken | None) -> SearchOutcome | None:
        """Return the answer of the failed memory, if a retry is due and quick enough.

        Raises `Cancelled` for the caller alone: the retry continues.
        """
        attempt = self._start_attempt(call)
        if attempt is None:
            return None
        until = time.monotonic() + _RETRY_TIMEOUT
        while not attempt.ended.is_set() and time.monotonic() < until:
            checkpoint(cancel)
            attempt.ended.wait(_RETRY_POLL)
        return attempt.outcome

    def failed(self) -> None:
        """Record a failure: the first retry follows after a pause."""
        with self._lock:
            if self._due is None:
                self._due = time.monotonic() + self._pause

    def allow_retry(self) -> None:
        """Allow the next query to retry the failed memory immediately, since the cause may be fixed."""
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

    def _start_attempt(self, call: SearchCall) -> _Try | None:
        with self._lock:
            due = self._due is not None and time.monotonic() >= self._due
            if self._closed or self._running is not None or not due:
                return None
            attempt = _Try()
            attempt.job = self._threads.start(lambda: self._run(attempt, call))
            if attempt.job is None:
                return None
            self._running = attempt
        return attempt

    def _run(self, attempt: _Try, call: SearchCall) -> None:
        failed = True
        primary = None
        try:
            primary = self._open_primary()
            attempt.outcome = call(primary, attempt.token)
            failed = False
        except (Cancelled, Unsupported, PassageMissing):
            pass  # this does not show whether the memory works: the next query does
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
        attempt.ended.set()
