"""Describes the links of one note, and reads the part of a note, or the image, that a link names."""

import os
import posixpath
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

import msgspec

from engine.base import lazy_pattern
from engine.base.cancellation import CancelToken
from engine.base.errors import PathRefused, WorkspaceError
from engine.corpus import front_matter, markdown_line_types
from engine.corpus.chunk_boundaries import markdown_outline
from engine.corpus.documents import DocumentError, is_document
from engine.corpus.folder_walk import FolderWalk, Neighbours
from engine.corpus.ignore_rules import IgnoreRules, Match
from engine.corpus.indexed_folders import find_roots
from engine.corpus.line_reader import NumberedText
from engine.corpus.link_parsing import anchor_line, titled_line, without_links
from engine.corpus.note_metadata import structure_of
from engine.corpus.note_structure import MarkupHeading
from engine.corpus.path_guard import PathGuard
from engine.records import LinkedText, NoteLinkInfo, NoteLinks
from engine.settings import Settings
from engine.store.link_queries import LinkedNote, LinkReader, StoredLink
from engine.store.link_queries import note_links as stored_links
from engine.store.snapshot import Snapshot, indexed_file

_MAX_LINES = 40
_SEARCHED_LINES = 20_000
"""Maximum number of lines that are searched for a heading or a block."""


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
    target, anchor, from_note = link
    note = LinkReader(snapshot).resolve(target, from_note) if target else _note_itself(snapshot, from_note)
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
    return _text_from_anchor(note, anchor, lines)


def _note_itself(snapshot: Snapshot, path: str) -> LinkedNote | None:
    stored = indexed_file(snapshot, "memory", path)
    return None if stored is None else LinkedNote(stored.id, path, stored.title, 1)


def _text_from_anchor(note: LinkedNote, anchor: str, lines: Sequence[str]) -> LinkedText:
    """Return the heading or block of an anchor, or the note from its linked line on."""
    lines_of_part = anchored_lines(lines, anchor, note.path) if anchor else None
    first, end = lines_of_part or (note.line, (note.line > 1 and _item_end(lines, note.line)) or len(lines))
    start = first if lines_of_part or first > 1 else 1 + _front_lines(lines)
    excerpt = lines[start - 1 : min(end, start + _MAX_LINES - 1)]
    return LinkedText(
        path=note.path,
        title=note.title,
        line=first,
        text="\n".join(excerpt),
        cut=start - 1 + len(excerpt) < end,
        anchored=lines_of_part is not None,
    )


def _front_lines(lines: Sequence[str]) -> int:
    """Return the number of lines with which a note begins that are front matter or page properties."""
    front = front_matter.read("\n".join(lines))
    return front.length if front is not None else 0


def _document(note: LinkedNote) -> LinkedText:
    """Return the target of a link to a document; its text is not shown."""
    return LinkedText(path=note.path, title=note.title, line=1, text="")


# --- The lines that an anchor names -----------------------------------------------------------------------------------
#
# Headings are named by their letters and digits, which covers the anchors that Obsidian, GitHub and Asciidoctor make of
# them. Other targets are those of the Org manual ("Internal Links"), of docutils and Sphinx, of the AsciiDoc language
# documentation ("Assign an ID"), of Obsidian's blocks (`^id`), and in Markdown ids in HTML and in braces.

