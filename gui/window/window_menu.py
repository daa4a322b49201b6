"""The window's menu with all global actions, its submenu of searches, and the dialog that lists all keys."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtGui import QAction, QFontMetrics, QKeySequence
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from engine import MemoryProviderStatus, SavedSearch, marked, shortened, tr, tr_count
from gui.commands.commands import EXPLAIN, PALETTE, WITHIN, Commands, allow, fill_menu_bar, has_menu_bar
from gui.commands.keymap import keymap
from gui.controllers.navigation import keys
from gui.controllers.workspaces import EVERYWHERE, SWITCH
from gui.core.capabilities import Gates, MissingFeatures
from gui.core.key_listing import Group, groups
from gui.search.saved_searches import SavedSearchController
from gui.settings.option_pages import add_page_commands
from gui.style.appearance import Appearance
from gui.style.stylesheet import character_width
from gui.widgets.accessibility import announce
from gui.widgets.icons import add_clear_button
from gui.widgets.labels import KeyCaps, key_caps_width, label
from gui.widgets.layouts import lay_out_now, open_dialog
from gui.widgets.right_to_left import at_start
from gui.widgets.status_texts import why_no_update
from gui.window.window_base import MainWindowBase

# --- Submenu of searches ---------------------------------------------------------------------------------------------

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


# --- Dialog of all keys ----------------------------------------------------------------------------------------------

_LEAST_HEIGHT = 220
_AROUND, _MARGIN = 200, 60
"""Pixels of the window's height and width that the sheet leaves free."""
_TWO_COLUMNS = 150
"""Characters of a window that is wide enough for two columns of keys."""


_ROWS_A_TURN = 6
_COLUMN_SPACING, _ROW_SPACING, _SIDE_SPACING = 24, 6, 40


class KeySheet(QWidget):
    """A list of all current keys, filled in turns of the event loop. Typing filters it; Down and Page Down scroll."""

    def __init__(self, columns: int = 1) -> None:
        """`columns`: number of columns in which the groups of keys are placed."""
        super().__init__()
        self._rows: list[tuple[str, tuple[KeyCaps, QLabel]]] = []
        """The searchable text of each row, and its labels."""
        self._titles: list[tuple[QLabel, int]] = []
        """The title above a group, and the number of its rows."""
        self.edit = QLineEdit()
        self.edit.setPlaceholderText(tr("Find a shortcut by command or key"))
        self.edit.setAccessibleName(tr("Find a shortcut"))
        add_clear_button(self.edit)
        self.edit.textChanged.connect(self._filter)
        self._nothing = label(tr("No shortcut found."), "muted")
        self._nothing.hide()
        self.area = QScrollArea()
        content = QWidget()
        self.area.setWidget(content)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setProperty("role", "text")
        self.area.setAccessibleName(tr("Keys"))
        parts = _divided(columns)
        widths = _widths(parts, self.fontMetrics())
        bar = self.area.verticalScrollBar().sizeHint().width()
        self.preferred_width = columns * (sum(widths) + _COLUMN_SPACING + _SIDE_SPACING) - _SIDE_SPACING + bar
        side_by_side = QHBoxLayout(content)
        side_by_side.setContentsMargins(0, 0, 0, 0)
        side_by_side.setSpacing(_SIDE_SPACING)
        grids = []
        for _ in parts:
            grid = QGridLayout()
            grid.setHorizontalSpacing(_COLUMN_SPACING)
            grid.setVerticalSpacing(_ROW_SPACING)
            for side, width in enumerate(widths):
                grid.setColumnStretch(side, width)  # where both are too wide, each gives its share
            side_by_side.addLayout(grid, 1)
            grids.append(grid)
        self._steps: Iterator[None] = chain.from_iterable(map(self._add_rows, grids, parts))
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._continue)
        self._timer.start(0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        self.change = QPushButton(tr("Change keys…"))
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.edit, 1)
        head.addWidget(self.change)
        column.addLayout(head)
        column.addWidget(self._nothing)
        column.addWidget(self.area, 1)
        self.setFocusProxy(self.edit)

    @property
    def complete(self) -> bool:
        """Whether all keys are listed."""
        return not self._timer.isActive()

    @Slot()
    def _continue(self) -> None:
        if len(list(islice(self._steps, _ROWS_A_TURN))) < _ROWS_A_TURN:
            self._timer.stop()
        lay_out_now()  # else the new rows squash those above until the next layout

    def _add_rows(self, grid: QGridLayout, part: Sequence[Group]) -> Iterator[None]:
        """Add the rows of one column, yielding after each."""
        grid.setRowStretch(sum(len(rows) + 1 for _, rows in part), 1)  # the rows are never spread over the height
        number = 0
        for title, rows in part:
            above = label(title, "section")
            above.setContentsMargins(0, 10 if number else 0, 0, 0)
            grid.addWidget(above, number, 0, 1, 2)
            above.show()
            self._titles.append((above, len(rows)))
            for pressed, words, each in rows:
                number += 1
                pair = KeyCaps(pressed, each), label(words, "muted")
                pair[0].setAlignment(at_start(Qt.AlignmentFlag.AlignTop))
                for side, one in enumerate(pair):
                    one.setWordWrap(True)
                    grid.addWidget(one, number, side)
                    one.show()  # at once, so that it counts in the layout
                self._rows.append((f"{pressed} {words} {title}".casefold(), pair))
                yield
            number += 1

    @property
    def visible_rows(self) -> list[str]:
        """Return the texts of the visible rows."""
        return [f"{key.text()}: {words.text()}" for _, (key, words) in self._rows if not key.isHidden()]

    @Slot(str)
    def _filter(self, text: str) -> None:
        while not self.complete:
            self._continue()
        parts = text.casefold().split()
        rows = iter(self._rows)
        found = 0
        for title, count in self._titles:
            some = 0
            for _ in range(count):
                searched, labels = next(rows)
                fits = all(part in searched for part in parts)
                some += fits
                for one in labels:
                    one.setVisible(fits)
            title.setVisible(some > 0)
            found += some
        self._nothing.setVisible(not found)
        announce(self.edit, tr_count("{count:,} key", "{count:,} keys", found) if found else self._nothing.text())


