"""The built-in backend: this program's own index behind the contract of `MemorySearchManager`."""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import msgspec

from engine.backends.lifetime import Lifetime
from engine.backends.listeners import Listeners, StatusListener
from engine.backends.provider_slot import ProviderSlot
from engine.backends.requests import make_request
from engine.backends.syncs import Syncs
from engine.backends.threads import Threads
from engine.backends.updates import Updates
from engine.control import CancelToken
from engine.corpus.guard import PathGuard
from engine.embedding.registry import Selection, select_provider, stand_in
from engine.errors import IndexCorrupt
from engine.records import (
    EmbeddingEstimate,
    Feature,
    FileText,
    MemoryProviderStatus,
    Passage,
    PathState,
    Probe,
    SearchOutcome,
    SessionSummary,
    SessionText,
    StoredModelInfo,
    SyncReason,
    SyncReport,
)
from engine.search.searcher import Searcher
from engine.search.work import SearchRequest
from engine.settings import Settings
from engine.store.index import IndexStore
from engine.store.location import usable_index_files
from engine.store.user_data import UserData
from engine.store.vectors import VectorIndex

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from engine.backends.base import ProgressCallback, SearchOptions
    from engine.backends.facts import Facts
    from engine.backends.files import WorkspaceFiles
    from engine.backends.insight import IndexInsight
    from engine.backends.model_library import ModelLibrary
    from engine.backends.session_files import SessionFiles
    from engine.backends.session_library import SessionLibrary
    from engine.backends.sharing import Questions, Share
    from engine.backends.status import IndexCounts
    from engine.backends.staying import Staying
    from engine.corpus.numbered import NumberedText
    from engine.store.kept_searches import KeptSearches
    from engine.store.unseen_notes import UnseenNotes

_CHOICE_SECONDS = 0.5
_CHOOSING = "The keychain is being asked for the API key: unlock it if it asks for its password."


