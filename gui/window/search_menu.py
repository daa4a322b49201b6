"""The submenu of saved and recent searches."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from engine import SavedSearch, marked, shortened, tr
from gui.commands.commands import Commands, allow
from gui.search.saved_searches import SavedSearchController

_MOST = 20
_LONGEST = 60


class SearchMenu(QObject):
    """The submenu of searches; its saved searches are updated when it opens."""

    def __init__(
        self,
        commands: Commands,
        controller: SavedSearchController,
        go: Callable[[], None],
        keep: Callable[[bool], None],
    ) -> None:
        """`go` focuses the search box; `keep` turns recording of the history on or off."""
        menu = QMenu(tr("Searches"), commands.menu)
        commands.menu.addMenu(menu)
        super().__init__(menu)
        self._saved_searches = controller
        self._go = go
        self._pick = commands.add("search.pick", marked("Saved and recent searches"), self._open, "Ctrl+H", menu=menu)
        self._save = commands.add("search.save", marked("Save this search…"), controller.save, "Ctrl+S", menu=menu)
        self._saved = QMenu(tr("Saved searches"), menu)
        menu.addMenu(self._saved)
        menu.addSeparator()
        self._record = QAction(tr("Keep recent searches"), self)
        self._record.setCheckable(True)
        self._record.triggered.connect(keep)
        self._clear = QAction(tr("Clear recent searches"), self)
        self._clear.triggered.connect(controller.forget_history)
        menu.addActions([self._record, self._clear])
        commands.name(self._record, "search.keep-recent", marked("Keep recent searches"))
        commands.name(self._clear, "search.clear-recent", marked("Clear recent searches"))
        menu.aboutToShow.connect(self._refresh)
        controller.changed.connect(self._refresh)
        self._saved.aboutToShow.connect(self._fill)
        self._refresh()

    @Slot()
    def _refresh(self) -> None:
        store = self._saved_searches.store
        allow(self._pick, bool(store.saved or store.recent), tr("There are no searches yet."))
        allow(self._save, self._saved_searches.query is not None, tr("Search for something first."))
        self._saved.setEnabled(bool(store.saved))
        self._record.setChecked(store.notes)
        allow(self._clear, bool(store.recent), tr("There are no searches yet."))

    @Slot()
    def _fill(self) -> None:
        self._saved.clear()
        for search in self._saved_searches.store.saved[:_MOST]:
            action = self._saved.addAction(shortened(search.name, _LONGEST).replace("&", "&&"))
            action.triggered.connect(lambda _=False, search=search: self.run(search))

    @property
    def saved(self) -> tuple[SavedSearch, ...]:
        """The saved searches, last used first."""
        return self._saved_searches.store.saved

    def run(self, search: SavedSearch) -> None:
        """Run a saved search, from any view."""
        self._go()
        self._saved_searches.run(search)

    def _open(self) -> None:
        self._go()
        self._saved_searches.picker.open()
