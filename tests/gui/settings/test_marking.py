import pytest

from engine import language
from gui.settings.marking import found, words_of
from gui.settings.places import placed_options

GERMAN = {"Largest file": "Größte Datei", "Sources": "Quellen", "Light": "Hell"}


@pytest.fixture
def german(monkeypatch):
    monkeypatch.setattr(language, "_speech", language._Speech("de", lambda text: GERMAN.get(text, text)))


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(
    "query", ["größte datei", "grosste", "largest file", "max_file", "max file", "quellen sources"]
)
def test_an_option_is_found_in_the_language_of_the_window_and_in_english(query):
    assert found(placed_options()["max_file_bytes"], 1, words_of(query))


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize("query", ["hell", "light", "high-contrast", "high contrast"])
def test_its_choices_are_found_in_both(query):
    assert found(placed_options()["window.theme"], "system", words_of(query))


@pytest.mark.usefixtures("german")
def test_other_words_find_nothing():
    assert not found(placed_options()["max_file_bytes"], 1, words_of("largest theme"))
