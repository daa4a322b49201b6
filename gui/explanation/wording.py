"""Texts and chart data of the explanation, made from records."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine import (
    IncreaseKind,
    MatchField,
    MemorySearchResult,
    ResultExplanation,
    SearchExplanation,
    SearchOutcome,
    SearchStage,
    TermMatch,
    in_quotes,
    marked,
    number,
    tr,
    tr_count,
)
from gui.search.messages import milliseconds
from gui.text.formatting import date_of

STAGES: dict[str, str] = {
    "embedding": marked("Query"),
    "index": marked("Index"),
    "filters": marked("Filters"),
    "operators": marked("Operators"),
    "within": marked("Earlier results"),
    "limits": marked("Limits"),
    "passage": marked("The passage"),
    "newest": marked("Newest files"),
    "wordless": marked("Without the words"),
    "words": marked("Words"),
    "keywords": marked("Found by words"),
    "vectors": marked("Found by meaning"),
    "scores": marked("Scores"),
    "times": marked("Dates"),
    "title": marked("Title matches"),
    "age": marked("Age"),
    "threshold": marked("Minimum score"),
    "unknown": marked("Unknown words"),
    "unrelated": marked("Unrelated query"),
    "role": marked("Speaker"),
    "language": marked("Another language"),
    "lines": marked("Similar words"),
    "best": marked("Similar to the best"),
    "diversity": marked("More variety"),
    "results": marked("Results shown"),
}
"""Stage -> its label; one that is not listed keeps its own name."""
FIELDS: dict[MatchField, str] = {
    "title": marked("title"),
    "alias": marked("alias"),
    "heading": marked("heading"),
    "name": marked("file name"),
    "body": marked("text"),
}
_MINIMUMS = frozenset({"threshold", "age", "unknown", "unrelated"})
"""Stages that leave out results below a minimum score."""
_NEAR = marked("near each other")
_INCREASES: dict[IncreaseKind, str] = {
    "coverage": marked("share of the query"),
    "file": marked("rest of the query near the passage"),
    "project": marked("words in other passages of the project"),
    "title": marked("match of the title or name"),
    "definition": marked("definition of the name"),
    "spelling": marked("words spelled as one name"),
    "signs": marked("words with their signs"),
}
_OTHER_WORD = marked("also in this passage; another word of the OR counts")
_ORIGINS = {
    "name": marked("the name"),
    "folder": marked("the folder"),
    "front-matter": marked("the front matter"),
    "session": marked("the session's end"),
    "modified": marked("the file's time"),
    "evergreen": marked("nothing, because this file never ages"),
}
_MISSING_TERM = marked("not in this passage")
_SPOKEN_SHARES = {
    (False, False): marked("Score {score:.2f}: words {words:.2f}, meaning {meaning:.2f}"),
    (True, False): marked("Score {score:.2f}: words {words:.2f}, meaning {meaning:.2f}, {aged:.2f} lost by age"),
    (False, True): marked("Score {score:.2f}: words {words:.2f}, meaning {meaning:.2f}; minimum {least:g}"),
    (True, True): marked(
        "Score {score:.2f}: words {words:.2f}, meaning {meaning:.2f}, {aged:.2f} lost by age; minimum {least:g}"
    ),
}
"""Texts by whether age has reduced the score, and whether there is a minimum."""


@dataclass(frozen=True)
class Shares:
    """The parts of a score as lengths on a bar from 0 to 1."""

    words: float
    meaning: float
    aged: float
    """Part of the score lost by age."""
    least: float
    """Minimum score; 0 for none."""

    @property
    def score(self) -> float:
        return self.words + self.meaning


@dataclass(frozen=True)
class Part:
    """One query term and its part of the keyword score."""

    term: str
    score: float
    where: str
    """The fields that contain the term, or a note that the passage doesn't contain it or that it doesn't count."""

    @property
    def missing(self) -> bool:
        return not self.score


@dataclass(frozen=True)
class Figure:
    """A row of the table of numbers."""

    name: str
    value: str


def stage_name(stage: SearchStage) -> str:
    known = STAGES.get(stage.name)
    return stage.name.capitalize() if known is None else tr(known)


def below_minimum(explanation: SearchExplanation | None) -> bool:
    """Return whether any result was removed because its score is below the minimum."""
    stages = () if explanation is None else explanation.stages
    return any(stage.name in _MINIMUMS and stage.after < stage.before for stage in stages)


def shares(reason: ResultExplanation, result: MemorySearchResult) -> Shares:
    """Split the score of a result into keywords and meaning, in their proportion before age decay."""
    if not result.is_scored:
        return Shares(0.0, 0.0, 0.0, 0.0)
    return Shares(
        words=reason.score * result.text_share,
        meaning=reason.score * (1 - result.text_share),
        aged=max(0.0, reason.boosted_score - reason.score),
        least=reason.min_score,
    )


def spoken_shares(shares: Shares) -> str:
    """Describe the score bar for screen readers."""
    template = _SPOKEN_SHARES[shares.aged >= 0.005, bool(shares.least)]
    return tr(
        template, score=shares.score, words=shares.words, meaning=shares.meaning, aged=shares.aged, least=shares.least
    )


def parts(reason: ResultExplanation) -> list[Part]:
    """Return the query's terms, highest contribution first, then those that don't count or are not in the passage."""
    terms = sorted(reason.terms, key=lambda term: -term.score)
    present = [Part(term.term, term.score, _fields(term.fields) if term.score else tr(_OTHER_WORD)) for term in terms]
    others = [(_NEAR, reason.proximity), *((_INCREASES[part.kind], part.score) for part in reason.increases)]
    added = [Part(tr(label), score, "") for label, score in others if score >= 0.005]
    return present + added + [Part(term, 0.0, tr(_MISSING_TERM)) for term in reason.missing]


def _fields(fields: Sequence[MatchField]) -> str:
    return ", ".join(tr(FIELDS[field]) for field in fields)


def rank(reason: ResultExplanation, outcome: SearchOutcome) -> str:
    """Return the rank of a result: "Result 1 of 7 · score 0.53"."""
    words = marked("Result {place:,} of {total:,} · score {score:.2f}")
    if outcome.total_is_least:
        words = marked("Result {place:,} of {total:,}+ · score {score:.2f}")
    return tr(words, place=reason.rank, total=outcome.total, score=reason.score)


def counts(stage: SearchStage) -> str:
    """Return how many candidates went into a stage and came out, for screen readers."""
    entered, left = stage.before, stage.after
    match stage.unit:
        case "chunks":
            return tr_count(
                "{count:,} passage entered, {left:,} remaining.",
                "{count:,} passages entered, {left:,} remaining.",
                entered,
                left=left,
            )
        case "files":
            return tr_count(
                "{count:,} file entered, {left:,} remaining.",
                "{count:,} files entered, {left:,} remaining.",
                entered,
                left=left,
            )
        case "words":
            return tr_count(
                "{count:,} word entered, {left:,} remaining.",
                "{count:,} words entered, {left:,} remaining.",
                entered,
                left=left,
            )
    return ""


def total(explanation: SearchExplanation, taken: float, age: float | None) -> str:
    """Return the number of stages and the total time, which equals the time in the search box.

    `taken`: milliseconds. `age`: seconds since a cached answer was computed.
    """
    count, time = len(explanation.stages), milliseconds(taken)
    if age is None:
        return tr("{count} stages in {time}.", count=count, time=time)
    return tr(
        "{count} stages, cached {seconds} s ago; read in {time}.", count=count, seconds=max(1, round(age)), time=time
    )


def milliseconds_text(milliseconds: float) -> str:
    """Format milliseconds for a column of them, without the unit: "0.42", "12", "1,240"."""
    return number(milliseconds, ".2f" if milliseconds < 9.995 else ",.0f")


def figures(reason: ResultExplanation) -> tuple[Figure, ...]:
    """Return all numbers of one result with their units, as rows of the table."""
    return tuple(Figure(name, value) for name, value in _figures(reason))


def _figures(reason: ResultExplanation) -> Iterator[tuple[str, str]]:
    yield tr("Rank"), number(reason.rank)
    yield tr("Score"), number(reason.score, ".3f")
    if reason.min_score:
        yield tr("Minimum score"), number(reason.min_score, "g")
    if reason.full_bm25:
        yield tr("Score by words"), number(reason.shown_text_score, ".3f")
        for term in reason.terms:
            yield in_quotes(term.term), _of_term(term)
        for word in reason.missing:
            yield in_quotes(word), tr(_MISSING_TERM)
        yield tr("BM25 sum"), number(reason.bm25, ".2f")
        yield tr("Added for nearby words"), number(reason.proximity * reason.full_bm25, ".2f")
        yield tr("Score of a full match"), number(reason.full_bm25, ".2f")
        yield tr("Score from BM25"), number(reason.from_bm25, ".3f")
        yield tr("Share of the query"), number(reason.coverage, ".0%")
        for increase in reason.increases:
            yield tr("Added: {kind}", kind=tr(_INCREASES[increase.kind])), number(increase.score, ".3f")
    yield from _meaning(reason)
    if reason.time:
        yield tr("Time in the query"), reason.time
        yield tr("Factor for a matching date"), number(reason.time_factor, ".2f")
    if reason.session_names:
        yield tr("Names in the query"), ", ".join(reason.session_names)
        yield tr("Factor for a named session"), number(reason.session_factor, ".2f")
    yield from _age(reason)
    if reason.mmr_similar_to or reason.rank != reason.score_rank:
        yield tr("Rank before similar results moved down"), number(reason.score_rank)
        yield tr("Deducted for similarity"), number(reason.mmr_penalty, ".3f")
        if reason.mmr_similar_to:
            yield tr("Similar to"), reason.mmr_similar_to


def _of_term(term: TermMatch) -> str:
    return tr_count(
        "{score:.3f} · BM25 {bm25:.2f} · in {count:,} passage",
        "{score:.3f} · BM25 {bm25:.2f} · in {count:,} passages",
        term.chunks,
        score=term.score,
        bm25=term.bm25,
    )


def _meaning(reason: ResultExplanation) -> Iterator[tuple[str, str]]:
    if reason.cosine_low is None or reason.cosine_high is None or reason.wordless:
        return
    meaning = reason.shown_vector_score
    score = tr("passage has no vector yet") if meaning is None else number(meaning, ".3f")
    yield tr("Score by meaning"), score
    if reason.cosine is not None:
        yield tr("Cosine"), number(reason.cosine, ".3f")
    yield tr("Cosine range of the model"), tr("{low:.2f} to {high:.2f}", low=reason.cosine_low, high=reason.cosine_high)
    yield tr("Weight of meaning"), number(reason.vector_weight, ".0%")


def _age(reason: ResultExplanation) -> Iterator[tuple[str, str]]:
    if reason.date_origin is None:
        return
    yield tr("Date taken from"), tr(_ORIGINS[reason.date_origin])
    if reason.date is not None and reason.half_life_days is not None:
        yield tr("Date"), date_of(reason.date)
        yield tr("Half-life"), tr_count("{count:,} day", "{count:,} days", round(reason.half_life_days))
        yield tr("Score left after ageing"), number(reason.decay, ".1%")
        yield tr("Score before ageing"), number(reason.fresh_score, ".3f")


def spoken_parts(listed: Sequence[Part]) -> str:
    """Describe the bars of the terms for screen readers."""
    return ", ".join(f"{part.term} {part.where if part.missing else number(part.score, '.2f')}" for part in listed)
