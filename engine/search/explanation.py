"""Explains where the scores of an answer come from, and how each stage of the search changed the results."""

from collections.abc import Iterator, Mapping, Sequence, Set

import msgspec

from engine.records import MatchField, ResultExplanation, SearchExplanation, TermMatch
from engine.records.explanations import Increase, IncreaseKind
from engine.search.keyword_scores import KeywordScores, Scored, ScoreInputs
from engine.search.pipeline_stages import Stages
from engine.search.scoring import DEFINED, SIGNED, SIGNED_OTHERWISE, TextParts
from engine.search.stage_notes import stage_record, time_words

Fields = Mapping[int, Sequence[tuple[MatchField, ...]]]
"""By chunk id: for each term, the fields that contain it."""


def explain(
    stages: Stages, cited: Sequence[tuple[str, Scored]], score_inputs: ScoreInputs, fields: Fields
) -> SearchExplanation:
    """Return the explanation of an answer: its search stages, and where each result's score comes from.

    `cited`: citation and scores of each result, in the order of display.
    """
    citations = {scored.chosen.by_score: citation for citation, scored in cited if scored.chosen is not None}
    results = []
    for rank, (citation, scored) in enumerate(cited, 1):
        reason = _explain_scores(citation, scored, score_inputs, fields.get(scored.id, ()))
        results.append(_with_age_and_rank(reason, rank, scored, citations))
    return SearchExplanation(stages=tuple(map(stage_record, stages.found)), results=tuple(results))


def _explain_scores(
    citation: str, scored: Scored, score_inputs: ScoreInputs, fields: Sequence[tuple[MatchField, ...]]
) -> ResultExplanation:
    words, leg = score_inputs.words, score_inputs.vector_leg
    range_ = None if leg is None else leg.calibration_of(scored.id)
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
        text_score_only=scored.by_keywords,
        fresh_score=scored.fresh,
        time="" if scored.boost is None or scored.boost.time is None else time_words(scored.boost.time),
        time_factor=1.0 if scored.boost is None else scored.boost.time_factor,
        adjacent_time=scored.boost is not None and scored.boost.adjacent,
        session_names=() if scored.boost is None else scored.boost.names,
        session_factor=1.0 if scored.boost is None else scored.boost.session_factor,
        min_score=score_inputs.min_score,
        bm25=parts.bm25,
        full_bm25=parts.full,
        coverage=parts.covered,
        from_bm25=parts.from_bm25,
        increases=tuple(_increases(scored.id, parts, words)),
        missing=tuple(_missing(words, contributions, words.optional.get(scored.id, frozenset()))),
        cosine_low=None if range_ is None else range_.low,
        cosine_high=None if range_ is None else range_.high,
        proximity=parts.nearness / parts.full if parts.full else 0.0,
        named=scored.named,
        language_known=range_ is None or range_.known,
        raised_weight=score_inputs.blend.weight(scored.evidence) > score_inputs.blend.vector_weight,
        text_evidence=parts.evidence if parts.evidence > 1 else 0.0,
    )


def _increases(id_: int, parts: TextParts, words: KeywordScores) -> Iterator[Increase]:
    """Yield what raises the keyword score of a chunk, with the kind of its match with a name."""
    use = words.used.get(id_, 0.0)
    signs = use in (SIGNED, SIGNED_OTHERWISE)
    name: IncreaseKind = "signs" if signs else "definition" if use >= DEFINED else "spelling" if use else "title"
    in_project = tuple(words.terms[index].surface for index in words.in_project(id_))
    for kind, score in parts.increases.items():
        if score:
            yield Increase(name if kind == "title" else kind, score, in_project if kind == "project" else ())


def _missing(words: KeywordScores, contributions: Sequence[float], optional: Set[int]) -> Iterator[str]:
    """Yield the terms that a chunk doesn't contain; of alternatives, one that it contains is enough.

    `optional`: positions of terms that don't count as missing.
    """
    groups = words.groups or (0,) * len(words.terms)
    covered = {group for group, bm25 in zip(groups, contributions, strict=True) if group and bm25}
    for index, (term, group, bm25) in enumerate(zip(words.terms, groups, contributions, strict=True)):
        if not bm25 and group not in covered and index not in optional:
            yield term.surface


def _with_age_and_rank(
    reason: ResultExplanation, rank: int, scored: Scored, citations: Mapping[int, str]
) -> ResultExplanation:
    """Return the explanation with the result's age and rank added, and the similarities that changed the rank.

    `citations`: citations of results, by rank by score alone.
    """
    age, chosen = scored.age, scored.chosen
    return msgspec.structs.replace(
        reason,
        rank=rank,
        word_similarity=scored.word_similarity,
        similarity_in_lines=scored.by_lines,
        best_similarity=scored.best_similarity,
        decay=1.0 if age is None else age.factor,
        half_life_days=None if age is None else age.half_life_days,
        date=None if age is None else age.date,
        date_origin=None if age is None else age.origin,
        score_rank=rank if chosen is None else chosen.by_score + 1,
        mmr_penalty=0.0 if chosen is None else chosen.penalty,
        mmr_similar_to="" if chosen is None or chosen.like is None else citations.get(chosen.like, ""),
    )
