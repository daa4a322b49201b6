"""A query with all its options, its answer, and the call that sends it to the memory."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from engine import (
    CancelToken,
    EarlierQuery,
    MemorySearchManager,
    MultiWorkspaceMemory,
    Passage,
    SearchOptions,
    SearchOutcome,
    Source,
    has_one_character_word,
    literal_glob,
)
from gui.core.capabilities import MissingFeatures
from gui.core.workspace import FIRST_RESULTS
from gui.search.result_rows import ResultRow, Row, SortOrder, build_rows


@dataclass(frozen=True)
class Scope:
    """One file or session to which the search is limited, with its display name."""

    path: str
    name: str

    @property
    def glob(self) -> str:
        """A glob pattern that matches only this path."""
        return literal_glob(self.path)


@dataclass(frozen=True)
class Query:
    """A search request: text, filters, ranking options and the number of results."""

    text: str
    sources: tuple[Source, ...] | None = None
    days: int | None = None
    """Only files that changed within this many days; None for any time."""
    scope: Scope | None = None
    max_results: int = FIRST_RESULTS
    min_score: float | None = None
    """Minimum score of results; None for the value of the settings."""
    like: Passage | None = None
    """Passage to find similar ones for, instead of `text`, which is empty then."""
    within: "Query | None" = None
    """The query whose results are searched; its own `within` may limit it further."""
    half_life_days: float | None = None
    """Days in which dated results lose half of their score, 0 for none; None for the value of the settings."""
    diverse: bool | None = None
    """Whether to rank results that repeat others lower."""
    correct: bool = True
    """Whether a word that occurs nowhere may be replaced by the most similar one."""
    all_workspaces: bool = False
    """Whether to search all workspaces, not only the open one."""

    @property
    def subject(self) -> "Query":
        """This query with the default number of results and minimum score, to compare what two queries search for."""
        return replace(self, max_results=FIRST_RESULTS, min_score=None, correct=True)

    @property
    def levels(self) -> tuple["Query", ...]:
        """The earlier queries to whose results this query is limited, widest first."""
        return () if self.within is None else (*self.within.levels, self.within)


@dataclass(frozen=True)
class Answer:
    query: Query
    outcome: SearchOutcome
    final: bool
    """False if only keywords have been searched yet."""
    explained: bool = False
    """Whether the explanation was requested."""
    _rows: dict[SortOrder, Sequence[Row]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def rows(self, order: SortOrder) -> Sequence[Row]:
        """Return the rows of the list of results, cached."""
        if order not in self._rows:
            self._rows[order] = build_rows(self.outcome, order)
        return self._rows[order]

    def make_texts(self, token: CancelToken, most: int | None = None) -> "Answer":
        """Make the rows, and the texts of the first `most` or all, on a pool thread; returns the answer itself."""
        for row in self.rows("relevance")[:most]:
            token.checkpoint()
            if isinstance(row, ResultRow):
                row.excerpt  # noqa: B018 - makes the excerpt, which is cached
        return self

    @property
    def searched(self) -> Query:
        """The query with the correction that was searched, if there is one."""
        corrected = self.outcome.corrected
        return self.query if corrected is None else replace(self.query, text=corrected.query)


def is_searchable(text: str) -> bool:
    """Return whether a text is long enough to search for: two characters; one if it is an emoji or, say, Chinese."""
    return len(text.strip()) >= 2 or has_one_character_word(text)


DAY = 86_400
_MINUTE = 60


def permitted(query: Query, unsupported: MissingFeatures) -> Query:
    """Return the query without the options that this memory doesn't support; the window hides them."""
    if "filters" in unsupported:
        query = replace(query, sources=None, days=None, scope=None)
    if "within" in unsupported:
        query = replace(query, within=None)
    if "ordering" in unsupported:
        query = replace(query, half_life_days=0.0, diverse=False)
    return query


def run_query(
    manager: MemorySearchManager,
    query: Query,
    *,
    explain: bool | Literal["if empty", "if weak"],
    cancel: CancelToken,
    on_keywords: Callable[[SearchOutcome], None] | None = None,
    whole_files: bool = False,
) -> SearchOutcome:
    """Send a query to the memory and return its answer, after passing a keyword-only answer to `on_keywords`.

    `whole_files`: include all results of each file. Runs on a pool thread: another backend may have replaced the one
    for which the query was composed.
    """
    unsupported = manager.unsupported
    query = permitted(query, unsupported)
    options: SearchOptions = {
        "max_results": query.max_results,
        "min_score": query.min_score,
        "sources": query.sources,
        "path_glob": query.scope.glob if query.scope else None,
        "since": _since(query),
        "half_life_days": None if "ordering" in unsupported else query.half_life_days,
        "diverse": None if "ordering" in unsupported else query.diverse,
        "within": tuple(map(_earlier, query.levels)),
        "correct": query.correct,
        "explain": False if "explanation" in unsupported else explain,
    }
    if on_keywords is not None:
        options["on_keywords"] = on_keywords
    if whole_files:
        options["per_file"] = 0
    if query.like is not None:
        return manager.search_like(query.like, cancel=cancel, **options)
    if query.all_workspaces and query.scope is None and isinstance(manager, MultiWorkspaceMemory):
        return manager.search_everywhere(query.text, cancel=cancel, **options)
    return manager.search(query.text, cancel=cancel, **options)


def _earlier(query: Query) -> EarlierQuery:
    return EarlierQuery(
        query=query.text,
        like=query.like,
        min_score=query.min_score,
        half_life_days=query.half_life_days,
        sources=query.sources,
        path_glob=query.scope.glob if query.scope else None,
        since=_since(query),
    )


def _since(query: Query) -> float | None:
    """Return the earliest modification time, rounded to the minute so that repeated queries hit the engine's cache."""
    return None if query.days is None else time.time() // _MINUTE * _MINUTE - query.days * DAY
