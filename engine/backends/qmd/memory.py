"""The memory whose index is kept by the command `qmd`."""

import time
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Unpack

import msgspec

from engine.backends.files import WorkspaceFiles
from engine.backends.lifetime import Lifetime
from engine.backends.listeners import Listeners, StatusListener
from engine.backends.outer_status import outer_status
from engine.backends.own_data import open_own_data
from engine.backends.provider_slot import ProviderSlot
from engine.backends.qmd.asking import MOST_HITS, Asked, Asking
from engine.backends.qmd.collections import with_paths
from engine.backends.qmd.command import QmdCommand, QmdError
from engine.backends.qmd.exports import SessionExports
from engine.backends.qmd.finding import Finding
from engine.backends.qmd.index_file import QmdIndexFile
from engine.backends.qmd.lacking import LACKS, NO_SESSIONS, unsupported
from engine.backends.qmd.question import Question, read_question
from engine.backends.qmd.scope import refusal
from engine.backends.qmd.status import MODES, qmd_status, why_words_only
from engine.backends.qmd.syncing import QmdSync
from engine.backends.requests import make_request
from engine.backends.session_files import SessionFiles
from engine.backends.session_library import summary_of
from engine.backends.staying import Staying
from engine.backends.syncs import Syncs
from engine.backends.unanswered import unanswered
from engine.control import CancelToken
from engine.corpus.guard import PathGuard
from engine.embedding.registry import select_provider, stand_in
from engine.errors import PathRefused, Unsupported
from engine.records import (
    EmbeddingEstimate,
    Feature,
    FileText,
    MemoryProviderStatus,
    MemorySearchResult,
    Passage,
    PathState,
    Probe,
    SearchMode,
    SearchOutcome,
    SearchTimings,
    SessionSummary,
    SessionText,
    StoredModelInfo,
    SyncReason,
    SyncReport,
)
from engine.search.understanding import remarks_of, understood
from engine.search.work import SearchRequest
from engine.settings import Settings

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from engine.backends.base import ProgressCallback, SearchOptions
    from engine.backends.facts import Facts
    from engine.corpus.numbered import NumberedText
    from engine.store.kept_searches import KeptSearches
    from engine.store.unseen_notes import UnseenNotes

_USUAL_HITS = 50
"""So many `qmd` looks for at least, whatever it is asked for."""
_NOTHING_YET = "Nothing is indexed yet."


