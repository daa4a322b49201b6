"""The built-in backend: this program's own index behind the contract of `MemorySearchManager`."""

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Literal

from engine.backends import background, status
from engine.backends.base import ProgressCallback, StatusListener
from engine.backends.files import read_slice
from engine.backends.follower import Follower
from engine.backends.history import SyncHistory
from engine.backends.listeners import Listeners
from engine.backends.provider_slot import ProviderSlot
from engine.backends.session_library import SessionLibrary
from engine.control import CancelToken
from engine.corpus.guard import PathGuard
from engine.corpus.numbered import NumberedText
from engine.embedding.registry import select_provider
from engine.errors import Closed, IndexCorrupt, MnemoscopeError, PathRefused, ProviderError
from engine.records import (
    FileText,
    MemoryProviderStatus,
    MemorySyncProgressUpdate,
    Probe,
    SearchOutcome,
    SessionSummary,
    SessionText,
    Source,
    SyncReason,
    SyncReport,
)
from engine.search.filters import Filter, is_shared_session
from engine.search.searcher import Searcher, SearchRequest
from engine.settings import Settings
from engine.store.index import IndexStore
from engine.store.location import usable_index_files
from engine.store.user_data import UserData
from engine.store.vectors import VectorIndex
from engine.sync.gate import SyncGate
from engine.sync.parts import SyncParts
from engine.sync.syncer import SyncRun

log = logging.getLogger(__name__)

_CLOSE_SECONDS = 5.0
_EMBEDDING_THREADS = 4


