"""Access of one agent to a memory, with its permissions and timeouts."""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed
from engine.records import Source
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.memory.memory_interface import MemorySearchManager

T = TypeVar("T")

DEADLINE_SECONDS = 15.0
COOLDOWN_SECONDS = 60.0


class TooSlow(Exception):
    """The memory did not answer before the deadline, or a call was refused soon after such a failure."""


class AgentAccess:
    """Gives one session of an agent the part of a memory that it may use, within its time limit. Thread-safe.

    Attributes:
        session_key: key of the agent's session, as in `agent:main:discord:group:123`; None for the user's own session.
    """

    def __init__(
        self,
        opened: "Callable[[], MemorySearchManager]",
        settings: Settings | Callable[[], Settings],
        *,
        session_key: str | None = None,
        deadline: float = DEADLINE_SECONDS,
        cooldown: float = COOLDOWN_SECONDS,
    ) -> None:
        """`opened` returns the memory, may wait for it, and raises if it can't be opened.

        `settings`: those that the memory is opened with, or a function that returns them if they may change.
        `deadline`: seconds that a call may take; `cooldown`: seconds after a slower one in which calls are refused
        immediately, since a hanging memory would block a thread for each.
        """
        self._opened = opened
        self._settings = settings
        self.session_key = session_key
        self._deadline = deadline
        self._cooldown = cooldown
        self._rests_until = 0.0

    @property
    def settings(self) -> Settings:
        """The current settings. Raises `SettingsError` if they can't be used any more."""
        return self._settings() if callable(self._settings) else self._settings

    @property
    def cites(self) -> bool:
        """Whether answers to this session name the file and lines of each passage."""
        return self.settings.citations == "on" or (self.settings.citations == "auto" and not self.shared)

    @property
    def shared(self) -> bool:
        """Whether other people may read this session: true for every key that isn't a private session's."""
        from engine.search.session_keys import is_shared_session

        return is_shared_session(self.session_key)

    def may_read(self, path: str) -> bool:
        """Whether this session may see a file: the user's own memory and sessions are excluded."""
        if not self.shared:
            return True
        from engine.search.chunk_filter import Filter

        source: Source = "sessions" if self.is_session(path) else "memory"
        return not Filter(hide_memory=True).hides(path, source)

    def is_session(self, path: str) -> bool:
        """Whether a stable name is the name of a past session."""
        from engine.corpus.transcripts.session_stores import may_name_session, names_session
        from engine.search.chunk_filter import name_without_machine

        own_name = name_without_machine(path)
        # Names of session folders on another machine are not in the settings of this one.
        return names_session(path, self.settings) or (own_name != path and may_name_session(own_name))

    def call(self, work: "Callable[[MemorySearchManager, CancelToken], T]", cancel: CancelToken | None = None) -> T:
        """Call the memory and return its answer. Raises its errors, `TooSlow`, and `Cancelled` as soon as `cancel`
        fires."""
        wait = self._rests_until - time.monotonic()
        if wait > 0:
            raise TooSlow(f"The memory did not answer in time; it is asked again in {wait:.0f} seconds.")
        call = _Call(lambda token: self._run(work, token))
        if not call.wait(self._deadline, cancel):
            if cancel is not None and cancel.cancelled:
                raise Cancelled
            self._rests_until = time.monotonic() + self._cooldown
            raise TooSlow(f"The memory did not answer within {self._deadline:.0f} seconds.")
        return call.outcome()

    def _run(self, work: "Callable[[MemorySearchManager, CancelToken], T]", token: CancelToken) -> T:
        memory = self._opened()
        try:
            return work(memory, token)
        except Closed:
            now = self._opened()
            if now is memory:
                raise
            return work(now, token)  # the memory was reopened with other settings meanwhile


class _Call(Generic[T]):
    """Runs a call on a separate thread, so that the caller can stop waiting for it."""

    def __init__(self, work: Callable[[CancelToken], T]) -> None:
        self._work = work
        self._token = CancelToken()
        self._over = threading.Event()
        self._done = False
        self._values: list[T] = []
        self._error: BaseException | None = None
        threading.Thread(target=self._run, name="mnemoscope-agent", daemon=True).start()

    def wait(self, seconds: float, cancel: CancelToken | None) -> bool:
        """Wait for the end; returns False if the call took too long, and was cancelled and abandoned."""
        forget = cancel.on_cancel(self._over.set) if cancel is not None else lambda: None
        try:
            self._over.wait(seconds)
        finally:
            forget()
        if not self._done:
            self._token.cancel()
        return self._done

    def outcome(self) -> T:
        if isinstance(self._error, Exception):
            raise self._error
        if self._error is not None:
            raise RuntimeError("The search engine tried to exit the program.") from self._error
        return self._values[0]

    def _run(self) -> None:
        try:
            self._values.append(self._work(self._token))
        except BaseException as error:  # the waiting thread raises the error
            self._error = error
        self._done = True
        self._over.set()
