"""Reads XML in a zip archive, as Word, OpenDocument and EPUB files store it, within limits.

XML is parsed in steps by expat: no tree is built, at most 500 elements are open, and a file that declares entities is
refused. Nothing is unpacked beyond the limit.
"""

import posixpath
import zipfile
import zlib
from contextlib import suppress
from io import BytesIO
from typing import NamedTuple
from xml.parsers import expat

from engine.base import skip_reasons
from engine.corpus.documents import DocumentError
from engine.corpus.documents.text_collector import DocumentText, damaged, encrypted, list_item, one_line

_LARGEST_PART = 100 * 1024 * 1024
"""Unpacked bytes of all parts that are read."""
_MAX_PARTS = 50_000
_MAX_LEVELS = 500
_MAX_ELEMENTS = 200_000
"""Elements of a small XML file."""
_BLOCK = 64 * 1024
_SHORT_ROW = 500
"""Characters of a row of a table that is one line however many paragraphs its cells have."""
_OLE = b"\xd0\xcf\x11\xe0"
"""Begin of a compound file, in which Office puts an encrypted document."""


class Archive:
    """A zip archive whose parts are unpacked up to a limit."""

    def __init__(self, data: bytes) -> None:
        if data.startswith(_OLE):
            raise encrypted()
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError):
            raise damaged(skip_reasons.NO_ZIP) from None
        if len(self._zip.infolist()) > _MAX_PARTS:
            raise damaged(skip_reasons.LARGE_PART)
        self._bytes_left = _LARGEST_PART

    def has(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def names(self) -> list[str]:
        """Return the names of all files in the archive."""
        return self._zip.namelist()

    def part(self, name: str) -> bytes:
        """Return the bytes of one file in the archive; empty if it does not exist."""
        if not self.has(name):
            return b""
        if self._zip.getinfo(name).flag_bits & 1:
            raise encrypted()
        try:
            with self._zip.open(name) as file:
                data = file.read(self._bytes_left + 1)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, ValueError):
            raise damaged(skip_reasons.NO_ZIP) from None
        self._bytes_left -= len(data)
        if self._bytes_left < 0:
            raise damaged(skip_reasons.LARGE_PART)
        return data


class XmlHandler:
    """A handler of XML; elements and attributes have their local names, which are unambiguous in these formats."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Called when an XML element begins."""

    def end(self, tag: str) -> None:
        """Called when an XML element ends."""

    def data(self, text: str) -> None:
        """Called with text within an XML element."""

    def parse(self, data: bytes) -> None:
        """Parse an XML file and call the methods for its elements. Raises `DocumentError`."""
        open_elements = 0

        def start(name: str, attributes: dict[str, str]) -> None:
            nonlocal open_elements
            open_elements += 1
            if open_elements > _MAX_LEVELS:
                raise damaged(skip_reasons.TOO_DEEP)
            self.start(_local(name), {_local(key): value for key, value in attributes.items()})

        def end(name: str) -> None:
            nonlocal open_elements
            open_elements -= 1
            self.end(_local(name))

        def entity(*_: object) -> None:
            raise damaged(skip_reasons.ENTITIES)

        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.CharacterDataHandler, parser.EntityDeclHandler = self.data, entity
        try:
            for at in range(0, len(data), _BLOCK):
                parser.Parse(data[at : at + _BLOCK], False)
            parser.Parse(b"", True)
        except (expat.ExpatError, LookupError, ValueError):
            raise damaged(skip_reasons.BROKEN_XML) from None


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


class Element(NamedTuple):
    tag: str
    attributes: dict[str, str]
    text: list[str]
    """Pieces of its own text, without that of elements in it."""


class _Elements(XmlHandler):
    def __init__(self) -> None:
        self.found: list[Element] = []
        self._open: list[Element] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.found) >= _MAX_ELEMENTS:
            raise damaged(skip_reasons.LARGE_PART)
        self._open.append(Element(tag, attributes, []))
        self.found.append(self._open[-1])

    def end(self, tag: str) -> None:
        self._open.pop()

    def data(self, text: str) -> None:
        self._open[-1].text.append(text)


def elements(data: bytes) -> list[Element]:
    """Return the elements of a small XML file, such as a list of parts, in their order; none of an empty file.

    Raises `DocumentError`.
    """
    handler = _Elements()
    if data:
        handler.parse(data)
    return handler.found


