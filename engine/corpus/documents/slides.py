"""Extracts the text of presentations: each slide below its number and title, with its tables and speaker notes.

Written from Office Open XML (ECMA-376, 5th edition, PresentationML) and OpenDocument 1.3.
"""

import re
from contextlib import suppress

from engine.corpus.documents import DocumentError
from engine.corpus.documents.office import OdtText, open_document, open_office_xml
from engine.corpus.documents.text_collector import DocumentText, list_item, one_line
from engine.corpus.documents.xml_archive import Archive, Paragraphs, elements, related_parts

_TITLES = ("title", "ctrTitle")
_BODIES = ("body", "obj", "")
"""Placeholders with a list, or with any other content."""
_SHARED = ("sldNum", "dt", "ftr", "hdr")
"""Placeholders that all slides share: number, date, footer and header."""
_UNTITLED = re.compile(r"PowerPoint.*|Slide \d+")
"""Matches the titles that programs give to presentations, such as "PowerPoint Presentation" in every language."""
_MAX_NESTED = 8


def read_pptx(data: bytes, text: DocumentText) -> None:
    """Read a PowerPoint presentation into `text`, slide by slide. Raises `DocumentError`."""
    archive, main, body = open_office_xml(data, "ppt/presentation.xml", text)
    # The id of the relation is the last of two.
    order = [attributes.get("id", "") for tag, attributes, _ in elements(body) if tag == "sldId"]
    text.title = "" if _UNTITLED.fullmatch(text.title) else text.title
    slides = related_parts(archive, "slide", main)
    names = [slides[id_] for id_ in order if id_ in slides] or [*slides.values()]
    for number, name in enumerate(names, 1):
        _read_slide(archive, name, number, text)


def _read_slide(archive: Archive, name: str, number: int, text: DocumentText) -> None:
    slide, notes = _Slide(_BODIES), _Slide()
    with suppress(DocumentError):  # a damaged part costs its text only
        slide.parse(archive.part(name))
        for diagram in related_parts(archive, "diagramData", name).values():
            slide.parse(archive.part(diagram))
        for page in related_parts(archive, "notesSlide", name).values():
            notes.parse(archive.part(page))
    _write(number, slide.title, (slide.collected, notes.collected), text)


def read_odp(data: bytes, text: DocumentText) -> None:
    """Read an OpenDocument presentation into `text`, slide by slide. Raises `DocumentError`."""
    _, body = open_document(data, text)
    _OdpText(text).parse(body)


def _write(number: int, title: str, collected: tuple[DocumentText, DocumentText], text: DocumentText) -> None:
    """Add a slide and its notes. A presentation without a title gets the title of its first slide."""
    title = one_line(title)
    text.title = text.title or title
    shown, said = map(_text_of, collected)
    said = f"Notes: {said}" if any(map(str.isalpha, said)) else ""
    if title or shown or said:
        text.heading(1, f"Slide {number}: {title}" if title else f"Slide {number}")
        text.paragraph(shown)
        text.paragraph(said)


def _text_of(collected: DocumentText) -> str:
    with suppress(DocumentError):
        return collected.finish().strip("\n")
    return ""


class _Slide(Paragraphs):
    """Collects the title and the text of a slide, or of its notes."""

    def __init__(self, bodies: tuple[str, ...] = ()) -> None:
        """`bodies`: placeholders whose paragraphs are items of a list."""
        self.collected = DocumentText()
        super().__init__(self.collected)
        self.title = ""
        self._bodies = bodies
        self._placeholder = "none"
        self._nesting = self._skipped = 0
        self._in_text = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._skipped += tag == "Fallback" or self._skipped > 0
        if self._skipped:
            return
        match tag:
            case "sp":
                self._placeholder = "none"
            case "ph":
                self._placeholder = attributes.get("type", "")
            case "p":
                self._begin()
                self._nesting = 0
            case "pPr":
                level = attributes.get("lvl", "")
                self._nesting = min(int(level), _MAX_NESTED) if level.isascii() and level.isdigit() else 0
            case "br":
                self._append("\n")
            case "tr":
                self._row()
            case "tc":
                self._cell()
            case "t":
                self._in_text = True

    def end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        match tag:
            case "t":
                self._in_text = False
            case "p" if self._open:
                self._end_paragraph()
            case "tr":
                self._end_row()
            case "sp" | "tbl" | "pt":
                self._flush()

    def data(self, text: str) -> None:
        if self._in_text and not self._skipped:
            self._append(text)

    def _end_paragraph(self) -> None:
        if self._rows:
            self._close()
            return
        content = "".join(self._open.pop()).strip()
        if not content or self._placeholder in _SHARED:
            return
        if self._placeholder in _TITLES:
            self.title += f" {content}"
        elif self._placeholder in self._bodies:
            self._items.append(list_item(self._nesting, content))
        else:
            self._items.append(content)


class _OdpText(OdtText):
    """Reads the slides of a presentation; the frame of a title may be anywhere on a slide."""

    def __init__(self, text: DocumentText) -> None:
        super().__init__(text)
        self._presentation = text
        self._number = 0
        self._titles_of_slide: list[str] = []
        self._slide = self._notes_of_slide = text
        self._frames: list[str] = []
        """Classes of the frames that are open."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "page":
            self._number += 1
            self._slide, self._notes_of_slide, self._titles_of_slide = DocumentText(), DocumentText(), []
            self._text = self._slide
        elif tag in ("frame", "custom-shape"):
            self._frames.append(attributes.get("class", ""))
        elif tag == "notes":
            self._flush()
            self._text = self._notes_of_slide
        super().start(tag, attributes)

    def end(self, tag: str) -> None:
        super().end(tag)
        if tag in ("frame", "custom-shape"):
            self._frames.pop()
            self._flush()
        elif tag == "notes":
            self._flush()
            self._text = self._slide
        elif tag == "page":
            self._flush()
            title, texts = " ".join(self._titles_of_slide), (self._slide, self._notes_of_slide)
            _write(self._number, title, texts, self._presentation)

    def _add(self, level: int, content: str) -> None:
        if "title" in self._frames:
            self._titles_of_slide.append(content)
        else:
            super()._add(level, content)
