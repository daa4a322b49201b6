"""The menu bar, for platforms where every program has one: the same commands as in the menu of the window."""

import sys
from collections.abc import Iterable

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenuBar

from engine import marked, tr

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


def has_menu_bar() -> bool:
    """Return whether this platform shows menu bars at the top of the screen."""
    return sys.platform == "darwin"


def give_role(action: QAction, name: str) -> None:
    """Set the action's role for the platform's menus, which Qt would otherwise guess from words such as "settings"."""
    action.setMenuRole(_ROLES.get(name, QAction.MenuRole.NoRole))


def fill_menu_bar(bar: QMenuBar, actions: Iterable[QAction]) -> None:
    """Put actions into the menus of a menu bar, chosen by their command names, in their order."""
    menus = {title: bar.addMenu(tr(title)) for title, _ in _MENUS}
    first = next(iter(menus))
    for action in actions:
        group = action.objectName().partition(".")[0]
        title = next((title for title, groups in _MENUS if group in groups), first)
        menus[title].addAction(action)
