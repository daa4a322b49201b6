"""Explains where the scores of an answer come from, and how each stage of the search changed the results."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, TypeVar

import msgspec

from engine.base.formatting import any_of, floored, in_quotes
from engine.base.language import tr, tr_count
from engine.providers import Calibration
from engine.records import MatchField, ResultExplanation, SearchExplanation, SearchStage, TermMatch
from engine.search.keyword_scores import KeywordScores
from engine.search.parsed_query_description import no_words
from engine.search.pipeline_stages import (
    Best,
    EmbeddedQuery,
    Moved,
    RaisedMinimum,
    Scope,
    SessionsNamed,
    Stage,
    Stages,
    Terms,
    TimesNamed,
    VectorsReady,
    short_of,
)
from engine.search.scoring import DEFINED, SPELLED, Blend, Evidence, within_limits
from engine.text.query_analysis import SHORTEST_PREFIX
from engine.text.time_expressions import TimeExpression

# --- Words the stages of a search for the explanation: one sentence or two from the kind and the numbers of each.

_T = TypeVar("_T")


def stage_record(stage: Stage) -> SearchStage:
    """Return a search stage as the public record, with a sentence that describes it."""
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
        tr(
            "Passages that age lowered below {least:g}: {count:,}.", count=stage.entered - stage.left, least=limit.least
        ),
        limit,
    )


def _threshold(stage: Stage) -> str:
    limit = _facts(stage, Best)
    return _with_best(
        tr("Passages that scored below {least:g}: {count:,}.", count=stage.entered - stage.left, least=limit.least),
        limit,
    )


def _with_best(note: str, limit: Best | RaisedMinimum) -> str:
    if limit.best is None:
        return note
    return f"{note} {tr('The best score was {score:.2f}.', score=short_of(limit.best, limit.least))}"


def _diversity(stage: Stage) -> str:
    order = _facts(stage, Moved)
    return tr_count(
        "{count:,} of the first {first:,} passages was moved for more variety.",
        "{count:,} of the first {first:,} passages were moved for more variety.",
        order.moved,
        first=order.first,
    )


def _filters(stage: Stage) -> str:
    return tr_count("{count:,} file passes the filters.", "{count:,} files pass the filters.", stage.left)


def _keywords(stage: Stage) -> str:
    return tr_count("{count:,} passage was chosen by words.", "{count:,} passages were chosen by words.", stage.left)


def _language(stage: Stage) -> str:
    order = _facts(stage, Moved)
    return tr_count(
        "The query is in another language than the notes, so each of its words was compared with those of the first "
        "{first:,} passages: {count:,} was moved.",
        "The query is in another language than the notes, so each of its words was compared with those of the first "
        "{first:,} passages: {count:,} were moved.",
        order.moved,
        first=order.first,
    )


def _newest(stage: Stage) -> str:
    return tr("The first passage of each file was chosen, newest files first.")


def _wordless(stage: Stage) -> str:
    return tr_count(
        "{count:,} file satisfies the query without its words: its first passage was added.",
        "{count:,} files satisfy the query without its words: their first passages were added, newest files first.",
        stage.left,
    )


def _passage(stage: Stage) -> str:
    return tr("The passage that was searched for is left out.")


def _query_vector(stage: Stage) -> str:
    if stage.facts is None:
        return tr("The passage's stored vector was used: nothing was embedded.")
    embedded = _facts(stage, EmbeddedQuery)
    return tr("{model} embedded the query in {count:,} dimensions.", model=embedded.model, count=embedded.dims)


def _results(stage: Stage) -> str:
    return tr("{shown:,} of {total:,} results are shown.", shown=stage.left, total=stage.entered)


def _role(stage: Stage) -> str:
    roles = stage.facts
    assert isinstance(roles, frozenset)
    return tr("The other passages match only in messages that are not by {roles}.", roles=any_of(sorted(roles)))


def _scores(stage: Stage) -> str:
    if not stage.left:
        return tr("No passage was left to score.")
    return tr("The best score was {score:.2f}.", score=_facts(stage, float))


def _times(stage: Stage) -> str:
    named = _facts(stage, TimesNamed)
    return tr_count(
        "{count:,} passage dates from the time in the query, or from the days next to it: {times}.",
        "{count:,} passages date from the time in the query, or from the days next to it: {times}.",
        named.lifted,
        times=", ".join(map(time_words, named.times)),
    )


def _sessions(stage: Stage) -> str:
    named = _facts(stage, SessionsNamed)
    return tr_count(
        "{count:,} passage is in a session that the query names: {names}.",
        "{count:,} passages are in sessions that the query names: {names}.",
        named.lifted,
        names=", ".join(map(in_quotes, named.names)),
    )


def time_words(time: TimeExpression) -> str:
    """Return a time expression of the query as typed, followed by its dates."""
    if time.yearly:
        return tr("{time} of any year", time=in_quotes(time.text))
    if time.first == time.last:
        return tr("{time} ({day})", time=in_quotes(time.text), day=time.first.isoformat())
    first, last = time.first.isoformat(), time.last.isoformat()
    return tr("{time} ({first} to {last})", time=in_quotes(time.text), first=first, last=last)


def _title(stage: Stage) -> str:
    return tr_count(
        "{count:,} passage comes first because its title or file name matches.",
        "{count:,} passages come first because their titles or file names match.",
        _facts(stage, int),
    )


def _unknown(stage: Stage) -> str:
    raised = _facts(stage, RaisedMinimum)
    note = tr_count(
        "{count:,} result by meaning scored below {least:.2f}, the minimum when nothing contains {words}.",
        "{count:,} results by meaning scored below {least:.2f}, the minimum when nothing contains {words}.",
        stage.entered - stage.left,
        least=raised.least,
        words=any_of(list(map(in_quotes, raised.unknown))),
    )
    return _with_best(note, raised)


def _unrelated(stage: Stage) -> str:
    raised = _facts(stage, RaisedMinimum)
    note = tr_count(
        "{count:,} result by meaning scored below {least:.2f}, the minimum for a query without related passages.",
        "{count:,} results by meaning scored below {least:.2f}, the minimum for a query without related passages.",
        stage.entered - stage.left,
        least=raised.least,
    )
    return _with_best(note, raised)


def _vectors(stage: Stage) -> str:
    note = tr("Passages chosen by meaning: {count:,}.", count=stage.left)
    if stage.facts is None:
        return note
    ready = _facts(stage, VectorsReady)
    share = tr(
        "{share} of the passages have a vector: {ready:,} of {total:,}.",
        share=floored(ready.ready, ready.total),
        ready=ready.ready,
        total=ready.total,
    )
    return f"{note} {share}"


def _within(stage: Stage) -> str:
    scope = _facts(stage, Scope)
    if scope.total > scope.passages:
        return tr_count(
            "Only the results of {query} were searched: {count:,} passage, the best of {total:,}.",
            "Only the results of {query} were searched: {count:,} passages, the best of {total:,}.",
            scope.passages,
            query=scope.query,
            total=scope.total,
        )
    return tr_count(
        "Only the results of {query} were searched: {count:,} passage.",
        "Only the results of {query} were searched: {count:,} passages.",
        scope.passages,
        query=scope.query,
    )


def _words(stage: Stage) -> str:
    terms = _facts(stage, Terms)
    known = [tr("“{word}” in {count:,}", word=word, count=chunks) for word, chunks in terms.chunks.items() if chunks]
    unknown = [word for word, chunks in terms.chunks.items() if not chunks]
    notes = []
    if known:
        notes.append(tr("Number of passages with each word: {words}.", words=", ".join(known)))
    if unknown:
        notes.append(tr("Not found in the index: {words}.", words=_quoted(unknown)))
        if terms.unfinished in unknown:
            longer = tr_count(
                "Type {count:,} more character to find words that begin with {word}.",
                "Type {count:,} more characters to find words that begin with {word}.",
                SHORTEST_PREFIX - len(terms.unfinished),
                word=in_quotes(terms.unfinished),
            )
            notes.append(longer)
    if terms.similar:
        notes.append(tr("Similar words were searched instead: {words}.", words=_quoted(terms.similar)))
    if terms.dropped:
        notes.append(tr("Ignored as too common: {words}.", words=_quoted(terms.dropped)))
    return " ".join(notes) or no_words()


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
    "language": _language,
    "newest": _newest,
    "passage": _passage,
    "question": _query_vector,
    "results": _results,
    "role": _role,
    "scores": _scores,
    "threshold": _threshold,
    "sessions": _sessions,
    "times": _times,
    "title": _title,
    "unknown": _unknown,
    "unrelated": _unrelated,
    "vectors": _vectors,
    "within": _within,
    "wordless": _wordless,
    "words": _words,
}
"""Functions that describe a stage's facts in a sentence, by name of the stage. `index`, `query` and a failed `question`
have a notice instead.
"""


# ---------------------------------------------------------------------------------------------------------------------

Fields = Mapping[int, Sequence[tuple[MatchField, ...]]]
"""By chunk id: for each term, the fields that contain it."""

if TYPE_CHECKING:
    from engine.search.decay import Age
    from engine.search.diversity import Chosen
    from engine.search.query_lifts import Lift


class Scored(msgspec.Struct, frozen=True):
    """The scores of one chunk, in all stages of the search."""

    id: int
    score: float
    evidence: Evidence
    cosine: float | None
    fresh: float
    """The score before ageing, without the lift for names in the query."""
    keywords: float
    """Score of the keywords alone, before ageing."""
    age: "Age | None" = None
    """None if ageing is off."""
    chosen: "Chosen | None" = None
    """The chunk's position after diversification; None if that is off."""
    order: float = 0.0
    """The score without its upper limit, which orders full matches."""
    by_keywords: bool = False
    """Whether only the keyword score reached the threshold."""
    named: bool = False
    """Whether the name of the chunk's file equals the query: a full match, whatever the chunk contains."""
    lift: "Lift | None" = None
    """None if the query names no time, agent, project or file, or only others than the chunk's."""
    word_similarity: float | None = None
    """Average cosine of the query's words to the chunk's most similar ones; None if they were not compared."""

    @property
    def unlifted(self) -> float:
        """The score without the factors for names in the query."""
        return self.score if self.lift is None else within_limits(self.order / self.lift.factor)

    @property
    def text(self) -> float:
        """Keyword score of the chunk, 0 to 1."""
        return within_limits(self.evidence.text)

    @property
    def vector(self) -> float | None:
        """Vector score, 0 to 1; None without a vector."""
        return None if self.evidence.vector is None else within_limits(self.evidence.vector)


