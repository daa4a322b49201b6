import pytest

from engine import all_options
from engine.base import language
from gui.settings.option_row import LanguageField, field_for

OPTION = next(option for option in all_options() if option.key == "window.language")


@pytest.fixture
def field(qtbot, monkeypatch):
    monkeypatch.setenv("LANGUAGE", "de")
    made = field_for(OPTION, "Language")
    qtbot.addWidget(made)
    assert isinstance(made, LanguageField)
    return made


def test_languages_stand_by_their_own_names(field):
    assert [field.box.itemText(row) for row in range(field.box.count())] == ["System", "English", "Deutsch"]


@pytest.mark.parametrize(("language", "later"), [("en", False), ("de", True), ("system", True)])
def test_another_language_is_said_to_come_with_the_next_start(field, language, later):
    field.show_value(language)
    assert field.later.isHidden() is not later


def test_the_language_that_is_spoken_needs_no_other_start(field, monkeypatch):
    monkeypatch.setattr(language, "_speech", language._Speech("de"))
    field.show_value("system")
    assert field.later.isHidden()
