"""The pages of the settings dialog, the options on each, and the search in them.

Declarations of options name page, group and label.
"""

import functools
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtGui import QAction, QPalette
from PySide6.QtWidgets import QLabel

from engine import Group, Option, OptionPage, all_options, marked, tr
from gui.commands.commands import Commands
from gui.settings.value_formatting import choice_text, value_text
from gui.style.theme import tokens
from gui.text.plain_text import Styled, set_plain, set_rich

SettingsPage = OptionPage

PAGES: dict[SettingsPage, str] = {
    "general": marked("General"),
    "appearance": marked("Appearance"),
    "keyboard": marked("Keyboard"),
    "sources": marked("Sources"),
    "embedding": marked("Embedding"),
    "stored": marked("Cached embeddings"),
    "engine": marked("Search engine"),
    "search": marked("Search"),
    "sync": marked("Updates"),
    "agents": marked("Agents"),
    "privacy": marked("Privacy"),
    "advanced": marked("Advanced"),
}
"""Pages in their order, with their English titles."""

PARTS: dict[SettingsPage, SettingsPage] = {"stored": "embedding", "engine": "advanced"}
"""Pages without an entry in the list, since they are parts of another page."""

SET_ASIDE = marked("Rename the file and use the defaults")
"""Label of the button for a settings file that can't be used."""

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
    "engine": marked("Settings: Search engine"),
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


# --- Search for an option by its name, texts and synonyms ------------------------------------------------------------

ALSO_CALLED = {"program.autostart": marked("autostart, startup, login, boot")}
"""Search words of settings that the system stores, by their keys; options declare theirs."""


def words_of(query: str) -> tuple[str, ...]:
    """Return the words of a search in the settings, without case and accents."""
    return tuple(_folded(query).split())


def match_rank(placed: OptionPlacement, value: object, words: Sequence[str]) -> int | None:
    """Return how well an option matches, 0 best; None if a word is missing.

    0: each word equals a word of its name. 1: each word begins one. 2: each word begins a word of its whole text, which
    is its name, key, help and value, its page's name, and its synonyms. The texts are those that the window shows, and
    synonyms in its language: a match of an English text would have no visible reason in another one.
    """
    option = placed.option
    pages = [PAGES[page] for page in dict.fromkeys((placed.page, whole_page(placed.page)))]
    plain = [option.help, *pages, placed.group, option.also or ALSO_CALLED.get(option.key, "")]
    texts = [option.key, value_text(option, value), *option.choices, *map(tr, filter(None, plain))]
    texts += [choice_text(option.key, choice) for choice in option.choices]
    whole = _folded("\n".join([placed.title, *texts]))
    whole = f"{whole}\n{whole.replace('_', ' ')}"
    named = _folded(placed.title)
    patterns = ((r"(?<!\w){}(?!\w)", named), (r"(?<!\w){}", named), (r"(?<!\w){}", whole))
    fitting = (all(re.search(pattern.format(re.escape(word)), text) for word in words) for pattern, text in patterns)
    return next((rank for rank, fits in enumerate(fitting) if fits), None)


def with_marks(text: str, query: str, palette: QPalette) -> Styled:
    """Split `text` into styled parts, and highlight each beginning of a word that is a word of the query."""
    colours = tokens(palette)
    words = sorted(words_of(query), key=len, reverse=True)
    if not words:
        return [(text, "")]
    folded = _folded(text)
    if len(folded) != len(text):
        folded = text.lower()
    parts: list[tuple[str, str]] = []
    at = 0
    style = f"background: {colours.mark.name()}; color: {colours.mark_text.name()}"
    for hit in re.finditer(rf"(?:(?<!\w)|(?<=_))(?:{'|'.join(map(re.escape, words))})", folded):
        parts += [(text[at : hit.start()], ""), (text[hit.start() : hit.end()], style)]
        at = hit.end()
    return [*parts, (text[at:], "")]


def mark(part: QLabel, text: str, query: str) -> None:
    """Show `text` in a label with the words of the query highlighted; an empty query removes the highlights."""
    if query:
        set_rich(part, with_marks(text, query, part.palette()))
    else:
        set_plain(part, text)


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
