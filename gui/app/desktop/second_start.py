"""Does in the program that runs what a later start asked for."""

import logging
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Slot

from gui.app.desktop.ipc_message import IpcMessage
from gui.app.options import Options, parse_options
from gui.app.start_view import show_view
from gui.style.appearance import Appearance
from gui.widgets.raise_window import bring_to_front, use_token
from gui.window.main_window import MainWindow
from gui.window.quick_search import QuickSearchController

log = logging.getLogger(__name__)


class SecondStart(QObject):
    """Hears the listener."""

    def __init__(self, window: MainWindow, quick: QuickSearchController, appearance: Appearance) -> None:
        super().__init__(window)
        self._window = window
        self._quick = quick
        self._appearance = appearance

    @Slot(object)
    def serve(self, message: IpcMessage) -> None:
        """As if this program had been started like that, in the windows that it has."""
        try:
            options = parse_options(message.arguments)
        except SystemExit:  # the later start is of another version, and has been told nothing is wrong
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
