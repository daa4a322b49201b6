"""Collects the text that is extracted from a document, within limits."""

import re

from engine.base import skip_reasons
from engine.corpus.documents import BOUND, NOTES, UNTITLED, DocumentError

MAX_CHARACTERS = 10_000_000
"""Characters of a document's text; the rest is left out, which the last line says."""
CUT = "… The rest of this document is not indexed, since it is too long."
LONGEST_TITLE = 200
BLANKS = re.compile(r"[ \t\n\r\f\v\xa0]+")
_MAX_TAGS = 200
_MAX_NESTED = 8
"""Levels of a list that are indented, which is as many as Word has."""
_LIKE_A_HEADING = re.compile(r"#{1,6} |---$")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
_LINE_END = re.compile(r"\r\n|[\r\n\v\f\x85\u2028\u2029]")


class TextFull(Exception):
    """The text collected from a document has reached its size limit."""


class DocumentText:
    """Collects headings and paragraphs."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self._has_text = False
        self._is_full = False
        self._notes = 0
        self._outer_level = 0
        self.title = self.author = self.date = ""
        self.tags: list[str] = []
        """Tags of the document, or of all notes in it."""

    def note(self, title: str) -> None:
        """Begin one of several notes in a file: headings in its text are below its title."""
        self._notes += 1
        self._outer_level = 0
        self.heading(1, one_line(title) or UNTITLED)
        self._outer_level = 1

    def heading(self, level: int, title: str) -> None:
        """Add a heading of level 1 to 6, within a note one lower.

        The rest of one that is longer than a title becomes a paragraph.
        """
        if title := one_line(title[:MAX_CHARACTERS]):
            end = len(title) if len(title) <= LONGEST_TITLE else title.rfind(" ", 0, LONGEST_TITLE + 1)
            end = end if end > 0 else LONGEST_TITLE
            self._has_text = True
            self._add(f"{'#' * min(max(level, 1) + self._outer_level, 6)} {title[:end]}")
            self.paragraph(title[end:].strip())

    def page(self, number: int, text: str) -> None:
        """Add a page, whose blank lines at its ends are left out."""
        self._add(f"# Page {number}")
        self.paragraph(text)

    def paragraph(self, text: str) -> None:
        """Add text of any number of lines."""
        lines = (_UNPRINTABLE.sub("", line).rstrip() for line in _LINE_END.split(text[: MAX_CHARACTERS + 1]))
        if joined := "\n".join(f" {line}" if _LIKE_A_HEADING.match(line) else line for line in lines).strip("\n"):
            self._has_text = True
            self._add(joined)

    @property
    def is_empty(self) -> bool:
        """Whether neither a heading nor text was added."""
        return not self._has_text

    def finish(self) -> str:
        if not self._has_text:
            raise DocumentError("no-text", skip_reasons.NO_TEXT.message())
        tags = dict.fromkeys(one_line(tag.replace(",", " ")) for tag in self.tags)
        known = [("title", self.title), ("author", self.author), ("date", self.date)]
        known += [(NOTES, str(self._notes))] if self._notes else []
        known += [("tag", tag) for tag in list(tags)[:_MAX_TAGS]]
        about = [f"{key}: {line}" for key, text in known if (line := one_line(text)[:LONGEST_TITLE])]
        head = ["\n".join((BOUND, *about, BOUND))] if about else []
        return "\n\n".join((*head, *self._parts, *([CUT] if self._is_full else ()))) + "\n"

    def _add(self, part: str) -> None:
        room = MAX_CHARACTERS - self._size
        self._is_full = len(part) > room
        part = part[:room] if self._is_full else part
        self._size += len(part)
        self._parts.append(part.encode("utf-8", "replace").decode())
        if self._is_full:
            raise TextFull


def list_item(level: int, text: str, *, continued: bool = False) -> str:
    """Return an item of a list with bullet and indent; its `level` is from 0.

    `continued`: the text is another paragraph of an item, without a bullet.
    """
    indent = "  " * min(level, _MAX_NESTED)
    return indent + ("  " if continued else "- ") + text.replace("\n", f"\n{indent}  ")


def comment(author: str, text: str, about: str = "") -> str:
    """Return a reader's comment, marked as such, on the text before it or on the words in `about`."""
    name = one_line(author)[:LONGEST_TITLE]
    return f"Comment{f' by {name}' if name else ''}{f' on “{about}”' if about else ''}: {text}"


def one_line(text: str) -> str:
    return _UNPRINTABLE.sub("", " ".join(text.split()))


def damaged(reason: skip_reasons.Reason) -> DocumentError:
    return DocumentError("damaged", skip_reasons.DAMAGED_DOCUMENT.message(problem=reason.message()))


def encrypted() -> DocumentError:
    return DocumentError("encrypted", skip_reasons.ENCRYPTED.message())
