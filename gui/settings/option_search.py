"""Searches the options for words, and highlights the words in a text."""

import re
import unicodedata
from collections.abc import Sequence

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLabel

from engine import marked, tr
from gui.settings.option_pages import PAGES, OptionPlacement, whole_page
from gui.settings.value_formatting import choice_words, plain_choice_words, value_words
from gui.style.theme import tokens
from gui.widgets.plain_text import Styled, set_plain, set_rich

ALSO_CALLED = {"program.autostart": marked("autostart, startup, login, boot")}
"""Search words of settings that the system stores, by their keys; options declare theirs."""


def words_of(query: str) -> tuple[str, ...]:
    return tuple(_folded(query).split())


def fit(placed: OptionPlacement, value: object, words: Sequence[str]) -> int | None:
    """Return how well an option matches, 0 best; None if a word is missing.

    0: each word equals a word of its name. 1: each word begins one. 2: each word begins a word of its whole text, which
    is its name, key, help and value, its page's name, and its synonyms. The texts are in the current language and in
    English, which the settings file uses.
    """
    option = placed.option
    name = [placed.name, tr(placed.name)]
    pages = [PAGES[page] for page in dict.fromkeys((placed.page, whole_page(placed.page)))]
    plain = [option.help, *pages, placed.group, option.also or ALSO_CALLED.get(option.key, "")]
    texts = [option.key, value_words(option, value), *option.choices, *plain, *map(tr, filter(None, plain))]
    for called in (choice_words, plain_choice_words):
        texts += [called(option.key, choice) for choice in option.choices]
    whole = _folded("\n".join([*name, *texts]))
    whole = f"{whole}\n{whole.replace('_', ' ')}"
    named = _folded("\n".join(name))
    ways = ((r"(?<!\w){}(?!\w)", named), (r"(?<!\w){}", named), (r"(?<!\w){}", whole))
    fitting = (all(re.search(way.format(re.escape(word)), text) for word in words) for way, text in ways)
    return next((how for how, fits in enumerate(fitting) if fits), None)


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
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
