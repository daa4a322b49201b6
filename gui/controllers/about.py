"""Shows information about the program: a small window, and the licences of all its components."""

import platform
from collections.abc import Iterable

from PySide6.QtCore import QObject, Qt, Slot, qVersion
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from engine import program_version, tr
from gui.core.app_paths import AppPaths
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.core.workspace import Workspace
from gui.help.components import Component, read_components
from gui.help.licence_sheet import LicenceSheet
from gui.widgets.labels import label, line
from gui.widgets.plain_text import set_tip
from gui.widgets.small_windows import sheet

_LEAST_NAME = 80


class AboutController(QObject):
    """Creates each window when it is needed; the installed components don't change meanwhile and are read once."""

    def __init__(self, workspace: Workspace, places: AppPaths, jobs: Jobs, window: QWidget) -> None:
        super().__init__(window)
        self._workspace = workspace
        self._places = places
        self._jobs = jobs
        self._window = window
        self._job = JobSlot(self)
        self._components: tuple[Component, ...] = ()
        self._licences: LicenceSheet | None = None

    @property
    def ready(self) -> bool:
        """Whether nothing that is to be shown is still being read."""
        return not self._job.busy

    @Slot()
    def show(self) -> None:
        """Show version and file locations of this program."""
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(label("Mnemoscope", "title"))
        version = tr("Version {version}", version=tr(program_version()))
        running = f"{version} · Python {platform.python_version()} · Qt {qVersion()}"
        column.addWidget(label(running, "meta"))
        column.addWidget(label(tr("Search your notes and past AI sessions, and see inside the index."), wrap=True))
        column.addLayout(self._licence_row())
        column.addSpacing(4)
        column.addWidget(line())
        column.addLayout(_places_grid(self._places.listed(self._workspace.status)))
        sheet(tr("About Mnemoscope"), content, self._window)

    def _licence_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(label(tr("Free software under the Apache License 2.0."), "muted", wrap=True), 1)
        button = QPushButton(tr("Licences…"))
        set_tip(button, tr("Whose work this program consists of, and under which licences"))
        button.setAutoDefault(True)  # Enter presses it while it has the keys, on every platform
        button.clicked.connect(self.show_licences)
        row.addWidget(button)
        return row

    @Slot()
    def show_licences(self) -> None:
        """Show all components of this installation."""
        self._licences = LicenceSheet()
        dialog = sheet(tr("Licences"), self._licences, self._window)
        # In a small window it is no larger than that.
        dialog.resize(dialog.sizeHint().boundedTo(self._window.size()))
        dialog.finished.connect(self._forget)
        self._licences.take_focus()
        if self._components:
            self._licences.show_components(self._components)
        else:
            self._job.put(self._jobs.read(lambda _token: read_components(), self._read, self._failed))

    def _read(self, components: tuple[Component, ...]) -> None:
        self._job.done()
        self._components = components
        if self._licences is not None:
            self._licences.show_components(components)

    def _failed(self, sentence: str) -> None:
        self._job.done()
        if self._licences is not None:
            self._licences.show_problem(sentence)

    @Slot()
    def _forget(self) -> None:
        self._job.cancel()
        self._licences = None


def _places_grid(places: Iterable[tuple[str, str]]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(8)
    grid.setColumnMinimumWidth(0, _LEAST_NAME)
    grid.setColumnStretch(1, 1)
    for row, (name, path) in enumerate(places):
        where = label(path)
        where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        grid.addWidget(label(name, "muted"), row, 0)
        grid.addWidget(where, row, 1)
    return grid
