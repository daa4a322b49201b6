"""Finds queries whose words spell an identifier of the index: "from data" where a text has `from_data`."""

from engine.search.document_frequencies import Counts
from engine.text import QueryAnalysis

_MOST_WORDS = 6


def with_all_parts(question: QueryAnalysis, counts: Counts) -> QueryAnalysis:
    """Search function words, too, where all words of a query together are an identifier of the index."""
    terms = question.terms
    words = [term.word for term in terms if isinstance(term.word, str) and term.word.isalnum()]
    if not 1 < len(terms) == len(words) <= _MOST_WORDS or not any(term.stop for term in terms):
        return question
    spellings = [joint.join(words) for joint in ("_", "", "-")]
    counts.expect(spellings)
    if not any(counts.chunks(spelling, "words") for spelling in spellings):
        return question
    return question._replace(terms=tuple(term._replace(stop=False) for term in terms))
