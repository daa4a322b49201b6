"""The window's commands: each is an action with a name and keys, in the main menu or a menu bar.

Actions, tooltips and menus follow changes of the keymap.
"""

import sys
from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from engine import marked, tr
from gui.commands.keymap import Command, command, keymap
from gui.style import THEME_WORDS, ThemeChoice
from gui.style.appearance import Appearance
from gui.text.plain_text import set_status_tip, set_tip

_MENUS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (marked("File"), ("folder", "index", "results", "settings", "window")),
    (marked("Search"), ("search", "result", "file")),
    (marked("View"), ("view", "text", "theme")),
    (marked("Go"), ("go",)),
    (marked("Help"), ("help",)),
)
"""Prefixes of the command names in each menu; other commands are in the first menu."""
_ROLES = {
    "help.about": QAction.MenuRole.AboutRole,
    "settings.show": QAction.MenuRole.PreferencesRole,
    "window.quit": QAction.MenuRole.QuitRole,
}


class _Following(QObject):
    """Calls a function whenever keys have changed, as long as its parent lives."""

    def __init__(self, parent: QObject, show: Callable[[], None]) -> None:
        super().__init__(parent)
        self._show = show
        keymap().changed.connect(self.show)
        show()

    @Slot()
    def show(self) -> None:
        self._show()


def follow_keys(parent: QObject, show: Callable[[], None]) -> None:
    """Call `show` now and whenever keys have changed, as long as `parent` lives."""
    _Following(parent, show)


def bind(action: QAction, command: Command) -> None:
    """Set the command's name and keys on an action."""
    action.setObjectName(command.name)
    follow_keys(action, lambda: action.setShortcuts(keymap().sequences(command.name)))


def show_keys_of(action: QAction, name: str) -> None:
    """Show the first key of a command in an entry of a menu that is recreated each time it opens."""
    action.setShortcut(next(iter(keymap().sequences(name)), QKeySequence()))


def menu_entry(words: str, run: Callable[[], object], keys: str = "") -> QAction:
    """Return an entry of a menu that is recreated each time it opens; `keys`: a command whose key it shows."""
    entry = QAction(words)
    entry.triggered.connect(lambda _checked: run())
    if keys:
        show_keys_of(entry, keys)
    return entry


def with_key(label: str, name: str) -> str:
    """Return a label with the command's key, as in "Sync now (F5)"; the label alone if the command has no key."""
    key = keymap().first_key(name)
    return f"{label} ({key})" if key else label


class _KeyTip(_Following):
    """Keeps the key of a command up to date in a tooltip; `instead` replaces the tooltip while it is not empty."""

    def __init__(self, control: QAction | QWidget, words: Callable[[], str], name: str) -> None:
        self.instead = ""
        super().__init__(control, lambda: set_tip(control, self.instead or with_key(words(), name)))


def show_key_in_tooltip(control: QAction | QWidget, words: str, name: str) -> None:
    """Show `words` with the key of the command `name` as tooltip, unless `cover_tip` has replaced it."""
    _KeyTip(control, lambda: words, name)


def cover_tip(control: QAction | QWidget, sentence: str) -> bool:
    """Replace a tooltip that shows a key by `sentence`; an empty sentence restores it.

    Returns False if the tooltip shows no key: then the caller restores its own text.
    """
    for tip in control.findChildren(_KeyTip, options=Qt.FindChildOption.FindDirectChildrenOnly):
        if tip.instead != sentence:
            tip.instead = sentence
            tip.show()
        return True
    return False


def give_key(
    owner: QWidget,
    action: QAction,
    command: Command,
    context: Qt.ShortcutContext = Qt.ShortcutContext.WidgetWithChildrenShortcut,
) -> None:
    """Assign a command's keys, which work anywhere in `owner`, even if a child uses them; the tooltip shows one."""
    bind(action, command)
    _KeyTip(action, action.text, command.name)
    action.setShortcutContext(context)
    owner.addAction(action)


def allow(action: QAction, allowed: bool, why: str) -> None:
    """Enable an action, or disable it with a reason (`why`), which the palette shows."""
    action.setEnabled(allowed)
    set_status_tip(action, "" if allowed else why)


def key_action(owner: QWidget, command: Command, text: str = "") -> QAction:
    """Return an action with the command's keys, labelled `text` or else with the command's label."""
    action = QAction(text or command.label, owner)
    give_key(owner, action, command)
    return action


def has_menu_bar() -> bool:
    """Return whether this platform shows menu bars at the top of the screen."""
    return sys.platform == "darwin"


def fill_menu_bar(bar: QMenuBar, actions: Iterable[QAction]) -> None:
    """Put actions into the menus of a menu bar, chosen by their command names, in their order."""
    menus = {title: bar.addMenu(tr(title)) for title, _ in _MENUS}
    first = next(iter(menus))
    for action in actions:
        group = action.objectName().partition(".")[0]
        title = next((title for title, groups in _MENUS if group in groups), first)
        menus[title].addAction(action)


