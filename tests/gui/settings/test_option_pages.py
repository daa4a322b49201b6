from collections import Counter

import msgspec
import pytest
from PySide6.QtGui import QPalette

from engine import Settings, all_options
from gui.settings.engine_and_model_choice import EmbeddingChoice, EngineChoice
from gui.settings.option_pages import (
    ALSO_CALLED,
    FORMS,
    PAGES,
    match_rank,
    name_of,
    options_on,
    placed_options,
    with_marks,
    words_of,
)
from tests.helpers.catalogue import translated


def test_every_option_is_on_exactly_one_page():
    placed_options = Counter(placed.key for page in PAGES for placed in options_on(page))
    assert placed_options == Counter(option.key for option in all_options())


def test_option_titles_are_unique_per_group():
    names = Counter((placed.page, placed.group, placed.title) for placed in placed_options().values())
    assert [name for name, number in names.items() if number > 1] == []


def test_forms_save_exactly_the_options_of_their_page():
    other = EmbeddingChoice("openai", "m", 7, "gguf", "https://x/v1", ("openai",), True, "f", {"a/b": 1.0})
    engine = EngineChoice("qmd", "q", "query", "u", "t", "m")
    saved = {
        "embedding": set(other.changes(EmbeddingChoice.of(Settings()))),
        "engine": set(engine.changes(EngineChoice.of(Settings()))),
    }
    assert saved == {page: {placed.key for placed in options_on(page)} for page in FORMS}


def test_new_window_option_gets_a_row(monkeypatch):
    from gui.settings import option_pages

    added = msgspec.structs.replace(all_options()[0], key="window.show_ruler", label="")
    monkeypatch.setattr(option_pages, "all_options", lambda: (*all_options(), added))
    option_pages.placed_options.cache_clear()
    try:
        found = option_pages.placed_options()["window.show_ruler"]
    finally:
        monkeypatch.undo()
        option_pages.placed_options.cache_clear()
    assert (found.page, found.title) == ("general", "Show ruler")


@pytest.mark.parametrize(("key", "title"), [("a.b_c", "B c"), ("x", "X")])
def test_option_name_is_made_from_key(key, title):
    assert name_of(key) == title


GERMAN = {"Maximum file size": "Größte Datei", "Sources": "Quellen", "Light": "Hell"}


@pytest.fixture
def german():
    with translated(lambda text: GERMAN.get(text, text)):
        yield


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize("query", ["größte datei", "grosste", "max_file", "max file", "quellen max"])
def test_option_is_found_by_shown_text_and_key(query):
    assert match_rank(placed_options()["max_file_bytes"], 1, words_of(query)) is not None


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize("query", ["maximum file", "sources"])
def test_option_is_not_found_by_hidden_english_text(query):
    assert match_rank(placed_options()["max_file_bytes"], 1, words_of(query)) is None


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize("query", ["hell", "light", "high-contrast"])
def test_choices_are_found_by_label_and_settings_value(query):
    assert match_rank(placed_options()["window.theme"], "system", words_of(query)) is not None


@pytest.mark.usefixtures("german")
def test_unrelated_words_match_nothing():
    assert match_rank(placed_options()["max_file_bytes"], 1, words_of("largest theme")) is None


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("notification", "window.notify"),
        ("binding", "window.keys"),
        ("zoom", "window.font_scale"),
        ("ignore", "exclude"),
        ("threshold", "query.min_score"),
        ("recent searches", "window.search_history"),
        ("minimize", "window.close_to_tray"),
    ],
)
def test_option_is_found_by_synonym(query, key):
    option = placed_options()[key]
    assert match_rank(option, option.option.default, words_of(query)) == 2


def test_synonym_keys_are_existing_options():
    assert set(ALSO_CALLED) - set(placed_options()) == {"program.autostart"}


@pytest.mark.parametrize(
    ("query", "key", "how"),
    [
        ("newer", "query.hybrid.temporal_decay.enabled", 0),
        ("the", "window.theme", 1),
        ("age", "sessions.thinking", 1),
        ("hotkeys", "window.keys", 2),
        ("temporal", "query.hybrid.temporal_decay.enabled", 2),
        ("age", "window.language", None),
        ("age", "window.notify", None),
    ],
)
def test_option_name_ranks_above_help_text(query, key, how):
    option = placed_options()[key]
    assert match_rank(option, option.option.default, words_of(query)) == how


@pytest.mark.parametrize(("query", "value"), [(".md", (".md", ".txt")), ("*.bak", ("*.bak",)), ("~/sync", ("~/sync",))])
def test_words_that_begin_with_a_sign_are_found_and_marked(query, value):
    assert match_rank(placed_options()["exclude"], value, words_of(query)) is not None
    marked = [part for part, style in with_marks(f"Files: {query}", query, QPalette()) if style]
    assert marked == [query]
