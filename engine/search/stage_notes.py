"""Words the stages of a search for the explanation: one sentence or two from the kind and the numbers of each."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from engine.base.formatting import any_of, floored, in_quotes
from engine.base.language import tr, tr_count
from engine.records import SearchStage
from engine.search.stages import Best, Diversity, EmbeddedQuery, Scope, Stage, Terms, VectorsReady

_T = TypeVar("_T")


def stage_record(stage: Stage) -> SearchStage:
    """Return the stage with its note, for an explained answer."""
    return SearchStage(
        name=stage.name,
        entered=stage.entered,
        left=stage.left,
        note=stage.facts if isinstance(stage.facts, str) else _NOTES[stage.name](stage),
        milliseconds=stage.milliseconds,
        unit=stage.unit,
    )


def _age(stage: Stage) -> str:
    limit = _facts(stage, Best)
    return _with_best(
        tr("{count:,} fell below {least:g} by their age.", count=stage.entered - stage.left, least=limit.least), limit
    )


def _threshold(stage: Stage) -> str:
    limit = _facts(stage, Best)
    return _with_best(
        tr("{count:,} scored below {least:g}.", count=stage.entered - stage.left, least=limit.least), limit
    )


def _with_best(note: str, limit: Best) -> str:
    return note if limit.best is None else f"{note} {tr('The best of them reached {score:.2f}.', score=limit.best)}"


def _diversity(stage: Stage) -> str:
    order = _facts(stage, Diversity)
    return tr_count(
        "{count:,} of the first {first:,} was moved for more variety.",
        "{count:,} of the first {first:,} were moved for more variety.",
        order.moved,
        first=order.first,
    )


def _filters(stage: Stage) -> str:
    return tr_count("{count:,} file passes the filters.", "{count:,} files pass the filters.", stage.left)


def _keywords(stage: Stage) -> str:
    return tr_count("{count:,} chunk was chosen by words.", "{count:,} chunks were chosen by words.", stage.left)


def _newest(stage: Stage) -> str:
    return tr("The first chunk of each file, newest files first.")


def _passage(stage: Stage) -> str:
    return tr("The passage itself is left out.")


def _question(stage: Stage) -> str:
    if stage.facts is None:
        return tr("The passage's stored vector was used: nothing was embedded.")
    embedded = _facts(stage, EmbeddedQuery)
    return tr("{model} embedded it in {count:,} dimensions.", model=embedded.model, count=embedded.dims)


def _results(stage: Stage) -> str:
    return tr("{shown:,} of {total:,} are shown.", shown=stage.left, total=stage.entered)


def _role(stage: Stage) -> str:
    roles = stage.facts
    assert isinstance(roles, frozenset)
    return tr("The others match only in messages that are not by {roles}.", roles=any_of(sorted(roles)))


def _scores(stage: Stage) -> str:
    if not stage.left:
        return tr("Nothing was left to score.")
    return tr("The best of them reached {score:.2f}.", score=_facts(stage, float))


def _title(stage: Stage) -> str:
    return tr_count(
        "{count:,} of them comes first: its name matches.",
        "{count:,} of them come first: their names match.",
        _facts(stage, int),
    )


def _vectors(stage: Stage) -> str:
    note = tr("The {count:,} nearest by meaning.", count=stage.left)
    if stage.facts is None:
        return note
    ready = _facts(stage, VectorsReady)
    share = tr(
        "{share} of the vectors are ready: {ready:,} of {total:,}.",
        share=floored(ready.ready / ready.total),
        ready=ready.ready,
        total=ready.total,
    )
    return f"{note} {share}"


def _within(stage: Stage) -> str:
    scope = _facts(stage, Scope)
    if scope.total > scope.passages:
        return tr_count(
            "Only the results of {question} were searched: {count:,} chunk, the best of {total:,}.",
            "Only the results of {question} were searched: {count:,} chunks, the best of {total:,}.",
            scope.passages,
            question=scope.query,
            total=scope.total,
        )
    return tr_count(
        "Only the results of {question} were searched: {count:,} chunk.",
        "Only the results of {question} were searched: {count:,} chunks.",
        scope.passages,
        question=scope.query,
    )


def _words(stage: Stage) -> str:
    terms = _facts(stage, Terms)
    known = [tr("“{word}” in {count:,}", word=word, count=chunks) for word, chunks in terms.chunks.items() if chunks]
    unknown = [word for word, chunks in terms.chunks.items() if not chunks]
    notes = []
    if known:
        notes.append(tr("Chunks with each word: {words}.", words=", ".join(known)))
    if unknown:
        notes.append(tr("Nowhere in the index: {words}.", words=_quoted(unknown)))
    if terms.dropped:
        notes.append(tr("Left out as too common in any text: {words}.", words=_quoted(terms.dropped)))
    return " ".join(notes) or tr("The query has no words.")


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(map(in_quotes, words))


def _facts(stage: Stage, kind: type[_T]) -> _T:
    assert isinstance(stage.facts, kind), stage.name
    return stage.facts


_NOTES: dict[str, Callable[[Stage], str]] = {
    "age": _age,
    "diversity": _diversity,
    "filters": _filters,
    "keywords": _keywords,
    "newest": _newest,
    "passage": _passage,
    "question": _question,
    "results": _results,
    "role": _role,
    "scores": _scores,
    "threshold": _threshold,
    "title": _title,
    "vectors": _vectors,
    "within": _within,
    "words": _words,
}
"""By the name of the stage. The stages `index` and `query`, and a failed `question`, bring the search's own notice."""
