"""Notices when another process has changed the index, so that a window shows what the command line has done."""

import logging
import threading
from collections.abc import Callable

from engine.base.errors import MnemoscopeError
from engine.memory.executor import BackgroundExecutor

log = logging.getLogger(__name__)

_SECONDS = 1.0


class ChangePoller:
    """Asks `moment` once a second and calls `changed` when the answer is another one. Thread-safe."""

    def __init__(self, moment: Callable[[], object], changed: Callable[[], None], threads: BackgroundExecutor) -> None:
        self._moment = moment
        self._changed = changed
        self._threads = threads
        self._lock = threading.RLock()  # `changed` may close what this belongs to
        self._closed = False
        self._last: object = None
        self._cancel = threads.later(_SECONDS, self._look)

    def close(self) -> None:
        """Returns when a look that is under way has ended."""
        with self._lock:
            self._closed = True
            self._cancel()

    def _look(self) -> None:
        with self._lock:
            if self._closed:
                return
            try:
                now = self._moment()
            except MnemoscopeError as error:
                # Whoever works with the index meets the same error, and says it better.
                log.debug("The index could not be asked for its state: %s", type(error).__name__)
            except Exception:
                log.exception("The index could not be asked for its state")
            else:
                last, self._last = self._last, now
                if last is not None and now != last:
                    self._changed()
            if not self._closed:
                self._cancel = self._threads.later(_SECONDS, self._look)
