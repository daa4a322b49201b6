"""Finds the sections of the guide that answer some words, by the analysis that notes are searched with."""

import re
from collections.abc import Sequence

from gui.help.pages import GuidePage, Section

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKUP = re.compile(r"[*`|]+")
LANGUAGES = {"en": "english", "de": "german"}
"""By tag, as the analysis names those in which the guide is written; words of another are taken as English."""
_MOST_OF_ONE = 3
"""More occurrences of a word in a section don't count."""
_IN_TITLE, _IN_HEADING = 6, 9


def find(pages: Sequence[GuidePage], query: str, language: str = "english") -> list[Section]:
    """Sections with all the words that occur in the guide at all, in any ending; the best first. Any thread.

    `language`: of the pages, one of `LANGUAGES`' values.
    """
    from engine import highlight_ranges  # brings the analysis

    def count(text: str, word: str) -> int:
        return len(highlight_ranges(text, word, (language,)))

    sections = [section for page in pages for section in page.sections]
    texts = [_plain(section.text) for section in sections]
    scores = [0] * len(sections)
    missing = [0] * len(sections)
    for word in query.split():
        found = [
            min(count(text, word), _MOST_OF_ONE)
            + _IN_HEADING * bool(count(section.heading, word))
            + _IN_TITLE * bool(section.heading != section.title and count(section.title, word))
            for section, text in zip(sections, texts, strict=True)
        ]
        if any(found):
            scores = [score + more for score, more in zip(scores, found, strict=True)]
            missing = [gap + (not more) for gap, more in zip(missing, found, strict=True)]
    best = min((gap for gap, score in zip(missing, scores, strict=True) if score), default=0)
    fitting = [number for number, score in enumerate(scores) if score and missing[number] == best]
    return [sections[number] for number in sorted(fitting, key=lambda number: (-scores[number], number))]


def _plain(text: str) -> str:
    """What a reader sees of Markdown, but for its order."""
    return _MARKUP.sub(" ", _LINK.sub(r"\1", text))
