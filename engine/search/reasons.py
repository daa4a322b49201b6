"""Explains one result in sentences, for the window, the command line and the benchmark of complaints."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from engine.base.formatting import all_of, in_quotes
from engine.base.language import marked, tr
from engine.records import MatchField, ResultExplanation, TermMatch

ReasonPart = Literal["words", "meaning", "mixture", "time", "age", "place", "threshold"]

_FIELDS: dict[MatchField, str] = {
    "title": marked("title"),
    "alias": marked("alias"),
    "heading": marked("heading"),
    "name": marked("file name"),
    "body": marked("text"),
}
_ORIGINS = {
    "name": marked("its name"),
    "folder": marked("its folder"),
    "front-matter": marked("its front matter"),
    "session": marked("the session's end"),
    "modified": marked("the file's time"),
}
_GIVEN = marked("Its words give {score:.2f}: {words}.")
_GIVEN_NEAR = marked("Its words give {score:.2f}: {words}, near each other {near:.2f}.")
_BESIDES = marked("It has {words}, too: where any of several words will do, the best one counts.")
_SUMS = {
    (False, True): marked("The BM25 sum of {sum:.1f} is {share:.0%} of the {full:.1f} of a full match."),
    (False, False): marked("The BM25 sum of {sum:.1f} reaches the {full:.1f} of a full match."),
    (True, True): marked(
        "The BM25 sum of {sum:.1f} and {near:.1f} for nearness is {share:.0%} of the {full:.1f} of a full match."
    ),
    (True, False): marked(
        "The BM25 sum of {sum:.1f} and {near:.1f} for nearness reaches the {full:.1f} of a full match."
    ),
}
"""Texts by whether proximity contributes, and whether the BM25 sum is less than a full match."""
_FITS = marked("Its title or file name fits the query: {score:.2f} more.")
_DEFINES = marked("It defines what the query names: {score:.2f} more.")
_HOLDS = marked("It holds {share:.0%} of the query, weighted by rarity: {score:.2f} more.")
_HOLDS_TOGETHER = marked(
    "It holds {share:.0%} of the query, weighted by rarity, {together:.0%} in two adjacent lines: {score:.2f} more."
)
_COSINES = {
    "below": marked(
        "Its meaning gives {score:.2f}: a cosine of {cosine:.3f} lies below this model's range"
        " from {low:.2f} to {high:.2f}."
    ),
    "in": marked(
        "Its meaning gives {score:.2f}: a cosine of {cosine:.3f} is {score:.0%} of this model's range"
        " from {low:.2f} to {high:.2f}."
    ),
    "above": marked(
        "Its meaning gives {score:.2f}: a cosine of {cosine:.3f} lies above this model's range"
        " from {low:.2f} to {high:.2f}."
    ),
}
_MIXED = marked(
    "Meaning counts {meaning:.0%} and words {words:.0%}:"
    " {meaning:.2f} × {meaning_score:.2f} + {words:.2f} × {words_score:.2f} = {score:.2f}."
)
_CAPPED = marked(
    "Meaning counts {meaning:.0%} and words {words:.0%}:"
    " {meaning:.2f} × {meaning_score:.2f} + {words:.2f} × {words_score:.2f} = {score:.2f}, shown as 1.00."
)
_FEW_WORDS = marked("No passage matches the words of the query well, so meaning counts more than usual.")
_MANY_WORDS = marked("Passages match the words of the query, so meaning counts little.")
_MUCH = 0.5
"""Weight of meaning from which it counts more than usual with every model."""
_DIFFERS = marked("Some words are missing and its meaning differs, so {share:.0%} of the words' score counts.")
_OF_TIME = marked("It is of the time that the query names, {time}: × {lift:.2f} = {score:.2f}.")
_BESIDE_TIME = marked("It is of the days next to the time that the query names, {time}: × {lift:.2f} = {score:.2f}.")
_REACHED = marked("Its score of {score:.2f} reaches the minimum of {least:g}.")
_NAMED = marked("Shown because its title matches; with its age, its score is below the minimum of {least:g}.")
_BY_WORDS = marked("Shown because its words alone reach the minimum of {least:g}.")
_MOST_TERMS = 8
_LEAST = 0.005
"""Smallest part shown; smaller ones round to zero."""


class Reason(NamedTuple):
    """One sentence or more on one part of a result's score."""

    part: ReasonPart
    sentence: str
    """One sentence or several."""
    detail: str = ""
    """Numbers that the window's chart of the score doesn't show."""

    def __str__(self) -> str:
        return f"{self.sentence} {self.detail}".rstrip()


def reasons_of(explanation: ResultExplanation) -> tuple[Reason, ...]:
    """Explain the parts of a result's score, in order of computation; parts without influence are left out."""
    said = (
        Reason("words", _words(explanation), " ".join(_sums(explanation))),
        Reason("meaning", _meaning(explanation)),
        Reason("mixture", _mixture(explanation)),
        Reason("time", _time(explanation)),
        Reason("age", _age(explanation)),
        Reason("place", _place(explanation)),
        Reason("threshold", _threshold(explanation)),
    )
    return tuple(reason for reason in said if reason.sentence)


