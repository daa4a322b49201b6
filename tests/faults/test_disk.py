"""Test a full disk and a read-only folder: each yields one clear sentence, and no data is lost.

The disk is a small tmpfs, so these tests need permission to mount one.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.helpers.sync_worker import open_with_fake

SIZE_MB = 3
Mount = Callable[[str], None]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "mnemoscope-test", str(disk)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a memory file system")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def write_notes(folder: Path, count: int, start: int = 0) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(start, start + count):
        text = "\n\n".join(f"Note {number}, paragraph {p}: distinct{number * 100 + p} words." for p in range(60))
        (folder / f"n{number}.md").write_text(text)


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


def test_disk_full_from_start_is_reported_on_open(small_disk: Path, tmp_path: Path) -> None:
    from engine.base.errors import StoreError

    notes = tmp_path / "notes"
    write_notes(notes, 1)
    (small_disk / "ballast").write_bytes(b"\0" * (SIZE_MB * 1024 * 1024 - 4096))
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
