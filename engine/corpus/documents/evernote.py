"""Extracts the notes of an export of Evernote, which consist of HTML pages.

Written from Evernote's document types `evernote-export4.dtd` and `enml2.dtd` (xml.evernote.com/pub).
"""

import re

from engine.corpus.documents.text_collector import DocumentText
from engine.corpus.documents.web_pages import HtmlText
from engine.corpus.documents.xml_archive import XmlHandler

_NOTE_FIELDS = ("title", "content", "created", "tag")
_TO_DO = re.compile(r"<en-todo(\s[^<>]*)?/?>(?:\s*</en-todo>)?")
_ENCRYPTED, _ENCRYPTED_END = re.compile(r"<en-crypt[\s>]"), "</en-crypt>"
_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)T")


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
        """The open field of a note; "" within others, which may have titles of their own."""
        return self._open[-1] if self._open[-2:-1] == ["note"] and self._open[-1] in _NOTE_FIELDS else ""

    def _write(self, note: dict[str, str]) -> None:
        self._text.heading(1, note["title"] or "…")
        day = _DAY.match(note["created"].strip())
        about = ["-".join(day.groups()) if day else "", *map(str.strip, note["tag"].split("\n"))]
        self._text.paragraph(", ".join(filter(None, about)))
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
