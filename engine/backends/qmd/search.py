"""One search with `qmd`: translate the query, run it if permitted, and map its results to files by stable name, with
their current lines."""

import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from engine.backends.qmd.collections import Collection
from engine.backends.qmd.command import QmdCommand
from engine.backends.qmd.index_maintenance import Maintenance
from engine.backends.qmd.output_parsing import Hit
from engine.backends.qmd.query_runner import MAX_HITS, QueryOutcome, QueryRunner, QueryText, read_query_text
from engine.backends.qmd.session_exports import ExportedSession, SessionExports
from engine.backends.qmd.status import MODES, unsupported
from engine.base.cancellation import CancelToken, checkpoint
from engine.base.errors import PARSER_FAULTS, PathRefused
from engine.base.language import tr
from engine.corpus.chunking import Chunk, chunk_note
from engine.corpus.globs import Globs
from engine.corpus.note_metadata import read_metadata
from engine.corpus.note_reader import Unreadable, read_note
from engine.corpus.path_guard import PathGuard
from engine.corpus.transcripts.message_offsets import in_ranges
from engine.memory.search_requests import make_request
from engine.records import (
    FileRange,
    FoundMessage,
    MemorySearchResult,
    ResultText,
    SearchMode,
    SearchOutcome,
    SearchTimings,
    Source,
    cite,
)
from engine.search.chunk_filter import Filter
from engine.search.empty_result_advice import first_update
from engine.search.parsed_query_description import describe_query
from engine.search.result_builder import ranges_of
from engine.search.search_context import SearchRequest
from engine.search.snippets import make_snippet
from engine.settings import Settings
from engine.settings.backend_settings import QmdLimitSettings
from engine.text import highlight_ranges
from engine.text.date_parsing import parse_period
from engine.text.folding import fold
from engine.text.operators import SOURCE_NAMES
from engine.text.parsed_query import Clause, Field

if TYPE_CHECKING:
    from engine.memory.search_requests import SearchOptions


_USUAL_HITS = 50
"""Minimum number of hits requested from `qmd`."""
_MAX_COMPARED = 100
"""Maximum number of passages of one file that are compared."""


class Candidate(NamedTuple):
    """A file found by `qmd` that may be shown."""

    path: str
    """Stable name."""
    source: Source
    modified: float
    """Seconds since the epoch; of a session its last message's."""
    hit: Hit
    session: ExportedSession | None

    @property
    def title(self) -> str:
        return self.hit.title if self.session is None else self.session.known.title


