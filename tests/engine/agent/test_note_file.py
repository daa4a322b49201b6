"""A note is created whole and under a new name, or not at all; nothing else in the workspace changes."""

import errno
import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from engine.agent.note_file import locate_untouched, write_note
from engine.base.errors import NoteError
from engine.corpus.discovery import discover
from engine.records import WrittenNote
from engine.settings import Settings
from tests.helpers.processes import ended_process

STEM = "2026-05-31-drip-valve"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Create a workspace with a note outside the memory folder."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "garden.md").write_text("# Garden\n")
    return folder


def write(workspace: Path, text: str = "# Session\n") -> WrittenNote:
    return write_note(workspace, Settings(), STEM, text, "sessions/claude/a")


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def names_of(workspace: Path) -> set[str]:
    return {file.name for file in discover(workspace, Settings()).files}


def test_note_written_whole_and_notified(workspace: Path) -> None:
    note = write(workspace, "# Größe\n")
    file = workspace / "memory" / f"{STEM}.md"
    assert file.read_bytes() == "# Größe\n".encode()
    assert note.path == f"memory/{STEM}.md"
    assert note.digest == hashlib.sha256(file.read_bytes()).hexdigest()
    assert file.stat().st_nlink == 1
    assert locate_untouched(workspace, note) == file


def test_existing_note_never_overwritten(workspace: Path) -> None:
    paths = [write(workspace, f"{number}\n").path for number in range(3)]
    assert paths == [f"memory/{STEM}.md", f"memory/{STEM}-2.md", f"memory/{STEM}-3.md"]
    assert [(workspace / path).read_text() for path in paths] == ["0\n", "1\n", "2\n"]


def test_name_of_dangling_link_is_not_reused(workspace: Path, tmp_path: Path) -> None:
    write(workspace)
    (workspace / "memory" / f"{STEM}-2.md").symlink_to(tmp_path / "nowhere.md")
    assert write(workspace).path == f"memory/{STEM}-3.md"
    assert not (tmp_path / "nowhere.md").exists()


def test_new_memory_folder_keeps_other_notes_indexed(workspace: Path) -> None:
    """Without its marker, a memory folder would be the only indexed folder."""
    write(workspace)
    assert names_of(workspace) == {"garden.md", f"memory/{STEM}.md"}


def test_memory_file_in_workspace_needs_no_marker(workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("# Memory\n")
    write(workspace)
    assert files(workspace / "memory") == {f"{STEM}.md"}
    assert names_of(workspace) == {"MEMORY.md", f"memory/{STEM}.md"}


def test_existing_memory_folder_is_unchanged(workspace: Path) -> None:
    (workspace / "memory").mkdir()
    write(workspace)
    assert files(workspace / "memory") == {f"{STEM}.md"}


def test_nothing_is_written_through_a_link(workspace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (workspace / "memory").symlink_to(outside)
    with pytest.raises(NoteError, match="is a symbolic link, and notes are never saved through links"):
        write(workspace)
    assert files(outside) == set()


def test_file_named_like_folder_is_refused(workspace: Path) -> None:
    (workspace / "memory").write_text("mine")
    with pytest.raises(NoteError, match="is not a folder"):
        write(workspace)
    assert (workspace / "memory").read_text() == "mine"


def test_name_is_reserved_without_hard_links(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", link)
    assert [write(workspace, "a\n").path, write(workspace, "b\n").path] == [
        f"memory/{STEM}.md",
        f"memory/{STEM}-2.md",
    ]
    assert (workspace / "memory" / f"{STEM}.md").read_text() == "a\n"
    assert files(workspace / "memory") == {f"{STEM}.md", f"{STEM}-2.md", ".mnemoscope"}


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "disk of .* is full"),
        (errno.EROFS, "Make it writable"),
        (errno.EIO, "cannot be written to .*: Input/output error"),
    ],
)
@pytest.mark.parametrize("step", ["fsync", "link"])
def test_failed_write_explains_and_leaves_no_file(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, number: int, sentence: str, step: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    write(workspace)
    before = files(workspace)
    monkeypatch.setattr(os, step, fail)
    if step == "link":
        monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(NoteError, match=sentence):
        write(workspace)
    assert files(workspace) == before


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root can write everywhere")
def test_read_only_folder_is_reported(workspace: Path) -> None:
    workspace.chmod(0o555)
    with pytest.raises(NoteError, match="cannot be written"):
        write(workspace)
    workspace.chmod(0o755)


def test_writing_a_note_removes_leftovers_of_a_kill_only(workspace: Path) -> None:
    write(workspace)
    memory = workspace / "memory"
    dead, alive = ended_process(), os.getpid()
    of_another = f".{STEM}.md.mnemoscope-{alive}-0123abcd.tmp"
    for name in (f".{STEM}.md.mnemoscope-{dead}-0123abcd.tmp", of_another, ".mnemoscope-mine.tmp", "x.tmp"):
        (memory / name).write_text("half a no")
    left = workspace / f".memory.mnemoscope-{dead}-00000000.tmp"
    left.mkdir()
    (left / ".mnemoscope").write_text("")
    assert names_of(workspace) == {"garden.md", f"memory/{STEM}.md"}
    write(workspace)
    assert files(memory) == {
        *(".mnemoscope", f"{STEM}.md", f"{STEM}-2.md", ".mnemoscope-mine.tmp", "x.tmp"),
        of_another,
    }
    assert not left.exists()


def test_parallel_notes_get_unique_names(workspace: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        notes = list(pool.map(lambda number: write(workspace, f"{number}\n"), range(24)))
    assert sorted((workspace / note.path).read_text() for note in notes) == sorted(f"{n}\n" for n in range(24))
    assert len(files(workspace / "memory")) == 25
    assert names_of(workspace) == {"garden.md", *(note.path for note in notes)}


def test_changed_or_deleted_note_is_not_undone(workspace: Path) -> None:
    note = write(workspace)
    file = workspace / note.path
    file.write_text("mine now\n")
    with pytest.raises(NoteError, match="was changed"):
        locate_untouched(workspace, note)
    file.unlink()
    with pytest.raises(NoteError, match="no longer exists"):
        locate_untouched(workspace, note)


def test_record_of_a_file_elsewhere_is_not_undone(workspace: Path) -> None:
    """A record is stored in a file, and might be changed there."""
    note = write(workspace)
    (workspace / "garden.md").write_bytes((workspace / note.path).read_bytes())
    for path in ("garden.md", "memory/../garden.md", f"memory/./{STEM}.md"):
        with pytest.raises(NoteError, match="was changed"):
            locate_untouched(workspace, msgspec.structs.replace(note, path=path))


def test_memory_folder_made_meanwhile_is_used(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename

    def overtaken(self: Path, target: Path) -> Path:
        if not target.exists():
            target.mkdir()
            (target / "other.md").write_text("# Other\n")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", overtaken)
    assert (workspace / write(workspace).path).is_file()
    assert files(workspace) == {"garden.md", "memory/other.md", f"memory/{STEM}.md"}
