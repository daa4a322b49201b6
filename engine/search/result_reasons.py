"""Explains one result in sentences, for the window, the command line and the benchmark of complaints."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from engine.base.formatting import all_of, in_quotes
from engine.base.language import marked, tr
from engine.records import MatchField, ResultExplanation, TermMatch
from engine.records.explanations import IncreaseKind

ReasonPart = Literal["words", "meaning", "mixture", "time", "session", "age", "position", "threshold"]

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
_GIVEN = marked("The words score {score:.2f}: {words}.")
_GIVEN_NEAR = marked("The words score {score:.2f}: {words}, near each other {near:.2f}.")
_OTHER_WORDS = marked("The passage also contains {words}, but of words joined by OR only the best one counts.")
_SUM = marked("The BM25 sum of {sum:.1f} is {share:.0%} of a full match ({full:.1f}).")
_SUM_NEAR = marked(
    "The BM25 sum of {sum:.1f}, plus {near:.1f} for words near each other, is {share:.0%} of a full match ({full:.1f})."
)
_SUM_TINY = marked(
    "The BM25 sum is tiny, since nearly all passages contain the words; it is {share:.0%} of a full match."
)
_INCREASES: dict[IncreaseKind, str] = {
    "coverage": marked("The passage contains {share:.0%} of the query, weighted by rarity: {score:.2f} more."),
    "file": marked("Other passages of its file contain the rest: {score:.2f} more."),
    "project": marked("Other passages of the project contain {words}: {score:.2f} more."),
    "title": marked("The title or file name matches the query: {score:.2f} more."),
    "definition": marked("The passage defines the name in the query: {score:.2f} more."),
    "spelling": marked("The passage contains the query as one name: {score:.2f} more."),
    "signs": marked("The passage contains the words of the query with their signs: {score:.2f} more."),
}
_COSINES = {
    "below": marked(
        "The meaning scores {score:.2f}: a cosine of {cosine:.3f} lies below this model's range from "
        "{low:.2f} to {high:.2f}."
    ),
    "in": marked(
        "The meaning scores {score:.2f}: a cosine of {cosine:.3f} is {score:.0%} of this model's range "
        "from {low:.2f} to {high:.2f}."
    ),
    "above": marked(
        "The meaning scores {score:.2f}: a cosine of {cosine:.3f} lies above this model's range from "
        "{low:.2f} to {high:.2f}."
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
_LIMITED = marked("The score of {score:.2f} is shown as 1.00.")
UNKNOWN_LANGUAGE = marked("The model does not know the query's language, so only its words count.")
_ALONE = marked("Only words count, so the length of the query and its unknown words change the score: × {factor:.2f}.")
_FEW_WORDS = marked("No passage matches the words of the query well, so meaning counts more than usual.")
_MANY_WORDS = marked("Passages match the words of the query, so meaning counts little.")
_FOREIGN = marked("The passage is in another language than the query, so its meaning counts more.")
_TINY = 0.05
"""A BM25 sum below this would be shown as 0.0: the folder has few notes, and most have the words."""
_MUCH = 0.5
"""Weight of the vector score that is higher than the usual one of any model."""
_DIFFERS = marked("Some words are missing and the meaning differs, so only {share:.0%} of the words' score counts.")
_OF_TIME = marked("The passage dates from the time in the query, {time}: × {factor:.2f} = {score:.2f}.")
_ADJACENT_TIME = marked(
    "The passage dates from the days next to the time in the query, {time}: × {factor:.2f} = {score:.2f}."
)
_ONLY_NAMES = marked("All words of the query name this session: they score {score:.2f}.")
_OF_SESSION = marked("The query names {names} of this session: × {factor:.2f} = {score:.2f}.")
_REACHED = marked("The score of {score:.2f} reaches the minimum score, {least:g}.")
_NAMED = marked("Shown because its title matches; reduced by age, its score is below the minimum score, {least:g}.")
_BY_WORDS = marked("Shown because it has enough words of the query, so it gets the minimum score, {least:g}.")
_WORDLESS = marked("Passages without the query's words get the minimum score, {least:g}.")
_MAX_TERMS = 8
_SMALL = 0.005
"""Smallest part shown; smaller ones round to zero."""


class Reason(NamedTuple):
    """One or more sentences that explain one part of a result's score."""

    part: ReasonPart
    sentence: str
    """One sentence or several."""
    detail: str = ""
    """Numbers that the window's chart of the score doesn't show."""

    def __str__(self) -> str:
        return f"{self.sentence} {self.detail}".rstrip()


