"""The program's own files: private, complete, and without leftovers after a kill."""

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs
import pytest

from engine.base.private_files import (
    clean_up,
    data_folder,
    exporting,
    make_folder,
    remove_leftovers,
    replace_file,
    replacing,
    secure_folder,
    temporary_path,
    temporary_prefix,
    user_folder,
)
from engine.settings import settings_path
from tests.helpers.background import LONGEST_WAIT
from tests.helpers.processes import ended_process

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX file modes and signals")
_RUN = """
import logging, sys
from pathlib import Path
from engine import QueryRecord, configure_logging, open_memory
configure_logging()
logging.getLogger("engine").warning("something")
with_memory = open_memory(Path(sys.argv[1]))
with_memory.sync()
with_memory.search("garden")
with_memory.saved_searches.add_recent(QueryRecord(text="garden"))
with_memory.close()
"""
_HALF = """
import os, signal, sys
from pathlib import Path
from engine.base import private_files
with getattr(private_files, sys.argv[1])(Path(sys.argv[2])) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.fixture
def user_config() -> Path:
    folder = settings_path().parent
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def loose(folder: Path) -> list[str]:
    """Return files below a folder that others may read, and the folder itself."""
    return [str(path) for path in (folder, *folder.rglob("*")) if mode(path) & 0o077]


def homes(tmp_path: Path) -> dict[str, str]:
    names = {f"XDG_{kind}_HOME": str(tmp_path / kind.lower()) for kind in ("DATA", "CONFIG", "STATE", "CACHE")}
    return {**os.environ, "HOME": str(tmp_path / "home"), **names}


def test_files_of_the_program_are_private_under_any_umask(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.md").write_text("# Garden\n\nTomatoes.\n")
    for _ in range(2):
        arguments = [sys.executable, "-c", _RUN, str(tmp_path / "notes")]
        subprocess.run(arguments, env=homes(tmp_path), umask=0, check=True, timeout=LONGEST_WAIT)
        written = {path.name for path in tmp_path.rglob("*") if path.is_file()}
        assert {"index.sqlite", "user.sqlite", "workspace.json", "mnemoscope.log"} <= written
        assert loose(tmp_path / "data") == []
        assert loose(tmp_path / "state/mnemoscope") == []
        for path in (tmp_path / "data/mnemoscope").rglob("*"):  # as an older version left them
            path.chmod(0o755 if path.is_dir() else 0o644)


@pytest.mark.parametrize("home", ["/home/eva", "/home/eva/", "/", "//net/eva", "", "home", None])
@pytest.mark.parametrize("parent", ["/srv/eva", "/srv/eva/../all/", "~/eva", "eva", "", None])
def test_user_folder_is_that_of_platformdirs(
    monkeypatch: pytest.MonkeyPatch, home: str | None, parent: str | None
) -> None:
    names = {"HOME": home} | dict.fromkeys(("DATA_HOME", "CONFIG_HOME", "CACHE_HOME", "STATE_HOME"), parent)
    for name, value in names.items():
        variable = name if name == "HOME" else f"XDG_{name}"
        monkeypatch.delenv(variable) if value is None else monkeypatch.setenv(variable, value)
    assert user_folder("data") == Path(platformdirs.user_data_dir("mnemoscope", appauthor=False))
    assert user_folder("config") == Path(platformdirs.user_config_dir("mnemoscope", appauthor=False))
    assert user_folder("cache") == Path(platformdirs.user_cache_dir("mnemoscope", appauthor=False))
    assert user_folder("log") == Path(platformdirs.user_log_dir("mnemoscope", appauthor=False))


def test_modes_of_a_folder_are_repaired_but_not_of_a_linked_file(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    (folder / "index.sqlite").touch(0o644)
    (tmp_path / "theirs").touch(0o644)
    (folder / "link").symlink_to(tmp_path / "theirs")
    secure_folder(folder)
    assert (mode(folder), mode(folder / "index.sqlite"), mode(tmp_path / "theirs")) == (0o700, 0o600, 0o644)


def test_make_folder_leaves_existing_parents_as_they_are(tmp_path: Path) -> None:
    with umask(0):
        (tmp_path / "share").mkdir(mode=0o755)
        make_folder(tmp_path / "share/mnemoscope/indexes")
    assert [mode(tmp_path / name) for name in ("share", "share/mnemoscope", "share/mnemoscope/indexes")] == [
        0o755,
        0o700,
        0o700,
    ]


def test_file_modes_are_unchanged_on_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch(0o644)
    monkeypatch.setattr(sys, "platform", "win32")
    secure_folder(tmp_path)
    assert mode(tmp_path / "file") == 0o644


@pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o027, 0o640), (0o000, 0o666)])
def test_export_has_the_mode_that_the_umask_leaves(tmp_path: Path, mask: int, expected: int) -> None:
    with umask(mask), exporting(tmp_path / "new.md") as file:
        file.write(b"text")
    assert mode(tmp_path / "new.md") == expected
    (tmp_path / "new.md").chmod(0o604)
    with exporting(tmp_path / "new.md") as file:
        file.write(b"other")
    assert (mode(tmp_path / "new.md"), (tmp_path / "new.md").read_bytes()) == (0o604, b"other")
    assert not list(data_folder().glob("unfinished-*"))


def test_failed_replacing_changes_nothing(tmp_path: Path) -> None:
    replace_file(tmp_path / "file", b"old")

    def fail() -> None:
        with replacing(tmp_path / "file") as file:
            file.write(b"new")
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - our own
        fail()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", b"old")]


def test_kill_during_replace_leaves_removable_file(tmp_path: Path) -> None:
    target = tmp_path / ("long name " * 20 + "é")
    target.write_bytes(b"old")
    subprocess.run([sys.executable, "-c", _HALF, "replacing", str(target)], check=False, timeout=LONGEST_WAIT)
    assert len(list(tmp_path.iterdir())) == 2
    remove_leftovers(tmp_path)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_kill_while_exporting_is_cleaned_up_in_that_folder(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    arguments = [sys.executable, "-c", _HALF, "exporting", str(tmp_path / "documents/export.md")]
    subprocess.run(arguments, env=os.environ, check=False, timeout=LONGEST_WAIT)
    assert list((tmp_path / "documents").iterdir())
    clean_up()
    assert not list((tmp_path / "documents").iterdir())
    assert not list(data_folder().glob("unfinished-*"))


def test_kill_while_settings_are_written_is_cleaned_up(user_config: Path) -> None:
    subprocess.run([sys.executable, "-c", _HALF, "replacing", str(user_config / "settings.toml")], check=False)
    assert list(user_config.iterdir())
    clean_up()
    assert not list(user_config.iterdir())


def test_leftovers_of_running_processes_stay(tmp_path: Path) -> None:
    ours = temporary_path(tmp_path / "file")
    ours.touch()
    other = tmp_path / f".file.mnemoscope-{os.getppid()}-0123abcd.tmp"
    other.touch()
    (tmp_path / ".file.tmp").touch()
    remove_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {ours.name, other.name, ".file.tmp"}


def test_temporary_folders_of_ended_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = tmp_path / f"mnemoscope-shared-{ended_process()}-x1"
    (dead / "deep").mkdir(parents=True)
    (dead / "deep/session.md").write_text("text")
    alive = tmp_path / f"{temporary_prefix('demo')}x2"
    alive.mkdir()
    (tmp_path / "mnemoscope-notes").mkdir()
    clean_up()
    assert {path.name for path in tmp_path.iterdir()} == {alive.name, "mnemoscope-notes"}
