"""Rows of a note that has changed: those of its unchanged beginning stay."""

from pathlib import Path

import pytest

from engine.corpus.folder_walk import FoundFile
from engine.corpus.note_reader import NoteText
from engine.indexing.note_preparation import prepare
from engine.settings.options import ChunkingSettings
from engine.store.index import IndexStore
from engine.store.snapshot import Snapshot
from engine.store.writer import stored_note
from tests.helpers.rows import open_store

CHUNKING = ChunkingSettings()
LOG = "---\naliases: [weir log]\n---\n# Log\n\n" + "".join(
    f"Day {n}: the pump ran for {n * 7} min.\n" for n in range(400)
)
WORDS = ("pump", "weir", "log", "gate", "day", "399", "noon")


def put(store: IndexStore, text: str, *, again: bool = False) -> tuple[list[int], list[int]]:
    """Index this text as the note; returns the ids of the (new, removed) chunks."""
    file = FoundFile(name="weir/log.md", path="/weir/log.md", source="memory", size=len(text), mtime_ns=1)
    with store.read() as snapshot:
        known = snapshot.files("memory").get(file.name)
        stored = stored_note(snapshot, known.id) if again and known is not None else None
    with store.write() as writer:
        return writer.replace_file(prepare(file, NoteText(text, str(len(text))), CHUNKING, stored))


def contents(snapshot: Snapshot) -> list[object]:
    """All rows of the generation without their ids, and the positions of the chunks that contain each word."""
    tables, read = snapshot.tables, snapshot.connection.execute
    order = [id_ for (id_,) in read(f"SELECT id FROM {tables.chunks} ORDER BY id")]
    rows: list[object] = [
        [row[1:] for row in read(f"SELECT * FROM {tables.files}")],
        [row[2:] for row in read(f"SELECT * FROM {tables.chunks} ORDER BY id")],
        [tag for tag, _ in read(f"SELECT * FROM {tables.tags} ORDER BY 1")],
        [row[1:] for row in read(f"SELECT * FROM {tables.front_matter}")],
        [row[1:] for row in read(f"SELECT * FROM {tables.links} ORDER BY line")],
        [(key, kind, line) for key, kind, _, line in read(f"SELECT * FROM {tables.link_names} ORDER BY 1, 2")],
    ]
    for word in WORDS:
        found = read(f"SELECT rowid FROM {tables.fts} WHERE {tables.fts} MATCH ? ORDER BY rowid", (word,))
        rows.append([order.index(id_) for (id_,) in found])
    return rows


CHANGES = {
    "a line more": LOG + "Noon: the gate is [[open]]. #gate\n",
    "a line less": LOG[: LOG.rindex("Day")],
    "first line": LOG.replace("Day 0", "Noon"),
    "a line in the middle": LOG.replace("Day 200", "Noon\nDay 200"),
    "title": LOG.replace("# Log", "# Pump"),
    "aliases": LOG.replace("weir log", "gate"),
    "date and tag": LOG.replace("---\naliases", "---\ndate: 2026-01-02\ntags: [gate]\naliases"),
    "a heading": LOG.replace("Day 300", "## Gate\n\nDay 300"),
    "nothing left": "",
}


@pytest.mark.parametrize("text", CHANGES.values(), ids=CHANGES)
def test_changed_note_has_the_rows_of_a_new_one(tmp_path: Path, text: str) -> None:
    found = []
    for again in (True, False):
        store = open_store(tmp_path / str(again))
        if again:
            put(store, LOG)
        put(store, text, again=again)
        with store.read() as snapshot:
            found.append(contents(snapshot))
        store.close()
    assert found[0] == found[1]


def test_appended_line_changes_the_last_chunks_only(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    ids, _ = put(store, LOG)
    added, removed = put(store, CHANGES["a line more"], again=True)
    store.close()
    assert len(ids) > 10
    assert removed == ids[-len(removed) :]
    assert 1 <= len(removed) <= len(added) <= 5