_LINE = 16 * 1024
"""Maximum number of characters of a line that are searched for a target."""
_PAGE = lazy_pattern(r"page=(\d{1,9})(?:&.*)?")
_BULLET = lazy_pattern(r"^[ \t]*[-*+][ \t]+")
_NUMBERED = lazy_pattern(r"(.+?)[-_](\d{1,4})")
_TARGETS = {
    ".org": r"<<{}>>|(?:\A|[ \t]):custom_id:[ \t]+{}[ \t]*\Z|\A[ \t]*#\+name:[ \t]*{}[ \t]*\Z",
    ".rst": r"\A[ \t]*\.\. _`?{}`?:[ \t]*\Z|_`{}`",
    ".adoc": r"\[\[{}(?:,[^\[\]]*)?\]\]|\[[^\[\]]*?(?:#|\bid=\"?){}(?![\w-])[^\[\]]*\]|\banchor:{}\[",
    ".md": r"\{[^}{]*(?<![\w-])\#{}(?![\w-])[^}{]*\}"
    r"|<\w+(?:[ \t][^<>]*)?[ \t](?:id|name)=[\"']?{}(?![\w-])|\A\({}\)=[ \t]*\Z",
}
"""For each format: an expression for the target of links that is named in place of `{}`, in one line."""
_SAME_FORMAT = {".asciidoc": ".adoc", ".asc": ".adoc", ".rest": ".rst"}


def anchored_lines(lines: Sequence[str], anchor: str, path: str) -> tuple[int, int] | None:
    """Return the first and last line of the section, block or target that an anchor names, in any format of notes."""
    structure = None if is_document(path) else structure_of("\n".join(lines), path)
    if structure is None and (section := _markdown_lines(lines, anchor)) is not None:
        return section
    headings, code, _ = (
        (structure.headings, structure.code, 0) if structure is not None else markdown_outline("\n".join(lines))
    )
    if target := _target_line(lines, anchor, path, code):
        return _from_line(lines, target, headings)
    keys = [_letters(heading.title) for heading in headings]
    if (key := _letters(anchor)) in keys:
        return _section(lines, headings, keys.index(key))
    # The second of two equal headings is `name-1` on GitHub and `_name_2` in AsciiDoc.
    if numbered := _NUMBERED.fullmatch(anchor):
        same = [number for number, key in enumerate(keys) if key == _letters(numbered[1])]
        nth = int(numbered[2]) - (anchor[0] == "_")
        return _section(lines, headings, same[nth]) if 0 < nth < len(same) else None
    return None


def _from_line(lines: Sequence[str], target: int, headings: Sequence[MarkupHeading]) -> tuple[int, int]:
    """Return the section that begins at a line, else the lines up to the next blank one."""
    for number, heading in enumerate(headings):
        if heading.line == target:
            return _section(lines, headings, number)
    end = next((number for number in range(target, len(lines)) if not lines[number].strip()), len(lines))
    return target, end


def _section(lines: Sequence[str], headings: Sequence[MarkupHeading], number: int) -> tuple[int, int]:
    level = headings[number].level
    below = (heading.line - 1 for heading in headings[number + 1 :] if heading.level <= level)
    return headings[number].line, next(below, len(lines))


def _markdown_lines(lines: Sequence[str], anchor: str) -> tuple[int, int] | None:
    """Return the first and last line, from 1, of the section or block that an anchor names; None if there is none.

    An anchor `page=3`, as in links to a PDF, names the heading of that page in the document's text.
    """
    if anchor.startswith("^"):
        return _block(lines, anchor[1:].lower())
    page = _PAGE.fullmatch(anchor)
    target = _letters(f"Page {int(page[1])}" if page else anchor)
    begun = level = 0
    fence = ""

    def is_below(text: str) -> bool:
        return any(text in lines[below] for below in range(number, len(lines)))

    for number, line in enumerate(lines, 1):
        if fence and markdown_line_types.is_below_item(line, fence):
            fence = ""
        if fence:
            fence = "" if markdown_line_types.closes_block(line, fence) else fence
        elif not (fence := markdown_line_types.opened_block(line, is_below)) and line.lstrip()[:1] in "#-*+":
            heading = markdown_line_types.atx_heading(_BULLET.sub("", line))
            if heading is None:
                continue
            if begun and heading[0] <= level:
                return begun, number - 1
            if not begun and _letters(heading[1]) == target:
                begun, level = number, heading[0]
    return (begun, len(lines)) if begun else None


