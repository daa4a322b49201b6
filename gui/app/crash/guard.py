"""Handles unexpected errors from the start of the program to its end."""

import logging
import sys
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, Slot

from engine import Settings
from gui.app.crash.controller import CrashController, ExceptionHooks
from gui.app.crash.report import CrashDump
from gui.app.options import Options
from gui.core.jobs import Jobs
from gui.core.workspace import Workspace
from gui.window.main_window import MainWindow

log = logging.getLogger(__name__)


def command_line(options: Options, folder: Path | None) -> list[str]:
    """Program and arguments for a restart: with the same settings and the folder that is open now, without a search."""
    bundled = getattr(sys, "frozen", False)
    words = [sys.executable] if bundled else [sys.executable, "-m", "gui"]
    if options.config is not None:
        words += ["--config", str(options.config.absolute())]
    if options.theme is not None:
        words += ["--theme", options.theme]
    if options.language is not None:
        words += ["--language", options.language]
    if options.demo:
        words.append("--demo")
    elif folder is not None:
        words += ["--workspace", str(folder)]
    return words


def start_anew(options: Options, folder: Path | None) -> bool:
    """Whether it was started; it outlives this process."""
    program, *arguments = command_line(options, folder)
    started, _ = QProcess.startDetached(program, arguments, str(Path.cwd()))
    return started


class CrashGuard(QObject):
    """From its making until `end` a crash of the process is written down; from `watch` on errors are shown."""

    def __init__(self, options: Options, log_file: Path, parent: QObject, *, remembers: bool) -> None:
        """`remembers`: whether this run may leave something behind."""
        super().__init__(parent)
        self._options = options
        self._log_file = log_file
        self._catching = ExceptionHooks(self)
        self._remains = CrashDump(log_file.parent) if remembers else None
        self._earlier = self._remains.begin() if self._remains is not None else ""
        self._window: MainWindow | None = None
        self._workspace: Workspace | None = None
        self._folder: Path | None = None
        self._anew = False
        self.way: CrashController | None = None

    def watch(self, window: MainWindow, jobs: Jobs, workspace: Workspace) -> None:
        """Show errors in this window from now on."""
        self._window = window
        self._workspace = workspace
        self.way = CrashController(window, self._catching, self._settings, self._log_file)
        self.way.restart_wanted.connect(self._restart)
        jobs.failed.connect(self._catching.hear_job)
        self._catching.begin()

    @Slot()
    def tell_earlier(self) -> None:
        """With the window on the screen: how an earlier run ended."""
        if self._earlier and self.way is not None:
            self.way.tell_earlier(self._earlier)

    def leave(self) -> None:
        """The window is closed: nothing can be shown any more, and the previous hooks are restored."""
        self._catching.end()

    def end(self) -> None:
        """The last step of the program; restarts it if the user chose so."""
        if self._remains is not None:
            self._remains.end()
        if self._anew and not start_anew(self._options, self._folder):
            log.error("The program could not be restarted")

    def _settings(self) -> Settings | None:
        opened = self._workspace.current if self._workspace is not None else None
        return None if opened is None else opened.settings

    @Slot()
    def _restart(self) -> None:
        opened = self._workspace.current if self._workspace is not None else None
        self._folder = None if opened is None else opened.folder
        self._anew = True
        if self._window is not None:
            self._window.quit()
