"""The pages of the guide from `resources/guide`, with the current keys in them.

Pages of another language are in a folder of its tag, under the same names; a missing page is shown in English.

In the Markdown, `{key:view.index}` is replaced by the key of a command, a link to `command:view.index` runs it, and a
setting in backticks becomes a link to it.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files

from engine import marked, tr

NAMES = (
    "first-steps",
    "searching",
    "query-language",
    "sessions",
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
"""In the order in which they are listed."""

KEY = re.compile(r"\{key:([\w.-]+)\}")
CODE = re.compile(r"(?<![`\w])`([^`\n]+)`(?!`)")
NO_KEY = marked("no key")


@dataclass(frozen=True)
class Section:
    """A part of a page under one heading; the first one of a page has the page's title."""

    page: str
    title: str
    """Of the page."""
    heading: str
    text: str
    """Without the heading."""


@dataclass(frozen=True)
class GuidePage:
    name: str
    title: str
    text: str
    """Markdown, ready to be shown."""
    sections: tuple[Section, ...]


def read_pages(keys: Mapping[str, str], settings: Collection[str], language: str = "en") -> tuple[GuidePage, ...]:
    """All pages. `keys`: current keys of each command; `settings`: names of existing settings; `language`: its tag.

    Any thread.
    """
    return tuple(_page(name, page_source(name, language), keys, settings) for name in NAMES)


def page_source(name: str, language: str = "en") -> str:
    """A page as it was written."""
    english = files("resources").joinpath("guide")
    own = english.joinpath(language, f"{name}.md")
    return (own if own.is_file() else english.joinpath(f"{name}.md")).read_text("utf-8")


def _page(name: str, source: str, keys: Mapping[str, str], settings: Collection[str]) -> GuidePage:
    text = KEY.sub(lambda found: keys.get(found[1]) or tr(NO_KEY), source)
    sections = tuple(_sections(name, text))
    linked = CODE.sub(lambda found: f"[{found[0]}](setting:{found[1]})" if found[1] in settings else found[0], text)
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
