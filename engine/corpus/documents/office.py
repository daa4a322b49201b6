"""Extracts the text of Word documents and of OpenDocument texts.

Written from Office Open XML (ECMA-376, 5th edition, WordprocessingML) and OpenDocument 1.3.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from engine.base import skip_reasons
from engine.corpus.documents import DocumentError
from engine.corpus.documents.text_collector import (
    BLANKS,
    DocumentText,
    TextFull,
    comment,
    damaged,
    encrypted,
)
from engine.corpus.documents.xml_archive import Archive, Paragraphs, XmlHandler, read_dublin_core, related_parts

_WORD_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_WORD_LIST = re.compile(r"list (?:bullet|number) ([2-5])", re.IGNORECASE)
"""Built-in styles of nested lists. Word stores each as the first level of a separate list."""
_WORD_SKIPPED = ("Fallback", "del", "moveFrom", "pPrChange", "rPrChange", "rt")
"""Elements to skip: other forms of content that is read, text and styles from before tracked changes, and ruby text."""
_MIME = re.compile(rb"^MIME-Version:", re.MULTILINE | re.IGNORECASE)
"""Matches a line in the head of a web archive."""
_HEAD_BYTES = 1_000
_MAX_BASES = 20
"""Maximum number of styles in a row that are based on each other."""
_WORD_PARTS = ("body", "hdr", "ftr")
_WORD_NOTES = ("footnote", "endnote", "comment")
_WORD_CHARACTERS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_WORD_OFF = ("0", "false", "off")


def open_office_xml(data: bytes, usual: str, text: DocumentText) -> tuple[Archive, str, bytes]:
    """Return a file of Office Open XML, the name of its main part and the content of that, and set the title and
    author of `text`. `usual`: the name of the main part in a file that names none.

    Raises DocumentError if it is damaged.
    """
    archive = Archive(data)
    main = next(iter(related_parts(archive, "officeDocument").values()), usual)
    body = archive.part(main)
    if not body:
        raise damaged(skip_reasons.NO_MAIN_PART)
    read_dublin_core(archive.part("docProps/core.xml"), text)
    return archive, main, body


def read_docx(data: bytes, text: DocumentText) -> None:
    """Read a Word document into `text`, with notes, comments, headers and footers. Raises `DocumentError`."""
    archive, main, body = open_office_xml(data, "word/document.xml", text)
    folder = posixpath.dirname(main)
    styles = _WordStyles()
    notes = _WordNotes(styles)
    for name, reader in (
        ("styles.xml", styles),
        ("comments.xml", notes),  # before the notes, which they may be about
        ("footnotes.xml", notes),
        ("endnotes.xml", notes),
    ):
        if part := archive.part(posixpath.join(folder, name)):
            with suppress(TextFull):
                reader.parse(part)
    pages = {key: archive.part(name) for key, name in related_parts(archive, "aFChunk", main).items()}
    _WordText(text, styles, notes, pages).parse(body)
    margins = []
    for kind in ("header", "footer"):
        for name in related_parts(archive, kind, main).values():
            margin = DocumentText()
            with suppress(TextFull, DocumentError):  # as with notes, a damaged part costs its text only
                _WordText(margin, styles, notes).parse(archive.part(name))
            margins.append((kind, margin))
    add_margins(margins, text)


def _read_page(data: bytes, text: DocumentText) -> None:
    """Read a page of HTML or a web archive in a document into its `text`, as programs without Word's format write it.

    Raises TextFull.
    """
    from engine.corpus.documents import mail, web_pages

    title, author = text.title, text.author
    with suppress(DocumentError):  # as with notes, a damaged part costs its text only
        (mail.read_mht if _MIME.search(data[:_HEAD_BYTES]) else web_pages.read_html)(data, text)
    text.title, text.author = title or text.title, author or text.author


def add_margins(margins: Iterable[tuple[str, DocumentText]], text: DocumentText) -> None:
    """Add the headers and footers of pages after the text, each once; one without letters is a page number."""
    known = set()
    for kind, margin in margins:
        content = ""
        with suppress(DocumentError):
            content = "\n".join(line.lstrip("# ") for line in margin.finish().split("\n") if line.strip())
        if content not in known and any(map(str.isalpha, content)):
            known.add(content)
            text.paragraph(f"{kind.title()}: {content}")


class _WordStyles(XmlHandler):
    """The styles of headings and items of lists; a style inherits from the one it is based on."""

    def __init__(self) -> None:
        self._levels: dict[str, int] = {}
        """The level of a heading; 0 for text."""
        self._titles: set[str] = set()
        """Styles of the document's title, which has no level that others could have from it."""
        self._lists: dict[str, bool] = {}
        self._nesting: dict[str, int] = {}
        """The level of an item, from 0."""
        self._based_on: dict[str, str] = {}
        self._style = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        value = attributes.get("val", "")
        match tag:
            case "style":
                self._style = attributes.get("styleId", "")
            case "basedOn":
                self._based_on[self._style] = value
            case "name" if match := _WORD_HEADING.fullmatch(value):
                self._levels[self._style] = int(match[1])
            case "name" if value.lower() == "title":
                self._titles.add(self._style)
            case "name" if match := _WORD_LIST.fullmatch(value):
                self._nesting[self._style] = int(match[1]) - 1
            case "outlineLvl":
                self._levels.setdefault(self._style, _outline_level(value))
            case "ilvl":
                self._nesting[self._style] = _number(value, 0)
            case "numId":
                self._lists[self._style] = value != "0"

    def paragraph(self, style: str) -> "_WordParagraph":
        """Return a new paragraph with this style."""
        level = self._inherited(self._levels, style) or int(style in self._titles)
        is_item = bool(self._inherited(self._lists, style)) and not level
        return _WordParagraph(level, is_item, self._inherited(self._nesting, style) or 0)

    def _inherited(self, values: Mapping[str, int], style: str) -> int | None:
        for _ in range(_MAX_BASES):
            if style in values or style not in self._based_on:
                break
            style = self._based_on[style]
        return values.get(style)


