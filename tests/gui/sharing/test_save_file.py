"""Files that are written completely or not at all."""

import errno
import os
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QStandardPaths

from engine import Settings
from gui.core.workspace import OpenWorkspace
from gui.sharing.export import SavingFailed, documents_folder, note_paths, save_whole

needs_modes = pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root can write everywhere")


@pytest.fixture
def notes(tmp_path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_save_writes_and_replaces_file(tmp_path, notes):
    target = tmp_path / "a.md"
    save_whole(target, b"one", notes=[notes])
    target.chmod(0o640)
    save_whole(target, b"two", notes=[notes])
    assert target.read_bytes() == b"two"
    assert target.stat().st_mode & 0o777 == 0o640
    assert _files(tmp_path) == ["a.md", "notes"]


def test_save_keeps_symlink(tmp_path, notes):
    real = tmp_path / "real.md"
    real.write_text("old")
    (tmp_path / "a.md").symlink_to(real)
    save_whole(tmp_path / "a.md", b"new", notes=[notes])
    assert (tmp_path / "a.md").is_symlink()
    assert real.read_text() == "new"


def test_full_disk_keeps_existing_file(tmp_path, notes, monkeypatch):
    target = tmp_path / "a.md"
    target.write_text("old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("gui.sharing.export.os.fsync", full)
    with pytest.raises(SavingFailed, match=r"^The disk of .* is full\. Free some space, or choose another folder\.$"):
        save_whole(target, b"new", notes=[notes])
    assert target.read_text() == "old"
    assert _files(tmp_path) == ["a.md", "notes"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_unsupported_path_is_reported(notes):
    with pytest.raises(SavingFailed, match=r"\.$"):
        save_whole(Path("/dev/full/a.md"), b"new", notes=[notes])


@needs_modes
def test_error_names_read_only_folder(tmp_path, notes):
    shut = tmp_path / "shut"
    shut.mkdir(mode=0o500)
    with pytest.raises(SavingFailed, match=r"shut cannot be written: choose another folder\.$"):
        save_whole(shut / "a.md", b"new", notes=[notes])


def test_permission_error_is_reported(tmp_path, notes, monkeypatch):
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("gui.sharing.export.os.open", refuse)
    with pytest.raises(SavingFailed, match=r"cannot be written: choose another folder\.$"):
        save_whole(tmp_path / "a.md", b"new", notes=[notes])


def test_error_names_missing_folder(tmp_path, notes):
    with pytest.raises(SavingFailed, match=r"no longer exists\. Choose another one\.$"):
        save_whole(tmp_path / "gone/a.md", b"new", notes=[notes])


def test_note_is_never_replaced(tmp_path, notes):
    note = notes / "a.md"
    note.write_text("mine")
    (tmp_path / "way").symlink_to(notes)
    for path in (note, tmp_path / "way/a.md"):
        with pytest.raises(SavingFailed, match=r"one of your notes"):
            save_whole(path, b"new", notes=[notes])
    assert note.read_text() == "mine"
    save_whole(notes / "new.md", b"new", notes=[notes])
    assert (notes / "new.md").read_bytes() == b"new"


def test_other_indexed_files_are_never_replaced(tmp_path, notes):
    for name in ("elsewhere", "sessions"):
        (tmp_path / name).mkdir()
    single = tmp_path / "single.md"
    searched = [notes / "a.md", tmp_path / "elsewhere/b.md", tmp_path / "sessions/c.jsonl", single]
    for file in searched:
        file.write_text("mine")
    sessions = msgspec.structs.replace(Settings().sessions, folders=(f"{tmp_path}/sessions",))
    settings = msgspec.structs.replace(Settings(), extra_paths=("../elsewhere", " ", str(single)), sessions=sessions)
    places = note_paths(OpenWorkspace(notes, settings, None, {}, None))
    for file in searched:
        with pytest.raises(SavingFailed, match=r"one of your notes"):
            save_whole(file, b"new", notes=places)
        assert file.read_text() == "mine"


def test_existing_file_is_not_replaced_without_consent(tmp_path, notes):
    (tmp_path / "a.md").write_text("mine")
    with pytest.raises(SavingFailed, match=r"already exists\. Choose another name\.$"):
        save_whole(tmp_path / "a.md", b"new", notes=[notes], may_replace=False)
    with pytest.raises(SavingFailed, match=r"is a folder"):
        save_whole(tmp_path, b"new", notes=[notes])


def test_dialogs_open_at_home_without_documents_folder(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda _: str(tmp_path / "Documents"))
    assert documents_folder() == str(Path.home())
    (tmp_path / "Documents").mkdir()
    assert documents_folder() == str(tmp_path / "Documents")
