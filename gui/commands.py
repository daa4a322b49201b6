"""The window's commands: one action each, with its name and its keys, and the menu that holds them."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from gui.appearance import Appearance
from gui.keys.binding import bind
from gui.keys.keymap import command
from gui.menu_bar import give_role
from gui.theme_names import THEME_WORDS

Run = Callable[[], object]


class Commands:
    """Actions that work anywhere in `window`; the first key of each is shown in the menu."""

    def __init__(self, window: QWidget, appearance: Appearance) -> None:
        self._window = window
        self._appearance = appearance
        self.menu = QMenu(window)
        self.menu.setToolTipsVisible(True)

    def add(self, name: str, words: str, run: Run, *keys: str, menu: QMenu | None = None) -> QAction:
        """A command in the main menu, or in `menu`; `name` is stable ("index.sync"), since settings files have it."""
        action = self.add_hidden(name, words, run, *keys)
        (menu or self.menu).addAction(action)
        return action

    def add_hidden(self, name: str, words: str, run: Run, *keys: str) -> QAction:
        """A command that has only its keys."""
        action = QAction(words, self._window)
        action.triggered.connect(lambda _checked: run())
        self.name(action, name, words, *keys)
        return action

    def name(self, action: QAction, name: str, words: str, *keys: str) -> None:
        """Make a command of an action that is in a menu already; `words` say outside of the menu what it does."""
        bind(action, command(name, words, "window", *keys))
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        give_role(action, name)
        self._window.addAction(action)

    def add_appearance(self) -> None:
        """Theme and text size."""
        self.menu.addMenu(self._theme_menu())
        text = self.menu.addMenu("Text size")
        self.add("text.larger", "Larger text", lambda: self._appearance.enlarge(1), "Ctrl++", "Ctrl+=", menu=text)
        self.add("text.smaller", "Smaller text", lambda: self._appearance.enlarge(-1), "Ctrl+-", menu=text)
        self.add("text.normal", "Normal text", lambda: self._appearance.enlarge(0), "Ctrl+0", menu=text)

    def _theme_menu(self) -> QMenu:
        menu = QMenu("Theme", self.menu)
        group = QActionGroup(menu)
        for theme, words in THEME_WORDS.items():
            action = QAction(words, menu)
            action.setCheckable(True)
            action.setData(theme)
            action.triggered.connect(lambda _=False, theme=theme: self._appearance.set_theme(theme))
            self.name(action, f"theme.{theme}", f"Theme: {words}")
            group.addAction(action)
            menu.addAction(action)
        menu.aboutToShow.connect(lambda: self._mark_theme(group))
        self._mark_theme(group)
        return menu

    def _mark_theme(self, group: QActionGroup) -> None:
        """The settings may have changed it."""
        for action in group.actions():
            action.setChecked(action.data() == self._appearance.theme)
