"""Machines that share a table: rows that each one adds, removes and leaves alone."""

import os
from pathlib import Path

import msgspec
import pytest

from engine.backends.lancedb import table_sync
from engine.base.cancellation import CancelToken
from engine.settings.options import ChunkingSettings
from tests.engine.backends.lancedb.conftest import write
from tests.helpers.shared_tables import doubled, rows_of

HOSE = {"hose.md": "# Hose\n\nThe irrigation hose has sixteen millimetres.\n"}


@pytest.fixture
def table(tmp_path: Path) -> str:
    return str(tmp_path / "shared")


def holders(table: str) -> dict[str, list[str]]:
    """Return the sorted labels of the machines that hold each file, by path."""
    files = [row for row in rows_of(table) if row["ordinal"] == -1]
    return {
        f"{row['path']}": sorted(part.partition(":")[2] for part in row["holders"].split(",") if part)
        for row in sorted(files, key=lambda row: row["mtime_ns"])
    }


def notes_of(memory) -> Path:
    return Path(memory.status().workspace_dir)


def test_note_on_two_machines_is_stored_once(machine, table) -> None:
    desk, shed = machine("desk", notes=HOSE), machine("shed", notes=HOSE)

    desk.sync()
    before = rows_of(table)
    shed.sync()

    assert holders(table) == {"hose.md": ["desk", "shed"]}
    assert [row["id"] for row in rows_of(table)] == [row["id"] for row in before]
    assert [hit.path for hit in shed.search("irrigation").results] == ["hose.md"]


def test_different_notes_with_one_name_are_both_stored(machine, table) -> None:
    desk = machine("desk", notes={"memory/today.md": "# Desk\n\nThe hose is here.\n"})
    shed = machine("shed", notes={"memory/today.md": "# Shed\n\nThe hose is elsewhere.\n"})
    desk.sync()
    shed.sync()
    desk.sync()

    assert {hit.path for hit in desk.search("hose").results} == {"memory/today.md", "//shed/memory/today.md"}
    assert {hit.path for hit in shed.search("hose").results} == {"memory/today.md", "//desk/memory/today.md"}


def test_changed_note_replaces_shared_rows(machine, table) -> None:
    desk, shed = machine("desk", notes=HOSE), machine("shed", notes=HOSE)
    desk.sync()
    shed.sync()

    write(notes_of(shed), {"hose.md": "# Hose\n\nThe irrigation hose has twelve millimetres.\n"})
    shed.sync()
    assert holders(table) == {"hose.md": ["shed"]}
    assert "sixteen" not in str(rows_of(table))

    write(notes_of(desk), {"hose.md": "# Hose\n\nThe irrigation hose has twelve millimetres.\n"})
    desk.sync()
    assert holders(table) == {"hose.md": ["desk", "shed"]}


def test_note_is_removed_with_its_last_holder(machine, table) -> None:
    desk, shed = machine("desk", notes=HOSE), machine("shed", notes=HOSE)
    desk.sync()
    shed.sync()

    (notes_of(desk) / "hose.md").unlink()
    desk.sync()
    assert holders(table) == {"hose.md": ["shed"]}
    assert [hit.path for hit in desk.search("irrigation").results] == ["//shed/hose.md"]

    (notes_of(shed) / "hose.md").unlink()
    shed.sync()
    assert rows_of(table) == []


def test_missing_folder_removes_no_rows(machine, table) -> None:
    """As with a drive that is not mounted."""
    desk, shed = machine("desk", notes=HOSE), machine("shed", notes={"own.md": "# Own\n"})
    for memory in (desk, shed):
        memory.sync()
    before, folder = rows_of(table), notes_of(desk)

    away = folder.rename(folder.with_name("away"))
    assert "does not exist" in desk.sync().error
    assert "does not exist" in desk.sync(force=True).error
    assert rows_of(table) == before

    away.rename(folder)
    assert not desk.sync().error
    assert [hit.path for hit in shed.search("irrigation").results] == ["//desk/hose.md"]


def test_other_machines_rows_untouched(machine, table) -> None:
    machine("desk", notes=HOSE).sync()
    before = rows_of(table)

    shed = machine("shed", notes={"own.md": "# Own\n"})
    shed.sync()
    shed.sync(force=True)
    (notes_of(shed) / "own.md").unlink()
    shed.sync()

    assert rows_of(table) == before


def test_nothing_is_embedded_on_two_machines(machine, provider) -> None:
    desk, shed = machine("desk", notes=HOSE), machine("shed", notes=HOSE)
    desk.sync()
    embedded = len(provider.embedded)

    report = shed.sync()

    assert len(provider.embedded) == embedded > 0
    assert (report.vectors_embedded, report.vectors_pending) == (0, 0)
    assert report.vectors_reused == embedded
    assert shed.search("irrigation").mode == "hybrid"


def test_lost_index_reuses_vectors_of_table(machine, provider, tmp_path) -> None:
    first = machine("desk", notes=HOSE)
    first.sync()
    first.close()
    embedded = len(provider.embedded)
    for file in (tmp_path / "desk/data").rglob("index.sqlite*"):
        file.unlink()

    again = machine("desk")
    again.sync()

    assert len(provider.embedded) == embedded
    assert [hit.path for hit in again.search("irrigation").results] == ["hose.md"]


