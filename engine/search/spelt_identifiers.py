"""Finds queries whose words spell an identifier of the index: "from data" where a text has `from_data`."""

from engine.search.search_sources import WordCounts
from engine.text import QueryAnalysis

_MOST_WORDS = 6


def with_all_parts(question: QueryAnalysis, counts: WordCounts) -> QueryAnalysis:
    """Search function words, too, where all words of a query together are an identifier of the index."""
    terms = question.terms
    words = [term.word for term in terms if isinstance(term.word, str) and term.word.isalnum()]
    if not 1 < len(terms) == len(words) <= _MOST_WORDS or not any(term.stop for term in terms):
        return question
    spellings = [joint.join(words) for joint in ("_", "", "-")]
    counts.expect(spellings)
    known = tuple((spelling,) for spelling in spellings if counts.chunks(spelling, "words"))
    if not known:
        return question
    # A text with "login" holds both words of "log in".
    searched = (term._replace(stop=False, loose=known) if term.stop else term for term in terms)
    return question._replace(terms=tuple(searched))
