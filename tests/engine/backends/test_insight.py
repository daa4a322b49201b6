"""Insight into the index of an open memory: its figures are those of the index at every moment."""

import os
from datetime import datetime
from pathlib import Path

import msgspec
import pytest

from engine.backends.builtin import BuiltinMemory
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, ProviderError
from engine.records import IndexOverview
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.fake_provider import FakeProvider

SESSION = """\
{"type":"session","version":3,"id":"s-1","timestamp":"2024-03-05T10:00:00Z","cwd":"/work"}
{"type":"message","id":"m1","timestamp":"2024-03-05T10:00:01Z","message":{"role":"user","content":"Which varnish?"}}
{"type":"message","id":"m2","timestamp":"2024-03-05T10:00:02Z","message":{"role":"assistant","content":"Spar varnish."}}
"""


def figures(overview: IndexOverview) -> dict[tuple[str, str], tuple[int, ...]]:
    """Return files, chunks, pending, failed and skipped of each folder, by its source and name."""
    return {
        (folder.source, folder.name): (folder.files, folder.chunks, folder.pending, folder.failed, folder.skipped)
        for folder in overview.folders
    }


def test_changed_notes_are_newest_first(open_memory, workspace: Path) -> None:
    for age, name in enumerate(("b.md", "c.md", "a.md")):
        (workspace / name).write_text(f"# Title of {name}\n\nText.\n")
        os.utime(workspace / name, (2_000_000_000 - age, 2_000_000_000 - age))
    memory = open_memory(use=None)
    memory.sync()
    found = memory.insight.changed_notes(2)
    assert [(note.path, note.title, note.modified) for note in found] == [
        ("b.md", "Title of b.md", 2_000_000_000.0),
        ("c.md", "Title of c.md", 1_999_999_999.0),
    ]


def test_renamed_note_is_known_by_its_time_and_size(open_memory, workspace: Path) -> None:
    for name in ("a.md", "twin-1.md", "twin-2.md"):
        (workspace / name).write_text(f"Text of {name[:4]}.\n")
        os.utime(workspace / name, (2_000_000_000, 2_000_000_000 + (name == "a.md")))
    memory = open_memory(use=None)
    memory.sync()
    before, twin = ((workspace / name).stat() for name in ("a.md", "twin-1.md"))
    assert memory.insight.renamed_note("a.md", before.st_mtime_ns, before.st_size) == ""
    (workspace / "a.md").rename(workspace / "b.md")
    memory.sync()
    assert memory.insight.renamed_note("a.md", before.st_mtime_ns, before.st_size) == "b.md"
    assert memory.insight.renamed_note("a.md", before.st_mtime_ns, before.st_size + 1) == ""
    assert memory.insight.renamed_note("old.md", twin.st_mtime_ns, twin.st_size) == ""


def test_changed_sessions_are_listed_if_there_are_no_notes(open_memory, workspace: Path, store: Path) -> None:
    memory = open_memory(use=None, sources=("sessions",), sessions=SessionSettings(folders=(str(store),)))
    memory.sync()
    assert [note.path for note in memory.insight.changed_notes(5)] == ["sessions/main/boat.jsonl"]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "agents/main/sessions"
    folder.mkdir(parents=True)
    (folder / "boat.jsonl").write_text(SESSION)
    return folder


def test_folders_are_counted_with_all_that_is_below(open_memory, workspace: Path) -> None:
    (workspace / "daily/2026/03").mkdir(parents=True)
    (workspace / "daily/2026/03/05.md").write_text("Rain.\n")
    memory = open_memory()
    assert memory.insight.overview().folders == ()
    memory.sync()
    assert figures(memory.insight.overview()) == {
        ("memory", ""): (5, 5, 0, 0, 0),
        ("memory", "daily"): (2, 2, 0, 0, 0),
        ("memory", "daily/2026"): (1, 1, 0, 0, 0),
        ("memory", "daily/2026/03"): (1, 1, 0, 0, 0),
        ("memory", "people"): (1, 1, 0, 0, 0),
    }


