"""Catches unexpected errors from the start of the program to its end, logs them and shows a crash dialog.

The dialogs open one at a time, once for each error, and never in a loop.
"""

import logging
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QProcess, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication, QTextOption
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from engine import Settings, marked, tr
from gui.app.command_line import Options
from gui.app.crash_dump import CrashDump
from gui.app.crash_report import Failure, failure_of, report
from gui.core.jobs import Jobs
from gui.core.workspace import Workspace
from gui.style.typography import fixed_font, resize_with_text
from gui.widgets.accessibility import announce
from gui.widgets.buttons import push_button
from gui.widgets.labels import breakable, label, line
from gui.widgets.layouts import column_of, row_of, scrolling_column
from gui.window.main_window import MainWindow

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

log = logging.getLogger(__name__)

_ENDS = (SystemExit, KeyboardInterrupt, GeneratorExit)
"""Exceptions that end a program or a generator on purpose."""
_MAX_DIALOGS = 5
"""Maximum number of dialogs per run; later errors are only logged."""
_MAX_REPORTED = 8
"""Maximum number of different errors in one report."""
_WIDTH, _HEIGHT = 680, 520
_MAX_WIDE = 1200
_REPORT_LINES = 7

NOW = marked("Something went wrong")
NOW_MORE = marked(
    "Mnemoscope ran into an unexpected error. Your notes are unchanged, and you can continue working. If "
    "something looks odd from now on, restart: you will return to this point."
)
EARLIER = marked("Mnemoscope crashed the last time it ran")
EARLIER_MORE = marked(
    "Your notes are unchanged, and the index repairs itself. The report says where the program stopped."
)
_PRIVATE = marked(
    "The report contains versions, the names of changed settings, and the location of the error in the program, but no "
    "text of notes, searches, file names or keys. It stays on this machine unless you send it."
)