def reasons_of(explanation: ResultExplanation) -> tuple[Reason, ...]:
    """Explain the parts of a result's score, in order of computation; parts without influence are left out."""
    parts = (
        Reason("words", _words(explanation), " ".join(_sums(explanation))),
        Reason("meaning", _meaning(explanation)),
        Reason("mixture", _mixture(explanation)),
        Reason("time", _time(explanation)),
        Reason("session", _session(explanation)),
        Reason("age", _age(explanation)),
        Reason("position", _similarity(explanation) or _position(explanation)),
        Reason("threshold", _threshold(explanation)),
    )
    return tuple(reason for reason in parts if reason.sentence)


def _words(reason: ResultExplanation) -> str:
    if not (reason.full_bm25 or reason.missing):
        return tr("The query has no words to score.")
    if reason.wordless:
        return tr(
            "The passage satisfies the query without its words: {words}.",
            words=_listed([*map(in_quotes, reason.missing)]),
        )
    if not (reason.terms or reason.missing):
        return tr(_ONLY_NAMES, score=reason.shown_text_score)
    if not reason.terms:
        return tr("The passage contains none of the words: {words}.", words=_listed([*map(in_quotes, reason.missing)]))
    first = sorted((term for term in reason.terms if term.score), key=lambda term: -term.score)
    others = [in_quotes(term.term) for term in reason.terms if not term.score]
    sentence = _GIVEN_NEAR if reason.proximity >= _SMALL else _GIVEN
    parts = [tr(sentence, score=reason.shown_text_score, words=_listed([*map(_term, first)]), near=reason.proximity)]
    if others:
        parts.append(tr(_OTHER_WORDS, words=_listed(others)))
    if reason.missing:
        parts.append(tr("Missing words: {words}.", words=_listed([*map(in_quotes, reason.missing)])))
    return " ".join(parts)


def _sums(reason: ResultExplanation) -> Iterator[str]:
    if not reason.terms:
        return
    share = reason.bm25 / reason.full_bm25 + reason.proximity
    yield tr(
        _SUM_TINY if reason.bm25 < _TINY else _SUM_NEAR if reason.proximity >= _SMALL else _SUM,
        sum=reason.bm25,
        near=reason.proximity * reason.full_bm25,
        share=share,
        full=reason.full_bm25,
    )
    if reason.from_bm25 < min(1.0, share) - _SMALL:
        yield tr("Missing words lower the value of the BM25 sum to {score:.2f}.", score=reason.from_bm25)
    elif reason.from_bm25 > share + _SMALL:
        yield tr("The share of the query in the passage raises this value to {score:.2f}.", score=reason.from_bm25)
    for increase in reason.increases:
        if increase.score >= _SMALL:
            words = _listed([*map(in_quotes, increase.words)])
            yield tr(_INCREASES[increase.kind], share=reason.coverage, score=increase.score, words=words)


def _term(term: TermMatch) -> str:
    if not term.fields:
        return tr("“{word}” {score:.2f}", word=term.term, score=term.score)
    places = all_of(tr(_FIELDS[field]) for field in term.fields)
    return tr("“{word}” {score:.2f} ({places})", word=term.term, score=term.score, places=places)


def _listed(words: Sequence[str]) -> str:
    listed, more = ", ".join(words[:_MAX_TERMS]), len(words) - _MAX_TERMS
    return tr("{words} and {count} more", words=listed, count=more) if more > 0 else listed


def _meaning(reason: ResultExplanation) -> str:
    if reason.wordless:
        return ""
    if reason.cosine_low is None or reason.cosine_high is None:
        return tr("The meaning was not compared.")
    if reason.vector_score is None or reason.cosine is None:
        return tr("The passage has no vector yet, so only its words count.")
    where = "above" if reason.cosine >= reason.cosine_high else "in" if reason.cosine > reason.cosine_low else "below"
    return tr(
        _COSINES[where],
        score=reason.shown_vector_score,
        cosine=reason.cosine,
        low=reason.cosine_low,
        high=reason.cosine_high,
    )


