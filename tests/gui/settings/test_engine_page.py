import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton

import engine
from engine import BackendError, Settings, load_settings
from gui.core.capabilities import capabilities
from gui.settings.dialog import SettingsDialog
from gui.settings.engine_and_model_choice import EngineChoice, switch_text
from gui.widgets.form_controls import RadioButton
from tests.helpers.fake_unsupported import LimitedMemory, reason


@pytest.fixture
def dialog(show_dialog) -> SettingsDialog:
    return show_dialog("engine")


def _radio(dialog, title: str) -> RadioButton:
    return next(button for button in dialog.findChildren(RadioButton) if button.label == title)


def _line(dialog, name: str) -> QLineEdit:
    return next(line for line in dialog.findChildren(QLineEdit) if line.accessibleName() == name)


def _test(dialog) -> QPushButton:
    return next(b for b in dialog.pages.page("engine").findChildren(QPushButton) if b.text() == "Test")


def _shown_text(dialog) -> str:
    return " ".join(
        label.text().replace("\u200b", "") for label in dialog.findChildren(QLabel) if label.isVisibleTo(dialog)
    )


def test_current_engine_is_selected_and_focused(qtbot, dialog):
    assert _radio(dialog, "Built-in index").isChecked()
    assert QApplication.focusWidget() is _radio(dialog, "Built-in index")
    assert not dialog.pages.page("engine").save_button.isEnabled()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Down)
    assert _radio(dialog, "qmd").isChecked()
    assert _line(dialog, "Command").isVisible()


def test_engine_choice_is_saved_for_this_folder(qtbot, dialog, notes, user_home):
    _radio(dialog, "qmd").click()
    qtbot.keyClicks(_line(dialog, "Command"), "/opt/qmd")
    assert "Nothing is deleted" in _shown_text(dialog)
    with qtbot.waitSignal(dialog.saved) as saved:
        dialog.pages.page("engine").save_button.click()
    assert saved.args == [None]
    assert not dialog.isVisible()
    settings = load_settings(notes)
    assert (settings.backend, settings.qmd.command) == ("qmd", "/opt/qmd")
    assert load_settings().backend == "builtin"


def test_failed_save_shows_reason_and_can_be_retried(qtbot, dialog, monkeypatch):
    def refuse(*_args, **_options):
        raise engine.SettingsError("Line 3 is wrong.")

    monkeypatch.setattr(engine, "save_settings", refuse, raising=False)
    _radio(dialog, "qmd").click()
    dialog.pages.page("engine").save_button.click()
    qtbot.waitUntil(lambda: "Line 3 is wrong." in _shown_text(dialog))
    assert dialog.pages.page("engine").save_button.isEnabled()


def test_engine_test_uses_current_field_values(qtbot, dialog, monkeypatch, notes):
    tried = []

    def find(folder, settings, *, cancel):
        tried.append((folder, settings.backend, settings.qmd.command))
        if settings.qmd.command == "nowhere":
            raise BackendError("The command nowhere was not found.")
        return "qmd 2.8.3 answered."

    monkeypatch.setattr(engine, "try_backend", find, raising=False)
    _radio(dialog, "qmd").click()
    _test(dialog).click()
    qtbot.waitUntil(lambda: "qmd 2.8.3 answered." in _shown_text(dialog))
    _line(dialog, "Command").clear()
    qtbot.keyClicks(_line(dialog, "Command"), "nowhere")
    assert "answered" not in _shown_text(dialog)
    _test(dialog).click()
    qtbot.waitUntil(lambda: "was not found" in _shown_text(dialog))
    assert tried == [(notes, "qmd", "qmd"), (notes, "qmd", "nowhere")]


def test_returning_to_current_engine_changes_nothing(qtbot, dialog):
    _radio(dialog, "qmd").click()
    _radio(dialog, "Built-in index").click()
    assert not dialog.pages.page("engine").save_button.isEnabled()
    assert "deleted" not in _shown_text(dialog)


def test_engine_without_models_opens_engine_page(qtbot, appearance, jobs, notes):
    memory = LimitedMemory("models")
    capabilities().begin(memory.unsupported)
    dialog = SettingsDialog(jobs)
    qtbot.addWidget(dialog)
    dialog.begin(notes, Settings(), memory)
    qtbot.waitUntil(lambda: dialog.pages.page("engine").isVisible())
    dialog.show_page("embedding")
    assert reason("models") in _shown_text(dialog)
    assert not any(button.isVisible() for button in dialog.findChildren(QPushButton) if button.text() == "Save")
    next(b for b in dialog.findChildren(QPushButton) if b.text() == "Choose another engine…").click()
    assert dialog.pages.page("engine").isVisible()
    assert memory.requests == []
    dialog.reject()
    memory.close()


@pytest.mark.parametrize("page", ["embedding", "stored", "engine"])
def test_low_dialog_scrolls_and_cuts_no_label(qtbot, appearance, jobs, memory, notes, page):
    dialog = SettingsDialog(jobs)
    qtbot.addWidget(dialog)
    appearance.set_font_scale(1.5)
    dialog.begin(notes, Settings(provider="openai"), memory, page)
    embedding = dialog.pages.page("embedding")
    embedding._problem.setText("The key was refused by the service: see whether it was copied whole. " * 3)
    embedding._problem.show()
    dialog.resize(560, 360)
    qtbot.waitUntil(lambda: dialog.ready)
    assert (dialog.width(), dialog.height()) == (560, 360)
    visible_labels = [label for label in dialog.findChildren(QLabel) if label.isVisible()]
    qtbot.waitUntil(lambda: all(label.height() >= label.heightForWidth(label.width()) for label in visible_labels))
    dialog.reject()


def test_engine_changes_contain_only_differences():
    before = EngineChoice.of(Settings())
    assert before.changes(before) == {}
    now = EngineChoice("qmd", search_mode="query")
    assert now.changes(before) == {"backend": "qmd", "qmd.search_mode": "query"}
    assert now.applied_to(Settings()).qmd.search_mode == "query"
    assert "opened again" in switch_text(EngineChoice("qmd", command="x"), EngineChoice("qmd"))


def test_engine_test_result_is_scrolled_into_view(qtbot, dialog, monkeypatch):
    def refuse(*_args, **_options):
        raise BackendError("The table cannot be reached, and this is said in a sentence of some length. " * 2)

    monkeypatch.setattr(engine, "try_backend", refuse)
    _radio(dialog, "LanceDB table").click()
    dialog.resize(560, 380)
    _test(dialog).click()
    qtbot.waitUntil(lambda: dialog.pages.page("engine").ready)
    [sentence] = [label for label in dialog.findChildren(QLabel) if label.text().startswith("The table cannot")]
    qtbot.waitUntil(lambda: sentence.visibleRegion().boundingRect() == sentence.rect())
    assert dialog.height() == 380
    assert all(
        button.visibleRegion().boundingRect() == button.rect() for button in (dialog.pages.page("engine").save_button,)
    )
