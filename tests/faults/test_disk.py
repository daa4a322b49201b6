"""Test a full disk and a read-only folder: each yields one clear sentence, and no data is lost.

The disk is a small tmpfs, so these tests need permission to mount one.
"""

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from engine.base.errors import DiskFull, IndexCorrupt
from engine.corpus.folder_walk import FoundFile
from engine.indexing.crashing_files import CrashRecord
from tests.helpers.health import findings
from tests.helpers.sync_worker import open_with_fake

SIZE_MB = 3
Mount = Callable[[str], None]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "mnemoscope-test", str(disk)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the privilege to mount a file system")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def write_notes(folder: Path, count: int, start: int = 0) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(start, start + count):
        text = "\n\n".join(f"Note {number}, paragraph {p}: distinct{number * 100 + p} words." for p in range(60))
        (folder / f"n{number}.md").write_text(text)


def fill(disk: Path, leave: int = 0) -> None:
    """Write a file that leaves `leave` bytes of the disk free."""
    (disk / "ballast").write_bytes(b"\0" * (SIZE_MB * 1024 * 1024 - leave))


def test_full_disk_stops_sync_and_index_survives(small_disk: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    write_notes(notes, 20)
    memory = open_with_fake(notes, small_disk)
    assert memory.sync().error == ""
    write_notes(notes, 500, start=20)
    report = memory.sync()
    assert "disk is full" in report.error
    assert [r.path for r in memory.search("distinct205", mode="keyword").results] == ["n2.md"]
    indexed = memory.status().files
    assert 20 <= indexed < 520
    index = findings(memory)["index"]
    assert index.state == "failed"
    assert "disk is full" in index.detail

    subprocess.run(["mount", "-o", "remount,size=200m", str(small_disk)], check=True)
    report = memory.sync()
    assert (report.error, memory.status().files) == ("", 520)
    assert findings(memory)["index"].state == "fine"
    memory.close()


def test_sync_continues_when_read_file_cannot_be_recorded(small_disk: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    write_notes(notes, 3)
    fill(small_disk)
    record = CrashRecord(small_disk)
    read = []
    with record.during_sync(forget=False):
        for file in sorted(notes.iterdir()):
            state = file.stat()
            found = FoundFile(file.name, str(file), "memory", state.st_size, state.st_mtime_ns)
            with record.reading(found):
                read.append(file.name)
    assert read == ["n0.md", "n1.md", "n2.md"]


def test_first_start_on_full_disk_is_reported(small_disk: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    write_notes(notes, 1)
    fill(small_disk, leave=4096)
    with pytest.raises(DiskFull, match="disk is full"):
        open_with_fake(notes, small_disk)


def fill_completely(disk: Path) -> None:
    with contextlib.suppress(OSError), (disk / "ballast").open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)


def indexed_then_killed(notes: Path, disk: Path) -> None:
    """Index the notes, then commit to both databases in a process that is killed, so that they have logs."""
    memory = open_with_fake(notes, disk)
    memory.sync()
    memory.close()
    command = """if True:
        import os, sys
        from pathlib import Path
        from tests.helpers.sync_worker import open_with_fake
        memory = open_with_fake(Path(sys.argv[1]), Path(sys.argv[2]))
        memory.sync()
        os.kill(os.getpid(), 9)"""
    write_notes(notes, 1, start=5)
    subprocess.run([sys.executable, "-c", command, str(notes), str(disk)], check=False, cwd=Path(__file__).parents[2])


@pytest.mark.parametrize("left", ["nothing", "logs", "logs without their index"])
def test_full_disk_is_searched_and_written_later(small_disk: Path, tmp_path: Path, left: str) -> None:
    notes = tmp_path / "notes"
    write_notes(notes, 5)
    indexed_then_killed(notes, small_disk)
    if left == "nothing":
        open_with_fake(notes, small_disk).close()
    logs = list(small_disk.rglob("*-wal"))
    assert len(logs) == (0 if left == "nothing" else 2)
    if left == "logs without their index":
        for file in small_disk.rglob("*-shm"):
            file.write_bytes(b"")
    fill_completely(small_disk)

    memory = open_with_fake(notes, small_disk)
    assert [r.path for r in memory.search("distinct205", mode="keyword").results] == ["n2.md"]
    assert [r.path for r in memory.search("distinct505", mode="keyword").results] == ["n5.md"]
    write_notes(notes, 1, start=6)
    if left != "logs":  # logs that can be emptied leave some room
        assert "disk is full" in str(memory.status().index_error)
        assert "disk is full" in memory.facts.read_only_reason
        assert "disk is full" in memory.sync().error

    (small_disk / "ballast").unlink()
    assert memory.sync().error == ""
    assert [r.path for r in memory.search("distinct605", mode="keyword").results] == ["n6.md"]
    assert (memory.status().index_error, memory.facts.read_only_reason) == (None, "")
    memory.facts.add("I prefer tea.")
    memory.close()


def test_damaged_index_on_full_disk_keeps_its_vectors(small_disk: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    write_notes(notes, 5)
    memory = open_with_fake(notes, small_disk)
    embedded = memory.sync().vectors_embedded
    memory.close()
    with contextlib.closing(apsw.Connection(str(memory.store.files.database))) as connection:
        connection.execute("DROP TABLE files_1")
    fill_completely(small_disk)
    memory = open_with_fake(notes, small_disk)
    with pytest.raises(IndexCorrupt, match="seems to be damaged"):
        memory.search("distinct205")
    assert not list(small_disk.rglob("*.damaged-*"))

    (small_disk / "ballast").unlink()
    with pytest.raises(IndexCorrupt, match="rebuilds it"):
        memory.search("distinct205")
    assert memory.sync().vectors_reused == embedded
    assert [r.path for r in memory.search("distinct205", mode="keyword").results] == ["n2.md"]
    memory.close()


def test_read_only_folder_answers_and_reports_reason(small_disk: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    write_notes(notes, 5)
    memory = open_with_fake(notes, small_disk)
    memory.sync()
    memory.close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)

    memory = open_with_fake(notes, small_disk)
    assert [r.path for r in memory.search("distinct205", mode="keyword").results] == ["n2.md"]
    assert "cannot be written" in memory.sync().error
    status = memory.status()
    assert "cannot be written" in status.index_error
    assert status.files == 5
    memory.close()