def _target_line(lines: Sequence[str], name: str, path: str, code: Sequence[tuple[int, int]]) -> int:
    """Return the line of the title or block before which a target with this name is written; 0 if there is none.

    `path`: stable name of the note, whose ending is the format. `code`: lines of blocks of code, without targets.
    """
    ending = path[path.rfind(".") :].lower()
    ending = _SAME_FORMAT.get(ending, ending)
    pattern = re.compile(_TARGETS.get(ending, _TARGETS[".md"]).replace("{}", re.escape(name)), re.IGNORECASE)
    hidden = {number for first, last in code for number in range(first, last + 1)}
    for number, line in enumerate(lines, 1):
        if len(line) <= _LINE and number not in hidden and pattern.search(line):
            return titled_line(lines, number, ending)
    return 0


def _block(lines: Sequence[str], id_: str) -> tuple[int, int] | None:
    """Return the lines of the block with this id: `^id` is at its end, or alone on the line after it."""
    for number, line in enumerate(lines, 1):
        if "^" in line and anchor_line(line).lower() == id_:
            end = number
            if line.strip().startswith("^"):
                end -= 1
                while end > 0 and not lines[end - 1].strip():
                    end -= 1
            first = end
            while first > 1 and not markdown_line_types.is_list_item(lines[first - 1]) and lines[first - 2].strip():
                first -= 1
            return max(1, first), max(1, end, _item_end(lines, first))
    return None


def _item_end(lines: Sequence[str], first: int) -> int:
    """Return the last line of the list item that begins at a line, with the items in it; 0 if it is no item."""
    if not 0 < first <= len(lines) or not markdown_line_types.is_list_item(lines[first - 1]):
        return 0
    depth = _indentation(lines[first - 1])
    following = range(first, len(lines))
    end = next((at for at in following if lines[at].strip() and _indentation(lines[at]) <= depth), len(lines))
    while not lines[end - 1].strip():
        end -= 1
    return end


def _indentation(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())


def _letters(heading: str) -> str:
    """Return the letters and digits of a heading, by which links name it, or all characters if it has neither."""
    text = without_links(heading)
    return "".join(filter(str.isalnum, text)).casefold() or text


# --- The images that a note shows ------------------------------------------------------------------------------------

IMAGE_ENDINGS = ("png", "jpg", "jpeg", "gif", "webp", "bmp")
"""File types without references to other files, which SVG may have."""
_MAX_ENTRIES = 50_000
"""Maximum number of files and folders that are listed to find images by their names."""


class NoteImages:
    """Finds the images that one note names, if they are within the searched folders. Not thread-safe."""

    def __init__(self, note: str, workspace: Path, settings: Settings) -> None:
        """`note`: stable name of the note."""
        # The rules for notes, with other file types: `include` usually names notes only.
        settings = msgspec.structs.replace(settings, extensions=IMAGE_ENDINGS, include=())
        self._note = note
        self._rules = IgnoreRules(settings)
        self._guard = PathGuard(workspace, settings)
        try:
            self._root = find_roots(workspace, settings).root_of(note)
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
        candidates = [] if path.startswith("/") else [posixpath.join(posixpath.dirname(self._note), path)]
        candidates.append(posixpath.join(self._root.name, path.lstrip("/")))
        for name in dict.fromkeys(map(posixpath.normpath, candidates)):
            if (note := self._locate(name)) is not None:
                return note
        ending = f"/{posixpath.normpath(path).lstrip('/')}".casefold()
        named = (name for name in self._named if f"/{name}".casefold().endswith(ending))
        return next((note for name in named if (note := self._locate(name)) is not None), None)

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
        super().__init__(None, None, _MAX_ENTRIES)
        self._rules = rules
        self.names: list[str] = []

    def _enter(self, entry: os.DirEntry[str], path: str, name: str, neighbours: Neighbours) -> bool:
        if entry.is_dir(follow_symlinks=False):
            return self._rules.for_folder(name, entry.name) is None
        if entry.is_file(follow_symlinks=False) and self._rules.for_file(name, entry.name) is None:
            self.names.append(name)
        return False

    def _skip(self, name: str, match: Match) -> None:
        """Skip the folder."""
