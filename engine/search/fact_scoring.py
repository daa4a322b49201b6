"""Scores facts for a query: by keywords, and by vectors if both have one.

Facts are few and short, so their words are held in memory and no index is written.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import TYPE_CHECKING

import msgspec

from engine.search.scoring import (
    Blend,
    Evidence,
    Scale,
    inverse_document_frequency,
    length_norm,
    term_score,
    text_parts,
    vector_evidence,
    within_limits,
)
from engine.text import analyse, analyse_query, language_of_note
from engine.text.parsed_query import QueryTerm
from engine.text.stems import counted_as

if TYPE_CHECKING:
    from engine.providers import Calibration

_WEIGHT_WITHOUT_WORDS = 0.9
_DOUBTED, _TRUSTED = 0.5, 0.9
_LONG_QUERY = 5
"""Number of terms of a query that no fact is expected to contain completely."""
_FULL = 0.999
_MIN_WORDS = 2
"""Minimum number of terms of a query for which containing all of them makes a fact a full match."""
_SAME_MEANING = 0.7
"""Share of the range from an unrelated sentence to an identical one."""

_NEARER = 0.15
"""Share by which the scale begins lower for a query about the user. Facts are about the user, so the
nearest one is usually the answer: for 68 of the 76 labelled queries, whatever the cosine."""
_IMPLIED = 0.55
"""Score of a fact that contains each word of a query about the user, or a word that answers it ("live" -> "moved")."""
_MAX_WORDS = 12
_SELF = re.compile(
    r"\b(?:i|me|my|mine|we|us|our|ours|ich|mich|mir|mein\w*|wir|uns|unser\w*|je|j|moi|mon|ma|mes|nous|notre|nos|yo|mi"
    r"|mis|nuestr\w*)\b"
)
_QUESTION = re.compile(
    r"(?:what|which|who|whom|whose|when|where|how|do|did|am|was|have|is|are|was|welche\w*|wer|wen|wem|wann|wo|wohin|wie|bin"
    r"|hab|habe|quel\w*|qui|quand|où|combien|qué|quién|cuál\w*|cuándo|dónde|cómo)\b"
)
_HOW_TO = re.compile(
    r"(?:how|wie) (?:do|to|mache)\b|\w+ (?:can|should|could|would|kann|soll\w*|könnte|muss) (?:i|we|ich|wir)\b"
    r"|what do (?:i|we) do (?:if|when)\b"
)
"""Matches queries on how to do something, which facts don't answer."""
_MINE = re.compile(r"(?:my|our|meine?|unsere?|mon|ma|mi)(?: \S+){1,3}")
_ANSWERS = {
    "live home address reside": "live home house flat apartment address reside move settle relocate",
    "drink beverage": "drink tea coffee water wine beer juice milk cocoa soda lemonade espresso",
    "eat food diet meal": "eat food diet vegetarian vegan meat fish pork gluten lactose allergic breakfast dinner",
    "job work profession occupation employer": "job work profession occupation employer employed company freelance",
    "old age birthday": "age birthday birth born",
    "married spouse partner": "married spouse partner wife husband wedding girlfriend boyfriend",
    "child children kid family": "child children kid family son daughter baby twin",
    "sibling family": "sibling family brother sister twin",
    "parent family": "parent family mother father mum mom dad",
    "mum mom mother": "mum mom mother",
    "dad father": "dad father",
    "pet animal": "pet animal dog cat rabbit hamster parrot horse puppy kitten",
    "car vehicle drive": "car vehicle drive van truck motorbike",
    "computer machine laptop": "computer machine laptop desktop pc notebook macbook",
    "sport exercise hobby": "sport exercise hobby run swim gym yoga football tennis cycle climb hike jog dance",
    "instrument music": "instrument music guitar piano violin cello drum flute trumpet",
    "phone reach contact": "phone contact number email mail",
    "doctor physician": "doctor physician dr gp dentist",
    "commute": "commute train bus bike tram",
    "vacation holiday travel trip": "vacation holiday travel trip flight fly",
}
"""English words of a query, and the words of facts that answer it."""
_NAMING = frozenset({"name", "call"})

_Counts = dict[int, int]
"""How often a term occurs in each fact, by the fact's position."""