Run = Callable[[], object]
_THEME_COMMANDS: dict[ThemeChoice, str] = {
    "system": marked("Theme: Follow the system"),
    "light": marked("Theme: Light"),
    "dark": marked("Theme: Dark"),
    "high-contrast-light": marked("Theme: High contrast, light"),
    "high-contrast-dark": marked("Theme: High contrast, dark"),
}


class Commands:
    """The main menu's commands: creates actions that work anywhere in `window`, with their first key in the menu."""

    def __init__(self, window: QWidget, appearance: Appearance) -> None:
        self._window = window
        self._appearance = appearance
        self.menu = QMenu(window)
        self.menu.setToolTipsVisible(True)

    def add(self, name: str, english: str, run: Run, *keys: str, menu: QMenu | None = None) -> QAction:
        """Add a command to the main menu, or to `menu`; `name` is stable ("index.sync"), since settings files have it.

        `english` is `marked`, here as in the other methods: it is shown in the language of the window, and the palette
        finds the command by both.
        """
        action = self.add_hidden(name, english, run, *keys)
        (menu or self.menu).addAction(action)
        return action

    def add_hidden(self, name: str, english: str, run: Run, *keys: str) -> QAction:
        """Add a command that is in no menu."""
        action = QAction(tr(english), self._window)
        action.triggered.connect(lambda _checked: run())
        self.name(action, name, english, *keys)
        return action

    def name(self, action: QAction, name: str, english: str, *keys: str) -> None:
        """Turn an existing menu action into a command; `english` describes it outside of the menu."""
        bind(action, command(name, english, "window", *keys))
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        # Qt would otherwise guess the role for the platform's menus from words such as "settings".
        action.setMenuRole(_ROLES.get(name, QAction.MenuRole.NoRole))
        self._window.addAction(action)

    def add_appearance(self) -> None:
        """Add the commands for theme and text size."""
        self.menu.addMenu(self._theme_menu())
        text = self.menu.addMenu(tr("Text size"))
        self.add(
            "text.larger", marked("Larger text"), lambda: self._appearance.enlarge(1), "Ctrl++", "Ctrl+=", menu=text
        )
        self.add("text.smaller", marked("Smaller text"), lambda: self._appearance.enlarge(-1), "Ctrl+-", menu=text)
        self.add("text.normal", marked("Normal text"), lambda: self._appearance.enlarge(0), "Ctrl+0", menu=text)

    def _theme_menu(self) -> QMenu:
        menu = QMenu(tr("Theme"), self.menu)
        group = QActionGroup(menu)
        for theme, words in THEME_WORDS.items():
            action = QAction(tr(words), menu)
            action.setCheckable(True)
            action.setData(theme)
            action.triggered.connect(lambda _=False, theme=theme: self._appearance.set_theme(theme))
            self.name(action, f"theme.{theme}", _THEME_COMMANDS[theme])
            group.addAction(action)
            menu.addAction(action)
        menu.aboutToShow.connect(lambda: self._mark_theme(group))
        self._mark_theme(group)
        return menu

    def _mark_theme(self, group: QActionGroup) -> None:
        """Check the current theme in the menu, since the settings may have changed it."""
        for action in group.actions():
            action.setChecked(action.data() == self._appearance.theme)


# --- Commands of several parts of the window, with one name, one wording and the same keys ---------------------------

LIKE = command("passage.like", "More like this", ("results", "file", "conversation"), "Alt+M")
REMEMBER = command("session.remember", "Save as note…", ("sessions", "conversation"), "Alt+N")
WITHIN = command("search.within", "Search within these results", "window", "Ctrl+Shift+K")
EXPLAIN = command("result.explain", "Why this result?", "window", "Ctrl+I")
LINK = command("link.copy", "Copy link", ("results", "sessions", "file", "conversation"), "Alt+L")
EXPORT = command("share.export", "Export results…", "window")
FILE_SESSIONS = command("file.sessions", "Sessions with this file", ("file", "edits"))
EDIT = command("file.edit", "Open in editor", ("results", "file"), "Ctrl+E")
FIND = command(
    "reading.find", "Find in the open file or session", ("file", "conversation"), QKeySequence.StandardKey.Find
)
NEXT_MATCH = command("reading.next-match", "Next match", ("file", "conversation"), "F3")
PREVIOUS_MATCH = command("reading.previous-match", "Previous match", ("file", "conversation"), "Shift+F3")
CHUNKS = command("reading.chunks", "Show or hide passages", ("file", "conversation"), "Alt+C")
NEXT_CHUNK = command("reading.next-chunk", "Next passage", ("file", "conversation"), "Alt+Down")
PREVIOUS_CHUNK = command("reading.previous-chunk", "Previous passage", ("file", "conversation"), "Alt+Up")
PALETTE = "help.palette"
TOGGLE_TABLE = command("index.toggle-table", "Show as chart or table", "index", "T")
COPY_TABLE = command("index.copy-table", "Copy table", "index", QKeySequence.StandardKey.Copy)
