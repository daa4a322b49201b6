"""One result's explanation in plain sentences: the same in the window, on the command line and in the tests' page."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from engine.records import MatchField, ResultExplanation, TermMatch

ReasonPart = Literal["words", "meaning", "mixture", "age", "place", "threshold"]

_FIELDS: dict[MatchField, str] = {"title": "title", "heading": "heading", "name": "file name", "body": "text"}
_ORIGINS = {
    "name": "its name",
    "folder": "its folder",
    "front-matter": "its front matter",
    "session": "the session's end",
    "modified": "the file's time",
}
_MOST_TERMS = 8
_LEAST = 0.005
"""What rounds to nothing is not worth a word."""


class Reason(NamedTuple):
    """What one part of the score has to say."""

    part: ReasonPart
    sentence: str
    """One or several."""
    detail: str = ""
    """What a drawing of the sentence's numbers leaves to be said."""

    def __str__(self) -> str:
        return f"{self.sentence} {self.detail}".rstrip()


def reasons_of(explanation: ResultExplanation) -> tuple[Reason, ...]:
    """In the order in which the score came about; parts that had no say are left out."""
    said = (
        Reason("words", _words(explanation), " ".join(_sums(explanation))),
        Reason("meaning", _meaning(explanation)),
        Reason("mixture", _mixture(explanation)),
        Reason("age", _age(explanation)),
        Reason("place", _place(explanation)),
        Reason("threshold", _threshold(explanation)),
    )
    return tuple(reason for reason in said if reason.sentence)


def _words(of: ResultExplanation) -> str:
    if not of.full_bm25:
        return "No words were looked for."
    if not of.terms:
        return f"It has none of the words: {_listed(of.missing)}."
    first = sorted((term for term in of.terms if term.score), key=lambda term: -term.score)
    besides = [term.term for term in of.terms if not term.score]
    named = ", ".join(map(_term, first[:_MOST_TERMS]))
    more = f" and {len(first) - _MOST_TERMS} more" if len(first) > _MOST_TERMS else ""
    lacks = f" It lacks {_listed(of.missing)}." if of.missing else ""
    best = "where any of several words will do, the best one counts"
    also = f" It has {_listed(besides)}, too: {best}." if besides else ""
    near = f", near each other {of.nearness:.2f}" if of.nearness >= _LEAST else ""
    return f"Its words give {of.text_score:.2f}: {named}{more}{near}.{also}{lacks}"


def _sums(of: ResultExplanation) -> Iterator[str]:
    if not of.terms:
        return
    share = of.bm25 / of.full_bm25 + of.nearness
    near = f" and {of.nearness * of.full_bm25:.1f} for nearness" if of.nearness >= _LEAST else ""
    full = f"the {of.full_bm25:.1f} of a full match"
    said = f"is {share:.0%} of {full}" if share < 1 else f"reaches {full}"
    yield f"The BM25 sum of {of.bm25:.1f}{near} {said}."
    if of.text_limit < min(1.0, share):
        yield f"With {of.covered:.0%} of the question, weighed by rarity, it cannot give more than {of.text_limit:.2f}."


def _term(term: TermMatch) -> str:
    places = " and ".join(_FIELDS[place] for place in term.fields)
    return f"“{term.term}” {term.score:.2f}" + (f" ({places})" if places else "")


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - _MOST_TERMS} more" if len(words) > _MOST_TERMS else ""
    return ", ".join(f"“{word}”" for word in words[:_MOST_TERMS]) + more


def _meaning(of: ResultExplanation) -> str:
    if of.cosine_low is None or of.cosine_high is None:
        return "Its meaning was not compared."
    if of.vector_score is None or of.cosine is None:
        return "It has no vector yet: its words alone decide."
    range_ = f"this model's range from {of.cosine_low:.2f} to {of.cosine_high:.2f}"
    where = f"is {of.vector_score:.0%} of" if of.cosine > of.cosine_low else "lies below"
    where = where if of.cosine < of.cosine_high else "lies above"
    return f"Its meaning gives {of.vector_score:.2f}: a cosine of {of.cosine:.3f} {where} {range_}."


def _mixture(of: ResultExplanation) -> str:
    if of.named:
        return "Its title or file name is what was asked for: that alone is a full answer, 1.00."
    if of.vector_score is None or not 0 < of.vector_weight < 1:
        return ""
    vector, words = of.vector_weight, 1 - of.vector_weight
    sum_ = f"{vector:.2f} × {of.vector_score:.2f} + {words:.2f} × {of.text_score:.2f} = {of.fresh_score:.2f}"
    return f"Meaning counts {vector:.0%} and words {words:.0%}: {sum_}."


def _age(of: ResultExplanation) -> str:
    if of.date_origin is None:
        return ""
    if of.date is None or of.half_life_days is None:
        return "It does not age."
    day = datetime.fromtimestamp(of.date, UTC).strftime("%Y-%m-%d")
    halves = f"it loses half of its score in {of.half_life_days:g} days"
    return f"It dates from {day} by {_ORIGINS[of.date_origin]}; {halves}: × {of.decay:.2f} = {of.score:.2f}."


def _place(of: ResultExplanation) -> str:
    if not of.mmr_like and of.rank == of.score_rank:
        return ""
    like = f": {of.mmr_penalty:.2f} were taken off for being like {of.mmr_like}" if of.mmr_like else ""
    return f"It is number {of.rank} of the list, number {of.score_rank} by score{like}."


def _threshold(of: ResultExplanation) -> str:
    if not of.min_score or (not of.full_bm25 and of.cosine_low is None):
        return ""
    if of.score >= of.min_score:
        return f"Its score of {of.score:.2f} reaches the {of.min_score:g} that are asked for."
    if of.named:
        return f"It is kept for its name, though its score of {of.score:.2f} misses the {of.min_score:g} asked for."
    return f"Its words alone reach the {of.min_score:g} that are asked for, which its score of {of.score:.2f} does not."
