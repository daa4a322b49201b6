"""A search over the options: which ones it finds, and where its words are in a text."""

import re
import unicodedata
from collections.abc import Sequence

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLabel

from engine import marked, tr
from gui.settings.page_layout import PAGES, OptionPlacement
from gui.settings.value_text import choice_words, plain_choice_words, value_words
from gui.style.theme import tokens
from gui.widgets.plain_text import Styled, set_plain, set_rich

ALSO_CALLED = {
    "workspace": marked("startup, directory"),
    "program.autostart": marked("autostart, startup, login, boot"),
    "window.editor": marked("open with, program, application"),
    "window.tray": marked("notification area, status icon, system tray"),
    "window.close_to_tray": marked("minimise, minimize, background, hide, notification area"),
    "window.notify": marked("notification, message, popup"),
    "window.theme": marked("colour scheme, color scheme, dark mode, night"),
    "window.font_scale": marked("zoom, font size, larger, smaller"),
    "window.language": marked("locale, translation"),
    "window.keys": marked("shortcuts, hotkeys, key bindings, quick search"),
    "window.keep_searches": marked("history, recent searches"),
    "extra_paths": marked("directory, vault"),
    "extensions": marked("file types, suffix"),
    "include": marked("filter, glob"),
    "exclude": marked("ignore, skip, hide"),
    "max_file_bytes": marked("size limit"),
    "sessions.folders": marked("history, transcripts, chats"),
    "provider": marked("embeddings, semantic, AI"),
    "remote.base_url": marked("server, endpoint, URL, Ollama"),
    "remote.api_key_env": marked("password, token, secret"),
    "remote.batch.enabled": marked("discount"),
    "backend": marked("database, search engine"),
    "query.max_results": marked("limit, top"),
    "query.min_score": marked("threshold, weak matches, relevance"),
    "query.hybrid.enabled": marked("hybrid search, keywords"),
    "query.hybrid.vector_weight": marked("weight, semantic, balance"),
    "query.hybrid.text_weight": marked("weight, keywords, balance"),
    "query.hybrid.mmr.enabled": marked("diversity, duplicates, MMR"),
    "query.hybrid.temporal_decay.enabled": marked("recency, newer, date, decay"),
    "query.hybrid.temporal_decay.evergreen": marked("pinned, recency, decay"),
    "query.cache.enabled": marked("cache"),
    "sync.watch": marked("automatic, live, refresh"),
    "sync.interval_minutes": marked("automatic, schedule, timer"),
    "store.path": marked("database, location, storage"),
    "store.vector.enabled": marked("semantic, embeddings"),
    "chunking.tokens": marked("chunks, pieces"),
}
"""By the options' keys, and by the name of system settings."""


def words_of(query: str) -> tuple[str, ...]:
    return tuple(_folded(query).split())


def fit(placed: OptionPlacement, value: object, words: Sequence[str]) -> int | None:
    """How well an option matches: 0 if every word equals a word of its name, 1 if each is a prefix of one, 2 a word of
    its whole text, 3 if one is inside a word; None if one is missing.

    Searched are its name, key, help and value, its page's name, and its synonyms; in the current language or in
    English, which the settings file uses.
    """
    option = placed.option
    name = [placed.name, tr(placed.name)]
    plain = [option.help, PAGES[placed.page], placed.group, ALSO_CALLED.get(option.key, "")]
    texts = [option.key, value_words(option, value), *option.choices, *plain, *map(tr, filter(None, plain))]
    for called in (choice_words, plain_choice_words):
        texts += [called(option.key, choice) for choice in option.choices]
    whole = _folded("\n".join([*name, *texts]))
    whole = f"{whole}\n{whole.replace('_', ' ')}"
    if not all(word in whole for word in words):
        return None
    named = _folded("\n".join(name))
    ways = ((r"\b{}\b", named), (r"\b{}", named), (r"\b{}", whole))
    fitting = (all(re.search(way.format(re.escape(word)), text) for word in words) for way, text in ways)
    return next((how for how, fits in enumerate(fitting) if fits), len(ways))


def with_marks(text: str, query: str, palette: QPalette) -> Styled:
    """`text` in parts, with each word of the query marked."""
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
    for hit in re.finditer("|".join(map(re.escape, words)), folded):
        parts += [(text[at : hit.start()], ""), (text[hit.start() : hit.end()], style)]
        at = hit.end()
    return [*parts, (text[at:], "")]


def mark(part: QLabel, text: str, query: str) -> None:
    """Let a label show `text` with the words of the query marked; an empty query takes that back."""
    if query:
        set_rich(part, with_marks(text, query, part.palette()))
    else:
        set_plain(part, text)


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
