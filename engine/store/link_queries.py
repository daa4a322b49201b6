"""Reads links between notes: the note that a link points to, links to a note, and links of a note."""

from collections.abc import Iterator
from posixpath import dirname
from typing import NamedTuple

from engine.corpus.link_parsing import link_distance, link_key
from engine.store.snapshot import Snapshot, indexed_file, validated
from engine.text.folding import fold


class LinkedNote(NamedTuple):
    """The note at one end of a link."""

    id: int
    path: str
    title: str
    line: int
    """Line of the block that the link names, or of the link; 1 if neither is known."""


class StoredLink(NamedTuple):
    """A link between two notes, as stored in the index."""

    line: int
    """Line of the link in the note that contains it."""
    target: str
    anchor: str
    context: str
    note: LinkedNote | None
    """The note at the other end; None if no note has the link's target as name."""


class LinkReader:
    """Resolves links within one snapshot, as Obsidian does: by file name, and by alias if no file has that name."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._known: dict[str, list[tuple[str, LinkedNote]]] = {}
        self._resolved: dict[tuple[str, str], LinkedNote | None] = {}

    def resolve(self, target: str, from_note: str) -> LinkedNote | None:
        """Return the note that the link target `target`, in the note `from_note`, points to; None if there is none."""
        key = target, dirname(from_note)
        if key not in self._resolved:
            self._resolved[key] = self._resolve(target, from_note)
        return self._resolved[key]

    def _resolve(self, target: str, from_note: str) -> LinkedNote | None:
        # Several vaults may be in one workspace, and the same name in each of them.
        vault = from_note.partition("/")[0]
        ranked = [
            (distance, note.path.partition("/")[0] != vault, len(note.path), note.path, note)
            for kind, note in self._named(link_key(target))
            if kind == "file" and (distance := link_distance(target, from_note, note.path)) is not None
        ]
        if not ranked:
            ranked = [
                (0, note.path.partition("/")[0] != vault, len(note.path), note.path, note)
                for kind, note in self._named(fold(target.strip()))
                if kind != "file"
            ]
        return min(ranked)[-1] if ranked else None

    def named(self, name: str) -> set[int]:
        """Return the ids of all notes whose file name, end of path, title or alias is `name`."""
        files = {
            note.id
            for kind, note in self._named(link_key(name))
            if kind == "file" and link_distance(name, "", note.path) is not None
        }
        return files | {note.id for kind, note in self._named(fold(name.strip())) if kind == "alias"}

    def links_from(self, id_: int) -> list[StoredLink]:
        """Return the links in one note, in order."""
        tables = self._snapshot.tables
        rows = self._snapshot.connection.execute(
            f"""SELECT f.path, l.line, l.target, l.anchor, l.context FROM {tables.links} l
                CROSS JOIN {tables.files} f ON f.id = l.file_id WHERE l.file_id = ? ORDER BY l.rowid""",
            (id_,),
        )
        return [
            StoredLink(line, target, anchor, context, self.resolve(target, path))
            for path, line, target, anchor, context in validated(rows, tuple[str, int, str, str, str])
        ]

    def links_to(self, id_: int) -> Iterator[StoredLink]:
        """Yield the links in other notes to one note or a block in it, by path and line."""
        tables = self._snapshot.tables
        rows = self._snapshot.connection.execute(
            f"""SELECT DISTINCT f.id, f.path, f.title, l.line, l.target, l.anchor, l.context, l.rowid
                FROM {tables.link_names} n CROSS JOIN {tables.links} l ON l.key = n.key
                CROSS JOIN {tables.files} f ON f.id = l.file_id
                WHERE n.file_id = ?1 AND f.id <> ?1 ORDER BY f.path, l.rowid""",
            (id_,),
        )
        links = validated(rows, tuple[int, str, str, int, str, str, str, int])
        for file, path, title, line, target, anchor, context, _ in links:
            named = self.resolve(target, path)
            if named is not None and named.id == id_ and file not in self._snapshot.hidden:
                yield StoredLink(line, target, anchor, context, LinkedNote(file, path, title, line))

    def _named(self, key: str) -> list[tuple[str, LinkedNote]]:
        """Return the notes and blocks with this folded name, each with the kind of the name."""
        if key not in self._known:
            tables = self._snapshot.tables
            rows = self._snapshot.connection.execute(
                f"""SELECT n.kind, f.id, f.path, f.title, n.line FROM {tables.link_names} n
                    CROSS JOIN {tables.files} f ON f.id = n.file_id WHERE n.key = ?""",
                (key.encode("utf-8", "replace").decode(),),  # a lone surrogate is in no name
            )
            files = validated(rows, tuple[str, int, str, str, int])
            notes = [
                (kind, LinkedNote(id_, path, title, line))
                for kind, id_, path, title, line in files
                if id_ not in self._snapshot.hidden
            ]
            self._known[key] = notes if key else []
        return self._known[key]


def files_linking_to(snapshot: Snapshot, name: str) -> list[int]:
    """Return the ids of the notes that link to a note with this name."""
    reader = LinkReader(snapshot)
    return sorted({link.note.id for id_ in reader.named(name) for link in reader.links_to(id_) if link.note})


def files_linked_from(snapshot: Snapshot, name: str) -> list[int]:
    """Return the ids of the notes that a note with this name links to."""
    reader = LinkReader(snapshot)
    named = reader.named(name)
    return sorted({link.note.id for id_ in named for link in reader.links_from(id_) if link.note} - named)


def note_links(snapshot: Snapshot, path: str) -> tuple[list[StoredLink], list[StoredLink]]:
    """Return the links to the note with this stable name, and the links in it."""
    note = indexed_file(snapshot, "memory", path)
    if note is None:
        return [], []
    reader = LinkReader(snapshot)
    return list(reader.links_to(note.id)), reader.links_from(note.id)
