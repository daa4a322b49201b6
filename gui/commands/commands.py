"""The window's commands: one action each, with its name and its keys, and the menu that holds them."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from engine import marked, tr
from gui.commands.binding import bind
from gui.commands.keymap import command
from gui.commands.menu_bar import give_role
from gui.style.appearance import Appearance
from gui.style.theme_names import THEME_WORDS, ThemeChoice

Run = Callable[[], object]
_THEME_COMMANDS: dict[ThemeChoice, str] = {
    "system": marked("Theme: Follow the system"),
    "light": marked("Theme: Light"),
    "dark": marked("Theme: Dark"),
    "high-contrast-light": marked("Theme: High contrast, light"),
    "high-contrast-dark": marked("Theme: High contrast, dark"),
}


class Commands:
    """Actions that work anywhere in `window`; the first key of each is shown in the menu."""

    def __init__(self, window: QWidget, appearance: Appearance) -> None:
        self._window = window
        self._appearance = appearance
        self.menu = QMenu(window)
        self.menu.setToolTipsVisible(True)

    def add(self, name: str, english: str, run: Run, *keys: str, menu: QMenu | None = None) -> QAction:
        """A command in the main menu, or in `menu`; `name` is stable ("index.sync"), since settings files have it.

        `english` is `marked`, here as in the other methods: it is shown in the language of the window, and the palette
        finds the command by both.
        """
        action = self.add_hidden(name, english, run, *keys)
        (menu or self.menu).addAction(action)
        return action

    def add_hidden(self, name: str, english: str, run: Run, *keys: str) -> QAction:
        """A command that has only its keys."""
        action = QAction(tr(english), self._window)
        action.triggered.connect(lambda _checked: run())
        self.name(action, name, english, *keys)
        return action

    def name(self, action: QAction, name: str, english: str, *keys: str) -> None:
        """Make a command of an existing menu action; `english` describes it outside of the menu."""
        bind(action, command(name, english, "window", *keys))
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        give_role(action, name)
        self._window.addAction(action)

    def add_appearance(self) -> None:
        """Theme and text size."""
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
        """The settings may have changed it."""
        for action in group.actions():
            action.setChecked(action.data() == self._appearance.theme)