class ScoreInputs(msgspec.Struct, frozen=True):
    """Data on which the scores of an answer depend, besides its chunks: keyword scores, weights and minimum score."""

    words: KeywordScores
    blend: Blend
    calibration: Calibration | None
    """None if no vectors were compared."""
    min_score: float


def explain(
    stages: Stages, shown: Sequence[tuple[str, Scored]], score_inputs: ScoreInputs, fields: Fields
) -> SearchExplanation:
    """Return the explanation of an answer: its search stages, and where each result's score comes from.

    `shown`: citation and scores of each result, in the order of display.
    """
    citations = {scored.chosen.by_score: citation for citation, scored in shown if scored.chosen is not None}
    results = []
    for rank, (citation, scored) in enumerate(shown, 1):
        reason = _of_scores(citation, scored, score_inputs, fields.get(scored.id, ()))
        results.append(_of_result(reason, rank, scored, citations))
    return SearchExplanation(stages=tuple(map(stage_record, stages.found)), results=tuple(results))


def _of_scores(
    citation: str, scored: Scored, score_inputs: ScoreInputs, fields: Sequence[tuple[MatchField, ...]]
) -> ResultExplanation:
    words, range_ = score_inputs.words, score_inputs.calibration
    contributions = words.contributions.get(scored.id) or (0.0,) * len(words.terms)
    parts = words.parts(scored.id)
    counted = words.counted(scored.id, contributions)
    return ResultExplanation(
        citation=citation,
        text_score=scored.text,
        vector_score=scored.vector,
        cosine=scored.cosine,
        vector_weight=score_inputs.blend.weight(scored.evidence),
        vector_evidence=scored.evidence.vector,
        text_weight=score_inputs.blend.alone * (1.0 if scored.vector is None else score_inputs.blend.text_weight),
        agreement=score_inputs.blend.agreeing(scored.evidence),
        terms=tuple(
            TermMatch(
                term=term.surface,
                score=bm25 / parts.full if index in counted else 0.0,
                bm25=bm25,
                chunks=term.chunks or term.loose,
                fields=fields[index] if fields else (),
            )
            for index, (term, bm25) in enumerate(zip(words.terms, contributions, strict=True))
            if bm25
        ),
        score=scored.score,
        by_words=scored.by_keywords,
        fresh_score=scored.fresh,
        time="" if scored.lift is None or scored.lift.time is None else time_words(scored.lift.time),
        time_lift=1.0 if scored.lift is None else scored.lift.time_factor,
        adjacent_time=scored.lift is not None and scored.lift.adjacent,
        session_names=() if scored.lift is None else scored.lift.names,
        session_lift=1.0 if scored.lift is None else scored.lift.session_factor,
        min_score=score_inputs.min_score,
        bm25=parts.bm25,
        full_bm25=parts.full,
        covered=parts.covered,
        text_limit=min(1.0, parts.limit),
        missing=tuple(_missing(words, contributions, words.optional.get(scored.id, frozenset()))),
        cosine_low=None if range_ is None else range_.low,
        cosine_high=None if range_ is None else range_.high,
        nearness=parts.nearness / parts.full if parts.full else 0.0,
        named=scored.named,
        from_name=parts.from_name,
        defines=words.used.get(scored.id, 0.0) >= DEFINED,
        spells=words.used.get(scored.id) == SPELLED,
        in_file=parts.elsewhere > 0,
        from_coverage=parts.from_coverage,
        in_project=tuple(words.terms[index].surface for index in words.in_project(scored.id)),
        from_project=parts.from_project,
        together=parts.together,
        language_known=range_ is None or range_.known,
        word_similarity=scored.word_similarity,
        text_evidence=parts.evidence if parts.evidence > 1 else 0.0,
    )


