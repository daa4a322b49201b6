"""The conversation view, as a person meets it."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from gui.jobs import Jobs
from gui.sessions.conversation import ConversationPanel
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import SECRET, SESSIONS, VALVE

EDIT, BUILD = 10, 16
"""Lines of the transcript of `VALVE`: a call of Edit, and the 6,000 lines that a build wrote."""


@pytest.fixture
def memory() -> Iterator[FakeMemory]:
    memory = FakeMemory(sessions=SESSIONS)
    yield memory
    memory.close()


@pytest.fixture
def panel(qtbot, appearance, jobs: Jobs, memory: FakeMemory) -> Iterator[ConversationPanel]:
    panel = ConversationPanel(jobs)
    panel.set_manager(memory)
    qtbot.addWidget(panel)
    panel.resize(800, 600)
    with qtbot.waitExposed(panel):
        panel.show()
    yield panel
    panel.clear()
    panel.hide()


@pytest.fixture
def show(qtbot, panel: ConversationPanel):
    """Open a session and wait until what is in view is laid out."""

    def shown(path: str = VALVE, *arguments) -> None:
        with qtbot.waitSignal(panel.session_shown):
            panel.show_session(path, *arguments)
        settle(qtbot, panel)

    return shown


def settle(qtbot, panel: ConversationPanel) -> None:
    """Wait until all texts in view are laid out."""
    view = panel._view

    def laid_out() -> bool:
        view.repaint()
        return all(text is not None for text in visible_pieces(panel))

    qtbot.waitUntil(laid_out)


def visible_pieces(panel: ConversationPanel) -> list:
    view = panel._view
    rows = [view._rows.rows[position] for position, _ in view._visible()]
    pieces = [view._layout.piece_of(row) for row in rows]
    return [view._documents.of(piece) for piece in pieces if piece is not None]


def visible_text(panel: ConversationPanel) -> str:
    return "\n".join(text for laid in visible_pieces(panel) for text in laid.texts)


def current(panel: ConversationPanel):
    """The current entry's first message."""
    view = panel._view
    return view.conversation.message(view.conversation.entries[view.current])


def press(panel: ConversationPanel, keys: str) -> None:
    for key in keys:
        shift = Qt.KeyboardModifier.ShiftModifier if key.isupper() else Qt.KeyboardModifier.NoModifier
        QTest.keyClick(panel._view, getattr(Qt.Key, f"Key_{key.upper()}"), shift)


# --- showing ----------------------------------------------------------------------------------------------------------


def test_a_session_is_shown_from_its_start(panel: ConversationPanel, show) -> None:
    show()
    assert panel._header._title.text() == "Fix the valve controller"
    assert "Claude Code · greenhouse · fix/valve · 11 Feb 2026" in panel._header._facts.text()
    assert "44 lines of unknown types" in panel._header._facts.text()
    assert visible_text(panel).startswith("The 06:10 run was skipped again.")
    assert "debounces at 40 ms" in visible_text(panel)  # Markdown is rendered
    assert "**" not in visible_text(panel)


def test_a_line_is_gone_to_with_the_words_of_the_query_framed(qtbot, panel: ConversationPanel, show) -> None:
    show(VALVE, BUILD + 1, "firmware")
    assert "firmware v1.4.3" in visible_text(panel)
    assert current(panel).text.startswith("Uploaded")
    assert panel._view._framed is not None


def test_a_folded_hit_is_unfolded(qtbot, panel: ConversationPanel, show) -> None:
    show(VALVE, BUILD, "unit_0031")
    settle(qtbot, panel)
    assert current(panel).text == "make firmware"
    assert "unit_0031" in visible_text(panel)


def test_the_same_session_is_not_read_again(qtbot, panel: ConversationPanel, memory: FakeMemory, show) -> None:
    show()
    panel.show_session(VALVE, EDIT)
    qtbot.waitUntil(lambda: current(panel).tool == "Edit")
    assert memory.session_reads == [(VALVE, False)]


def test_a_failure_is_told_and_can_be_retried(qtbot, panel: ConversationPanel, memory: FakeMemory) -> None:
    memory.session_error = OSError(5, "Input/output error", "a.jsonl")
    panel.show_session(VALVE)
    qtbot.waitUntil(lambda: "Input/output error" in panel._empty.accessibleName())
    memory.session_error = None
    with qtbot.waitSignal(panel.session_shown):
        panel._empty.retry.emit()


