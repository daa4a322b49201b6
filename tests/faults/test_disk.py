"""Test a full disk and a read-only folder: each yields one clear sentence, and no data is lost.

The disk is a small tmpfs, so these tests need permission to mount one.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.corpus.folder_walk import FoundFile
from engine.indexing.crashing_files import CrashRecord
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
    write_notes(notes, 2000, start=20)
    report = memory.sync()
    assert "disk is full" in report.error
    assert [r.path for r in memory.search("distinct205", mode="keyword").results] == ["n2.md"]
    indexed = memory.status().files
    assert 20 <= indexed < 2020

    subprocess.run(["mount", "-o", "remount,size=200m", str(small_disk)], check=True)
    report = memory.sync()
    assert (report.error, memory.status().files) == ("", 2020)
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


def test_disk_full_from_start_is_reported_on_open(small_disk: Path, tmp_path: Path) -> None:
    from engine.base.errors import StoreError

    notes = tmp_path / "notes"
    write_notes(notes, 1)
    fill(small_disk, leave=4096)
    with pytest.raises(StoreError, match=r"disk is full|cannot be written"):
        open_with_fake(notes, small_disk)


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
