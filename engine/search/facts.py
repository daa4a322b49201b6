"""How well facts answer a question: by words, and by meaning where both have a vector.

There are few of them and they are short, so no index is kept: a question looks through the words of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.search.scoring import Blend, inverse_document_frequency, length_norm, term_score, text_parts, vector_score
from engine.text import analyse, analyse_query, detect_language
from engine.text.query import QueryTerm

if TYPE_CHECKING:
    from engine.embedding.base import Calibration

_FULL = 0.999
_LEAST_WORDS = 2
"""Words that must all be in a fact for it to be the one that is meant."""
_SAME_MEANING = 0.7
"""Of the way from an unrelated sentence to the same one."""


@dataclass(frozen=True, slots=True)
class FactWords:
    """The words of one fact."""

    language: str
    words: str
    """Tokens with a space before and after each, as are the stems."""
    stems: str
    length: int

    @classmethod
    def of(cls, text: str) -> "FactWords":
        language = detect_language(text)
        streams = analyse(text, language)
        return cls(language, f" {streams.words} ", f" {streams.stems} ", streams.words.count(" ") + 1)

    def count(self, term: QueryTerm) -> int:
        """How often the term stands there, in any of its forms."""
        token = term.word if isinstance(term.word, str) else " ".join(term.word)
        plain = self.words.count(f" {token}" if term.prefix_ok else f" {token} ")
        return max([plain, *(self.stems.count(f" {stem} ") for stem in term.stems)])


@dataclass(frozen=True, slots=True)
class FactScore:
    """What one fact scores."""

    score: float
    text: float
    vector: float | None
    near: bool
    """It says what was asked for, in these words or with this meaning."""


def score_facts(
    query: str, facts: Sequence[FactWords], cosines: Sequence[float | None], calibration: "Calibration | None"
) -> list[FactScore]:
    """Scores in the order of `facts`, 0 to 1 and independent of each other but for how rare a word is among them.

    `cosines` are those with the question, None where there is no vector; `calibration` is its model's, None without.
    """
    languages = sorted({fact.language for fact in facts if fact.language})
    terms = [term for term in analyse_query(query, languages).terms if not term.stop]
    texts = _text_scores(terms, facts)
    if calibration is None:
        return [FactScore(text, text, None, _holds_all(covered, terms)) for text, covered in texts]
    scale = calibration.for_sentences.among(len(facts))
    blend = Blend.of(scale.weight, max((text for text, _ in texts), default=0.0), len(terms))
    same = scale.low + _SAME_MEANING * (1 - scale.low)
    found = []
    for (text, covered), cosine in zip(texts, cosines, strict=True):
        vector = None if cosine is None else vector_score(cosine, scale)
        near = _holds_all(covered, terms) or (cosine is not None and cosine >= same)
        found.append(FactScore(blend.score(text, vector), text, vector, near))
    return found


def _holds_all(covered: float, terms: Sequence[QueryTerm]) -> bool:
    return covered >= _FULL and len(terms) >= _LEAST_WORDS


def _text_scores(terms: Sequence[QueryTerm], facts: Sequence[FactWords]) -> list[tuple[float, float]]:
    """Score of each fact, and the share of the terms that it holds."""
    counts = [[fact.count(term) for term in terms] for fact in facts]
    idfs = [
        inverse_document_frequency(len(facts), sum(1 for held in counts if held[place])) for place in range(len(terms))
    ]
    average = sum(fact.length for fact in facts) / max(1, len(facts))
    scores = []
    for fact, held in zip(facts, counts, strict=True):
        if not any(held):
            scores.append((0.0, 0.0))
            continue
        norm = length_norm(fact.length, average)
        parts = [term_score(idf, count, norm) if count else 0.0 for idf, count in zip(idfs, held, strict=True)]
        told = text_parts(parts, idfs)
        scores.append((told.score, told.covered))
    return scores
