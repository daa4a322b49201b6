import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QPlainTextEdit, QSpinBox, QWidget

from gui.commands.keymap import keymap
from gui.viewer import external_programs
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import SESSIONS
from tests.helpers.windows import at_rest

Key, Modifier = Qt.Key, Qt.KeyboardModifier
ALT, CTRL = Modifier.AltModifier, Modifier.ControlModifier
UNBOUND = (Key.Key_W, Key.Key_X, Key.Key_Q, Key.Key_7)
"""Keys without a command when pressed with Alt; other letters open menus."""


@pytest.fixture
def memory():
    memory = FakeMemory(sessions=SESSIONS)
    memory.facts.add("The dog is called Bo")
    yield memory
    memory.close()


def _searched(qtbot, window, text="greenhouse"):
    """Search, and return the focused search box; results are below it and the best one is in the viewer."""
    box = window.search.box.edit
    window.search.search(text)
    qtbot.waitUntil(lambda: at_rest(window) and bool(window.viewer.name))
    window.search.focus_box()
    box.end(False)
    assert QApplication.focusWidget() is box
    return box


def test_alt_l_in_box_copies_link_of_result(qtbot, opened):
    box = _searched(qtbot, opened)
    selected = opened.search.view.list.current_result()
    qtbot.keyClick(box, Key.Key_L, ALT)
    assert box.text() == "greenhouse"
    qtbot.waitUntil(lambda: selected.path.removesuffix(".md") in QGuiApplication.clipboard().text())


def test_alt_m_in_box_searches_similar_to_result(qtbot, opened, memory):
    box = _searched(qtbot, opened)
    selected = opened.search.view.list.current_result()
    qtbot.keyClick(box, Key.Key_M, ALT)
    qtbot.waitUntil(lambda: bool(memory.liked) and at_rest(opened))
    assert memory.liked[-1].path == selected.path


def test_alt_c_and_alt_z_in_box_toggle_viewer_options(qtbot, opened):
    box = _searched(qtbot, opened)
    for key, action in ((Key.Key_C, opened.viewer.chunks_action), (Key.Key_Z, opened.viewer.wrap_action)):
        before = action.isChecked()
        qtbot.keyClick(box, key, ALT)
        assert action.isChecked() is not before
    assert box.text() == "greenhouse"


def test_ctrl_f_in_box_opens_find_bar(qtbot, opened):
    box = _searched(qtbot, opened)
    qtbot.keyClick(box, Key.Key_F, CTRL)
    focus = QApplication.focusWidget()
    assert focus is not box
    assert opened.viewer.isAncestorOf(focus)
    assert isinstance(focus, QLineEdit)


def test_ctrl_e_in_box_opens_result_in_editor(qtbot, opened, monkeypatch):
    box = _searched(qtbot, opened)
    monkeypatch.setattr(external_programs, "open_in_editor", lambda *_: "")
    box.home(False)
    selected = opened.search.view.list.current_result()
    with qtbot.waitSignal(opened.search.actions.editor_requested) as signal:
        qtbot.keyClick(box, Key.Key_E, CTRL)
    assert signal.args == [selected]
    assert box.cursorPosition() == 0


def test_user_defined_shortcut_works_in_query_box(qtbot, opened):
    keymap().set_own({"results.copy-path": ["Ctrl+J"]})
    box = _searched(qtbot, opened)
    qtbot.keyClick(box, Key.Key_J, CTRL)
    assert QGuiApplication.clipboard().text() == opened.search.view.list.current_result().path


def test_editing_keys_act_on_box(qtbot, opened):
    box = _searched(qtbot, opened)
    box.selectAll()
    qtbot.keyClick(box, Key.Key_C, CTRL)
    assert QGuiApplication.clipboard().text() == "greenhouse"
    qtbot.keyClick(box, Key.Key_X, CTRL)
    assert box.text() == ""
    qtbot.keyClick(box, Key.Key_Z, CTRL)
    assert box.text() == "greenhouse"


def test_ctrl_n_in_facts_box_starts_new_fact(qtbot, opened):
    opened.views.switch("facts")
    box = opened.views.facts.box.edit
    qtbot.waitUntil(lambda: at_rest(opened))
    assert QApplication.focusWidget() is box
    qtbot.keyClick(box, Key.Key_N, CTRL)
    assert opened.views.facts.body.editor.is_new


def test_alt_l_in_sessions_box_copies_link_of_session(qtbot, opened):
    opened.views.switch("sessions")
    box = opened.views.sessions.box.edit
    qtbot.waitUntil(lambda: at_rest(opened) and opened.views.sessions.view.list.current_session() is not None)
    QGuiApplication.clipboard().clear()
    qtbot.keyClick(box, Key.Key_L, ALT)
    qtbot.waitUntil(lambda: "session" in QGuiApplication.clipboard().text())
    assert box.text() == ""


def test_key_without_result_does_nothing(qtbot, opened):
    box = opened.search.box.edit
    opened.search.focus_box()
    for key in (Key.Key_L, Key.Key_M, Key.Key_C, Key.Key_Z, Key.Key_W):
        qtbot.keyClick(box, key, ALT)
    assert box.text() == ""


def test_unbound_alt_letter_types_nothing_in_field(qtbot, opened):
    for kind in (QLineEdit, QPlainTextEdit, QSpinBox, QComboBox):
        field = kind(opened.centralWidget())
        if isinstance(field, QComboBox):
            field.setEditable(True)
        text = getattr(field, "toPlainText", None) or getattr(field, "currentText", None) or field.text
        field.show()
        field.setFocus()
        assert QApplication.focusWidget() is field
        before = text()
        for key in UNBOUND:
            qtbot.keyClick(field, key, ALT)
        assert text() == before, kind
        qtbot.keyClick(field, Key.Key_7)
        assert "7" in text(), kind
        field.deleteLater()


def test_option_key_that_composes_character_types_it(qtbot, opened):
    """Option+G is © on a Mac."""
    box = opened.search.box.edit
    opened.search.focus_box()
    QApplication.sendEvent(box, QKeyEvent(QEvent.Type.KeyPress, Key.Key_G, ALT, "©"))
    assert box.text() == "©"


def test_every_box_of_window_ignores_alt_letters(qtbot, opened):
    fields = [one for one in opened.findChildren(QWidget) if isinstance(one, QLineEdit | QPlainTextEdit)]
    assert fields
    for field in fields:
        if not (field.isVisible() and field.isEnabled()):
            continue
        field.setFocus()
        before = field.text() if isinstance(field, QLineEdit) else field.toPlainText()
        for key in UNBOUND:
            qtbot.keyClick(field, key, ALT)
        assert (field.text() if isinstance(field, QLineEdit) else field.toPlainText()) == before


def test_key_of_the_viewer_works_in_result_list(qtbot, opened):
    _searched(qtbot, opened)
    viewer = opened.viewer
    for key, modifier, is_shown in (
        (Key.Key_F3, Modifier.NoModifier, lambda: not viewer.hint.isHidden()),
        (Key.Key_R, ALT, lambda: viewer.page is viewer.rendered),
        (Key.Key_F, CTRL, lambda: viewer.find_in_text.open),
    ):
        opened.search.focus_list()
        assert not is_shown()
        qtbot.keyClick(QApplication.focusWidget(), key, modifier)
        qtbot.waitUntil(is_shown)
