"""Reads the pages of the guide from `resources/guide`, and inserts the current keys.

Pages of another language are in a folder of its tag, under the same names; a missing page is shown in English.

In the Markdown, `{key:view.index}` is replaced by the key of a command, a link to `command:view.index` runs it, and a
setting in backticks becomes a link to it.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from engine import marked, tr
from gui.core.view_spec import view_specs

NAMES = (
    "first-steps",
    "searching",
    "query-language",
    "sessions",
    "edits",
    "workspaces",
    "quick-search",
    "sharing",
    "facts",
    "index-view",
    "not-found",
    "engines",
    "agents",
    "privacy",
    "keyboard",
    "trouble",
)
"""Names of pages in their order; pages of views follow."""

KEY = re.compile(r"\{key:([\w.-]+)\}")
CODE = re.compile(r"(?<![`\w])`([^`\n]+)`(?!`)")
NO_KEY = marked("no key")


@dataclass(frozen=True)
class Section:
    """The part of a page under one heading; the first section of a page has the page's title."""

    page: str
    title: str
    """Title of the page."""
    heading: str
    text: str
    """Text without the heading."""


@dataclass(frozen=True)
class GuidePage:
    name: str
    title: str
    text: str
    """Markdown with keys and links inserted."""
    sections: tuple[Section, ...]


def read_pages(keys: Mapping[str, str], settings: Collection[str], language: str = "en") -> tuple[GuidePage, ...]:
    """Return all pages of the guide. Any thread.

    `keys`: current keys of each command. `settings`: names of existing settings. `language`: a language tag.
    """
    return tuple(_page(name, page_source(name, language), keys, settings) for name in page_names())


def page_names() -> tuple[str, ...]:
    """Return the names of all pages in display order."""
    return tuple(dict.fromkeys((*NAMES, *(spec.guide for spec in view_specs() if spec.guide))))


def page_source(name: str, language: str = "en") -> str:
    """Return the Markdown of a page as written."""
    english = files("resources").joinpath("guide")
    own = english.joinpath(language, f"{name}.md")
    return (own if own.is_file() else english.joinpath(f"{name}.md")).read_text("utf-8")


def _page(name: str, source: str, keys: Mapping[str, str], settings: Collection[str]) -> GuidePage:
    text = KEY.sub(lambda match: keys.get(match[1]) or tr(NO_KEY), source)
    sections = tuple(_sections(name, text))
    linked = CODE.sub(lambda match: f"[{match[0]}](setting:{match[1]})" if match[1] in settings else match[0], text)
    return GuidePage(name, sections[0].title, linked, sections)


def _sections(name: str, text: str) -> Iterator[Section]:
    title, heading, gathered = "", "", list[str]()
    for line in text.splitlines():
        if not line.startswith("#"):
            gathered.append(line)
            continue
        if heading:
            yield Section(name, title, heading, "\n".join(gathered))
        heading, gathered = line.lstrip("#").strip(), []
        title = title or heading
    yield Section(name, title, heading, "\n".join(gathered))


# --- Finds the sections of the guide that answer some words, by the analysis that notes are searched with ------------

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKUP = re.compile(r"[*`|]+")
LANGUAGES = {"en": "english", "de": "german"}
"""Names that the text analysis has for the languages of the guide, by tag; any other language is read as English."""
_MAX_OF_ONE = 3
"""Further occurrences of a word in a section don't count."""
_IN_TITLE, _IN_HEADING = 6, 9


def search_pages(pages: Sequence[GuidePage], query: str, language: str = "english") -> list[Section]:
    """Return the sections that contain all words of a query, in any ending, best first. Any thread.

    Words that occur nowhere in the guide are ignored. `language`: of the pages, one of `LANGUAGES`' values.
    """
    from engine import highlight_ranges  # imports the text analysis

    def count(text: str, word: str) -> int:
        return len(highlight_ranges(text, word, (language,)))

    sections = [section for page in pages for section in page.sections]
    texts = [_plain(section.text) for section in sections]
    scores = [0] * len(sections)
    missing = [0] * len(sections)
    for word in query.split():
        ranks = [
            min(count(text, word), _MAX_OF_ONE)
            + _IN_HEADING * bool(count(section.heading, word))
            + _IN_TITLE * bool(section.heading != section.title and count(section.title, word))
            for section, text in zip(sections, texts, strict=True)
        ]
        if any(ranks):
            scores = [score + more for score, more in zip(scores, ranks, strict=True)]
            missing = [gap + (not more) for gap, more in zip(missing, ranks, strict=True)]
    best = min((gap for gap, score in zip(missing, scores, strict=True) if score), default=0)
    fitting = [number for number, score in enumerate(scores) if score and missing[number] == best]
    return [sections[number] for number in sorted(fitting, key=lambda number: (-scores[number], number))]


def _plain(text: str) -> str:
    """Return the visible text of Markdown for searching; its order may differ."""
    return _MARKUP.sub(" ", _LINK.sub(r"\1", text))
