"""Tray, background mode, notifications and later starts of one window, turned on by the settings."""

import logging
import os
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Slot

from engine import Settings
from gui.app.autostart import AutostartController
from gui.app.background_mode import BackgroundMode
from gui.app.command_line import Options, parse_options
from gui.app.ipc_server import IpcServer
from gui.app.quick_search_controller import QuickSearchController
from gui.app.single_instance import IpcAddress, IpcMessage
from gui.app.start_view import show_view
from gui.app.tray import Tray
from gui.app.update_notification import UpdateNotification
from gui.core.workspace import Opened
from gui.style.appearance import Appearance
from gui.window.main_window import MainWindow

log = logging.getLogger(__name__)


class SecondStart(QObject):
    """Runs what later starts of the program request, in the windows of this one."""

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
            log.warning("A later start asked for something that this version does not know")
            options = parse_options(())
        options = replace(options, workspace=options.folder(Path(message.directory)))
        _use_token(message.token)
        if options.toggle:
            self._quick.quick.toggle()
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
        self.tray.window_requested.connect(self._show_window)
        self.tray.quick_requested.connect(quick.quick.toggle)
        self.tray.quit_requested.connect(window.quit)
        self._background_mode = BackgroundMode(window, self.tray)
        self._long_index = UpdateNotification(window.workspace, window, self.tray)
        if address is not None:
            # When the event loop runs: a later start takes a program that listens and doesn't answer for one that
            # hangs, but waits for one that is starting.
            second_start = SecondStart(window, quick, appearance)
            QTimer.singleShot(0, self, lambda: self._listen(address, second_start))
        jobs, config = window.context.jobs, window.context.paths.config
        window.settings.add_switch(AutostartController(window.commands.all, jobs, window.banner, config).switch)
        for settings_known in (window.workspace.opened, window.workspace.settings_changed):
            settings_known.connect(self._handle_settings)
        self._apply_settings(settings)

    def _listen(self, address: IpcAddress, second_start: SecondStart) -> None:
        listener = IpcServer(address, self)
        listener.message_received.connect(second_start.serve)
        self._window.closing.connect(listener.close)  # later starts then open a new program instead of being lost

    @Slot(object)
    def _handle_settings(self, opened: Opened) -> None:
        self._apply_settings(opened.settings)

    def _apply_settings(self, settings: Settings) -> None:
        window = settings.window
        self.tray.set_enabled(window.tray)
        self._background_mode.hides_on_close = window.close_to_tray
        self._long_index.enabled = window.notify

    @Slot()
    def _show_window(self) -> None:
        self._window.bring_to_front()


def _use_token(token: str) -> None:
    """Set the activation token of another process for the next window that is raised.

    Wayland requires it, and Qt reads it from the environment as if it had been given to this process.
    """
    if token:
        os.environ["XDG_ACTIVATION_TOKEN"] = token
