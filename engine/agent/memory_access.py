"""Access of one agent to a memory, with its permissions and timeouts."""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from engine.base.cancellation import CancelToken, on_cancel
from engine.base.errors import Cancelled, Closed
from engine.records import Source
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.memory.memory_interface import MemorySearchManager

T = TypeVar("T")

DEADLINE_SECONDS = 15.0
COOLDOWN_SECONDS = 60.0
_FULL_SHARE = 2 / 3
"""Share of the deadline for the complete work, if there is quicker work to do instead."""


class MemoryTimeout(Exception):
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
        immediately, unless it has succeeded meanwhile, since a hanging memory would block a thread for each.
        """
        self._opened = opened
        self._settings = settings
        self.session_key = session_key
        self._deadline = deadline
        self._cooldown = cooldown
        self._memory: MemorySearchManager | None = None
        """The memory of the last call."""
        self._slow: _Call[Any] | None = None
        """The last call of complete work that took so long that quicker work was done instead."""
        self._hanging: _Call[Any] | None = None
        """The last call that exceeded the deadline."""

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

    def call(
        self,
        work: "Callable[[MemorySearchManager, CancelToken], T]",
        cancel: CancelToken | None = None,
        quicker: "Callable[[MemorySearchManager, CancelToken], T] | None" = None,
    ) -> T:
        """Call the memory and return its answer.

        Raises its errors, `MemoryTimeout`, and `Cancelled` as soon as `cancel` fires.

        `quicker`: work to do instead if `work` takes most of the deadline. `work` then continues, and until it has
        succeeded or the cooldown is over, only `quicker` is done.
        """
        until = time.monotonic() + self._deadline
        memory = None
        if quicker is not None:
            if _wait_after(self._slow) <= 0:
                call = self._start(work)
                if call.wait(_FULL_SHARE * self._deadline, cancel):
                    return call.outcome()
                earlier, self._slow = self._slow, call
                call.retry_at = time.monotonic() + self._cooldown
                if earlier is not None:
                    earlier.cancel()
                memory = self._memory  # the rest of the deadline is too short to wait for a sync again
            work = quicker
        if (wait := _wait_after(self._hanging)) > 0:
            raise MemoryTimeout(f"The memory did not answer in time: try again in {wait:.0f} seconds.")
        call = self._start(work, memory)
        if not call.wait(until - time.monotonic(), cancel):
            self._hanging = call
            call.retry_at = time.monotonic() + self._cooldown
            call.cancel()
            raise MemoryTimeout(f"The memory did not answer within {self._deadline:.0f} seconds.")
        return call.outcome()

    def _start(
        self,
        work: "Callable[[MemorySearchManager, CancelToken], T]",
        memory: "MemorySearchManager | None" = None,
    ) -> "_Call[T]":
        """Start a call of this memory, or of the one that is opened for it."""

        def run(token: CancelToken) -> T:
            opened = self._memory = self._opened() if memory is None else memory
            try:
                return work(opened, token)
            except Closed:
                now = self._opened()
                if now is opened:
                    raise
                return work(now, token)  # the memory was reopened with other settings meanwhile

        return _Call(run)


class _Call(Generic[T]):
    """Runs a call on a separate thread, so that the caller can stop waiting for it.

    Attributes:
        retry_at: when the memory may be called again after this call, in seconds of `time.monotonic`.
        succeeded: whether it has returned a value.
    """

    def __init__(self, work: Callable[[CancelToken], T]) -> None:
        self._work = work
        self._token = CancelToken()
        self._over = threading.Event()
        self._done = False
        self._values: list[T] = []
        self._error: BaseException | None = None
        self.retry_at = 0.0
        threading.Thread(target=self._run, name="mnemoscope-agent", daemon=True).start()

    @property
    def succeeded(self) -> bool:
        return bool(self._values)

    def wait(self, seconds: float, cancel: CancelToken | None) -> bool:
        """Wait for the end; returns whether it has come. Cancels the call and raises `Cancelled` if `cancel` fires."""
        with on_cancel(self._over.set, cancel):
            self._over.wait(seconds)
        if not self._done and cancel is not None and cancel.cancelled:
            self.cancel()
            raise Cancelled
        return self._done

    def cancel(self) -> None:
        """Ask the call to end; its outcome is ignored."""
        self._token.cancel()

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


def _wait_after(call: "_Call[Any] | None") -> float:
    """Return the seconds to wait after a slow call before the memory is called again; none once it has succeeded."""
    return 0.0 if call is None or call.succeeded else call.retry_at - time.monotonic()
