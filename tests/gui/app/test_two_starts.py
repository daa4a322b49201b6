"""The program started more than once, each time in a separate process."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gui.__main__ import main
from gui.app.single_instance import SingleInstance
from tests.helpers.background import LONGEST_WAIT

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs Unix signals and sockets")

Starter = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def runtime() -> Iterator[Path]:
    """A folder with a short name, for the path of a socket in it."""
    with tempfile.TemporaryDirectory(prefix="m-") as folder:
        yield Path(folder)


@pytest.fixture
def start(tmp_path, runtime) -> Iterator[Starter]:
    """Return a function that starts the program with separate settings, and end it after the test."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Timer\n\nThe irrigation timer.\n")
    config = tmp_path / "settings.toml"
    config.write_text('[defaults]\nprovider = "none"\n')
    begun: list[subprocess.Popen[bytes]] = []

    def begin(*arguments: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "gui", "--config", str(config), *arguments]
        environment = os.environ | {"XDG_RUNTIME_DIR": str(runtime)}
        begun.append(subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE))
        return begun[-1]

    yield begin
    for process in begun:
        process.kill()
        process.communicate()


def _wait(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + LONGEST_WAIT
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def test_second_start_hands_over_and_sigterm_removes_socket(start, runtime, tmp_path):
    first = start("--workspace", str(tmp_path / "notes"))
    _wait(lambda: _found(runtime), "the first listens")
    second = start("--query", "timer")
    assert (second.wait(60), second.stderr.read()) == (0, b"")
    assert first.poll() is None
    first.send_signal(signal.SIGTERM)
    assert (first.wait(60), first.stderr.read()) == (0, b"")
    assert not _found(runtime)


def test_simultaneous_starts_become_one_instance(start, tmp_path):
    both = [start("--workspace", str(tmp_path / "notes")) for _ in range(2)]
    _wait(lambda: any(process.poll() is not None for process in both), "one of them hands over")
    assert sorted(process.poll() is None for process in both) == [False, True]
    assert {process.poll() for process in both} == {None, 0}


def test_killed_or_hung_instance_does_not_block_starts(start, runtime, tmp_path):
    killed = start("--workspace", str(tmp_path / "notes"))
    _wait(lambda: _found(runtime), "the first listens")
    killed.kill()
    killed.wait()
    left = _found(runtime)
    hung = start("--background")
    _wait(lambda: _found(runtime) != left, "the next program listens instead")
    hung.send_signal(signal.SIGSTOP)
    before = _found(runtime)
    third = start("--background")
    _wait(lambda: _found(runtime) != before, "the third takes over from the one that hangs")
    assert third.poll() is None
    assert start("--toggle").wait(60) == 0


def test_toggle_starts_program_when_none_runs(start, runtime, tmp_path):
    first = start("--toggle", "--workspace", str(tmp_path / "notes"))
    _wait(lambda: bool(_found(runtime)), "it stays, and listens")
    again = start("--toggle")
    assert (again.wait(60), again.stderr.read()) == (0, b"")
    assert first.poll() is None


def _found(runtime: Path) -> set[int]:
    """Return the sockets, each with its identity."""
    found = set()
    for folder, _, names in os.walk(runtime):  # passes over folders that vanish meanwhile, unlike rglob
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                if name.endswith(".socket"):
                    found.add(Path(folder, name).stat().st_ino)
    return found


def test_start_from_deleted_folder_uses_home(monkeypatch, tmp_path):
    stood = []

    def begin(*_: object) -> SingleInstance:
        stood.append(Path.cwd())
        return SingleInstance(forwarded=True)

    monkeypatch.setattr("gui.app.single_instance.begin", begin)
    monkeypatch.setenv("HOME", str(tmp_path))
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["--toggle"]) == 0
    assert stood == [tmp_path]
