"""Puts a question to the memory."""

import time
from typing import TYPE_CHECKING

from engine import CancelToken, EarlierQuestion, MemorySearchManager, SearchOptions, SearchOutcome

if TYPE_CHECKING:
    from gui.search.runner import Question

DAY = 86_400
_MINUTE = 60


def ask(
    manager: MemorySearchManager, question: "Question", *, by_words: bool, explain: bool, cancel: CancelToken
) -> SearchOutcome:
    """Its answer, or a first one by words alone."""
    options: SearchOptions = {
        "max_results": question.max_results,
        "min_score": question.min_score,
        "sources": question.sources,
        "path_glob": question.scope.glob if question.scope else None,
        "since": _since(question),
        "half_life_days": question.half_life_days,
        "diverse": question.diverse,
        "within": tuple(map(_earlier, question.levels)),
        "explain": explain,
        "mode": "keyword" if by_words else "auto",
    }
    if question.like is not None:
        return manager.search_like(question.like, cancel=cancel, **options)
    return manager.search(question.text, cancel=cancel, **options)


def _earlier(question: "Question") -> EarlierQuestion:
    return EarlierQuestion(
        query=question.text,
        like=question.like,
        min_score=question.min_score,
        half_life_days=question.half_life_days,
        sources=question.sources,
        path_glob=question.scope.glob if question.scope else None,
        since=_since(question),
    )


def _since(question: "Question") -> float | None:
    """To the minute: the same question a moment later is the same question, which the engine may remember."""
    return None if question.days is None else time.time() // _MINUTE * _MINUTE - question.days * DAY
