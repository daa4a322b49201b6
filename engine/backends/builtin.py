"""The built-in backend: this program's own index behind the contract of `MemorySearchManager`."""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import IndexCorrupt
from engine.base.language import marked, tr
from engine.corpus.path_guard import PathGuard
from engine.embedding.provider_selection import Selection, select_provider, use_fallback
from engine.memory.active_provider import ActiveProvider
from engine.memory.executor import BackgroundExecutor, IdleTimer, Lifetime, Listeners, StatusListener
from engine.records import FileText, Passage, SearchOutcome
from engine.settings import Settings
from engine.settings.settings_section import with_query_settings
from engine.store.index import IndexStore
from engine.store.index_paths import usable_index_files
from engine.store.vectors import VectorIndex

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from engine.corpus.line_reader import NumberedText
    from engine.indexing.sync_scheduler import IndexingService
    from engine.memory.embedding_models import ModelLibrary
    from engine.memory.facts import Facts
    from engine.memory.file_reading import SessionFiles, WorkspaceFiles
    from engine.memory.index_inspection import IndexInsight
    from engine.memory.index_updates import IndexUpdates
    from engine.memory.memory_context import IndexOverride, MemoryContext, QueryAnswerer
    from engine.memory.path_explanation import PathStates
    from engine.memory.search_requests import SearchOptions
    from engine.memory.session_library import SessionLibrary
    from engine.memory.status_report import IndexCounts
    from engine.records import (
        EmbeddingEstimate,
        Feature,
        MemoryProviderStatus,
        PathState,
        Probe,
        SessionSummary,
        SessionText,
        StoredModelInfo,
        SyncReason,
        SyncReport,
    )
    from engine.records.sync import ProgressCallback
    from engine.search.search_context import SearchRequest
    from engine.store.saved_searches import SavedSearches
    from engine.store.user_data import UnseenNotes, UserData
    from engine.store.vector_encoding import Vectors

# --- Parts that are made when they are first used, and the status ----------------------------------------------------
# A search on the command line needs none of them, and spends most of its time on imports.

_CHOICE_SECONDS = 0.5
_IDLE_SECONDS = 30.0
"""Seconds without a search after which page caches are freed, 16 MB with 100,000 passages; filling them takes 5 ms."""
_CHOOSING = marked("Waiting for the keychain with the API key: unlock it if it asks for its password.")
_LOADING = marked("The model is still being loaded.")


