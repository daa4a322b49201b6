"""Starts and ends the program with its window; `--demo` gets copies of the sample notes, sessions and facts."""

import contextlib
import ctypes
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
import tomllib
import uuid
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSocketNotifier, Qt, QTimer, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

import engine
from engine import Fact, MemorySearchManager, MnemoscopeError, printable, temporary_prefix, tr
from gui.app.command_line import Options
from gui.app.crash_controller import CrashGuard, start_program
from gui.app.desktop_integration import DesktopIntegration, QuickSearchController
from gui.app.qt_setup import Collector, apply_language, install_message_handler
from gui.app.save_screenshot import Screenshot
from gui.app.single_instance import IpcAddress
from gui.app.start_view import show_view
from gui.core.jobs import Jobs
from gui.core.window_context import AppPaths
from gui.core.window_state import WindowState, load_state
from gui.core.workspace import OpenWorkspace, Workspace
from gui.style.appearance import Appearance
from gui.widgets.accessibility import describe_painted_widgets
from gui.widgets.icons import application_icon
from gui.window.main_window import MainWindow, PanelPreloader

_HOUR, _DAY = 3600, 86_400
_DATES = "dates.toml"
"""When each note was changed: packages and version control don't store that."""


class Demo:
    """Stores the demo's data in one temporary folder, which `close()` deletes.

    Attributes:
        workspace: the copied notes.
        session_folders: the copied sessions, a folder for each agent.
        config: a settings file of its own, so that choices in the demo don't change the user's.
        store: location of the index.
    """

    def __init__(self, config: Path | None = None) -> None:
        """`config`: settings file in place of the user's own."""
        self._folder = tempfile.TemporaryDirectory(prefix=temporary_prefix("demo"), ignore_cleanup_errors=True)
        self.workspace = Path(self._folder.name, "sample-notes")
        self.store = Path(self._folder.name, "index")
        with as_file(files("resources").joinpath("sample")) as sample:
            shutil.copytree(sample, self.workspace, ignore=shutil.ignore_patterns(_DATES))
            dates = tomllib.loads((sample / _DATES).read_text("utf-8"))
        with as_file(files("resources").joinpath("sample_sessions")) as sample:
            sessions = Path(shutil.copytree(sample, Path(self._folder.name, "sample-sessions")))
        self.session_folders = tuple(sorted(folder for folder in sessions.iterdir() if folder.is_dir()))
        for name, moment in dates.items():
            os.utime(self.workspace / name, (moment.timestamp(), moment.timestamp()))
        self.config = self._write_settings(config or engine.settings_path())

    def _write_settings(self, own: Path) -> Path:
        """Write a settings file with the window's options of the user's own file. The others there name the user's
        folders, models and tables, which the demo neither reads nor changes.
        """
        path = Path(self._folder.name, "settings.toml")
        values: dict[str, Any] = {"store.path": str(self.store)}
        with contextlib.suppress(OSError, engine.SettingsError):
            settings = engine.load_settings(config=own)
            options = ((option, engine.value_at(settings, option.key)) for option in engine.all_options())
            values |= {
                option.key: value
                for option, value in options
                if option.key.startswith("window.") and value != option.default
            }
        engine.save_settings(values, config=path)
        engine.save_setting("sessions.folders", tuple(map(str, self.session_folders)), self.workspace, path)
        return path

    @staticmethod
    def fill(manager: MemorySearchManager) -> None:
        """Store the sample's facts in the memory if it has none and supports facts."""
        now = time.time()
        sample_facts = tomllib.loads(files("resources").joinpath("sample_facts.toml").read_text("utf-8"))["fact"]
        facts = []
        for fact in sample_facts:
            made = now - fact.pop("days", 0) * _DAY - fact.pop("hours", 0) * _HOUR
            ended = now - _DAY if "forgotten_by" in fact else None
            facts.append(Fact(id=str(uuid.uuid4()), created=made, changed=made, forgotten=ended, **fact))
        with contextlib.suppress(MnemoscopeError):
            if not manager.facts.all():
                manager.facts.revert_to(*facts)

    def close(self) -> None:
        self._folder.cleanup()


log = logging.getLogger(__name__)

_CLOSE_MS = 900
_HEAPS = 2
"""The main heap, and one that the pool's threads share."""
_LARGE = 4 * 1024 * 1024
"""Bytes from which a block gets its own pages, and of unused memory at the end of the main heap. From 1 MB on, pages
of the embedding model's arrays were fetched again for each batch, 4 % of the time of an index.
"""
_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1
"""Options of `mallopt`, from glibc's `malloc.h`."""
_NO_DISPLAY = (
    "There is no display to open a window on. Use --screenshot FILE.png for a picture of it, or one of the commands "
    "that mnemoscope --help lists."
)


