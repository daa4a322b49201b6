"""Keeps the program accessible while its window is closed: tray, later starts, notifications, quick search."""

import logging
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Slot

from engine import Settings
from gui.app.desktop.autostart_controller import AutostartController
from gui.app.desktop.background_mode import BackgroundMode
from gui.app.desktop.ipc_address import IpcAddress
from gui.app.desktop.ipc_message import IpcMessage
from gui.app.desktop.ipc_server import IpcServer
from gui.app.desktop.tray import Tray
from gui.app.desktop.update_notification import UpdateNotification
from gui.app.options import Options, parse_options
from gui.app.start_view import show_view
from gui.core.jobs import Jobs
from gui.core.workspace import Opened
from gui.style.appearance import Appearance
from gui.widgets.raise_window import bring_to_front, use_token
from gui.window.main_window import MainWindow
from gui.window.quick_search import QuickSearchController

log = logging.getLogger(__name__)


class SecondStart(QObject):
    """Receives the messages of the listener."""

    def __init__(self, window: MainWindow, quick: QuickSearchController, appearance: Appearance) -> None:
        super().__init__(window)
        self._window = window
        self._quick = quick
        self._appearance = appearance

    @Slot(object)
    def serve(self, message: IpcMessage) -> None:
        """Act as if this program had been started with these arguments, in its existing windows."""
        try:
            options = parse_options(message.arguments)
        except SystemExit:  # the later start is another version with options that this one lacks
            log.warning("A later start asked for something that this version does not know")
            options = parse_options(())
        options = replace(options, workspace=options.folder(Path(message.directory)))
        use_token(message.token)
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
        bring_to_front(window)
        current = window.workspace.current
        if options.view == "first-run":
            window.folders.offer(options.workspace) if options.workspace else window.folders.ask()
            return
        folder = options.workspace or window.links.folder_of(options.link)
        if folder is not None and (current is None or current.folder != folder):
            window.folders.open(folder)
        if options.query or options.view != "search":
            show_view(window, options.view, options.query)
        if options.link:
            window.links.open(options.link)


class DesktopIntegration(QObject):
    """Creates these for one window, and enables them by the settings."""

    def __init__(
        self,
        window: MainWindow,
        jobs: Jobs,
        appearance: Appearance,
        quick: QuickSearchController,
        settings: Settings,
        address: IpcAddress | None,
        config: Path | None = None,
    ) -> None:
        """`address`: address for later starts; None if each start is a separate program.

        `config`: a settings file instead of the user's own.
        """
        super().__init__(window)
        self._window = window
        self.tray = Tray(window.workspace, window)
        self.tray.window_wanted.connect(self._show_window)
        self.tray.quick_wanted.connect(quick.quick.toggle)
        self.tray.quit_wanted.connect(window.quit)
        self._residing = BackgroundMode(window, self.tray)
        self._long_index = UpdateNotification(window.workspace, window, self.tray)
        self._listener = IpcServer(address, self) if address is not None else None
        if self._listener is not None:
            self._listener.asked.connect(SecondStart(window, quick, appearance).serve)
            window.closing.connect(self._listener.close)  # later starts open a new program, so that none is lost
        window.settings.add_switch(AutostartController(window.commands.all, jobs, window.banner, config).switch)
        for settings_known in (window.workspace.opened, window.workspace.settings_changed):
            settings_known.connect(self._hear)
        self._take(settings)

    @Slot(object)
    def _hear(self, opened: Opened) -> None:
        self._take(opened.settings)

    def _take(self, settings: Settings) -> None:
        wanted = settings.window
        self.tray.set_wanted(wanted.tray)
        self._residing.stays = wanted.close_to_tray
        self._long_index.wanted = wanted.notify

    @Slot()
    def _show_window(self) -> None:
        bring_to_front(self._window)
