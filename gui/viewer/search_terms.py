"""The two things to find in a text: the words of the query, and the text of the find bar."""

import re

from gui.viewer.matches import Finder


def query_finder(query: str, language: str) -> Finder:
    """Finds the words of a search as the index understands them: other cases, accents and endings too.

    Phrases are found whole; operators, and what they exclude, not at all.
    """
    from engine import highlight_ranges, parse_query  # brings the analysis, which an empty window does not need

    parsed = parse_query(query)
    return lambda text: highlight_ranges(text, parsed, (language,))


def plain_finder(needle: str) -> Finder:
    """Finds the characters as typed, in either case."""
    pattern = re.compile(re.escape(needle), re.IGNORECASE)
    return lambda text: [found.span() for found in pattern.finditer(text)]
