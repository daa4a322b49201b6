"""Rows of a changed note: those of its unchanged passages stay."""

import random
from contextlib import closing
from pathlib import Path

import pytest

from engine.backends.builtin import BuiltinMemory
from engine.corpus.folder_walk import FoundFile
from engine.corpus.note_reader import NoteText
from engine.indexing import commit_groups
from engine.indexing.note_preparation import prepare, stored_note
from engine.settings import Settings
from engine.settings.options import ChunkingSettings, StoreSettings
from engine.store.index import IndexStore
from engine.store.snapshot import Snapshot
from tests.helpers.rows import open_store
from tests.helpers.sync_worker import open_with_fake

CHUNKING = ChunkingSettings()
LOG = "---\naliases: [weir log]\n---\n# Log\n\n" + "".join(
    f"Day {n}: the pump ran for {n * 7} min.\n" for n in range(400)
)
JOURNAL = "# Log\n\n" + "".join(
    f"## Day {n}\n\n" + "".join(f"The pump of weir {n} ran for {n * m} min.\n" for m in range(12)) for n in range(60)
)
_EDITS = 12
WORDS = ("pump", "weir", "log", "gate", "day", "399", "noon")


def put(store: IndexStore, text: str, *, again: bool = False) -> tuple[list[int], list[int]]:
    """Index this text as the note; return the ids of the (new, removed) chunks."""
    file = FoundFile(name="weir/log.md", path="/weir/log.md", source="memory", size=len(text), mtime_ns=1)
    with store.read() as snapshot:
        known = snapshot.files("memory").get(file.name)
        stored = stored_note(snapshot, known.id) if again and known is not None else None
    with store.write() as writer:
        return writer.replace_file(prepare(file, NoteText(text, str(len(text))), CHUNKING, stored))


def contents(snapshot: Snapshot) -> list[object]:
    """Return all rows of the generation without ids, and the positions of the chunks that contain each word."""
    tables, read = snapshot.tables, snapshot.connection.execute
    order = [id_ for (id_,) in read(f"SELECT id FROM {tables.chunks} ORDER BY start_line, id")]
    rows: list[object] = [
        [row[1:] for row in read(f"SELECT * FROM {tables.files}")],
        [row[2:] for row in read(f"SELECT * FROM {tables.chunks} ORDER BY start_line, id")],
        [tag for tag, _ in read(f"SELECT * FROM {tables.tags} ORDER BY 1")],
        [row[1:] for row in read(f"SELECT * FROM {tables.front_matter}")],
        [row[1:] for row in read(f"SELECT * FROM {tables.links} ORDER BY line")],
        [(key, kind, line) for key, kind, _, line in read(f"SELECT * FROM {tables.link_names} ORDER BY 1, 2")],
    ]
    for word in WORDS:
        found = read(f"SELECT rowid FROM {tables.fts} WHERE {tables.fts} MATCH ? ORDER BY rowid", (word,))
        rows.append(sorted(order.index(id_) for (id_,) in found))
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


def test_line_at_the_top_changes_the_first_chunk_only(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    ids, _ = put(store, JOURNAL)
    added, removed = put(store, JOURNAL.replace("# Log\n", "# Log\n\nNoon: the gate is open.\n"), again=True)
    store.close()
    assert len(ids) > 10
    assert removed == ids[:1]
    assert len(added) == 1


def test_moved_chunk_keeps_its_id(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    put(store, JOURNAL)
    lines = []
    for text, again in ((JOURNAL, True), (JOURNAL.replace("# Log\n", "# Log\n\n\n"), True)):
        put(store, text, again=again)
        with store.read() as snapshot:
            rows = snapshot.connection.execute(f"SELECT id, start_line FROM {snapshot.tables.chunks} ORDER BY id")
            lines.append(dict(rows.fetchall()))
    store.close()
    before, after = lines
    assert {id_: line + 2 for id_, line in before.items() if line > 5} == {
        id_: line for id_, line in after.items() if line > 7
    }


def edited(text: str, rng: random.Random) -> str:
    """A random edit: of a line, a word, a line end, a long line, a section, or of two places in one step."""
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    part = lines[at : at + rng.randint(1, 12)]
    match rng.randrange(9):
        case 0:
            lines.insert(at, f"Noon: the pump ran for {rng.random()} min.")
        case 1:
            del lines[at : at + len(part)]
        case 2:
            lines[at:at] = part
        case 3:
            lines[at] = " ".join(part)
        case 4:
            lines[at] += " gate" * rng.choice((1, 900))
        case 5:
            lines[at:at] = [""] * rng.randint(1, 3)
        case 6:
            lines[at] = f"## Day {rng.randint(0, 9)}"
        case 7:
            lines = lines[at:] + lines[:at]
        case _:
            return edited(edited(text, rng), rng)
    return "\n".join(lines)[-40_000:]


@pytest.mark.parametrize("seed", range(3))
def test_rows_after_many_edits_are_those_of_a_new_index(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    store, text = open_store(tmp_path / "edited"), JOURNAL
    put(store, text)
    for number in range(_EDITS):
        text = edited(text, rng)
        put(store, text, again=True)
        new = open_store(tmp_path / f"new-{number}")
        put(new, text)
        with store.read() as snapshot, new.read() as other:
            assert contents(snapshot) == contents(other)
        new.close()
    store.close()


@pytest.mark.parametrize("query", ["pump journal", "path:journal"])
def test_first_passage_leads_after_a_change_of_it(tmp_path: Path, query: str) -> None:
    note = tmp_path / "notes" / "pump journal.md"
    note.parent.mkdir()
    settings = Settings(provider="none", store=StoreSettings(path=str(tmp_path / "data")))
    with closing(BuiltinMemory(note.parent, settings, executor=None, background=False)) as memory:
        for text in (JOURNAL, JOURNAL.replace("# Log\n", "# Log\n\nNoon: the gate is open.\n")):
            note.write_text(text)
            report = memory.sync()
        assert report.chunks_indexed == 1
        assert memory.search(query, max_results=1, min_score=0).results[0].start_line == 1
        assert memory.insight is not None
        found = memory.insight.chunks_of(note.name)
        assert found is not None
        lines = [row.start_line for row in found.chunks]
        assert lines == sorted(lines)


def test_slow_removals_are_committed_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other writers wait for one note at most."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(5):
        (notes / f"{number}.md").write_text("Looked at the pump.\n", "utf-8")
    with closing(open_with_fake(notes, tmp_path / "data")) as memory:
        memory.sync()
        with memory.store.read() as snapshot:
            before = snapshot.stamp
        for file in (*notes.iterdir(),):
            file.unlink()
        monkeypatch.setattr(commit_groups, "_SECONDS_WRITING", 0.0)
        report = memory.sync()
        assert (report.files_removed, report.chunks_removed, report.error) == (5, 5, "")
        with memory.store.read() as snapshot:
            assert snapshot.stamp - before == 5
            assert not snapshot.chunk_count()
