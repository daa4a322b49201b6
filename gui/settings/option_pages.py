"""The pages of the settings dialog and the options on each; declarations of options name page, group and label."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtGui import QAction

from engine import Group, Option, OptionPage, all_options, marked, tr
from gui.commands.commands import Commands

SettingsPage = OptionPage

PAGES: dict[SettingsPage, str] = {
    "general": marked("General"),
    "appearance": marked("Appearance"),
    "keyboard": marked("Keyboard"),
    "sources": marked("Sources"),
    "embedding": marked("Embedding"),
    "stored": marked("Cached embeddings"),
    "engine": marked("Engine"),
    "search": marked("Search"),
    "sync": marked("Updates"),
    "agents": marked("Agents"),
    "privacy": marked("Privacy"),
    "advanced": marked("Advanced"),
}
"""Pages in their order, with their English titles."""

PARTS: dict[SettingsPage, SettingsPage] = {"stored": "embedding", "engine": "advanced"}
"""Pages without an entry in the list, since they are parts of another page."""

GUIDE: dict[SettingsPage, str] = {
    "general": "first-steps",
    "appearance": "keyboard",
    "keyboard": "keyboard",
    "sources": "not-found",
    "embedding": "engines",
    "stored": "engines",
    "engine": "engines",
    "search": "searching",
    "sync": "index-view",
    "agents": "agents",
    "privacy": "privacy",
    "advanced": "trouble",
}
"""The guide page for each page."""

FORMS: tuple[SettingsPage, ...] = ("embedding", "engine")
"""Pages with a form, which is tested and saved as a whole."""
WITHOUT_ROWS: tuple[SettingsPage, ...] = (*FORMS, "keyboard")
"""Pages that don't show one row per option."""


@dataclass(frozen=True)
class OptionPlacement:
    """An option with the page and the group in which it is shown."""

    option: Option
    page: SettingsPage
    group: str
    """Title of the group; empty if the page has no groups."""
    name: str
    """English label; `title` is translated."""

    @property
    def key(self) -> str:
        return self.option.key

    @property
    def title(self) -> str:
        return tr(self.name)

    @property
    def help(self) -> str:
        return tr(self.option.help)


@functools.cache
def placed_options() -> dict[str, OptionPlacement]:
    """Return all options by key, in the order in which the pages show them."""
    order = list(Group)
    options = sorted(all_options(), key=lambda option: order.index(option.group))
    return {
        option.key: OptionPlacement(option, option.group.page, option.group.title, option.label or name_of(option.key))
        for option in options
    }


def name_of(key: str) -> str:
    """Return a label for an option without one: "Close to tray" for `window.close_to_tray`."""
    words = key.rpartition(".")[2].replace("_", " ")
    return words[:1].upper() + words[1:]


def whole_page(name: SettingsPage) -> SettingsPage:
    """Return the page in the list that contains the part `name`, or `name` itself."""
    return PARTS.get(name, name)


def options_on(page: SettingsPage) -> tuple[OptionPlacement, ...]:
    return tuple(placed for placed in placed_options().values() if placed.page == page)


# --- A command for each page of the settings: the palette opens it directly, and a page can have its own keys.

_WORDS: dict[SettingsPage, str] = {
    "general": marked("Settings: General"),
    "appearance": marked("Settings: Appearance"),
    "keyboard": marked("Settings: Keyboard"),
    "sources": marked("Settings: Sources"),
    "embedding": marked("Settings: Embedding"),
    "stored": marked("Settings: Cached embeddings"),
    "engine": marked("Settings: Engine"),
    "search": marked("Settings: Search"),
    "sync": marked("Settings: Updates"),
    "agents": marked("Settings: Agents"),
    "privacy": marked("Settings: Privacy"),
    "advanced": marked("Settings: Advanced"),
}


def add_page_commands(commands: Commands, show_page: Callable[[SettingsPage], None]) -> tuple[QAction, ...]:
    """Add a command per page, such as `settings.page.privacy`; they are in no menu."""
    return tuple(
        commands.add_hidden(f"settings.page.{page}", english, partial(show_page, page))
        for page, english in _WORDS.items()
    )