class ResultMapper:
    """Converts hits of `qmd` to search results with stable names and current lines. Thread-safe."""

    def __init__(self, settings: Settings, guard: PathGuard, exports: SessionExports) -> None:
        self._settings = settings
        self._guard = guard
        self._exports = exports

    def candidates(
        self, hits: Iterable[Hit], collections: Sequence[Collection], file_filter: Filter, query_text: QueryText
    ) -> list[Candidate]:
        """The files that satisfy all conditions, best first; each once, with its best score."""
        best = self._best_hits(hits, collections)
        notes = {name for name, (_, session) in best.items() if session is None}
        accepted = self._guard.accepted(notes)
        candidates = (self._candidate(name, hit, session) for name, (hit, session) in best.items())
        conditions = _conditions(file_filter, query_text.fields)
        matching = [
            candidate
            for candidate in candidates
            if candidate is not None
            and (candidate.session is not None or candidate.path in accepted)
            and all(ok(candidate) for ok in conditions)
        ]
        return sorted(matching, key=lambda candidate: -candidate.hit.score)  # equal scores stay in the order of `qmd`

    def _best_hits(
        self, hits: Iterable[Hit], collections: Sequence[Collection]
    ) -> dict[str, tuple[Hit, ExportedSession | None]]:
        """Return the hit with the highest score of each file, by stable name, and the session that the file exports."""
        by_name = {collection.name: collection for collection in collections}
        sessions = self._exports.by_file() if any(collection.source == "sessions" for collection in collections) else {}
        best: dict[str, tuple[Hit, ExportedSession | None]] = {}
        for hit in hits:
            collection, session = by_name.get(hit.collection), None
            if collection is None:
                continue
            if collection.source == "memory":
                name = collection.stable_name(hit.path)
            else:
                session = sessions.get(hit.path)
                name = "" if session is None else session.known.path
            if name and (name not in best or best[name][0].score < hit.score):
                best[name] = hit, session
        return best

    def results(
        self,
        candidates: Sequence[Candidate],
        most: int,
        longest: int,
        query_text: QueryText,
        keyword_only: bool,
        cancel: CancelToken | None,
    ) -> tuple[list[MemorySearchResult], int]:
        """Return the results of the best candidates, and how many of these were left out. Raises `Cancelled`.

        `longest`: most characters of a snippet. Left out are deleted files, and results of a semantic search without
        the required phrases.
        """
        made, left_out = list[MemorySearchResult](), 0
        for candidate in candidates:
            if len(made) == most:
                break
            checkpoint(cancel)
            make = self._note_result if candidate.session is None else self._session_result
            result = make(candidate, longest, query_text, keyword_only)
            if result is None:
                left_out += 1
            else:
                made.append(result)
        return made, left_out

    def _candidate(self, name: str, hit: Hit, session: ExportedSession | None) -> Candidate | None:
        if session is not None:
            return Candidate(name, "sessions", session.mtime_ns / 1e9, hit, session)
        try:
            return Candidate(name, "memory", self._guard.locate(name).stat().st_mtime, hit, None)
        except (PathRefused, OSError):
            return None  # the file was deleted meanwhile

    def _note_result(
        self, candidate: Candidate, longest: int, query_text: QueryText, keyword_only: bool
    ) -> MemorySearchResult | None:
        try:
            path = str(self._guard.locate(candidate.path))
            text = read_note(path, candidate.path, self._settings.max_file_bytes).text
            if not keyword_only and not query_text.is_satisfied_by(text):
                return None
            about, chunking = read_metadata(text, candidate.path), self._settings.chunking
            chunks = chunk_note(text, about, tokens=chunking.tokens, overlap=chunking.overlap)
        except (PathRefused, Unreadable, OSError, *PARSER_FAULTS):
            return None
        if not chunks:
            return None
        chunk = _best_chunk(chunks, _current_line(candidate.hit, text), query_text, keyword_only)
        ranges = highlight_ranges(chunk.text, query_text.analysis)
        snippet = make_snippet(chunk.text, ranges, longest)
        return _result(
            candidate,
            keyword_only,
            title=about.title,
            lines=(chunk.start_line, chunk.end_line),
            heading=chunk.heading,
            snippet=snippet.text,
            snippet_line=chunk.start_line + snippet.first_line,
            ranges=snippet.ranges,
            query_text=query_text,
        )

    def _session_result(
        self, candidate: Candidate, longest: int, query_text: QueryText, keyword_only: bool
    ) -> MemorySearchResult | None:
        session = candidate.session
        assert session is not None
        chunk = self._exports.passage(session, candidate.hit.line)
        if chunk is None or (not keyword_only and not query_text.is_satisfied_by(chunk.text)):
            return None
        ranges = highlight_ranges(chunk.text, query_text.analysis)
        snippet = make_snippet(chunk.text, ranges, longest)
        offset = chunk.message_offsets[
            max(0, bisect_right([message.offset for message in chunk.message_offsets], snippet.offset) - 1)
        ]
        known = session.known
        return _result(
            candidate,
            keyword_only,
            title=known.title,
            lines=(chunk.start_line, chunk.end_line),
            heading=chunk.heading,
            snippet=snippet.text,
            snippet_line=offset.line,
            ranges=snippet.ranges,
            query_text=query_text,
            message=FoundMessage(
                ordinal=offset.ordinal,
                id=offset.id,
                role=offset.role,
                agent=known.agent,
                project=known.project,
                machine=known.machine,
                rewound=in_ranges(offset.line, known.rewound),
            ),
        )


def _result(  # noqa: PLR0913 - most are options, given by name
    candidate: Candidate,
    keyword_only: bool,
    *,
    title: str,
    lines: tuple[int, int],
    heading: tuple[str, ...],
    snippet: str,
    snippet_line: int,
    ranges: Sequence[FileRange],
    query_text: QueryText,
    message: FoundMessage | None = None,
) -> MemorySearchResult:
    hit = candidate.hit
    keyword_legs = [leg for leg in hit.legs if leg.keyword]
    vector_legs = [leg for leg in hit.legs if not leg.keyword]
    text = hit.score if keyword_only else max((leg.score for leg in keyword_legs), default=0.0)
    vector = None if keyword_only else max((leg.score for leg in vector_legs), default=None if hit.legs else hit.score)
    weight = sum(leg.weight for leg in hit.legs)
    share = sum(leg.weight for leg in keyword_legs) / weight if weight else 0.0
    path = candidate.path if message is None else ""
    _, around = ranges_of("", (path, title, *heading), query_text.analysis)
    return MemorySearchResult(
        path=candidate.path,
        start_line=lines[0],
        end_line=lines[1],
        score=round(hit.score, 6),
        source=candidate.source,
        citation=cite(candidate.path, *lines),
        title=title,
        modified=candidate.modified,
        text=ResultText(
            snippet=snippet,
            snippet_line=snippet_line,
            match_ranges=tuple((start, end) for start, end in ranges if start < end),
            heading=heading,
            message=message,
            title_ranges=around[1],
            heading_ranges=tuple(around[2:]),
            path_ranges=around[0],
        ),
        text_score=round(text, 6),
        vector_score=None if vector is None else round(vector, 6),
        text_share=1.0 if keyword_only else round(share, 6),
    )


