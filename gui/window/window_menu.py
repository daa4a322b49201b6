"""The window's commands: all global actions, in the menu or by key."""

from functools import partial

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from engine import marked, tr
from gui.commands.binding import allow
from gui.commands.commands import EXPLAIN, PALETTE, WITHIN, Commands, fill_menu_bar, has_menu_bar
from gui.controllers.navigation import keys
from gui.controllers.workspaces import EVERYWHERE, SWITCH
from gui.core.capabilities import Gates, MissingFeatures
from gui.settings.page_layout import add_page_commands
from gui.style.appearance import Appearance
from gui.window.search_menu import SearchMenu
from gui.window.shortcut_sheet import show_keys
from gui.window.window_parts import WindowParts


class WindowMenu:
    """Enables what there is something to do for."""

    def __init__(self, window: WindowParts, appearance: Appearance) -> None:
        """For a window whose parts are complete."""
        commands = self.all = Commands(window, appearance)
        views, navigation = window.views, window.navigation
        self._window = window
        self._navigation = navigation
        self.menu: QMenu = commands.menu
        for spec in views.specs.values():
            commands.add(f"view.{spec.name}", spec.command, partial(views.switch, spec.name), spec.key)
        commands.add("search.quick", marked("Quick search"), window.quick_wanted.emit, "Ctrl+Shift+Space")
        commands.menu.addSeparator()
        self.back = commands.add("go.back", marked("Back"), navigation.back, *keys(QKeySequence.StandardKey.Back))
        self.forward = commands.add(
            "go.forward", marked("Forward"), navigation.forward, *keys(QKeySequence.StandardKey.Forward)
        )
        self.searches = SearchMenu(
            commands,
            window.search.controller.saved_searches,
            partial(views.switch, "search"),
            window.search_settings.keep_recent,
        )
        window.sharing.add_commands(commands)
        commands.menu.addSeparator()
        self._need_workspace = self._add_folders(commands, window)
        commands.menu.addSeparator()
        why = commands.add(
            "file.ask-why", marked("Why is a file not found?"), window.panel_actions.ask_why, "Ctrl+Shift+D"
        )
        explain = commands.add(EXPLAIN.name, EXPLAIN.english, window.panel_actions.explain, *EXPLAIN.keys)
        commands.add(
            "view.diagnostics", marked("Show or hide diagnostics"), window.dock.toggle_diagnostics, "Ctrl+D", "F9"
        )
        commands.add_appearance()
        commands.menu.addSeparator()
        commands.add(PALETTE, marked("Command palette…"), window.palette_wanted.emit, "Ctrl+Shift+P")
        self._add_help(commands)
        commands.menu.addSeparator()
        commands.add("window.quit", marked("Quit"), window.quit, "Ctrl+Q")
        within = commands.add_hidden(WITHIN.name, WITHIN.english, window.panel_actions.search_within, *WITHIN.keys)
        commands.add_hidden("search.focus", marked("Go to the search box"), views.focus_box, "Ctrl+K", "Ctrl+L")
        commands.add_hidden("go.next-part", marked("Next part of the window"), self._next_part, "F6")
        commands.add_hidden("go.previous-part", marked("Previous part of the window"), self._previous_part, "Shift+F6")
        commands.add_hidden("help.menu", marked("Open the menu"), self._open_menu, "F10")
        if has_menu_bar():
            fill_menu_bar(window.menuBar(), window.actions())
        self._gates = Gates()
        self._why = self._gates.add(why, "states")
        self._gates.add(explain, "explanation")
        self._gates.add(within, "narrowing")
        self.show_open(False)
        self.show_ways()
        navigation.changed.connect(self.show_ways)

    def _add_help(self, commands: Commands) -> None:
        commands.add("help.guide", marked("Guide"), self._window.guide.show, "Shift+F1")
        commands.add("help.keys", marked("Keys"), self.show_keys, "F1", "?")
        commands.add("help.about", marked("About Mnemoscope"), self._window.about.show)
        commands.add("help.licences", marked("Licences…"), self._window.about.show_licences)

    def show_keys(self) -> None:
        """Show all keys, with a link to change them."""
        show_keys(self._window, partial(self._window.settings.show_page, "keyboard"))

    def _open_menu(self) -> None:
        """With its first entry chosen, as by a key everywhere."""
        self._window.frame.header.menu_button.showMenu()
        self.menu.setActiveAction(self.menu.actions()[0])

    def _next_part(self) -> None:
        self._window.part_wanted.emit(1)

    def _previous_part(self) -> None:
        self._window.part_wanted.emit(-1)

    def _add_folders(self, commands: Commands, window: WindowParts) -> tuple[QAction, ...]:
        """What is done with folders and their index; returns the actions that need one that is open."""
        self.choose = commands.add("folder.choose", marked("Choose folder…"), window.first_run.choose, "Ctrl+O")
        commands.add(SWITCH, marked("Switch workspace…"), window.spaces.show, "Ctrl+Shift+O")
        everywhere = commands.add(
            EVERYWHERE, marked("Search all workspaces, or one"), window.spaces.toggle_everywhere, "Ctrl+Shift+A"
        )
        add_sessions = commands.add("folder.add-sessions", marked("Add sessions…"), window.folders.add_sessions)
        sync = commands.add("index.sync", marked("Update now"), window.workspace.sync, "F5")
        rebuild = commands.add("index.rebuild", marked("Rebuild index…"), window.banner.ask_rebuild)
        settings = commands.add("settings.show", marked("Settings…"), window.settings.show, "Ctrl+,")
        pages = add_page_commands(commands, window.settings.show_page)
        return everywhere, add_sessions, sync, rebuild, settings, *pages

    def show_open(self, is_open: bool) -> None:
        """Whether a workspace is open."""
        for action in self._need_workspace:
            allow(action, is_open, tr("Open a folder first."))
        self._why.allow(is_open, tr("Open a folder first."))

    def show_unsupported(self, lacks: MissingFeatures) -> None:
        """Features that the open memory doesn't support."""
        self._gates.hear(lacks)

    def show_ways(self) -> None:
        """Whether there is a place to go back or forward to."""
        allow(self.back, self._navigation.can_go_back, tr("There is no place to go back to."))
        allow(self.forward, self._navigation.can_go_forward, tr("There is no place to go forward to."))
