"""Read links between notes from the index: the note that a link names, links to a note, and links of a note."""

from collections.abc import Iterator
from posixpath import dirname
from typing import NamedTuple

from engine.corpus.links import closeness, link_key
from engine.store.snapshot import Snapshot, held, typed
from engine.text.folding import fold


class LinkedNote(NamedTuple):
    """The note at one end of a link."""

    id: int
    path: str
    title: str
    line: int
    """Line of the named block, or of the link; 1 if neither is known."""


class StoredLink(NamedTuple):
    """A link between notes."""

    line: int
    """Line of the link in the note that contains it."""
    target: str
    anchor: str
    context: str
    note: LinkedNote | None
    """The note at the other end; None if no note has that name."""


class LinkReader:
    """Resolves links within one snapshot, as Obsidian does: by file name, and by alias if no file has that name."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._known: dict[str, list[tuple[str, LinkedNote]]] = {}
        self._resolved: dict[tuple[str, str], LinkedNote | None] = {}

    def resolve(self, target: str, home: str) -> LinkedNote | None:
        """The note that `target` names in the note with the stable name `home`; None if there is none."""
        key = target, dirname(home)
        if key not in self._resolved:
            self._resolved[key] = self._resolve(target, home)
        return self._resolved[key]

    def _resolve(self, target: str, home: str) -> LinkedNote | None:
        ranked = [
            (rank, len(note.path), note.path, note)
            for kind, note in self._named(link_key(target))
            if kind == "file" and (rank := closeness(target, home, note.path)) is not None
        ]
        if not ranked:
            ranked = [
                (0, len(note.path), note.path, note)
                for kind, note in self._named(fold(target.strip()))
                if kind != "file"
            ]
        return min(ranked)[-1] if ranked else None

    def named(self, name: str) -> set[int]:
        """Ids of all notes with this file name, end of their path, title or alias."""
        files = {
            note.id
            for kind, note in self._named(link_key(name))
            if kind == "file" and closeness(name, "", note.path) is not None
        }
        return files | {note.id for kind, note in self._named(fold(name.strip())) if kind == "alias"}

    def links_from(self, id_: int) -> list[StoredLink]:
        """The links of one note, in order."""
        tables = self._snapshot.tables
        rows = self._snapshot.connection.execute(
            f"""SELECT f.path, l.line, l.target, l.anchor, l.context FROM {tables.links} l
                CROSS JOIN {tables.files} f ON f.id = l.file_id WHERE l.file_id = ? ORDER BY l.rowid""",
            (id_,),
        )
        return [
            StoredLink(line, target, anchor, context, self.resolve(target, path))
            for path, line, target, anchor, context in typed(rows, tuple[str, int, str, str, str])
        ]

    def links_to(self, id_: int) -> Iterator[StoredLink]:
        """The links of other notes to one note or a block in it, by path and line."""
        tables = self._snapshot.tables
        rows = self._snapshot.connection.execute(
            f"""SELECT DISTINCT f.id, f.path, f.title, l.line, l.target, l.anchor, l.context, l.rowid
                FROM {tables.link_names} n CROSS JOIN {tables.links} l ON l.key = n.key
                CROSS JOIN {tables.files} f ON f.id = l.file_id
                WHERE n.file_id = ?1 AND f.id <> ?1 ORDER BY f.path, l.rowid""",
            (id_,),
        )
        found = typed(rows, tuple[int, str, str, int, str, str, str, int])
        for file, path, title, line, target, anchor, context, _ in found:
            named = self.resolve(target, path)
            if named is not None and named.id == id_:
                yield StoredLink(line, target, anchor, context, LinkedNote(file, path, title, line))

    def _named(self, key: str) -> list[tuple[str, LinkedNote]]:
        """Everything with this name, each with the kind of the name."""
        if key not in self._known:
            tables = self._snapshot.tables
            rows = self._snapshot.connection.execute(
                f"""SELECT n.kind, f.id, f.path, f.title, n.line FROM {tables.link_names} n
                    CROSS JOIN {tables.files} f ON f.id = n.file_id WHERE n.key = ?""",
                (key.encode("utf-8", "replace").decode(),),  # a lone surrogate is in no name
            )
            found = typed(rows, tuple[str, int, str, str, int])
            notes = [(kind, LinkedNote(id_, path, title, line)) for kind, id_, path, title, line in found]
            self._known[key] = notes if key else []
        return self._known[key]


def files_linking_to(snapshot: Snapshot, name: str) -> list[int]:
    """Ids of the notes that link to a note with this name."""
    reader = LinkReader(snapshot)
    return sorted({link.note.id for id_ in reader.named(name) for link in reader.links_to(id_) if link.note})


def files_linked_from(snapshot: Snapshot, name: str) -> list[int]:
    """Ids of the notes that a note with this name links to."""
    reader = LinkReader(snapshot)
    named = reader.named(name)
    return sorted({link.note.id for id_ in named for link in reader.links_from(id_) if link.note} - named)


def note_links(snapshot: Snapshot, path: str) -> tuple[list[StoredLink], list[StoredLink]]:
    """The links to the note with this stable name, and its own links."""
    note = held(snapshot, "memory", path)
    if note is None:
        return [], []
    reader = LinkReader(snapshot)
    return list(reader.links_to(note.id)), reader.links_from(note.id)