class ExceptionHooks(QObject):
    """Logs uncaught errors between `begin` and `end`, and passes them as text to a listener on the GUI thread.

    The same error is logged in full once, and then at its tenth, hundredth, thousandth … occurrence: a failing paint
    event would fill the disk.
    """

    caught = Signal(object)
    """Failure. Connect queued: it may be raised while something is painted."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._times: dict[tuple[str, str], int] = {}
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook)

    def begin(self) -> None:
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        sys.excepthook = self._handle_gui_error
        threading.excepthook = self._handle_thread_error
        sys.unraisablehook = self._handle_unraisable

    def end(self) -> None:
        sys.excepthook, threading.excepthook, sys.unraisablehook = self._before

    @Slot(object)
    def report_job_error(self, error: BaseException) -> None:
        """Report an unexpected error of a job, which is in the log already."""
        self.caught.emit(failure_of(error, error.__traceback__, "in the background"))

    def _handle_gui_error(self, _: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Handle an uncaught error from a slot, a Qt event or a pool thread (`sys.excepthook`)."""
        here = threading.current_thread() is threading.main_thread()
        self._report_error(error, trace, "in the window" if here else "in the background")

    def _handle_thread_error(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self._report_error(args.exc_value, args.exc_traceback, "in the background")

    def _handle_unraisable(self, args: "UnraisableHookArgs") -> None:
        """Handle an error that Python can't raise (`sys.unraisablehook`), for example while an object is deleted."""
        if args.exc_value is not None:
            self._report_error(args.exc_value, args.exc_traceback, "in a destructor or callback")

    def _report_error(self, error: BaseException, trace: TracebackType | None, where: str) -> None:
        if isinstance(error, _ENDS):
            return
        try:
            failure = failure_of(error, trace, where)
            self._log(failure, error, trace)
            self.caught.emit(failure)
        except Exception:  # an error in this handler must not be reported through it
            sys.__excepthook__(type(error), error, trace)

    def _log(self, failure: Failure, error: BaseException, trace: TracebackType | None) -> None:
        times = self._times[failure.signature] = self._times.get(failure.signature, 0) + 1
        if times == 1:
            log.error("Unexpected error %s", failure.where, exc_info=(type(error), error, trace))
        elif str(times).strip("0") == "1":
            log.error("%s at %s: %s times by now", failure.kind, failure.location, times)


class CrashDialog(QDialog):
    """A dialog that shows the report on errors and offers to restart.

    It opens immediately over its parent, and is deleted when it closes.

    Signals: restart_requested: the user chose to restart.
    """

    restart_requested = Signal()

    def __init__(
        self, heading: str, sentence: str, report: str, log_file: Path | None, parent: QWidget, *, restart: bool
    ) -> None:
        """`restart`: whether to offer a restart of the program."""
        super().__init__(parent)
        self.setWindowTitle(heading)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._log_file = log_file
        self._report = QPlainTextEdit(report)
        self._report.setReadOnly(True)
        self._report.setFont(fixed_font())
        self._report.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._report.setTabChangesFocus(True)
        self._report.setAccessibleName(tr("Report"))
        self._report.setMinimumHeight(self._report.fontMetrics().lineSpacing() * _REPORT_LINES)
        self._copy = push_button(tr("Copy report"), role="primary")
        self._copy.setDefault(True)
        self._copy.clicked.connect(self._copy_report)
        self._restart = QPushButton(tr("Restart Mnemoscope"))
        self._restart.setVisible(restart)
        self._restart.clicked.connect(self._request_restart)
        self._close = push_button(tr("Continue") if restart else tr("Close"), self.reject)
        self._lay_out(heading, sentence)
        self.setAccessibleName(heading)
        self.setAccessibleDescription(sentence)
        resize_with_text(self, _WIDTH, _HEIGHT, parent)
        self.open()
        self._copy.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_report(self, text: str) -> None:
        """Replace the report by a longer one with later errors; the scroll position stays."""
        bar = self._report.verticalScrollBar()
        scrolled = bar.value()
        self._report.setPlainText(text)
        bar.setValue(scrolled)

    @property
    def report(self) -> str:
        return self._report.toPlainText()

    def _lay_out(self, heading: str, sentence: str) -> None:
        column = column_of(
            label(heading, "strong", wrap=True),
            label(sentence, wrap=True),
            (self._report, 1),
            label(tr(_PRIVATE), "meta", wrap=True),
            spacing=10,
            margins=(20, 16, 20, 8),
        )
        if self._log_file is not None:
            self._add_log(column, self._log_file)
        row = row_of(self._copy, self._restart, self._close, None, spacing=8, margins=(20, 10, 20, 14))
        column_of((scrolling_column(column, _MAX_WIDE), 1), line(), row, spacing=0, parent=self)

    def _add_log(self, column: QVBoxLayout, log_file: Path) -> None:
        path = label(breakable(tr("The log is {path}", path=log_file)), "meta", wrap=True)
        path.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        opener = push_button(tr("Open log folder"), self._open_folder)
        column.addWidget(path)
        column.addWidget(opener, 0, Qt.AlignmentFlag.AlignLeft)

    @Slot()
    def _copy_report(self) -> None:
        QGuiApplication.clipboard().setText(self.report)
        self._copy.setText(tr("Copied"))
        announce(self, tr("The report was copied to the clipboard."))

    @Slot()
    def _open_folder(self) -> None:
        if self._log_file is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._log_file.parent)))

    @Slot()
    def _request_restart(self) -> None:
        self.accept()
        self.restart_requested.emit()


