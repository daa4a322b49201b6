"""Reads the structure of an AsciiDoc file, as the "AsciiDoc Language Documentation" (Asciidoctor 2.0) describes it
(docs.asciidoctor.org/asciidoc/latest).

The document's title and attributes, section titles (also underlined and Markdown's), and verbatim blocks are read.
Attributes are not inserted into text, and files named by `include::` are not read.
"""

import re

from engine.base import lazy_pattern
from engine.corpus.note_structure import Structure, StructureBuilder, markup_lines

_TITLE = lazy_pattern(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
_ATTRIBUTE = lazy_pattern(r":(!?[\w-]+!?):(?:[ \t]+(.*))?")
VERBATIM = lazy_pattern(r"-{4,}|\.{4,}|\+{4,}|/{4,}")
_COMPOUND = lazy_pattern(r"={4,}|\*{4,}|_{4,}|~{4,}|--|[|,:!]={3,}")
"""Matches the first and the last line of a block in which no section begins: an example, sidebar, quote or table."""
_STYLE = lazy_pattern(
    r"\[(?:(source|listing|literal|comment|pass|stem|latexmath|asciimath|discrete|float)(?=[%#.,\]]))?.*\]"
)
"""Matches a line of attributes of the block below, with its style if it decides what the block's markup means."""
_FREE = ("", "discrete", "float")
"""Styles of blocks whose markup is read. A title with one of the named styles begins no section."""
PREPROCESSOR = lazy_pattern(r"(?:ifdef|ifndef|ifeval|endif|include)::\S*\[.*\]")
ALONE = lazy_pattern(r"[^\W\d][\w-]*::(?:\S(?:.*\S)?)?\[.*\]|'{3,}|<{3,}|([-*_])( *)\1\2\1")
"""Matches a block of one line: a macro, or a break between parts or pages."""
REFERENCE = lazy_pattern(r"\{([\w-]+)\}")
FENCE = lazy_pattern(r"(`{3,})[^`]*")
_REVISION = lazy_pattern(r"(?:v[^,]*,[ \t]*)?(\d{4}-\d\d-\d\d)(?::.*)?")
_AUTHORS = lazy_pattern(r"(?:[\w'’.-]+(?:[ \t]+[\w'’.-]+){0,2}(?:[ \t]+<[^<>]*>)?(?:;[ \t]*|$)){1,20}")
_UNDERLINES = "=-~^+"
_MAX_DIFFERENCE = 1
ANCHOR = lazy_pattern(r"\[\[[^\[\]]*\]\]|\[#[^\[\]]*\]#?")
_LINK = lazy_pattern(
    r"(?:link|xref|https?):[^\s\[\]]*\[([^\[\]]*)\]|<<[^<>,]*(?:,[ ]*)?([^<>]*)>>|footnote:[\w-]*\[[^\[\]]*\]"
)
_MARKS = lazy_pattern(r"(?<!\w)[*_`#+]{1,2}(?=\S)|(?<=\S)[*_`#+]{1,2}(?!\w)")
_SAME = {"page_tags": "tags", "revdate": "date", "docdate": "date", "doctitle": "title"}


def read(text: str) -> Structure:
    reader = _Reader()
    for number, line, below, _ in markup_lines(text):
        reader.read_line(number, line, below)
    reader.close()
    return reader.found.done()


class _Reader:
    def __init__(self) -> None:
        self.found = StructureBuilder()
        self._above = ""
        self._skipped = 0
        """Number of the line that underlines the latest title."""
        self._end: str | None = None
        """The line that ends the block in which no markup is read; empty for a paragraph."""
        self._blocks: list[str] = []
        """Lines that end the open blocks in which no section begins, outermost first."""
        self._style = ""
        """The style that the lines above give to the next block."""
        self._in_text = False
        """Whether the line above is text of a paragraph, in which no section begins."""
        self._continued = ""
        """Key of the attribute whose value continues on the next line."""
        self._start = self._last = 0
        self._titled = 0
        """Last line of the document's title."""
        self._header = False
        """Whether the line belongs to the document's header, below its title."""

    def read_line(self, number: int, line: str, below: str) -> None:
        self._last = number
        if self._end == "" and (not line or line in self._blocks):
            self._end_block(number - 1)
        if self._end is not None:
            if line == self._end:
                self._end_block(number)
        elif number != self._skipped:
            self._read_outside_block(number, line, below)
        self._above = line

    def close(self) -> None:
        """End an open block at the last line of the file."""
        if self._end is not None:
            self._end_block(self._last)

    def _end_block(self, last: int) -> None:
        self.found.code.append((self._start, last))
        self._end = None

    def _read_outside_block(self, number: int, line: str, below: str) -> None:
        if self._is_attribute(number, line):
            return
        if attributes := _STYLE.fullmatch(line):
            self._style = attributes[1] or self._style
            return
        is_named = line[:1] == "." and line[1:2].strip(". ") != ""  # the title of a block
        style, self._style = self._style, self._style if is_named else ""
        in_text, self._in_text = self._in_text, False
        if line and line in self._blocks:
            del self._blocks[self._blocks.index(line) :]
        elif style in _FREE and (style or not (self._blocks or in_text)) and self._is_title(number, line, below):
            return
        elif line and (end := _verbatim_end(line, style)) is not None:
            self._start, self._end = number, end
        elif _COMPOUND.fullmatch(line):
            self._blocks.append(line)
        elif not line.startswith("//") and not PREPROCESSOR.match(line):
            self._text(number, line)
            if not in_text and (is_named or ALONE.fullmatch(line)):
                self._in_text = False

    def _is_title(self, number: int, line: str, below: str) -> bool:
        if title := _TITLE.fullmatch(line):
            self._title(number, number, len(title[1]), title[2].removesuffix(title[1]).rstrip())
        elif (not self._above or self._above[0] == "[") and (level := _underlined(line, below)):
            self._skipped = number + 1
            self._title(number, number + 1, level, line)
        else:
            return False
        return True

    def _is_attribute(self, number: int, line: str) -> bool:
        """Whether the line is an attribute of the document, or continues its value."""
        key, value = self._continued, line
        if not (key and line):
            attribute = _ATTRIBUTE.fullmatch(line)
            if attribute is None:
                return False
            key, value = attribute[1].strip("!").lower().replace("-", "_"), attribute[2] or ""
        self._continued = key if value.endswith(" \\") else ""
        self._property(number, _SAME.get(key, key), value.removesuffix(" \\").removesuffix(" +"))
        return True

    def _text(self, number: int, line: str) -> None:
        if not self._header or not line:
            self._header = False
            self._in_text = bool(line)
            self.found.begun = self.found.begun or bool(line)
        elif (revision := _REVISION.fullmatch(line)) and "date" not in self.found.properties:
            self.found.property(number, "date", revision[1])
        elif number == self._titled + 1 and _AUTHORS.fullmatch(line):
            self.found.hide(number)
        else:
            self._header = False
            self._in_text = self.found.begun = True

    def _title(self, number: int, last: int, level: int, title: str) -> None:
        self._header = level == 1 and not self.found.begun
        self._titled = last
        self.found.heading(number, last, level, plain(REFERENCE.sub(self._value, title)))

    def _value(self, reference: re.Match[str]) -> str:
        return self.found.properties.get(reference[1].lower().replace("-", "_"), reference[0])

    def _property(self, number: int, key: str, value: str) -> None:
        if key == "title":
            self.found.title = plain(value)
        self.found.property(number, key, value)


def _verbatim_end(line: str, style: str) -> str | None:
    """Return the last line of the verbatim block that `line` begins; None if it begins none."""
    if fence := FENCE.fullmatch(line):
        return fence[1]
    if VERBATIM.fullmatch(line):
        return line
    if style in _FREE or (line[0] == "." and line[1:2].strip(". ")):
        return None
    return "--" if line == "--" else ""


def _underlined(line: str, below: str) -> int:
    """Return the level of a title that the next line underlines, or 0."""
    if not line or not line[0].isalnum() or below[:1] not in _UNDERLINES or below != below[:1] * len(below):
        return 0
    near = len(below) > 2 and abs(len(below) - len(line)) <= _MAX_DIFFERENCE
    return _UNDERLINES.index(below[0]) + 1 if below and near else 0


def plain(title: str) -> str:
    """Return a title without anchors, links and emphasis."""
    return _MARKS.sub("", _LINK.sub(lambda link: link[1] or link[2] or "", ANCHOR.sub("", title)))
