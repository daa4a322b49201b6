"""Analysis of text, shared by index, query and highlight: what counts as a word, and which words are the same.

In: the text of notes, messages and queries.
Out: tokens, stems and parsed queries. Names are loaded on first use: a sync that finds nothing new analyses no text.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.text.highlight import highlight_ranges as highlight_ranges
    from engine.text.languages import detect_language as detect_language
    from engine.text.languages import language_of_note as language_of_note
    from engine.text.parsed_query import Query as Query
    from engine.text.parsed_query import QueryTerm as QueryTerm
    from engine.text.query_analysis import QueryAnalysis as QueryAnalysis
    from engine.text.query_analysis import analyse_query as analyse_query
    from engine.text.query_analysis import analyse_word as analyse_word
    from engine.text.query_analysis import passage_terms as passage_terms
    from engine.text.query_parser import parse_query as parse_query
    from engine.text.tokens_and_stems import Analysis as Analysis
    from engine.text.tokens_and_stems import analyse as analyse
    from engine.text.tokens_and_stems import analyse_both as analyse_both
    from engine.text.tokens_and_stems import clear_word_caches as clear_word_caches

_MODULES = {
    "Analysis": "tokens_and_stems",
    "analyse": "tokens_and_stems",
    "analyse_both": "tokens_and_stems",
    "clear_word_caches": "tokens_and_stems",
    "highlight_ranges": "highlight",
    "detect_language": "languages",
    "language_of_note": "languages",
    "Query": "parsed_query",
    "QueryTerm": "parsed_query",
    "QueryAnalysis": "query_analysis",
    "analyse_query": "query_analysis",
    "analyse_word": "query_analysis",
    "passage_terms": "query_analysis",
    "parse_query": "query_parser",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'engine.text' has no attribute {name!r}")
    return getattr(importlib.import_module(f"engine.text.{_MODULES[name]}"), name)
