"""Open or closed state of a memory."""

import threading

from engine.base.errors import Closed


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