class BuiltinMemory:
    """See `MemorySearchManager` for every method.

    A search on the command line is mostly imports: what it does not need is imported and made when it is first used.
    """

    def __init__(
        self,
        workspace: Path,
        settings: Settings,
        *,
        executor: "Executor | None",
        background: bool,
        share: "Share | None" = None,
    ) -> None:
        """`share`: how another backend shares this index with other machines."""
        self._workspace = workspace.resolve()
        self._settings = settings
        self._lifetime = Lifetime()
        self._store = IndexStore(usable_index_files(self._workspace, settings.store.path))
        try:
            self._user = UserData(self._store.files.user, read_only=bool(self._store.read_only))
        except BaseException:
            self._store.close()
            raise
        self._vectors = VectorIndex(self._store, settings.store.vector)
        self._slot = ProviderSlot(
            lambda cancel: select_provider(settings, cancel=cancel),
            lambda first, reason, cancel: stand_in(settings, first, reason, cancel=cancel),
        )
        self._listeners = Listeners()
        self._threads = Threads(executor)
        self._syncs = Syncs(self._user, self._listeners)
        self._guard = PathGuard(self._workspace, settings)
        shared = None if share is None else share(self._store, self._slot, self._guard, self._listeners)
        self._searcher: Questions = (
            Searcher(settings, self._store, self._vectors, self._slot.provider, self._slot.note, self._guard)
            if shared is None
            else shared.questions
        )
        self._updates = Updates(
            self._workspace,
            settings,
            self._guard,
            self._store,
            self._vectors,
            self._user,
            self._slot,
            self._listeners,
            self._syncs,
            self._threads,
            mended=self._after_mending,
            sharing=None if shared is None else shared.sharing,
        )
        self._staying = self._stay() if background else None

    @property
    def lacks(self) -> Mapping[Feature, str]:
        return {}

    def _stay(self) -> "Staying":
        from engine.backends.staying import Staying

        staying = Staying(
            self._workspace,
            self._settings,
            self._syncs,
            self._listeners,
            lambda reason: self.sync(reason=reason),
            self._sessions.indexed_sizes,
            self._moment,
        )
        if self._updates.batch_jobs.usable and self._updates.batch_jobs.open():
            staying.look_again()
        return staying

    # What these remember can be had anew: two threads may well make them both.

    @cached_property
    def _counts(self) -> "IndexCounts":
        from engine.backends.status import IndexCounts

        return IndexCounts(self._store)

    @cached_property
    def _sessions(self) -> "SessionLibrary":
        from engine.backends.session_library import SessionLibrary

        return SessionLibrary(self._store, self._vectors)

    @cached_property
    def _session_files(self) -> "SessionFiles":
        from engine.backends.session_files import SessionFiles

        return SessionFiles(self._settings, self._sessions.known)

    @cached_property
    def _files(self) -> "WorkspaceFiles":
        from engine.backends.files import WorkspaceFiles

        return WorkspaceFiles(self._guard, self._session_files)

    @cached_property
    def _models(self) -> "ModelLibrary":
        from engine.backends.model_library import ModelLibrary

        return ModelLibrary(
            self._settings,
            self._store,
            self._vectors,
            self._slot,
            self._updates.approvals,
            self._syncs.gate,
            select_provider,
        )

    @cached_property
    def kept_searches(self) -> "KeptSearches":
        from engine.store.kept_searches import KeptSearches

        return KeptSearches(self._user)

    @cached_property
    def facts(self) -> "Facts":
        from engine.backends.facts import Facts

        return Facts(self._user, self._slot.provider, self._slot.note)

    @cached_property
    def unseen_notes(self) -> "UnseenNotes":
        from engine.store.unseen_notes import UnseenNotes

        return UnseenNotes(self._user)

    @cached_property
    def insight(self) -> "IndexInsight":
        from engine.backends.insight import IndexInsight

        return IndexInsight(
            self._workspace,
            self._settings,
            self._store,
            self._vectors,
            self._user,
            self._updates,
            self._selection_to_show,
            self._guard,
            self._searcher.known_vector,
            lambda: self._slot.error,
            lambda: None if self._staying is None else self._staying.watcher_status(),
        )

    # --- asking ---------------------------------------------------------------------------------------------------

    def search(
        self, query: str, *, cancel: CancelToken | None = None, **options: "Unpack[SearchOptions]"
    ) -> SearchOutcome:
        return self._ask(make_request(self._settings.query, query, None, options), options, cancel)

    def search_like(
        self, passage: Passage, *, cancel: CancelToken | None = None, **options: "Unpack[SearchOptions]"
    ) -> SearchOutcome:
        return self._ask(make_request(self._settings.query, "", passage, options), options, cancel)

    def query_values(self, operator: str, start: str) -> tuple[str, ...]:
        self._lifetime.check()
        return self._searcher.query_values(operator, start)

    def read_file(self, path: str, *, start: int | None = None, lines: int | None = None) -> FileText:
        self._lifetime.check()
        return self._files.read_file(path, start=start, lines=lines)

    def open_file(self, path: str, *, cancel: CancelToken | None = None) -> "NumberedText":
        self._lifetime.check()
        return self._files.open_file(path, cancel=cancel)

    def locate(self, path: str) -> Path:
        self._lifetime.check()
        return self._files.locate(path)

    def explain_path(self, path: str, *, config: Path | None = None, cancel: CancelToken | None = None) -> PathState:
        self._lifetime.check()
        from engine.backends.path_states import PathStates  # rarely asked, and not by a search

        states = PathStates(self._workspace, self._settings, self._store)
        return states.explain(path, self._selection_to_show().provider, config, cancel)

    def sessions(self) -> tuple[SessionSummary, ...]:
        self._lifetime.check()
        return self._sessions.all()

    def read_session(self, path: str, *, reveal: bool = False, cancel: CancelToken | None = None) -> SessionText:
        self._lifetime.check()
        return self._session_files.read(path, reveal=reveal, cancel=cancel)

    def raw_message(self, path: str, line: int, *, reveal: bool = False) -> str:
        self._lifetime.check()
        return self._session_files.raw(path, line, reveal=reveal)

    def similar_sessions(self, path: str, *, max_results: int = 10) -> tuple[tuple[SessionSummary, float], ...]:
        self._lifetime.check()
        return self._sessions.similar(path, self._slot.provider(), max_results)

    def status(self) -> MemoryProviderStatus:
        self._lifetime.check()
        from engine.backends import status
        from engine.backends.batch_status import batch_status

        selection = self._selection_to_show()
        counts, error = self._counts.now(selection)
        token = self._syncs.gate.current()
        live = status.LiveState(
            dirty=self._syncs.dirty,
            syncing=self._syncs.gate.update(),
            paused=token is not None and token.paused,
            watcher=status.OFF if self._staying is None else self._staying.watcher_status(),
            recent=self._syncs.recent,
            vectors=self._vectors,
            provider_error=self._slot.error,
            awaiting=self._models.awaiting(counts.awaiting),
            batch=batch_status(
                self._settings.remote.batch,
                selection.provider,
                self._updates.batch_policy,
                self._updates.batch_jobs,
            ),
            user_problem=self._user.problem,
        )
        return status.make_status(self._workspace, self._settings, self._store, selection, counts, live, error)

    # --- syncing --------------------------------------------------------------------------------------------------

    def sync(
        self,
        *,
        reason: SyncReason = "manual",
        force: bool = False,
        progress: "ProgressCallback | None" = None,
        cancel: CancelToken | None = None,
        approve: bool | EmbeddingEstimate = False,
    ) -> SyncReport:
        self._lifetime.check()
        report = self._updates.run(reason, force=force, progress=progress, cancel=cancel, approve=approve)
        if report.batch_jobs and not report.cancelled and self._staying is not None:
            self._staying.look_again()
        return report

    def estimate_embedding(
        self, settings: Settings | None = None, *, cancel: CancelToken | None = None
    ) -> EmbeddingEstimate:
        self._lifetime.check()
        return self._models.estimate(settings, cancel)

    def approve_embedding(self) -> None:
        self._lifetime.check()
        self._models.approve()
        self._listeners.tell()

    def stored_models(self) -> tuple[StoredModelInfo, ...]:
        self._lifetime.check()
        return self._models.stored()

    def purge_model(self, provider: str, model: str, key: str) -> int:
        self._lifetime.check()
        from engine.store.models import ModelName

        gone = self._models.purge(ModelName(provider, model, key))
        self._listeners.tell()
        return gone

    def warm_session(self, session_key: str) -> None:
        if self._staying is not None:
            self._staying.session_started(session_key)

    def current_sync(self) -> CancelToken | None:
        return self._syncs.gate.current()

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
        if not self._lifetime.end():
            return
        self._slot.stop_waiting()
        self._syncs.close()
        if self._staying is not None:
            self._staying.close()
        self._slot.close()
        self._threads.close()
        self._user.close()
        self._store.close()

    # --- inside ---------------------------------------------------------------------------------------------------

    def _selection_to_show(self) -> Selection:
        """A program that stays shows its state while a locked keychain waits for its password; a verb waits, too."""
        if self._staying is None:
            return self._slot.selection
        soon = self._slot.soon(_CHOICE_SECONDS, self._listeners.tell)
        return soon or Selection(None, self._settings.provider, unavailable_reason=_CHOOSING)

    def _ask(self, request: SearchRequest, options: "SearchOptions", cancel: CancelToken | None) -> SearchOutcome:
        self._lifetime.check()
        session_key = options.get("session_key")
        if session_key is not None:
            self.warm_session(session_key)
        if self._staying is not None:
            self._staying.searched()
        try:
            return self._answer(request, cancel)
        except IndexCorrupt as damage:
            if not self._updates.mend(damage):
                return self._answer(request, cancel)
            raise IndexCorrupt(self._store.recovered or str(damage)) from damage

    def _answer(self, request: SearchRequest, cancel: CancelToken | None) -> SearchOutcome:
        outcome = self._searcher.search(request, cancel)
        provider = self._slot.known()
        remote = provider is not None and provider.remote
        return msgspec.structs.replace(outcome, remote=True) if remote else outcome

    def _moment(self) -> object:
        with self._store.read() as snapshot:
            state = snapshot.generation, snapshot.stamp, snapshot.meta("issues"), snapshot.meta("awaiting")
        return state, self._syncs.gate.current() is None and self._store.locked_elsewhere()

    def _after_mending(self) -> None:
        if self._staying is not None:
            self._staying.mended()
        self._listeners.tell()
