"""Converts search options to a request, with the settings' values as defaults, that can serve as a cache key."""

from collections.abc import Sequence
from typing import Literal, TypedDict, get_args
from unicodedata import normalize

import msgspec

from engine.base.errors import QueryTooLong
from engine.base.language import tr
from engine.corpus.path_guard import PathGuard
from engine.records import (
    LONGEST_QUERY,
    EarlierQuery,
    Passage,
    SearchOutcome,
    SearchTimings,
    Source,
)
from engine.search.chunk_filter import Filter
from engine.search.result_set import LARGEST_SCOPE
from engine.search.search_context import Explain, OnKeywords, SearchRequest
from engine.settings.search_settings import QuerySettings

_SAME_TIME = 0.001
"""Greatest difference of two equal times of a file in seconds, since they are floating-point numbers."""
_MAX_NAMED = 5
"""Maximum number of files that a notice names: after a checkout of a repository, all have another time."""


class SearchOptions(TypedDict, total=False):
    """Options of a search. None means the value of the settings, or no limit."""

    max_results: int | None
    """Maximum number of results; the reference's default is 6."""
    min_score: float | None
    """Minimum score of results, 0 to 1; the reference's default is 0.35."""
    sources: Sequence[Source] | None
    path_glob: str | None
    since: float | None
    """Only files changed at this time or later; seconds since the epoch."""
    until: float | None
    """Only files changed before this time."""
    session_key: str | None
    """Key of the session that searches; unless it is private, the user's own memory is excluded."""
    half_life_days: float | None
    """Number of days in which dated results lose half of their score, unless the settings have another value for their
    path; 0 disables ageing.
    """
    diverse: bool | None
    """Whether to move results down that are similar to better ones."""
    within: Sequence[EarlierQuery]
    """Earlier queries, each limited to the results of the one before; this search is limited to the results of the
    last.
    """
    per_file: int
    """Maximum number of results per file, 3 by default; 0 for no limit. The last one has the number of the others."""
    copies: bool
    """Whether each copy of a passage in another file is a separate result; otherwise they are `copies` of one."""
    correct: bool
    """Whether a word that occurs nowhere may be replaced by the most similar one that does; True by default."""
    explain: Explain
    mode: Literal["auto", "keyword"]
    """`keyword` skips vectors."""
    on_keywords: OnKeywords
    """Receives a first answer, by keywords alone, before the query is embedded and vectors are compared. It is called
    on the calling thread, and the search waits until it returns. It may be called never, once or more often.
    """


_PER_FILE = 3
"""Default number of results per file: a long file that repeats a word must not hide all others."""


def make_request(settings: QuerySettings, query: str, like: Passage | None, options: "SearchOptions") -> SearchRequest:
    """Create a search request from options and settings; `query` is empty if `like` is set.

    Raises `QueryTooLong`; TypeError for an unknown option and ValueError for an unknown value, which would be ignored.
    """
    _check_names(options)
    check_length(query)
    shared = False
    if session_key := options.get("session_key"):
        from engine.search.session_keys import is_shared_session  # only agents have sessions

        shared = is_shared_session(session_key)
    keyword_only = options.get("mode") == "keyword"
    earlier: SearchRequest | None = None
    for level in options.get("within", ()):
        check_length(level.query)
        earlier = SearchRequest(
            query=normalize("NFC", level.query),
            max_results=max(1, LARGEST_SCOPE // settings.hybrid.candidate_multiplier),  # that many candidates per leg
            min_score=_or_default(level.min_score, settings.min_score),
            hybrid=settings.hybrid,
            filter=Filter(level.sources, level.path_glob, level.since, level.until, shared),
            keyword_only=keyword_only,
            half_life_days=_days(level.half_life_days, settings),
            like=level.like,
            within=earlier,
        )
    sources, diverse, max_results = options.get("sources"), options.get("diverse"), options.get("max_results")
    return SearchRequest(
        query=normalize("NFC", query),  # times and words are found in it by their signs
        max_results=settings.max_results if max_results is None else max(1, max_results),
        min_score=_or_default(options.get("min_score"), settings.min_score),
        hybrid=settings.hybrid,
        filter=Filter(
            None if sources is None else tuple(sources),
            options.get("path_glob"),
            options.get("since"),
            options.get("until"),
            shared,
        ),
        keyword_only=keyword_only,
        explain=options.get("explain", False),
        half_life_days=_days(options.get("half_life_days"), settings),
        diverse=settings.hybrid.mmr.enabled if diverse is None else diverse,
        correct=options.get("correct", True),
        per_file=max(0, options.get("per_file", _PER_FILE)),
        copies=options.get("copies", False),
        like=like,
        within=earlier,
    )


def _check_names(options: "SearchOptions") -> None:
    if others := options.keys() - SearchOptions.__annotations__.keys():
        raise TypeError(f"No option {min(others)!r}; use {', '.join(SearchOptions.__annotations__)}.")
    given = {"mode": (options.get("mode", "auto"),), "sources": options.get("sources") or ()}
    for name, allowed in (("mode", ("auto", "keyword")), ("sources", get_args(Source))):
        if unknown := set(given[name]).difference(allowed):
            raise ValueError(f"Unknown {name} {min(unknown)!r}; use {' or '.join(map(repr, allowed))}.")


def check_length(query: str) -> None:
    """Raise `QueryTooLong` for a query that is longer than the limit."""
    if len(query) > LONGEST_QUERY:
        raise QueryTooLong(
            tr(
                "This query has {length:,} characters; a search takes at most {most:,}.",
                length=len(query),
                most=LONGEST_QUERY,
            )
        )


def with_outdated_notice(outcome: SearchOutcome, guard: PathGuard) -> SearchOutcome:
    """Name the found notes that are not on disk, or have changed since the last update, in the notice of an answer."""
    indexed = {found.path: found.modified for found in outcome.results if found.source == "memory"}
    now = guard.times(indexed)
    missing = [path for path, modified in now.items() if modified is None]
    changed = [path for path, modified in now.items() if modified and abs(modified - indexed[path]) > _SAME_TIME]
    if not missing and not changed:
        return outcome
    notices = [outcome.notice] if outcome.notice else []
    if missing:
        notices.append(tr("Not found on disk: {files}.", files=_listed(missing)))
    if changed:
        notices.append(tr("Changed since the last update: {files}.", files=_listed(changed)))
    return msgspec.structs.replace(outcome, notice=" ".join(notices))


def _listed(files: Sequence[str]) -> str:
    listed, more = ", ".join(files[:_MAX_NAMED]), len(files) - _MAX_NAMED
    return tr("{words} and {count} more", words=listed, count=more) if more > 0 else listed


def _or_default(value: float | None, default: float) -> float:
    return default if value is None else value


def _days(half_life: float | None, settings: QuerySettings) -> float:
    return max(0.0, _or_default(half_life, settings.hybrid.temporal_decay.effective_days))


# --- Empty search results with a notice ------------------------------------------------------------------------------

_NO_TIME = SearchTimings(analysis=0.0, keyword=0.0, embed=0.0, vector=0.0, merge=0.0, total=0.0)


def empty_outcome(backend: str, notice: str) -> SearchOutcome:
    """Return an empty search result; `notice` says in one sentence why no search was made."""
    return SearchOutcome(
        results=(),
        total=0,
        provider=backend,
        model=backend,
        mode="keyword",
        timings=_NO_TIME,
        notice=notice,
        explanation=None,
    )
