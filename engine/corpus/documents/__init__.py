"""Documents as numbered text: PDF, office and HTML files, books, mail and exports of notes, read in another process.

In: a document.
Out: its numbered text, or a `DocumentError` with the reason.

The modules of the formats make the text, with headings as in Markdown; title, author, date and tags come first,
between lines of `---`. Each page of a PDF begins with a heading `# Page 12`, each of several notes or mails in a file
with its title. The same text is indexed, shown and returned to agents, so lines are the same everywhere.
"""

from importlib.util import find_spec

from engine.base import lazy_pattern, skip_reasons
from engine.base.errors import MnemoscopeError
from engine.base.skip_reasons import tr_reason
from engine.corpus.note_structure import Structure, StructureBuilder, markup_lines

ENDINGS = (
    *(".pdf", ".docx", ".odt", ".rtf", ".pptx", ".odp", ".epub", ".html", ".htm", ".mht", ".mhtml"),
    *(".eml", ".emlx", ".mbox", ".enex", ".opml", ".json", ".jex", ".textpack", ".bear2bk"),
)
_BACKUP = "standard notes backup and import file.txt"
"""Name of an export of Standard Notes, which is JSON."""
LARGEST = 256 * 1024 * 1024
"""Bytes of a file; a larger one is neither indexed nor shown."""
BOUND = "---"
"""Line before and after title, author, date and tags."""
NOTES = "notes"
"""Key of the number of notes or mails in a file; each one begins with a heading of level 1."""
UNTITLED = "…"
"""Heading of a note without a title."""
_UNNAMED = lazy_pattern(rf"{UNTITLED}|Slide \d+")
MISSING_READER = "missing-reader"
"""Rule of a file whose format needs another package."""
NOT_NOTES = "not-notes"
"""Rule of a JSON file that is not an export of notes. It is skipped, since other programs have such files, too."""

_HEADING = lazy_pattern(r"(#{1,6}) (\S.*)")
_PAGE = lazy_pattern(r"# (Page (\d+))")
_PROPERTY = lazy_pattern(r"(title|author|date|tag): (.*)|(notes): (\d{1,9})")


class DocumentError(MnemoscopeError):
    """A document has no text to show; the message says why and what to do."""

    def __init__(self, rule: str, detail: str) -> None:
        super().__init__(tr_reason(detail))
        self.rule = rule
        """One of `encrypted`, `no-text`, `damaged`, `unfinished`, `too-large`, `no-reader`, `missing-reader` and
        `not-notes`.
        """
        self.detail = detail
        """The message in English, for storage."""


def is_document(name: str) -> bool:
    """Whether the file with this name is a document, whose text is not that of the file."""
    return name.lower().endswith((*ENDINGS, _BACKUP))


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
    pages, inside = has_pages(name), False
    notes = 0
    for number, line, _, _ in markup_lines(text):
        if line == BOUND and (number == 1 or inside):
            inside = not inside
            builder.hide(number)
        elif inside:
            _declare(builder, number, line)
            notes = int(builder.properties.get(NOTES, 0))
        elif pages:
            if page := _PAGE.fullmatch(line):
                builder.begun = True  # a page's number isn't a title
                builder.heading(number, number, 1, page[1])
                builder.hide(number)
        elif heading := _HEADING.fullmatch(line):
            unnamed = notes > 1 or bool(_UNNAMED.fullmatch(heading[2]))  # the first note doesn't name the others
            builder.begun = builder.begun or unnamed
            builder.title = builder.title or ("" if unnamed else heading[2])
            builder.heading(number, number, len(heading[1]), heading[2])
    return builder.done(separate_pages=pages or notes > 0)


def _declare(builder: StructureBuilder, number: int, line: str) -> None:
    """Read a line with a property of the document, such as its title or a tag."""
    builder.hide(number)
    declared = _PROPERTY.fullmatch(line)
    if not declared:
        return
    key, value = declared[1] or declared[3], declared[2] or declared[4] or ""
    if key == "tag":
        builder.tags.append(value)
        builder.data[number] = value
        return
    builder.properties.setdefault(key, value)
    builder.title = builder.title or (value if key == "title" else "")
