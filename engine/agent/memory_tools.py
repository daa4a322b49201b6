"""`memory_search` and `memory_get`: an agent's search, with citations, and a page of a file, also one that is cited.

Also makes the section of a prompt about using memory and, for models that can't call tools, a block of relevant
passages.
"""

import re
import time
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import UNSET

from engine.agent.memory_access import AgentAccess
from engine.agent.tool_interface import error_message, fraction, unavailable, untrusted_block, whole_number
from engine.base import lazy_logger
from engine.base.cancellation import CancelToken
from engine.base.errors import MnemoscopeError, PathRefused, QueryTooLong
from engine.base.formatting import any_of, floored, folder_name, in_quotes, with_single_empty_lines
from engine.corpus.documents import has_pages, page_of
from engine.records import (
    CitedPassage,
    FallbackStatus,
    FileText,
    MemoryGetResponse,
    MemoryProviderStatus,
    MemorySearchResponse,
    MemorySearchResult,
    SearchOutcome,
    cite,
    parse_citation,
)
from engine.text.writing_systems import cut

if TYPE_CHECKING:
    from engine.memory.memory_interface import MemorySearchManager

MAX_RESULTS = 100
_FIRST_SECONDS = 5.0
_POLL_SECONDS = 0.1

_DIGITS = 4
_OTHER_WORDS = "Nothing matches. Try other words, or fewer of them."
_LONGEST_REASON = 600
_BY_WORDS_ONLY = "Searched by words only: searching by meaning takes too long now. Search again in a minute for more."


def memory_search(
    access: AgentAccess,
    query: str,
    max_results: int | None = None,
    min_score: float | None = None,
    *,
    cancel: CancelToken | None = None,
) -> MemorySearchResponse:
    """Search the memory. Never raises; the answer contains the error.

    Numbers out of range are replaced by the nearest valid one, None and unusable values by those of the settings.
    """
    try:
        if not isinstance(query, str) or not query.strip():
            return MemorySearchResponse(error="The query is empty: set query to the words to search for.")
        outcome, fallback = run_search(
            access, query, whole_number(max_results, MAX_RESULTS), fraction(min_score), cancel
        )
        cited = access.cites
        return MemorySearchResponse(
            results=cited_passages(outcome.results, cited=cited, budget=access.settings.injection_budget),
            provider=outcome.provider,
            model=outcome.model,
            fallback=fallback,
            citations=cited,
            mode=outcome.mode,
            searched=UNSET if outcome.corrected is None else outcome.corrected.query,
            notice=_notice(outcome) or UNSET,
        )
    except QueryTooLong as error:
        return MemorySearchResponse(error=str(error))
    except Exception as error:
        return unavailable(error)


def run_search(
    access: AgentAccess, query: str, most: int | None, least: float | None, cancel: CancelToken | None
) -> tuple[SearchOutcome, FallbackStatus | None]:
    """Return the result of a search, and the fallback backend if that answered instead of the chosen one.

    Searches by keywords alone, with a notice, while vectors take too long. Raises as `AgentAccess.call`.
    """

    def ask(
        memory: "MemorySearchManager", token: CancelToken, mode: Literal["auto", "keyword"] = "auto"
    ) -> tuple[SearchOutcome, FallbackStatus | None]:
        def search() -> SearchOutcome:
            return memory.search(
                query,
                mode=mode,
                max_results=most,
                min_score=least,
                session_key=access.session_key,
                explain="if empty",
                cancel=token,
            )

        outcome = search()
        if not outcome.results and _gets_content(memory, token):
            outcome = search()
        status = _status(memory)
        if status is None:
            return outcome, None
        if outcome.results and outcome.mode == "hybrid" and 0 < status.pending_vectors <= status.chunks:
            share = floored(status.chunks - status.pending_vectors, status.chunks)
            pending = f"Only {share} of the passages have a vector; the others are found by words only."
            outcome = msgspec.structs.replace(outcome, notice=" ".join(filter(None, (outcome.notice, pending))))
        return outcome, status.fallback

    def ask_by_keywords(
        memory: "MemorySearchManager", token: CancelToken
    ) -> tuple[SearchOutcome, FallbackStatus | None]:
        outcome, fallback = ask(memory, token, "keyword")
        notice = " ".join(filter(None, (outcome.notice, _BY_WORDS_ONLY)))
        return msgspec.structs.replace(outcome, notice=notice), fallback

    return access.call(ask, cancel, ask_by_keywords)