def run(options: Options, address: IpcAddress | None = None) -> int:
    """Run the program with its window, and return the exit code.

    `address`: where this program listens for later starts; None if it doesn't.
    """
    if not _has_display():
        if options.screenshot is None:
            _print_problem(_NO_DISPLAY)
            return 1
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    if options.demo and options.config is not None and (problem := _read_settings(options.config)[1]):
        _print_problem(problem)  # the demo opens with its own settings, without a message about this file
        return 1
    limit_heaps()
    log_file = engine.configure_logging()
    install_message_handler()
    app = QApplication.instance() or QApplication([sys.argv[0]])
    assert isinstance(app, QApplication)
    app.setApplicationName("mnemoscope")
    app.setApplicationDisplayName("Mnemoscope")
    app.setDesktopFileName("mnemoscope")
    app.setWindowIcon(application_icon())
    describe_painted_widgets()
    program = _Program(app, options, log_file, address)
    try:
        return program.run()
    finally:
        qInstallMessageHandler(None)  # Qt prints its messages itself again


def limit_heaps() -> None:
    """Make glibc return the memory that a job no longer needs; call it before the first thread starts.

    By default each pool thread gets its own heap, which stays as large as its largest job made it. One freed block
    of 30 MB makes all blocks up to that size part of these heaps. After 400 actions in all views the window had
    541 MB, with these limits it has 387 MB.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform.startswith("linux") else None
    if mallopt is not None:
        mallopt(_ARENA_MAX, _HEAPS)
        mallopt(_MMAP_THRESHOLD, _LARGE)
        mallopt(_TRIM_THRESHOLD, _LARGE)


class _Program:
    """Creates, starts and ends the objects that live as long as the window."""

    def __init__(self, app: QApplication, options: Options, log_file: Path, address: IpcAddress | None) -> None:
        self._app = app
        self._options = options
        self._problem = ""
        self._collector = Collector(app)
        # Screenshots and the demo must neither depend on nor change the saved state of the user's window.
        self._remembers = options.screenshot is None and not options.demo
        self._guard = CrashGuard(options, log_file, app, remembers=self._remembers)
        self._state = load_state() if self._remembers else WindowState()
        apply_language(app, options.language or "system")  # for messages about the settings
        settings, self._settings_problem = _read_settings(options.config)
        apply_language(app, options.language or settings.window.language)
        self._last_folder = settings.workspace
        self._appearance = Appearance(
            app,
            options.theme or settings.window.theme,
            settings.window.font_scale,
        )
        self._demo = Demo(options.config) if options.demo else None
        config = self._demo.config if self._demo else options.config
        self._jobs = Jobs()
        self._workspace = Workspace(
            self._jobs,
            config=config,
            store_path=str(self._demo.store) if self._demo else "",
            prepare=self._demo.fill if self._demo else None,
        )
        with self._appearance.bare():
            self._window = MainWindow(
                self._workspace,
                self._jobs,
                self._appearance,
                self._state,
                paths=AppPaths(config, log_file),
                remembers=self._remembers,
            )
        self._window.appearance_controller.begin(settings, theme_given=options.theme is not None)
        self._window.keyboard.custom_keys.load(settings.window.keys)
        self._guard.watch(self._window, self._jobs, self._workspace)
        # Otherwise, closing the last small window would end the program, and a hidden window would not.
        app.setQuitOnLastWindowClosed(False)
        self._window.closing.connect(app.quit, Qt.ConnectionType.QueuedConnection)
        # Before a window exists: from then on the desktop may ask the program to end.
        self._signals = _Signals(app, self._window.quit)
        self._quick = QuickSearchController(self._window, self._workspace, self._jobs)
        self._window.quick_requested.connect(self._quick.toggle)
        self._window.first_run.sample_requested.connect(self._open_sample)
        if not options.is_separate:
            DesktopIntegration(self._window, self._appearance, self._quick, settings, address)

    def run(self) -> int:
        if self._options.size is not None:
            self._window.resize(*self._options.size)
        elif self._options.screenshot is None and not self._window.state.geometry:  # Qt bounds a restored one
            self._window.resize(self._window.size().boundedTo(self._window.screen().availableSize()))
        PanelPreloader(self._window)
        if not (self._options.toggle or self._options.background):
            self._window.show()
        self._collector.freeze()
        QTimer.singleShot(0, self._window, self._begin)
        self._app.exec()
        self._signals.close()
        self._guard.exception_hooks.end()  # the window is closed and can't show errors any more
        return self._end()

    def _begin(self) -> None:
        """Open the folder, view or link that the command line names, once the window is visible."""
        options, window = self._options, self._window
        self._guard.report_earlier_crash()
        named = self._demo.workspace if self._demo else options.folder(Path.cwd())
        known = self._last_folder or next(iter(self._state.recent), "")
        linked = window.links.folder_of(options.link)
        last = Path(os.path.expanduser(known)) if known else None  # noqa: PTH111 - the other raises for an unknown user
        folder = named or linked or last
        if options.view == "first-run":
            window.folders.offer(named) if named else window.folders.show_welcome()
        elif self._settings_problem and not named:
            window.workspace_controller.show_settings_problem(
                self._settings_problem, (tr("Try again"), self._begin_again)
            )
        elif folder is not None:
            self._open_folder(folder.absolute())
        else:
            window.folders.show_welcome()
        if options.link:
            window.links.open(options.link)
        if options.toggle or options.view == "quick":
            self._quick.quick.call_up("" if options.screenshot else options.query)
        if options.screenshot is not None:
            shot = Screenshot(window, self._quick.quick, options.view, options.query, options.screenshot)
            shot.finished.connect(self._end_after_screenshot)

    def _open_folder(self, folder: Path) -> None:
        """Open a folder with the view and query of the command line."""
        options, window = self._options, self._window
        if self._remembers and options.view == "search" and not (options.query or options.link):
            window.session_restore.resume()
        window.folders.open(folder)
        # A screenshot searches when the index is complete: earlier answers would decide the selection.
        if options.view != "quick":
            show_view(window, options.view, "" if options.screenshot else options.query)
        if options.view == "crash":
            self._workspace.opened.connect(self._fail, Qt.ConnectionType.SingleShotConnection)

    def _begin_again(self) -> None:
        """Load the settings again, since the user may have fixed the file."""
        settings, self._settings_problem = _read_settings(self._options.config)
        self._last_folder = settings.workspace
        self._begin()

    def _open_sample(self) -> None:
        """Start the demo as a separate process, which saves nothing; this window still waits for a folder."""
        if not start_program(replace(self._options, demo=True, workspace=None), None):
            self._window.banner.show_error(tr("The sample notes could not be opened."))

    def _end_after_screenshot(self, problem: str) -> None:
        self._problem = problem
        self._app.quit()

    def _end(self) -> int:
        """Stop all work, close the memory and remove the demo; the window is hidden already."""
        ended = self._window.shut_down(_CLOSE_MS)
        if self._demo is not None:
            self._demo.close()
        code = 1 if self._problem else 0
        if self._problem:
            _print_problem(self._problem)
        if not ended:
            # The index is safe at any moment; a thread that does not listen must not keep the program alive.
            log.warning("Some work did not stop within %s ms", _CLOSE_MS)
            self._guard.end()
            logging.shutdown()
            os._exit(code)
        self._collector.close()
        self._window.deleteLater()
        self._guard.end()
        return code

    def _fail(self, _: OpenWorkspace) -> None:
        """Raise an uncaught error, for `--view crash`."""
        raise RuntimeError("Asked for with --view crash")


def _print_problem(sentence: str) -> None:
    """Print one line to stderr, if there is one: a program without a terminal (mnemoscope-gui on Windows) has none."""
    if sys.stderr is not None:
        sys.stderr.write(f"mnemoscope: {printable(sentence)}\n")
        sys.stderr.flush()


def _has_display() -> bool:
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def _read_settings(config: Path | None) -> tuple[engine.Settings, str]:
    """Return the settings and an empty text, or the defaults and a sentence why the file can't be used."""
    try:
        return engine.load_settings(config=config), ""
    except engine.SettingsError as error:
        return engine.Settings(), str(error)


class _Signals:
    """Ends the program on Ctrl+C and SIGTERM, which Qt's event loop alone would not notice."""

    def __init__(self, app: QApplication, end: Callable[[], object]) -> None:
        self._end = end
        self._wakeup_reader, self._wakeup_writer = socket.socketpair()
        self._wakeup_reader.setblocking(False)
        self._wakeup_writer.setblocking(False)
        self._notifier = QSocketNotifier(self._wakeup_reader.fileno(), QSocketNotifier.Type.Read, app)
        self._notifier.activated.connect(self._quit)
        self._before = [(number, signal.signal(number, lambda *_: None)) for number in (signal.SIGINT, signal.SIGTERM)]
        signal.set_wakeup_fd(self._wakeup_writer.fileno())

    def _quit(self) -> None:
        self._wakeup_reader.recv(64)
        self._end()

    def close(self) -> None:
        signal.set_wakeup_fd(-1)
        for number, handler in self._before:
            signal.signal(number, handler)
        self._notifier.setEnabled(False)
        self._wakeup_reader.close()
        self._wakeup_writer.close()
