"""A memory without an index: the manager's contract over a dict of files, for tests of the window and its panels.

Searching is a naive substring match over sections, so that results have real lines, headings, snippets and match
ranges. Delays, failures, the status record and the steps of a sync are set from outside; every call is recorded.
"""

import functools
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from engine import (
    BatchStatus,
    CacheStatus,
    Cancelled,
    CancelToken,
    Closed,
    EarlierQuestion,
    EmbeddingEstimate,
    Facts,
    Feature,
    FileText,
    FtsStatus,
    IndexSizes,
    MemoryProviderStatus,
    MemorySearchResult,
    MemorySyncProgressUpdate,
    MessagePlace,
    NumberedText,
    Passage,
    PassageMissing,
    PathRefused,
    PathState,
    Probe,
    QuerySuggestion,
    SearchOutcome,
    SearchRemedy,
    SearchTimings,
    SessionMessage,
    SessionSummary,
    SessionText,
    Settings,
    SourceCount,
    StoredModelInfo,
    SyncReport,
    SyncSummary,
    VectorStatus,
    WatcherStatus,
)
from engine.store.kept_searches import KeptSearches
from engine.store.unseen_notes import UnseenNotes
from engine.store.user_data import UserData
from tests.helpers.fake_explanations import WEAK
from tests.helpers.fake_explanations import explain as explained
from tests.helpers.fake_narrowing import keep_within, telling_words, without
from tests.helpers.fake_sessions import masked, raw_line, words_of

if TYPE_CHECKING:
    from engine.backends.base import MemorySearchManager, ProgressCallback

MODIFIED = 1_772_500_000.0
"""Modification time of a file that none was given for: 3 March 2026."""

GARDEN = {
    "projects/greenhouse.md": """\
# Greenhouse

## Plan
Set both irrigation zones to 06:10, twelve minutes, after the last frost.
North bed gets the grey hose, the south bed the new 16 mm one.

## Watering

The timer on the drip irrigation skipped Tuesday again; the valve
sticks when the pressure drops below 1.2 bar.

- 3 Mar  cleaned the filter, pressure back to 1.6 bar
- 5 Mar  skipped once more at 06:10, ran at 06:20 by hand
- 6 Mar  swapped the CR2032; the old one read 2.71 V

Ask Ines whether her timer has the same firmware (v1.4.2).

## Harvest
Radishes first week of April, if the slugs leave any.
""",
    "daily/2026-02-08.md": """\
# Sunday 8 February

Tomatoes limp. Probably the watering clock, not the soil.
""",
    "topics/shopping.md": """\
# Shopping

Irrigation hose 16 mm, two T-pieces, spare timer batteries (CR2032).
""",
    "sessions/claude/fix-the-valve.md": """\
# Fix the valve controller

User: The 06:10 run was skipped again.
Assistant: The relay debounces at 40 ms, so a timer tick that lands inside it is lost.
""",
}


@dataclass(frozen=True)
class _Section:
    start_line: int
    lines: tuple[str, ...]
    heading: tuple[str, ...]


def _sections(text: str) -> Iterator[_Section]:
    """The text cut before each heading, with the headings above it."""
    path: list[tuple[int, str]] = []
    start = 1
    lines: list[str] = []
    heading: tuple[str, ...] = ()
    for number, line in enumerate(text.rstrip("\n").split("\n"), 1):
        found = re.match(r"(#{1,6}) (.+)", line)
        if found:
            if any(part.strip() for part in lines):
                yield _Section(start, tuple(lines), heading)
            path = [entry for entry in path if entry[0] < len(found[1])] + [(len(found[1]), found[2])]
            start, lines, heading = number, [], tuple(title for _, title in path)
        lines.append(line)
    if any(part.strip() for part in lines):
        yield _Section(start, tuple(lines), heading)