def _notice(outcome: SearchOutcome) -> str:
    """Return which words were searched instead of others, the outcome's own notice, and why it is empty."""
    notices = []
    if outcome.corrected is not None and not outcome.corrected.is_shorter:
        unknown = any_of(in_quotes(word) for word, _ in outcome.corrected.words)
        notices.append(f"Searched {in_quotes(outcome.corrected.query)} instead: nothing contains {unknown}.")
    notices.append(outcome.full_notice or ("" if outcome.results else _reason(outcome)))
    return " ".join(filter(None, notices))


def _reason(outcome: SearchOutcome) -> str:
    """Return the reason for an empty answer, with advice."""
    if (explanation := outcome.explanation) is None:
        return _OTHER_WORDS
    remedies = [remedy.advice for remedy in explanation.remedies] or [_OTHER_WORDS][: not outcome.understood]
    return cut(" ".join(filter(None, (explanation.reason, *remedies))), _LONGEST_REASON)


def _gets_content(memory: "MemorySearchManager", cancel: CancelToken) -> bool:
    """Wait for an empty, new index to get content; returns whether it has any."""
    until = time.monotonic() + _FIRST_SECONDS
    waited = False
    try:
        while (status := memory.status()).chunks == 0 and (status.dirty or status.syncing):
            if time.monotonic() > until:
                return False
            waited = True
            time.sleep(_POLL_SECONDS)
            cancel.checkpoint()
    except MnemoscopeError:
        return False
    return waited and status.chunks > 0


def _status(memory: "MemorySearchManager") -> MemoryProviderStatus | None:
    """Return the status of the memory; errors are ignored, since the answer is useful without it."""
    try:
        return memory.status()
    except MnemoscopeError:
        return None


def cited_passages(
    results: Iterable[MemorySearchResult], *, cited: bool, budget: int | None
) -> tuple[CitedPassage, ...]:
    """Return the results in order, as many as fit into the budget.

    `cited`: each snippet ends with a line with its location. `budget`: maximum number of characters of all snippets
    together, including those lines; the snippet that exceeds it is cut, and later ones are left out.
    """
    passages = (_cited_passage(result, cited) for result in results)
    return tuple(passages if budget is None else _within_budget(passages, budget))


def _cited_passage(result: MemorySearchResult, cited: bool) -> CitedPassage:
    passage = CitedPassage(
        path=result.path,
        start_line=result.start_line,
        end_line=result.end_line,
        score=round(float(result.score), _DIGITS),
        snippet=with_single_empty_lines(result.snippet),
        source=result.source,
        date=f"{datetime.fromtimestamp(result.modified):%Y-%m-%d}" if result.modified else UNSET,
        agent=(result.message and result.message.agent) or UNSET,
        project=(result.message and folder_name(result.message.project)) or UNSET,
        machine=(result.message and result.message.machine) or UNSET,
        title=(result.message and result.title not in result.snippet and result.title) or UNSET,
    )
    if not cited:
        return passage
    lines = result.path, result.start_line, result.end_line
    page = page_of(result.heading[0]) if result.heading and has_pages(result.path) else 0
    snippet = f"{passage.snippet.strip()}\n\nSource: {cite(*lines, page)}"
    return msgspec.structs.replace(passage, snippet=snippet, citation=cite(*lines))


def _within_budget(passages: Iterable[CitedPassage], budget: int) -> Iterator[CitedPassage]:
    for passage in passages:
        if len(passage.snippet) > budget:
            if snippet := cut(passage.snippet, budget):
                yield msgspec.structs.replace(passage, snippet=snippet)
            return
        yield passage
        budget -= len(passage.snippet)


PromptMode = Literal["full", "minimal", "none"]

_WHEN = "an answer depends on earlier work, decisions, dates, people, preferences or todos"
_UNSURE = "If you are still unsure after looking, say that you looked and did not find it."

_MAX_PASSAGES = 5
_LONGEST_QUERY = 1000
_OPERATORS = re.compile(r'[":*]|(?<!\S)-|\bOR\b')

log = lazy_logger(__name__)


def memory_prompt_section(mode: PromptMode, tools: Collection[str], *, citations: bool = True) -> str:
    """Return the section about using memory; empty unless `mode` is full and `tools` contains one of the memory tools.

    `citations`: whether answers should name locations.
    """
    guidance = _search_guidance("memory_search" in tools, "memory_get" in tools)
    if mode != "full" or not guidance:
        return ""
    instruction = (
        "Where it helps the user to check, name the source of what you found, as path#line."
        if citations
        else "Do not name paths or lines of the memory's files unless the user asks for them."
    )
    return f"## Memory Recall\n{guidance} {_UNSURE}\n{instruction}\n"