@dataclass(frozen=True, slots=True)
class FactWords:
    """The tokens and stems of one fact, with its language and length."""

    language: str
    words: str
    """Tokens, each with a space before and after it; `stems` likewise."""
    stems: str
    length: int

    @classmethod
    def of(cls, text: str) -> "FactWords":
        language = language_of_note(text)
        streams = analyse(text, language)
        return cls(language, f" {streams.words} ", f" {streams.stems} ", streams.words.count(" ") + 1)


class FactScore:
    """The total, keyword and vector scores of one fact."""

    __slots__ = ("equivalent", "score", "text", "vector")

    def __init__(self, score: float, text: float, vector: float | None, equivalent: bool) -> None:
        """`equivalent`: the fact has the same words or the same meaning as the query."""
        self.score, self.text, self.vector, self.equivalent = score, text, vector, equivalent


class FactTable:
    """Scores several facts for a query; holds their words. Read-only after creation, so threads may share it."""

    def __init__(self, facts: Sequence[FactWords]) -> None:
        self._facts = facts
        self._languages = sorted({counted_as(fact.language) for fact in facts if fact.language})
        self._average = sum(fact.length for fact in facts) / max(1, len(facts))
        self._words = _counts_by_token(fact.words for fact in facts)
        self._stems = _counts_by_token(fact.stems for fact in facts)

    def score(
        self, query: str, cosines: Sequence[float | None], calibration: "Calibration | None"
    ) -> dict[int, FactScore]:
        """Return the scores, 0 to 1, of facts related to the query, by the fact's position.

        Other facts influence a score only through the rarity of words. `cosines`: of each fact with the query, None for
        a fact without a vector; `calibration`: of the model that made the vectors.
        """
        terms = [term for term in analyse_query(query, self._languages).terms if not term.stop]
        texts = self._text_scores(terms)
        personal = is_about_user(query)
        implied = self._implied(terms) if personal else {}
        if calibration is None:
            scores = {
                position: FactScore(text, text, None, _holds_all(per_term, terms))
                for position, (text, per_term) in texts.items()
            }
            return _raised_to_implied(scores, implied)
        scale = calibration.for_sentences.for_size(len(self._facts))
        same = scale.low + _SAME_MEANING * (1 - scale.low)
        if personal:
            nearer = _NEARER * (scale.high - scale.low)
            scale = msgspec.structs.replace(scale, low=scale.low - nearer, high=scale.high - nearer)
        blend = _blend(scale.weight, max((text for text, _ in texts.values()), default=0.0), len(terms))
        scores = {}
        for position, cosine in enumerate(cosines):
            if position not in texts and (cosine is None or cosine <= scale.low):
                continue
            text, covered = texts.get(position, (0.0, 0.0))
            vector = None if cosine is None else within_limits(vector_evidence(cosine, scale))
            near = _holds_all(covered, terms) or (cosine is not None and cosine >= same)
            scores[position] = FactScore(blend.score(Evidence(text, vector)), text, vector, near)
        return _raised_to_implied(scores, implied)

    def _implied(self, terms: Sequence[QueryTerm]) -> dict[int, float]:
        """Return the share of the query's terms that each fact contains or answers, by the fact's position."""
        query_terms = [term for term in terms if not _NAMING.intersection(term.stems)] or list(terms)
        shares: dict[int, float] = {}
        for term in query_terms:
            positions = set(self._count(term))
            for stem in _answers().keys() & term.stems:
                positions.update(*(self._stems.get(answer, {}) for answer in _answers()[stem]))
            for position in positions:
                shares[position] = shares.get(position, 0.0) + 1 / len(query_terms)
        return shares

    def _text_scores(self, terms: Sequence[QueryTerm]) -> dict[int, tuple[float, float]]:
        """Return the keyword score, and the share of terms found, of each fact that contains a term, by the fact's
        position.
        """
        counts = [self._count(term) for term in terms]
        idfs = [inverse_document_frequency(len(self._facts), len(by_fact)) for by_fact in counts]
        scale, scores = Scale.of(idfs), {}
        for position in set().union(*counts):
            norm = length_norm(self._facts[position].length, self._average)
            parts = text_parts(
                [
                    term_score(idf, by_fact[position], norm) if position in by_fact else 0.0
                    for idf, by_fact in zip(idfs, counts, strict=True)
                ],
                scale,
            )
            scores[position] = parts.score, parts.covered
        return scores

    def _count(self, term: QueryTerm) -> _Counts:
        """Return how often a term occurs, in any of its forms, in each fact that contains it, by
        the fact's position.
        """
        token = term.word if isinstance(term.word, str) else " ".join(term.word)
        found = [
            _occurrences(self._words, token, lambda position: self._facts[position].words, is_prefix=term.is_prefix)
        ]
        found += [_occurrences(self._stems, stem, lambda position: self._facts[position].stems) for stem in term.stems]
        return reduce(_larger, found) or self._count_looser(term)

    def _count_looser(self, term: QueryTerm) -> _Counts:
        """Return how often looser forms of a term occur in each fact; used if no fact contains the term itself."""

        def occurrences(form: str, counts: Mapping[str, _Counts], stream: Callable[[int], str]) -> _Counts:
            return _occurrences(counts, form.removesuffix("*"), stream, is_prefix=form.endswith("*"))

        found = [
            occurrences(" ".join(form), self._words, lambda position: self._facts[position].words)
            for form in term.loose
        ]
        found += [
            occurrences(stem, self._stems, lambda position: self._facts[position].stems)
            for stem in (*term.loose_stems, *term.irregular)
        ]
        return reduce(_larger, found, {})


