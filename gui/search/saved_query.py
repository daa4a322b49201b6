"""Converts a query to its saved form and back, and names it."""

from engine import AskedQuestion, Passage, tr
from gui.search.filters import period_within
from gui.search.query import Query, Scope
from gui.search.ranking import Ranking
from gui.search.rows import SortOrder
from gui.search.scope_messages import citation, quoted, source_names


def kept(question: Query, order: SortOrder = "relevance") -> AskedQuestion:
    """The saved form, without the requested amount of results."""
    return AskedQuestion(
        text=question.text,
        sources=question.sources,
        days=question.days,
        path=question.scope.path if question.scope else "",
        path_name=question.scope.name if question.scope else "",
        like=question.like,
        within=kept(question.within) if question.within else None,
        half_life_days=question.half_life_days,
        diverse=question.diverse,
        order=order,
        everywhere=question.everywhere,
    )


def asked(question: AskedQuestion) -> Query:
    return Query(
        question.text,
        question.sources,
        question.days,
        Scope(question.path, question.path_name) if question.path else None,
        like=question.like,
        within=asked(question.within) if question.within else None,
        half_life_days=question.half_life_days,
        diverse=question.diverse,
        everywhere=question.everywhere,
    )


def title(question: AskedQuestion) -> str:
    """The query's text, without its limits."""
    return question.text if question.like is None else _like(question.like)


def limits(question: AskedQuestion) -> str:
    """What narrows or orders the answer, in a few words; empty for nothing."""
    parts = [
        tr("in “{name}”", name=question.path_name or question.path) if question.path else "",
        tr("among “{question}”", question=title(question.within)) if question.within else "",
        source_names(question.sources),
        period_within(question.days) if question.days is not None else "",
        *Ranking(question.half_life_days or 0.0, bool(question.diverse)).words,
        tr("by date") if question.order == "date" else "",
        tr("all workspaces") if question.everywhere else "",
    ]
    return " · ".join(part for part in parts if part)


def _like(passage: Passage) -> str:
    return tr("Like {passage}", passage=quoted(passage.text) if passage.text.strip() else citation(passage))