def test_text_shared_before_embedding_ends(machine, provider, monkeypatch) -> None:
    monkeypatch.setattr(table_sync, "_LONG_EMBEDDING", 1)
    desk, shed = machine("desk", notes=HOSE), machine("shed", notes={"own.md": "# Own\n"}, use=None)
    seen: list[list[str]] = []
    provider.before = lambda texts: seen.append([hit.path for hit in shed.search("irrigation").results])

    desk.sync()

    assert seen == [["//desk/hose.md"]]
    assert all(row["vector"] is not None for row in rows_of(desk.table.location().uri) if row["ordinal"] >= 0)


def test_vectors_added_once_provider_exists(machine, table) -> None:
    plain = machine("desk", notes=HOSE, use=None)
    plain.sync()
    plain.close()
    assert "vector" not in rows_of(table)[0]

    desk = machine("desk")
    desk.sync()

    assert [row["vector"] is not None for row in rows_of(table) if row["ordinal"] >= 0] == [True]
    assert desk.search("irrigation").mode == "hybrid"
    assert desk.status().vector.rows == 1


def test_changed_chunking_rewrites_rows(machine, table) -> None:
    lines = (f"Line {number} of the long note about hoses.\n\n" for number in range(60))
    first = machine("desk", notes={"long.md": "# Long\n\n" + "".join(lines)})
    first.sync()
    first.close()
    before = len(rows_of(table))

    again = machine("desk", chunking=ChunkingSettings(tokens=64, overlap=0))
    again.sync()

    rows = rows_of(table)
    assert len(rows) > before
    assert doubled(rows) == []
    assert sorted(row["ordinal"] for row in rows) == list(range(-1, len(rows) - 1))
    assert again.status().chunks == len(rows) - 1


def test_changed_date_is_shared(machine, table) -> None:
    desk = machine("desk", notes=HOSE)
    desk.sync()
    os.utime(notes_of(desk) / "hose.md", (1_000_000, 1_000_000))

    desk.sync()

    assert {row["mtime_ns"] for row in rows_of(table)} == {10**15}
    assert desk.search("irrigation", until=2_000_000).results


def test_each_date_of_front_matter_is_shared(machine) -> None:
    notes = {"hose.md": "---\ncreated: 2019-06-05\nupdated: 2021-01-02\n---\nThe irrigation hose.\n"}
    machine("desk", notes=notes).sync()
    laptop = machine("laptop")
    laptop.sync()

    found = {day: laptop.search(f"on:{day} irrigation").results for day in ("2019-06-05", "2021-01-02", "2020-01-01")}

    assert [bool(results) for results in found.values()] == [True, True, False]


def test_cancelled_sync_is_completed_by_next(machine, table) -> None:
    desk = machine("desk", notes={f"{number}.md": f"# Note {number}\n\nThe hose.\n" for number in range(5)})
    token = CancelToken()

    report = desk.sync(cancel=token, progress=lambda update: token.cancel() if update.phase == "publishing" else None)

    assert report.cancelled
    assert not desk.sync().error
    assert len(holders(table)) == 5


def test_an_unchanged_sync_commits_nothing(machine) -> None:
    desk = machine("desk", notes=HOSE)
    desk.sync()
    version = desk.table.view(fresh=True).version

    assert not desk.sync().error

    assert desk.table.view(fresh=True).version == version


def test_two_workspaces_keep_separate_holders(machine, table) -> None:
    one, two = machine("desk", notes=HOSE), machine("shed", notes={"own.md": "# Own\n\nA hose.\n"})
    for memory in (one, two, one):
        memory.sync()

    assert set(holders(table)) == {"hose.md", "own.md"}


def test_status_lists_machines_and_address(machine, table) -> None:
    machine("shed", notes={"own.md": "# Own\n\nA hose.\n"}).sync()
    desk = machine("desk", notes=HOSE)
    desk.sync()

    status = desk.status()

    assert (status.backend, status.files, status.chunks, status.vector.rows) == ("lancedb", 2, 2, 2)
    assert status.db_path == f"{table}/notes"
    assert status.custom["table"] == {
        "address": f"{table}/notes",
        "remote": False,
        "consent": None,
        "version": desk.table.view().version,
        "machine": "desk",
        "machines": ["desk", "shed"],
        "ownFiles": 1,
        "ownChunks": 1,
    }
    assert msgspec.json.encode(status)


def test_many_changes_keep_old_versions_for_readers(machine, monkeypatch, table) -> None:
    monkeypatch.setattr("engine.backends.lancedb.table_writer._UNINDEXED", 1)
    desk = machine("desk", notes=HOSE)
    desk.sync()
    reader = desk.table.view()

    write(notes_of(desk), {"other.md": "# Other\n\nA second hose.\n"})
    desk.sync()

    import lancedb

    stats = lancedb.connect(table).open_table("notes").index_stats("terms_idx")
    assert stats.num_unindexed_rows == 0
    assert len(reader.where("ordinal >= 0")) == 1  # the version of the table that it reads still exists
    assert len(desk.search("hose").results) == 2


def test_table_folder_among_notes_is_refused(machine, tmp_path) -> None:
    from engine.settings.backend_settings import LanceDbSettings

    inside = LanceDbSettings(uri=str(tmp_path / "desk/notes/table"))
    desk = machine("desk", notes=HOSE, lancedb=inside)

    report = desk.sync()

    assert "can't be stored among the notes" in report.error
    assert report.files_indexed == 1
