"""Listeners for changes of the status of a memory, and whether it is open."""

import logging
import threading
from collections.abc import Callable

from engine.base.errors import Closed

log = logging.getLogger(__name__)

StatusListener = Callable[[], None]


class Listeners:
    """A list of listeners, called from the notifying thread. Thread-safe."""

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


class Lifetime:
    """Tracks whether a memory is open. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended = False

    def check(self) -> None:
        """Raise `Closed` after the end."""
        if self._ended:
            raise Closed

    def end(self) -> bool:
        """Mark as ended; returns True for the first caller, which must then close everything."""
        with self._lock:
            before, self._ended = self._ended, True
        return not before
