"""The window's menu with all global actions."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QPoint, Slot
from PySide6.QtGui import QAction, QContextMenuEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QMenu

from engine import MemoryProviderStatus, SavedSearch, marked, shortened, tr
from gui.commands.commands import EXPLAIN, PALETTE, WITHIN, Commands, allow, fill_menu_bar, has_menu_bar
from gui.controllers.navigation import keys
from gui.controllers.workspaces import EVERYWHERE, SWITCH
from gui.core.capabilities import Gate
from gui.search.saved_searches import SavedSearchController
from gui.settings.option_pages import add_page_commands
from gui.style.appearance import Appearance
from gui.text.status_texts import why_no_update
from gui.viewer.base_viewer import BaseViewer
from gui.window.key_sheet import show_keys
from gui.window.window_base import MainWindowBase

_MAX_SAVED = 20
_LONGEST = 60


class SearchMenu(QObject):
    """The submenu of searches; its saved searches are updated when it opens."""

    def __init__(
        self,
        commands: Commands,
        controller: SavedSearchController,
        focus_box: Callable[[], None],
        set_history: Callable[[bool], None],
    ) -> None:
        """`focus_box` focuses the search box; `set_history` turns recording of the history on or off."""
        menu = QMenu(tr("Searches"), commands.menu)
        commands.menu.addMenu(menu)
        super().__init__(menu)
        self._saved_searches = controller
        self._focus_box = focus_box
        self._pick = commands.add("search.pick", marked("Saved and recent searches"), self._open, "Ctrl+H", menu=menu)
        self._save = commands.add("search.save", marked("Save this search…"), controller.save, "Ctrl+S", menu=menu)
        self._saved = QMenu(tr("Saved searches"), menu)
        menu.addMenu(self._saved)
        menu.addSeparator()
        self._record = QAction(tr("Save search history"), self)
        self._record.setCheckable(True)
        self._record.triggered.connect(set_history)
        self._clear = QAction(tr("Clear recent searches"), self)
        self._clear.triggered.connect(controller.forget_history)
        menu.addActions([self._record, self._clear])
        commands.name(self._record, "search.record-history", marked("Save search history"))
        commands.name(self._clear, "search.clear-history", marked("Clear recent searches"))
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
        for search in self._saved_searches.store.saved[:_MAX_SAVED]:
            action = self._saved.addAction(shortened(search.name, _LONGEST).replace("&", "&&"))
            action.triggered.connect(lambda _=False, search=search: self.run(search))

    @property
    def saved(self) -> tuple[SavedSearch, ...]:
        """The saved searches, last used first."""
        return self._saved_searches.store.saved

    def run(self, search: SavedSearch) -> None:
        """Run a saved search, from any view."""
        self._focus_box()
        self._saved_searches.run(search)

    def _open(self) -> None:
        self._focus_box()
        self._saved_searches.picker.open()


class WindowMenu:
    """Adds the window's commands to its menu, and enables the ones that can be used now."""

    def __init__(self, window: MainWindowBase, appearance: Appearance) -> None:
        """Create the menu only when all parts of the window exist."""
        commands = self.main_menu = Commands(window, appearance)
        views, navigation = window.views, window.navigation
        self._window = window
        self._navigation = navigation
        self.menu: QMenu = commands.menu
        pages = []
        for spec in views.specs.values():
            commands.add(f"view.{spec.name}", spec.command, partial(views.switch, spec.name), spec.key)
            for page, words in spec.page_commands.items():
                open_page = partial(views.open_page, spec.name, page)
                pages.append(commands.add_hidden(f"view.{spec.name}.{page}", words, open_page))
        commands.add("search.quick", marked("Quick search"), window.quick_requested.emit, "Ctrl+Shift+Space")
        commands.menu.addSeparator()
        self.back = commands.add("go.back", marked("Back"), navigation.back, *keys(QKeySequence.StandardKey.Back))
        self.forward = commands.add(
            "go.forward", marked("Forward"), navigation.forward, *keys(QKeySequence.StandardKey.Forward)
        )
        self.searches = SearchMenu(
            commands,
            window.search.controller.saved_searches,
            partial(views.switch, "search"),
            window.search_settings.record_history,
        )
        window.sharing.add_commands(commands)
        commands.menu.addSeparator()
        self._need_workspace = (*pages, *self._add_folders(commands, window))
        commands.menu.addSeparator()
        why = commands.add(
            "file.ask-why", marked("Why is a file not found?"), window.panel_actions.focus_explainer, "Ctrl+Shift+D"
        )
        explain = commands.add(EXPLAIN.name, EXPLAIN.english, window.panel_actions.explain, *EXPLAIN.keys)
        commands.add(
            "view.diagnostics", marked("Show or hide diagnostics"), window.dock.toggle_diagnostics, "Ctrl+D", "F9"
        )
        commands.add_appearance()
        views.made.when(BaseViewer, lambda reader: reader.zoom_requested.connect(appearance.enlarge))
        commands.menu.addSeparator()
        commands.add(PALETTE, marked("Command palette…"), window.palette_requested.emit, "Ctrl+Shift+P")
        self._add_help(commands)
        commands.menu.addSeparator()
        commands.add("window.quit", marked("Quit"), window.quit, "Ctrl+Q")
        within = commands.add_hidden(WITHIN.name, WITHIN.english, window.panel_actions.search_within, *WITHIN.keys)
        commands.add_hidden("search.focus", marked("Go to the search box"), views.focus_box, "Ctrl+K", "Ctrl+L")
        go = window.pane_requested.emit
        commands.add_hidden("go.next-pane", marked("Go to the next part of the window"), partial(go, 1), "F6")
        previous = marked("Go to the previous part of the window")
        commands.add_hidden("go.previous-pane", previous, partial(go, -1), "Shift+F6")
        commands.add_hidden("help.menu", marked("Open the menu"), self._open_menu, "F10")
        commands.add_hidden("go.context-menu", marked("Context menu"), _open_context_menu, "Shift+F10", "Menu")
        if has_menu_bar():
            fill_menu_bar(window.menuBar(), window.actions())
        self._why = Gate(why, "path-states")
        Gate(explain, "explanation")
        Gate(within, "within")
        self.show_status(None)
        self.update_history_actions()
        navigation.changed.connect(self.update_history_actions)

    def _add_help(self, commands: Commands) -> None:
        commands.add("help.guide", marked("Guide"), self._window.guide.show, "Shift+F1")
        commands.add("help.keys", marked("Keyboard shortcuts"), self.show_keys, "F1", "?")
        commands.add("help.about", marked("About Mnemoscope"), self._window.about.show)
        commands.add("help.licences", marked("Licences…"), self._window.about.show_licences)

    def show_keys(self) -> None:
        """Open the list of all keys, with a link to change them."""
        show_keys(self._window, partial(self._window.settings.show_page, "keyboard"))

    def _open_menu(self) -> None:
        """Open the menu with its first entry selected, as when a key opens a menu."""
        self._window.frame.header.menu_button.showMenu()
        self.menu.setActiveAction(self.menu.actions()[0])

    def _add_folders(self, commands: Commands, window: MainWindowBase) -> tuple[QAction, ...]:
        """Add commands for folders and their index; returns the commands that need an open folder."""
        commands.add("folder.choose", marked("Choose folder…"), window.first_run.choose, "Ctrl+O")
        commands.add(SWITCH, marked("Switch workspace…"), window.spaces.show, "Ctrl+Shift+O")
        everywhere = commands.add(
            EVERYWHERE, marked("Search all workspaces"), window.spaces.toggle_everywhere, "Ctrl+Shift+A"
        )
        everywhere.setCheckable(True)
        window.search.filters.everywhere_chosen.connect(everywhere.setChecked)
        add_sessions = commands.add("folder.add-sessions", marked("Add sessions…"), window.folders.add_sessions)
        sync = commands.add("index.sync", marked("Update now"), window.workspace.sync, "F5")
        rebuild = commands.add("index.rebuild", marked("Rebuild index…"), window.banner.confirm_rebuild)
        settings = commands.add("settings.show", marked("Settings…"), window.settings.show, "Ctrl+,")
        self._writing = (sync, rebuild)
        pages = add_page_commands(commands, window.settings.show_page)
        return everywhere, add_sessions, sync, rebuild, settings, *pages

    def show_status(self, status: MemoryProviderStatus | None) -> None:
        """Enable or disable the actions that need an open workspace, or need to write its index."""
        is_open = status is not None
        for action in self._need_workspace:
            allow(action, is_open, tr("Open a folder first."))
        self._why.allow(is_open, tr("Open a folder first."))
        if status is not None and (refusal := why_no_update(status)):
            for action in self._writing:
                allow(action, False, refusal)

    def update_history_actions(self) -> None:
        """Enable Back and Forward if there is a location to go to."""
        back, forward = self._navigation.directions()
        allow(self.back, back, tr("There is no earlier location to go back to."))
        allow(self.forward, forward, tr("There is no later location to go forward to."))


def _open_context_menu() -> None:
    """Open the context menu of the focused widget; on Linux, Qt opens it only for the key *Menu*."""
    window = QApplication.focusWindow()
    if window is not None:  # it finds the widget and the position of its cursor
        event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint())
        QApplication.sendEvent(window, event)
