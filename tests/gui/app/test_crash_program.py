"""The whole program, in its own process, which crashes or restarts."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gui.app.command_line import parse_options
from gui.app.crash_controller import command_line
from tests.helpers.background import LONGEST_WAIT

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")


@pytest.fixture
def notes(tmp_path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Timer\n\nThe irrigation timer.\n")
    return folder


@pytest.fixture
def words_only(tmp_path) -> Path:
    config = tmp_path / "settings.toml"
    config.write_text('[defaults]\nprovider = "none"\n')
    return config


def _start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gui", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)


def _wait(process: subprocess.Popen[str], condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + LONGEST_WAIT
    while not condition():
        assert process.poll() is None, "The program has ended"
        assert time.monotonic() < deadline, "timeout"
        time.sleep(0.02)


def _end(process: subprocess.Popen[str], number: int) -> int:
    try:
        process.send_signal(number)
        process.communicate(timeout=LONGEST_WAIT)
    finally:
        process.kill()
    return process.returncode


def test_start_after_crash_reports_it_and_restores_query(notes, words_only, user_home):
    def question() -> str:
        locations = [json.loads(path.read_text()).get("last_view") for path in user_home.rglob("window.json")]
        return str(locations and locations[0]["row"] and locations[0]["query"]["text"])

    def log() -> str:
        return "".join(path.read_text() for path in user_home.rglob("mnemoscope.log"))

    process = _start("--workspace", notes, "--config", words_only, "--query", "irrigation")
    _wait(process, lambda: question() == "irrigation")
    assert _end(process, signal.SIGSEGV) == -signal.SIGSEGV
    [state] = user_home.rglob("window.json")
    before = state.stat().st_mtime_ns
    process = _start("--workspace", notes, "--config", words_only)
    _wait(process, lambda: state.stat().st_mtime_ns != before and question() == "irrigation")
    _wait(process, lambda: "An earlier run has crashed: Fatal Python error: Segmentation fault" in log())
    _end(process, signal.SIGKILL)


def test_restart_command_keeps_options_but_drops_query_and_view(monkeypatch, tmp_path):
    options = parse_options(
        [
            *("--config", str(tmp_path / "s.toml"), "--query", "therapy", "--theme", "dark", "--view", "index"),
            *("--language", "de"),
        ]
    )
    words = command_line(options, tmp_path / "notes")
    assert words[1:3] == ["-m", "gui"]
    assert words[3:] == [
        "--config",
        str(tmp_path / "s.toml"),
        "--theme",
        "dark",
        "--language",
        "de",
        "--workspace",
        str(tmp_path / "notes"),
    ]
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert command_line(parse_options(["--demo"]), tmp_path) == [sys.executable, "--demo"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_restart_starts_program_once(notes, words_only, user_home):
    """The first run is requested to restart; the second one opens the same folder, and is terminated normally.

    It speaks the language of the settings, not that of the first command line.
    """
    script = (
        "import os, sys\n"
        "from PySide6.QtCore import QTimer\n"
        "import gui.app.application, gui.app.crash_controller as guard\n"
        "from gui.app.command_line import parse_options\n"
        "watch = guard.CrashGuard.watch\n"
        "def watched(self, *parts):\n"
        "    watch(self, *parts)\n"
        "    restart = parts[0].settings.restart_requested\n"
        "    parts[2].opened.connect(lambda _: QTimer.singleShot(0, lambda: restart.emit('de')))\n"
        "guard.CrashGuard.watch = watched\n"
        "sys.exit(gui.app.application.run(parse_options(sys.argv[1:])))\n"
    )
    before = dict.fromkeys(_programs())
    arguments = ["--workspace", str(notes), "--config", str(words_only), "--language", "en"]
    quiet = subprocess.DEVNULL  # a pipe would be the second run's, too, and stay open
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=ROOT, stdout=quiet, stderr=quiet, check=False, timeout=60
    )
    assert done.returncode == 0
    restarted = [number for number in _programs() if number not in before and _has(number, str(notes))]
    try:
        assert len(restarted) == 1
        assert not _has(restarted[0], "--language")
    finally:
        for number in restarted:
            os.kill(number, signal.SIGTERM)
    deadline = time.monotonic() + LONGEST_WAIT
    while any(number in _programs() for number in restarted) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(number in _programs() for number in restarted)


def _programs() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _has(number: int, words: str) -> bool:
    try:
        return words in Path(f"/proc/{number}/cmdline").read_text()
    except OSError:
        return False