class BuiltinParts:
    """Creates the parts of one open workspace on first use. Two threads may create one twice, which is harmless."""

    def __init__(
        self, context: "MemoryContext", updates: "IndexUpdates", answerer: "Callable[[], QueryAnswerer]"
    ) -> None:
        self.context = context
        self.updates = updates
        self._answerer = answerer

    @cached_property
    def sessions(self) -> "SessionLibrary":
        from engine.memory.session_library import SessionLibrary

        return SessionLibrary(self.context.store, self.context.vectors)

    @cached_property
    def session_files(self) -> "SessionFiles":
        from engine.memory.file_reading import SessionFiles

        return SessionFiles(self.context.settings, self.sessions.summary)

    @cached_property
    def files(self) -> "WorkspaceFiles":
        from engine.memory.file_reading import WorkspaceFiles

        return WorkspaceFiles(self.context.guard, self.session_files)

    @property
    def path_states(self) -> "PathStates":
        from engine.memory.path_explanation import PathStates

        return PathStates(self.context.workspace, self.context.settings, self.context.store)

    @cached_property
    def models(self) -> "ModelLibrary":
        from engine.memory.embedding_models import ModelLibrary

        return ModelLibrary(self.context, self.updates.approvals, select_provider)

    @cached_property
    def saved_searches(self) -> "SavedSearches":
        from engine.store.saved_searches import SavedSearches

        return SavedSearches(self.context.user_data)

    @cached_property
    def facts(self) -> "Facts":
        from engine.memory.facts import Facts

        return Facts(self.context.user_data, self.context.provider.provider, self.context.provider.report_failure)

    @cached_property
    def unseen_notes(self) -> "UnseenNotes":
        from engine.store.user_data import UnseenNotes

        return UnseenNotes(self.context.user_data)

    @cached_property
    def insight(self) -> "IndexInsight":
        from engine.memory.index_inspection import IndexInsight

        return IndexInsight(self.context, self.updates, self.selection_to_show, self._cached_vector)

    def _cached_vector(self, query: str) -> "Vectors | None":
        return self._answerer().cached_vector(query)  # loads the modules of a search, on the caller's thread

    def start_background(self, sync: "Callable[[SyncReason], SyncReport]") -> None:
        """Start the watcher and the scheduled syncs, which call `sync`."""
        from engine.indexing.folder_watch import FolderWatch
        from engine.indexing.sync_scheduler import BackgroundSync

        settings, threads = self.context.settings, self.context.threads
        watch = FolderWatch(self.context.workspace, settings, self.sessions.indexed_sizes, threads.start)
        background = BackgroundSync(sync, settings.sync, threads, self._index_state, watch)
        self.context.indexing.start_background(background)
        if self.updates.batch_jobs.usable and self.updates.batch_jobs.open():
            self.context.indexing.poll_batch_jobs()

    def _index_state(self) -> object:
        with self.context.store.read() as snapshot:
            state = snapshot.generation, snapshot.stamp, snapshot.meta("issues"), snapshot.meta("awaiting")
        elsewhere = self.context.indexing.current() is None and self.context.store.locked_elsewhere()
        return state, elsewhere, self.context.user_data.problem

    # --- announcements --------------------------------------------------------------------------------------------

    @cached_property
    def _counts(self) -> "IndexCounts":
        from engine.memory.status_report import IndexCounts

        return IndexCounts(self.context.store, self.context.vectors)

    def selection_to_show(self) -> Selection:
        """Return the provider for the status; only a command waits for a locked keychain or a slow model."""
        if self.context.indexing.watcher_status() is None:
            return self.context.provider.selection
        selection = self.context.provider.selection_within(_CHOICE_SECONDS, self.context.listeners.notify)
        why = _LOADING if self.context.settings.provider in ("embedded", "gguf") else _CHOOSING
        return selection or Selection(None, self.context.settings.provider, unavailable_reason=tr(why))

    def status(self, settings: Settings) -> "MemoryProviderStatus":
        """Return the status, see `MemorySearchManager.status`. `settings`: the settings in use for queries."""
        from engine.memory import status_report
        from engine.memory.status_report import batch_status, with_degraded
        from engine.records import WatcherStatus

        selection = self.selection_to_show()
        progress = self.context.indexing.progress()
        counts = self._counts.current(selection, syncing=progress is not None)
        token = self.context.indexing.current()
        live = status_report.LiveState(
            dirty=self.context.indexing.dirty,
            syncing=progress,
            paused=token is not None and token.paused,
            watcher=self.context.indexing.watcher_status() or WatcherStatus(),
            recent=self.context.indexing.recent,
            vectors=self.context.vectors,
            provider_error=self.context.provider.error,
            awaiting=self.models.awaiting(counts.awaiting),
            batch=batch_status(
                self.context.settings.remote.batch,
                selection.provider,
                self.updates.batch_policy,
                self.updates.batch_jobs,
            ),
            user_data=self.context.user_data.status(),
        )
        made = status_report.make_status(self.context.workspace, settings, self.context.store, selection, counts, live)
        return with_degraded(made)


# ---------------------------------------------------------------------------------------------------------------------


