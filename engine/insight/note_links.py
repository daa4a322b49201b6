"""Describes the links of one note, and reads the part of a note, or the image, that a link names."""

import os
import posixpath
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import PathRefused, WorkspaceError
from engine.corpus import front_matter
from engine.corpus.documents import DocumentError, is_document
from engine.corpus.folder_walk import FolderWalk, Neighbours
from engine.corpus.ignore_rules import IgnoreRules
from engine.corpus.indexed_folders import find_roots
from engine.corpus.line_reader import NumberedText
from engine.corpus.link_parsing import anchored_lines
from engine.corpus.path_guard import PathGuard
from engine.records import LinkedText, NoteLinkInfo, NoteLinks
from engine.settings import Settings
from engine.store.link_queries import LinkedNote, LinkReader, StoredLink
from engine.store.link_queries import note_links as stored_links
from engine.store.snapshot import Snapshot, indexed_file

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
    note = LinkReader(snapshot).resolve(target, home) if target else _note_itself(snapshot, home)
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
    return _part(note, anchor, lines)


def _note_itself(snapshot: Snapshot, path: str) -> LinkedNote | None:
    stored = indexed_file(snapshot, "memory", path)
    return None if stored is None else LinkedNote(stored.id, path, stored.title, 1)


def _part(note: LinkedNote, anchor: str, lines: Sequence[str]) -> LinkedText:
    """Return the heading or block of an anchor, or the note from its linked line on."""
    found = anchored_lines(lines, anchor) if anchor else None
    if anchor and found is None and note.path.lower().endswith(".org"):
        found = anchored_lines([_org_heading(line) for line in lines], anchor)
    first, end = found or (note.line, len(lines))
    start = first if found or first > 1 else 1 + _front_lines(lines)
    shown = lines[start - 1 : min(end, start + _MOST_LINES - 1)]
    return LinkedText(
        path=note.path,
        title=note.title,
        line=first,
        text="\n".join(shown),
        cut=start - 1 + len(shown) < end,
    )


def _front_lines(lines: Sequence[str]) -> int:
    """Return the number of lines with which a note begins that are front matter or page properties."""
    front = front_matter.read("\n".join(lines))
    return front.length if front is not None else 0


def _document(note: LinkedNote) -> LinkedText:
    """Return a document as a whole, without its text."""
    return LinkedText(path=note.path, title=note.title, line=1, text="")


def _org_heading(line: str) -> str:
    """Return a line of an Org file with the mark of its heading as in Markdown."""
    stars = len(line) - len(line.lstrip("*"))
    return "#" * min(stars, 6) + line[stars:] if line[stars : stars + 1] == " " else line


# --- The images that a note shows ------------------------------------------------------------------------------------

IMAGE_ENDINGS = ("png", "jpg", "jpeg", "gif", "webp", "bmp")
"""File types without references to other files, which SVG may have."""
_MOST_ENTRIES = 50_000
"""Most files and folders that are listed to find images by their names."""


class NoteImages:
    """Finds the images that one note names, if they are within the searched folders. Not thread-safe."""

    def __init__(self, home: str, workspace: Path, settings: Settings) -> None:
        """`home`: stable name of the note."""
        # The rules for notes, with other file types: `include` usually names notes only.
        settings = msgspec.structs.replace(settings, extensions=IMAGE_ENDINGS, include=())
        self._home = home
        self._rules = IgnoreRules(settings)
        self._guard = PathGuard(workspace, settings)
        try:
            self._root = find_roots(workspace, settings).home_of(home)
        except WorkspaceError:
            self._root = None

    def locate(self, target: str) -> Path | None:
        """Return the absolute path of an image, by the target of a link.

        `target`: a path from the note's folder or from the top folder, or only a name. Returns None if there is no such
        image, and for a path that is outside of the searched folders or contains a symbolic link.
        """
        path = unquote(target).replace("\\", "/")
        if self._root is None or not path.lower().endswith(self._rules.extensions):
            return None
        candidates = [] if path.startswith("/") else [posixpath.join(posixpath.dirname(self._home), path)]
        candidates.append(posixpath.join(self._root.name, path.lstrip("/")))
        for name in dict.fromkeys(map(posixpath.normpath, candidates)):
            if (found := self._locate(name)) is not None:
                return found
        ending = f"/{posixpath.normpath(path).lstrip('/')}".casefold()
        named = (name for name in self._named if f"/{name}".casefold().endswith(ending))
        return next((found for name in named if (found := self._locate(name)) is not None), None)

    def _locate(self, name: str) -> Path | None:
        try:
            return self._guard.locate(name)
        except (OSError, PathRefused):
            return None

    @cached_property
    def _named(self) -> list[str]:
        """Stable names of the images in the note's root, those in the uppermost folders first."""
        if self._root is None or not os.path.isdir(self._root.path):
            return []
        walk = _ImageWalk(self._rules)
        walk.descend(self._root.path, self._root.name)
        return sorted(walk.names, key=lambda name: (name.count("/"), name))


class _ImageWalk(FolderWalk):
    """Collects the stable names of images."""

    def __init__(self, rules: IgnoreRules) -> None:
        super().__init__(None, None, _MOST_ENTRIES)
        self._rules = rules
        self.names: list[str] = []

    def _enter(self, entry: os.DirEntry[str], path: str, name: str, neighbours: Neighbours) -> bool:
        if entry.is_dir(follow_symlinks=False):
            return self._rules.for_folder(name, entry.name) is None
        if entry.is_file(follow_symlinks=False) and self._rules.for_file(name, entry.name) is None:
            self.names.append(name)
        return False

    def _unreadable(self, name: str, error: OSError) -> None:
        """Skip the folder."""