@dataclass
class _WordParagraph:
    level: int = 0
    """That of a heading; 0 for text."""
    is_item: bool = False
    nesting: int = 0
    """The level of an item of a list, from 0."""


class _WordText(Paragraphs):
    def __init__(
        self, text: DocumentText, styles: _WordStyles, notes: "_WordNotes", pages: Mapping[str, bytes] | None = None
    ) -> None:
        """`pages`: parts of the document that are web pages, by the id by which its text refers to them."""
        super().__init__(text)
        self._styles, self._numbered_notes, self._pages = styles, notes, pages or {}
        self._skipped = self._numbered = 0
        self._in_text = self._in_run = self._hidden = self._drop_cap = False
        self._initial = ""
        """The first letter of the next paragraph, in a separate frame."""
        self._paragraphs = [_WordParagraph()]

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in _WORD_SKIPPED:
            self._skipped += 1
        if self._skipped:
            return
        match tag:
            case "p":
                self._begin()
                self._paragraphs.append(_WordParagraph())
            case "pStyle" | "outlineLvl" | "ilvl" | "numId" | "framePr":
                self._read_property(tag, attributes)
            case "t":
                self._in_text = True
            case "r":
                self._in_run, self._hidden = True, False
            case "vanish" if self._in_run:
                self._hidden = attributes.get("val") not in _WORD_OFF
            case "footnoteReference" | "endnoteReference" | "commentReference" | "altChunk":
                self._refer(tag.removesuffix("Reference"), attributes)
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
            self._in_run = self._hidden = False
        elif tag == "p" and self._drop_cap and self._open:
            self._paragraphs.pop()
            self._initial, self._drop_cap = "".join(self._open.pop()), False
        elif tag == "p" and self._open:
            self._open[-1].insert(0, self._initial)
            self._initial = ""
            closed = self._paragraphs.pop()
            self._close(closed.level, item=closed.nesting if closed.is_item else -1)
        elif tag == "tr":
            self._end_row()
        elif tag in _WORD_PARTS:
            self._flush()

    def data(self, text: str) -> None:
        if self._in_text and not self._skipped and not self._hidden:
            self._append(text)

    def _read_property(self, tag: str, attributes: dict[str, str]) -> None:
        """Read a property of the paragraph that is open."""
        value = attributes.get("val", "")
        match tag:
            case "pStyle":
                self._paragraphs[-1] = self._styles.paragraph(value)
            case "outlineLvl":
                self._paragraphs[-1].level = _outline_level(value)
            case "ilvl":
                self._paragraphs[-1].nesting = _number(value, 0)
            case "numId":
                self._paragraphs[-1].is_item = value != "0"
            case "framePr":
                self._drop_cap = attributes.get("dropCap", "none") != "none"

    def _refer(self, kind: str, attributes: dict[str, str]) -> None:
        """Put the number of a note here, and its text after the paragraph; comments have no number. Put a page here."""
        id_ = attributes.get("id", "")
        if kind == "altChunk":
            self._flush()
            if id_ in self._pages:
                _read_page(self._pages[id_], self._text)
            return
        mark = ""
        if kind != "comment" and attributes.get("customMarkFollows", "0") in _WORD_OFF:
            self._numbered += 1
            mark = f"[{self._numbered}]"
            self._append("" if self._paragraphs[-1].level else mark)  # a heading is shown without its text
        if note := self._numbered_notes.text_once(kind, id_):
            self._notes.append(f"{mark} {note}".strip())


