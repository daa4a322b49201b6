"""The built-in backend: this program's own index behind the contract of `MemorySearchManager`."""

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from engine.backends import background, status
from engine.backends.base import MemorySearchManager, ProgressCallback, StatusListener
from engine.control import CancelToken
from engine.corpus.guard import PathGuard
from engine.corpus.numbered import NumberedText
from engine.embedding.base import EmbeddingProvider
from engine.embedding.registry import Selection, select_provider
from engine.errors import Closed, IndexCorrupt, MnemoscopeError
from engine.records import (
    FileText,
    MemoryProviderStatus,
    MemorySyncProgressUpdate,
    Probe,
    SearchOutcome,
    Source,
    SyncReason,
    SyncReport,
    SyncSummary,
    VectorStatus,
)
from engine.search.filters import Filter, is_shared_session
from engine.search.searcher import Searcher, SearchRequest
from engine.settings import Settings, load_settings
from engine.store.index import IndexStore
from engine.store.location import index_files
from engine.store.user_data import UserData
from engine.store.vectors import VectorIndex
from engine.sync.gate import SyncGate
from engine.sync.parts import SyncParts
from engine.sync.syncer import SyncRun

log = logging.getLogger(__name__)

_RECENT_SYNCS = 30
_CLOSE_SECONDS = 5.0
_EMBEDDING_THREADS = 2


def open_memory(
    workspace: Path | str,
    settings: Settings | None = None,
    *,
    executor: Executor | None = None,
    background: bool = False,
) -> MemorySearchManager:
    """Open the memory of a workspace; creates its index if there is none, but indexes nothing yet.

    `settings` None loads those of the settings file. `executor` runs parallel work; None uses threads of its own.
    `background` starts the watcher and the scheduled syncs, for programs that stay. Raises `SettingsError` and the
    store's errors (`IndexTooNew`, `IndexReadOnly`, `DiskFull`).
    """
    folder = Path(workspace).expanduser()
    return BuiltinMemory(folder, settings or load_settings(folder), executor=executor, background=background)


@dataclass
class _Known:
    """What the running process knows and the index does not. Changed under the memory's lock."""

    dirty: bool = False
    provider_error: str | None = None
    recent: tuple[SyncSummary, ...] = ()
    listeners: list[StatusListener] = field(default_factory=list)


