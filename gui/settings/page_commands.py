"""A command for each page of the settings: the palette opens it directly, and a page can have its own keys."""

from collections.abc import Callable
from functools import partial

from PySide6.QtGui import QAction

from engine import marked
from gui.commands.commands import Commands
from gui.settings.page_layout import SettingsPage

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
    """`settings.page.privacy` and so on, in no menu."""
    return tuple(
        commands.add_hidden(f"settings.page.{page}", english, partial(show_page, page))
        for page, english in _WORDS.items()
    )
