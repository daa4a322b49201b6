"""Reads the structure of an AsciiDoc file, as the "AsciiDoc Language Documentation" (Asciidoctor 2.0) describes it
(docs.asciidoctor.org/asciidoc/latest).

The document's title and attributes, section titles (also underlined and Markdown's), and verbatim blocks are read.
Attributes are not inserted into text, and files named by `include::` are not read.
"""

from engine.base import lazy_pattern
from engine.corpus.note_structure import Structure, StructureBuilder, markup_lines

_TITLE = lazy_pattern(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
_ATTRIBUTE = lazy_pattern(r":(!?[\w-]+!?):(?:[ \t]+(.*))?")
_VERBATIM = lazy_pattern(r"-{4,}|\.{4,}|\+{4,}|/{4,}")
_FENCE = lazy_pattern(r"(`{3,})[^`]*")
_REVISION = lazy_pattern(r"(?:v[^,]*,[ \t]*)?(\d{4}-\d\d-\d\d)(?::.*)?")
_AUTHORS = lazy_pattern(r"(?:[\w'’.-]+(?:[ \t]+[\w'’.-]+){0,2}(?:[ \t]+<[^<>]*>)?(?:;[ \t]*|$)){1,20}")
_UNDERLINES = "=-~^+"
_MOST_DIFFERENCE = 1
_ANCHOR = lazy_pattern(r"\[\[[^\[\]]*\]\]|\[#[^\[\]]*\]#?")
_LINK = lazy_pattern(r"(?:link|xref|https?):[^\s\[\]]*\[([^\[\]]*)\]|<<[^<>,]*(?:,[ ]*)?([^<>]*)>>")
_MARKS = lazy_pattern(r"(?<!\w)[*_`#+]{1,2}(?=\S)|(?<=\S)[*_`#+]{1,2}(?!\w)")
_SAME = {"page_tags": "tags", "revdate": "date", "docdate": "date", "doctitle": "title"}


def read(text: str) -> Structure:
    reader = _Reader()
    for number, line, below, _ in markup_lines(text):
        reader.take(number, line, below)
    reader.close()
    return reader.found.done()


class _Reader:
    def __init__(self) -> None:
        self.found = StructureBuilder()
        self._above = ""
        self._skipped = 0
        """Number of the line that underlines the latest title."""
        self._end = ""
        """The line that ends the block in which no markup is read."""
        self._start = self._last = 0
        self._titled = 0
        """Last line of the document's title."""
        self._header = False
        """Whether the line belongs to the document's header, below its title."""

    def take(self, number: int, line: str, below: str) -> None:
        self._last = number
        if self._end:
            if line == self._end:
                self._end_block(number)
        elif number != self._skipped:
            self._outside(number, line, below)
        self._above = line

    def close(self) -> None:
        """End an open block at the last line of the file."""
        if self._end:
            self._end_block(self._last)

    def _end_block(self, last: int) -> None:
        self.found.code.append((self._start, last))
        self._end = ""

    def _outside(self, number: int, line: str, below: str) -> None:
        if title := _TITLE.fullmatch(line):
            self._title(number, number, len(title[1]), title[2].removesuffix(title[1]).rstrip())
        elif not self._above and (level := _underlined(line, below)):
            self._skipped = number + 1
            self._title(number, number + 1, level, line)
        elif attribute := _ATTRIBUTE.fullmatch(line):
            key = attribute[1].strip("!").lower().replace("-", "_")
            self._property(number, _SAME.get(key, key), attribute[2] or "")
        elif fence := _FENCE.fullmatch(line):
            self._start, self._end = number, fence[1]
        elif _VERBATIM.fullmatch(line):
            self._start, self._end = number, line
        elif self._header and line:
            if (revision := _REVISION.fullmatch(line)) and "date" not in self.found.properties:
                self.found.property(number, "date", revision[1])
            elif number == self._titled + 1 and _AUTHORS.fullmatch(line):
                self.found.hide(number)
            else:
                self._header = False
                self.found.begun = True
        elif not line.startswith(("//", "[")):
            self._header = self._header and bool(line)
            self.found.begun = self.found.begun or bool(line)

    def _title(self, number: int, last: int, level: int, title: str) -> None:
        self._header = level == 1 and not self.found.begun
        self._titled = last
        self.found.heading(number, last, level, plain(title))

    def _property(self, number: int, key: str, value: str) -> None:
        if key == "title":
            self.found.title = plain(value)
        self.found.property(number, key, value)


def _underlined(line: str, below: str) -> int:
    """Return the level of a title that the next line underlines, or 0."""
    if not line or not line[0].isalnum() or below[:1] not in _UNDERLINES or below != below[:1] * len(below):
        return 0
    near = len(below) > 2 and abs(len(below) - len(line)) <= _MOST_DIFFERENCE
    return _UNDERLINES.index(below[0]) + 1 if below and near else 0


def plain(title: str) -> str:
    """Return a title without anchors, links and emphasis."""
    return _MARKS.sub("", _LINK.sub(lambda link: link[1] or link[2] or "", _ANCHOR.sub("", title)))