def _current_line(hit: Hit, text: str) -> int:
    """Return the current position of the line that `qmd` found, since the file may have changed."""
    lines = text.split("\n")
    snippet_lines = hit.snippet.split("\n")
    at = hit.line - hit.start
    line = snippet_lines[at].strip() if at < len(snippet_lines) else ""
    # The last line that is shown may be cut.
    line = line.removesuffix("...") if at == len(snippet_lines) - 1 else line
    if not line or (hit.line <= len(lines) and line in lines[hit.line - 1]):
        return min(hit.line, len(lines))
    moved = [number for number, text_line in enumerate(lines, 1) if line in text_line]
    return min(moved, key=lambda number: abs(number - hit.line), default=min(hit.line, len(lines)))


def _best_chunk(chunks: Sequence[Chunk], line: int, query_text: QueryText, keyword_only: bool) -> Chunk:
    """The passage with this line; after a keyword search the one with most words, since `qmd` counts parts of words."""
    near = next((chunk for chunk in chunks if chunk.start_line <= line <= chunk.end_line), chunks[0])
    if len(chunks) > _MAX_COMPARED or (not keyword_only and _distinct_words(near.text, query_text)):
        return near
    return max(chunks, key=lambda chunk: (_distinct_words(chunk.text, query_text), chunk is near))


def _distinct_words(text: str, query_text: QueryText) -> int:
    return len({text[start:end].casefold() for start, end in highlight_ranges(text, query_text.analysis)})


# --- conditions on files ------------------------------------------------------------------------------------------

_Condition = Callable[[Candidate], bool]


def _conditions(file_filter: Filter, fields: Sequence[Clause]) -> list[_Condition]:
    globs = Globs((file_filter.path_glob,)) if file_filter.path_glob else None

    def passes(candidate: Candidate) -> bool:
        return (
            (file_filter.sources is None or candidate.source in file_filter.sources)
            and (globs is None or globs.covers(candidate.path))
            and (file_filter.since is None or candidate.modified >= file_filter.since)
            and (file_filter.until is None or candidate.modified < file_filter.until)
            and not file_filter.hides(candidate.path, candidate.source)
        )

    return [passes, *map(_field_condition, fields)]


def _field_condition(clause: Clause) -> _Condition:
    tests = [_field(atom) for atom in clause.alternatives if isinstance(atom, Field)]
    return lambda candidate: any(test(candidate) for test in tests) != clause.negated


def _begun(candidate: Candidate) -> float:
    """Return when a session began; of a note, when it was changed."""
    started = None if candidate.session is None else candidate.session.known.started
    return candidate.modified if started is None else started


def _field(atom: Field) -> _Condition:
    value, part = atom.value, fold(atom.value)
    period = parse_period(value) if atom.name in ("after", "before", "on") else None
    if atom.name == "path":
        globs = Globs((value,))
        return lambda candidate: part in fold(candidate.path) or globs.covers(candidate.path)
    if atom.name == "title":
        return lambda candidate: part in fold(candidate.title)
    if atom.name == "source":
        return lambda candidate: candidate.source == SOURCE_NAMES[value.casefold()]
    if atom.name == "agent":
        return lambda candidate: candidate.session is not None and fold(candidate.session.known.agent) == part
    if atom.name == "machine":
        return lambda candidate: candidate.session is not None and fold(candidate.session.known.machine) == part
    if atom.name == "project":
        return lambda candidate: candidate.session is not None and part in fold(candidate.session.known.project)
    if period is None:
        return lambda candidate: False
    if atom.name == "on":
        start, end = period.days()
        return lambda candidate: start <= candidate.modified and _begun(candidate) < end
    return lambda candidate: (candidate.modified >= period.start) == (atom.name == "after")