class QmdMemory:
    """See `MemorySearchManager` for every method. Nothing is run before it is needed."""

    def __init__(self, workspace: Path, settings: Settings, *, executor: "Executor | None", background: bool) -> None:
        """`executor` is not needed: the work is done by processes."""
        self._workspace = workspace.resolve()
        self._settings = settings = with_paths(settings)
        self._lifetime = Lifetime()
        self._index_files, self._user = open_own_data(self._workspace, settings)
        self._listeners = Listeners()
        self._syncs = Syncs(self._user, self._listeners, "qmd")
        self._guard = PathGuard(self._workspace, settings)
        self._command = QmdCommand(settings.qmd.command, self._index_files.folder / "qmd")
        self._index = QmdIndexFile(self._command.database)
        self._exports = SessionExports(self._command.folder / "sessions", settings)
        wanted = settings.qmd.sessions.enabled and bool(settings.sessions.folders)
        self._sync = QmdSync(
            self._workspace,
            settings,
            self._command,
            self._index,
            self._exports if wanted else None,
            self._listeners.tell,
        )
        self._asking = Asking(
            self._command,
            settings,
            lambda: why_words_only(self._sync, self._index.counts()),
            self._sync.maintenance.restore,
            self._index.moment,
        )
        self._session_files = SessionFiles(settings, self._known_session)
        self._files = WorkspaceFiles(self._guard, self._session_files)
        self._finding = Finding(settings, self._guard, self._exports)
        self._staying = self._stay() if background else None

    @property
    def lacks(self) -> Mapping[Feature, str]:
        return LACKS if self._settings.qmd.sessions.enabled else {**LACKS, "sessions": NO_SESSIONS}

    def _stay(self) -> Staying:
        sync = self._settings.sync
        minutes = sync.interval_minutes or self._settings.qmd.update_minutes
        settings = msgspec.structs.replace(self._settings, sync=msgspec.structs.replace(sync, interval_minutes=minutes))
        return Staying(
            self._workspace,
            settings,
            self._syncs,
            self._listeners,
            lambda reason: self.sync(reason=reason),
            self._exports.indexed_sizes,
            lambda: (self._index.moment(), self._sync.lock.held_elsewhere()),
        )

    @cached_property
    def kept_searches(self) -> "KeptSearches":
        from engine.store.kept_searches import KeptSearches

        return KeptSearches(self._user)

    @cached_property
    def unseen_notes(self) -> "UnseenNotes":
        from engine.store.unseen_notes import UnseenNotes

        return UnseenNotes(self._user)

    @cached_property
    def facts(self) -> "Facts":
        from engine.backends.facts import Facts

        return Facts(self._user, self._slot.provider, self._slot.note)

    @cached_property
    def _slot(self) -> ProviderSlot:
        """What compares facts; `qmd` has nothing to do with them."""
        settings = self._settings
        return ProviderSlot(
            lambda cancel: select_provider(settings, cancel=cancel),
            lambda first, reason, cancel: stand_in(settings, first, reason, cancel=cancel),
        )

    @property
    def insight(self) -> None:
        return None

    # --- asking ---------------------------------------------------------------------------------------------------

    def search(
        self, query: str, *, cancel: CancelToken | None = None, **options: "Unpack[SearchOptions]"
    ) -> SearchOutcome:
        self._lifetime.check()
        self._refuse(options)
        started = time.perf_counter()
        qmd = self._settings.qmd
        usual = msgspec.structs.replace(
            self._settings.query, max_results=qmd.limits.max_results, min_score=qmd.min_score
        )
        request = make_request(usual, query, None, options)
        session_key = options.get("session_key")
        if refused := refusal(qmd.scope, session_key):
            return unanswered("qmd", refused)
        if session_key is not None:
            self.warm_session(session_key)
        if self._staying is not None:
            self._staying.searched()
        return self._answer(request, read_question(query), cancel, started)

    def _answer(
        self, request: SearchRequest, question: Question, cancel: CancelToken | None, started: float
    ) -> SearchOutcome:
        shared = request.filter.hide_memory
        wanted = self._settings.sources if request.filter.sources is None else request.filter.sources
        known = self._sync.maintenance.collections
        collections = [
            one
            for one in known
            if one.source in wanted and not (shared and request.filter.hides(one.prefix, one.source))
        ]
        remarks = [*remarks_of(question.query), *question.remarks]
        if not known or not collections or not (question.ways or question.sentence):
            self._command.check(self._settings.qmd.limits.timeout_ms / 1000, cancel)
            notice = _NOTHING_YET if not known else "" if not collections else "qmd needs a word to look for."
            return _outcome([], 0, "keyword", " ".join([notice, *remarks]).strip(), started)
        narrowed = request.filter.active or bool(question.fields)
        most = MOST_HITS if narrowed else max(_USUAL_HITS, request.max_results + 1)
        by_words = request.keyword_only
        names = [one.name for one in collections]
        asked = self._asking.ask(question, names, most, by_words=by_words, cancel=cancel)
        found = self._finding.candidates(asked.hits, collections, request.filter, question)
        kept = [one for one in found if one.hit.score >= request.min_score]
        results, left_out = self._finding.results(kept, request.max_results, question, asked.mode == "search", cancel)
        return msgspec.structs.replace(
            _outcome(
                results, len(kept) - left_out, MODES[asked.mode], " ".join([*_told(asked), *remarks]).strip(), started
            ),
            total_is_least=asked.cut,
            understood="" if question.query.plain else understood(question.query),
        )

    def _refuse(self, options: "SearchOptions") -> None:
        if options.get("within"):
            raise unsupported("narrowing")
        if options.get("half_life_days") or options.get("diverse"):
            raise unsupported("ordering")

    def search_like(
        self, passage: Passage, *, cancel: CancelToken | None = None, **options: "Unpack[SearchOptions]"
    ) -> SearchOutcome:
        self._lacking("alike")

    def query_values(self, operator: str, start: str) -> tuple[str, ...]:
        self._lacking("completion")

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
        self._lacking("states")

    def sessions(self) -> tuple[SessionSummary, ...]:
        self._check_sessions()
        return tuple(summary_of(one.known) for one in self._exports.all())

    def read_session(self, path: str, *, reveal: bool = False, cancel: CancelToken | None = None) -> SessionText:
        self._check_sessions()
        return self._session_files.read(path, reveal=reveal, cancel=cancel)

    def raw_message(self, path: str, line: int, *, reveal: bool = False) -> str:
        self._check_sessions()
        return self._session_files.raw(path, line, reveal=reveal)

    def similar_sessions(self, path: str, *, max_results: int = 10) -> tuple[tuple[SessionSummary, float], ...]:
        self._lacking("alike")

    def status(self) -> MemoryProviderStatus:
        self._lifetime.check()
        outer = outer_status(
            "qmd",
            self._workspace,
            self._settings,
            self._index_files,
            self._user,
            self._syncs,
            self._staying,
            self.lacks,
        )
        return qmd_status(outer, self._command, self._sync, self._index.counts(), self._index.size())

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

        return self._syncs.run(work, force=force, progress=progress, cancel=cancel)

    def estimate_embedding(
        self, settings: Settings | None = None, *, cancel: CancelToken | None = None
    ) -> EmbeddingEstimate:
        self._lacking("models")

    def approve_embedding(self) -> None:
        self._lacking("models")

    def stored_models(self) -> tuple[StoredModelInfo, ...]:
        self._lacking("models")

    def purge_model(self, provider: str, model: str, key: str) -> int:
        self._lacking("models")

    def warm_session(self, session_key: str) -> None:
        if self._staying is not None:
            self._staying.session_started(session_key)

    def current_sync(self) -> CancelToken | None:
        return self._syncs.gate.current()

    def add_status_listener(self, listener: StatusListener) -> Callable[[], None]:
        return self._listeners.add(listener)

    # --- probes and the end ---------------------------------------------------------------------------------------

    def probe_embedding(self) -> Probe:
        """By one search with the models of `qmd`, which may take as long as a search may."""
        self._lifetime.check()
        reason = why_words_only(self._sync, self._index.counts())
        if self._settings.qmd.search_mode == "search":
            reason = "qmd searches by words alone: set qmd.search_mode to query or vsearch for meaning."
        if reason:
            return Probe(ok=False, error=reason)
        try:
            options = ["--json", "-n", "1"]
            seconds = self._settings.qmd.limits.timeout_ms / 1000
            self._command.run(["vsearch"], options=options, operand="memory", seconds=seconds)
        except QmdError as error:
            return Probe(ok=False, error=str(error))
        return Probe(ok=True, error="")

    def probe_vector(self) -> Probe:
        """`qmd` says on its error output where sqlite-vec does not load."""
        self._lifetime.check()
        try:
            said = self._command.run(["status"], seconds=self._settings.qmd.command_timeout_seconds).errors
        except QmdError as error:
            return Probe(ok=False, error=str(error))
        line = next((line.strip() for line in said.splitlines() if "sqlite-vec" in line), "")
        return Probe(ok=not line, error=line)

    def close(self) -> None:
        if not self._lifetime.end():
            return
        self._syncs.close()
        self._command.close()
        if self._staying is not None:
            self._staying.close()
        if "_slot" in vars(self):
            self._slot.close()
        self._sync.close()
        self._user.close()

    # --- inside ---------------------------------------------------------------------------------------------------

    def _lacking(self, feature: Feature) -> NoReturn:
        self._lifetime.check()
        raise unsupported(feature)

    def _check_sessions(self) -> None:
        self._lifetime.check()
        if "sessions" in self.lacks:
            raise Unsupported(NO_SESSIONS)

    def _known_session(self, path: str) -> SessionSummary:
        found = self._exports.get(path)
        if found is None:
            raise PathRefused  # a transcript that nobody has read (yet), or with nothing in it
        return summary_of(found.known)


def _told(asked: Asked) -> list[str]:
    loose = "No note has all of these words: those with some of them are shown." if asked.loose else ""
    return [part for part in (asked.notice, loose) if part]


def _outcome(
    results: list[MemorySearchResult], total: int, mode: SearchMode, notice: str, started: float
) -> SearchOutcome:
    spent = (time.perf_counter() - started) * 1000
    by_words = mode == "keyword"
    return SearchOutcome(
        results=tuple(results),
        total=total,
        provider="qmd",
        model="qmd",
        mode=mode,
        timings=SearchTimings(
            analysis=0.0,
            keyword=spent if by_words else 0.0,
            embed=0.0,
            vector=0.0 if by_words else spent,
            merge=0.0,
            total=spent,
        ),
        notice=notice,
        explanation=None,
    )
