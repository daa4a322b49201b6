"""Extracts notes from exports in XML: those of Evernote, and outlines in OPML.

Written from Evernote's `evernote-export4.dtd` and `enml2.dtd` (xml.evernote.com/pub) and from OPML 2.0 (opml.org).
"""

import re
from html import unescape

from engine.corpus.documents.exported_notes import write_head
from engine.corpus.documents.text_collector import DocumentText, list_item
from engine.corpus.documents.web_pages import HtmlText
from engine.corpus.documents.xml_archive import XmlHandler

_NOTE_FIELDS = ("title", "content", "created", "tag")
_TO_DO = re.compile(r"<en-todo(\s[^<>]*)?/?>(?:\s*</en-todo>)?")
_ENCRYPTED, _ENCRYPTED_END = re.compile(r"<en-crypt[\s>]"), "</en-crypt>"


def read_enex(data: bytes, text: DocumentText) -> None:
    """Read the notes of an export, each below its title, its day and its tags; attached files are left out."""
    _Notebook(text).parse(data)


class _Notebook(XmlHandler):
    def __init__(self, text: DocumentText) -> None:
        self._text = text
        self._open: list[str] = []
        self._note: dict[str, list[str]] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._open.append(tag)
        if tag == "note":
            self._note = {field: [] for field in _NOTE_FIELDS}
        elif self._field == "tag":
            self._note["tag"].append("\n")

    def end(self, tag: str) -> None:
        self._open.pop()
        if tag == "note":
            self._write({field: "".join(parts) for field, parts in self._note.items()})

    def data(self, text: str) -> None:
        if field := self._field:
            self._note[field].append(text)

    @property
    def _field(self) -> str:
        """The open field of a note; "" within others, which may have their own titles."""
        return self._open[-1] if self._open[-2:-1] == ["note"] and self._open[-1] in _NOTE_FIELDS else ""

    def _write(self, note: dict[str, str]) -> None:
        write_head(note["title"], note["created"], note["tag"].split("\n"), self._text)
        page = _TO_DO.sub(_box, _without_encrypted(note["content"]))
        HtmlText(self._text).read(page)


def _without_encrypted(page: str) -> str:
    pieces, end = [], 0
    while (match := _ENCRYPTED.search(page, end)) is not None:
        close = page.find(_ENCRYPTED_END, match.end())
        if close < 0:  # one regex for both tags would look for this end after each start
            break
        pieces.append(page[end : match.start()])
        end = close + len(_ENCRYPTED_END)
    return "".join((*pieces, page[end:]))


def _box(match: re.Match[str]) -> str:
    """Return the check box of a task as text."""
    return "[x] " if '"true"' in (match[1] or "") else "[ ] "


_INLINE_TAG = re.compile(r"</?(?:a|b|code|em|i|mark|s|span|strike|strong|time|u)(?:\s[^<>]{0,500})?>", re.IGNORECASE)
"""Matches a tag in the text of an outline, which Workflowy and others write as HTML."""
_ADDRESSES = ("url", "xmlUrl", "htmlUrl")


def read_opml(data: bytes, text: DocumentText) -> None:
    """Read an outline: entries of the first level with others below them are headings, the others items of a list."""
    _Outlines(text).parse(data)


class _Outlines(XmlHandler):
    def __init__(self, text: DocumentText) -> None:
        self._text = text
        self._head = ""
        self._words: list[str] = []
        """Pieces of the title or of the author's name while it is open."""
        self._level = 0
        self._lines: list[str] = []
        self._pending: dict[str, str] | None = None
        """An entry of the first level, until it is known whether others are below it."""
        self._below_heading = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._head = tag
        self._words = []
        if tag != "outline":
            return
        if self._pending is not None:
            self._flush()
            words, note = _entry(self._pending)
            self._text.heading(1, words)
            self._text.paragraph(note)
            self._pending, self._below_heading = None, True
        if self._level:
            self._add(attributes, self._level - self._below_heading)
        else:
            self._pending, self._below_heading = attributes, False
        self._level += 1

    def end(self, tag: str) -> None:
        self._head = ""
        if tag == "outline":
            self._level -= 1
            if self._pending is not None:
                self._add(self._pending, 0)
                self._pending = None
        elif tag == "title":
            self._text.title = "".join(self._words)
        elif tag == "ownerName":
            self._text.author = "".join(self._words)
        elif tag == "body":
            self._flush()

    def data(self, text: str) -> None:
        if self._head in ("title", "ownerName"):
            self._words.append(text)

    def _add(self, attributes: dict[str, str], level: int) -> None:
        words, note = _entry(attributes)
        self._lines += [list_item(level, words)] if words else []
        self._lines += [list_item(level, note, continued=True)] if note else []

    def _flush(self) -> None:
        lines, self._lines = self._lines, []
        self._text.paragraph("\n".join(lines))


def _entry(attributes: dict[str, str]) -> tuple[str, str]:
    """Return the text of an entry of an outline with its addresses, and the note on it."""
    words = attributes.get("text") or attributes.get("title") or ""
    words, note = (_plain(part) for part in (words, attributes.get("_note", "")))
    addresses = dict.fromkeys(f"<{attributes[key]}>" for key in _ADDRESSES if attributes.get(key))
    return " ".join((words, *addresses)).strip(), note


def _plain(text: str) -> str:
    return unescape(_INLINE_TAG.sub("", text)).strip() if "<" in text or "&" in text else text.strip()
