"""Extracts the text of Word documents and of OpenDocument texts.

Written from Office Open XML (ECMA-376, 5th edition, WordprocessingML) and OpenDocument 1.3.
"""

import posixpath
import re

from engine.base import skip_reasons
from engine.corpus.documents.text_collector import BLANKS, DocumentText, damaged, encrypted, one_line
from engine.corpus.documents.xml_archive import Archive, DublinCore, XmlHandler

_WORD_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_WORD_SKIPPED = ("Fallback", "del", "moveFrom", "pPrChange")
"""Another form of something that is read, and text and styles from before changes that are tracked."""
_SHORT_ROW = 500
"""Characters of a row of a table that is one line however many paragraphs its cells have."""
_WORD_CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def read_docx(data: bytes, text: DocumentText) -> None:
    archive = Archive(data)
    relations = _Relations()
    relations.parse(archive.part("_rels/.rels"))
    main = relations.main or "word/document.xml"
    body = archive.part(main)
    if not body:
        raise damaged(skip_reasons.NO_MAIN_PART)
    folder = posixpath.dirname(main)
    DublinCore().read_into(archive.part("docProps/core.xml"), text)
    styles = _WordStyles()
    if style_part := archive.part(posixpath.join(folder, "styles.xml")):
        styles.parse(style_part)
    _WordText(text, styles.levels).parse(body)
    for notes in ("footnotes.xml", "endnotes.xml"):
        if part := archive.part(posixpath.join(folder, notes)):
            _WordText(text, styles.levels).parse(part)


class _Relations(XmlHandler):
    def __init__(self) -> None:
        self.main = ""
        """The part with the document's text."""

    def parse(self, data: bytes) -> None:
        if data:
            super().parse(data)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "Relationship" and attributes.get("Type", "").endswith("/officeDocument"):
            self.main = posixpath.normpath("/" + attributes.get("Target", "")).lstrip("/")


class _WordStyles(XmlHandler):
    """The levels of the styles of paragraphs that are headings."""

    def __init__(self) -> None:
        self.levels: dict[str, int] = {}
        self._style = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "style":
            self._style = attributes.get("styleId", "")
        elif tag == "name" and (found := _WORD_HEADING.fullmatch(attributes.get("val", ""))):
            self.levels[self._style] = int(found[1])
        elif tag == "name" and attributes.get("val", "").lower() == "title":
            self.levels[self._style] = 1
        elif tag == "outlineLvl" and (level := _number(attributes.get("val", ""), 9)) < 9:
            self.levels.setdefault(self._style, level + 1)


class _Paragraphs(XmlHandler):
    """Puts together paragraphs, which may be inside of each other (notes, text boxes), and rows of tables."""

    def __init__(self, text: DocumentText) -> None:
        self._text = text
        self._open: list[list[str]] = []
        """The parts of the paragraphs that are open, innermost last."""
        self._rows: list[list[list[tuple[int, str]]]] = []
        """The cells of the rows that are open, innermost last: the level and the text of each paragraph."""
        self._items: list[str] = []
        """Consecutive items of lists."""

    def _begin(self) -> None:
        self._open.append([])

    def _append(self, text: str) -> None:
        if self._open:
            self._open[-1].append(text)

    def _close(self, level: int = 0, *, item: bool = False) -> None:
        """End a paragraph: a heading of this `level`, or an item of a list."""
        content = self._finished("".join(self._open.pop())) if self._open else ""
        level = 0 if self._open else level
        if self._rows:
            self._put([(level, content)] if content.strip() else [])
        elif item and not level:
            self._items += [f"- {content}"] if content.strip() else []
        else:
            self._add(level, content)

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
                self._put(content)
                return
            for level, text in content:
                self._add(level, text)
        elif content and self._rows:
            self._put([(0, row)])
        elif content:
            self._items.append(row)

    def _put(self, content: list[tuple[int, str]]) -> None:
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

    def _flush(self) -> None:
        items, self._items = self._items, []
        if items:
            self._text.paragraph("\n".join(items))