class BuiltinMemory:
    """See `MemorySearchManager` for every method."""

    def __init__(self, workspace: Path, settings: Settings, *, executor: Executor | None, background: bool) -> None:
        self._workspace = workspace.resolve()
        self._settings = settings
        self._executor_given = executor
        self._own_executor: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._store = IndexStore(usable_index_files(self._workspace, settings.store.path))
        try:
            self._user = UserData(self._store.files.user, read_only=bool(self._store.read_only))
        except BaseException:
            self._store.close()
            raise
        self._vectors = VectorIndex(self._store, settings.store.vector)
        self._slot = ProviderSlot(lambda: select_provider(settings))
        self._counts = status.IndexCounts(self._store)
        self._gate = SyncGate()
        self._history = SyncHistory(self._user)
        self._listeners = Listeners()
        # A program that stays has not seen what changed while it was away.
        self._dirty = background
        self._sessions = SessionLibrary(settings, self._store, self._vectors)
        self._guard = PathGuard(self._workspace, settings)
        self._searcher = Searcher(
            settings, self._store, self._vectors, self._slot.provider, self._slot.note, self._guard
        )
        self._background = self._start_background() if background else None
        self._follower = Follower(self._moment, self._listeners.tell) if background else None

    # --- asking ---------------------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        sources: Sequence[Source] | None = None,
        path_glob: str | None = None,
        since: float | None = None,
        until: float | None = None,
        session_key: str | None = None,
        explain: bool = False,
        cancel: CancelToken | None = None,
        mode: Literal["auto", "keyword"] = "auto",
    ) -> SearchOutcome:
        self._check_open()
        defaults = self._settings.query
        if session_key is not None:
            self.warm_session(session_key)
        request = SearchRequest(
            query=query,
            max_results=defaults.max_results if max_results is None else max(1, max_results),
            min_score=defaults.min_score if min_score is None else min_score,
            filter=Filter(sources, path_glob, since, until, is_shared_session(session_key)),
            keyword_only=mode == "keyword",
            explain=explain,
        )
        self._sync_if_dirty()
        try:
            return self._searcher.search(request, cancel)
        except IndexCorrupt as damage:
            if not self._mend(damage):
                return self._searcher.search(request, cancel)
            raise IndexCorrupt(self._store.recovered or str(damage)) from damage

    def read_file(self, path: str, *, start: int | None = None, lines: int | None = None) -> FileText:
        try:
            if self._sessions.holds(path):
                self._check_open()
                return self._sessions.read_file(path, start=start, lines=lines)
            text = self.open_file(path)
        except FileNotFoundError:
            return FileText(path=path, text="", from_line=start or 1, lines=0, truncated=False, next_from=None)
        with text:
            return read_slice(text, path, start, lines)

    def open_file(self, path: str, *, cancel: CancelToken | None = None) -> NumberedText:
        if self._sessions.holds(path):
            raise PathRefused  # as it is on disk a transcript shows secrets
        return NumberedText.open(self.locate(path), cancel)

    def locate(self, path: str) -> Path:
        self._check_open()
        if self._sessions.holds(path):
            return self._sessions.locate(path)
        return self._guard.locate(path)

    def sessions(self) -> tuple[SessionSummary, ...]:
        self._check_open()
        return self._sessions.all()

    def read_session(self, path: str, *, reveal: bool = False, cancel: CancelToken | None = None) -> SessionText:
        self._check_open()
        return self._sessions.read(path, reveal=reveal, cancel=cancel)

    def raw_message(self, path: str, line: int) -> str:
        self._check_open()
        return self._sessions.raw(path, line)

    def similar_sessions(self, path: str, *, max_results: int = 10) -> tuple[tuple[SessionSummary, float], ...]:
        self._check_open()
        return self._sessions.similar(path, self._slot.provider(), max_results)

    def status(self) -> MemoryProviderStatus:
        self._check_open()
        selection = self._slot.selection
        counts, error = self._counts.now(selection)
        token = self._gate.current()
        live = status.LiveState(
            dirty=self._dirty,
            syncing=self._gate.update(),
            paused=token is not None and token.paused,
            watcher=background.OFF if self._background is None else self._background.watcher_status(),
            recent=self._history.recent,
            vectors=self._vectors,
            provider_error=self._slot.error,
            user_problem=self._user.problem,
        )
        return status.make_status(self._workspace, self._settings, self._store, selection, counts, live, error)

    # --- syncing --------------------------------------------------------------------------------------------------

    def sync(
        self,
        *,
        reason: SyncReason = "manual",
        force: bool = False,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
    ) -> SyncReport:
        def start(listener: ProgressCallback, token: CancelToken) -> SyncReport:
            return self._sync_once(reason, force, listener, token)

        self._check_open()
        try:
            return self._gate.run(start, force=force, progress=progress, cancel=cancel)
        finally:
            self._listeners.tell()

    def warm_session(self, session_key: str) -> None:
        if self._background is not None:
            self._background.session_started(session_key)

    def current_sync(self) -> CancelToken | None:
        return self._gate.current()

    def add_status_listener(self, listener: StatusListener) -> Callable[[], None]:
        return self._listeners.add(listener)

    # --- probes and the end ---------------------------------------------------------------------------------------

    def probe_embedding(self) -> Probe:
        probe = self._slot.probe()
        self._listeners.tell()
        return probe

    def probe_vector(self) -> Probe:
        return self._vectors.probe()

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._gate.close(_CLOSE_SECONDS)
        if self._background is not None:
            self._background.close()
        if self._follower is not None:
            self._follower.close()
        self._slot.close()
        if self._own_executor is not None:
            self._own_executor.shutdown(wait=True, cancel_futures=True)
        self._user.close()
        self._store.close()

    # --- inside ---------------------------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self._closed:
            raise Closed

    def _sync_once(self, reason: SyncReason, force: bool, listener: ProgressCallback, token: CancelToken) -> SyncReport:
        def tell(update: MemorySyncProgressUpdate) -> None:
            listener(update)
            self._listeners.tell()

        parts = SyncParts(
            workspace=self._workspace,
            settings=self._settings,
            rules=self._guard.rules,
            store=self._store,
            vectors=self._vectors,
            provider=self._slot.provider(),
            executor=self._executor(),
            committed=self._listeners.tell,
            take_changes=self._take_changes,
        )
        # Cleared before the work: a change that comes while it runs makes the index dirty again.
        self._dirty = False
        run = SyncRun(parts, reason, tell, token)
        report = run.run(force=force)
        if report.cancelled or report.error:
            self._dirty = True
        else:
            self._store.recovered = ""  # all that was lost is there again
        if isinstance(run.failure, IndexCorrupt):
            self._mend(run.failure)
        if isinstance(run.failure, ProviderError):
            self._slot.note(str(run.failure))
        elif report.vectors_embedded:
            self._slot.note(None)
        self._history.add(report)
        return report

    def _take_changes(self) -> bool:
        dirty, self._dirty = self._dirty, False
        return dirty

    def _sync_if_dirty(self) -> None:
        if self._background is not None and self._settings.sync.on_search and self._dirty:
            self._background.request("search")

    def _mend(self, damage: IndexCorrupt) -> bool:
        """Replace the index if it is damaged; False when it is sound."""
        try:
            if not self._store.mend(damage):
                return False
        except MnemoscopeError as error:
            log.warning("The damaged index could not be set aside: %s", error)
            return True
        self._dirty = True
        if self._background is not None:
            self._background.request("fallback")
        self._listeners.tell()
        return True

    def _moment(self) -> object:
        """What differs after another process has worked on the index, or begun to, or ended."""
        with self._store.read() as snapshot:
            state = snapshot.generation, snapshot.stamp, snapshot.meta("issues")
        return state, self._gate.current() is None and self._store.locked_elsewhere()

    def _start_background(self) -> background.Background:
        def changed() -> None:
            self._dirty = True
            self._listeners.tell()

        def run(reason: SyncReason) -> None:
            report = self.sync(reason=reason)
            joined = report.reason != reason
            if joined and self._dirty and not (report.cancelled or report.error):
                # The sync that was joined was already past what changed since it began.
                self.sync(reason=reason)

        return background.Background(self._workspace, self._settings, run, changed, self._sessions.indexed_sizes)

    def _executor(self) -> Executor:
        if self._executor_given is not None:
            return self._executor_given
        with self._lock:
            if self._own_executor is None:
                self._own_executor = ThreadPoolExecutor(_EMBEDDING_THREADS, thread_name_prefix="mnemoscope")
            return self._own_executor
