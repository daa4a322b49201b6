"""Describes the links of one note, and reads the part of a note that a link names."""

from collections.abc import Sequence

from engine.base.cancellation import CancelToken
from engine.base.errors import PathRefused
from engine.corpus.documents import DocumentError, is_document
from engine.corpus.line_reader import NumberedText
from engine.corpus.links import anchored_lines
from engine.corpus.path_guard import PathGuard
from engine.records import LinkedText, NoteLinkInfo, NoteLinks
from engine.store.links import LinkedNote, LinkReader, StoredLink
from engine.store.links import note_links as stored_links
from engine.store.snapshot import Snapshot, held

_MOST_LINES = 40
_SEARCHED_LINES = 20_000
"""Most lines that are searched for a heading or a block."""


def note_links(snapshot: Snapshot, path: str, guard: PathGuard) -> NoteLinks:
    """Return the links to and from the note with this stable name, without notes that the settings exclude by now."""
    backlinks, links = stored_links(snapshot, path)
    names = {link.note.path for link in (*backlinks, *links) if link.note is not None}
    refused = guard.refused(names, snapshot.meta("names"))
    return NoteLinks(backlinks=_shown(backlinks, refused, True), links=_shown(links, refused, False))


def _shown(links: Sequence[StoredLink], refused: set[str], backlink: bool) -> tuple[NoteLinkInfo, ...]:
    return tuple(_record(link, backlink) for link in links if link.note is None or link.note.path not in refused)


def _record(link: StoredLink, backlink: bool) -> NoteLinkInfo:
    note = link.note or LinkedNote(0, "", link.target, 1)
    return NoteLinkInfo(
        path=note.path, title=note.title, line=note.line, anchor=link.anchor, context=link.context, backlink=backlink
    )


def linked_text(
    snapshot: Snapshot, link: tuple[str, str, str], guard: PathGuard, cancel: CancelToken | None
) -> LinkedText | None:
    """Return the part of a note that a link points to; None if no note has that name.

    `link`: target, anchor, and name of the note with the link.
    """
    target, anchor, home = link
    if target:
        note = LinkReader(snapshot).resolve(target, home)
    else:
        stored = held(snapshot, "memory", home)
        note = None if stored is None else LinkedNote(stored.id, home, stored.title, 1)
    if note is None or guard.refused((note.path,), snapshot.meta("names")):
        return None
    try:
        location = guard.locate(note.path)
        if is_document(note.path) and not anchor:
            return _document(note)  # reading its text would take seconds
        text = NumberedText.open(location, cancel)
    except DocumentError:
        return _document(note)
    except (OSError, PathRefused):
        return None
    with text:
        lines = text.text(1, min(text.line_count, _SEARCHED_LINES)).split("\n") if text.line_count else []
    found = anchored_lines(lines, anchor) if anchor else None
    if anchor and found is None and note.path.lower().endswith(".org"):
        found = anchored_lines([_org_heading(line) for line in lines], anchor)
    first, end = found or (note.line, len(lines))
    shown = "\n".join(lines[first - 1 : min(end, first + _MOST_LINES - 1)])
    return LinkedText(
        path=note.path, title=note.title, line=first, end=end, text=shown, anchored=found is not None or not anchor
    )


def _document(note: LinkedNote) -> LinkedText:
    """Return a document as a whole, without its text."""
    return LinkedText(path=note.path, title=note.title, line=1, end=1, text="", anchored=True)


def _org_heading(line: str) -> str:
    """Return a line of an Org file with the mark of its heading as in Markdown."""
    stars = len(line) - len(line.lstrip("*"))
    return "#" * min(stars, 6) + line[stars:] if line[stars : stars + 1] == " " else line
