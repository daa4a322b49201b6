"""The threads on which a memory works in parallel: its caller's, else its own."""

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Executor, ThreadPoolExecutor

_MOST = 4


class Threads:
    """Thread-safe."""

    def __init__(self, given: "Executor | None") -> None:
        """`given` None: threads of its own, made when they are first needed."""
        self._given = given
        self._own: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def executor(self) -> "Executor":
        given = self._given
        if given is not None:
            return given
        with self._lock:
            if self._own is None:
                from concurrent.futures import ThreadPoolExecutor

                self._own = ThreadPoolExecutor(_MOST, thread_name_prefix="mnemoscope")
            return self._own

    def give_back(self) -> None:
        """What was given is not used from now on: its owner may end it."""
        self._given = None

    def close(self) -> None:
        """At the very end: nothing that runs needs them any more. What was given stays as it is."""
        if self._own is not None:
            self._own.shutdown(wait=True, cancel_futures=True)