def test_skipped_files_of_one_type_are_each_counted(open_memory, workspace: Path) -> None:
    for name in ("daily/a.png", "daily/b.png", "c.png"):
        (workspace / name).write_bytes(b"x")
    memory = open_memory()
    memory.sync()
    assert figures(memory.insight.overview())["memory", ""] == (4, 4, 0, 0, 3)


def test_notes_in_a_folder_called_sessions_count_as_notes(open_memory, workspace: Path, store: Path) -> None:
    for name in ("sessions/a.md", "sessions/broken.md", "sessions/2026/broken.md"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_bytes(bytes(range(256)) * 40 if "broken" in name else b"Rain.")
    (store / "broken.jsonl").write_text("{}\n")
    memory = open_memory(use=None, sources=("memory", "sessions"), sessions=SessionSettings(folders=(str(store),)))
    memory.sync()
    counted = figures(memory.insight.overview())
    assert counted["sessions", ""][3:] == (0, 1)
    assert counted["memory", "sessions"][3:] == (2, 0)


def test_folders_before_contents_largest_first(open_memory, workspace: Path) -> None:
    for name in ("a/x/1.md", "b/y/1.md", "b/y/2.md", "b/z/1.md", "b/z/2.md", "b/z/3.md"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(f"{name}\n")
    memory = open_memory()
    memory.sync()
    names = [folder.name for folder in memory.insight.overview().folders]
    assert names == ["", "b", "b/z", "b/y", "a", "a/x", "daily", "people"]


def test_overview_counts_change_with_the_files(open_memory, workspace: Path) -> None:
    memory = open_memory()
    memory.sync()
    (workspace / "people/ines.md").unlink()
    (workspace / "daily/late.md").write_text("Frost again.\n")
    (workspace / "daily/bad.md").write_bytes(bytes(99))
    memory.sync()
    found = figures(memory.insight.overview())
    assert found["memory", "daily"] == (2, 2, 0, 1, 0)
    assert ("memory", "people") not in found
    generation = memory.insight.overview().generation
    memory.sync(force=True)
    assert memory.insight.overview().generation == generation + 1
    assert figures(memory.insight.overview()) == found


def test_figures_during_rebuild_from_answering_index(open_memory, workspace: Path) -> None:
    memory = open_memory()
    memory.sync()
    before = memory.insight.overview()
    (workspace / "new.md").write_text("A brass lamp.\n")
    seen: list[IndexOverview] = []
    provider = FakeProvider(32, id="other")
    provider.before = lambda _: seen.append(other.insight.overview())
    memory.close()
    other: BuiltinMemory = open_memory(
        use=provider, chunking=msgspec.structs.replace(Settings().chunking, tokens=100, overlap=20)
    )
    other.sync(approve=True)
    assert {overview.generation for overview in seen} == {before.generation}
    assert figures(seen[0])["memory", ""] == (4, 4, 4, 0, 0)
    assert figures(other.insight.overview())["memory", ""] == (5, 5, 0, 0, 0)


def test_missing_vectors_are_pending(open_memory, workspace: Path, provider) -> None:
    memory = open_memory(use=None)
    memory.sync()
    assert figures(memory.insight.overview())["memory", ""] == (4, 4, 4, 0, 0)
    memory.close()
    memory = open_memory()
    memory.sync()

    def fail(_: object) -> None:
        raise ProviderError("It rests.")

    provider.before = fail
    (workspace / "daily/late.md").write_text("Frost again.\n")
    memory.sync()
    found = figures(memory.insight.overview())
    assert found["memory", ""] == (5, 5, 1, 0, 0)
    assert found["memory", "daily"] == (2, 2, 1, 0, 0)
    assert found["memory", "people"] == (1, 1, 0, 0, 0)


def test_sessions_counted_by_store_and_month(open_memory, workspace: Path, store: Path) -> None:
    for note in workspace.rglob("*.md"):
        os.utime(note, (datetime(2023, 1, 15).timestamp(),) * 2)
    os.utime(workspace / "shopping.md", (datetime(2024, 3, 15).timestamp(),) * 2)
    (store / "broken.jsonl").write_text('{"what": "nobody knows"}\n')
    memory = open_memory(sessions=SessionSettings(folders=(str(store),)))
    memory.sync()
    overview = memory.insight.overview()
    found = figures(overview)
    assert found["sessions", ""][:2] == (1, 1)
    assert found["sessions", "sessions/main"] == found["sessions", ""]
    assert sum(found["sessions", ""][3:]) == 1, "the transcript in an unknown format failed"
    assert [(month.year, month.month, month.notes, month.sessions) for month in overview.months] == [
        (2023, 1, 3, 0),
        (2024, 3, 1, 1),
    ]


def test_chunk_sizes_equal_lengths_of_texts(open_memory, workspace: Path) -> None:
    memory = open_memory()
    assert memory.insight.overview().sizes == msgspec.convert(
        {"median": 0, "longest": 0, "width": 0, "counts": []}, type(memory.insight.overview().sizes)
    )
    (workspace / "umlauts.md").write_text("ä" * 120 + "\n")
    memory.sync()
    with memory.store.read() as snapshot:
        lengths = sorted(len(text.text) for text in snapshot.texts(list(snapshot.chunks_to_embed(-1).values())))
    sizes = memory.insight.overview().sizes
    assert (sizes.median, sizes.longest) == (lengths[2], lengths[-1])
    assert sizes.longest == 120
    bars = [0] * len(sizes.counts)
    for length in lengths:
        bars[(length - 1) // sizes.width] += 1
    assert list(sizes.counts) == bars


def test_disk_parts_sum_to_file_sizes(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    memory.close()
    memory = open_memory()  # with the write-ahead log merged into the file
    parts = {part.name: part.bytes for part in memory.insight.overview().disk}
    assert {"text", "words", "vectors", "user"} <= parts.keys()
    sizes = memory.status().sizes
    beside = parts.pop("user") + parts.pop("matrix", 0) + parts.pop("log", 0)
    assert beside <= sizes.user + sizes.matrix + sizes.wal
    assert sum(parts.values()) == sizes.database


def test_disk_parts_before_log_is_merged_sum_to_files(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    sizes = memory.status().sizes
    assert sizes.wal
    parts = memory.insight.overview().disk
    assert sum(part.bytes for part in parts) == sizes.database + sizes.wal + sizes.matrix + sizes.user


def test_history_counts_reused_and_failed(open_memory, workspace: Path) -> None:
    memory = open_memory()
    memory.sync()
    (workspace / "bad.md").write_bytes(bytes(99))
    memory.sync(force=True)
    first, second = memory.insight.overview().syncs
    assert (first.vectors_reused, first.vectors_embedded, first.full, first.failed) == (0, 4, False, ())
    assert (second.vectors_reused, second.vectors_embedded, second.full) == (4, 0, True)
    assert second.files_failed == 1
    assert [issue.path for issue in second.failed] == ["bad.md"]
    assert memory.status().recent_syncs[-1].files_failed == 1


def test_nothing_is_counted_twice_while_nothing_changes(open_memory, monkeypatch) -> None:
    memory = open_memory()
    memory.sync()
    first = memory.insight.overview()
    monkeypatch.setattr("engine.insight.overview._read", None)
    assert memory.insight.overview() == first


def test_cancelled_check_ends(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        memory.insight.overview(token)


def test_overview_of_closed_memory_raises(open_memory) -> None:
    memory = open_memory()
    memory.close()
    with pytest.raises(Closed):
        memory.insight.overview()
