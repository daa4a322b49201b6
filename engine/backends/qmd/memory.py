"""The memory whose index the command `qmd` maintains."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Unpack

import msgspec

from engine.backends.qmd.collections import with_paths
from engine.backends.qmd.command import QmdCommand, QmdError
from engine.backends.qmd.index_maintenance import QmdIndexFile
from engine.backends.qmd.query_runner import QueryRunner
from engine.backends.qmd.search import QmdSearch, ResultMapper
from engine.backends.qmd.session_exports import SessionExports
from engine.backends.qmd.status import (
    NO_SESSIONS,
    qmd_status,
    refusal,
    unsupported,
    unsupported_features,
    why_keywords_only,
)
from engine.backends.qmd.sync import QmdSync
from engine.base.cancellation import CancelToken
from engine.base.errors import PathRefused, Unsupported
from engine.base.language import tr
from engine.corpus.path_guard import PathGuard
from engine.embedding.provider_selection import select_provider, use_fallback
from engine.indexing.sync_scheduler import BackgroundSync, IndexingService
from engine.memory.active_provider import ActiveProvider
from engine.memory.executor import BackgroundExecutor, Lifetime, Listeners, StatusListener
from engine.memory.file_reading import SessionFiles, WorkspaceFiles
from engine.memory.search_requests import empty_outcome
from engine.memory.session_library import summary_of
from engine.memory.status_report import with_degraded
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
from engine.settings import Settings
from engine.settings.backend_settings import QmdSettings
from engine.settings.settings_section import with_query_settings
from engine.store.user_data import open_user_data

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from engine.corpus.line_reader import NumberedText
    from engine.memory.facts import Facts
    from engine.memory.search_requests import SearchOptions
    from engine.records.sync import ProgressCallback
    from engine.store.saved_searches import SavedSearches
    from engine.store.user_data import UnseenNotes

# --- Probes of semantic search with `qmd` ----------------------------------------------------------------------------


def probe_models(command: QmdCommand, settings: QmdSettings, why_keywords_only: str) -> Probe:
    """Test qmd's models with one search, unless they can't be used."""
    if settings.search_mode == "search":
        why_keywords_only = tr(
            "qmd searches by words only. To search by meaning, set qmd.search_mode to query or vsearch."
        )
    if why_keywords_only:
        return Probe(ok=False, error=why_keywords_only)
    try:
        seconds = settings.limits.timeout_ms / 1000
        command.run(["vsearch"], options=["--json", "-n", "1"], operand="memory", seconds=seconds)
    except QmdError as error:
        return Probe(ok=False, error=str(error))
    return Probe(ok=True, error="")


def probe_sqlite_vec(command: QmdCommand, settings: QmdSettings) -> Probe:
    """Report whether `qmd` can load sqlite-vec, which its error output says."""
    try:
        errors = command.run(["status"], seconds=settings.command_timeout_seconds).errors
    except QmdError as error:
        return Probe(ok=False, error=str(error))
    line = next((line.strip() for line in errors.splitlines() if "sqlite-vec" in line), "")
    return Probe(ok=not line, error=line)


# ---------------------------------------------------------------------------------------------------------------------


class QmdMemory:
    """The memory that searches with the command `qmd`; `MemorySearchManager` documents its methods."""

    def __init__(self, workspace: Path, settings: Settings, *, executor: "Executor | None", background: bool) -> None:
        """`executor` runs background work; the rest is done by processes."""
        self._workspace = workspace.resolve()
        self._settings = settings = with_paths(settings)
        self._lifetime = Lifetime()
        self._threads = BackgroundExecutor(executor)
        self._index_files, self.user_data = open_user_data(self._workspace, settings)
        self._listeners = Listeners()
        self._indexing = IndexingService(self.user_data, self._listeners.notify, "qmd")
        self._guard = PathGuard(self._workspace, settings)
        self._command = QmdCommand(settings.qmd.command, self._index_files.folder / "qmd")
        self._index = QmdIndexFile(self._command.database)
        self._exports = SessionExports(self._command.folder / "sessions", self._workspace, self._index_files, settings)
        with_sessions = settings.qmd.sessions.enabled and bool(settings.sessions.folders)
        self._sync = QmdSync(
            self._workspace,
            settings,
            self._command,
            self._index,
            self._exports if with_sessions else None,
            self._listeners.notify,
        )
        self._session_files = SessionFiles(settings, self._session_summary)
        self._files = WorkspaceFiles(self._guard, self._session_files)
        maintenance = self._sync.maintenance
        runner = QueryRunner(
            self._command,
            settings,
            lambda: why_keywords_only(self._sync, self._index.counts()),
            maintenance.restore,
            self._index.moment,
        )
        mapper = ResultMapper(settings, self._guard, self._exports)
        self._qmd_search = QmdSearch(settings, self._command, maintenance, runner, mapper)
        if background:
            self._start_background()

    @property
    def unsupported(self) -> Mapping[Feature, str]:
        return unsupported_features(sessions=self._settings.qmd.sessions.enabled)

    def _start_background(self) -> None:
        from engine.indexing.folder_watch import FolderWatch

        options = self._settings.sync
        minutes = options.interval_minutes or self._settings.qmd.update_minutes
        self._indexing.start_background(
            BackgroundSync(
                lambda reason: self.sync(reason=reason),
                msgspec.structs.replace(options, interval_minutes=minutes),
                self._threads,
                lambda: (self._index.moment(), self._sync.lock.held_elsewhere(), self.user_data.problem),
                FolderWatch(self._workspace, self._settings, self._exports.indexed_sizes, self._threads.start),
            )
        )

    @cached_property
    def saved_searches(self) -> "SavedSearches":
        from engine.store.saved_searches import SavedSearches

        return SavedSearches(self.user_data)

    @cached_property
    def unseen_notes(self) -> "UnseenNotes":
        from engine.store.user_data import UnseenNotes

        return UnseenNotes(self.user_data)

    @cached_property
    def facts(self) -> "Facts":
        from engine.memory.facts import Facts

        return Facts(self.user_data, self._fact_provider.provider, self._fact_provider.report_failure)

    @cached_property
    def _fact_provider(self) -> ActiveProvider:
        """The provider that embeds facts, independent of `qmd`."""
        settings = self._settings
        return ActiveProvider(
            lambda cancel: select_provider(settings, cancel=cancel),
            lambda first, reason, cancel: use_fallback(settings, first, reason, cancel=cancel),
            self._threads,
        )

    @property
    def insight(self) -> None:
        return None

    # --- queries --------------------------------------------------------------------------------------------------

    def search(
        self, query: str, *, cancel: CancelToken | None = None, **options: "Unpack[SearchOptions]"
    ) -> SearchOutcome:
        self._lifetime.check()
        session_key = options.get("session_key")
        if refused := refusal(self._settings.qmd.scope, session_key):
            return empty_outcome("qmd", refused)
        if session_key is not None:
            self.warm_session(session_key)
        self._indexing.searched(query)
        return self._qmd_search.search(query, options, cancel)

    def search_like(
        self, passage: Passage, *, cancel: CancelToken | None = None, **options: "Unpack[SearchOptions]"
    ) -> SearchOutcome:
        self._capabilities("similar")

    def apply_query_settings(self, settings: Settings) -> None:
        self._lifetime.check()
        self._settings = with_query_settings(self._settings, settings)
        self._qmd_search.apply_query_settings(self._settings)
        self._listeners.notify()

    def query_values(self, operator: str, start: str) -> tuple[str, ...]:
        self._capabilities("completion")

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
        self._capabilities("path-states")

    def sessions(self) -> tuple[SessionSummary, ...]:
        self._check_sessions()
        return tuple(summary_of(session.known) for session in self._exports.all())

    def read_session(self, path: str, *, reveal: bool = False, cancel: CancelToken | None = None) -> SessionText:
        self._check_sessions()
        return self._session_files.read(path, reveal=reveal, cancel=cancel)

    def raw_lines(
        self, path: str, lines: Sequence[int], *, reveal: bool = False, cancel: CancelToken | None = None
    ) -> tuple[str, ...]:
        self._check_sessions()
        return self._session_files.raw(path, lines, reveal=reveal, cancel=cancel)

    def session_image(
        self, path: str, message: int, number: int, *, cancel: CancelToken | None = None
    ) -> tuple[bytes, str] | None:
        self._check_sessions()
        return self._session_files.image(path, message, number, cancel)

    def similar_sessions(self, path: str, *, max_results: int = 10) -> tuple[tuple[SessionSummary, float], ...]:
        self._capabilities("similar")

    def status(self) -> MemoryProviderStatus:
        self._lifetime.check()
        return with_degraded(qmd_status(self._sync, self._indexing, self._index_files, self.user_data))

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

        def work(listener: "ProgressCallback", token: CancelToken) -> SyncReport:
            return self._sync.run(reason, force, listener, token)

        return self._indexing.run(work, force=force, progress=progress, cancel=cancel)

    def estimate_embedding(
        self, settings: Settings | None = None, *, cancel: CancelToken | None = None
    ) -> EmbeddingEstimate:
        self._capabilities("models")

    def stored_models(self) -> tuple[StoredModelInfo, ...]:
        self._capabilities("models")

    def purge_model(self, provider: str, model: str, key: str) -> int:
        self._capabilities("models")

    def warm_session(self, session_key: str) -> None:
        self._indexing.session_started(session_key)

    def catch_up(self, seconds: float) -> None:
        self._lifetime.check()
        self._indexing.catch_up(seconds)

    def current_sync(self) -> CancelToken | None:
        return self._indexing.current()

    def add_status_listener(self, listener: StatusListener) -> Callable[[], None]:
        return self._listeners.add(listener)

    # --- probes and closing ---------------------------------------------------------------------------------------

    def probe_embedding(self) -> Probe:
        self._lifetime.check()
        return probe_models(self._command, self._settings.qmd, why_keywords_only(self._sync, self._index.counts()))

    def probe_vector(self) -> Probe:
        self._lifetime.check()
        return probe_sqlite_vec(self._command, self._settings.qmd)

    def close(self) -> None:
        if not self._lifetime.end():
            return
        self._indexing.close()
        self._command.close()
        if "_fact_provider" in vars(self):
            self._fact_provider.close()
        self._sync.close()
        self._threads.close()
        self.user_data.close()

    # --- internals ------------------------------------------------------------------------------------------------

    def _capabilities(self, feature: Feature) -> NoReturn:
        self._lifetime.check()
        raise unsupported(feature)

    def _check_sessions(self) -> None:
        self._lifetime.check()
        if "sessions" in self.unsupported:
            raise Unsupported(tr(NO_SESSIONS))

    def _session_summary(self, path: str) -> SessionSummary:
        transcript = self._exports.get(path)
        if transcript is None:
            raise PathRefused  # a transcript that was not read (yet), or is empty
        return summary_of(transcript.known)