def make_model(**changes: Any) -> StoredModelInfo:
    """The built-in one, with a vector for each of seven chunks."""
    kept: dict[str, Any] = {
        "provider": "embedded",
        "model": "use-multilingual-v3",
        "key": "1",
        "dims": 512,
        "vectors": 7,
        "active": True,
    } | changes
    return StoredModelInfo(**({"bytes": kept["vectors"] * kept["dims"] * 2} | kept))


def make_status(**changes: Any) -> MemoryProviderStatus:
    """A healthy, idle status record; every field may be changed."""
    fine: dict[str, Any] = {
        "backend": "builtin",
        "provider": "embedded",
        "model": "use-multilingual-v3",
        "requested_provider": "auto",
        "files": 4,
        "chunks": 7,
        "dirty": False,
        "workspace_dir": "/notes/garden-notes",
        "db_path": "/data/indexes/garden/index.sqlite",
        "extra_paths": (),
        "sources": ("memory", "sessions"),
        "source_counts": (
            SourceCount(source="memory", files=3, chunks=6),
            SourceCount(source="sessions", files=1, chunks=1),
        ),
        "cache": CacheStatus(enabled=True, entries=7, max_entries=50_000, bytes=7 * 1024, models=(make_model(),)),
        "fts": FtsStatus(enabled=True, available=True, error=None),
        "fallback": None,
        "vector": VectorStatus(
            enabled=True, available=None, extension_path=None, load_error=None, dims=512, engine="numpy", rows=7
        ),
        "batch": BatchStatus(
            enabled=False,
            failures=0,
            limit=2,
            wait=True,
            concurrency=2,
            poll_interval_ms=2000,
            timeout_ms=3_600_000,
            last_error=None,
            last_provider=None,
        ),
        "custom": {"searchMode": "hybrid"},
        "pending_vectors": 0,
        "failed_files": (),
        "skipped_files": (),
        "last_sync": None,
        "recent_syncs": (),
        "sizes": IndexSizes(database=1_200_000, wal=40_000, matrix=14_000, user=20_000),
        "generation": 7,
        "watcher": WatcherStatus(
            enabled=True, mode="native", roots=("/notes/garden-notes",), last_change=None, error=None
        ),
        "syncing": None,
        "paused": False,
        "writer_elsewhere": False,
        "index_error": None,
    }
    return MemoryProviderStatus(**(fine | changes))


def make_progress(**changes: Any) -> MemorySyncProgressUpdate:
    """One step of an embedding phase, as in the drawn target."""
    step: dict[str, Any] = {
        "phase": "embedding",
        "completed": 12_480,
        "total": 26_043,
        "label": "Embedding 12,480/26,043",
        "current_file": "memory/projects/greenhouse.md",
        "rate": 118.0,
        "seconds_left": 115.0,
        "reused": 9_112,
        "embedded": 3_368,
        "reason": "manual",
    }
    return MemorySyncProgressUpdate(**(step | changes))


def make_summary(**changes: Any) -> SyncSummary:
    done: dict[str, Any] = {
        "started": time.time() - 120,
        "seconds": 1.2,
        "reason": "manual",
        "files_indexed": 4,
        "files_removed": 0,
        "chunks_indexed": 7,
        "vectors_embedded": 7,
        "cancelled": False,
        "error": "",
    }
    return SyncSummary(**(done | changes))


def make_path_state(**changes: Any) -> PathState:
    """A note that is indexed."""
    state = PathState(
        asked="projects/greenhouse.md",
        state="indexed",
        sentence="It is indexed: 3 chunks, found by words and by meaning.",
        remedy="open",
        path="projects/greenhouse.md",
        file="/home/ada/notes/projects/greenhouse.md",
        source="memory",
        title="Greenhouse",
        chunks=3,
        vectors=3,
        size=640,
        modified=MODIFIED,
    )
    return msgspec.structs.replace(state, **changes)