class _WordText(_Paragraphs):
    def __init__(self, text: DocumentText, levels: dict[str, int]) -> None:
        super().__init__(text)
        self._levels = levels
        self._skipped = 0
        self._in_text = self._in_run = False
        self._level = [0]
        self._item = [False]

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in _WORD_SKIPPED:
            self._skipped += 1
        if self._skipped:
            return
        match tag:
            case "p":
                self._begin()
                self._level.append(0)
                self._item.append(False)
            case "pStyle":
                self._level[-1] = self._levels.get(attributes.get("val", ""), 0)
            case "outlineLvl" if (level := _number(attributes.get("val", ""), 9)) < 9:
                self._level[-1] = level + 1
            case "numPr":
                self._item[-1] = True
            case "t":
                self._in_text = True
            case "r":
                self._in_run = True
            case "tr":
                self._row()
            case "tc":
                self._cell()
            case _ if self._in_run:  # outside, a tab is a tab stop
                self._append(_WORD_CHARACTERS.get(tag, ""))

    def end(self, tag: str) -> None:
        if tag in _WORD_SKIPPED:
            self._skipped -= 1
        elif self._skipped:
            return
        elif tag == "t":
            self._in_text = False
        elif tag == "r":
            self._in_run = False
        elif tag == "p" and self._open:
            self._close(self._level.pop(), item=self._item.pop())
        elif tag == "tr":
            self._end_row()
        elif tag in ("body", "footnotes", "endnotes"):
            self._flush()

    def data(self, text: str) -> None:
        if self._in_text and not self._skipped:
            self._append(text)


def _number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else default


# --- OpenDocument -----------------------------------------------------------------------------------------------------

_ODT_BLANK, _ODT_TAB, _ODT_BREAK = "\x1c", "\x1d", "\x1e"
"""Stand for blanks that count, unlike those in the XML; XML contains none of these characters."""
_ODT_CHARACTERS = str.maketrans(_ODT_BLANK + _ODT_TAB + _ODT_BREAK, " \t\n")
_ODT_SKIPPED = ("tracked-changes", "annotation", "forms", "sequence-decls", "binary-data")


def read_odt(data: bytes, text: DocumentText) -> None:
    archive = Archive(data)
    if b"encryption-data" in archive.part("META-INF/manifest.xml"):
        raise encrypted()
    body = archive.part("content.xml")
    if not body:
        raise damaged(skip_reasons.NO_MAIN_PART)
    DublinCore().read_into(archive.part("meta.xml"), text)
    _OdtText(text).parse(body)


class _OdtText(_Paragraphs):
    def __init__(self, text: DocumentText) -> None:
        super().__init__(text)
        self._skipped = self._lists = 0
        self._body = False
        self._levels: list[int] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._body = self._body or tag == "body"
        self._skipped += tag in _ODT_SKIPPED
        if self._skipped or not self._body:
            return
        match tag:
            case "p" | "h":
                self._begin()
                self._levels.append(_number(attributes.get("outline-level", ""), 1) if tag == "h" else 0)
            case "s":
                self._append(_ODT_BLANK * _number(attributes.get("c", ""), 1))
            case "tab":
                self._append(_ODT_TAB)
            case "line-break":
                self._append(_ODT_BREAK)
            case "list-item":
                self._lists += 1
            case "table-row":
                self._row()
            case "table-cell":
                self._cell()

    def end(self, tag: str) -> None:
        self._skipped -= tag in _ODT_SKIPPED
        if self._skipped or not self._body:
            return
        if tag in ("p", "h") and self._levels:
            self._close(self._levels.pop(), item=self._lists > 0)
        elif tag == "list-item":
            self._lists -= 1
        elif tag == "table-row":
            self._end_row()
        elif tag == "body":
            self._flush()

    def data(self, text: str) -> None:
        if self._body and not self._skipped:
            self._append(text)

    def _finished(self, content: str) -> str:
        return BLANKS.sub(" ", content).strip(" ").translate(_ODT_CHARACTERS)