class _WordNotes(_WordText):
    """The texts of footnotes, endnotes and comments."""

    def __init__(self, styles: _WordStyles) -> None:
        super().__init__(DocumentText(), styles, self)
        self._found: dict[tuple[str, str], tuple[str, DocumentText]] = {}
        """Authors, which only comments have, and texts by kind and number."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in _WORD_NOTES:
            self._text = DocumentText()
            self._found[tag, attributes.get("id", "")] = attributes.get("author", ""), self._text
        else:
            super().start(tag, attributes)

    def end(self, tag: str) -> None:
        if tag in _WORD_NOTES:
            self._flush()
        else:
            super().end(tag)

    def text_once(self, kind: str, number: str) -> str:
        """Return the text of a note; empty the second time."""
        author, note = self._found.pop((kind, number), ("", DocumentText()))
        with suppress(DocumentError):
            text = note.finish().strip()
            return comment(author, text) if kind == "comment" else text
        return ""


def _outline_level(value: str) -> int:
    """Return the level of a heading; 0 for text, whose outline level is 9."""
    return (_number(value, 9) + 1) % 10


def _number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else default


# --- OpenDocument -----------------------------------------------------------------------------------------------------

_ODT_BLANK, _ODT_TAB, _ODT_BREAK = "\x1c", "\x1d", "\x1e"
"""Placeholders for significant white space, which XML can't contain; white space of the XML itself doesn't count."""
_ODT_CHARACTERS = str.maketrans(_ODT_BLANK + _ODT_TAB + _ODT_BREAK, " \t\n")
_ODT_ELEMENTS = {"tab": _ODT_TAB, "line-break": _ODT_BREAK, "title": " ", "desc": " "}
"""Elements that stand for characters, and descriptions of pictures, which are not part of the word before."""
_ODT_PARTS = ("body", "master-styles")
"""Elements with text: of the document, and of its headers and footers."""
_ODT_MARGINS = ("header", "header-left", "header-first", "footer", "footer-left", "footer-first")
_ODT_SKIPPED = ("tracked-changes", "forms", "sequence-decls", "binary-data", "ruby-text")


def open_document(data: bytes, text: DocumentText) -> tuple[Archive, bytes]:
    """Return an OpenDocument file and its body, and set the title and author of `text`.

    Raises DocumentError if it is encrypted or damaged.
    """
    archive = Archive(data)
    if b"encryption-data" in archive.part("META-INF/manifest.xml"):
        raise encrypted()
    body = archive.part("content.xml")
    if not body:
        raise damaged(skip_reasons.NO_MAIN_PART)
    read_dublin_core(archive.part("meta.xml"), text)
    return archive, body


def read_odt(data: bytes, text: DocumentText) -> None:
    """Read an OpenDocument text into `text`, with headers and footers. Raises `DocumentError`."""
    archive, body = open_document(data, text)
    OdtText(text).parse(body)
    margins = _OdtMargins()
    with suppress(TextFull, DocumentError):
        margins.parse(archive.part("styles.xml"))
    add_margins(margins.found, text)


class OdtText(Paragraphs):
    def __init__(self, text: DocumentText) -> None:
        super().__init__(text)
        self._skipped = self._citation = 0
        self._lists: list[bool] = []
        """Whether each open item of a list has had a paragraph: the ones after it have no bullet."""
        self._body = False
        self._style = ""
        self._titles, self._hidden = {"Title"}, set[str]()
        """Styles of the document's title, which is a paragraph, and of hidden text."""
        self._levels: list[int] = []
        self._spans: list[bool] = []
        """Whether each open span is hidden."""
        self._texts: list[list[str]] = []
        """The paragraphs of the note that is open, and of the comment in it."""
        self._mark = ""
        self._comment = -1
        """Number of paragraphs that were open when the open comment began; -1 for none."""
        self._field = self._author = ""
        """The element that began last, and the author of the open comment."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._body = self._body or tag in _ODT_PARTS
        self._skipped += tag in _ODT_SKIPPED
        if not self._body:
            self._read_style(tag, attributes)
        if self._skipped or not self._body:
            return
        self._field = tag
        match tag:
            case "p" | "h":
                self._begin()
                title = attributes.get("style-name") in self._titles
                self._levels.append(_number(attributes.get("outline-level", ""), 1) if tag == "h" else int(title))
            case "span":
                self._spans.append(attributes.get("style-name") in self._hidden)
            case "s":
                self._append(_ODT_BLANK * _number(attributes.get("c", ""), 1))
            case "note-citation" if self._open:
                self._append("[")
                self._citation = len(self._open[-1])
            case "note-body":
                self._texts.append([])
            case "annotation":
                self._texts.append([])
                self._comment, self._author = len(self._open), ""
            case "list-item":
                self._lists.append(False)
            case "table-row":
                self._row()
            case "table-cell":
                self._cell()
            case _:
                self._append(_ODT_ELEMENTS.get(tag, ""))

    def end(self, tag: str) -> None:
        self._skipped -= tag in _ODT_SKIPPED
        if self._skipped or not self._body:
            return
        match tag:
            case "p" | "h" if self._texts and self._open:
                self._levels.pop()
                self._texts[-1].append(self._finished("".join(self._open.pop())))
            case "p" | "h" if self._levels:
                self._end_paragraph()
            case "span":
                self._spans.pop()
            case "title" | "desc":
                self._append(" ")
            case "note-citation" if self._open:
                self._mark = "[" + "".join(self._open[-1][self._citation :]) + "]"
                if self._levels[-1]:  # a heading is shown without its text
                    del self._open[-1][self._citation - 1 :]
                else:
                    self._append("]")
            case "note-body" | "annotation":
                self._end_note(tag)
            case "list-item":
                self._lists.pop()
            case "table-row":
                self._end_row()
            case _ if tag in _ODT_PARTS:
                self._flush()

    def data(self, text: str) -> None:
        if not self._body or self._skipped or any(self._spans):
            return
        if len(self._open) != self._comment:
            self._append(text)
        elif self._field == "creator":
            self._author += text

    def _end_paragraph(self) -> None:
        before = len(self._items)
        self._close(self._levels.pop(), item=len(self._lists) - 1, continued=any(self._lists[-1:]))
        if self._lists and len(self._items) > before:
            self._lists[-1] = True

    def _end_note(self, tag: str) -> None:
        text = "\n\n".join(filter(None, self._texts.pop()))
        if tag == "annotation":
            self._comment = -1
            text = text and comment(self._author, text)
        else:
            text = f"{self._mark} {text}"
        self._notes += [text] if text else []

    def _read_style(self, tag: str, attributes: dict[str, str]) -> None:
        """Read the automatic styles: the formatting that the user applied without a named style."""
        if tag == "style":
            self._style = attributes.get("name", "")
            if attributes.get("parent-style-name") == "Title":
                self._titles.add(self._style)
        elif tag == "text-properties" and attributes.get("display") == "none":
            self._hidden.add(self._style)

    def _finished(self, content: str) -> str:
        return BLANKS.sub(" ", content).strip(" ").translate(_ODT_CHARACTERS)


class _OdtMargins(OdtText):
    """The headers and footers of pages."""

    def __init__(self) -> None:
        super().__init__(DocumentText())
        self.found: list[tuple[str, DocumentText]] = []
        """Each with its kind, header or footer."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._body and tag in _ODT_MARGINS:
            self._text = DocumentText()
            self.found.append((tag.partition("-")[0], self._text))
        super().start(tag, attributes)

    def end(self, tag: str) -> None:
        if self._body and tag in _ODT_MARGINS:
            self._flush()
        super().end(tag)
