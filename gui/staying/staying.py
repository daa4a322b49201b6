"""What keeps the program within reach while its window is not: tray, later starts, messages, quick search."""

from pathlib import Path

from PySide6.QtCore import QObject, Slot

from engine import Settings
from gui.appearance import Appearance
from gui.jobs import Jobs
from gui.main_window import MainWindow
from gui.quick.way import QuickWay
from gui.staying.address import Address
from gui.staying.autostart_way import AutostartWay
from gui.staying.front import bring_to_front
from gui.staying.later_start import LaterStart
from gui.staying.listener import Listener
from gui.staying.long_index import LongIndex
from gui.staying.residing import Residing
from gui.staying.tray import Tray
from gui.workspace import Opened


class Staying(QObject):
    """Puts these together for one window, and lets the settings decide which of them are wanted."""

    def __init__(
        self,
        window: MainWindow,
        jobs: Jobs,
        appearance: Appearance,
        quick: QuickWay,
        settings: Settings,
        address: Address | None,
        config: Path | None = None,
    ) -> None:
        """`address`: where later starts find this one; None where each is a program of its own.

        `config`: a settings file in place of the user's own.
        """
        super().__init__(window)
        self._window = window
        self.tray = Tray(window.workspace, window)
        self.tray.window_wanted.connect(self._show_window)
        self.tray.quick_wanted.connect(quick.quick.toggle)
        self.tray.quit_wanted.connect(window.quit)
        self._residing = Residing(window, self.tray)
        self._long_index = LongIndex(window.workspace, window, self.tray)
        self._listener = Listener(address, self) if address is not None else None
        if self._listener is not None:
            self._listener.asked.connect(LaterStart(window, quick, appearance).serve)
            window.closing.connect(self._listener.close)  # what comes now begins anew, and is not lost
        window.settings.add_switch(AutostartWay(window.commands.all, jobs, window.banner, config).switch)
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