def _missing(words: KeywordScores, contributions: Sequence[float], optional: Set[int]) -> Iterator[str]:
    """Yield the terms that a chunk doesn't contain; of alternatives, one that it contains is enough.

    `optional`: positions of terms that don't count as missing.
    """
    groups = words.groups or (0,) * len(words.terms)
    covered = {group for group, bm25 in zip(groups, contributions, strict=True) if group and bm25}
    for index, (term, group, bm25) in enumerate(zip(words.terms, groups, contributions, strict=True)):
        if not bm25 and group not in covered and index not in optional:
            yield term.surface


def _of_result(reason: ResultExplanation, rank: int, scored: Scored, citations: Mapping[int, str]) -> ResultExplanation:
    """Return the explanation with the result's age and rank added.

    `citations`: citations of results, by rank by score alone.
    """
    age, chosen = scored.age, scored.chosen
    return msgspec.structs.replace(
        reason,
        rank=rank,
        decay=1.0 if age is None else age.factor,
        half_life_days=None if age is None else age.half_life_days,
        date=None if age is None else age.date,
        date_origin=None if age is None else age.origin,
        score_rank=rank if chosen is None else chosen.by_score + 1,
        mmr_penalty=0.0 if chosen is None else chosen.penalty,
        mmr_like="" if chosen is None or chosen.like is None else citations.get(chosen.like, ""),
    )
