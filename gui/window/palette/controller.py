"""Opens and closes the palette: its entries, recently used ones, and restoring the focus."""

from functools import partial
from pathlib import Path

import shiboken6
from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QApplication, QWidget

from engine import tr
from gui.commands.keymap import keymap
from gui.commands.shared import PALETTE
from gui.controllers.folders import FolderController
from gui.core.capabilities import refuse
from gui.core.window_state import WindowState
from gui.window.palette.box import PaletteBox
from gui.window.palette.entries import Entry, commands
from gui.window.search_menu import SearchMenu

_MOST_RECENT = 12


class PaletteController(QObject):
    """Opens over `window` from wherever the keys are, and gives them back before anything is run."""

    def __init__(self, window: QWidget, searches: SearchMenu, folders: FolderController, state: WindowState) -> None:
        super().__init__(window)
        self._window = window
        self._searches = searches
        self._folders = folders
        self._state = state
        self._before: QWidget | None = None
        """What had the keys."""
        self.box = PaletteBox(window)
        self.box.taken.connect(self._run)
        self.box.refused.connect(self._refuse)
        self.box.left.connect(self._leave)

    @Slot()
    def open(self) -> None:
        """The same key closes it again."""
        if self.box.is_open:
            self._leave()
            return
        self._before = QApplication.focusWidget()
        self.box.open(self._entries(), self._state.recent_commands)

    def _entries(self) -> list[Entry]:
        listed = commands(keymap(), self._window, self._before, PALETTE)
        for search in self._searches.saved:
            run = partial(self._searches.run, search)
            listed.append(Entry(f"search:{search.name}", search.name, tr("Saved search"), "", "", run))
        for name in self._state.recent[1:]:
            run = partial(self._folders.open, Path(name))
            listed.append(
                Entry(f"folder:{name}", tr("Open {folder}", folder=Path(name).name or name), name, "", "", run)
            )
        return listed

    @Slot()
    def _leave(self) -> None:
        """Back to where the keys were."""
        self.box.close_quietly()
        before, self._before = self._before, None
        if before is not None and shiboken6.isValid(before) and before.isVisible():
            before.setFocus()
        else:
            self._window.setFocus()

    @Slot(object)
    def _run(self, entry: Entry) -> None:
        self._leave()
        others = (key for key in self._state.recent_commands if key != entry.key)
        self._state.recent_commands = [entry.key, *others][:_MOST_RECENT]
        entry.run()

    @Slot(object)
    def _refuse(self, entry: Entry) -> None:
        refuse(self.box.edit, entry.reason)
