"""Starting with the computer: the menu's entry and a row of the settings, which show how it is whenever one looks."""

from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction

from engine import Option, marked, tr
from gui.app.desktop.autostart import autostart
from gui.commands.commands import Commands
from gui.core.jobs import Jobs
from gui.core.notices import Notices
from gui.settings.page_layout import OptionPlacement
from gui.settings.system_switch import SystemSwitch

_NAME = marked("Start at login")
_HELP = marked("When you log in, the program starts without its window: in the tray, and ready for the quick search.")
_REFUSAL = marked("Nothing was changed in what starts with the computer. {reason}")
_COMMAND = "program.autostart"


class AutostartController(QObject):
    """`switch` is for the settings; failures of the menu's action are shown in the banner."""

    def __init__(self, commands: Commands, jobs: Jobs, banner: Notices, config: Path | None) -> None:
        """Adds the entry before the last one of the menu."""
        super().__init__(commands.menu)
        self._action = action = QAction(tr(_NAME), commands.menu)
        action.setCheckable(True)
        commands.name(action, _COMMAND, marked("Start at login"))
        commands.menu.insertAction(commands.menu.actions()[-1], action)
        self._banner = banner
        self._asked = False
        """Whether the menu requested the last change."""
        option = Option(key=_COMMAND, kind="switch", help=_HELP, default=False)
        placed = OptionPlacement(option, "general", "", _NAME)
        self.switch = SystemSwitch(placed, "workspace", _REFUSAL, autostart(config), jobs, self)
        self.switch.changed.connect(self._show)
        self.switch.refused.connect(self._complain)
        action.triggered.connect(self._write)
        commands.menu.aboutToShow.connect(self._read)

    @Slot()
    def _read(self) -> None:
        self._asked = True
        self.switch.look()

    @Slot(bool)
    def _write(self, on: bool) -> None:
        self._asked = True
        self.switch.switch(on)

    @Slot()
    def _show(self) -> None:
        self._action.setChecked(self.switch.on)
        self._asked = False

    @Slot(str)
    def _complain(self, sentence: str) -> None:
        if self._asked:
            self._banner.complain(sentence)
        self._asked = False