def _divided(columns: int) -> list[list[Group]]:
    """Divide the groups of keyboard shortcuts into columns of about the same height."""
    parts: list[list[Group]] = [[] for _ in range(columns)]
    found = groups(keymap())
    whole = sum(len(group.rows) + 1 for group in found)
    done = 0
    for group in found:
        parts[min(columns - 1, done * columns // whole)].append(group)
        done += len(group.rows) + 1
    return parts


def _widths(parts: Sequence[Sequence[Group]], metrics: QFontMetrics) -> tuple[int, int]:
    """Return the widths in pixels of the longest keys and of the longest label."""
    rows = [row for part in parts for _, rows in part for row in rows]
    keys = max((key_caps_width(metrics, each) for _, _, each in rows), default=1)
    return keys, max((metrics.horizontalAdvance(words) for _, words, _ in rows), default=1) + 1


def show_keys(window: QWidget, change: Callable[[], None]) -> None:
    """Open the list of keys over `window`; `change` opens the page to change keys."""
    sheet = KeySheet(2 if window.width() >= _TWO_COLUMNS * character_width() else 1)
    sheet.area.setMinimumHeight(max(_LEAST_HEIGHT, window.height() - _AROUND))
    sheet.area.setMinimumWidth(min(sheet.preferred_width, window.width() - _MARGIN))
    dialog = open_dialog(tr("Keys"), sheet, window)
    sheet.change.clicked.connect(dialog.accept)
    sheet.change.clicked.connect(change)
    sheet.setFocus()


# --- The window's menu -----------------------------------------------------------------------------------------------


class WindowMenu:
    """Adds the window's commands to its menu, and enables those that can be used now."""

    def __init__(self, window: MainWindowBase, appearance: Appearance) -> None:
        """Create the menu only when all parts of the window exist."""
        commands = self.all = Commands(window, appearance)
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
        commands.menu.addSeparator()
        commands.add(PALETTE, marked("Command palette…"), window.palette_requested.emit, "Ctrl+Shift+P")
        self._add_help(commands)
        commands.menu.addSeparator()
        commands.add("window.quit", marked("Quit"), window.quit, "Ctrl+Q")
        within = commands.add_hidden(WITHIN.name, WITHIN.english, window.panel_actions.search_within, *WITHIN.keys)
        commands.add_hidden("search.focus", marked("Go to the search box"), views.focus_box, "Ctrl+K", "Ctrl+L")
        commands.add_hidden("go.next-part", marked("Go to the next part of the window"), self._next_part, "F6")
        commands.add_hidden(
            "go.previous-part", marked("Go to the previous part of the window"), self._previous_part, "Shift+F6"
        )
        commands.add_hidden("help.menu", marked("Open the menu"), self._open_menu, "F10")
        if has_menu_bar():
            fill_menu_bar(window.menuBar(), window.actions())
        self._gates = Gates()
        self._why = self._gates.add(why, "states")
        self._gates.add(explain, "explanation")
        self._gates.add(within, "narrowing")
        self.show_status(None)
        self.update_history_actions()
        navigation.changed.connect(self.update_history_actions)

    def _add_help(self, commands: Commands) -> None:
        commands.add("help.guide", marked("Guide"), self._window.guide.show, "Shift+F1")
        commands.add("help.keys", marked("Keys"), self.show_keys, "F1", "?")
        commands.add("help.about", marked("About Mnemoscope"), self._window.about.show)
        commands.add("help.licences", marked("Licences…"), self._window.about.show_licences)

    def show_keys(self) -> None:
        """Open the list of all keys, with a link to change them."""
        show_keys(self._window, partial(self._window.settings.show_page, "keyboard"))

    def _open_menu(self) -> None:
        """Open the menu with its first entry selected, as when a key opens a menu."""
        self._window.frame.header.menu_button.showMenu()
        self.menu.setActiveAction(self.menu.actions()[0])

    def _next_part(self) -> None:
        self._window.pane_requested.emit(1)

    def _previous_part(self) -> None:
        self._window.pane_requested.emit(-1)

    def _add_folders(self, commands: Commands, window: MainWindowBase) -> tuple[QAction, ...]:
        """Add commands for folders and their index; returns those that need an open folder."""
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
        """Enable or disable the actions that need an open workspace, and those that need to write its index."""
        is_open = status is not None
        for action in self._need_workspace:
            allow(action, is_open, tr("Open a folder first."))
        self._why.allow(is_open, tr("Open a folder first."))
        if status is not None and (refusal := why_no_update(status)):
            for action in self._writing:
                allow(action, False, refusal)

    def show_unsupported(self, unsupported: MissingFeatures) -> None:
        """Disable the actions whose feature the open memory doesn't support."""
        self._gates.update_features(unsupported)

    def update_history_actions(self) -> None:
        """Enable Back and Forward if there is a location to go to."""
        back, forward = self._navigation.directions()
        allow(self.back, back, tr("There is no earlier location to go back to."))
        allow(self.forward, forward, tr("There is no later location to go forward to."))
