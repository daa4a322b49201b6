"""Which of two memories answers: the one that was chosen, or the built-in one in its place."""

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from engine.base.errors import BackendError, Closed, MnemoscopeError
from engine.base.language import tr
from engine.memory.executor import BackgroundExecutor

if TYPE_CHECKING:
    from engine.memory.contract import MemorySearchManager
import time
from typing import TYPE_CHECKING

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.base.language import marked

if TYPE_CHECKING:
    from engine.memory.contract import MemorySearchManager


_PATIENCE = 2.0
"""Seconds for which answers are held back: in these an index that was made before is up to date again."""
_POLL = 0.05
_STILL = marked("It is being brought up to date, so something may be missing yet.")
_STOPPED = marked("It was not brought up to date, since that was stopped: something may be missing.")


class IndexRefresh:
    """One sync of one memory, which begins with this. Thread-safe."""

    def __init__(self, memory: "MemorySearchManager", threads: BackgroundExecutor) -> None:
        self._memory = memory
        self._until = time.monotonic() + _PATIENCE
        self._sentence = tr(_STILL)
        self._ended = threading.Event()
        self._job = threads.start(self._run)
        if self._job is None:
            self._stopped()

    def wait(self, cancel: CancelToken | None) -> None:
        """Give the index a moment to be up to date before the first answers. Raises `Cancelled`."""
        while not self._ended.is_set() and time.monotonic() < self._until:
            if cancel is not None:
                cancel.checkpoint()
            self._ended.wait(_POLL)

    def sentence(self) -> str:
        """Message for an answer of this index; empty once it is up to date."""
        return self._sentence

    def join(self) -> None:
        """Wait some seconds for its end, which closing the memory causes."""
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
            self._sentence = tr(_STOPPED) if report.cancelled else _not_done(report.error)
        except (Cancelled, Closed):
            self._sentence = tr(_STOPPED)
        except MnemoscopeError as error:
            self._sentence = _not_done(str(error))
        except Exception as error:  # the outermost call of a thread: answers must report it too
            log.exception("The built-in index could not be brought up to date")
            self._sentence = _not_done(type(error).__name__)
        finally:
            self._ended.set()


def _not_done(why: str) -> str:
    if not why:
        return ""
    return tr("It could not be brought up to date, so something may be missing: {reason}", reason=why)


log = logging.getLogger(__name__)

Opener = Callable[[], "MemorySearchManager"]


class ActiveMemory(NamedTuple):
    memory: "MemorySearchManager"
    failure: str
    """Empty for the one that was chosen; else why the built-in one answers."""
    catching_up: IndexRefresh | None
    """Of the built-in one."""


class MemorySwitch:
    """Opens either when it is needed, and closes the one that is not. Thread-safe."""

    def __init__(
        self, open_primary: Opener, open_builtin: Opener, changed: Callable[[], None], threads: BackgroundExecutor
    ) -> None:
        """Raises nothing if the chosen one can't be opened: that is its first failure. `changed` is called for both."""
        self._open_builtin = open_builtin
        self._changed = changed
        self._threads = threads
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._closed = False
        self._builtin: ActiveMemory | None = None
        self._primary: MemorySearchManager | None = None
        self._failure = ""
        try:
            self._primary = open_primary()
        except Exception as error:
            self._failure = sentence_of(error)
        else:
            self._primary.add_status_listener(changed)

    @property
    def failure(self) -> str:
        """Why the chosen one does not answer; empty while it does."""
        return self._failure

    def peek(self) -> "MemorySearchManager | None":
        """The one in use, if it is open; never waits."""
        with self._lock:
            return self._primary or (self._builtin.memory if self._builtin else None)

    def in_use(self) -> ActiveMemory:
        """The one in use; opens the built-in one if need be. Raises `Closed`, and `BackendError` when that fails."""
        found = self._found()
        if found is None:
            with self._opening:
                found = self._found() or self._open()
            self._changed()
        return found

    def fail(self, memory: "MemorySearchManager", error: Exception) -> None:
        """Report a failure: the first report about the chosen one closes it."""
        with self._lock:
            if self._closed or memory is not self._primary:
                return
            self._primary, self._failure = None, sentence_of(error)
        log.warning("The memory failed (%s): the built-in index answers", type(error).__name__)
        memory.close()
        self._changed()

    def fails_still(self, error: Exception) -> None:
        """It was tried again and failed again, perhaps for another reason."""
        with self._lock:
            self._failure = sentence_of(error)
        self._changed()

    def return_to(self, primary: "MemorySearchManager") -> None:
        """The chosen one works again: switch to it, and close the built-in one."""
        with self._lock:
            if self._closed:
                left: MemorySearchManager | None = primary
                catching_up = None
            else:
                left, catching_up = (self._builtin.memory, self._builtin.catching_up) if self._builtin else (None, None)
                self._primary, self._builtin, self._failure = primary, None, ""
        if left is not primary:
            log.info("The memory answers again")
            primary.add_status_listener(self._changed)
            self._changed()
        _close(left, catching_up)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            primary, builtin = self._primary, self._builtin
        if primary is not None:
            primary.close()
        if builtin is not None:
            _close(builtin.memory, builtin.catching_up)

    def _found(self) -> ActiveMemory | None:
        with self._lock:
            if self._closed:
                raise Closed
            if self._primary is not None:
                return ActiveMemory(self._primary, "", None)
            return None if self._builtin is None else self._builtin._replace(failure=self._failure)

    def _open(self) -> ActiveMemory:
        try:
            memory = self._open_builtin()
        except MnemoscopeError as error:
            raise both(self._failure, error) from error
        memory.add_status_listener(self._changed)
        with self._lock:
            closed = self._closed
            if not closed:
                self._builtin = found = ActiveMemory(memory, self._failure, IndexRefresh(memory, self._threads))
        if closed:
            memory.close()
            raise Closed
        return found


def both(failure: str, error: Exception) -> BackendError:
    """What to raise when the built-in index cannot help either."""
    also = tr("The built-in index could not answer in its place: {reason}", reason=sentence_of(error))
    return BackendError(f"{failure} {also}")


def sentence_of(error: Exception) -> str:
    """What happened, to be shown."""
    if not isinstance(error, MnemoscopeError):
        log.error("A memory failed in a way that it does not know", exc_info=error)
        return tr("It failed unexpectedly ({error}).", error=type(error).__name__)
    text = str(error).strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _close(memory: "MemorySearchManager | None", catching_up: IndexRefresh | None) -> None:
    if memory is not None:
        memory.close()
    if catching_up is not None:
        catching_up.join()
