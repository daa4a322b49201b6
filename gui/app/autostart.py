"""Starts the program at login, by an entry of the system that other programs may change, too.

The state is always read from that entry, and never stored in the settings.
"""

import os
import subprocess
import sys
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction

from engine import Option, exporting, marked, read_file, tr
from gui.commands.commands import Commands
from gui.core.jobs import Jobs
from gui.core.window_banner import WindowBanner
from gui.settings.option_pages import OptionPlacement
from gui.settings.system_setting import SystemState, SystemSwitch


def autostart(config: Path | None) -> SystemState:
    """Return the login entry of this system, which starts the program without its window.

    `config`: the settings file to start with, if not the user's own.
    """
    words = start_command(config)
    if sys.platform == "win32":
        return RunKey(words)
    if sys.platform == "darwin":
        return LaunchAgent(words, Path.home() / "Library/LaunchAgents")
    return DesktopEntry(words, Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "autostart")


def start_command(config: Path | None) -> list[str]:
    """Return the command that starts this program; `-P` keeps Python from importing from the current folder."""
    python = Path(sys.executable)
    if sys.platform == "win32" and python.with_name("pythonw.exe").exists():
        python = python.with_name("pythonw.exe")  # without a console
    words = [sys.executable] if getattr(sys, "frozen", False) else [str(python), "-P", "-m", "gui"]
    if config is not None:
        words += ["--config", str(config.absolute())]
    return [*words, "--background"]


class DesktopEntry:
    """The login entry on Linux: a file of the XDG autostart specification."""

    def __init__(self, words: list[str], folder: Path) -> None:
        self._words = words
        self._file = folder / "mnemoscope.desktop"

    def is_on(self) -> bool:
        """Return whether the entry exists and is enabled: desktops disable an entry by adding a line to it."""
        try:
            text = read_file(self._file).decode("utf-8", "replace")
        except FileNotFoundError:
            return False
        lines = {"".join(line.split()).lower() for line in text.splitlines()}
        return not lines & {"hidden=true", "x-gnome-autostart-enabled=false"}

    def set_on(self, on: bool) -> None:
        """Write or delete the file that starts the program at login. Raises OSError."""
        if not on:
            self._file.unlink(missing_ok=True)
            return
        lines = (
            "[Desktop Entry]",
            "Type=Application",
            "Name=Mnemoscope",
            "Comment=Search notes and past AI sessions",
            f"Exec={' '.join(map(_quoted, self._words))}",
            "Icon=mnemoscope",
            "Terminal=false",
            "X-GNOME-Autostart-enabled=true",
        )
        _write(self._file, ("\n".join(lines) + "\n").encode())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with exporting(path) as file:
        file.write(content)


def _quoted(word: str) -> str:
    """Quote an argument by the Desktop Entry Specification: once for the command, once for the value of a key."""
    escaped = "".join(f"\\{char}" if char in '"`$\\' else char for char in word)
    return f'"{escaped}"'.replace("\\", "\\\\").replace("%", "%%")


class LaunchAgent:
    """The login entry on macOS: a property list."""

    LABEL = "mnemoscope"

    def __init__(self, words: list[str], folder: Path) -> None:
        self._words = words
        self._file = folder / f"{self.LABEL}.plist"

    def is_on(self) -> bool:
        import plistlib
        from xml.parsers.expat import ExpatError

        try:
            agent = plistlib.loads(read_file(self._file))
        except FileNotFoundError:
            return False
        except (ValueError, LookupError, TypeError, OverflowError, RecursionError, ExpatError) as error:
            raise OSError(tr("{path} cannot be read: {reason}", path=self._file, reason=error)) from error
        if not isinstance(agent, dict):
            return False
        return bool(agent.get("RunAtLoad")) and not agent.get("Disabled")

    def set_on(self, on: bool) -> None:
        if not on:
            self._file.unlink(missing_ok=True)
            return
        import plistlib

        agent = {"Label": self.LABEL, "ProgramArguments": self._words, "RunAtLoad": True, "ProcessType": "Interactive"}
        _write(self._file, plistlib.dumps(agent))


_RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"
_APPROVED = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
_VALUE = "Mnemoscope"

if sys.platform == "win32":
    import winreg

    class RunKey:
        """The login entry on Windows: a value of the user's `Run` registry key, which the task manager may disable."""

        def __init__(self, words: list[str]) -> None:
            self._words = words

        def is_on(self) -> bool:
            """Return whether the entry exists and is enabled; the task manager disables one by an odd first byte."""
            approved = _value(_APPROVED)
            off = isinstance(approved, bytes) and bool(approved) and bool(approved[0] & 1)
            return _value(_RUN) is not None and not off

        def set_on(self, on: bool) -> None:
            _delete(_APPROVED)
            if not on:
                _delete(_RUN)
                return
            with winreg.CreateKeyEx(winreg.HKEY_CURRENT_USER, _RUN, 0, winreg.KEY_SET_VALUE) as key:
                winreg.SetValueEx(key, _VALUE, 0, winreg.REG_SZ, subprocess.list2cmdline(self._words))

    def _value(path: str) -> object:
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, path) as key:
                return winreg.QueryValueEx(key, _VALUE)[0]
        except FileNotFoundError:
            return None

    def _delete(path: str) -> None:
        try:
            with winreg.OpenKey(winreg.HKEY_CURRENT_USER, path, 0, winreg.KEY_SET_VALUE) as key:
                winreg.DeleteValue(key, _VALUE)
        except FileNotFoundError:
            return


# --- Start at login: an entry of the menu, and a row of the settings --------------------------------------------------

_NAME = marked("Start at login")
_HELP = marked("When you log in, the program starts without its window: in the tray, and ready for the quick search.")
_REFUSAL = marked("Start at login was not changed. {reason}")
_COMMAND = "program.autostart"


class AutostartController(QObject):
    """Turns the start at login on and off, by an action in the menu and a switch in the settings.

    Errors of the action are shown in the banner.
    """

    def __init__(self, commands: Commands, jobs: Jobs, banner: WindowBanner, config: Path | None) -> None:
        """Add the action *Start at login* to the menu, before its last action."""
        super().__init__(commands.menu)
        self._action = action = QAction(tr(_NAME), commands.menu)
        action.setCheckable(True)
        commands.name(action, _COMMAND, marked("Start at login"))
        commands.menu.insertAction(commands.menu.actions()[-1], action)
        self._banner = banner
        self._requested = False
        """Whether the menu requested the last change."""
        option = Option(key=_COMMAND, kind="switch", help=_HELP, default=False)
        placed = OptionPlacement(option, "general", "", _NAME)
        self.switch = SystemSwitch(placed, "workspace", _REFUSAL, autostart(config), jobs, self)
        self.switch.changed.connect(self._show)
        self.switch.refused.connect(self._show_error)
        action.triggered.connect(self._write)
        commands.menu.aboutToShow.connect(self._read)

    @Slot()
    def _read(self) -> None:
        self._requested = True
        self.switch.refresh()

    @Slot(bool)
    def _write(self, on: bool) -> None:
        self._requested = True
        self.switch.switch(on)

    @Slot()
    def _show(self) -> None:
        self._action.setChecked(self.switch.on)
        self._requested = False

    @Slot(str)
    def _show_error(self, sentence: str) -> None:
        if self._requested:
            self._banner.show_error(sentence)
        self._requested = False
