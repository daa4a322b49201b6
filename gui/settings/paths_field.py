"""Folders and files by name, one below the other: added and removed, and offered where this computer has more."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

import engine
from engine import FoundPlaces, Option, marked, tr
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.settings.fields import Field
from gui.sources.place_rows import PlaceChoices
from gui.sources.wording import short_path
from gui.widgets.flow_layout import FlowLayout
from gui.widgets.labels import breakable, label
from gui.widgets.plain_text import set_tip

NONE = marked("None beside the folder itself.")
OFFERED = marked("Notes on this computer that could be added:")


class PathsField(Field):
    """The value is a tuple of paths, as the settings write them."""

    def __init__(self, option: Option, title: str, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(option, title, parent)
        self._jobs = jobs
        self._home = str(Path.home())
        self._found: FoundPlaces | None = None
        self._folder = ""
        self._looking = JobSlot(self)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(2)
        self._add_folder = self._adder(tr("Add a folder…"), self._choose_folder)
        self._add_files = self._adder(tr("Add files…"), self._choose_files)
        self.setFocusProxy(self._add_folder)
        buttons = QWidget()
        flow = FlowLayout(8, buttons)
        flow.addWidget(self._add_folder)
        flow.addWidget(self._add_files)
        self._offer = label(tr(OFFERED), "meta", wrap=True)
        self._places = PlaceChoices(tr("Add"), marked("Add {place}"))
        self._places.chosen.connect(lambda path: self._add([str(path)]))
        self._column.addLayout(self._rows)
        self._column.addWidget(buttons)
        for widget in (self._offer, self._places):
            self._column.addWidget(widget)
            widget.hide()

    def _adder(self, words: str, run: Any) -> QPushButton:
        button = QPushButton(words)
        button.setAutoDefault(True)  # Enter presses the one that has the keys, on every platform
        button.clicked.connect(run)
        return button

    @property
    def ready(self) -> bool:
        """Nothing is being looked for."""
        return not self._looking.busy

    def look(self, folder: Path) -> None:
        """Find vaults and workspaces on this computer, to be offered beside the workspace `folder`."""
        self._folder = str(folder)
        if self._found is None:
            self._looking.put(self._jobs.read(lambda token: engine.find_places(cancel=token), self._take_found))

    def _take_found(self, found: FoundPlaces) -> None:
        self._looking.done()
        self._found = found
        self._show_offers()

    def show_value(self, value: Any) -> None:
        super().show_value(value)
        self._fill(value)
        self._show_offers()

    def _fill(self, paths: Sequence[str]) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for path in paths:
            self._rows.addWidget(self._row(path))
        if not paths:
            self._rows.addWidget(label(tr(NONE), "meta"))

    def _row(self, path: str) -> QWidget:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(8)
        said = label(breakable(short_path(path, self._home)), wrap=True)
        set_tip(said, path)
        remove = QPushButton(tr("Remove"))
        remove.setProperty("role", "link")
        remove.setAutoDefault(True)  # Enter presses the one that has the keys, on every platform
        remove.setAccessibleName(tr("Remove {path}", path=path))
        remove.clicked.connect(partial(self._remove, path))
        line.addWidget(said, 1)
        line.addWidget(remove)
        return row

    def _show_offers(self) -> None:
        found = () if self._found is None else self._found.places
        # The method of paths raises for an unknown user.
        named = {os.path.normcase(os.path.realpath(os.path.expanduser(path))) for path in self._value}  # noqa: PTH111
        named.add(os.path.normcase(os.path.realpath(self._folder)))
        offered = [place for place in found if place.kind != "sessions" and os.path.normcase(place.path) not in named]
        self._places.show_places(offered)
        for widget in (self._offer, self._places):
            widget.setVisible(bool(offered))

    # --- what is chosen ---------------------------------------------------------------------------------------------

    @Slot()
    def _choose_folder(self) -> None:
        name = QFileDialog.getExistingDirectory(self, tr("Add a folder"), str(Path.home()))
        self._add([name] if name else [])

    @Slot()
    def _choose_files(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(self, tr("Add files"), str(Path.home()))
        self._add(names)

    def _add(self, names: Sequence[str]) -> None:
        wanted = tuple(dict.fromkeys((*self._value, *map(os.path.normpath, names))))
        if wanted != tuple(self._value):
            self.entered.emit(wanted)

    def _remove(self, path: str) -> None:
        self._add_folder.setFocus()  # what has the keys goes away
        self.entered.emit(tuple(other for other in self._value if other != path))