class BuiltinMemory:
    """See `MemorySearchManager` for every method."""

    def __init__(self, workspace: Path, settings: Settings, *, executor: Executor | None, background: bool) -> None:
        self._workspace = workspace.resolve()
        self._settings = settings
        self._executor_given = executor
        self._own_executor: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._store = IndexStore(index_files(self._workspace, settings.store.path))
        try:
            self._user = UserData(self._store.files.user, read_only=bool(self._store.read_only))
        except BaseException:
            self._store.close()
            raise
        self._vectors = VectorIndex(self._store, settings.store.vector)
        self._selection: Selection | None = None
        self._counts = status.IndexCounts(self._store)
        self._gate = SyncGate()
        self._known = _Known(recent=self._user.recent_syncs(_RECENT_SYNCS))
        self._searcher = Searcher(settings, self._store, self._vectors, self._vector_provider)
        self._background = self._start_background() if background else None

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
            self._mend(damage)
            raise IndexCorrupt(self._store.recovered or str(damage)) from damage

    def read_file(self, path: str, *, start: int | None = None, lines: int | None = None) -> FileText:
        try:
            text = self.open_file(path)
        except FileNotFoundError:
            return FileText(path=path, text="", from_line=start or 1, lines=0, truncated=False, next_from=None)
        with text:
            first = max(1, start or 1)
            last = min(text.line_count, first + lines - 1) if lines and lines > 0 else text.line_count
            more = last < text.line_count
            return FileText(
                path=path,
                text=text.text(first, last) if first <= last else "",
                from_line=first,
                lines=max(0, last - first + 1),
                truncated=more,
                next_from=last + 1 if more else None,
            )

    def open_file(self, path: str, *, cancel: CancelToken | None = None) -> NumberedText:
        return NumberedText.open(self.locate(path), cancel)

    def locate(self, path: str) -> Path:
        self._check_open()
        return PathGuard(self._workspace, self._settings).locate(path)

    def status(self) -> MemoryProviderStatus:
        self._check_open()
        selection = self._select()
        counts, error = self._counts.now(selection)
        token = self._gate.current()
        live = status.LiveState(
            dirty=self._known.dirty,
            syncing=self._gate.update(),
            paused=token is not None and token.paused,
            watcher=background.OFF if self._background is None else self._background.watcher_status(),
            recent=self._known.recent,
            vector=self._vector_status(selection, counts.vectors),
            provider_error=self._known.provider_error,
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
            self._tell()

    def warm_session(self, session_key: str) -> None:
        if self._background is not None:
            self._background.session_started(session_key)

    def current_sync(self) -> CancelToken | None:
        return self._gate.current()

    def add_status_listener(self, listener: StatusListener) -> Callable[[], None]:
        def remove() -> None:
            with self._lock:
                if listener in self._known.listeners:
                    self._known.listeners.remove(listener)

        with self._lock:
            self._known.listeners.append(listener)
        return remove

    # --- probes and the end ---------------------------------------------------------------------------------------

    def probe_embedding(self) -> Probe:
        selection = self._select()
        if selection.provider is None:
            return Probe(ok=False, error=selection.unavailable_reason or "No provider: only words are searched.")
        try:
            selection.provider.embed_query("ping")
        except MnemoscopeError as error:
            self._note_provider(str(error))
            return Probe(ok=False, error=str(error))
        self._note_provider(None)
        return Probe(ok=True, error="")

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
        if self._selection is not None and self._selection.provider is not None:
            self._selection.provider.close()
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
            self._tell()

        parts = SyncParts(
            workspace=self._workspace,
            settings=self._settings,
            store=self._store,
            vectors=self._vectors,
            provider=self._vector_provider(),
            executor=self._executor(),
            committed=self._tell,
        )
        # Cleared before the work: a change that comes while it runs makes the index dirty again.
        self._known.dirty = False
        run = SyncRun(parts, reason, tell, token)
        report = run.run(force=force)
        if report.cancelled or report.error:
            self._known.dirty = True
        if isinstance(run.failure, IndexCorrupt):
            self._mend(run.failure)
        self._remember(report)
        return report

    def _remember(self, report: SyncReport) -> None:
        summary = SyncSummary(
            started=report.started,
            seconds=report.seconds,
            reason=report.reason,
            files_indexed=report.files_indexed,
            files_removed=report.files_removed,
            chunks_indexed=report.chunks_indexed,
            vectors_embedded=report.vectors_embedded,
            cancelled=report.cancelled,
            error=report.error,
        )
        self._known.recent = (*self._known.recent, summary)[-_RECENT_SYNCS:]
        try:
            self._user.add_sync(summary)
        except MnemoscopeError as error:
            # A full disk must not turn a sync that did its work into a failure.
            log.warning("The sync could not be noted in the history: %s", type(error).__name__)

    def _sync_if_dirty(self) -> None:
        if self._background is not None and self._settings.sync.on_search and self._known.dirty:
            self._background.request("search")

    def _mend(self, damage: IndexCorrupt) -> None:
        try:
            self._store.mend(damage)
        except MnemoscopeError as error:
            log.warning("The damaged index could not be set aside: %s", error)
            return
        self._known.dirty = True
        if self._background is not None:
            self._background.request("fallback")
        self._tell()

    def _start_background(self) -> background.Background:
        def changed() -> None:
            self._known.dirty = True
            self._tell()

        return background.Background(self._workspace, self._settings, lambda reason: self.sync(reason=reason), changed)

    def _select(self) -> Selection:
        with self._lock:
            if self._selection is None:
                self._selection = select_provider(self._settings)
            return self._selection

    def _vector_provider(self) -> EmbeddingProvider | None:
        """The provider, unless the settings switch the vector half off."""
        return self._select().provider if self._settings.store.vector.enabled else None

    def _executor(self) -> Executor:
        if self._executor_given is not None:
            return self._executor_given
        with self._lock:
            if self._own_executor is None:
                self._own_executor = ThreadPoolExecutor(_EMBEDDING_THREADS, thread_name_prefix="mnemoscope")
            return self._own_executor

    def _vector_status(self, selection: Selection, rows: int) -> VectorStatus:
        wanted = self._settings.store.vector
        provider = selection.provider if wanted.enabled else None
        extension = self._vectors.extension
        return VectorStatus(
            enabled=wanted.enabled,
            available=None if extension is None else extension.available,
            extension_path=None if extension is None else extension.path,
            load_error=None if extension is None else extension.error,
            dims=None if provider is None else provider.dims,
            engine=self._vectors.engine,
            rows=rows,
        )

    def _note_provider(self, error: str | None) -> None:
        self._known.provider_error = error
        self._tell()

    def _tell(self) -> None:
        with self._lock:
            listeners = tuple(self._known.listeners)
        for listener in listeners:
            listener()
