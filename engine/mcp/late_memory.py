"""The memory of a server: opened on a thread of its own, so that the server answers before it is there.

A server may run for days: when the settings change, the memory is opened anew, since a service that the person has left
must get no question any more. Where it is only otherwise that questions are answered, it stays and does so.
"""

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.base.errors import Closed, MnemoscopeError
from engine.settings import Settings
from engine.settings.live_options import answering_as

if TYPE_CHECKING:
    from engine.memory.contract import MemorySearchManager

_CATCH_UP_SECONDS = 5.0

log = logging.getLogger(__name__)


class LateMemory:
    """Thread-safe."""

    def __init__(
        self,
        open_: "Callable[[Settings], MemorySearchManager]",
        settings: Callable[[], Settings],
        session_key: str | None,
    ) -> None:
        """`settings` gives those in force; `session_key` is that of the session which begins with this server."""
        self._open = open_
        self._settings = settings
        self._opened_with: Settings | None = None
        self._session_key = session_key or "mcp"
        self._lock = threading.Lock()
        self._memory: MemorySearchManager | None = None
        self._closed = False

    def warm(self) -> None:
        """Open it in the background, with all that a search by words needs. A model is loaded by the first search."""
        threading.Thread(target=self._warm, name="mnemoscope-warm", daemon=True).start()

    def opened(self) -> "MemorySearchManager":
        """The memory; waits until it is open. Raises what opening raises, and tries again when it is asked again."""
        with self._lock:
            if self._closed:
                raise Closed
            settings = self._settings()
            if self._memory is not None and settings != self._opened_with:
                if self._opened_with is not None and answering_as(self._opened_with, settings) == settings:
                    self._memory.answer_as(settings)
                else:
                    self._memory.close()
                    self._memory = None
            self._opened_with = settings
            if self._memory is None:
                self._memory = self._open(settings)
                self._memory.warm_session(self._session_key)
            return self._memory

    def up_to_date(self) -> "MemorySearchManager":
        """The memory, once its searches find what was on disk before this call. Raises as `opened` does.

        After some seconds it comes as it is: a first index, or the lock of another process, may take minutes.
        """
        memory = self.opened()
        memory.catch_up(_CATCH_UP_SECONDS)
        return memory

    def close(self) -> None:
        with self._lock:
            self._closed = True
            memory, self._memory = self._memory, None
        if memory is not None:
            memory.close()

    def _warm(self) -> None:
        try:
            self.opened().search("memory", mode="keyword", max_results=1)
        except MnemoscopeError as error:
            log.info("The memory could not be warmed: %s", type(error).__name__)
