"""The chunks of a file in the index."""

import hashlib
from itertools import pairwise

import msgspec
import pytest

from engine.embedding.provider_interface import TextsRefused
from engine.settings.options import ChunkingSettings, SessionSettings
from tests.helpers.fake_provider import FakeProvider

SECTION = "The valve sticks when the pressure drops, and the timer skips a day after every storm.\n"


@pytest.fixture
def long_note(workspace):
    text = "---\ntags: [garden, water]\n---\n# Beds\n\n" + "".join(f"{number} {SECTION}" for number in range(60))
    (workspace / "beds.md").write_text(text, "utf-8")
    return text


def test_chunk_rows_have_lines_overlaps_and_headings(open_memory, workspace, long_note) -> None:
    memory = open_memory(chunking=ChunkingSettings(tokens=100, overlap=30))
    memory.sync()
    found = memory.insight.chunks_of("beds.md")
    assert found is not None
    assert (found.source, found.title, found.tags, found.changed) == ("memory", "Beds", ("garden", "water"), False)
    assert found.hash == hashlib.sha256(long_note.encode()).hexdigest()
    assert found.size == len(long_note)
    rows = found.chunks
    assert len(rows) > 10
    assert rows[0].start_line == 2  # the tags in the front matter
    assert rows[-1].end_line == long_note.count("\n")
    assert all(later.start_line <= before.end_line for before, later in pairwise(rows[1:]))
    assert {row.heading for row in rows} == {("Beds",)}
    assert {row.vector for row in rows} == {"ready"}
    assert all(0 < row.tokens <= 100 for row in rows)


def test_a_file_that_is_not_indexed_has_no_rows(open_memory) -> None:
    memory = open_memory()
    assert memory.insight.chunks_of("greenhouse.md") is None


def test_file_changed_since_indexing_is_marked(open_memory, workspace) -> None:
    memory = open_memory()
    memory.sync()
    (workspace / "greenhouse.md").write_text("# Greenhouse\n\nAll new.\n", "utf-8")
    (workspace / "shopping.md").unlink()
    assert memory.insight.chunks_of("greenhouse.md").changed
    assert memory.insight.chunks_of("shopping.md").changed
    assert not memory.insight.chunks_of("people/ines.md").changed


def test_without_a_model_no_vector_is_awaited(open_memory) -> None:
    memory = open_memory(use=None)
    memory.sync()
    assert [row.vector for row in memory.insight.chunks_of("greenhouse.md").chunks] == ["none"]


def test_chunks_without_a_vector_yet_are_pending(open_memory) -> None:
    memory = open_memory(use=None)
    memory.sync()
    memory.close()
    memory = open_memory(use=FakeProvider())
    assert [row.vector for row in memory.insight.chunks_of("greenhouse.md").chunks] == ["pending"]


def test_refused_vector_has_reason(open_memory) -> None:
    class Picky(FakeProvider):
        def embed_documents(self, texts, *, cancel=None):
            if any("drip" in text for text in texts):
                raise TextsRefused("The service refuses this text.")
            return super().embed_documents(texts, cancel=cancel)

    memory = open_memory(use=Picky())
    memory.sync()
    found = memory.insight.chunks_of("greenhouse.md")
    assert [row.vector for row in found.chunks] == ["refused"]
    assert "refuses this text" in found.refusal
    assert {row.vector for row in memory.insight.chunks_of("shopping.md").chunks} == {"ready"}


def test_chunk_detail_has_every_field(open_memory, workspace, long_note) -> None:
    (workspace / "copy.md").write_text((workspace / "greenhouse.md").read_text("utf-8"), "utf-8")
    memory = open_memory()
    memory.sync()
    (row,) = memory.insight.chunks_of("greenhouse.md").chunks
    detail = memory.insight.chunk("greenhouse.md", row.id)
    assert memory.insight.chunk("copy.md", row.id) is None
    assert detail.row == row
    assert (detail.path, detail.number, detail.identical) == ("greenhouse.md", 1, 1)
    assert detail.hash == hashlib.sha256(detail.text.encode()).hexdigest()
    (vector,) = detail.vectors
    assert (vector.provider, vector.dims, vector.active) == ("fake", 64, True)
    assert "irrigation" in detail.words.split()
    assert "irrig" in detail.stems.split()
    assert detail.heading_words == "greenhouse watering"


def test_chunk_words_equal_those_of_keyword_index(open_memory, workspace) -> None:
    (workspace / "mixed.md").write_text("# 水\n\nos.replace runs; 我们去水边 and the boxes' GitHub page.\n", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    (row,) = memory.insight.chunks_of("mixed.md").chunks
    detail = memory.insight.chunk("mixed.md", row.id)
    with memory.store.read() as snapshot:
        for word in dict.fromkeys(detail.words.split()):
            query = f"SELECT rowid FROM {snapshot.tables.fts} WHERE {snapshot.tables.fts} MATCH ?"
            assert (row.id,) in snapshot.connection.execute(query, (f'words:"{word}"',)).fetchall()


def test_deleted_chunk_has_no_details(open_memory, workspace) -> None:
    memory = open_memory()
    memory.sync()
    (row,) = memory.insight.chunks_of("greenhouse.md").chunks
    (workspace / "greenhouse.md").unlink()
    memory.sync()
    assert memory.insight.chunk("greenhouse.md", row.id) is None


def test_chunks_of_a_session_have_its_lines(open_memory, tmp_path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    lines = [
        {"type": "session", "id": "s1", "cwd": "/home/ada", "timestamp": "2026-03-01T10:00:00.000Z"},
        {
            "type": "message",
            "id": "m1",
            "timestamp": "2026-03-01T10:00:00.000Z",
            "message": {"role": "user", "content": [{"type": "text", "text": "The mast is bare."}]},
        },
    ]
    (store / "one.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, lines)) + b"\n")
    memory = open_memory(sessions=SessionSettings(folders=(str(store),)))
    memory.sync()
    (summary,) = memory.sessions()
    found = memory.insight.chunks_of(summary.path)
    assert (found.source, found.changed) == ("sessions", False)
    (row,) = found.chunks
    assert (row.start_line, row.end_line) == (2, 2)
    assert "mast" in memory.insight.chunk(summary.path, row.id).text


def test_excluded_file_hides_chunks(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    [row] = memory.insight.chunks_of("people/ines.md").chunks
    stricter = open_memory(exclude=("people/**",))
    assert stricter.insight.chunks_of("people/ines.md") is None
    assert stricter.insight.chunk("people/ines.md", row.id) is None
    assert stricter.insight.chunks_of("greenhouse.md") is not None


def test_a_name_that_no_file_can_have_is_not_indexed(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    assert memory.insight.chunks_of("\udcff.md") is None


def test_stems_of_short_note_include_its_compounds(open_memory, workspace) -> None:
    (workspace / "todo.md").write_text("Stromrechnung bezahlen\n", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    [row] = memory.insight.chunks_of("todo.md").chunks
    assert ":gnunhcermorts" in memory.insight.chunk("todo.md", row.id).stems.split()
