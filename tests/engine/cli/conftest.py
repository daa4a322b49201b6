import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.cli import main
from engine.settings import Settings
from tests.helpers.command_line import Answer, Run
from tests.helpers.fake_memory import FakeMemory


@dataclass
class LastOpened:
    """The arguments with which the command line last opened a memory."""

    folder: Path | None = None
    settings: Settings | None = None


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeMemory]:
    fake = FakeMemory()
    yield fake
    fake.close()


@pytest.fixture
def opened(memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> LastOpened:
    seen = LastOpened()

    def open_memory(workspace: Path, settings: Settings, *, background: bool) -> FakeMemory:
        assert not background
        seen.folder, seen.settings = workspace, settings
        memory.closed = False
        return memory

    monkeypatch.setitem(sys.modules, "engine.backends.opening", SimpleNamespace(open_memory=open_memory))
    return seen


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use an empty current directory; the user's own folders are empty, too."""
    for module in ("engine.settings.loading", "engine.logs"):
        monkeypatch.setattr(f"{module}.user_folder", tmp_path.joinpath)
    notes = tmp_path / "notes"
    notes.mkdir()
    monkeypatch.chdir(notes)
    return notes


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """Write a settings file for a real index in `data`, with keyword search only."""
    path = tmp_path / "words.toml"
    path.write_text(f'[defaults]\nprovider = "none"\nstore.path = "{(tmp_path / "data").as_posix()}"\n')
    return path


@pytest.fixture
def verb(settings: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a verb on the real index of the current directory."""

    def call(*argv: str) -> Answer:
        capsys.readouterr()
        code = main([*argv, "--config", str(settings)])
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return call


@pytest.fixture
def run(opened: LastOpened, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*argv: str) -> Answer:
        capsys.readouterr()
        code = main(argv)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Answer(code, captured.out, captured.err)

    return call


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def typing(
    settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Answer]:
    """Run a verb at a terminal with this input; standard error is the terminal's output."""

    def call(typed: str, *argv: str) -> Answer:
        terminal = Terminal()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", Terminal(typed))
            patch.setattr(sys, "stderr", terminal)
            patch.setenv("TERM", "xterm")
            code = main([*argv, "--config", str(settings)])
        return Answer(code, capsys.readouterr().out, terminal.getvalue())

    return call
