"""The program as used with a screen reader: in a separate process on an X server, read and operated over AT-SPI."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_SERVICE = Path("/usr/share/dbus-1/services/org.a11y.Bus.service")
_ON_A_SCREEN = ("xvfb-run", "-a", "-s", "-screen 0 1400x900x24", "dbus-run-session", "--")
_COMMANDS = ("Xvfb", "xvfb-run", "dbus-run-session")


def _lacking() -> list[str]:
    if sys.platform != "linux":
        return ["AT-SPI"]
    lacking = [name for name in _COMMANDS if shutil.which(name) is None]
    if not _SERVICE.exists():
        lacking.append("at-spi2-core")
    try:
        ctypes.CDLL("libxcb-cursor.so.0")
    except OSError:
        lacking.append("libxcb-cursor0")
    return lacking


pytestmark = pytest.mark.skipif(bool(_lacking()), reason=f"A screen reader needs {', '.join(_lacking())}.")


def test_screen_reader_searches_hears_count_and_presses(tmp_path):
    settings = tmp_path / "settings.toml"
    settings.write_text('[defaults]\nprovider = "none"\n')
    homes = {name: str(tmp_path / name) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    homes["XDG_RUNTIME_DIR"] = str(tmp_path / "run")
    for home in homes.values():
        Path(home).mkdir(mode=0o700)
    done = subprocess.run(
        [*_ON_A_SCREEN, sys.executable, "-m", "tests.helpers.reader", str(settings)],
        env={**os.environ, **homes, "QT_QPA_PLATFORM": "xcb", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if not line.startswith("SpiRegistry")]
    assert done.returncode == 0, done.stdout + done.stderr
    assert lines[0] == "text box: Search"
    count = int(lines[1].split()[0])
    assert count >= 1
    assert lines[1] == f"{count} result{'' if count == 1 else 's'}"
    assert lines[2].startswith("row: ")
    assert "irrigation" in lines[2].lower()
    assert lines[3] == "pressed: Sessions, and heard the list Sessions"
    assert lines[4].startswith("message: ")
