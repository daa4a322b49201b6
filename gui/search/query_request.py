"""Sends a query to the memory, without unsupported options."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from engine import CancelToken, EarlierQuestion, MemorySearchManager, MultiWorkspaceMemory, SearchOptions, SearchOutcome
from gui.core.capabilities import MissingFeatures
from gui.search.query import Query

DAY = 86_400
_MINUTE = 60


def permitted(question: Query, lacks: MissingFeatures) -> Query:
    """The query without options that this memory doesn't support; the window neither shows nor offers them."""
    if "conditions" in lacks:
        question = replace(question, sources=None, days=None, scope=None)
    if "narrowing" in lacks:
        question = replace(question, within=None)
    if "ordering" in lacks:
        question = replace(question, half_life_days=0.0, diverse=False)
    return question


def ask(
    manager: MemorySearchManager,
    question: Query,
    *,
    explain: bool | Literal["if empty"],
    cancel: CancelToken,
    on_keywords: Callable[[SearchOutcome], None] | None = None,
    whole_files: bool = False,
) -> SearchOutcome:
    """Its answer, after a first one by keywords for `on_keywords`; `whole_files`: with all results of each file.

    On a pool thread: another backend may have replaced the one for which the query was composed.
    """
    lacks = manager.lacks
    question = permitted(question, lacks)
    options: SearchOptions = {
        "max_results": question.max_results,
        "min_score": question.min_score,
        "sources": question.sources,
        "path_glob": question.scope.glob if question.scope else None,
        "since": _since(question),
        "half_life_days": None if "ordering" in lacks else question.half_life_days,
        "diverse": None if "ordering" in lacks else question.diverse,
        "within": tuple(map(_earlier, question.levels)),
        "correct": question.correct,
        "explain": False if "explanation" in lacks else explain,
    }
    if on_keywords is not None:
        options["on_keywords"] = on_keywords
    if whole_files:
        options["per_file"] = 0
    if question.like is not None:
        return manager.search_like(question.like, cancel=cancel, **options)
    if question.everywhere and question.scope is None and isinstance(manager, MultiWorkspaceMemory):
        return manager.search_everywhere(question.text, cancel=cancel, **options)
    return manager.search(question.text, cancel=cancel, **options)


def _earlier(question: Query) -> EarlierQuestion:
    return EarlierQuestion(
        query=question.text,
        like=question.like,
        min_score=question.min_score,
        half_life_days=question.half_life_days,
        sources=question.sources,
        path_glob=question.scope.glob if question.scope else None,
        since=_since(question),
    )


def _since(question: Query) -> float | None:
    """To the minute: repeated queries then hit the engine's cache."""
    return None if question.days is None else time.time() // _MINUTE * _MINUTE - question.days * DAY