def is_about_user(query: str) -> bool:
    """Whether a query is about the user: "where do I live", "my wife's name", but not "how do I do this"."""
    text = " ".join(query.casefold().replace("\u2019", "'").split()).strip(" ?¿!.")
    if text.count(" ") >= _MAX_WORDS or not _SELF.search(text):
        return False
    return bool(_QUESTION.match(text) and not _HOW_TO.match(text)) or bool(_MINE.fullmatch(text))


@cache
def _answers() -> dict[str, frozenset[str]]:
    """Return, by the stem of a query word, the stems of the words in facts that answer it."""
    answers: dict[str, frozenset[str]] = {}
    for query_terms, answering in _ANSWERS.items():
        stems = frozenset(analyse(answering, "en").stems.split())
        for stem in analyse(query_terms, "en").stems.split():
            answers[stem] = answers.get(stem, frozenset()) | stems
    return answers


def _raised_to_implied(scores: dict[int, FactScore], implied: Mapping[int, float]) -> dict[int, FactScore]:
    """Raise each fact's score to at least the one for its implied share of the query's terms."""
    for position, share in implied.items():
        score = _IMPLIED * share * share
        known = scores.get(position)
        if known is None:
            scores[position] = FactScore(score, 0.0, None, False)
        elif known.score < score:
            known.score = score
    return scores


def _counts_by_token(streams: Iterable[str]) -> dict[str, _Counts]:
    """Return how often each token occurs in each text: token -> position of the text -> count."""
    counts: dict[str, _Counts] = {}
    for position, stream in enumerate(streams):
        for token in stream.split():
            of_token = counts.setdefault(token, {})
            of_token[position] = of_token.get(position, 0) + 1
    return counts


def _occurrences(
    counts: Mapping[str, _Counts], phrase: str, stream: Callable[[int], str], *, is_prefix: bool = False
) -> _Counts:
    """Return how often a phrase occurs in each fact; with `is_prefix`, its last token may be a prefix."""
    *first, last = phrase.split(" ")
    alone = counts.get(last, {})
    if is_prefix:
        alone = reduce(_larger, (by_fact for token, by_fact in counts.items() if token.startswith(last)), alone)
    if not first:
        return alone
    searched = f" {phrase}" if is_prefix else f" {phrase} "
    both = [position for position in alone if all(position in counts.get(token, {}) for token in first)]
    return {position: count for position in both if (count := stream(position).count(searched))}


def _larger(one: _Counts, other: _Counts) -> _Counts:
    if not one or not other:
        return one or other
    return {position: max(one.get(position, 0), other.get(position, 0)) for position in one.keys() | other.keys()}


def _blend(base_weight: float, best: float, terms: int) -> Blend:
    """Return the weights of the keyword and the vector score for facts, as a weighted mean.

    A sum of both would be too high, since facts are short. The weight of the vector score rises from `base_weight` to
    0.9 if `best`, the highest keyword score, is low for a query of `terms` terms.
    """
    doubt = within_limits((_TRUSTED - best * max(1.0, terms / _LONG_QUERY)) / (_TRUSTED - _DOUBTED))
    return Blend.mean(base_weight + max(0.0, _WEIGHT_WITHOUT_WORDS - base_weight) * doubt)


def _holds_all(covered: float, terms: Sequence[QueryTerm]) -> bool:
    return covered >= _FULL and len(terms) >= _MIN_WORDS
