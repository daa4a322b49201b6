"""Documents as numbered text: PDF, Word, OpenDocument, EPUB, HTML and Evernote files, each read in another process.

In: a document.
Out: its numbered text, or a `DocumentError` with the reason.

The modules of the formats make the text, with headings as in Markdown; the title and the author come first,
between lines of `---`. Each page of a PDF begins with a heading `# Page 12`. The same text is indexed, shown and
returned to agents, so lines are the same everywhere.
"""

import re
from importlib.util import find_spec

from engine.base import skip_reasons
from engine.base.errors import MnemoscopeError
from engine.base.skip_reasons import tr_reason
from engine.corpus.note_structure import Structure, StructureBuilder, markup_lines

ENDINGS = (".pdf", ".docx", ".odt", ".epub", ".html", ".htm", ".enex")
LARGEST = 256 * 1024 * 1024
"""Bytes of a file; a larger one is neither indexed nor shown."""
BOUND = "---"
"""Line before and after title and author."""
MISSING_READER = "missing-reader"
"""Rule of a file whose format needs another package."""

_HEADING = re.compile(r"(#{1,6}) (\S.*)")
_PAGE = re.compile(r"# (Page (\d+))")
_PROPERTY = re.compile(r"(title|author): (.*)")


class DocumentError(MnemoscopeError):
    """A document has no text to show; the message says why and what to do."""

    def __init__(self, rule: str, detail: str) -> None:
        super().__init__(tr_reason(detail))
        self.rule = rule
        """One of `encrypted`, `no-text`, `damaged`, `unfinished`, `too-large`, `no-reader` and `missing-reader`."""
        self.detail = detail
        """The message in English, as it is stored."""


def is_document(name: str) -> bool:
    """Whether the file with this name is a document, whose text is not that of the file."""
    return name.lower().endswith(ENDINGS)


def is_readable(ending: str) -> bool:
    """Whether everything is installed to read documents with this ending."""
    return ending.lower() != ".pdf" or find_spec("pypdfium2") is not None


def check(name: str, size: int) -> None:
    """Raise `DocumentError` if a document of `size` bytes cannot be read here."""
    if size > LARGEST:
        raise DocumentError("too-large", skip_reasons.GROWN_TOO_LARGE.message(size=size, limit=LARGEST))
    if not is_readable(name[name.rfind(".") :]):
        raise DocumentError(MISSING_READER, skip_reasons.NO_PDF_READER.message())


def has_pages(name: str) -> bool:
    """Whether the headings of the document with this name are its pages."""
    return name.lower().endswith(".pdf")


def page_of(heading: str) -> int:
    """Return the page number in a heading; 0 for a heading that is not that of a page."""
    match = _PAGE.fullmatch(f"# {heading}")
    return int(match[2]) if match else 0


def read(text: str, name: str) -> Structure:
    """Return the structure of a document's text: title, headings or pages."""
    builder = StructureBuilder()
    pages, notes, inside = has_pages(name), name.lower().endswith(".enex"), False
    for number, line, _, _ in markup_lines(text):
        if line == BOUND and (number == 1 or inside):
            inside = not inside
            builder.hide(number)
        elif inside:
            if declared := _PROPERTY.fullmatch(line):
                builder.property(number, declared[1], declared[2])
                builder.title = builder.title or (declared[2] if declared[1] == "title" else "")
            builder.hide(number)
        elif pages:
            if page := _PAGE.fullmatch(line):
                builder.begun = True  # a page's number isn't a title
                builder.heading(number, number, 1, page[1])
                builder.hide(number)
        elif heading := _HEADING.fullmatch(line):
            builder.begun = builder.begun or notes  # the title of the first note is not that of all
            builder.title = builder.title or ("" if notes else heading[2])
            builder.heading(number, number, len(heading[1]), heading[2])
    return builder.done(apart=pages or notes)
