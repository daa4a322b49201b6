"""Keeps one index up to date: one sync at a time, on request, after changes, before searches and at intervals."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import msgspec

from engine.base import lazy_logger
from engine.base.cancellation import CancelToken, checkpoint
from engine.base.errors import Cancelled, Closed, IndexBusy, MnemoscopeError
from engine.base.language import tr
from engine.records import (
    MemorySearchResult,
    MemorySyncProgressUpdate,
    StoredSync,
    SyncReason,
    SyncReport,
    SyncSummary,
)
from engine.store.user_data import UserData

if TYPE_CHECKING:
    from engine.indexing.folder_watch import FolderWatch
    from engine.records import WatcherStatus
    from engine.settings.options import SyncSettings

log = lazy_logger(__name__)

_CLOSE_SECONDS = 5.0
_POLL_SECONDS = 0.01
_JOIN_POLL_SECONDS = 0.1
_OTHER_WRITER_SECONDS = 1.0
"""How long `catch_up` waits while another process writes the index, which sees the same changes."""
_SECONDS_PER_MINUTE = 60.0
_BATCH_POLL_SECONDS = 300.0
_CHANGES_SECONDS = 30.0
"""Maximum number of seconds until a sync after a change that calls for none, such as a few lines more in a session."""
_WATCHERS_TRUSTED_SECONDS = 600.0
"""How long the sessions that watchers report are read alone without regular syncs: they may have missed a change."""
_STATE_POLL_SECONDS = 1.0
_RECENT_SYNCS = 30
_NAMED_FAILURES = 10
_SUMMARY_FIELDS = frozenset(SyncSummary.__struct_fields__) & frozenset(SyncReport.__struct_fields__)

ProgressListener = Callable[[MemorySyncProgressUpdate], None]
SyncWork = Callable[[ProgressListener, CancelToken], SyncReport]
"""Runs one sync: reports progress, stops when the token is cancelled, and raises errors to its own caller only."""


class Threads(Protocol):
    """Runs jobs on other threads; implemented by `BackgroundExecutor`."""

    def start(self, work: Callable[[], object]) -> object:
        """Queue a job. Returns None if no more jobs are accepted."""

    def later(self, seconds: float, work: Callable[[], object]) -> Callable[[], None]:
        """Run a job after a delay, in the background. Returns a function that cancels it."""


class _RunningWork(msgspec.Struct):
    """The sync that is running, or other work that excludes syncs."""

    token: CancelToken
    force: bool = False
    listeners: list[ProgressListener] = msgspec.field(default_factory=list)
    thread: int = msgspec.field(default_factory=threading.get_ident)
    ended: threading.Event = msgspec.field(default_factory=threading.Event)
    update: MemorySyncProgressUpdate | None = None
    report: SyncReport | None = None
    transcripts: frozenset[str] | None = None
    """Paths of the transcripts that had changed when it began; None if other files may have changed too."""
    partial: bool = False
    """Whether it reads only these transcripts, so that other callers need another sync."""


class BackgroundSync(msgspec.Struct, frozen=True):
    """Options, threads and functions for background syncs in a program that stays open."""

    sync: Callable[[SyncReason], SyncReport]
    """Runs a sync, or joins the running one, and returns the report."""
    options: "SyncSettings"
    threads: Threads
    index_state: Callable[[], object]
    """Returns a value that changes when another process changes the index, or starts or stops doing so; called every
    second."""
    watch: "FolderWatch"


class IndexingService:
    """Runs the syncs of one open memory and schedules background syncs. Thread-safe.

    A caller of `run` joins a sync that is running. Scheduled syncs run one by one; a reason that is queued already is
    not queued again.
    """

    def __init__(self, user: UserData, notify: Callable[[], None], backend: str = "builtin") -> None:
        """`notify` is called, from any thread, whenever the status changes. Each `backend` has its own history."""
        self._user = user
        self._notify = notify
        self._backend = backend
        self._change = threading.Condition()
        self._closed = False
        self._running: _RunningWork | None = None
        self.dirty = False
        """Whether files are known to have changed since the last sync began."""
        self._stopped = False
        """Whether the last sync was cancelled, and no file has changed since: a search doesn't continue it."""
        self.latest_query = ""
        """Text of the last search; a running sync begins with notes that contain its words."""
        self._search_waits = False
        """Whether a search has had a change reported early, which then requests a sync."""
        self.latest_results: tuple[MemorySearchResult, ...] = ()
        """Results of the last search; a running sync first embeds those without a vector."""
        self.problem = ""
        """Why the last sync failed; empty if it succeeded."""
        self.recent = tuple(sync for sync in user.recent_syncs(_RECENT_SYNCS) if sync.backend == backend)
        """The last syncs of this backend, newest last."""
        self._transcripts: frozenset[str] | None = None
        """Paths of the transcripts that have changed since the last sync began; None if other files may have too."""
        self._reading = False
        """Whether the running sync handles changes that searches don't find yet."""
        self._ended = 0
        """Number of syncs that have ended, successful or not."""
        self._last_full_sync = -math.inf  # on the monotonic clock: when the last successful sync of all files began

        self._background: BackgroundSync | None = None
        self._poller: _StatePoller | None = None
        self._requests: list[SyncReason] = []
        self._submitted = False
        self._worker: int | None = None
        """Identifier of the thread that runs a scheduled sync."""
        self._due: float | None = None
        """When the next sync without a request is due, on the monotonic clock."""
        self._cancel_timer: Callable[[], None] | None = None
        self._started_sessions: set[str] = set()

    # --- one sync at a time ---------------------------------------------------------------------------------------

    def run(
        self,
        work: SyncWork,
        *,
        force: bool = False,
        progress: ProgressListener | None = None,
        cancel: CancelToken | None = None,
    ) -> SyncReport:
        """Run `work`, or join the running sync and return its report, unless that reads only some transcripts.

        A forced caller waits for the end of a sync that is not forced and then runs its own. A caller whose joined sync
        failed runs its own. Raises `Cancelled` if a caller that only waits is cancelled, `Closed` after `close()`.
        """
        while True:
            with self._change:
                self._check_open()
                other = self._running
                if other is None:
                    own_run = self._running = _RunningWork(cancel or CancelToken(), force)
                if progress is not None:
                    (other or own_run).listeners.append(progress)
            if other is None:
                return self._run_own(own_run, work)
            try:
                while not other.ended.wait(_JOIN_POLL_SECONDS):
                    checkpoint(cancel)
            finally:
                if progress is not None:
                    with self._change:
                        other.listeners.remove(progress)
            if other.report is not None and not other.partial and (other.force or not force):
                return other.report

    @contextmanager
    def exclusive(self, cancel: CancelToken | None = None) -> Iterator[None]:
        """Prevent syncs during the block; callers of `run` wait. Raises `IndexBusy`, `Closed`.

        `close()` cancels the token `cancel`, and `current()` returns it.
        """
        with self._change:
            self._check_open()
            if self._running is not None:
                raise IndexBusy(tr("The index is being updated: stop the update, or wait until it has finished."))
            own_run = self._running = _RunningWork(cancel or CancelToken())
        try:
            yield
        finally:
            self._end(own_run)

    def current(self) -> CancelToken | None:
        """Return the cancel token of the running sync; None if none is running."""
        return None if (running := self._running) is None else running.token

    def progress(self) -> MemorySyncProgressUpdate | None:
        """Return the last progress update of the running sync; None if none is running."""
        return None if (running := self._running) is None else running.update

    def take_changes(self) -> bool:
        """Return whether files have changed since the last call; the running sync then processes them."""
        dirty, self.dirty = self.dirty, False
        self._reading = self._reading or dirty
        return dirty

    def take_transcripts(self) -> frozenset[str] | None:
        """Return the changed transcripts that the running sync needs to read; None if it must look at all files."""
        with self._change:
            if (running := self._running) is None or not running.transcripts:
                return None
            running.partial = True
            return running.transcripts

    def text_ready(self) -> None:
        """Record that searches find all changes that the running sync has processed."""
        self._reading = False

    def _wait_for_text(self, seconds: float, ended: int) -> None:
        """Wait until searches find every known change.

        Gives up after `seconds`, while another process blocks writing, or if no sync is left to wait for: the last one
        has failed. `ended`: the number of syncs that had ended before this one was requested.
        """
        end, end_waiting = time.monotonic() + seconds, time.monotonic() + _OTHER_WRITER_SECONDS
        enough = self._ended + (2 if self.current() is not None else 1)
        while (self.dirty or self._reading) and (self._reading or self._ended < enough):
            update, now = self.progress(), time.monotonic()
            blocked = update is not None and update.phase == "waiting"
            failed = self._ended > ended and self.current() is None and not self._submitted
            if failed or now >= end or (blocked and now >= end_waiting):
                return
            time.sleep(_POLL_SECONDS)

    def _check_open(self) -> None:
        if self._closed:
            raise Closed

    def _end(self, running: _RunningWork) -> None:
        with self._change:
            self._running = None
        running.ended.set()

    def _run_own(self, own_run: _RunningWork, work: SyncWork) -> SyncReport:
        def report_progress(update: MemorySyncProgressUpdate) -> None:
            own_run.update = update
            for listener in tuple(own_run.listeners):
                listener(update)
            self._notify()

        began = time.monotonic()
        # Cleared before the work, so that a change during it makes the index dirty again.
        self._reading, self.dirty = True, False
        with self._change:
            own_run.transcripts, self._transcripts = self._transcripts, frozenset()
        try:
            own_run.report = report = work(report_progress, own_run.token)
            if report.cancelled or report.error:
                self.record_change(None)
            self._stopped = report.cancelled
            if not report.cancelled:
                self.problem = report.error
                self._last_full_sync = self._last_full_sync if own_run.partial else began
        except BaseException as error:
            self.record_change(None)
            self._stopped = isinstance(error, Cancelled)
            if isinstance(error, MnemoscopeError) and not isinstance(error, (Cancelled, Closed)):
                self.problem = str(error)
            raise
        else:
            self._add_to_history(report)
            return report
        finally:
            self._reading = False
            self._ended += 1
            self._end(own_run)
            self._notify()

    def _add_to_history(self, report: SyncReport) -> None:
        facts = {name: getattr(report, name) for name in _SUMMARY_FIELDS}
        facts |= {"files_failed": len(report.failed), "backend": self._backend}
        self.recent = (*self.recent, SyncSummary(**facts))[-_RECENT_SYNCS:]
        try:
            self._user.add_sync(StoredSync(**facts, failed=report.failed[:_NAMED_FAILURES]))
        except MnemoscopeError as error:  # a full disk must not make a completed sync fail
            log.warning("The sync could not be noted in the history: %s", type(error).__name__)

    # --- background -----------------------------------------------------------------------------------------------

    def start_background(self, background: BackgroundSync) -> None:
        """Watch the folders, sync at intervals and on `request`, and notice changes of the index by other processes."""
        self._background = background
        self.dirty = True  # changes made while the program was closed were not seen
        if seconds := self._interval():
            self._set_due(time.monotonic() + seconds)
        background.watch.start(self._handle_change, self.request)
        self._poller = _StatePoller(background.index_state, self._notify, background.threads)

    def watcher_status(self) -> "WatcherStatus | None":
        """Return the status of the file watchers; None if background syncs were not started."""
        return None if self._background is None else self._background.watch.status()

    def request(self, reason: SyncReason) -> None:
        """Queue a sync and return immediately. Without `start_background` nothing happens."""
        with self._change:
            if self._closed or self._background is None or reason in self._requests:
                return
            self._requests.append(reason)
            if self._submitted:
                return
            self._submitted = True
        self._submit()

    def poll_batch_jobs(self) -> None:
        """Queue a sync in some minutes to check batch jobs, since no event reports their end."""
        self.request_later(_BATCH_POLL_SECONDS)

    def request_later(self, seconds: float) -> None:
        """Queue a sync with the reason `interval` after at most `seconds`; any earlier sync replaces it."""
        due = time.monotonic() + seconds
        with self._change:
            if self._background is None or self._closed or (self._due is not None and self._due <= due):
                return
        self._set_due(due)

    def session_started(self, key: str) -> None:
        """Queue a sync on the first call with each session key, if the settings enable it."""
        background = self._background
        if background is not None and background.options.on_session_start and key not in self._started_sessions:
            self._started_sessions.add(key)
            self.request("session-start")

    def searched(self, query: str) -> None:
        """Called before a search: queue a sync if the settings enable this and the index is out of date, or will be
        when the latest changes of files are reported.

        The window repeats its query after each sync: this neither continues a stopped sync nor reports changes early.
        """
        is_new, self.latest_query = query != self.latest_query, query
        background = self._background
        if background is None or not background.options.on_search or self._stopped:
            return
        if self.dirty:
            self.request("search")
        elif is_new:
            self._search_waits = True  # before the call: watchers report from their own threads
            if not background.watch.skip_debounce():
                self._search_waits = False

    def catch_up(self, seconds: float) -> None:
        """Wait up to `seconds` until searches find recent changes of files; see `MemorySearchManager.catch_up`."""
        background = self._background
        if background is None or not background.options.on_search:
            return
        ended = self._ended
        if not background.watch.flush(seconds):
            self.record_change(None)
        if self.dirty:
            self._stopped = False
            self.request("search")
        self._wait_for_text(seconds, ended)

    def close(self) -> None:
        """Refuse new syncs, cancel the running one and wait some seconds for its end."""
        with self._change:
            self._closed = True
            self._requests.clear()
            cancel_timer, self._cancel_timer = self._cancel_timer, None
            running = self._running
        if running is not None:
            running.token.cancel()
            if running.thread != threading.get_ident():  # a listener may close the service
                running.ended.wait(_CLOSE_SECONDS)
        if self._background is not None:
            self._background.watch.close()
        with self._change:
            if self._worker != threading.get_ident():
                self._change.wait_for(lambda: self._worker is None, _CLOSE_SECONDS)
        if cancel_timer is not None:
            cancel_timer()
        if self._poller is not None:
            self._poller.close()

    def _handle_change(self, transcripts: frozenset[str] | None) -> None:
        self.record_change(transcripts)
        self.request_later(_CHANGES_SECONDS)
        if self._search_waits:
            self._search_waits = False
            self.request("search")
        self._notify()

    def record_change(self, transcripts: frozenset[str] | None) -> None:
        """Record that these transcripts have changed, or any file."""
        with self._change:
            known = self._transcripts
            self._transcripts = None if transcripts is None or known is None else known | transcripts
        self.dirty, self._stopped = True, False

    def _submit(self) -> None:
        assert self._background is not None
        if self._background.threads.start(self._run_scheduled) is None:
            with self._change:
                self._submitted = False

    def _set_due(self, due: float) -> None:
        assert self._background is not None
        with self._change:
            if self._closed:
                return
            before, self._cancel_timer, self._due = self._cancel_timer, None, due
        if before is not None:
            before()
        cancel = self._background.threads.later(max(0.0, due - time.monotonic()), lambda: self._request_due(due))
        with self._change:
            if self._due == due and not self._closed:
                self._cancel_timer = cancel
                return
        cancel()

    def _request_due(self, due: float) -> None:
        with self._change:
            if self._due != due:
                return  # another sync ran meanwhile
            self._due = None
        recent = time.monotonic() < self._last_full_sync + (self._interval() or _WATCHERS_TRUSTED_SECONDS)
        self.request("session-delta" if recent and self._transcripts else "interval")

    def _interval(self) -> float:
        """Return the seconds between regular syncs; 0 if there are none."""
        return 0 if self._background is None else self._background.options.interval_minutes * _SECONDS_PER_MINUTE

    def _run_scheduled(self) -> None:
        """Run one scheduled sync. Each is a separate job, so that other jobs run in between."""
        background = self._background
        assert background is not None
        with self._change:
            if self._closed or not self._requests:
                self._submitted = False
                return
            reason = self._requests.pop(0)
            self._worker = threading.get_ident()
            self._due = None
        try:
            if reason == "search" and (self._stopped or not self.dirty):
                return  # the sync before it was cancelled, or has processed the changes
            report = background.sync(reason)
            joined = report.reason != reason
            if joined and self.dirty and not (report.cancelled or report.error):
                # The sync that was joined had already passed the files that changed since it began.
                background.sync(reason)
        except MnemoscopeError as error:
            log.info("A background sync (%s) did not run: %s", reason, type(error).__name__)
        except Exception:
            log.exception("A background sync (%s) failed", reason)
        finally:
            with self._change:
                self._worker = None
                self._submitted = again = bool(self._requests) and not self._closed
                self._change.notify_all()
            if seconds := self._interval():
                self.request_later(seconds)
            if again:
                self._submit()


class _StatePoller:
    """Calls `changed` whenever the value that `read` returns has changed. Thread-safe."""

    def __init__(self, read: Callable[[], object], changed: Callable[[], None], threads: Threads) -> None:
        self._read = read
        self._changed = changed
        self._threads = threads
        self._lock = threading.RLock()  # `changed` may close the service
        self._closed = False
        self._last: object = None
        self._cancel = threads.later(_STATE_POLL_SECONDS, self._poll)

    def close(self) -> None:
        """Stop, and wait for a poll that is running."""
        with self._lock:
            self._closed = True
            self._cancel()

    def _poll(self) -> None:
        with self._lock:
            if self._closed:
                return
            try:
                state = self._read()
            except MnemoscopeError as error:
                # Work on the index meets the same error and reports it to the user.
                log.debug("The state of the index could not be read: %s", type(error).__name__)
            except Exception:
                log.exception("The state of the index could not be read")
            else:
                last, self._last = self._last, state
                if last is not None and state != last:
                    self._changed()
            if not self._closed:
                self._cancel = self._threads.later(_STATE_POLL_SECONDS, self._poll)
