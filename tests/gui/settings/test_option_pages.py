from collections import Counter

import msgspec
import pytest

from engine import Settings, all_options
from gui.settings.engine_and_model_choice import EmbeddingChoice, EngineChoice
from gui.settings.option_pages import FORMS, PAGES, name_of, options_on, placed_options


def test_every_option_is_on_exactly_one_page():
    shown = Counter(placed.key for page in PAGES for placed in options_on(page))
    assert shown == Counter(option.key for option in all_options())


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
