import pytest

from engine import all_options
from gui.settings.option_row import LanguageField, field_for
from tests.helpers.catalogue import translated

OPTION = next(option for option in all_options() if option.key == "window.language")


@pytest.fixture
def field(qtbot, monkeypatch):
    monkeypatch.setenv("LANGUAGE", "de")
    made = field_for(OPTION, "Language")
    qtbot.addWidget(made)
    assert isinstance(made, LanguageField)
    return made


def test_languages_are_listed_by_native_name(field):
    assert [field.box.itemText(row) for row in range(field.box.count())] == ["System", "English", "Deutsch"]


@pytest.mark.parametrize(("language", "later"), [("en", False), ("de", True), ("system", True)])
def test_different_language_mentions_restart(field, language, later):
    field.show_value(language)
    assert field.later.isHidden() is not later


def test_current_language_mentions_no_restart(field):
    with translated(str):
        field.show_value("system")
        assert field.later.isHidden()
