"""Operating an open session by keyboard."""

import threading

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QPushButton

from gui.conversation.panel import ConversationPanel
from gui.conversation.row_folding import GROUP, SUMMARY, Row
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import SECRET, SESSIONS, VALVE

Key = Qt.Key
opens_menu = pytest.mark.qt_log_ignore("grabbing the keyboard", "support raise", extend=True)
"""Ignores a warning: the platform without a screen can't do everything for an open menu, but keys reach it."""


@pytest.fixture
def panel(qtbot, conversation_panel: ConversationPanel) -> ConversationPanel:
    """The session with a secret; the conversation has the focus."""
    with qtbot.waitSignal(conversation_panel.session_shown):
        conversation_panel.show_session(VALVE)
    conversation_panel.setFocus()
    assert conversation_panel.view.hasFocus()
    return conversation_panel


def focused() -> str:
    """Return the label or name of the focused widget."""
    widget = QApplication.focusWidget()
    return (widget.text() if isinstance(widget, QPushButton) else "") or widget.accessibleName()


def press(key: Qt.Key, times: int = 1) -> None:
    for _ in range(times):
        QTest.keyClick(QApplication.focusWidget(), key)


def go_back_to(words: str) -> None:
    """Press Shift+Tab until this widget has the focus."""
    for _ in range(20):
        if focused() == words:
            return
        QTest.keyClick(QApplication.focusWidget(), Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    raise AssertionError(f"{words} is not reached; {focused()} is")


def test_group_of_calls_opens_and_closes_by_key(panel: ConversationPanel) -> None:
    view = panel.view
    rows = view.scroller.layout.rows
    first = next(number for number in range(len(view.conversation.entries)) if rows.group(number))
    group = rows.group(first)
    view.current.go_to(first)
    assert view.accessibleDescription().endswith("collapsed")
    assert f"{len(group)} tool calls" in view.accessibleDescription()
    press(Key.Key_Return)
    assert [rows.fold(number) for number in group] == ["folded"] * len(group)
    positions = [rows.position(Row(number, SUMMARY)) for number in group]
    assert len({view.scroller.layout.head(position).height for position in positions}) == 1
    press(Key.Key_J)
    assert view.current.number == first + 1
    press(Key.Key_Left)
    assert rows.fold(first) == "grouped"
    assert view.current.number == first
    press(Key.Key_J)
    assert view.current.number == group.stop
    press(Key.Key_K)
    press(Key.Key_Right)
    press(Key.Key_Return)
    assert rows.fold(first) == "clamped"


def test_current_call_moves_to_the_line_of_its_closed_group(panel: ConversationPanel) -> None:
    view = panel.view
    rows = view.scroller.layout.rows
    first = next(number for number in range(len(view.conversation.entries)) if rows.group(number))
    view.folding.set_detail("full")
    view.current.go_to(first + 1)
    view.folding.set_detail("hidden")
    assert view.current.number == first + 1
    view.folding.set_detail("short")
    assert (view.current.number, rows.fold(first)) == (first, "grouped")


def test_group_of_calls_opens_by_click(panel: ConversationPanel) -> None:
    view = panel.view
    rows = view.scroller.layout.rows
    first = next(number for number in range(len(view.conversation.entries)) if rows.group(number))
    view.current.go_to(first)
    for fold in ("folded", "grouped"):
        visible_row = next(visible_row for visible_row in view.scroller.visible() if visible_row.row == (first, GROUP))
        top = visible_row.top + view.scroller.layout.head(visible_row.position).height
        box = view.scroller.layout.measures.column(top, 20)
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
        assert rows.fold(first) == fold


def choose(words: str) -> None:
    """Open the menu of more actions and select this entry by keyboard."""

    def walk() -> None:
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        for _ in menu.actions():
            QTest.keyClick(menu, Key.Key_Down)
            if menu.activeAction().text() == words:
                QTest.keyClick(menu, Key.Key_Return)
                return
        menu.close()
        raise AssertionError(f"{words} is not in the menu")

    go_back_to("More actions")
    QTimer.singleShot(0, walk)
    press(Key.Key_Space)


def test_secrets_are_revealed_and_masked_by_keys(qtbot, panel: ConversationPanel) -> None:
    go_back_to("Reveal…")
    press(Key.Key_Space)
    assert focused() == "Reveal secrets"
    with qtbot.waitSignal(panel.session_shown):
        press(Key.Key_Space)
    assert panel.view.hasFocus()
    texts = [message.text for message in panel.opened.conversation.session.messages]
    assert SECRET in "".join(texts)
    go_back_to("Mask secrets")
    with qtbot.waitSignal(panel.session_shown):
        press(Key.Key_Space)
    assert panel.view.hasFocus()
    assert panel.banner.text.endswith("which are masked.")


def test_reveal_confirmation_can_be_cancelled_by_keys(panel: ConversationPanel) -> None:
    go_back_to("Reveal…")
    press(Key.Key_Space)
    press(Key.Key_Tab)
    assert focused() == "Keep secrets masked"
    press(Key.Key_Space)
    assert focused() == "Reveal…"
    press(Key.Key_Tab)
    assert focused() == "Dismiss this message"
    press(Key.Key_Space)
    assert panel.view.hasFocus()


@opens_menu
def test_copy_session_as_markdown_from_menu(qtbot, panel: ConversationPanel) -> None:
    choose("Copy session as Markdown")
    qtbot.waitUntil(lambda: panel.hint.accessibleName() == "Session copied, with each tool call on one line")
    assert QGuiApplication.clipboard().text().startswith("# Fix the valve controller")


@opens_menu
def test_more_from_session_is_requested_from_menu(qtbot, panel: ConversationPanel) -> None:
    with qtbot.waitSignal(panel.session_actions.more_requested) as more:
        choose("More from this session")
    assert more.args == [VALVE]


def test_focus_survives_slow_session(qtbot, panel: ConversationPanel, memory: FakeMemory, monkeypatch) -> None:
    read, go_on = memory.read_session, threading.Event()
    monkeypatch.setattr(memory, "read_session", lambda *args, **options: go_on.wait(60) and read(*args, **options))
    other = next(path for path in SESSIONS if path != VALVE)
    panel.show_session(other)
    qtbot.waitUntil(lambda: panel.empty_page.sentence.text() == "Reading the session…")
    assert panel.empty_page.hasFocus()
    with qtbot.waitSignal(panel.session_shown):
        go_on.set()
    assert panel.view.hasFocus()
