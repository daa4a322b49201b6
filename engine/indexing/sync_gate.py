"""One sync at a time: later callers join the one that runs, and get its progress and its report."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from engine.base.cancellation import CancelToken
from engine.base.errors import Closed, IndexBusy
from engine.base.language import tr
from engine.records import MemorySyncProgressUpdate, SyncReport

Listener = Callable[[MemorySyncProgressUpdate], None]
Start = Callable[[Listener, CancelToken], SyncReport]

_POLL = 0.1


@dataclass
class _Running:
    """The sync that runs now."""

    token: CancelToken
    force: bool
    listeners: list[Listener] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    update: MemorySyncProgressUpdate | None = None
    report: SyncReport | None = None


class SyncGate:
    """Lets one sync through at a time. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._closed = False

    def run(self, start: Start, *, force: bool, progress: Listener | None, cancel: CancelToken | None) -> SyncReport:
        """Run `start(listener, token)`, or join the sync that runs.

        A forced caller does not settle for a sync that is not: it waits for its end and then runs its own. Raises
        `Cancelled` when a caller that only waits is cancelled, `Closed` after `close()`.
        """
        while True:
            with self._lock:
                if self._closed:
                    raise Closed
                other = self._running
                if other is None:
                    mine = self._running = _Running(cancel or CancelToken(), force)
                if progress is not None:
                    (other or mine).listeners.append(progress)
            if other is None:
                return self._own(mine, start)
            try:
                self._await(other, cancel)
            finally:
                if progress is not None:
                    with self._lock:
                        other.listeners.remove(progress)
            if force and not other.force:
                continue
            if other.report is not None:
                return other.report
            # It broke down in a way that its own caller has to deal with: this one tries for itself.

    @contextmanager
    def alone(self, cancel: CancelToken | None = None) -> Iterator[None]:
        """Let no sync run during the block: those that are asked for meanwhile wait. Raises `IndexBusy`, `Closed`.

        `cancel` stops what is done in it: whoever closes the index fires it, and `current()` is this token.
        """
        with self._lock:
            if self._closed:
                raise Closed
            if self._running is not None:
                raise IndexBusy(tr("The index is being updated: stop the update, or wait for its end."))
            mine = self._running = _Running(cancel or CancelToken(), force=False)
        try:
            yield
        finally:
            self._end(mine)

    def current(self) -> CancelToken | None:
        with self._lock:
            return None if self._running is None else self._running.token

    def update(self) -> MemorySyncProgressUpdate | None:
        """The last progress of the sync that runs now."""
        running = self._running
        return None if running is None else running.update

    def close(self, timeout: float) -> None:
        """Let nothing new start, cancel what runs and wait for it."""
        with self._lock:
            self._closed = True
            running = self._running
        if running is not None:
            running.token.cancel()
            running.ended.wait(timeout)

    def _own(self, mine: _Running, start: Start) -> SyncReport:
        def tell(update: MemorySyncProgressUpdate) -> None:
            mine.update = update
            for listener in tuple(mine.listeners):
                listener(update)

        try:
            mine.report = start(tell, mine.token)
            return mine.report
        finally:
            self._end(mine)

    def _end(self, mine: _Running) -> None:
        with self._lock:
            self._running = None
        mine.ended.set()

    @staticmethod
    def _await(other: _Running, cancel: CancelToken | None) -> None:
        while not other.ended.wait(_POLL):
            if cancel is not None:
                cancel.checkpoint()
