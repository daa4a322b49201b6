"""What the explanation says and draws, from records alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine import MatchField, MemorySearchResult, ResultExplanation, SearchExplanation, SearchOutcome, SearchStage
from gui.widgets.wording import counted, date

STAGES: dict[str, str] = {
    "question": "Question",
    "index": "Index",
    "filters": "Filters",
    "query": "Operators",
    "within": "Earlier results",
    "passage": "The passage",
    "newest": "Newest",
    "words": "Words",
    "keywords": "Found by words",
    "vectors": "Found by meaning",
    "scores": "Scores",
    "title": "Titles",
    "age": "Age",
    "threshold": "Threshold",
    "role": "Who speaks",
    "diversity": "Variety",
    "results": "Shown",
}
"""Stage -> what it is called here; one that is not listed keeps its own name."""
FIELDS: dict[MatchField, str] = {"title": "title", "heading": "heading", "name": "file name", "body": "text"}
_NEAR = "near each other"
_BESIDES = "also here; another alternative counts"
_ORIGINS = {
    "name": "the name",
    "folder": "the folder",
    "front-matter": "the front matter",
    "session": "the session's end",
    "modified": "the file's time",
    "evergreen": "nothing: evergreen",
}


@dataclass(frozen=True)
class Shares:
    """A score from 0 to 1 as lengths of a bar."""

    words: float
    meaning: float
    aged: float
    """What age has taken off."""
    least: float
    """What the score had to reach; 0 for nothing."""

    @property
    def score(self) -> float:
        return self.words + self.meaning


@dataclass(frozen=True)
class Part:
    """One term and what it brings to the words' score."""

    term: str
    score: float
    where: str
    """Its fields in words; for a term that the passage lacks, or that does not count, that it is so."""

    @property
    def missing(self) -> bool:
        return not self.score


@dataclass(frozen=True)
class Figure:
    """One line of the table behind all of it."""

    name: str
    value: str


def stage_name(stage: SearchStage) -> str:
    return STAGES.get(stage.name, stage.name.capitalize())


def shares(reason: ResultExplanation, result: MemorySearchResult) -> Shares:
    """Of the score that it has now; the part of each half is as large as it was before it aged."""
    return Shares(
        words=reason.score * result.text_share,
        meaning=reason.score * (1 - result.text_share),
        aged=max(0.0, reason.fresh_score - reason.score),
        least=reason.min_score,
    )


def spoken_shares(of: Shares) -> str:
    """The bar for assistive tools."""
    aged = f", {of.aged:.2f} lost by age" if of.aged >= 0.005 else ""
    asked = f"; {of.least:g} are asked for" if of.least else ""
    return f"Score {of.score:.2f}: words {of.words:.2f}, meaning {of.meaning:.2f}{aged}{asked}"


def parts(reason: ResultExplanation) -> list[Part]:
    """The terms that give most first, then those that count for nothing or that the passage lacks."""
    held = sorted(reason.terms, key=lambda term: -term.score)
    found = [Part(term.term, term.score, _fields(term.fields) if term.score else _BESIDES) for term in held]
    near = [Part(_NEAR, reason.nearness, "")] if reason.nearness >= 0.005 else []
    return found + near + [Part(term, 0.0, "not in this passage") for term in reason.missing]


def _fields(fields: Sequence[MatchField]) -> str:
    return ", ".join(FIELDS[field] for field in fields)


def place(reason: ResultExplanation, outcome: SearchOutcome) -> str:
    """ "1 of 7 results"."""
    total = f"{outcome.total:,}{'+' if outcome.total_is_least else ''}"
    return f"Number {reason.rank:,} of {total} {'result' if outcome.total == 1 else 'results'}"


def counts(stage: SearchStage) -> str:
    """For assistive tools: what went in and what was left."""
    if stage.unit == "questions":
        return ""
    unit = {"chunks": "passage", "files": "file", "words": "word"}[stage.unit]
    return f"{counted(stage.entered, unit)} in, {stage.left:,} left."


def total(explanation: SearchExplanation, age: float | None) -> str:
    """All stages together; `age` in seconds of an answer that was remembered."""
    milliseconds = sum(stage.milliseconds for stage in explanation.stages)
    text = f"{len(explanation.stages)} stages in {milliseconds:.1f} ms."
    return text if age is None else f"{text} This answer was remembered for {max(1, round(age))} s."


def spent(milliseconds: float) -> str:
    """ "0.42 ms", "12 ms", "1,240 ms": the tables keep one unit."""
    return f"{milliseconds:.2f}" if milliseconds < 9.995 else f"{milliseconds:,.0f}"


def figures(reason: ResultExplanation) -> tuple[Figure, ...]:
    """All numbers of one result, with their units."""
    return tuple(Figure(name, value) for name, value in _figures(reason))


def _figures(of: ResultExplanation) -> Iterator[tuple[str, str]]:
    yield "Place", f"{of.rank:,}"
    yield "Score", f"{of.score:.3f}"
    if of.min_score:
        yield "Asked for", f"{of.min_score:g}"
    if of.full_bm25:
        yield "Words' score", f"{of.text_score:.3f}"
        for term in of.terms:
            yield f"“{term.term}”", f"{term.score:.3f} · BM25 {term.bm25:.2f} · in {counted(term.chunks, 'passage')}"
        for word in of.missing:
            yield f"“{word}”", "not in this passage"
        yield "BM25 sum", f"{of.bm25:.2f}"
        yield "For nearness", f"{of.nearness * of.full_bm25:.2f}"
        yield "Full match", f"{of.full_bm25:.2f}"
        yield "Of the question", f"{of.covered:.0%}"
        yield "Most it may give", f"{of.text_limit:.3f}"
    yield from _meaning(of)
    yield from _age(of)
    if of.mmr_like or of.rank != of.score_rank:
        yield "Place by score", f"{of.score_rank:,}"
        yield "Off for likeness", f"{of.mmr_penalty:.3f}"
        if of.mmr_like:
            yield "Like", of.mmr_like


def _meaning(of: ResultExplanation) -> Iterator[tuple[str, str]]:
    if of.cosine_low is None or of.cosine_high is None:
        return
    yield "Meaning's score", "no vector yet" if of.vector_score is None else f"{of.vector_score:.3f}"
    if of.cosine is not None:
        yield "Cosine", f"{of.cosine:.3f}"
    yield "Range of cosines", f"{of.cosine_low:.2f} to {of.cosine_high:.2f}"
    yield "Meaning counts", f"{of.vector_weight:.0%}"


def _age(of: ResultExplanation) -> Iterator[tuple[str, str]]:
    if of.date_origin is None:
        return
    yield "Date from", _ORIGINS[of.date_origin]
    if of.date is not None and of.half_life_days is not None:
        yield "Date", date(of.date)
        yield "Half-life", counted(round(of.half_life_days), "day")
        yield "Left after age", f"{of.decay:.1%}"
        yield "Score before", f"{of.fresh_score:.3f}"


def spoken_parts(listed: Sequence[Part]) -> str:
    """The bars of the terms for assistive tools."""
    return ", ".join(f"{part.term} {part.where if part.missing else f'{part.score:.2f}'}" for part in listed)
