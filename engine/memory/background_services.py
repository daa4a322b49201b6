"""A memory in a program that stays: its index follows the folders, and what other processes do to it is noticed."""

import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from engine.base.errors import MnemoscopeError
from engine.memory.executor import BackgroundExecutor
from engine.memory.sync_queue import SyncQueue
from engine.memory.watch_and_schedule import BackgroundSync
from engine.records import SyncReason, SyncReport, WatcherStatus
from engine.settings import Settings

log = logging.getLogger(__name__)

_SECONDS = 1.0


class ChangePoller:
    """Asks `moment` once a second and calls `changed` when the answer is another one. Thread-safe."""

    def __init__(self, moment: Callable[[], object], changed: Callable[[], None], threads: BackgroundExecutor) -> None:
        self._moment = moment
        self._changed = changed
        self._threads = threads
        self._lock = threading.RLock()  # `changed` may close what this belongs to
        self._closed = False
        self._last: object = None
        self._cancel = threads.later(_SECONDS, self._look)

    def close(self) -> None:
        """Returns when a look that is under way has ended."""
        with self._lock:
            self._closed = True
            self._cancel()

    def _look(self) -> None:
        with self._lock:
            if self._closed:
                return
            try:
                now = self._moment()
            except MnemoscopeError as error:
                # Whoever works with the index meets the same error, and says it better.
                log.debug("The index could not be asked for its state: %s", type(error).__name__)
            except Exception:
                log.exception("The index could not be asked for its state")
            else:
                last, self._last = self._last, now
                if last is not None and now != last:
                    self._changed()
            if not self._closed:
                self._cancel = self._threads.later(_SECONDS, self._look)


class BackgroundServices:
    """Owns what works when nobody asks: watchers, timers and the syncs that they ask for, on `threads`."""

    def __init__(
        self,
        workspace: Path,
        settings: Settings,
        syncs: SyncQueue,
        sync: Callable[[SyncReason], SyncReport],
        indexed_sizes: Callable[[], Mapping[str, int]],
        moment: Callable[[], object],
        threads: BackgroundExecutor,
    ) -> None:
        """`sync` does one sync and returns its report, `indexed_sizes` is for `SessionDeltas`.

        `moment`: what differs after another process has worked on the index, or begun to, or ended; asked once a
        second, so it must be cheap.
        """
        self._settings = settings
        self._syncs = syncs
        listeners = self._listeners = syncs.listeners
        self._sync = sync
        syncs.dirty = True  # nobody has seen what changed while the program was away
        self._background = BackgroundSync(workspace, settings, self._run, self._changed, indexed_sizes, threads)
        self._follower = ChangePoller(moment, listeners.tell, threads)

    def watcher_status(self) -> WatcherStatus:
        return self._background.watcher_status()

    def session_started(self, key: str) -> None:
        """Sync once a session key, if the settings want it."""
        self._background.session_started(key)

    def searched(self) -> None:
        """Someone searched: an index that is known to be out of date is brought up to date, if the settings want it."""
        if self._settings.sync.on_search and self._syncs.dirty:
            self._background.request("search")

    def catch_up(self, seconds: float) -> None:
        """See `MemorySearchManager.catch_up`."""
        if not self._settings.sync.on_search:
            return
        if not self._background.flush(seconds):
            self._syncs.dirty = True
        if self._syncs.dirty:
            self._background.request("search")
        self._syncs.wait_for_text(seconds)

    def mended(self) -> None:
        """The index was replaced: fill the new one."""
        self._background.request("fallback")

    def look_again(self) -> None:
        """Sync after a while, to see what batch jobs have brought."""
        self._background.look_again()

    def close(self) -> None:
        self._background.close()
        self._follower.close()

    def _changed(self) -> None:
        self._syncs.dirty = True
        self._listeners.tell()

    def _run(self, reason: SyncReason) -> None:
        report = self._sync(reason)
        joined = report.reason != reason
        if joined and self._syncs.dirty and not (report.cancelled or report.error):
            # The sync that was joined was already past what changed since it began.
            self._sync(reason)