# --- folding ----------------------------------------------------------------------------------------------------------


def test_tools_are_hidden_short_or_full(qtbot, panel: ConversationPanel, show) -> None:
    show()
    short = panel._view._count
    panel._actions.detail.trigger()
    assert panel._actions.detail.text() == "Tools: full"
    assert panel._view._count > short
    panel._actions.detail.trigger()
    assert panel._actions.detail.text() == "Tools: hidden"
    assert panel._view._count == SESSIONS[VALVE].summary.messages
    panel._actions.detail.trigger()
    assert panel._view._count == short


def test_a_call_unfolds_by_enter_and_shows_forty_lines_until_all_are_wanted(
    qtbot, panel: ConversationPanel, show
) -> None:
    show(VALVE, BUILD - 1)
    assert current(panel).text == "make firmware"
    before = panel._view._count
    QTest.keyClick(panel._view, Qt.Key.Key_Return)
    settle(qtbot, panel)
    assert panel._view._count == before + 3  # the call, the first lines, and "Show all"
    assert sum(len(laid.texts) for laid in visible_pieces(panel)) < 60
    QTest.keyClick(panel._view, Qt.Key.Key_Right)
    assert panel._view._count > before + 100
    QTest.keyClick(panel._view, Qt.Key.Key_Return)
    assert panel._view._count == before


# --- walking and finding ----------------------------------------------------------------------------------------------


def test_j_and_k_walk_over_messages_and_capitals_over_the_persons(qtbot, panel: ConversationPanel, show) -> None:
    show()
    press(panel, "j")
    assert current(panel).kind == "thinking"
    press(panel, "JJ")
    assert current(panel).text.startswith("The gateway key")
    press(panel, "K")
    assert current(panel).text.startswith("Good. Add a counter")
    press(panel, "k")
    assert current(panel).text.startswith("The relay")
    assert "The relay" in panel._view.accessibleDescription()


def test_n_goes_through_the_hits_of_the_query(qtbot, panel: ConversationPanel, show) -> None:
    show(VALVE, None, "settle")
    first = panel._view._framed
    press(panel, "n")
    qtbot.waitUntil(lambda: panel._view._framed not in (None, first))
    press(panel, "N")
    qtbot.waitUntil(lambda: panel._view._framed == first)


def test_ctrl_f_finds_in_this_session_alone(qtbot, panel: ConversationPanel, show) -> None:
    show()
    panel._open_find()
    panel._finding.bar.box.setText("zone 1")
    qtbot.waitUntil(lambda: panel._finding.bar.count.text() == "1 of 16")
    assert current(panel).text.startswith("Check zone 1 ")


# --- copying, secrets -------------------------------------------------------------------------------------------------


def test_text_is_selected_with_the_mouse_and_copied(qtbot, panel: ConversationPanel, show) -> None:
    show()
    view, rect = panel._view, panel._view.viewport().rect()
    position, top = next(view._visible())
    y = top + view._layout.head(position).height + 20
    left = view._layout.text_left(view._rows.rows[0])
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=rect.topLeft() + type(rect.topLeft())(left, y))
    QTest.mouseMove(view.viewport(), rect.topLeft() + type(rect.topLeft())(left + 60, y))
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=type(rect.topLeft())(left + 60, y))
    chosen = view.selected_text()
    assert chosen
    assert "The 06:10 run".startswith(chosen[:5])
    panel._actions.copy.trigger()
    assert QGuiApplication.clipboard().text() == chosen


def test_secrets_are_masked_until_they_are_asked_for(qtbot, panel: ConversationPanel, memory, show) -> None:
    show()
    assert panel._banner.text == "1 message holds secrets, which are masked."
    panel._ask_to_reveal()
    assert memory.session_reads == [(VALVE, False)]
    with qtbot.waitSignal(panel.session_shown):
        panel._reread(reveal=True)
    assert memory.session_reads[-1] == (VALVE, True)
    text = "".join(message.text for message in panel._opened.conversation.session.messages)
    assert SECRET in text
    other = next(path for path in SESSIONS if path != VALVE)
    show(other)
    assert not panel._banner.text
    show()
    assert memory.session_reads[-1] == (VALVE, False)
