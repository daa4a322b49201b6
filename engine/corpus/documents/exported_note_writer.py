"""Writes the notes of an export of another program as text, each below its title, its day and its tags."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from engine.corpus import markdown_line_types
from engine.corpus.documents.text_collector import DocumentText, one_line
from engine.corpus.documents.web_pages import HtmlText
from engine.corpus.note_metadata import HASHTAG, tags_of

_DAY = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?!\d{1,4}$)")
_LONGEST_FIRST_LINE = 120
"""Characters of a first line that can be a title."""


class ExportedNote(NamedTuple):
    title: str
    text: str
    created: str = ""
    """Begins with year, month and day."""
    tags: Iterable[str] = ()
    is_html: bool = False


def write_notes(notes: Iterable[ExportedNote], text: DocumentText) -> None:
    """Add notes. A note without a title gets its first line as title if that is short; a line of tags is skipped."""
    for note in notes:
        body, title = note.text, one_line(note.title)
        if not title and not note.is_html:
            tag_line, (first, rest) = "", _cut_line(body)
            if first and not HASHTAG.sub("", first).strip():
                tag_line, (first, rest) = f"{first}\n\n", _cut_line(rest)
            if 0 < len(first) <= _LONGEST_FIRST_LINE:
                title, body = first.lstrip("# "), f"{tag_line}{rest}"
        write_head(title, note.created, note.tags, text)
        if note.is_html:
            HtmlText(text).read(body)
        else:
            _write_markdown(body, text)


def _cut_line(text: str) -> tuple[str, str]:
    """Return the first line with text, and the text after it."""
    first, _, rest = text.lstrip().partition("\n")
    return first.rstrip(), rest


def write_head(title: str, created: str, tags: Iterable[str], text: DocumentText) -> None:
    """Begin a note with its title, and its day and tags below it."""
    tags = [*filter(None, map(one_line, tags))]
    day = _DAY.match(created.strip())
    text.note(title)
    text.tags += tags
    text.paragraph(", ".join(filter(None, ("-".join(day.groups()) if day else "", *tags))))


def _write_markdown(body: str, text: DocumentText) -> None:
    """Add text in Markdown, with its headings."""
    text.tags += tags_of(body, None)
    fence, lines = "", list[str]()
    for line in body.replace("\r\n", "\n").split("\n"):
        if fence:
            fence = "" if markdown_line_types.closes_fence(line, fence) else fence
        elif not (fence := markdown_line_types.fence_marks(line)) and (
            heading := markdown_line_types.atx_heading(line)
        ):
            text.paragraph("\n".join(lines))
            text.heading(*heading)
            lines = []
            continue
        lines.append(line)
    text.paragraph("\n".join(lines))
