"""Test session notes with killed processes, concurrent writers and a full disk."""

import contextlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.agent.note_file import write_note
from engine.base.errors import NoteError
from engine.corpus.discovery import discover
from engine.settings import Settings
from tests.helpers.note_worker import STEM, note_of

KILLS = int(os.environ.get("MNEMOSCOPE_KILLS", "6"))
ROOT = Path(__file__).parents[2]


def start(folder: Path, mark: str, *most: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.helpers.note_worker", str(folder), mark, *most]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n"
    return worker


def notes(folder: Path) -> list[Path]:
    return [Path(file.path) for file in discover(folder, Settings()).files]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


def test_kills_leave_only_complete_notes(workspace: Path) -> None:
    rng = random.Random(15)
    contents: dict[str, str] = {}
    for kill in range(KILLS):
        worker = start(workspace, f"w{kill}")
        time.sleep(rng.uniform(0, 0.06))
        worker.kill()
        out, _ = worker.communicate()
        contents |= dict.fromkeys((line for line in out.splitlines() if line.endswith(".md")), f"w{kill}")
        for note in notes(workspace):
            mark = note.read_text().partition(" ")[0]
            assert note.read_text() == note_of(mark), f"{note.name} is not whole"
    for path, mark in contents.items():
        assert (workspace / path).read_text() == note_of(mark), "a reported note exists and is unchanged"
    write_note(workspace, Settings(), STEM, "# Session\n", "sessions/a/1")
    assert not list((workspace / "memory").glob(".*.tmp"))


def test_concurrent_programs_never_overwrite_each_other(workspace: Path) -> None:
    workers = [start(workspace, mark, "20") for mark in ("one", "two", "three")]
    paths = [line for worker in workers for line in worker.communicate()[0].splitlines()]
    assert len(set(paths)) == len(paths) == 60
    marks = [note.read_text().partition(" ")[0] for note in notes(workspace)]
    assert sorted(marks) == ["one"] * 20 + ["three"] * 20 + ["two"] * 20


@pytest.fixture
def small_disk(workspace: Path) -> Iterator[Path]:
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "mnemoscope-test", str(workspace)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the privilege to mount a file system")
    yield workspace
    subprocess.run(["umount", "-l", str(workspace)], check=True)


def test_full_disk_leaves_no_partial_note(small_disk: Path) -> None:
    write_note(small_disk, Settings(), STEM, "# Session\n", "sessions/a/1")
    (small_disk / "ballast").write_bytes(b"\0" * (900 * 1024))
    with pytest.raises(NoteError, match=r"is full\. Free some space"):
        write_note(small_disk, Settings(), STEM, note_of("x"), "sessions/a/1")
    assert [path.name for path in (small_disk / "memory").iterdir() if path.suffix != ""] == [f"{STEM}.md"]


def test_disk_full_from_start_writes_no_note(small_disk: Path) -> None:
    (small_disk / "garden.md").write_text("# Garden\n")
    with (small_disk / "ballast").open("wb", buffering=0) as ballast, contextlib.suppress(OSError):
        while True:
            ballast.write(b"\0" * 4096)
    with pytest.raises(NoteError, match="is full"):
        write_note(small_disk, Settings(), STEM, "# Session\n", "sessions/a/1")
    assert [note.name for note in notes(small_disk)] == ["garden.md"]


def test_read_only_disk_is_reported(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(NoteError, match="Make it writable"):
        write_note(small_disk, Settings(), STEM, "# Session\n", "sessions/a/1")
