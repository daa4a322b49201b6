import configparser
import plistlib
import re
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QAction

from gui.app import autostart
from gui.app.autostart import AutostartController, DesktopEntry, LaunchAgent, start_command

WORDS = ["/opt/a b/py", "-m", "gui", "--config", '/x/100 % "$HOME" `\\.toml', "--background"]


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "autostart"


@pytest.fixture(params=[DesktopEntry, LaunchAgent])
def system(request, folder) -> DesktopEntry | LaunchAgent:
    return request.param(WORDS, folder)


def test_autostart_on_off_leaves_no_file(system, folder):
    assert not system.is_on()
    system.set_on(False)
    system.set_on(True)
    system.set_on(True)
    assert system.is_on()
    assert len(list(folder.iterdir())) == 1
    system.set_on(False)
    assert not system.is_on()
    assert not list(folder.iterdir())


def _exec(folder: Path) -> list[str]:
    """Split the Exec line as the specification requires: first the value of the key, then the words of the command."""
    parser = configparser.RawConfigParser(strict=True)
    parser.optionxform = str
    parser.read(folder / "mnemoscope.desktop", "utf-8")
    value = parser["Desktop Entry"]["Exec"].replace("\\\\", "\\")
    quoted = re.findall(r'"((?:[^"\\]|\\.)*)"', value)
    return [re.sub(r"\\(.)", r"\1", word).replace("%%", "%") for word in quoted]


def test_desktop_entry_runs_exact_command(folder):
    DesktopEntry(WORDS, folder).set_on(True)
    assert _exec(folder) == WORDS


@pytest.mark.parametrize("line", ["Hidden=true", "X-GNOME-Autostart-enabled = false"])
def test_entry_disabled_by_desktop_is_off_and_can_be_enabled(folder, line):
    entry = DesktopEntry(WORDS, folder)
    entry.set_on(True)
    file = folder / "mnemoscope.desktop"
    file.write_text(file.read_text().replace("X-GNOME-Autostart-enabled=true", line))
    assert not entry.is_on()
    entry.set_on(True)
    assert entry.is_on()


def test_launch_agent_runs_exact_command(folder):
    agent = LaunchAgent(WORDS, folder)
    agent.set_on(True)
    file = folder / "mnemoscope.plist"
    written = plistlib.loads(file.read_bytes())
    assert written["ProgramArguments"] == WORDS
    file.write_bytes(plistlib.dumps(written | {"Disabled": True}))
    assert not agent.is_on()
    file.write_bytes(b"no list")
    with pytest.raises(OSError, match="cannot be read"):
        agent.is_on()


def test_autostart_command_has_settings_and_background_option(tmp_path):
    words = start_command(tmp_path / "own.toml")
    assert words[-3:] == ["--config", str(tmp_path / "own.toml"), "--background"]
    assert Path(words[0]).name.startswith("python")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="tests the folder of Linux desktops")
def test_entry_is_written_to_xdg_autostart_folder(user_home):
    autostart.autostart(None).set_on(True)
    assert (user_home / ".config/autostart/mnemoscope.desktop").exists()


# --- the menu's entry -------------------------------------------------------------------------------------------------


@pytest.fixture
def controller(window, jobs, folder, monkeypatch) -> AutostartController:
    monkeypatch.setattr(autostart, "autostart", lambda _: DesktopEntry(WORDS, folder))
    return AutostartController(window.commands.main_menu, jobs, window.banner, None)


def _entry(window) -> QAction:
    return window.findChild(QAction, "program.autostart")


def test_menu_shows_current_autostart_state(qtbot, window, controller, folder):
    action = _entry(window)
    assert action.isVisible()
    window.commands.menu.aboutToShow.emit()
    qtbot.waitUntil(lambda: not controller.switch.busy)
    assert not action.isChecked()
    DesktopEntry(WORDS, folder).set_on(True)
    window.commands.menu.aboutToShow.emit()
    qtbot.waitUntil(action.isChecked)


def test_menu_toggles_autostart(qtbot, window, controller, folder):
    action, entry = _entry(window), DesktopEntry(WORDS, folder)
    action.trigger()
    qtbot.waitUntil(entry.is_on)
    qtbot.waitUntil(lambda: not controller.switch.busy)
    assert action.isChecked()
    action.trigger()
    qtbot.waitUntil(lambda: not entry.is_on() and not controller.switch.busy)
    assert not action.isChecked()


def test_unwritable_autostart_is_reported_and_menu_stays_correct(qtbot, window, controller, folder):
    folder.write_text("a file in the way")
    action = _entry(window)
    action.trigger()
    qtbot.waitUntil(lambda: "Start at login was not changed" in window.banner.text)
    qtbot.waitUntil(lambda: not controller.switch.busy)


def test_settings_switch_reports_refusal_without_banner(qtbot, window, controller, folder):
    folder.write_text("a file in the way")
    refused = []
    controller.switch.refused.connect(refused.append)
    controller.switch.switch(True)
    qtbot.waitUntil(lambda: bool(refused) and not controller.switch.busy)
    assert "Start at login was not changed." in refused[0]
    assert not window.banner.text
    folder.unlink()
    controller.switch.switch(True)
    qtbot.waitUntil(_entry(window).isChecked)
