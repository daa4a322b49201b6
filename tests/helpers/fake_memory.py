"""A memory without an index: the manager's contract over a dict of files, for tests of the window and its panels.

Delays, failures, the status record and the steps of a sync are set from outside; every call is recorded.
"""

import functools
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from engine import (
    CancelToken,
    EarlierQuery,
    EmbeddingEstimate,
    Facts,
    Feature,
    FileText,
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
    SessionText,
    Settings,
    StoredModelInfo,
)
from engine.store.saved_searches import SavedSearches
from engine.store.user_data import UnseenNotes, UserData
from tests.helpers.fake_explanations import WEAK
from tests.helpers.fake_explanations import explain as explained
from tests.helpers.fake_notes import GARDEN
from tests.helpers.fake_opening import wait
from tests.helpers.fake_records import make_estimate, make_path_state, make_status
from tests.helpers.fake_search_scope import distinctive_words, keep_within, without
from tests.helpers.fake_session_reading import FakeSessionReading
from tests.helpers.fake_syncing import FakeSyncing
from tests.helpers.naive_search import matches

if TYPE_CHECKING:
    from engine.memory.memory_interface import MemorySearchManager


class FakeMemory(FakeSyncing, FakeSessionReading):
    """An open workspace in memory; the attributes below, and those of its bases, may be set at any time.

    Attributes:
        files: name -> text. Change it, then call `changed()`.
        modified: name -> seconds since the epoch, for result rows and sorting by date.
        search_delay, keyword_delay: seconds that a hybrid, a keyword search takes; cancelling ends the wait.
        search_error, open_error: raised instead of answering.
        searches: the queries in order: (query, mode, keyword arguments).
        vectors: whether results carry meaning scores.
        remote: whether queries are sent to another machine.
        path_states: path -> its state; others depend on `files`. explained: requested paths, in order;
            explain_error, explain_delay: raised in place of an answer, and after how many seconds.
        estimate, estimate_error, estimate_delay: what embedding would take, or is raised in place of it, and after
            how many seconds.
        insight: the index insight; None unless given.
        unsupported: features reported as unsupported; it can all the same (`fake_unsupported.LimitedMemory` cannot).
        estimated: the settings of each estimate request.
        answers_as: the settings set for answering; it takes their lowest score.
    """

    def __init__(
        self,
        files: Mapping[str, str] | None = None,
        *,
        folder: Path | None = None,
        sessions: Mapping[str, SessionText] | None = None,
    ) -> None:
        self.files = dict(GARDEN if files is None else files)
        self.modified: dict[str, float] = {}
        self.search_delay = 0.0
        self.keyword_delay = 0.0
        self.search_error: Exception | None = None
        self.open_error: Exception | None = None
        self.vectors = True
        self.remote = False
        self.suggestions: dict[str, tuple[QuerySuggestion, ...]] = {}
        self.corrections: dict[str, QuerySuggestion] = {}
        """By query, the one that is searched instead."""
        """What to offer for a question."""
        self.remedies: tuple[SearchRemedy, ...] = (WEAK,)
        """Of an empty answer with the usual threshold."""
        self.liked: list[Passage] = []
        self.searches: list[tuple[str, str, dict[str, Any]]] = []
        self.path_states: dict[str, PathState] = {}
        self.explained: list[str] = []
        self.explain_error: Exception | None = None
        self.explain_delay = 0.0
        self.estimate = make_estimate()
        self.estimate_error: Exception | None = None
        self.estimate_delay = 0.0
        self.insight: Any = None
        self.unsupported: dict[Feature, str] = {}
        self.estimated: list[Settings | None] = []
        self.answers_as: list[Settings] = []
        self._own = None if folder else tempfile.TemporaryDirectory(prefix="fake-memory-", ignore_cleanup_errors=True)
        self.folder = folder or Path(self._own.name if self._own else "")
        FakeSyncing.__init__(self, make_status(workspace_dir=str(self.folder)))
        FakeSessionReading.__init__(self, sessions)

    @functools.cached_property
    def saved_searches(self) -> SavedSearches:
        """Real saved searches, in a separate folder, created on first use; so are the facts."""
        return SavedSearches(self.user_data)

    @functools.cached_property
    def facts(self) -> Facts:
        return Facts(self.user_data, lambda: None, lambda _: None)

    @functools.cached_property
    def user_data(self) -> UserData:
        self._kept = tempfile.TemporaryDirectory(prefix="fake-user-", ignore_cleanup_errors=True)
        return UserData(Path(self._kept.name) / "user.sqlite")

    @functools.cached_property
    def unseen_notes(self) -> UnseenNotes:
        return UnseenNotes(self.user_data)

    # --- search -----------------------------------------------------------------------------------------------------

    def apply_query_settings(self, settings: Settings) -> None:
        self._check_open()
        self.answers_as.append(settings)

    def query_values(self, operator: str, start: str) -> tuple[str, ...]:
        self._check_open()
        values = {"": ("tag:", "title:"), "tag": ("garden", "gas"), "title": ("Reading", "Reading list")}.get(
            operator, ()
        )
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
        correct: bool = True,
        per_file: int = 3,
        copies: bool = False,
        within: Sequence[EarlierQuery] = (),
        explain: bool | Literal["if empty", "if weak"] = False,
        cancel: CancelToken | None = None,
        mode: Literal["auto", "keyword"] = "auto",
        on_keywords: Callable[[SearchOutcome], None] | None = None,
    ) -> SearchOutcome:
        if on_keywords is not None and mode == "auto":
            first: dict[str, Any] = {"sources": sources, "path_glob": path_glob, "since": since, "until": until}
            first |= {"max_results": max_results, "min_score": min_score, "correct": correct, "within": within}
            first |= {"half_life_days": half_life_days, "diverse": diverse}
            on_keywords(self.search(query, cancel=cancel, mode="keyword", **first))
        options = {"sources": sources, "path_glob": path_glob, "since": since, "until": until}
        options |= {
            "max_results": max_results,
            "explain": explain,
            "half_life_days": half_life_days,
            "diverse": diverse,
        }
        self.searches.append((query, mode, options | ({"within": tuple(within)} if within else {})))
        corrected = self.corrections.get(query) if correct else None
        query = query if corrected is None else corrected.query
        started = time.perf_counter()
        wait(self.keyword_delay if mode == "keyword" else self.search_delay, cancel)
        self._check_open()
        if self.search_error is not None:
            raise self.search_error
        hybrid = mode == "auto" and self.vectors
        usual = self.answers_as[-1].query.min_score if self.answers_as else 0.35
        least = usual if min_score is None else min_score
        found = [
            result
            for result in matches(self, query, hybrid=hybrid)
            if result.score >= least
            and (not sources or result.source in sources)
            and (not path_glob or fnmatchcase(result.path, path_glob))
            and (since is None or result.modified >= since)
            and (until is None or result.modified < until)
        ]
        found, earlier = keep_within(found, within, lambda text: matches(self, text, hybrid=hybrid))
        found.sort(key=lambda result: (-result.score, result.path, result.start_line))
        results = tuple(found[: 6 if max_results is None else max_results])
        spent = (time.perf_counter() - started) * 1000
        remedies = self.remedies if least else ()
        wanted = explain is True or (explain and not results)
        explanation = explained(found, results, min_score=least, remedies=remedies) if wanted else None
        return SearchOutcome(
            results=results,
            total=len(found),
            provider="embedded" if self.vectors else "none",
            model="use-multilingual-v3" if self.vectors else "",
            mode="hybrid" if hybrid else "keyword",
            timings=SearchTimings(analysis=0.1, keyword=spent, embed=0.0, vector=0.0, merge=0.1, total=spent),
            notice="" if self.files else "The index is empty.",
            explanation=explanation,
            remote=self.remote,
            suggestions=self.suggestions.get(query, ()),
            corrected=corrected,
            within=earlier,
        )

    def search_like(self, passage: Passage, **options: Any) -> SearchOutcome:
        """Search by the words of the passage; recorded in `liked` and, with these words, in `searches`."""
        self.liked.append(passage)
        if passage.path not in self.files and not passage.text:
            raise PassageMissing(f"No passage of {passage.path} is indexed: the file may have changed.")
        words = distinctive_words(passage, self.files.get(passage.path, ""))
        return without(passage, words, self.search(" ".join(words), **options))

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
            total_lines=len(all_lines),
        )

    def open_file(self, path: str, *, cancel: CancelToken | None = None) -> NumberedText:
        self._check_open()
        if self.open_error is not None:
            raise self.open_error
        return NumberedText.open(self.locate(path), cancel)

    def locate(self, path: str) -> Path:
        """Writes the file on first use, and again when its text was changed since."""
        session = self.session_texts.get(path)
        if path not in self.files and session is None:
            raise PathRefused
        target = self.folder / path
        text = self.files[path] if session is None else "\n".join(message.text for message in session.messages)
        encoded = text.encode("utf-8", "surrogatepass")
        with self._lock:
            if not target.exists() or target.read_bytes() != encoded:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(encoded)
        return target

    def explain_path(self, path: str, *, config: Path | None = None, cancel: CancelToken | None = None) -> PathState:
        self._check_open()
        self.explained.append(path)
        wait(self.explain_delay, cancel)
        if self.explain_error is not None:
            raise self.explain_error
        if path in self.path_states:
            return self.path_states[path]
        found = path in self.files
        return make_path_state(
            requested=path,
            state="indexed" if found else "missing",
            sentence="It is indexed: 1 passage." if found else "There is no such file or folder.",
            remedy="open" if found else None,
            path=path if found else "",
        )

    # --- models -----------------------------------------------------------------------------------------------------

    def estimate_embedding(
        self, settings: Settings | None = None, *, cancel: CancelToken | None = None
    ) -> EmbeddingEstimate:
        self.estimated.append(settings)
        wait(self.estimate_delay, cancel)
        if self.estimate_error is not None:
            raise self.estimate_error
        return self.estimate

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

    def catch_up(self, seconds: float) -> None:
        self._check_open()

    def probe_embedding(self) -> Probe:
        return Probe(ok=self.vectors, error="" if self.vectors else "No provider is configured.")

    def probe_vector(self) -> Probe:
        return Probe(ok=True, error="")

    def close(self) -> None:
        self.closed = True
        self.end_sync()
        if self._own is not None:
            self._own.cleanup()
        if "user_data" in vars(self):
            self.user_data.close()
            self._kept.cleanup()


if TYPE_CHECKING:
    _satisfies: MemorySearchManager = FakeMemory()