def _words(of: ResultExplanation) -> str:
    if not of.full_bm25:
        return tr("No words were looked for.")
    if not of.terms:
        return tr("It has none of the words: {words}.", words=_listed([*map(in_quotes, of.missing)]))
    first = sorted((term for term in of.terms if term.score), key=lambda term: -term.score)
    besides = [in_quotes(term.term) for term in of.terms if not term.score]
    given = _GIVEN_NEAR if of.nearness >= _LEAST else _GIVEN
    said = [tr(given, score=of.text_score, words=_listed([*map(_term, first)]), near=of.nearness)]
    if besides:
        said.append(tr(_BESIDES, words=_listed(besides)))
    if of.missing:
        said.append(tr("Missing: {words}.", words=_listed([*map(in_quotes, of.missing)])))
    return " ".join(said)


def _sums(of: ResultExplanation) -> Iterator[str]:
    if not of.terms:
        return
    share = of.bm25 / of.full_bm25 + of.nearness
    yield tr(
        _SUMS[of.nearness >= _LEAST, share < 1],
        sum=of.bm25,
        near=of.nearness * of.full_bm25,
        share=share,
        full=of.full_bm25,
    )
    if of.from_name >= _LEAST:
        yield tr(_DEFINES if of.defines else _FITS, score=of.from_name)
    if of.from_coverage >= _LEAST:
        said = _HOLDS if of.together > of.covered - _LEAST else _HOLDS_TOGETHER
        yield tr(said, share=of.covered, together=of.together, score=of.from_coverage)
    if of.text_limit < min(1.0, share):
        yield tr(
            "It matches {share:.0%} of the query, weighted by rarity, so the BM25 sum gives at most {most:.2f}.",
            share=of.covered,
            most=of.text_limit,
        )


def _term(term: TermMatch) -> str:
    if not term.fields:
        return tr("“{word}” {score:.2f}", word=term.term, score=term.score)
    places = all_of(tr(_FIELDS[place]) for place in term.fields)
    return tr("“{word}” {score:.2f} ({places})", word=term.term, score=term.score, places=places)


def _listed(words: Sequence[str]) -> str:
    listed, more = ", ".join(words[:_MOST_TERMS]), len(words) - _MOST_TERMS
    return tr("{words} and {count} more", words=listed, count=more) if more > 0 else listed


def _meaning(of: ResultExplanation) -> str:
    if of.cosine_low is None or of.cosine_high is None:
        return tr("Its meaning was not compared.")
    if of.vector_score is None or of.cosine is None:
        return tr("It has no vector yet: its words alone decide.")
    where = "above" if of.cosine >= of.cosine_high else "in" if of.cosine > of.cosine_low else "below"
    return tr(_COSINES[where], score=of.vector_score, cosine=of.cosine, low=of.cosine_low, high=of.cosine_high)


def _mixture(of: ResultExplanation) -> str:
    if of.named:
        return tr("Its title or file name equals the query: that alone is a full match, 1.00.")
    if of.vector_score is not None and not of.language_known:
        return tr("The model does not know the query's language: its words alone decide.")
    if of.vector_score is None or not 0 < of.vector_weight < 1:
        return ""
    words_score = of.text_evidence or of.text_score
    meaning_score = of.vector_score if of.vector_evidence is None else of.vector_evidence
    text_weight = of.text_weight * of.agreement
    mixed = of.vector_weight * meaning_score + text_weight * words_score
    differs = tr(_DIFFERS, share=of.agreement) if of.agreement < 1 - _LEAST and words_score > _LEAST else ""
    sum_ = tr(
        _CAPPED if mixed > 1 + _LEAST else _MIXED,
        meaning=of.vector_weight,
        words=text_weight,
        meaning_score=meaning_score,
        words_score=words_score,
        score=mixed,
    )
    # Fixed weights, of the settings or between passages, add up to 1.
    depends = abs(of.vector_weight + of.text_weight - 1) > _LEAST
    why = tr(_FEW_WORDS if of.vector_weight >= _MUCH else _MANY_WORDS) if depends else ""
    return " ".join(filter(None, (why, differs, sum_)))


def _time(of: ResultExplanation) -> str:
    if not of.time:
        return ""
    said = _BESIDE_TIME if of.beside_time else _OF_TIME
    return tr(said, time=of.time, lift=of.time_lift, score=of.lifted_score)


def _age(of: ResultExplanation) -> str:
    if of.date_origin is None:
        return ""
    if of.date is None or of.half_life_days is None:
        return tr("It does not age.")
    return tr(
        "It dates from {day} by {origin}; it loses half of its score in {days:g} days: × {left:.2f} = {score:.2f}.",
        day=datetime.fromtimestamp(of.date, UTC).strftime("%Y-%m-%d"),
        origin=tr(_ORIGINS[of.date_origin]),
        days=of.half_life_days,
        left=of.decay,
        score=of.lifted_score * of.decay,
    )


def _place(of: ResultExplanation) -> str:
    if of.mmr_like:
        return tr(
            "It is number {place} of the list, number {by_score} by score:"
            " {penalty:.2f} were taken off for being like {other}.",
            place=of.rank,
            by_score=of.score_rank,
            penalty=of.mmr_penalty,
            other=of.mmr_like,
        )
    if of.rank == of.score_rank:
        return ""
    return tr("It is number {place} of the list, number {by_score} by score.", place=of.rank, by_score=of.score_rank)


def _threshold(of: ResultExplanation) -> str:
    if not of.min_score or (not of.full_bm25 and of.cosine_low is None):
        return ""
    if of.by_words:
        said = _BY_WORDS
    else:
        said = _NAMED if of.named and of.score <= of.min_score else _REACHED
    return tr(said, score=of.score, least=of.min_score)
