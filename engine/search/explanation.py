"""Says for an answer where its scores came from, and for an empty one which stage removed what."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.records import ResultExplanation, SearchExplanation, SearchStage
from engine.search.decay import Age
from engine.search.diversity import Chosen
from engine.search.keywords import KeywordScores, Term


@dataclass
class Stages:
    """The stages of one search, in their order."""

    found: list[SearchStage] = field(default_factory=list)

    def add(self, name: str, entered: int, left: int, note: str) -> None:
        self.found.append(SearchStage(name=name, entered=entered, left=left, note=note))

    def add_terms(self, terms: Sequence[Term], dropped: Sequence[str]) -> None:
        """What the analysis made of the question."""
        known = [f"“{term.surface}” in {term.chunks:,}" for term in terms if term.chunks]
        unknown = [f"“{term.surface}”" for term in terms if not term.chunks]
        notes = []
        if known:
            notes.append(f"Chunks with each word: {', '.join(known)}.")
        if unknown:
            notes.append(f"Nowhere in the index: {', '.join(unknown)}.")
        if dropped:
            notes.append(f"Left out as too common in any text: {', '.join(f'“{word}”' for word in dropped)}.")
        self.add("words", len(terms) + len(dropped), len(known), " ".join(notes) or "The question has no words.")


class Scored(NamedTuple):
    """One chunk's scores."""

    id: int
    score: float
    text: float
    vector: float | None
    cosine: float | None
    fresh: float
    """The score as it was before it aged."""
    age: Age | None = None
    """None where temporal decay is off."""
    chosen: Chosen | None = None
    """Where diversity put it; None where that is off."""


def explain(
    stages: Stages, shown: Sequence[tuple[str, Scored]], words: KeywordScores, vector_weight: float
) -> SearchExplanation:
    """`shown` are the results' citations and scores, in their order."""
    results = []
    citations = {scored.chosen.by_score: citation for citation, scored in shown if scored.chosen is not None}
    for rank, (citation, scored) in enumerate(shown, 1):
        age, chosen = scored.age, scored.chosen
        parts = words.contributions.get(scored.id, ())
        results.append(
            ResultExplanation(
                citation=citation,
                text_score=scored.text,
                vector_score=scored.vector,
                cosine=scored.cosine,
                vector_weight=0.0 if scored.vector is None else vector_weight,
                terms=tuple((term.surface, part) for term, part in zip(words.terms, parts, strict=False) if part),
                rank=rank,
                decay=1.0 if age is None else age.factor,
                half_life_days=None if age is None else age.half_life_days,
                date=None if age is None else age.date,
                date_origin=None if age is None else age.origin,
                score_rank=rank if chosen is None else chosen.by_score + 1,
                mmr_penalty=0.0 if chosen is None else chosen.penalty,
                mmr_like="" if chosen is None or chosen.like is None else citations.get(chosen.like, ""),
            )
        )
    return SearchExplanation(stages=tuple(stages.found), results=tuple(results))
