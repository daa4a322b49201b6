import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QWidget

import engine
from gui.commands.commands import key_action
from gui.commands.keymap import Command, Keymap, keymap
from gui.settings.custom_keys import CustomKeys
from gui.settings.keyboard_page import KeyboardPage
from tests.helpers.catalogue import translated

Key = Qt.Key
Control, Shift, Alt = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)
BOX = Command("trial.box", "Go to the box", ("window",), ("Ctrl+Alt+K", "Ctrl+Alt+L"))
WRAP = Command("trial.wrap", "Fold lines…", ("file",), ("Alt+Z",))


@pytest.fixture
def config(tmp_path):
    return tmp_path / "settings.toml"


@pytest.fixture
def mapped(qapp) -> Keymap:
    made = keymap()
    made.declare(BOX)
    made.declare(WRAP)
    return made


@pytest.fixture
def page(qtbot, appearance, jobs, mapped, config):
    own = CustomKeys(jobs, mapped, config)
    with appearance.bare():
        page = KeyboardPage(own, mapped)
    qtbot.addWidget(page)
    page.resize(700, 560)
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    yield page
    qtbot.waitUntil(lambda: not own.saving)


def _rows(page):
    return [row.label for row in page.table.records]


def test_key_is_assigned_by_pressing_it(qtbot, page, mapped, config):
    page.take_focus()
    qtbot.keyClicks(page.edit, "fold lin")
    assert _rows(page) == ["Fold lines"]
    qtbot.keyClick(page.edit, Key.Key_Down)
    qtbot.keyClick(page.table, Key.Key_Return)
    assert page.capture.hasFocus()
    qtbot.keyClick(page.capture, Key.Key_W, Control | Alt)
    assert page.hint.text() == "Ctrl+Alt+W is not used yet."
    qtbot.keyClick(page.capture, Key.Key_Return)
    assert mapped.keys(WRAP.name) == ("Ctrl+Alt+W",)
    assert page.table.hasFocus()
    qtbot.waitUntil(config.exists)
    assert engine.load_settings(config=config).window.keys == {WRAP.name: ("Ctrl+Alt+W",)}


def test_command_is_found_in_window_language_and_english(page):
    german = {"Fold lines…": "Zeilen umbrechen\u00a0…"}
    with translated(lambda text: german.get(text, text)):
        for typed in ("zeilen", "fold lin"):
            page.edit.setText(typed)
            assert _rows(page) == ["Zeilen umbrechen"]


def test_new_key_applies_to_existing_action(qtbot, page, mapped):
    panel = QWidget()
    qtbot.addWidget(panel)
    action = key_action(panel, WRAP)
    page.table.choose(WRAP.name)
    page.capture.setFocus()
    qtbot.keyClick(page.capture, Key.Key_F8)
    qtbot.mouseClick(page.set_button, Qt.MouseButton.LeftButton)
    assert [key.toString() for key in action.shortcuts()] == ["F8"]
    qtbot.keyClick(page.capture, Key.Key_F9, Shift)
    qtbot.mouseClick(page.add_button, Qt.MouseButton.LeftButton)
    assert [key.toString() for key in action.shortcuts()] == ["F8", "Shift+F9"]


def test_key_conflict_names_command_that_loses_it(qtbot, page, mapped):
    page.table.choose(WRAP.name)
    page.capture.setFocus()
    qtbot.keyClick(page.capture, Key.Key_K, Control | Alt)
    assert "“Go to the box” (All views), which would lose it." in page.hint.text()
    qtbot.keyClick(page.capture, Key.Key_Return)
    assert mapped.keys(BOX.name) == ("Ctrl+Alt+L",)
    assert mapped.keys(WRAP.name) == ("Ctrl+Alt+K",)


def test_fixed_key_is_refused(qtbot, page, mapped):
    page.table.choose(WRAP.name)
    page.capture.setFocus()
    qtbot.keyClick(page.capture, Key.Key_N)
    assert page.hint.text() == "N is used by “Next and previous match” (File) and can't be changed."
    assert not page.set_button.isEnabled()
    qtbot.keyClick(page.capture, Key.Key_Return)
    assert mapped.keys(WRAP.name) == ("Alt+Z",)


def test_escape_cancels_capture_and_tab_moves_on(qtbot, page, mapped):
    page.table.choose(WRAP.name)
    page.capture.setFocus()
    qtbot.keyClick(page.capture, Key.Key_F8)
    qtbot.keyClick(page.capture, Key.Key_Tab)
    assert page.set_button.hasFocus()
    page.capture.setFocus()
    qtbot.keyClick(page.capture, Key.Key_Escape)
    assert page.table.hasFocus()
    assert (page.capture.key, mapped.keys(WRAP.name)) == ("", ("Alt+Z",))


def test_keys_are_removed_and_reset(qtbot, page, mapped, config):
    page.table.choose(WRAP.name)
    page.table.setFocus()
    qtbot.keyClick(page.table, Key.Key_Delete)
    assert mapped.keys(WRAP.name) == ()
    assert page.command == WRAP
    assert page.hint.text() == "Default: Alt+Z."
    qtbot.mouseClick(page.reset_button, Qt.MouseButton.LeftButton)
    assert mapped.keys(WRAP.name) == ("Alt+Z",)
    assert not page.reset_button.isEnabled()
    qtbot.keyClick(page.table, Key.Key_Delete)
    qtbot.mouseClick(page.reset_all_button, Qt.MouseButton.LeftButton)
    assert mapped.keys(WRAP.name) == ("Alt+Z",)
    assert not page.reset_all_button.isEnabled()


def test_failed_save_is_shown(qtbot, page, config):
    config.write_text("no settings file")
    page.table.choose(WRAP.name)
    page.table.setFocus()
    qtbot.keyClick(page.table, Key.Key_Delete)
    qtbot.waitUntil(lambda: "could not be saved" in page.problem.text())


def test_no_table_text_is_cut_in_narrow_page(qtbot, page, appearance):
    appearance.set_font_scale(2.0)
    qtbot.waitUntil(lambda: page.ready)
    table, metrics = page.table, page.table.fontMetrics()

    def wrapped() -> int:
        """Return how many texts are wrapped, all of them completely visible; -1 if one is cut."""
        found = 0
        for number in range(table.model().rowCount()):
            for column in range(3):
                words = table.model().index(number, column).data()
                room = QRect(0, 0, table.columnWidth(column) - 12, 0)
                needed = metrics.boundingRect(room, Qt.TextFlag.TextWordWrap, words)
                if (needed.width() > room.width() and column) or needed.height() > table.rowHeight(number):
                    return -1
                found += needed.height() > metrics.height()
        return found

    assert wrapped() > 0
    for typed in ("open", ""):  # the scroll bar stays, and so the size of the table
        page.edit.setText(typed)
        qtbot.waitUntil(lambda: wrapped() >= 0)
    assert wrapped() > 0