def read_dublin_core(data: bytes, text: DocumentText) -> None:
    """Set title and author from `docProps/core.xml`, `meta.xml` or the package of an EPUB, up to the first damage."""
    found, handler = dict[str, str](), _Elements()
    with suppress(DocumentError):
        handler.parse(data)
    for element in handler.found:
        found[element.tag] = found.get(element.tag) or "".join(element.text)
    text.title, text.author = found.get("title", ""), found.get("creator", "")


def related_parts(archive: Archive, kind: str, name: str = "") -> dict[str, str]:
    """Return the names of the parts of this kind by their ids, to which the part with this name, or the whole package,
    refers. Raises `DocumentError`.
    """
    folder, file = posixpath.split(name)
    return {
        one.get("Id", ""): posixpath.normpath(posixpath.join("/", folder, one.get("Target", ""))).lstrip("/")
        for tag, one, _ in elements(archive.part(posixpath.join(folder, f"_rels/{file}.rels")))
        if tag == "Relationship" and one.get("TargetMode") != "External"
        if one.get("Type", "").rpartition("/")[2] == kind
    }


class Paragraphs(XmlHandler):
    """Puts together paragraphs, which may be inside of each other (notes, text boxes), and rows of tables."""

    def __init__(self, text: DocumentText) -> None:
        self._text = text
        self._open: list[list[str]] = []
        """The parts of the paragraphs that are open, innermost last."""
        self._rows: list[list[list[tuple[int, str]]]] = []
        """The cells of the rows that are open, innermost last: the level and the text of each paragraph."""
        self._items: list[str] = []
        """Consecutive items of lists."""
        self._notes: list[str] = []
        """Footnotes, endnotes and comments of the text that is open, which come after it."""

    def _begin(self) -> None:
        self._open.append([])

    def _append(self, text: str) -> None:
        if self._open:
            self._open[-1].append(text)

    def _close(self, level: int = 0, *, item: int = -1, continued: bool = False) -> None:
        """End a paragraph: a heading of this `level`, or an item of a list, whose level is from 0.

        `continued`: whether it is another paragraph of the item before.
        """
        content = self._finished("".join(self._open.pop())) if self._open else ""
        level = 0 if self._open else level
        if self._rows:
            self._add_to_cell([(level, content)] if content.strip() else [])
        elif item >= 0 and not level:
            self._items += [list_item(item, content, continued=continued)] if content.strip() else []
            self._items += self._taken_notes()
        else:
            self._add(level, content)

    def _taken_notes(self) -> list[str]:
        notes, self._notes = self._notes, []
        return notes

    def _finished(self, content: str) -> str:
        """Return the text of a paragraph from its parts."""
        return content

    def _row(self) -> None:
        self._rows.append([])

    def _cell(self) -> None:
        if self._rows:
            self._rows[-1].append([])

    def _end_row(self) -> None:
        """End a row: one line, unless the table is the layout of a page and its cells are long or have headings."""
        if not self._rows:
            return
        cells = self._rows.pop()
        content = [entry for cell in cells for entry in cell]
        row = " | ".join(" ".join(one_line(text) for _, text in cell) for cell in cells)
        headings = any(level for level, _ in content)
        layout = headings or any(len(cell) > 1 for cell in cells)
        if layout and (len(row) >= _SHORT_ROW or (headings and sum(map(bool, cells)) == 1)):
            if self._rows:
                self._add_to_cell(content)
                return
            notes = self._taken_notes()
            for level, text in content:
                self._add(level, text)
            for note in notes:  # the file doesn't say which paragraph they belong to
                self._text.paragraph(note)
        elif content and self._rows:
            self._add_to_cell([(0, row)])
        elif content:
            self._items += (row, *self._taken_notes())

    def _add_to_cell(self, content: list[tuple[int, str]]) -> None:
        """Add paragraphs to the cell that is open."""
        cells = self._rows[-1]
        if cells:
            cells[-1] += content
        else:
            cells.append(content)

    def _add(self, level: int, content: str) -> None:
        """Add a heading of this level, or a paragraph if it is 0."""
        self._flush()
        if level:
            self._text.heading(level, content)
        else:
            self._text.paragraph(content)
        for note in self._taken_notes():
            self._text.paragraph(note)

    def _flush(self) -> None:
        items, self._items = self._items, []
        if items:
            self._text.paragraph("\n".join(items))
