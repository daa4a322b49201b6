import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QPushButton

import engine
from gui.viewer import external_programs
from tests.helpers.windows import at_rest


@pytest.fixture
def editors(monkeypatch):
    """The opened files, as (name, line, command); only a chosen editor works."""
    seen = []

    def open_in_editor(path, line, command):
        seen.append((path.name, line, command))
        return "" if command else f"No program is set up to open {path.name}."

    monkeypatch.setattr(external_programs, "open_in_editor", open_in_editor)
    return seen


def _press_ctrl_e(qtbot, window):
    window.search.search("greenhouse")
    qtbot.waitUntil(lambda: at_rest(window) and bool(window.viewer.name))
    window.search.focus_box()
    qtbot.keyClick(window.search.box.edit, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)


def _button(window):
    return next(one for one in window.banner.findChildren(QPushButton) if one.text() == "Choose an editor…")


def test_ctrl_e_without_editor_offers_a_choice(qtbot, opened, editors, monkeypatch):
    _press_ctrl_e(qtbot, opened)
    qtbot.waitUntil(lambda: "No program is set up to open greenhouse.md." in opened.banner.text)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("/usr/bin/kate", ""))
    qtbot.mouseClick(_button(opened), Qt.MouseButton.LeftButton)
    command = "/usr/bin/kate -l {line} {path}"
    qtbot.waitUntil(lambda: len(editors) == 2)
    assert editors[1] == (*editors[0][:2], command)
    qtbot.waitUntil(lambda: engine.load_settings().window.editor == command)
    qtbot.waitUntil(lambda: opened.workspace.current.settings.window.editor == command)
    assert not opened.banner.isVisible()


def test_cancelled_choice_saves_nothing(qtbot, opened, editors, monkeypatch):
    _press_ctrl_e(qtbot, opened)
    qtbot.waitUntil(opened.banner.isVisible)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("", ""))
    qtbot.mouseClick(_button(opened), Qt.MouseButton.LeftButton)
    assert len(editors) == 1
    assert engine.load_settings().window.editor == ""


def test_missing_editor_message_is_hidden_with_its_view(qtbot, opened, editors):
    _press_ctrl_e(qtbot, opened)
    qtbot.waitUntil(opened.banner.isVisible)
    opened.views.switch("sessions")
    assert not opened.banner.isVisible()
