"""Splits text into tokens and stems, for the index, for queries and for highlights."""

from engine.text.analysis import ANALYSER_VERSION, Analysis, analyse, analyse_both, forget_words
from engine.text.highlight import highlight_ranges
from engine.text.languages import detect_language
from engine.text.parsed_query import Query, QueryTerm
from engine.text.query_analysis import QueryAnalysis, analyse_query, analyse_word, passage_terms
from engine.text.query_parser import parse_query

__all__ = [
    "ANALYSER_VERSION",
    "Analysis",
    "Query",
    "QueryAnalysis",
    "QueryTerm",
    "analyse",
    "analyse_both",
    "analyse_query",
    "analyse_word",
    "detect_language",
    "forget_words",
    "highlight_ranges",
    "parse_query",
    "passage_terms",
]
