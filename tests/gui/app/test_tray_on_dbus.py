"""The tray icon of the whole program, on a private D-Bus and X server."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.helpers.background import LONGEST_WAIT

ROOT = Path(__file__).resolve().parents[3]
pytest.importorskip("jeepney", reason="the tray of the test speaks D-Bus through jeepney")
pytestmark = pytest.mark.skipif(
    not (sys.platform.startswith("linux") and shutil.which("dbus-daemon") and shutil.which("Xvfb")),
    reason="a tray needs dbus-daemon and Xvfb",
)


@pytest.fixture
def bus(tmp_path) -> Iterator[str]:
    """The address of a private D-Bus."""
    command = ["dbus-daemon", "--session", "--nofork", "--print-address"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as daemon:
        yield daemon.stdout.readline().strip()
        daemon.terminate()


@pytest.fixture
def display() -> Iterator[str]:
    """The name of an X server without a screen, and without a tray of its own."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x800x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=(writing,), stderr=subprocess.DEVNULL) as server:
        os.close(writing)
        with os.fdopen(reading) as messages:
            yield f":{messages.readline().strip()}"
        server.terminate()


@pytest.fixture
def program(tmp_path, bus, display) -> Iterator["subprocess.Popen[bytes]"]:
    """The program with a note open; it stays when its window closes."""
    import PySide6.QtCore  # noqa: F401 - an import error is reported here

    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Timer\n\nThe irrigation timer.\n")
    config = tmp_path / "settings.toml"
    config.write_text('[defaults]\nprovider = "none"\nwindow.close_to_tray = true\n')
    environment = os.environ | {"DBUS_SESSION_BUS_ADDRESS": bus, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
    command = [sys.executable, "-m", "gui", "--config", str(config), "--workspace", str(notes)]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE) as process:
        yield process
        process.kill()


@pytest.fixture
def watcher(bus, program) -> Iterator["TrayWatcher"]:  # noqa: F821 - known once jeepney is
    from tests.helpers.tray_watcher import TrayWatcher

    watcher = TrayWatcher(bus)
    yield watcher
    watcher.close()


def _wait(condition: Callable[[], bool], process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + LONGEST_WAIT
    while not condition():
        if process.poll() is not None:
            errors = process.stderr.read().decode()
            if "xcb" in errors:
                pytest.skip("a library for X is missing")
            pytest.fail(f"The program ended: {errors}")
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_icon_follows_tray_and_menu_entries_work(program, watcher):
    watcher.appear()
    watcher.wait_for_item()
    assert watcher.property("IconPixmap")
    _wait(
        lambda: any(words.startswith(("Keyword search only", "Up to date")) for words in watcher.entries()),
        program,
    )
    assert {"Open Mnemoscope", "Quick search", "Update now", "Quit"} <= set(watcher.entries())
    watcher.press("Quick search")
    watcher.press("Open Mnemoscope")
    watcher.disappear()
    watcher.appear()
    watcher.wait_for_item()
    watcher.press("Quit")
    assert program.wait(60) == 0


def test_sigterm_quits_despite_close_to_tray(program, watcher):
    watcher.appear()
    watcher.wait_for_item()
    program.terminate()
    assert program.wait(60) == 0
    assert program.stderr.read() == b""
