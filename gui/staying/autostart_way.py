"""The menu's entry for starting with the computer: it shows how things are whenever somebody looks."""

from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction

from engine import marked, tr
from gui.commands import Commands
from gui.job_slot import JobSlot
from gui.jobs import Jobs
from gui.notices import Notices
from gui.staying.autostart import Autostart, autostart


class AutostartWay(QObject):
    """Reads and writes off the window's thread; what cannot be written is said, and the entry shows what is there."""

    def __init__(self, commands: Commands, jobs: Jobs, banner: Notices, config: Path | None) -> None:
        """Adds the entry before the last one of the menu."""
        super().__init__(commands.menu)
        self._action = action = QAction(tr("Start with the computer"), commands.menu)
        action.setCheckable(True)
        commands.name(action, "program.autostart", marked("Start with the computer, or no longer"))
        commands.menu.insertAction(commands.menu.actions()[-1], action)
        self._jobs = jobs
        self._banner = banner
        self._system: Autostart = autostart(config)
        self._slot = JobSlot(self)
        action.triggered.connect(self._write)
        commands.menu.aboutToShow.connect(self._read)

    @Slot()
    def _read(self) -> None:
        if not self._slot.busy:
            self._slot.put(self._jobs.read(lambda _: self._system.is_on(), self._show, self._complain))

    @Slot(bool)
    def _write(self, on: bool) -> None:
        def work(_: object) -> bool:
            self._system.set_on(on)
            return self._system.is_on()

        self._slot.put(self._jobs.write(work, self._show, self._complain_and_read))

    def _show(self, on: bool) -> None:
        self._slot.done()
        self._action.setChecked(on)

    def _complain(self, sentence: str) -> None:
        self._slot.done()
        self._banner.complain(sentence)

    def _complain_and_read(self, sentence: str) -> None:
        self._complain(tr("Nothing was changed in what starts with the computer. {reason}", reason=sentence))
        # Where it cannot be read either, that sentence stays: a second one would take its place.
        self._slot.put(self._jobs.read(lambda _: self._system.is_on(), self._show, lambda _: self._show(False)))
