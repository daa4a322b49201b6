import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPlainTextEdit, QPushButton, QWidget

from engine import SessionNote
from gui.remember.note_dialog import NoteDialog
from gui.widgets.form_controls import ComboBox

Key = Qt.Key
NOTE = SessionNote(
    session="sessions/claude/a",
    date="2026-05-31",
    time="16:59:59",
    slug="drip-valve",
    existing="",
    text="# Session: 2026-05-31 16:59:59 UTC\n\nuser: Why?\n",
    messages=15,
    session_messages=38,
)


@pytest.fixture
def dialog(qtbot, appearance) -> NoteDialog:
    window = QWidget()
    window.resize(900, 700)
    qtbot.addWidget(window)
    window.show()
    dialog = NoteDialog("Fix the valve", "notes", window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    yield dialog
    dialog.done(0)


@pytest.fixture
def filled(dialog) -> NoteDialog:
    dialog.show_note(NOTE)
    return dialog


def name(dialog) -> QLineEdit:
    return dialog.findChild(QLineEdit)


def text(dialog) -> QPlainTextEdit:
    return dialog.findChild(QPlainTextEdit)


def button(dialog, words: str) -> QPushButton:
    return next(button for button in dialog.findChildren(QPushButton) if button.text() == words)


def shown_text(dialog) -> str:
    return " ".join(found.text() for found in dialog.findChildren(QLabel) if found.isVisible()).replace("\u200b", "")


def counts(dialog) -> list[str]:
    box = dialog.findChild(ComboBox)
    return [box.itemText(index) for index in range(box.count())]


def test_save_is_disabled_until_session_is_read(dialog):
    assert "Reading the session" in shown_text(dialog)
    assert not button(dialog, "Save").isEnabled()


def test_sheet_shows_target_path(filled):
    assert "Will be saved as memory/2026-05-31-drip-valve.md in notes. Secrets are masked." in shown_text(filled)
    assert counts(filled) == [
        "The last 5 of 38 messages",
        "The last 15 of 38 messages",
        "The last 30 of 38 messages",
        "All 38 messages",
    ]
    name(filled).setText("")
    name(filled).insert("Größe & Zahl!")
    assert "memory/2026-05-31-grosse-zahl.md" in shown_text(filled)
    name(filled).editingFinished.emit()
    assert name(filled).text() == "grosse-zahl"


@pytest.mark.parametrize("typed", ["", "京都", "--"])
def test_save_is_disabled_without_valid_name(filled, typed):
    name(filled).setText(typed)
    assert not button(filled, "Save").isEnabled()
    assert "needs letters" in shown_text(filled)


def test_save_is_disabled_for_empty_text(filled):
    text(filled).clear()
    assert not button(filled, "Save").isEnabled()


def test_enter_in_name_and_button_save_edited_text(qtbot, filled):
    text(filled).appendPlainText("Mine.")
    with qtbot.waitSignal(filled.save_requested) as saved:
        qtbot.keyClick(name(filled), Key.Key_Return)
    assert saved.args == [f"{NOTE.text}\nMine.", "drip-valve"]
    assert not button(filled, "Save").isEnabled()
    filled.fail("The disk is full.")
    assert "The disk is full." in shown_text(filled)
    with qtbot.waitSignal(filled.save_requested):
        button(filled, "Save").click()


def test_suggested_name_does_not_replace_typed_name(qtbot, filled):
    filled.suggest("sticky-relay")
    assert name(filled).text() == "sticky-relay"
    qtbot.keyClick(name(filled), Key.Key_X)
    filled.suggest("other")
    assert name(filled).text() == "x"


def test_message_count_change_can_be_undone(qtbot, filled):
    text(filled).appendPlainText("Mine.")
    with qtbot.waitSignal(filled.count_chosen) as chosen:
        filled.findChild(ComboBox).setCurrentIndex(0)
    assert chosen.args == [5]
    filled.show_note(msgspec.structs.replace(NOTE, messages=5, text="# Shorter\n"))
    assert text(filled).toPlainText() == "# Shorter\n"
    text(filled).undo()
    assert "Mine." in text(filled).toPlainText()


def test_escape_twice_discards_changes(qtbot, filled):
    text(filled).insertPlainText("Mine.")
    qtbot.keyClick(filled, Key.Key_Escape)
    assert filled.isVisible()
    assert "not saved" in shown_text(filled)
    qtbot.keyClick(filled, Key.Key_Escape)
    assert not filled.isVisible()


def test_escape_without_changes_closes_immediately(qtbot, filled):
    qtbot.keyClick(filled, Key.Key_Escape)
    assert not filled.isVisible()


def test_existing_note_is_reported(dialog):
    dialog.show_note(msgspec.structs.replace(NOTE, existing="memory/2026-05-31-drip.md"))
    assert "This session already has a note: memory/2026-05-31-drip.md." in shown_text(dialog)
    dialog.suggest("better")
    assert "already" in shown_text(dialog)


def test_message_count_from_settings_is_offered(dialog):
    dialog.show_note(msgspec.structs.replace(NOTE, messages=20, session_messages=500))
    assert counts(dialog) == [f"The last {count} of 500 messages" for count in (5, 15, 20, 30, 60, 100)]


def test_sheet_fits_its_window(qtbot, appearance):
    window = QWidget()
    window.resize(560, 360)
    qtbot.addWidget(window)
    window.show()
    small = NoteDialog("Fix the valve", "notes", window)
    small.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    small.show_note(NOTE)
    assert small.width() <= 560
    assert small.height() <= 360
    assert small.minimumSizeHint().height() <= 360
    small.done(0)
