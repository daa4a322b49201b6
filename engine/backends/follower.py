"""Notices when another process has changed the index, so that a window shows what the command line has done."""

import logging
import threading
from collections.abc import Callable

from engine.errors import MnemoscopeError

log = logging.getLogger(__name__)

_SECONDS = 1.0


class Follower:
    """Asks `moment` once a second, on a thread of its own, and calls `changed` when the answer is another one."""

    def __init__(self, moment: Callable[[], object], changed: Callable[[], None]) -> None:
        self._moment = moment
        self._changed = changed
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mnemoscope-follower", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        last: object = None
        while not self._closing.wait(_SECONDS):
            try:
                now = self._moment()
            except MnemoscopeError as error:
                # Whoever works with the index meets the same error, and says it better.
                log.debug("The index could not be asked for its state: %s", type(error).__name__)
                continue
            if last is not None and now != last:
                self._changed()
            last = now