def make_estimate(**changes: Any) -> EmbeddingEstimate:
    """Of a provider that charges for it."""
    due: dict[str, Any] = {
        "provider": "openai",
        "model": "text-embedding-3-small",
        "remote": True,
        "chunks": 25_000,
        "cached": 1_043,
        "tokens": 7_500_000,
        "price": 0.02,
        "cost": 0.15,
        "price_checked": "2026-11-22",
        "seconds": 540.0,
    }
    return EmbeddingEstimate(**(due | changes))


class FakeMemory:
    """An open workspace in memory; the attributes below may be set at any time.

    Attributes:
        files: name -> text. Change it, then call `changed()`.
        modified: name -> seconds since the epoch, for result rows and sorting by date.
        search_delay, keyword_delay: seconds that a hybrid, a keyword search takes; cancelling ends the wait.
        step_delay: seconds between two steps of a sync.
        script: the steps of a sync; None makes one step a file and then one a chunk.
        search_error, open_error, sync_error: raised instead of answering.
        searches, syncs: what was asked, in order: (query, mode, keyword arguments) and (reason, force).
        vectors: whether results carry meaning scores.
        remote: whether questions go to another machine.
        session_texts: path -> session, as its transcript has it; empty unless given (see fake_sessions.SESSIONS).
        session_error: raised in place of listing, reading or comparing sessions.
        session_delay: seconds that reading or comparing sessions takes.
        session_reads: what was read, in order: (path, reveal).
        path_states: path -> its state; others are told by `files`. explained: what was asked, in order;
            explain_error, explain_delay: raised in place of an answer, and after how many seconds.
        estimate, estimate_error, estimate_delay: what embedding would take, or is raised in place of it, and after
            how many seconds.
        insight: what looks into the index; None unless given.
        lacks: what it says that it cannot do; it can all the same (`fake_lacking.LackingMemory` cannot).
        estimated: the settings of which it was asked; approvals: how often someone agreed.
    """

    def __init__(
        self,
        files: Mapping[str, str] | None = None,
        *,
        folder: Path | None = None,
        sessions: Mapping[str, SessionText] | None = None,
    ) -> None:
        self.files = dict(GARDEN if files is None else files)
        self.session_texts = dict(sessions or {})
        self.session_error: Exception | None = None
        self.session_delay = 0.0
        self.session_reads: list[tuple[str, bool]] = []
        self.modified: dict[str, float] = {}
        self.search_delay = 0.0
        self.keyword_delay = 0.0
        self.step_delay = 0.0
        self.script: Sequence[MemorySyncProgressUpdate] | None = None
        self.search_error: Exception | None = None
        self.open_error: Exception | None = None
        self.sync_error: Exception | None = None
        self.vectors = True
        self.remote = False
        self.suggestions: dict[str, tuple[QuerySuggestion, ...]] = {}
        """What to offer for a question."""
        self.remedies: tuple[SearchRemedy, ...] = (WEAK,)
        """Of an empty answer with the usual threshold."""
        self.liked: list[Passage] = []
        self.searches: list[tuple[str, str, dict[str, Any]]] = []
        self.syncs: list[tuple[str, bool]] = []
        self.path_states: dict[str, PathState] = {}
        self.explained: list[str] = []
        self.explain_error: Exception | None = None
        self.explain_delay = 0.0
        self.estimate = make_estimate()
        self.estimate_error: Exception | None = None
        self.estimate_delay = 0.0
        self.insight: Any = None
        self.lacks: dict[Feature, str] = {}
        self.estimated: list[Settings | None] = []
        self.approvals = 0
        self.closed = False
        self._own = None if folder else tempfile.TemporaryDirectory(prefix="fake-memory-", ignore_cleanup_errors=True)
        self.folder = folder or Path(self._own.name if self._own else "")
        self._status = make_status(workspace_dir=str(self.folder))
        self._listeners: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._token: CancelToken | None = None
        self._idle = threading.Event()
        self._idle.set()
        self._report: SyncReport | None = None

    @functools.cached_property
    def kept_searches(self) -> KeptSearches:
        """Real ones, as the facts are, in a folder of their own: made when they are first wanted."""
        return KeptSearches(self._user)

    @functools.cached_property
    def facts(self) -> Facts:
        return Facts(self._user, lambda: None, lambda _: None)

    @functools.cached_property
    def _user(self) -> UserData:
        self._kept = tempfile.TemporaryDirectory(prefix="fake-user-", ignore_cleanup_errors=True)
        return UserData(Path(self._kept.name) / "user.sqlite")

    @functools.cached_property
    def unseen_notes(self) -> UnseenNotes:
        return UnseenNotes(self._user)

    # --- search -----------------------------------------------------------------------------------------------------

    def query_values(self, operator: str, start: str) -> tuple[str, ...]:
        self._check_open()
        values = {"": ("tag:", "title:"), "tag": ("garden", "gas"), "title": ("Reading list",)}.get(operator, ())
        return tuple(value for value in values if value.casefold().startswith(start.casefold()))

    def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        sources: Sequence[str] | None = None,
        path_glob: str | None = None,
        since: float | None = None,
        until: float | None = None,
        session_key: str | None = None,
        half_life_days: float | None = None,
        diverse: bool | None = None,
        within: Sequence[EarlierQuestion] = (),
        explain: bool = False,
        cancel: CancelToken | None = None,
        mode: Literal["auto", "keyword"] = "auto",
    ) -> SearchOutcome:
        asked = {"max_results": max_results, "sources": sources, "path_glob": path_glob, "since": since, "until": until}
        asked |= {"explain": explain, "half_life_days": half_life_days, "diverse": diverse}
        self.searches.append((query, mode, asked | ({"within": tuple(within)} if within else {})))
        started = time.perf_counter()
        self._wait(self.keyword_delay if mode == "keyword" else self.search_delay, cancel)
        self._check_open()
        if self.search_error is not None:
            raise self.search_error
        found = [
            result
            for result in self._matches(query, mode == "auto" and self.vectors)
            if result.score >= (0.35 if min_score is None else min_score)
            and (not sources or result.source in sources)
            and (not path_glob or fnmatchcase(result.path, path_glob))
            and (since is None or result.modified >= since)
            and (until is None or result.modified < until)
        ]
        found, earlier = keep_within(found, within, lambda text: self._matches(text, mode == "auto" and self.vectors))
        found.sort(key=lambda result: (-result.score, result.path, result.start_line))
        shown = tuple(found[: 6 if max_results is None else max_results])
        spent = (time.perf_counter() - started) * 1000
        least = 0.35 if min_score is None else min_score
        remedies = self.remedies if least else ()
        explanation = explained(found, shown, min_score=least, remedies=remedies) if explain else None
        return SearchOutcome(
            results=shown,
            total=len(found),
            provider="embedded" if self.vectors else "none",
            model="use-multilingual-v3" if self.vectors else "",
            mode="hybrid" if mode == "auto" and self.vectors else "keyword",
            timings=SearchTimings(analysis=0.1, keyword=spent, embed=0.0, vector=0.0, merge=0.1, total=spent),
            notice="" if self.files else "The index is empty.",
            explanation=explanation,
            remote=self.remote,
            suggestions=self.suggestions.get(query, ()),
            within=earlier,
        )

    def search_like(self, passage: Passage, **options: Any) -> SearchOutcome:
        """By the words of the passage; recorded in `liked` and, with these words, in `searches`."""
        self.liked.append(passage)
        if passage.path not in self.files and not passage.text:
            raise PassageMissing(f"Nothing of {passage.path} is indexed: it may have changed since.")
        words = telling_words(passage, self.files.get(passage.path, ""))
        return without(passage, words, self.search(" ".join(words), **options))

    def _matches(self, query: str, hybrid: bool) -> Iterator[MemorySearchResult]:
        words = [re.escape(word) for word in query.lower().split()]
        if not words:
            return
        pattern = re.compile("|".join(words), re.IGNORECASE)
        for name, text in list(self.files.items()):
            for section in _sections(text):
                hits = {match.group().lower() for line in section.lines for match in pattern.finditer(line)}
                if hits:
                    yield self._result(name, section, pattern, share=len(hits) / len(words), hybrid=hybrid)
        for session in list(self.session_texts.values()):
            for message in session.messages:
                hits = {match.group().lower() for match in pattern.finditer(message.text)}
                if hits and message.kind == "text":
                    yield self._message(session.summary, message, pattern, share=len(hits) / len(words), hybrid=hybrid)

    def _message(
        self,
        summary: SessionSummary,
        message: SessionMessage,
        pattern: re.Pattern[str],
        *,
        share: float,
        hybrid: bool,
    ) -> MemorySearchResult:
        """A message of a session as a result: one line of its transcript."""
        section = _Section(message.line, tuple(message.text.split("\n")), (summary.title,))
        found = self._result(summary.path, section, pattern, share=share, hybrid=hybrid, title=summary.title)
        return msgspec.structs.replace(
            found,
            end_line=message.line,
            snippet_line=message.line,
            citation=f"{summary.path}#L{message.line}",
            modified=summary.ended or MODIFIED,
            message=MessagePlace(
                ordinal=message.ordinal,
                id=message.id,
                role=message.role,
                agent=summary.agent,
                project=summary.project,
            ),
        )

    def _result(
        self,
        name: str,
        section: _Section,
        pattern: re.Pattern[str],
        *,
        share: float,
        hybrid: bool,
        title: str | None = None,
    ) -> MemorySearchResult:
        first = next(index for index, line in enumerate(section.lines) if pattern.search(line))
        snippet = "\n".join(section.lines[first : first + 3])[:700].rstrip()
        end = section.start_line + len(section.lines) - 1
        lines = f"#L{section.start_line}-L{end}" if end > section.start_line else f"#L{end}"
        if title is None:
            heading = next(_sections(self.files[name])).heading
            title = heading[0] if heading else Path(name).stem
        words = 0.4 + 0.5 * share
        meaning = 0.3 + 0.4 * share if hybrid else None
        return MemorySearchResult(
            path=name,
            start_line=section.start_line,
            end_line=end,
            score=words if meaning is None else 0.7 * words + 0.3 * meaning,
            snippet=snippet,
            source="sessions" if name.startswith("sessions/") else "memory",
            citation=name + lines,
            title=title,
            heading=section.heading,
            modified=self.modified.get(name, MODIFIED),
            snippet_line=section.start_line + first,
            match_ranges=tuple(match.span() for match in pattern.finditer(snippet)),
            text_score=words,
            vector_score=meaning,
            text_share=1.0 if meaning is None else 0.7 * words / (0.7 * words + 0.3 * meaning),
        )

    # --- files ------------------------------------------------------------------------------------------------------

    def read_file(self, path: str, *, start: int | None = None, lines: int | None = None) -> FileText:
        self._check_open()
        if path not in self.files:
            raise PathRefused
        first = max(1, start or 1)
        all_lines = self.files[path].split("\n")
        chosen = all_lines[first - 1 : first - 1 + lines if lines else None]
        after = first + len(chosen)
        more = after <= len(all_lines)
        return FileText(
            path=path,
            text="\n".join(chosen),
            from_line=first,
            lines=len(chosen),
            truncated=more,
            next_from=after if more else None,
        )

    def open_file(self, path: str, *, cancel: CancelToken | None = None) -> NumberedText:
        self._check_open()
        if self.open_error is not None:
            raise self.open_error
        return NumberedText.open(self.locate(path), cancel)

    def locate(self, path: str) -> Path:
        """Writes the file on first use, and again when its text was changed since."""
        if path not in self.files:
            raise PathRefused
        target = self.folder / path
        encoded = self.files[path].encode("utf-8", "surrogatepass")
        with self._lock:
            if not target.exists() or target.read_bytes() != encoded:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(encoded)
        return target

    # --- sessions ---------------------------------------------------------------------------------------------------

    def explain_path(self, path: str, *, config: Path | None = None, cancel: CancelToken | None = None) -> PathState:
        self._check_open()
        self.explained.append(path)
        self._wait(self.explain_delay, cancel)
        if self.explain_error is not None:
            raise self.explain_error
        if path in self.path_states:
            return self.path_states[path]
        found = path in self.files
        return make_path_state(
            asked=path,
            state="indexed" if found else "missing",
            sentence="It is indexed: 1 chunk." if found else "There is no such file or folder.",
            remedy="open" if found else None,
            path=path if found else "",
        )

    def sessions(self) -> tuple[SessionSummary, ...]:
        self._check_open()
        if self.session_error is not None:
            raise self.session_error
        found = [session.summary for session in self.session_texts.values()]
        return tuple(sorted(found, key=lambda summary: -(summary.started or 0.0)))

    def read_session(self, path: str, *, reveal: bool = False, cancel: CancelToken | None = None) -> SessionText:
        self.session_reads.append((path, reveal))
        return masked(self._session(path, cancel), reveal=reveal)

    def raw_message(self, path: str, line: int, *, reveal: bool = False) -> str:
        found = next((message for message in self._session(path).messages if message.line == line), None)
        if found is None:
            raise FileNotFoundError(2, "There is no such line", path)
        return raw_line(found, reveal=reveal)

    def similar_sessions(self, path: str, *, max_results: int = 10) -> tuple[tuple[SessionSummary, float], ...]:
        """By the words that two sessions share, as far as vectors are on."""
        mine = self._words(self._session(path))
        if not self.vectors:
            return ()
        found = []
        for name, session in self.session_texts.items():
            words = self._words(session)
            if name != path and words & mine:
                found.append((session.summary, len(words & mine) / (len(words) * len(mine)) ** 0.5))
        return tuple(sorted(found, key=lambda pair: -pair[1])[:max_results])

    def _session(self, path: str, cancel: CancelToken | None = None) -> SessionText:
        self._wait(self.session_delay, cancel)
        self._check_open()
        if self.session_error is not None:
            raise self.session_error
        if path not in self.session_texts:
            raise PathRefused
        return self.session_texts[path]

    @staticmethod
    def _words(session: SessionText) -> set[str]:
        return words_of(" ".join(message.text for message in session.messages if message.kind == "text"))

    # --- state ------------------------------------------------------------------------------------------------------

    def status(self) -> MemoryProviderStatus:
        return self._status

    def set_status(self, status: MemoryProviderStatus | None = None, **changes: Any) -> None:
        """Replace the record, or some of its fields, and tell the listeners."""
        with self._lock:
            self._status = msgspec.structs.replace(status or self._status, **changes)
        self.changed()

    def changed(self) -> None:
        """Tell the listeners that something is different."""
        for listener in list(self._listeners):
            listener()

    def add_status_listener(self, listener: Callable[[], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def current_sync(self) -> CancelToken | None:
        return self._token

    def sync(
        self,
        *,
        reason: str = "manual",
        force: bool = False,
        progress: "ProgressCallback | None" = None,
        cancel: CancelToken | None = None,
        approve: bool | EmbeddingEstimate = False,
    ) -> SyncReport:
        self._check_open()
        if approve:
            self.approve_embedding()
        token = cancel or CancelToken()
        with self._lock:
            self.syncs.append((reason, force))
            joining = self._token is not None
            if not joining:
                self._token = token
                self._idle.clear()
        if joining:
            self._idle.wait()
            assert self._report is not None
            return self._report
        started = time.time()
        cancelled = False
        try:
            if self.sync_error is not None:
                raise self.sync_error
            for step in self._steps() if self.script is None else self.script:
                self._wait(self.step_delay, token)
                token.checkpoint()
                self.set_status(syncing=step)
                if progress is not None:
                    progress(step)
        except Cancelled:
            cancelled = True
        finally:
            report = self._finish(started, reason, force, cancelled)
        return report

    def _steps(self) -> Iterator[MemorySyncProgressUpdate]:
        names = list(self.files)
        yield make_progress(phase="discovering", completed=0, total=0, current_file="", rate=0.0, seconds_left=None)
        for phase in ("indexing", "embedding"):
            for done, name in enumerate(names, 1):
                yield make_progress(
                    phase=phase,
                    completed=done,
                    total=len(names),
                    current_file=name,
                    seconds_left=(len(names) - done) / 118,
                    reused=0,
                    embedded=done if phase == "embedding" else 0,
                    label=f"{phase} {done}/{len(names)}",
                )

    def _finish(self, started: float, reason: str, force: bool, cancelled: bool) -> SyncReport:
        error = "" if self.sync_error is None else str(self.sync_error)
        chunks = sum(1 for text in self.files.values() for _ in _sections(text))
        summary = make_summary(
            started=started, seconds=time.time() - started, reason=reason, cancelled=cancelled, error=error
        )
        self._report = SyncReport(
            reason=reason,  # type: ignore[arg-type]
            started=started,
            seconds=summary.seconds,
            cancelled=cancelled,
            error=error,
            files_seen=len(self.files),
            files_indexed=len(self.files),
            files_unchanged=0,
            files_removed=0,
            chunks_indexed=chunks,
            chunks_removed=0,
            vectors_reused=0,
            vectors_embedded=chunks,
            vectors_pending=0,
            full=force,
            failed=(),
            skipped=(),
        )
        with self._lock:
            self._token = None
            self._status = msgspec.structs.replace(
                self._status,
                syncing=None,
                last_sync=summary,
                recent_syncs=(*self._status.recent_syncs, summary)[-30:],
                files=len(self.files),
                chunks=chunks,
            )
        self.changed()
        self._idle.set()
        return self._report

    # --- embedding --------------------------------------------------------------------------------------------------

    def estimate_embedding(
        self, settings: Settings | None = None, *, cancel: CancelToken | None = None
    ) -> EmbeddingEstimate:
        self.estimated.append(settings)
        self._wait(self.estimate_delay, cancel)
        if self.estimate_error is not None:
            raise self.estimate_error
        return self.estimate

    def approve_embedding(self) -> None:
        self.approvals += 1
        self.set_status(awaiting=None)

    def stored_models(self) -> tuple[StoredModelInfo, ...]:
        return self._status.cache.models

    def purge_model(self, provider: str, model: str, key: str) -> int:
        cache = self._status.cache
        gone = [info for info in cache.models if (info.provider, info.model, info.key) == (provider, model, key)]
        left = tuple(info for info in cache.models if info not in gone)
        dropped = sum(info.vectors for info in gone)
        self.set_status(cache=msgspec.structs.replace(cache, models=left, entries=cache.entries - dropped))
        return dropped

    def warm_session(self, session_key: str) -> None:
        self.syncs.append(("session-start", False))

    def probe_embedding(self) -> Probe:
        return Probe(ok=self.vectors, error="" if self.vectors else "No provider is configured.")

    def probe_vector(self) -> Probe:
        return Probe(ok=True, error="")

    def close(self) -> None:
        token = self._token
        self.closed = True
        if token is not None:
            token.cancel()
        self._idle.wait()
        if self._own is not None:
            self._own.cleanup()
        if "_user" in vars(self):
            self._user.close()
            self._kept.cleanup()

    # --- waiting ----------------------------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self.closed:
            raise Closed

    @staticmethod
    def _wait(seconds: float, cancel: CancelToken | None) -> None:
        """Sleep, but no longer than until the token is cancelled, which raises `Cancelled`."""
        if cancel is None:
            time.sleep(seconds)
            return
        woken = threading.Event()
        forget = cancel.on_cancel(woken.set)
        woken.wait(seconds)
        forget()
        if cancel.cancelled:
            raise Cancelled


if TYPE_CHECKING:
    _satisfies: MemorySearchManager = FakeMemory()
