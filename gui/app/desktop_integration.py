"""Quick search of one window; its tray, background mode, notifications and later starts, turned on by the settings."""

import logging
import os
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QTimer, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from engine import MemoryProviderStatus, Settings, SyncSummary, marked, tr, tr_count
from gui.app.autostart import AutostartController
from gui.app.command_line import Options, parse_options
from gui.app.ipc_server import IpcServer
from gui.app.single_instance import IpcAddress, IpcMessage
from gui.app.start_view import show_view
from gui.app.tray import Tray
from gui.commands.keymap import keymap
from gui.core.jobs import Jobs
from gui.core.workspace import OpenFailure, OpenWorkspace, Workspace
from gui.quick_search import Chosen, QuickPanel, QuickWindow
from gui.search.query_builder import SearchViewState
from gui.search.saved_search_cache import to_record
from gui.style.appearance import Appearance
from gui.text.formatting import duration
from gui.text.plain_text import message_box
from gui.window.main_window import MainWindow

log = logging.getLogger(__name__)

LONG_SECONDS = 20
"""Seconds; a shorter sync isn't worth a notification."""
_EXPLAINED = marked(
    "The window closes, and Mnemoscope keeps running in the tray: click its icon to reopen the window. The "
    "index stays up to date, and the quick search answers immediately. To exit, choose Quit in the menu of "
    "the icon."
)
_WITH_KEY = marked(
    "The window closes, and Mnemoscope keeps running in the tray: click its icon to reopen the window. The "
    "index stays up to date, and the quick search answers immediately. To exit, choose Quit in the menu of "
    "the icon, or press {key} in the window."
)


class QuickSearchController(QObject):
    """Connects the quick search with the open memory, and opens what the user chose in it."""

    def __init__(self, window: MainWindow, workspace: Workspace, jobs: Jobs) -> None:
        super().__init__(window)
        self._window = window
        self._workspace = workspace
        self._jobs = jobs
        self._panel: QuickPanel | None = None
        self._reason: tuple[str, str] | None = None
        """Why nothing can be searched, if the open memory doesn't say it: a title and a sentence."""
        workspace.opening.connect(self._show_opening)
        workspace.opened.connect(self._show_memory)
        workspace.failed.connect(self._show_failure)
        workspace.closed.connect(self._show_memory)

    @cached_property
    def quick(self) -> QuickWindow:
        """The window of the quick search, made when first needed."""
        panel = self._panel = QuickPanel(self._jobs)
        panel.chosen.connect(self._go_to)
        panel.window_requested.connect(self._show_window)
        quick = QuickWindow(panel)
        self._window.destroyed.connect(quick.deleteLater)
        self._workspace.feed.status_changed.connect(panel.show_status)
        panel.show_status(self._workspace.status)
        if self._reason is None:
            self._show_memory()
        else:
            panel.show_reason(*self._reason)
        return quick

    @Slot()
    def toggle(self) -> None:
        """Show the quick search, or hide it if it is visible."""
        self.quick.toggle()

    @Slot()
    def _show_memory(self) -> None:
        self._reason = None
        if self._panel is not None:
            opened = self._workspace.current
            self._panel.set_manager(None if opened is None else opened.manager)

    @Slot(object)
    def _show_opening(self, folder: Path) -> None:
        self._show_reason(tr("Opening {folder}…", folder=folder.name or folder), tr("The search starts in a moment."))

    @Slot(object)
    def _show_failure(self, failure: OpenFailure) -> None:
        self._show_reason(tr("{folder} cannot be opened", folder=failure.folder.name), failure.sentence)

    def _show_reason(self, title: str, sentence: str) -> None:
        self._reason = (title, sentence)
        if self._panel is not None:
            self._panel.show_reason(title, sentence)

    @Slot()
    def _show_window(self) -> None:
        self.quick.hide()
        self._window.bring_to_front()

    @Slot(object)
    def _go_to(self, chosen: Chosen) -> None:
        self._show_window()
        window, query = self._window, chosen.query
        window.views.switch("search")
        search = window.views.search
        search.controller.return_to(SearchViewState(query.subject, "relevance", query.max_results, chosen.position))
        search.controller.saved_searches.add_recent(to_record(query))
        if chosen.result is None:
            search.focus_list()
        else:
            search.skip_preview()  # the window's answer may be newer, and have another result at this position
            search.result_activated.emit(chosen.result, chosen.words)