class BuiltinMemory:
    """The memory with the built-in index. `MemorySearchManager` documents its methods; searches don't need `_parts`."""

    def __init__(self, workspace: Path, settings: Settings, *, executor: "Executor | None", background: bool) -> None:
        self._workspace = workspace.resolve()
        self._settings = self._opened_with = settings
        self._lifetime = Lifetime()
        self.store = IndexStore(usable_index_files(self._workspace, settings.store.path))
        self.vectors = VectorIndex(self.store, settings.store.vector)
        self._threads = BackgroundExecutor(executor)
        self._idle = IdleTimer(self._threads, _IDLE_SECONDS, self.store.free_memory)
        self._provider = ActiveProvider(
            lambda cancel: select_provider(settings, cancel=cancel),
            lambda first, reason, cancel: use_fallback(settings, first, reason, cancel=cancel),
            self._threads,
        )
        self._listeners = Listeners()
        self._guard = PathGuard(self._workspace, settings)
        self._override = self._shared()
        self._creating = threading.Lock()
        self._answerer: QueryAnswerer | None = None if self._override is None else self._override.answerer
        self._made_parts: BuiltinParts | None = None
        self._last_query = ""
        self._watches = background
        if background:
            try:
                self._parts.start_background(lambda reason: self.sync(reason=reason))
            except BaseException:
                self.close()
                raise

    @property
    def _parts(self) -> BuiltinParts:
        """Everything but searches; opens the user's data on first use, and raises its errors."""
        with self._creating:
            if self._made_parts is None:
                self._lifetime.check()
                self._made_parts = self._make_parts()
            return self._made_parts

    def _make_parts(self) -> BuiltinParts:
        from engine.indexing.sync_scheduler import IndexingService
        from engine.memory.index_updates import IndexUpdates
        from engine.memory.memory_context import MemoryContext
        from engine.store.user_data import UserData

        user_data = UserData(self.store.files.user)
        indexing = IndexingService(user_data, self._listeners.notify)
        indexing.latest_query = self._last_query
        context = MemoryContext(
            workspace=self._workspace,
            settings=self._opened_with,
            store=self.store,
            vectors=self.vectors,
            user_data=user_data,
            provider=self._provider,
            guard=self._guard,
            listeners=self._listeners,
            indexing=indexing,
            threads=self._threads,
        )
        sharing = None if self._override is None else self._override.sharing
        updates = IndexUpdates(context, on_repaired=self._after_repair, sharing=sharing)
        return BuiltinParts(context, updates, self._searcher)

    def _shared(self) -> "IndexOverride | None":
        """Return the parts by which a subclass shares the index with other machines; None to share nothing."""
        return None

    @property
    def unsupported(self) -> "Mapping[Feature, str]":
        return {}

    @property
    def saved_searches(self) -> "SavedSearches":
        return self._parts.saved_searches

    @property
    def user_data(self) -> "UserData":
        return self._parts.context.user_data

    @property
    def indexing(self) -> "IndexingService":
        return self._parts.context.indexing

    @property
    def facts(self) -> "Facts":
        return self._parts.facts

    @property
    def unseen_notes(self) -> "UnseenNotes":
        return self._parts.unseen_notes

    @property
    def insight(self) -> "IndexInsight":
        return self._parts.insight

    # --- queries --------------------------------------------------------------------------------------------------

    def search(
        self, query: str, *, cancel: CancelToken | None = None, **options: "Unpack[SearchOptions]"
    ) -> SearchOutcome:
        return self._search(query, None, options, cancel)

    def search_like(
        self, passage: Passage, *, cancel: CancelToken | None = None, **options: "Unpack[SearchOptions]"
    ) -> SearchOutcome:
        return self._search("", passage, options, cancel)

    def apply_query_settings(self, settings: Settings) -> None:
        self._lifetime.check()
        with self._creating:
            self._settings = with_query_settings(self._settings, settings)
            if self._answerer is not None:
                self._answerer.set_cache_settings(settings.query.cache)
        self._listeners.notify()

    def query_values(self, operator: str, start: str) -> tuple[str, ...]:
        self._lifetime.check()
        return self._searcher().query_values(operator, start)

    def read_file(self, path: str, *, start: int | None = None, lines: int | None = None) -> FileText:
        self._lifetime.check()
        return self._parts.files.read_file(path, start=start, lines=lines)

    def open_file(self, path: str, *, cancel: CancelToken | None = None) -> "NumberedText":
        self._lifetime.check()
        return self._parts.files.open_file(path, cancel=cancel)

    def locate(self, path: str) -> Path:
        self._lifetime.check()
        return self._parts.files.locate(path)

    def explain_path(self, path: str, *, config: Path | None = None, cancel: CancelToken | None = None) -> "PathState":
        self._lifetime.check()
        return self._parts.path_states.explain(path, self._parts.selection_to_show().provider, config, cancel)

    def sessions(self) -> "tuple[SessionSummary, ...]":
        self._lifetime.check()
        return self._parts.sessions.all()

    def read_session(self, path: str, *, reveal: bool = False, cancel: CancelToken | None = None) -> "SessionText":
        self._lifetime.check()
        return self._parts.session_files.read(path, reveal=reveal, cancel=cancel)

    def raw_lines(
        self, path: str, lines: Sequence[int], *, reveal: bool = False, cancel: CancelToken | None = None
    ) -> tuple[str, ...]:
        self._lifetime.check()
        return self._parts.session_files.raw(path, lines, reveal=reveal, cancel=cancel)

    def session_image(
        self, path: str, message: int, number: int, *, cancel: CancelToken | None = None
    ) -> tuple[bytes, str] | None:
        self._lifetime.check()
        return self._parts.session_files.image(path, message, number, cancel)

    def similar_sessions(self, path: str, *, max_results: int = 10) -> "tuple[tuple[SessionSummary, float], ...]":
        self._lifetime.check()
        return self._parts.sessions.similar(path, self._provider.provider(), max_results)

    def status(self) -> "MemoryProviderStatus":
        self._lifetime.check()
        return self._parts.status(self._settings)

    # --- syncing --------------------------------------------------------------------------------------------------

    def sync(
        self,
        *,
        reason: "SyncReason" = "manual",
        force: bool = False,
        progress: "ProgressCallback | None" = None,
        cancel: CancelToken | None = None,
        approve: "bool | EmbeddingEstimate" = False,
    ) -> "SyncReport":
        self._lifetime.check()
        report = self._parts.updates.run(reason, force=force, progress=progress, cancel=cancel, approve=approve)
        if report.batch_jobs and not report.cancelled:
            self.indexing.poll_batch_jobs()
        return report

    def estimate_embedding(
        self, settings: Settings | None = None, *, cancel: CancelToken | None = None
    ) -> "EmbeddingEstimate":
        self._lifetime.check()
        return self._parts.models.estimate(settings, cancel)

    def stored_models(self) -> "tuple[StoredModelInfo, ...]":
        self._lifetime.check()
        return self._parts.models.stored()

    def purge_model(self, provider: str, model: str, key: str) -> int:
        self._lifetime.check()
        from engine.store.stored_models import ModelName

        gone = self._parts.models.purge(ModelName(provider, model, key))
        self._listeners.notify()
        return gone

    def warm_session(self, session_key: str) -> None:
        if self._made_parts is not None:
            self.indexing.session_started(session_key)

    def catch_up(self, seconds: float) -> None:
        self._lifetime.check()
        self.indexing.catch_up(seconds)

    def current_sync(self) -> CancelToken | None:
        return None if self._made_parts is None else self.indexing.current()

    def add_status_listener(self, listener: StatusListener) -> Callable[[], None]:
        return self._listeners.add(listener)

    # --- probes and closing ---------------------------------------------------------------------------------------

    def probe_embedding(self) -> "Probe":
        probe = self._provider.probe()
        self._listeners.notify()
        return probe

    def probe_vector(self) -> "Probe":
        return self.vectors.probe()

    def close(self) -> None:
        if not self._lifetime.end():
            return
        self._provider.stop_waiting()
        with self._creating:  # parts that another thread is making are closed, too
            parts = self._made_parts
        if parts is not None:
            parts.context.indexing.close()
        self._provider.close()
        self._threads.close()
        if parts is not None:
            parts.context.user_data.close()
        self.store.close()

    # --- internals ------------------------------------------------------------------------------------------------

    def _searcher(self) -> "QueryAnswerer":
        """The searcher, created on first use."""
        from engine.search.search_context import SearchSources  # a sync must not wait for the modules of a search
        from engine.search.searcher import Searcher

        with self._creating:
            if self._answerer is None:
                unavailable, settings = self._provider.unavailable, self._settings
                sources = SearchSources(self.store, self.vectors, unavailable=unavailable, settings=settings)
                cache = settings.query.cache
                self._answerer = Searcher(
                    cache, sources, self._provider.provider, self._provider.report_failure, self._guard
                )
            return self._answerer

    def _search(
        self, query: str, like: Passage | None, options: "SearchOptions", cancel: CancelToken | None
    ) -> SearchOutcome:
        from engine.memory.search_requests import make_request

        request = make_request(self._settings.query, query, like, options)
        self._lifetime.check()
        session_key = options.get("session_key")
        if session_key is not None:
            self.warm_session(session_key)
        self._last_query = query
        if self._made_parts is not None:
            self.indexing.searched(query)
        if self._watches:
            self._idle.record_use()
        try:
            return self._answer(request, options, cancel)
        except IndexCorrupt as damage:
            if not self._parts.updates.repair(damage):
                return self._answer(request, options, cancel)
            raise IndexCorrupt(self.store.recovered or str(damage)) from damage

    def _answer(self, request: "SearchRequest", options: "SearchOptions", cancel: CancelToken | None) -> SearchOutcome:
        from engine.memory.search_requests import with_outdated_notice

        provider = self._provider.selected()
        remote = provider is not None and provider.remote
        on_keywords = options.get("on_keywords")

        def with_remote(outcome: SearchOutcome) -> SearchOutcome:
            return msgspec.structs.replace(outcome, remote=True) if remote else outcome

        first = None if on_keywords is None else lambda outcome: on_keywords(with_remote(outcome))
        outcome = self._searcher().search(request, cancel, first)
        if not self._watches:
            outcome = with_outdated_notice(outcome, self._guard)
        if self._made_parts is not None:
            self.indexing.latest_results = outcome.results
        return with_remote(outcome)

    def _after_repair(self) -> None:
        self.indexing.request("fallback")
        self._listeners.notify()
