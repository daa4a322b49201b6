from collections import Counter

import msgspec
import pytest

from engine import Settings, all_options
from gui.settings.embedding_choice import EmbeddingChoice
from gui.settings.engine_choice import EngineChoice
from gui.settings.page_layout import FORMS, PAGES, name_of, options_on, placed_options


def test_every_option_on_one_page():
    shown = Counter(placed.key for page in PAGES for placed in options_on(page))
    assert shown == Counter(option.key for option in all_options())


def test_every_option_has_a_name_of_its_own_on_its_page():
    names = Counter((placed.page, placed.group, placed.title) for placed in placed_options().values())
    assert [name for name, number in names.items() if number > 1] == []


def test_the_forms_save_the_options_of_their_pages_and_no_others():
    other = EmbeddingChoice("openai", "m", 7, "gguf", "https://x/v1", ("openai",), True, "f", {"a/b": 1.0})
    engine = EngineChoice("qmd", "q", "query", "u", "t", "m")
    saved = {
        "embedding": set(other.changes(EmbeddingChoice.of(Settings()))),
        "engine": set(engine.changes(EngineChoice.of(Settings()))),
    }
    assert saved == {page: {placed.key for placed in options_on(page)} for page in FORMS}


def test_a_new_option_of_the_window_would_have_its_row_for_free(monkeypatch):
    from gui.settings import page_layout

    added = msgspec.structs.replace(all_options()[0], key="window.show_ruler")
    monkeypatch.setattr(page_layout, "all_options", lambda: (*all_options(), added))
    page_layout.placed_options.cache_clear()
    try:
        found = page_layout.placed_options()["window.show_ruler"]
    finally:
        monkeypatch.undo()
        page_layout.placed_options.cache_clear()
    assert (found.page, found.title) == ("general", "Show ruler")


@pytest.mark.parametrize(("key", "title"), [("a.b_c", "B c"), ("x", "X")])
def test_a_name_is_made_of_a_key(key, title):
    assert name_of(key) == title