class CrashController(QObject):
    """Shows new errors in one dialog, and counts repeated ones."""

    restart_requested = Signal()

    def __init__(
        self, window: QWidget, hooks: ExceptionHooks, settings: Callable[[], Settings | None], log_file: Path | None
    ) -> None:
        """`settings` returns the current settings; None if they are unknown."""
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._log_file = log_file
        self._failures: dict[tuple[str, str], tuple[Failure, int]] = {}
        self._opened = 0
        self.dialog: CrashDialog | None = None
        hooks.caught.connect(self.show_failure, Qt.ConnectionType.QueuedConnection)

    @Slot(object)
    def show_failure(self, failure: Failure) -> None:
        """Show a new error in a dialog; for a known one, only count it."""
        first, times = self._failures.get(failure.signature, (failure, 0))
        known = times > 0
        if not known and len(self._failures) >= _MAX_REPORTED:
            return
        self._failures[failure.signature] = (first, times + 1)
        if self.dialog is not None:
            self.dialog.show_report(self._report())
        elif not known and self._opened < _MAX_DIALOGS:
            self._opened += 1  # first, so that a failure below is reported as a separate error
            self._open(tr(NOW), tr(NOW_MORE), self._report(), restart=True)

    def report_earlier_crash(self, text: str) -> None:
        """Show the crash report of an earlier run."""
        if self.dialog is None:
            self._open(tr(EARLIER), tr(EARLIER_MORE), text, restart=False)

    def _report(self) -> str:
        return report(self._failures.values(), self._settings())

    def _open(self, heading: str, sentence: str, text: str, *, restart: bool) -> None:
        self.dialog = CrashDialog(heading, sentence, text, self._log_file, self._window, restart=restart)
        self.dialog.restart_requested.connect(self.restart_requested)
        self.dialog.finished.connect(self._forget)

    @Slot()
    def _forget(self) -> None:
        self.dialog = None


def command_line(options: Options, folder: Path | None) -> list[str]:
    """Return program and arguments for a restart with the same settings and the open folder, without a search."""
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


def start_program(options: Options, folder: Path | None) -> bool:
    """Start the program as a separate process; returns whether that succeeded."""
    program, *arguments = command_line(options, folder)
    started, _ = QProcess.startDetached(program, arguments, str(Path.cwd()))
    return started


class CrashGuard(QObject):
    """Writes a crash dump if the process crashes before `end`, and shows errors in the window after `watch`."""

    def __init__(self, options: Options, log_file: Path, parent: QObject, *, remembers: bool) -> None:
        """`remembers`: whether this run may store data."""
        super().__init__(parent)
        self._options = options
        self._log_file = log_file
        self.exception_hooks = ExceptionHooks(self)
        self._crash_dump = CrashDump(log_file.parent) if remembers else None
        self._earlier = self._crash_dump.begin() if self._crash_dump is not None else ""
        self._window: MainWindow | None = None
        self._workspace: Workspace | None = None
        self._folder: Path | None = None
        self._restart_chosen = False
        self.controller: CrashController | None = None

    def watch(self, window: MainWindow, jobs: Jobs, workspace: Workspace) -> None:
        """Show errors in this window from now on."""
        self._window = window
        self._workspace = workspace
        self.controller = CrashController(window, self.exception_hooks, self._settings, self._log_file)
        self.controller.restart_requested.connect(self._restart)
        window.settings.restart_requested.connect(self._restart_in)
        jobs.failed.connect(self.exception_hooks.report_job_error)
        self.exception_hooks.begin()

    @Slot()
    def report_earlier_crash(self) -> None:
        """Show the crash report of an earlier run, if there is one; the window must be visible."""
        if self._earlier and self.controller is not None:
            self.controller.report_earlier_crash(self._earlier)

    def end(self) -> None:
        """Delete the crash dump as the last step of the program; restart it if the user chose so."""
        if self._crash_dump is not None:
            self._crash_dump.end()
        if self._restart_chosen and not start_program(self._options, self._folder):
            log.error("The program could not be restarted")

    def _settings(self) -> Settings | None:
        opened = self._workspace.current if self._workspace is not None else None
        return None if opened is None else opened.settings

    @Slot()
    def _restart(self) -> None:
        opened = self._workspace.current if self._workspace is not None else None
        self._folder = None if opened is None else opened.folder
        self._restart_chosen = True
        if self._window is not None:
            self._window.quit()

    @Slot(str)
    def _restart_in(self, language: str) -> None:
        """Restart in the language of the settings, which the command line must not overrule.

        The demo's settings end with it, so there the command line names the language.
        """
        self._options = replace(self._options, language=language if self._options.demo else None)
        self._restart()