def _search_guidance(search: bool, get: bool) -> str:
    if search and get:
        return (
            f"When {_WHEN}, first search the user's notes and past sessions with memory_search; then read only the "
            "lines that you need with memory_get."
        )
    if search:
        return f"When {_WHEN}, first search the user's notes and past sessions with memory_search."
    if get:
        return f"When {_WHEN} that a known note holds, first read the lines that you need with memory_get."
    return ""


def memory_context(access: AgentAccess, message: str, *, cancel: CancelToken | None = None) -> str:
    """Return the five passages that match a message best, as one block to put before it; empty if nothing matches.

    The passages are escaped and marked as untrusted. Never raises: returns an empty text on errors.
    """
    # A message is not a query: operators in it are ordinary text.
    query = _OPERATORS.sub(" ", cut(message, _LONGEST_QUERY))
    if not query.strip():
        return ""
    try:
        outcome, _ = run_search(access, query, _MAX_PASSAGES, None, cancel)
        # The location of each passage is in the line above it.
        passages = cited_passages(outcome.results, cited=False, budget=access.settings.injection_budget)
        cited = access.cites
        return untrusted_block(
            "memory-context",
            ((cite(it.path, it.start_line, it.end_line) if cited else "Passage", it.snippet) for it in passages),
        )
    except Exception as error:
        log.info("No passages are added to a message: %s", error_message(error))
        return ""


PAGE_LINES = 120
PAGE_CHARACTERS = 12_000
_LONGEST_NAME = 1000
"""An error message repeats at most this many characters of the requested name."""


def memory_get(
    access: AgentAccess,
    path: str,
    from_line: int | None = None,
    lines: int | None = None,
    *,
    cancel: CancelToken | None = None,
) -> MemoryGetResponse:
    """Return a page of the file of this stable name, or the lines of a citation; never raises.

    At most `lines` lines (120 for None), and 12,000 characters; if more follows, the text ends with a line that says
    how to continue, and `next_from` is the next line. If there is no such line, the answer says that the file is
    missing, or how many lines it has.
    """
    try:
        if not isinstance(path, str) or not path.strip():
            return MemoryGetResponse(path="", error="The path is empty: set path to the name of a file.")
        start, limit = whole_number(from_line), whole_number(lines)

        def read(memory: "MemorySearchManager", _token: CancelToken) -> FileText:
            if not access.may_read(path):
                raise PathRefused
            cited = None if start or limit else parse_citation(path)
            if cited is not None and not access.may_read(cited.path):
                raise PathRefused
            return read_named(memory, path, start, limit, most=PAGE_LINES)

        return _page(access.call(read, cancel))
    except Exception as error:
        return MemoryGetResponse(path=cut(str(path), _LONGEST_NAME), disabled=True, error=error_message(error))


def read_named(
    memory: "MemorySearchManager", path: str, start: int | None, lines: int | None, *, most: int | None = None
) -> FileText:
    """Read the file of exactly this name, else the lines of a citation or of a line of `search`.

    `most` lines by default. Raises as `read_file`.
    """
    cited = None if start or lines else parse_citation(path)
    try:
        text = memory.read_file(path, start=start, lines=lines or most)
        if text.lines or not cited:
            return text
        # For sessions it is unknown whether the name ever existed: treated as deleted.
    except PathRefused:
        if not cited:
            raise
    limit = cited.last - cited.first + 1
    return memory.read_file(cited.path, start=cited.first, lines=limit)


def _page(text: FileText) -> MemoryGetResponse:
    """Return the part of a text that fits on a page, in whole lines; a single overlong line is cut."""
    page, lines, notice = text.text, text.lines, ""
    next_from = text.next_from
    if len(page) > PAGE_CHARACTERS:
        end = page.rfind("\n", 0, PAGE_CHARACTERS + 1)
        if end >= 0:
            page = page[:end]
            lines = page.count("\n") + 1
            next_from = text.from_line + lines
        else:
            page = cut(page, PAGE_CHARACTERS)
            notice = f"[Line {text.from_line} is longer than the part shown.]"
            next_from = text.from_line + 1 if lines > 1 or text.truncated else None
            lines = 1
    if next_from is not None:
        notice = f"{notice} [More follows: continue with from={next_from}.]".lstrip()
    return MemoryGetResponse(
        path=text.path,
        missing=True if text.total_lines is None else UNSET,
        total_lines=text.total_lines if text.total_lines is not None and not text.lines else UNSET,
        text=f"{page}\n\n{notice}" if notice else page,
        from_line=text.from_line,
        lines=lines,
        truncated=True if notice else UNSET,
        next_from=UNSET if next_from is None else next_from,
    )
