"""The structure of a note that isn't Markdown, or of a document: its title, tags, headings, properties and code.

Each format has its own module. Only what makes a note searchable is read, line by line and in linear time:
docutils parses a whole document for 40 times as long and includes other files, and nothing in a note raises an error.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import chain

import msgspec

from engine.base import lazy_pattern

_BLOCK = 128 * 1024
_TITLE_LIMIT = 200
_SEARCHED = ("title", "subtitle", "aliases", "tags", "keywords", "description", "summary", "abstract")
_BETWEEN_TAGS = lazy_pattern(r"[,;:\s]+")
_LONGEST = 400
LONGEST_PROPERTY = 4_000
"""Maximum number of characters of a property on several lines; the rest is left out."""
_KEY = lazy_pattern(r"[ \-]+")


class MarkupHeading(msgspec.Struct, frozen=True):
    line: int
    """First line, from 1; of an overlined title the line above it."""
    last: int
    """Last line, including an underline."""
    level: int
    """1 to 6."""
    title: str


class Structure(msgspec.Struct, frozen=True):
    """The title, headings, code, properties, tags and aliases of a note. Lines count from 1."""

    title: str
    """Title that the note declares, else a level 1 heading before any text; else empty."""
    headings: tuple[MarkupHeading, ...]
    code: tuple[tuple[int, int], ...]
    """First and last line of each block of code, including the lines that enclose it."""
    properties: Mapping[str, str]
    """Values by key, in lower case with `_` for spaces and hyphens."""
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    data: Mapping[int, str]
    """Lines that are data instead of text, each with the part that is searched."""
    separate_pages: bool = False
    """Whether no passage contains text below two headings of the highest level, since these are pages."""
    separate_title: bool = False
    """Whether the title is none of the headings, but the page begins with it as one more."""

    def searched_text(self, text: str) -> str:
        """Return the note's text with data lines reduced to the searched values; the number of lines stays the same."""
        if not self.data:
            return text
        return "\n".join(self.data.get(number, line) for number, line in enumerate(lines_of(text), 1))

    def code_block(self, line: int) -> tuple[int, int] | None:
        """Return the first and last line of the block of code that contains a line; None if there is none."""
        block = bisect_right(self.code, line, key=lambda lines: lines[0]) - 1
        return self.code[block] if block >= 0 and line <= self.code[block][1] else None


class StructureBuilder:
    """Collects titles, headings, properties and code of a note, in the order of its lines."""

    def __init__(self) -> None:
        self.title = ""
        self._leading = ""
        self.begun = False
        """Whether a heading or text was found."""
        self.headings: list[MarkupHeading] = []
        self.code: list[tuple[int, int]] = []
        self.properties: dict[str, str] = {}
        self.tags: list[str] = []
        self.aliases: list[str] = []
        self.data: dict[int, str] = {}

    def heading(self, line: int, last: int, level: int, title: str) -> None:
        if title := " ".join(title.split())[:_TITLE_LIMIT]:
            self.headings.append(MarkupHeading(line, last, max(1, min(6, level)), title))
            if not self.begun and level == 1:
                self._leading = title
            self.begun = True

    def property(self, line: int, key: str, value: str) -> None:
        """Add a property on one line; values of the same key are joined."""
        key = _KEY.sub("_", key.strip().lower())
        value = value.strip()
        if key in ("tags", "keywords", "filetags"):
            self.tags += filter(None, _BETWEEN_TAGS.split(value))
        before = self.properties.get(key)
        if before is None or len(before) < LONGEST_PROPERTY:
            self.properties[key] = value if before is None else f"{before} {value}"
        self.data[line] = value if key in _SEARCHED else ""

    def hide(self, line: int) -> None:
        """Mark a line as data that is not searched."""
        self.data[line] = ""

    def done(self, *, separate_pages: bool = False, separate_title: bool = False) -> Structure:
        return Structure(
            title=" ".join(self.title.split())[:_TITLE_LIMIT] or self._leading,
            headings=tuple(self.headings),
            code=tuple(self.code),
            properties=self.properties,
            tags=tuple(self.tags),
            aliases=tuple(self.aliases),
            data=self.data,
            separate_pages=separate_pages,
            separate_title=separate_title,
        )


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines of a text, split a block at a time, since splitting holds the interpreter's lock."""
    for lines in blocks_of(text):
        yield from lines


def blocks_of(text: str) -> Iterator[list[str]]:
    """Yield the lines of a text, in lists of about 128 * 1024 characters."""
    start = 0
    while start <= len(text):
        stop = text.find("\n", start + _BLOCK)
        if stop < 0:
            stop = len(text)
        yield text[start:stop].split("\n")
        start = stop + 1


def markup_lines(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield for each line its number (from 1), its text and the texts of the next two, without trailing blanks.

    Very long lines aren't markup; "…" stands for them.
    """
    window = ["", ""]
    number = -1
    for line in chain(lines_of(text), ("", "")):
        short = line.rstrip() if len(line) <= _LONGEST else "…"
        if number > 0:
            yield number, window[0], window[1], short
        window = [window[1], short]
        number += 1
