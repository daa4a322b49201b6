"""Many files opened folder by folder: as safe as one by one."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.corpus.opening import FolderFiles
from engine.errors import PathRefused


@pytest.fixture
def files() -> Iterator[FolderFiles]:
    with closing(FolderFiles()) as opened:
        yield opened


def read(files: FolderFiles, path: Path) -> bytes:
    descriptor, state = files.open(str(path))
    try:
        return os.read(descriptor, state.st_size)
    finally:
        os.close(descriptor)


def test_files_of_many_folders_are_read(files: FolderFiles, tmp_path: Path) -> None:
    paths = [tmp_path / f"f{number % 5}" / f"{number}.txt" for number in range(20)]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_text(path.name)
    assert [read(files, path).decode() for path in paths] == [path.name for path in paths]


def test_links_folders_and_what_is_missing_are_refused(files: FolderFiles, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.txt").write_text("a")
    (tmp_path / "real/link.txt").symlink_to(tmp_path / "real/a.txt")
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    with pytest.raises(PathRefused):
        files.open(str(tmp_path / "real/link.txt"))
    with pytest.raises(PathRefused):
        files.open(str(tmp_path / "real"))
    with pytest.raises((PathRefused, NotADirectoryError)):
        files.open(str(tmp_path / "linked/a.txt"))
    with pytest.raises(FileNotFoundError):
        files.open(str(tmp_path / "real/b.txt"))


def test_a_folder_above_that_is_a_link_is_refused(files: FolderFiles, tmp_path: Path) -> None:
    (tmp_path / "real/below").mkdir(parents=True)
    (tmp_path / "real/below/a.txt").write_text("a")
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    with pytest.raises(PathRefused):
        files.open(str(tmp_path / "linked/below/a.txt"))


def test_a_folder_that_a_link_replaces_leads_nowhere_else(files: FolderFiles, tmp_path: Path) -> None:
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(name)
    assert read(files, tmp_path / "ours/a.txt") == b"ours"
    (tmp_path / "ours").rename(tmp_path / "moved")
    (tmp_path / "ours").symlink_to(tmp_path / "theirs")
    assert read(files, tmp_path / "ours/a.txt") == b"ours"
