"""Whether a memory is still open."""

import threading

from engine.base.errors import Closed


class Lifetime:
    """Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended = False

    def check(self) -> None:
        """Raise `Closed` once it has ended."""
        if self._ended:
            raise Closed

    def end(self) -> bool:
        """True for the first caller, who then closes everything."""
        with self._lock:
            before, self._ended = self._ended, True
        return not before
