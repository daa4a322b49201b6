"""One search with `qmd`: translate the query, run it if permitted, and map its results."""

import time
from typing import TYPE_CHECKING

import msgspec

from engine.backends.qmd.collections import Collection
from engine.backends.qmd.command import QmdCommand
from engine.backends.qmd.index_maintenance import Maintenance
from engine.backends.qmd.query_runner import MOST_HITS, QueryOutcome, QueryRunner, QueryText, read_query_text
from engine.backends.qmd.result_mapping import ResultMapper
from engine.backends.qmd.status import MODES, unsupported
from engine.base.cancellation import CancelToken
from engine.base.language import tr
from engine.memory.search_requests import make_request
from engine.records import MemorySearchResult, SearchMode, SearchOutcome, SearchTimings
from engine.search.parsed_query_description import remarks_of, understood
from engine.search.search_context import SearchRequest
from engine.settings import Settings
from engine.settings.backend_settings import QmdLimitSettings

if TYPE_CHECKING:
    from engine.memory.search_requests import SearchOptions

_USUAL_HITS = 50
"""Minimum number of hits requested from `qmd`."""


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

    def answer_as(self, settings: Settings) -> None:
        """Change the session key for which queries are answered, see `MemorySearchManager.answer_as`."""
        self._settings = settings
        self._runner.answer_as(settings)

    def search(self, query: str, options: "SearchOptions", cancel: CancelToken | None) -> SearchOutcome:
        """Answer a query, if its session may search. Raises `Unsupported`, `QmdError`, `Cancelled`."""
        if options.get("within"):
            raise unsupported("narrowing")
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
        wanted = self._collections(known, request)
        if not wanted or not (query_text.ways or query_text.sentence):
            self._command.check(limits.timeout_ms / 1000, cancel)
            notice = tr("qmd can't search without a word: add one to the query.") if wanted else ""
            notice = notice if known else tr("Nothing is indexed yet.")
            return _outcome([], 0, "keyword", [notice, *_remarks(query_text)], started)
        on_keywords = options.get("on_keywords")
        if on_keywords is not None and not request.keyword_only and settings.qmd.search_mode != "search":
            by_words = msgspec.structs.replace(request, keyword_only=True)
            on_keywords(self._answer(by_words, query_text, wanted, limits, started, cancel))
        return self._answer(request, query_text, wanted, limits, started, cancel)

    def _collections(self, known: tuple[Collection, ...], request: SearchRequest) -> list[Collection]:
        """Return the collections to search."""
        sources = self._settings.sources if request.filter.sources is None else request.filter.sources
        shared = request.filter.hide_memory
        return [
            one
            for one in known
            if one.source in sources and not (shared and request.filter.hides(one.prefix, one.source))
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
        most = MOST_HITS if narrowed else max(_USUAL_HITS, request.max_results + 1)
        names = [one.name for one in collections]
        outcome = self._runner.run_query(query_text, names, most, by_words=request.keyword_only, cancel=cancel)
        found = self._mapper.candidates(outcome.hits, collections, request.filter, query_text)
        matching = [one for one in found if one.hit.score >= request.min_score]
        results, left_out = self._mapper.results(
            matching, request.max_results, limits.max_snippet_chars, query_text, outcome.mode == "search", cancel
        )
        notices = [*_notices(outcome), *_remarks(query_text)]
        return msgspec.structs.replace(
            _outcome(results, len(matching) - left_out, MODES[outcome.mode], notices, started),
            total_is_least=outcome.cut,
            understood="" if query_text.query.plain else understood(query_text.query),
        )


def _remarks(query_text: QueryText) -> list[str]:
    return [*remarks_of(query_text.query), *query_text.remarks]


def _notices(outcome: QueryOutcome) -> list[str]:
    loose = tr("No note has all of these words. Notes with some of them are shown.") if outcome.loose else ""
    return [outcome.notice, loose]


def _outcome(
    results: list[MemorySearchResult], total: int, mode: SearchMode, notices: list[str], started: float
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
        notice=" ".join(filter(None, notices)),
        explanation=None,
    )
