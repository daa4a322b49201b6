"""Brings the built-in index up to date when it has to answer for another one: nobody has kept it so until then."""

import logging
import threading
import time
from typing import TYPE_CHECKING

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, MnemoscopeError
from engine.base.language import marked, tr
from engine.memory.executor import BackgroundExecutor

if TYPE_CHECKING:
    from engine.memory.contract import MemorySearchManager

log = logging.getLogger(__name__)

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
        """What is to be said of an answer of this index; empty once it is up to date."""
        return self._sentence

    def join(self) -> None:
        """Wait some seconds for its end; whoever closes the memory ends it."""
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
        except Exception as error:  # the edge of a thread: the answers must say so all the same
            log.exception("The built-in index could not be brought up to date")
            self._sentence = _not_done(type(error).__name__)
        finally:
            self._ended.set()


def _not_done(why: str) -> str:
    if not why:
        return ""
    return tr("It could not be brought up to date, so something may be missing: {reason}", reason=why)