class BackgroundMode(QObject):
    """Keeps the program in the tray when the window is closed, by handling its close event first."""

    def __init__(self, window: MainWindow, tray: Tray) -> None:
        super().__init__(window)
        self._window = window
        self._tray = tray
        self._quitting = False
        self._explanation: QMessageBox | None = None
        self.hides_on_close = False
        """Whether the program stays open when the window closes."""
        window.quit_requested.connect(self._record_quit)
        window.installEventFilter(self)

    @Slot()
    def _record_quit(self) -> None:
        self._quitting = True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is not self._window or event.type() != QEvent.Type.Close:
            return False
        if self._quitting or not (self.hides_on_close and self._tray.is_shown) or _session_ends():
            return False
        event.ignore()
        if self._window.state.tray_notice_shown:
            self._window.hide()
        else:
            self._explain()
        return True

    def _explain(self) -> None:
        """Explain background mode before the window is closed for the first time."""
        if self._explanation is not None:
            return
        key = keymap().first_key("window.quit")
        more = tr(_WITH_KEY, key=key) if key else tr(_EXPLAINED)
        title = tr("Mnemoscope stays open")
        box = self._explanation = message_box(self._window, title, tr("Mnemoscope stays open in the tray"), more)
        hide_button = box.addButton(tr("Stay in the tray"), QMessageBox.ButtonRole.AcceptRole)
        leave = box.addButton(tr("Quit"), QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(tr("Keep the window open"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(hide_button)
        hide_button.clicked.connect(self._hide_in_tray)
        leave.clicked.connect(self._window.quit)
        box.finished.connect(self._forget_explanation)
        box.open()

    @Slot()
    def _hide_in_tray(self) -> None:
        self._window.state.tray_notice_shown = True
        self._window.hide()

    @Slot()
    def _forget_explanation(self) -> None:
        if self._explanation is not None:
            self._explanation.deleteLater()
            self._explanation = None


def _session_ends() -> bool:
    """Return whether the desktop session is ending, which background mode must not block."""
    app = QApplication.instance()
    return isinstance(app, QGuiApplication) and app.isSavingSession()


class UpdateNotification(QObject):
    """Notifies the user of a long sync that ends while another program is in front.

    Syncs before the memory was opened are ignored.
    """

    def __init__(self, workspace: Workspace, window: QWidget, tray: Tray) -> None:
        super().__init__(window)
        self._window = window
        self._tray = tray
        self._name = ""
        self._last_sync: SyncSummary | None = None
        self._has_status = False
        self.enabled = True
        """Whether notifications are enabled."""
        workspace.opened.connect(self._handle_opened)
        workspace.feed.status_changed.connect(self._handle_status)

    @Slot(object)
    def _handle_opened(self, opened: OpenWorkspace) -> None:
        self._name = opened.folder.name or str(opened.folder)
        self._has_status = False

    @Slot(object)
    def _handle_status(self, status: MemoryProviderStatus | None) -> None:
        if status is None:
            return
        last, known, begun = status.last_sync, self._last_sync, self._has_status
        self._last_sync, self._has_status = last, True
        if not begun or last is None or last == known:
            return
        if self.enabled and last.seconds >= LONG_SECONDS and not last.cancelled and QApplication.activeWindow() is None:
            self._notify(*notification_texts(status, last, self._name))

    def _notify(self, title: str, sentence: str) -> None:
        if not self._tray.show_message(title, sentence):
            # Qt has no notifications without a tray; the task bar entry is highlighted instead
            QApplication.alert(self._window)


def notification_texts(status: MemoryProviderStatus, last: SyncSummary, name: str) -> tuple[str, str]:
    """Return title and text of the notification about a sync that has just ended; `name`: name of the folder."""
    if last.error:
        return tr("The index of {name} is not complete", name=name), last.error
    sentences = [
        tr_count(
            "{count:,} file can be searched. It took {time}.",
            "{count:,} files can be searched. It took {time}.",
            status.files,
            time=duration(last.seconds),
        )
    ]
    if failed := last.files_failed:
        sentences.append(tr_count("{count:,} file could not be read.", "{count:,} files could not be read.", failed))
    return tr("The index of {name} is ready", name=name), " ".join(sentences)


class SecondStart(QObject):
    """Carries out the arguments of later starts of the program in the windows of this one."""

    def __init__(self, window: MainWindow, quick: QuickSearchController, appearance: Appearance) -> None:
        super().__init__(window)
        self._window = window
        self._quick = quick
        self._appearance = appearance

    @Slot(object)
    def serve(self, message: IpcMessage) -> None:
        """Act as if this program had been started with the arguments in the message."""
        try:
            options = parse_options(message.arguments)
        except SystemExit:  # the later start is another version, with options that this one does not know
            log.warning("The message of a later start is invalid in this version")
            options = parse_options(())
        options = replace(options, workspace=options.folder(Path(message.directory)))
        if message.token:  # Wayland requires it, and Qt reads it as if it had been given to this process
            os.environ["XDG_ACTIVATION_TOKEN"] = message.token
        if options.toggle:
            self._quick.toggle()
        elif options.view == "quick":
            self._quick.quick.call_up(options.query)
        elif not options.background:
            self._show(options)

    def _show(self, options: Options) -> None:
        window = self._window
        if options.theme is not None:
            self._appearance.set_theme(options.theme)
        if options.size is not None:
            window.resize(*options.size)
        window.bring_to_front()
        current = window.workspace.current
        if options.view == "first-run":
            window.folders.offer(options.workspace) if options.workspace else window.folders.show_welcome()
            return
        folder = options.workspace or window.links.folder_of(options.link)
        if folder is not None and (current is None or current.folder != folder):
            window.folders.open(folder)
        if options.query or options.view != "search":
            show_view(window, options.view, options.query)
        if options.link:
            window.links.open(options.link)


class DesktopIntegration(QObject):
    """Creates tray, background mode, notifications and IPC server for one window, and turns them on by the settings."""

    def __init__(
        self,
        window: MainWindow,
        appearance: Appearance,
        quick: QuickSearchController,
        settings: Settings,
        address: IpcAddress | None,
    ) -> None:
        """`address`: address for later starts; None if each start is a separate program."""
        super().__init__(window)
        self._window = window
        self.tray = Tray(window.workspace, window)
        self.tray.window_requested.connect(window.bring_to_front)
        self.tray.quick_requested.connect(quick.toggle)
        self.tray.quit_requested.connect(window.quit)
        self._background_mode = BackgroundMode(window, self.tray)
        self._long_index = UpdateNotification(window.workspace, window, self.tray)
        if address is not None:
            # When the event loop runs: a later start takes a program that listens and doesn't answer for one that
            # hangs, but waits for one that is starting.
            second_start = SecondStart(window, quick, appearance)
            QTimer.singleShot(0, self, lambda: self._listen(address, second_start))
        jobs, config = window.context.jobs, window.context.paths.config
        autostart = AutostartController(window.commands.main_menu, jobs, window.banner, config)
        window.settings.switches.append(autostart.switch)
        for settings_known in (window.workspace.opened, window.workspace.settings_changed):
            settings_known.connect(self._handle_settings)
        self._apply_settings(settings)

    def _listen(self, address: IpcAddress, second_start: SecondStart) -> None:
        listener = IpcServer(address, self)
        listener.message_received.connect(second_start.serve)
        self._window.closing.connect(listener.close)  # later starts then open a new program instead of being lost

    @Slot(object)
    def _handle_settings(self, opened: OpenWorkspace) -> None:
        self._apply_settings(opened.settings)

    def _apply_settings(self, settings: Settings) -> None:
        window = settings.window
        self.tray.set_enabled(window.tray)
        self._background_mode.hides_on_close = window.close_to_tray
        self._long_index.enabled = window.notify
