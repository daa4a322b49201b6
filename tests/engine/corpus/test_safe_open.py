"""Opening many files folder by folder is as safe as opening each by its path."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from engine.base.errors import PathRefused
from engine.corpus import safe_open
from engine.corpus.discovery import discover
from engine.corpus.note_reader import Unreadable, read_note
from engine.corpus.path_guard import PathGuard
from engine.corpus.safe_open import FolderFiles, open_binary
from engine.corpus.transcripts.session_stores import find_stores, locate_transcript
from engine.settings import Settings
from engine.settings.options import SessionSettings

_READS = 3000


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


def test_links_folders_and_missing_refused(files: FolderFiles, tmp_path: Path) -> None:
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


def test_link_that_replaces_a_folder_is_not_followed(files: FolderFiles, tmp_path: Path) -> None:
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(name)
    assert read(files, tmp_path / "ours/a.txt") == b"ours"
    (tmp_path / "ours").rename(tmp_path / "moved")
    (tmp_path / "ours").symlink_to(tmp_path / "theirs")
    assert read(files, tmp_path / "ours/a.txt") == b"ours"


@contextmanager
def swapping(folder: Path, outside: Path) -> Iterator[None]:
    """Replace `folder` by a link to `outside` and restore it, as often as possible."""
    aside, link = folder.with_name("aside"), folder.with_name("link")
    link.symlink_to(outside)
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            folder.rename(aside)
            link.rename(folder)
            folder.rename(link)
            aside.rename(folder)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _with_files(path: str) -> bytes:
    with closing(FolderFiles()) as files:
        return read(files, Path(path))


def _with_binary(path: str) -> bytes:
    with open_binary(path) as file:
        return file.read()


def _as_note(path: str) -> bytes:
    return read_note(path, "a.md", 100).text.encode()


@pytest.mark.parametrize("read_it", [_with_files, _with_binary, _as_note])
@pytest.mark.parametrize("depth", ["", "below"])
def test_reading_while_a_folder_becomes_a_link_stays_inside(
    tmp_path: Path, read_it: Callable[[str], bytes], depth: str
) -> None:
    for name, text in (("notes", "inside"), ("outside", "secret")):
        (tmp_path / name / depth).mkdir(parents=True)
        (tmp_path / name / depth / "a.md").write_text(text)
    path, seen = str(tmp_path / "notes" / depth / "a.md"), set()
    with swapping(tmp_path / "notes", tmp_path / "outside"):
        for _ in range(_READS):
            try:
                seen.add(read_it(path))
            except (PathRefused, Unreadable, FileNotFoundError):
                seen.add(b"")
    assert seen <= {b"inside", b""}


def test_listing_while_a_folder_becomes_a_link_stays_inside(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for folder, name in ((home / "notes", "ours.md"), (tmp_path / "outside", "theirs.md")):
        folder.mkdir(parents=True)
        (folder / name).write_text(name)
    guard, seen = PathGuard(home, Settings()), set()
    with swapping(home / "notes", tmp_path / "outside"):
        for _ in range(_READS // 3):
            seen.update(file.name for file in discover(home, Settings()).files)
            with suppress(PathRefused, FileNotFoundError):
                seen.add(str(guard.locate("notes/theirs.md")))
    # The folder's other name is inside the workspace, too.
    assert seen <= {"notes/ours.md", "aside/ours.md"}


def test_transcript_below_a_link_is_not_located(tmp_path: Path) -> None:
    (tmp_path / "store/project").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.jsonl").write_text("{}")
    settings = Settings(sessions=SessionSettings(folders=(str(tmp_path / "store"),)))
    (store,) = find_stores(settings)
    with swapping(tmp_path / "store/project", tmp_path / "outside"):
        for _ in range(_READS // 3):
            with pytest.raises((PathRefused, FileNotFoundError)):
                locate_transcript(f"{store.name}/project/a.jsonl", settings)


def test_reading_without_descriptors_still_refuses_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_open, "_BY_DESCRIPTOR", False)
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.md").write_text("text")
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    assert _with_binary(str(tmp_path / "real/a.md")) == b"text"
    assert _with_files(str(tmp_path / "real/a.md")) == b"text"
    assert [file.name for file in discover(tmp_path, Settings()).files] == ["real/a.md"]
    with pytest.raises(PathRefused):
        _with_binary(str(tmp_path / "linked/a.md"))
