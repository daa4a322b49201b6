"""Explains where the scores of an answer come from, and how each stage of the search changed the results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from engine.embedding.base import Calibration
from engine.records import MatchField, ResultExplanation, SearchExplanation, TermMatch
from engine.search.keyword_leg import KeywordScores
from engine.search.scoring import Blend
from engine.search.stage_notes import stage_record
from engine.search.stages import Stages

Fields = Mapping[int, Sequence[tuple[MatchField, ...]]]
"""By chunk, for each term the fields that contain it."""

if TYPE_CHECKING:
    from engine.search.decay import Age
    from engine.search.diversity import Chosen


class Scored(NamedTuple):
    """One chunk's scores."""

    id: int
    score: float
    text: float
    vector: float | None
    cosine: float | None
    fresh: float
    """The score as it was before it aged."""
    age: "Age | None" = None
    """None if ageing is off."""
    chosen: "Chosen | None" = None
    """Its position after diversification; None if that is off."""
    order: float = 0.0
    """The score without its upper limit, which orders full matches."""
    by_words: bool = False
    """Whether only its words let it in."""
    named: bool = False
    """Whether the name of its file equals the query: a full match, whatever the chunk contains."""


@dataclass(frozen=True)
class Grounds:
    """The inputs of one answer's scores, besides the chunks themselves."""

    words: KeywordScores
    blend: Blend
    calibration: Calibration | None
    """None if no vectors were compared."""
    min_score: float


def explain(stages: Stages, shown: Sequence[tuple[str, Scored]], grounds: Grounds, fields: Fields) -> SearchExplanation:
    """`shown` are the results' citations and scores, in their order."""
    citations = {scored.chosen.by_score: citation for citation, scored in shown if scored.chosen is not None}
    results = []
    for rank, (citation, scored) in enumerate(shown, 1):
        reason = _of_scores(citation, scored, grounds, fields.get(scored.id, ()))
        results.append(_of_place(reason, rank, scored, citations))
    return SearchExplanation(stages=tuple(map(stage_record, stages.found)), results=tuple(results))


def _of_scores(
    citation: str, scored: Scored, grounds: Grounds, fields: Sequence[tuple[MatchField, ...]]
) -> ResultExplanation:
    words, range_ = grounds.words, grounds.calibration
    contributions = words.contributions.get(scored.id) or (0.0,) * len(words.terms)
    parts = words.parts(scored.id)
    counted = words.counted(contributions)
    return ResultExplanation(
        citation=citation,
        text_score=scored.text,
        vector_score=scored.vector,
        cosine=scored.cosine,
        vector_weight=0.0 if scored.vector is None else grounds.blend.vector_weight,
        terms=tuple(
            TermMatch(
                term=term.surface,
                score=bm25 / parts.full if index in counted else 0.0,
                bm25=bm25,
                chunks=term.chunks,
                fields=fields[index] if fields else (),
            )
            for index, (term, bm25) in enumerate(zip(words.terms, contributions, strict=True))
            if bm25
        ),
        score=scored.score,
        by_words=scored.by_words,
        fresh_score=scored.fresh,
        min_score=grounds.min_score,
        bm25=parts.bm25,
        full_bm25=parts.full,
        covered=parts.covered,
        text_limit=min(1.0, parts.limit),
        missing=tuple(_missing(words, contributions)),
        cosine_low=None if range_ is None else range_.low,
        cosine_high=None if range_ is None else range_.high,
        nearness=parts.nearness / parts.full if parts.full else 0.0,
        named=scored.named,
        from_name=parts.from_name,
        text_evidence=parts.evidence if parts.evidence > 1 else 0.0,
    )


def _missing(words: KeywordScores, contributions: Sequence[float]) -> Iterator[str]:
    """Terms missing from the chunk; alternatives count as present if the chunk contains one of them."""
    groups = words.groups or (0,) * len(words.terms)
    held = {group for group, bm25 in zip(groups, contributions, strict=True) if group and bm25}
    for term, group, bm25 in zip(words.terms, groups, contributions, strict=True):
        if not bm25 and group not in held:
            yield term.surface


def _of_place(reason: ResultExplanation, rank: int, scored: Scored, citations: Mapping[int, str]) -> ResultExplanation:
    """Add its age and its rank among the results; `citations` by rank by score alone."""
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