class QmdSearch:
    """Answers the searches of one workspace with `qmd`. Thread-safe."""

    def __init__(
        self,
        settings: Settings,
        command: QmdCommand,
        maintenance: Maintenance,
        runner: QueryRunner,
        mapper: ResultMapper,
    ) -> None:
        self._settings = settings
        self._command = command
        self._maintenance = maintenance
        self._runner = runner
        self._mapper = mapper

    def apply_query_settings(self, settings: Settings) -> None:
        """Change the session key for which queries are answered, see `MemorySearchManager.apply_query_settings`."""
        self._settings = settings
        self._runner.apply_query_settings(settings)

    def search(self, query: str, options: "SearchOptions", cancel: CancelToken | None) -> SearchOutcome:
        """Answer a query, if its session may search. Raises `Unsupported`, `QmdError`, `Cancelled`."""
        if options.get("within"):
            raise unsupported("within")
        if options.get("half_life_days") or options.get("diverse"):
            raise unsupported("ordering")
        started = time.perf_counter()
        settings = self._settings
        limits = settings.qmd.limits
        usual = msgspec.structs.replace(
            settings.query, max_results=limits.max_results, min_score=settings.qmd.min_score
        )
        request, query_text = make_request(usual, query, None, options), read_query_text(query)
        known = self._maintenance.collections
        collections = self._collections(known, request)
        if not collections or not (query_text.variants or query_text.sentence):
            self._command.check(limits.timeout_ms / 1000, cancel)
            notice = tr("qmd can't search without a word: add one to the query.") if collections else ""
            notice = notice if known else tr("Nothing is indexed yet.")
            outcome = _outcome([], 0, "keyword", [notice, *_remarks(query_text)], started)
            return outcome if known else msgspec.structs.replace(outcome, remedies=(first_update(),))
        on_keywords = options.get("on_keywords")
        if on_keywords is not None and not request.keyword_only and settings.qmd.search_mode != "search":
            keyword_only = msgspec.structs.replace(request, keyword_only=True)
            on_keywords(self._answer(keyword_only, query_text, collections, limits, started, cancel))
        return self._answer(request, query_text, collections, limits, started, cancel)

    def _collections(self, known: tuple[Collection, ...], request: SearchRequest) -> list[Collection]:
        """Return the collections to search."""
        sources = self._settings.sources if request.filter.sources is None else request.filter.sources
        shared = request.filter.hide_memory
        return [
            collection
            for collection in known
            if collection.source in sources
            and not (shared and request.filter.hides(collection.prefix, collection.source))
        ]

    def _answer(
        self,
        request: SearchRequest,
        query_text: QueryText,
        collections: list[Collection],
        limits: QmdLimitSettings,
        started: float,
        cancel: CancelToken | None,
    ) -> SearchOutcome:
        narrowed = request.filter.active or bool(query_text.fields)
        most = MAX_HITS if narrowed else max(_USUAL_HITS, request.max_results + 1)
        names = [collection.name for collection in collections]
        outcome = self._runner.run_query(query_text, names, most, keyword_only=request.keyword_only, cancel=cancel)
        candidates = self._mapper.candidates(outcome.hits, collections, request.filter, query_text)
        matching = [candidate for candidate in candidates if candidate.hit.score >= request.min_score]
        results, left_out = self._mapper.results(
            matching, request.max_results, limits.max_snippet_chars, query_text, outcome.mode == "search", cancel
        )
        notices = [*_notices(outcome), *_remarks(query_text)]
        return msgspec.structs.replace(
            _outcome(results, len(matching) - left_out, MODES[outcome.mode], notices, started),
            total_is_least=outcome.cut,
            understood="" if query_text.query.plain else describe_query(query_text.query),
        )


def _remarks(query_text: QueryText) -> list[str]:
    return [*query_text.query.shown_remarks, *query_text.remarks]


def _notices(outcome: QueryOutcome) -> list[str]:
    loose = tr("No note has all of these words. Notes with some of them are shown.") if outcome.loose else ""
    return [outcome.notice, loose]


def _outcome(
    results: list[MemorySearchResult], total: int, mode: SearchMode, notices: list[str], started: float
) -> SearchOutcome:
    milliseconds = (time.perf_counter() - started) * 1000
    keyword_only = mode == "keyword"
    return SearchOutcome(
        results=tuple(results),
        total=total,
        provider="qmd",
        model="qmd",
        mode=mode,
        timings=SearchTimings(
            analysis=0.0,
            keyword=milliseconds if keyword_only else 0.0,
            embed=0.0,
            vector=0.0 if keyword_only else milliseconds,
            merge=0.0,
            total=milliseconds,
        ),
        notice=" ".join(filter(None, notices)),
        explanation=None,
    )
