"""One question to several workspaces at once, and one answer."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, MnemoscopeError
from engine.base.language import tr
from engine.records import KnownWorkspace, SearchOutcome
from engine.workspaces.memory_pool import MemoryPool
from engine.workspaces.result_merging import Part, merged

if TYPE_CHECKING:
    from engine.memory.contract import MemorySearchManager
    from engine.memory.requests import SearchOptions

log = logging.getLogger(__name__)

DEADLINE_SECONDS = 4.0
"""How long the others may take, from the beginning; the workspace that was asked is always waited for."""
_POLL = 0.05


class AllWorkspaces:
    """A memory and those of the other workspaces. Thread-safe.

    A workspace on a disk that hangs must hold up neither the answer nor the end of the program. So an answer does not
    wait for it longer than the deadline, and one that still hangs from an earlier query is not searched again.
    """

    def __init__(
        self, pool: MemoryPool, *, executor: Executor | None = None, deadline_seconds: float = DEADLINE_SECONDS
    ) -> None:
        """`executor` searches the others. It has no other work, as a disk that hangs may hold each of its threads.

        None searches them on plain threads, which end with the program.
        """
        self._pool = pool
        self._executor = executor
        self._deadline = deadline_seconds
        self._lock = threading.Lock()
        self._hanging: set[str] = set()

    def search(
        self,
        here: "MemorySearchManager",
        workspace: KnownWorkspace,
        others: Sequence[KnownWorkspace],
        query: str,
        options: "SearchOptions",
        most: int,
        cancel: CancelToken | None = None,
    ) -> SearchOutcome:
        """See `MemorySearchManager.search`: what the memory `here` of `workspace` and those of `others` find together.

        The best `most` results.

        Each result has its `workspace`, and its path as it is there. A workspace that fails, is not there or takes
        longer than the deadline costs the answer nothing but its own results, and `notice` names it. Raises
        `Cancelled`, and what `here` raises where nobody else answers, either.
        """
        begun = time.monotonic()
        token = CancelToken()
        every: SearchOptions = {**options, "max_results": most}
        asked: list[_Asked] = []
        away = [one.name for one in others if one.index_bytes and not one.present]
        notices = [tr("The folder of {name} is not there, so it was not searched.", name=name) for name in away]

        def ask(memory: "MemorySearchManager") -> SearchOutcome:
            return memory.search(query, cancel=token, **every)

        forget = cancel.on_cancel(token.cancel) if cancel is not None else lambda: None
        try:
            asked += [self._start(one, ask, token) for one in others if one.present and one.index_bytes]
            first = _Asked(workspace)
            first.run(lambda: ask(here))
            self._wait(asked, begun, token)
            return _put_together([first, *asked], notices, most, begun, self._deadline)
        finally:
            forget()
            token.cancel()  # of those that are late, nobody wants an answer any more

    def _start(
        self, workspace: KnownWorkspace, ask: "Callable[[MemorySearchManager], SearchOutcome]", token: CancelToken
    ) -> "_Asked":
        asked = _Asked(workspace)
        with self._lock:
            if workspace.folder in self._hanging:
                return asked
            self._hanging.add(workspace.folder)
        asked.started = True

        def work() -> SearchOutcome:
            token.checkpoint()  # it may have waited for a thread
            with self._pool.using(workspace.folder) as memory:
                return ask(memory)

        def run() -> None:
            try:
                asked.run(work)
            finally:
                with self._lock:
                    self._hanging.discard(workspace.folder)
                asked.done.set()

        if self._executor is None:
            threading.Thread(target=run, name="mnemoscope-workspace", daemon=True).start()
        else:
            self._executor.submit(run)
        return asked

    def _wait(self, asked: "Sequence[_Asked]", begun: float, token: CancelToken) -> None:
        for one in asked:
            while not one.done.is_set() and one.started:
                token.checkpoint()
                left = self._deadline - (time.monotonic() - begun)
                if left <= 0:
                    break
                one.done.wait(min(left, _POLL))
        token.checkpoint()


class _Asked:
    """One workspace and what came of asking it."""

    def __init__(self, workspace: KnownWorkspace) -> None:
        self.workspace = workspace
        self.done = threading.Event()
        self.started = False
        self.outcome: SearchOutcome | None = None
        self.error: Exception | None = None

    def run(self, work: Callable[[], SearchOutcome]) -> None:
        try:
            self.outcome = work()
        except Exception as error:
            if not isinstance(error, MnemoscopeError):
                log.exception("A workspace failed to answer")
            self.error = error


def _put_together(
    asked: Sequence[_Asked], notices: list[str], most: int, begun: float, deadline: float
) -> SearchOutcome:
    parts = [Part(one.workspace, one.outcome) for one in asked if one.outcome is not None]
    for one in asked:
        if isinstance(one.error, Cancelled):
            raise one.error
        if one.outcome is None:
            notices.append(_missing(one, deadline))
    if not parts:
        raise next(one.error for one in asked if one.error is not None)
    return merged(parts, most, notices, (time.monotonic() - begun) * 1000)


def _missing(one: _Asked, deadline: float) -> str:
    if one.error is None:
        return tr(
            "{name} did not answer within {seconds:g} s and is missing here.",
            name=one.workspace.name,
            seconds=deadline,
        )
    unexpected = tr("something unexpected went wrong, see the log.")
    why = str(one.error) if isinstance(one.error, MnemoscopeError) else unexpected
    return tr("{name} is missing here: {reason}", name=one.workspace.name, reason=why)
