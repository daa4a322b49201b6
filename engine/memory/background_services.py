"""Background services of a long-running program: follow the folders, and detect changes by other processes."""

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
    """Calls `moment` once a second, and `changed` when its result changes. Thread-safe."""

    def __init__(self, moment: Callable[[], object], changed: Callable[[], None], threads: BackgroundExecutor) -> None:
        self._moment = moment
        self._changed = changed
        self._threads = threads
        self._lock = threading.RLock()  # re-entrant, since `changed` may close the owner
        self._closed = False
        self._last: object = None
        self._cancel = threads.later(_SECONDS, self._look)

    def close(self) -> None:
        """Stop polling, after a running check has ended."""
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
                # Callers that use the index get the same error with a better message.
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
    """Owns watchers, timers and the syncs that they request, all on `threads`."""

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
        """`sync` runs one sync and returns its report; `indexed_sizes` is for `SessionDeltas`.

        `moment`: a value that changes when another process starts, commits or ends work on the index; called once a
        second, so it must be cheap.
        """
        self._settings = settings
        self._syncs = syncs
        listeners = self._listeners = syncs.listeners
        self._sync = sync
        syncs.dirty = True  # changes made while the program was not running are unknown
        self._background = BackgroundSync(workspace, settings, self._run, self._changed, indexed_sizes, threads)
        self._follower = ChangePoller(moment, listeners.tell, threads)

    def watcher_status(self) -> WatcherStatus:
        return self._background.watcher_status()

    def session_started(self, key: str) -> None:
        """Sync once per session key, if enabled in the settings."""
        self._background.session_started(key)

    def searched(self) -> None:
        """After a search, update an index known to be out of date, if enabled in the settings."""
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
        """Fill the new index that has replaced a damaged one."""
        self._background.request("fallback")

    def look_again(self) -> None:
        """Sync after a delay, to fetch results of batch jobs."""
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
            # The joined sync had already passed files that changed since it started.
            self._sync(reason)
