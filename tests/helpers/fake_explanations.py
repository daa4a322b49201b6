"""Explanations in the engine's format, for the fake memory and for tests of the views that show them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from engine import (
    MemorySearchResult,
    ResultExplanation,
    SearchExplanation,
    SearchRemedy,
    SearchStage,
    TermMatch,
)

WEAK = SearchRemedy(name="weak", stage="threshold", advice="Best match 0.31; the minimum is 0.35.")


def make_reason(**changes: Any) -> ResultExplanation:
    """Return the reason of a result that both searches found, with ageing and diversity applied."""
    reason = ResultExplanation(
        citation="projects/greenhouse.md#L7-L17",
        text_score=0.71,
        vector_score=0.63,
        cosine=0.465,
        vector_weight=0.3,
        text_weight=0.7,
        terms=(
            TermMatch(term="irrigation", score=0.25, bm25=2.4, chunks=12, fields=("body",)),
            TermMatch(term="timer", score=0.46, bm25=4.4, chunks=5, fields=("heading", "body")),
        ),
        rank=3,
        decay=0.5,
        half_life_days=30.0,
        date=1_770_508_800.0,
        date_origin="name",
        score_rank=1,
        mmr_penalty=0.12,
        mmr_similar_to="topics/shopping.md#L1-L3",
        score=0.343,
        fresh_score=0.686,
        min_score=0.35,
        bm25=6.8,
        full_bm25=10.0,
        proximity=0.03,
        coverage=0.8,
        from_bm25=0.71,
        missing=("skipped",),
        cosine_low=0.15,
        cosine_high=0.65,
    )
    return msgspec.structs.replace(reason, **changes)


def make_stages(found: int, results: int, files: int = 4) -> tuple[SearchStage, ...]:
    """Return the stages of a hybrid search in which the threshold removes results."""
    rows: Sequence[tuple[str, int, int, str, float, str]] = (
        ("words", 2, 2, "Passages with each word in the whole index: “irrigation”: 12, “timer”: 5.", 0.4, "words"),
        ("keywords", files, files, f"Passages chosen by words: {files}.", 1.2, "chunks"),
        ("vectors", files, files, f"Passages chosen by meaning: {files}.", 2.5, "chunks"),
        ("threshold", files, found, f"Passages that scored below 0.35: {files - found}.", 0.3, "chunks"),
        ("results", found, results, f"{results} of {found} results are shown.", 0.6, "chunks"),
    )
    return tuple(
        SearchStage(name=name, before=entered, after=left, note=note, milliseconds=spent, unit=unit)  # type: ignore[arg-type]
        for name, entered, left, note, spent, unit in rows
    )


def explain(
    found: Sequence[MemorySearchResult],
    results: Sequence[MemorySearchResult],
    *,
    min_score: float,
    remedies: tuple[SearchRemedy, ...],
) -> SearchExplanation:
    """Return an explanation of these results; an empty answer has the remedies."""
    return SearchExplanation(
        stages=make_stages(len(found), len(results)),
        results=tuple(_of_result(rank, result, min_score) for rank, result in enumerate(results, 1)),
        emptied_by="" if found else "threshold",
        remedies=() if found else remedies,
    )


def _of_result(rank: int, result: MemorySearchResult, min_score: float) -> ResultExplanation:
    meant = result.vector_score is not None
    return ResultExplanation(
        citation=result.citation,
        text_score=result.text_score,
        vector_score=result.vector_score,
        cosine=result.vector_score,
        vector_weight=0.3 if meant else 0.0,
        text_weight=0.7 if meant else 1.0,
        terms=(TermMatch(term="word", score=result.text_score, bm25=4.0, chunks=2, fields=("body",)),),
        rank=rank,
        score_rank=rank,
        score=result.score,
        fresh_score=result.score,
        min_score=min_score,
        bm25=4.0,
        full_bm25=4.0 / result.text_score,
        cosine_low=0.0 if meant else None,
        cosine_high=1.0 if meant else None,
    )