def _mixture(reason: ResultExplanation) -> str:
    if reason.named:
        return tr("The title or file name equals the query or begins with it, which alone is a full match, 1.00.")
    if reason.vector_score is None or not reason.language_known:
        language = "" if reason.language_known else tr(UNKNOWN_LANGUAGE)
        counts = reason.terms and abs(reason.text_weight - 1) >= _SMALL
        factor = tr(_ALONE, factor=reason.text_weight) if counts else ""
        return " ".join(filter(None, (language, factor, _limited(reason))))
    words_score, meaning_score = reason.shown_text_score, reason.shown_vector_score
    if not reason.mixed or meaning_score is None:
        return _limited(reason)
    text_weight = reason.text_weight * reason.agreement
    mixed = reason.vector_weight * meaning_score + text_weight * words_score
    differs = tr(_DIFFERS, share=reason.agreement) if reason.agreement < 1 - _SMALL and words_score > _SMALL else ""
    sum_ = tr(
        _CAPPED if mixed > 1 + _SMALL else _MIXED,
        meaning=reason.vector_weight,
        words=text_weight,
        meaning_score=meaning_score,
        words_score=words_score,
        score=mixed,
    )
    # Fixed weights, of the settings or between passages, add up to 1.
    depends = abs(reason.vector_weight + reason.text_weight - 1) > _SMALL
    weight = _FOREIGN if reason.raised_weight else _FEW_WORDS if reason.vector_weight >= _MUCH else _MANY_WORDS
    why = tr(weight) if depends else ""
    return " ".join(filter(None, (why, differs, sum_)))


def _limited(reason: ResultExplanation) -> str:
    score = reason.text_weight * reason.agreement * reason.shown_text_score
    return tr(_LIMITED, score=score) if reason.terms and score > 1 + _SMALL else ""


def _time(reason: ResultExplanation) -> str:
    if not reason.time:
        return ""
    sentence = _ADJACENT_TIME if reason.adjacent_time else _OF_TIME
    return tr(
        sentence, time=reason.time, factor=reason.time_factor, score=min(1.0, reason.fresh_score * reason.time_factor)
    )


def _session(reason: ResultExplanation) -> str:
    if not reason.session_names:
        return ""
    names = _listed([*map(in_quotes, reason.session_names)])
    return tr(_OF_SESSION, names=names, factor=reason.session_factor, score=reason.boosted_score)


def _age(reason: ResultExplanation) -> str:
    if reason.date_origin is None:
        return ""
    if reason.date is None or reason.half_life_days is None:
        return tr("The passage keeps its full score at any age.")
    return tr(
        "The passage dates from {day}, according to {origin}, and loses half of its score in {days:g} "
        "days: × {left:.2f} = {score:.2f}.",
        day=datetime.fromtimestamp(reason.date, UTC).strftime("%Y-%m-%d"),
        origin=tr(_ORIGINS[reason.date_origin]),
        days=reason.half_life_days,
        left=reason.decay,
        score=reason.boosted_score * reason.decay,
    )


def _position(reason: ResultExplanation) -> str:
    if reason.mmr_similar_to and reason.rank == reason.score_rank:
        return tr(
            "The result is number {place} both in the list and by score, although {penalty:.2f} was deducted because "
            "it is similar to {other}.",
            place=reason.rank,
            penalty=reason.mmr_penalty,
            other=reason.mmr_similar_to,
        )
    if reason.mmr_similar_to:
        return tr(
            "The result is number {place} in the list but number {by_score} by score: {penalty:.2f} was "
            "deducted because it is similar to {other}.",
            place=reason.rank,
            by_score=reason.score_rank,
            penalty=reason.mmr_penalty,
            other=reason.mmr_similar_to,
        )
    if reason.vector_share < 1:
        return tr(
            "The words match better in another workspace, so only {share:.0%} of this result's score by meaning counts "
            "in the order.",
            share=reason.vector_share,
        )
    if reason.rank == reason.score_rank:
        return ""
    return tr(
        "The result is number {place} in the list but number {by_score} by score.",
        place=reason.rank,
        by_score=reason.score_rank,
    )


def _similarity(reason: ResultExplanation) -> str:
    if reason.best_similarity is not None:
        return tr(
            "Several passages answer a long query, so the order also depends on the similarity to the best ones: "
            "{similarity:.2f}.",
            similarity=reason.best_similarity,
        )
    if reason.word_similarity is None:
        return ""
    if reason.similarity_in_lines:
        return tr(
            "No passage matches all words well, so the order also depends on similar words: their average cosine in "
            "the passage's best two adjacent lines is {cosine:.2f}.",
            cosine=reason.word_similarity,
        )
    return tr(
        "The query is in another language, so the order also depends on its single words: their average cosine to the "
        "most similar words of the passage is {cosine:.2f}.",
        cosine=reason.word_similarity,
    )


def _threshold(reason: ResultExplanation) -> str:
    if not reason.min_score or (not reason.full_bm25 and reason.cosine_low is None and not reason.wordless):
        return ""
    if reason.text_score_only:
        sentence = _BY_WORDS
    elif reason.wordless:
        sentence = _WORDLESS
    else:
        sentence = _NAMED if reason.named and reason.score <= reason.min_score else _REACHED
    return tr(sentence, score=reason.score, least=reason.min_score)
