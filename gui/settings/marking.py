"""A search over the options: which ones it finds, and where its words are in a text."""

import html
import re
import unicodedata
from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLabel

from engine import tr
from gui.settings.also_called import ALSO_CALLED
from gui.settings.places import PAGES, Placed
from gui.settings.values import choice_words, plain_choice_words, value_words
from gui.theme import tokens


def words_of(query: str) -> tuple[str, ...]:
    return tuple(_folded(query).split())


def found(placed: Placed, value: object, words: Iterable[str]) -> bool:
    """Whether every word is in the option's name, key, help or value, in its page's name, or in what it is called, too.

    In the language that is spoken or in English, which the settings file has and what is written of it.
    """
    option = placed.option
    plain = [placed.name, option.help, PAGES[placed.page], placed.group, ALSO_CALLED.get(option.key, "")]
    texts = [option.key, value_words(option, value), *option.choices, *plain, *map(tr, filter(None, plain))]
    for called in (choice_words, plain_choice_words):
        texts += [called(option.key, choice) for choice in option.choices]
    whole = _folded("\n".join(texts))
    bare = whole.replace("_", " ")
    return all(word in whole or word in bare for word in words)


def with_marks(text: str, query: str, palette: QPalette) -> str:
    """`text` as HTML, with each word of the query marked."""
    colours = tokens(palette)
    words = sorted(words_of(query), key=len, reverse=True)
    if not words:
        return html.escape(text)
    folded = _folded(text)
    if len(folded) != len(text):
        folded = text.lower()
    parts, at = [], 0
    for hit in re.finditer("|".join(map(re.escape, words)), folded):
        style = f"background: {colours.mark.name()}; color: {colours.mark_text.name()}"
        parts += [html.escape(text[at : hit.start()]), f'<span style="{style}">']
        parts += [html.escape(text[hit.start() : hit.end()]), "</span>"]
        at = hit.end()
    return "".join([*parts, html.escape(text[at:])])


def mark(part: QLabel, text: str, query: str) -> None:
    """Let a label show `text` with the words of the query marked; an empty query takes that back."""
    part.setTextFormat(Qt.TextFormat.RichText if query else Qt.TextFormat.PlainText)
    part.setText(with_marks(text, query, part.palette()) if query else text)


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
