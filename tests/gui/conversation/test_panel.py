"""The conversation view in use."""

import time
from datetime import datetime
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import msgspec
import pytest
from PySide6.QtCore import QPoint, QRect, Qt, QUrl
from PySide6.QtGui import QAccessible, QAction, QColor, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialog,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from engine import ModelUsage, UsageTotal
from gui.conversation.actions import entry_markdown
from gui.conversation.header import ConversationHeader
from gui.conversation.panel import ConversationPanel
from gui.conversation.prompt_list import PromptList
from gui.conversation.row_folding import SUMMARY, Row
from gui.conversation.scroller import MessageScrollBar
from gui.style.theme import tokens
from gui.text.plain_text import tip_of
from gui.viewer.external_programs import ExternalOpener
from tests.helpers.conversations import settle, visible_pieces
from tests.helpers.fake_insight import FakeInsight
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import SECRET, SESSIONS, VALVE, make_session

EDIT, BUILD = 10, 16
"""Lines of the transcript of `VALVE`: a call of Edit, and the 6,000 lines that a build wrote."""


@pytest.fixture
def panel(conversation_panel: ConversationPanel) -> ConversationPanel:
    return conversation_panel


@pytest.fixture
def show(qtbot, panel: ConversationPanel):
    """Open a session and wait until the visible part is laid out."""

    def show_and_wait(path: str = VALVE, *arguments) -> None:
        with qtbot.waitSignal(panel.session_shown):
            panel.show_session(path, *arguments)
        settle(qtbot, panel)

    return show_and_wait


def visible_text(panel: ConversationPanel) -> str:
    return "\n".join(text for laid in visible_pieces(panel) for text in laid.texts)


def current(panel: ConversationPanel):
    """The current entry's first message."""
    view = panel.view
    return view.conversation.message(view.conversation.entries[view.current.number])


def click_banner(panel: ConversationPanel, words: str) -> None:
    next(button for button in panel.banner.findChildren(QPushButton) if button.text() == words).click()


def press(panel: ConversationPanel, keys: str) -> None:
    for key in keys:
        shift = Qt.KeyboardModifier.ShiftModifier if key.isupper() else Qt.KeyboardModifier.NoModifier
        QTest.keyClick(panel.view, getattr(Qt.Key, f"Key_{key.upper()}"), shift)


# --- showing ----------------------------------------------------------------------------------------------------------


def test_session_is_shown_from_its_start(panel: ConversationPanel, show) -> None:
    show()
    assert panel.header.title.text() == "Fix the valve controller"
    assert (
        "Claude Code · greenhouse · 11 Feb 2026 · 1 h 30 min · 38 messages · fix/valve" in panel.header.metadata.text()
    )
    assert "44 entries of unknown type" in panel.header.metadata.text()
    assert visible_text(panel).startswith("The 06:10 run was skipped again.")
    assert "debounces at 40 ms" in visible_text(panel)  # Markdown is rendered
    assert "**" not in visible_text(panel)


def test_header_shows_models_tokens_and_cost(qtbot) -> None:
    usage = ModelUsage(model="claude-opus-4-5", input_tokens=1200, output_tokens=300, cache_read_tokens=40_000)
    spent = UsageTotal(input_tokens=1200, output_tokens=300, cache_read_tokens=40_000, cost=3.1)
    header = ConversationHeader([], [], None)
    qtbot.addWidget(header)
    header.show_session(make_session([], usage=(usage,), total_usage=spent, machine="laptop"))
    assert "Claude Code · greenhouse · laptop · " in header.metadata.text()
    assert header.metadata.text().endswith(" · claude-opus-4-5 · 41k sent, 300 received · $3.10")
    assert "Written to the cache: unknown" in tip_of(header.metadata)
    assert "Cost: $3.10, by list prices" in tip_of(header.metadata)
    partly = msgspec.structs.replace(spent, cost_complete=False)
    header.show_session(make_session([], usage=(usage,), total_usage=partly))
    assert header.metadata.text().endswith(" · at least $3.10")
    header.show_session(make_session([], usage=(usage,), total_usage=msgspec.structs.replace(partly, cost=0.004)))
    assert header.metadata.text().endswith(" · at least $0.00")


def test_buttons_move_to_menu_before_title_is_cut(qtbot) -> None:
    actions = [QAction(text) for text in ("Your messages", "Copy resume command", "Similar sessions")]
    header = ConversationHeader(actions, [], None)
    qtbot.addWidget(header)
    header.resize(600, 60)
    header.show()
    assert all(button.isVisible() for button in header.folding.buttons)
    header.show_session(make_session([], title="Please cancel the second server, which runs at night"))
    qtbot.waitUntil(lambda: header.title.width() >= header.title.sizeHint().width())
    assert [button.isVisible() for button in header.folding.buttons] == [True, False, False]


def test_header_of_session_without_usage_has_a_message(qtbot) -> None:
    header = ConversationHeader([], [], None)
    qtbot.addWidget(header)
    header.show_session(make_session([("user", [("text", "Hello")])]))
    assert header.metadata.text().endswith(" · 1 message · main")
    assert "Tokens and cost: not recorded" in tip_of(header.metadata)
    header.show_session(make_session([], usage=(ModelUsage("gpt-99"),)))
    assert "gpt-99\nTokens and cost: not recorded" in tip_of(header.metadata)
    header.show_session(make_session([], active_seconds=3600.0))
    assert "Active time: 1 h (longer pauses count as 5 minutes)" in tip_of(header.metadata)
    header.show_session(make_session([], active_seconds=None))
    assert "Active time: unknown" in tip_of(header.metadata)


def test_header_shows_first_and_last_day(qtbot) -> None:
    header = ConversationHeader([], [], None)
    qtbot.addWidget(header)
    first, later = (datetime(2026, month, 3, 12).timestamp() for month in (3, 8))
    header.show_session(make_session([], started=first, ended=later))
    assert " · 3 Mar – 3 Aug 2026 · " in header.metadata.text()
    header.show_session(make_session([], started=datetime(2025, 3, 3, 12).timestamp(), ended=later))
    assert " · 3 Mar 2025 – 3 Aug 2026 · " in header.metadata.text()
    header.show_session(make_session([], started=first, ended=first + 60))
    assert " · 3 Mar 2026 · " in header.metadata.text()
    header.show_session(make_session([], started=None, ended=later))
    assert " · 3 Aug 2026 · " in header.metadata.text()


def test_show_line_scrolls_to_it_and_frames_query_words(qtbot, panel: ConversationPanel, show) -> None:
    show(VALVE, BUILD + 1, "firmware")
    assert "firmware v1.4.3" in visible_text(panel)
    assert current(panel).text.startswith("Uploaded")
    assert panel.view.highlights.framed is not None


@pytest.mark.parametrize("before", ["nothing", "an earlier result in view", "a low window"])
def test_hit_of_a_result_is_always_at_the_same_height(qtbot, panel: ConversationPanel, memory, show, before) -> None:
    turns = [("assistant", [("text", f"Word{number} and " + "more " * 150)]) for number in range(40)]
    session = memory.session_texts["sessions/long"] = make_session(turns, path="sessions/long")
    lines = [message.line for message in session.messages]
    if before == "an earlier result in view":
        show("sessions/long", lines[20], "word20")
    elif before == "a low window":
        panel.resize(800, 300)
    panel.show_session("sessions/long", lines[21], "word21")
    qtbot.waitUntil(lambda: panel.view.highlights.framed == (21, 0))
    panel.resize(800, 600)
    settle(qtbot, panel)
    [top] = [row.top for row in panel.view.scroller.visible() if row.row.entry == 21]
    third = panel.view.viewport().height() // 3
    assert third - 40 < top <= third


def test_folded_hit_is_unfolded(qtbot, panel: ConversationPanel, show) -> None:
    show(VALVE, BUILD, "unit_0031")
    settle(qtbot, panel)
    assert current(panel).text == "make firmware"
    assert "unit_0031" in visible_text(panel)


def test_semantic_hit_unfolds_only_its_entry(qtbot, panel: ConversationPanel, show) -> None:
    show(VALVE, BUILD, "no word of it")
    assert current(panel).text == "make firmware"
    assert "unit_0001" in visible_text(panel)
    view = panel.view
    calls = [number for number, entry in enumerate(view.conversation.entries) if entry.kind == "tool"]
    folds = [view.scroller.layout.rows.fold(number) for number in calls if number != view.current.number]
    assert len(folds) == len(calls) - 1
    assert set(folds) <= {"folded", "grouped", "gone"}


def test_call_unfolds_up_to_its_first_hit(qtbot, panel: ConversationPanel, show) -> None:
    show()
    panel.find_action.trigger()
    panel.find_in_text.bar.box.setText("unit_0999")
    qtbot.waitUntil(lambda: panel.find_in_text.bar.count.text() == "1 of 1")
    view = panel.view
    build = view.current.number
    view.folding.toggle(build)
    assert view.scroller.layout.rows.fold(build) == "folded"
    view.scroller.scroll_to_end(top=True)
    QTest.keyClick(view, Qt.Key.Key_Return)
    settle(qtbot, panel)
    assert view.scroller.layout.rows.fold(build) == "all"
    assert "unit_0999" in visible_text(panel)
    assert view.highlights.framed is not None


def test_map_click_opens_folded_hit_and_drag_does_not(qtbot, panel: ConversationPanel, show) -> None:
    show(VALVE, None, "unit_0031")
    view, strip = panel.view, panel.view.verticalScrollBar()
    build = view.current.number
    qtbot.waitUntil(lambda: view.highlights.entries[build])
    view.folding.toggle(build)
    view.hits.show_hit(None)
    view.scroller.scroll_to_end(top=True)
    position = view.scroller.layout.rows.position_of_entry(build)
    place = QPoint(strip.width() // 2, round(10 + (position + 0.5) * strip.row_pixels))
    QTest.mousePress(strip, Qt.MouseButton.LeftButton, pos=QPoint(place.x(), 12))
    QTest.mouseMove(strip, place)
    assert view.scroller.layout.rows.fold(build) == "folded"
    QTest.mouseRelease(strip, Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseClick(strip, Qt.MouseButton.LeftButton, pos=place)
    settle(qtbot, panel)
    assert "unit_0031" in visible_text(panel)
    assert view.highlights.framed is not None


def test_map_shows_share_of_messages_in_long_session(qtbot, appearance):
    kinds = b"u" + 29 * b"s"
    strip = MessageScrollBar(None)
    qtbot.addWidget(strip)
    strip.resize(strip.sizeHint().width(), 620)

    def colours_of(kinds: bytes) -> list[QColor]:
        rows = [Row(entry, SUMMARY) for entry in range(len(kinds))]
        listed = SimpleNamespace(kinds=bytearray(kinds), rows=rows, after=lambda position: position + 1)
        strip.show_rows(listed, bytes(len(kinds)))
        image = strip.grab().toImage()
        pixels = (image.pixelColor(strip.width() // 2, y) for y in (20, 25, 450, 600))
        return [colour for colour in pixels if colour.alpha()]

    accent = tokens(strip.palette()).accent
    assert set(map(QColor.name, colours_of(40 * b"u"))) == {accent.name()}
    few, _, half, _ = colours_of(500 * kinds + 7500 * b"us")
    assert few != half
    assert accent not in (few, half)


def test_slow_frames_find_every_highlight_then_end(
    qtbot, panel: ConversationPanel, show, monkeypatch: pytest.MonkeyPatch
) -> None:
    show()
    view, seconds, searched = panel.view, count(), set[str]()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(seconds)))

    def find_word(text: str) -> list[tuple[int, int]]:
        searched.add(text)
        return [(0, 1)]

    view.highlights.set_finders(find_word, None)
    view.viewport().repaint()
    assert not view.painted
    assert len(searched) == 1
    qtbot.waitUntil(lambda: view.painted)
    assert len(searched) > 5


def test_open_session_is_not_read_again(qtbot, panel: ConversationPanel, memory: FakeMemory, show) -> None:
    show()
    panel.show_session(VALVE, EDIT)
    qtbot.waitUntil(lambda: current(panel).tool == "Edit")
    assert memory.session_reads == [(VALVE, False)]


def test_failure_is_shown_and_can_be_retried(qtbot, panel: ConversationPanel, memory: FakeMemory) -> None:
    memory.session_error = OSError(5, "Input/output error", "a.jsonl")
    panel.show_session(VALVE)
    qtbot.waitUntil(lambda: "Input/output error" in panel.empty_page.accessibleName())
    memory.session_error = None
    with qtbot.waitSignal(panel.session_shown):
        panel.empty_page.retry.emit()


# --- folding ----------------------------------------------------------------------------------------------------------


def test_tool_detail_cycles_short_full_hidden(qtbot, panel: ConversationPanel, show) -> None:
    show()
    short = panel.view.scroller.layout.count
    panel.session_actions.detail.trigger()
    assert panel.session_actions.detail.text() == "Tool calls: full"
    assert panel.view.scroller.layout.count > short
    panel.session_actions.detail.trigger()
    assert panel.session_actions.detail.text() == "Tool calls: hidden"
    assert panel.view.scroller.layout.count == SESSIONS[VALVE].summary.messages
    panel.session_actions.detail.trigger()
    assert panel.view.scroller.layout.count == short


def test_hidden_tool_calls_can_be_shown_without_messages(qtbot, panel: ConversationPanel, memory, show) -> None:
    turns = [("assistant", (("tool-call", "make", "Bash"),)), ("tool", (("tool-result", "done", "Bash"),))]
    session = make_session(turns, path="sessions/claude-code/tools.jsonl")
    memory.session_texts[session.summary.path] = session
    show(session.summary.path)
    rows = panel.view.scroller.layout.count
    assert rows
    while panel.session_actions.detail.text() != "Tool calls: hidden":
        panel.session_actions.detail.trigger()
    assert not list(panel.view.scroller.visible())
    panel.session_actions.detail.trigger()
    assert panel.session_actions.detail.text() == "Tool calls: short"
    assert len(list(panel.view.scroller.visible())) == rows


def test_enter_unfolds_call_clamped_and_right_shows_all(qtbot, panel: ConversationPanel, show) -> None:
    show(VALVE, BUILD - 1)
    assert current(panel).text == "make firmware"
    before = panel.view.scroller.layout.count
    QTest.keyClick(panel.view, Qt.Key.Key_Return)
    settle(qtbot, panel)
    assert panel.view.scroller.layout.count == before + 3  # the call, the first lines, and "Show all"
    assert sum(len(laid.texts) for laid in visible_pieces(panel)) < 60
    QTest.keyClick(panel.view, Qt.Key.Key_Right)
    assert panel.view.scroller.layout.count > before + 100
    QTest.keyClick(panel.view, Qt.Key.Key_Return)
    assert panel.view.scroller.layout.count == before


# --- walking and finding ----------------------------------------------------------------------------------------------


def test_j_and_k_step_messages_and_capitals_step_prompts(qtbot, panel: ConversationPanel, show) -> None:
    show()
    press(panel, "j")
    assert current(panel).kind == "thinking"
    press(panel, "JJ")
    assert current(panel).text.startswith("The gateway key")
    press(panel, "K")
    assert current(panel).text.startswith("Good. Add a counter")
    press(panel, "k")
    assert current(panel).text.startswith("The relay")
    assert "The relay" in panel.view.accessibleDescription()


def test_n_and_shift_n_step_through_hits(qtbot, panel: ConversationPanel, show) -> None:
    show(VALVE, None, "settle")
    first = panel.view.highlights.framed
    press(panel, "n")
    qtbot.waitUntil(lambda: panel.view.highlights.framed not in (None, first))
    press(panel, "N")
    qtbot.waitUntil(lambda: panel.view.highlights.framed == first)


def test_ctrl_f_finds_within_session(qtbot, panel: ConversationPanel, show) -> None:
    show()
    panel.find_action.trigger()
    panel.find_in_text.bar.box.setText("zone 1")
    qtbot.waitUntil(lambda: panel.find_in_text.bar.count.text() == "1 of 16")
    assert current(panel).text.startswith("Check zone 1 ")


# --- copying, secrets -------------------------------------------------------------------------------------------------


def test_mouse_selection_is_copied(qtbot, panel: ConversationPanel, show) -> None:
    show()
    view = panel.view
    position, _, top = next(view.scroller.visible())
    y = top + view.scroller.layout.head(position).height + 20
    left = view.scroller.layout.text_left(view.scroller.layout.rows.rows[0])
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(left, y))
    QTest.mouseMove(view.viewport(), QPoint(left + 60, y))
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(left + 60, y))
    chosen = view.selection.text()
    assert chosen
    assert "The 06:10 run".startswith(chosen[:5])
    panel.session_actions.copy.trigger()
    assert QGuiApplication.clipboard().text() == chosen


def test_secrets_are_masked_until_revealed(qtbot, panel: ConversationPanel, memory, show) -> None:
    show()
    assert panel.banner.text == "1 message holds secrets, which are masked."
    click_banner(panel, "Reveal…")
    assert memory.session_reads == [(VALVE, False)]
    with qtbot.waitSignal(panel.session_shown):
        click_banner(panel, "Reveal secrets")
    assert memory.session_reads[-1] == (VALVE, True)
    text = "".join(message.text for message in panel.opened.conversation.session.messages)
    assert SECRET in text
    other = next(path for path in SESSIONS if path != VALVE)
    show(other)
    assert not panel.banner.text
    show()
    assert memory.session_reads[-1] == (VALVE, False)


# --- raw lines, the list of messages, more ways on --------------------------------------------------------------------


def test_raw_line_with_secrets_asks_before_showing(qtbot, panel: ConversationPanel, show) -> None:
    show(VALVE, EDIT)
    panel.session_actions.raw.trigger()
    assert "in plain text" in panel.banner.text
    assert not panel.findChildren(QDialog)
    click_banner(panel, "Show the raw line")
    qtbot.waitUntil(lambda: bool(panel.findChildren(QDialog)))
    [dialog] = panel.findChildren(QDialog)
    assert dialog.windowTitle() == f"Line {EDIT} of the transcript"
    [text] = dialog.findChildren(QPlainTextEdit)
    assert '"tool": "Edit"' in text.toPlainText()
    assert SECRET in text.toPlainText()
    dialog.reject()


def test_raw_line_without_secrets_shows_immediately(qtbot, panel: ConversationPanel, show) -> None:
    show(next(path for path in SESSIONS if "backup" in path))
    press(panel, "j")
    panel.session_actions.raw.trigger()
    qtbot.waitUntil(lambda: bool(panel.findChildren(QDialog)))
    [dialog] = panel.findChildren(QDialog)
    assert dialog.windowTitle() == "Lines 3, 4 of the transcript"
    [text] = dialog.findChildren(QPlainTextEdit)
    assert SECRET not in text.toPlainText()
    dialog.reject()


def test_prompt_list_opens_chosen_prompt(qtbot, panel: ConversationPanel, show) -> None:
    show()
    panel.session_actions.prompts.trigger()
    chooser = panel.findChild(PromptList)
    box, [count] = chooser.findChild(QLineEdit), chooser.findChildren(QLabel)
    assert count.text() == "19 messages"
    QTest.keyClicks(box, "zone 7")
    assert count.text() == "1 message"
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert chooser.isHidden()
    assert current(panel).text.startswith("Check zone 7 ")


def test_prompt_list_is_as_high_as_its_rows(qtbot, panel: ConversationPanel, show) -> None:
    show(next(path for path in SESSIONS if "codex" in path))
    panel.session_actions.prompts.trigger()
    rows = panel.findChild(PromptList).findChild(QListView)
    last = rows.visualRect(rows.model().index(rows.model().rowCount() - 1, 0))
    assert 0 <= rows.viewport().height() - last.bottom() < last.height()


def test_actions_emit_more_similar_and_copy_resume_command(qtbot, panel: ConversationPanel, show) -> None:
    show()
    with qtbot.waitSignal(panel.session_actions.more_requested) as more:
        panel.session_actions.more.trigger()
    with qtbot.waitSignal(panel.session_actions.similar_requested) as similar:
        panel.session_actions.similar.trigger()
    assert more.args == similar.args == [VALVE]
    panel.session_actions.resume.trigger()
    assert QGuiApplication.clipboard().text() == "cd /home/ines/src/greenhouse && claude --resume 3f6c0a1e"


def test_session_of_another_machine_says_where_to_resume_it(qtbot, panel: ConversationPanel, show, memory) -> None:
    session = SESSIONS[VALVE]
    summary = msgspec.structs.replace(session.summary, machine="laptop", resume_command="")
    memory.session_texts[VALVE] = msgspec.structs.replace(session, summary=summary)
    show()
    assert not panel.session_actions.resume.isEnabled()
    assert "Resume this session on laptop" in panel.session_actions.resume.statusTip()


@pytest.mark.parametrize(("found", "gone"), [([False], True), ([True], False), (PermissionError(13, "no"), False)])
def test_resume_command_names_a_folder_that_is_gone(found, gone, qtbot, panel, show, monkeypatch) -> None:
    show()
    monkeypatch.setattr("gui.conversation.actions.Path.is_dir", Mock(side_effect=found))
    with qtbot.waitSignal(panel.session_actions.notified) as notified:
        panel.session_actions.resume.trigger()
    assert notified.args[0].startswith("Copied")
    assert ("doesn't exist" in notified.args[0]) == gone
    assert "/home/ines/src/greenhouse" in notified.args[0]


def test_message_and_session_are_copied_as_markdown(qtbot, panel: ConversationPanel, show) -> None:
    show(VALVE, EDIT - 2)
    panel.session_actions.copy.trigger()
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text().startswith("The relay **debounces"))
    panel.session_actions.copy_session.trigger()
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text().startswith("# Fix the valve controller"))


def test_line_of_closed_group_represents_all_its_calls(qtbot, panel: ConversationPanel, memory, show) -> None:
    turns = [("assistant", (("tool-call", words, "Bash"),)) for words in ("make", "make test")]
    session = make_session(turns, path="sessions/claude-code/tools.jsonl")
    memory.session_texts[session.summary.path] = session
    show(session.summary.path)
    panel.session_actions.copy_message.trigger()
    both = "\n\n".join(entry_markdown(panel.opened.conversation, number) for number in (0, 1))
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() == both)
    assert "make test" in both
    panel.session_actions.raw.trigger()
    qtbot.waitUntil(lambda: bool(panel.findChildren(QDialog)))
    [dialog] = panel.findChildren(QDialog)
    first, second = (message.line for message in session.messages)
    assert dialog.windowTitle() == f"Lines {first}, {second} of the transcript"
    dialog.reject()
    panel.view.folding.set_group(0, opened=True)
    panel.session_actions.copy_message.trigger()
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() == both.split("\n\n**")[0])


def test_map_click_scrolls_to_row(qtbot, panel: ConversationPanel, show) -> None:
    show()
    bar = panel.view.verticalScrollBar()
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=QPoint(bar.width() // 2, bar.height() - 14))
    settle(qtbot, panel)
    assert "Zone 16 settles" in visible_text(panel)


def test_every_focusable_widget_has_accessible_name(panel: ConversationPanel, show) -> None:
    show()
    panel.find_action.trigger()
    for widget in panel.findChildren(QWidget):
        if widget.isVisible() and widget.focusPolicy() != Qt.FocusPolicy.NoFocus:
            interface = QAccessible.queryAccessibleInterface(widget)
            assert interface.text(QAccessible.Text.Name), widget


# --- size -------------------------------------------------------------------------------------------------------------


def test_reading_position_is_stable_while_layout_arrives(qtbot, panel, memory, show) -> None:
    text = "\n\n".join(["A paragraph of some length, and then a little more of it."] * 12)
    turns = [
        ("user" if number % 2 else "assistant", (("text", f"Message {number}.\n\n{text}"),)) for number in range(400)
    ]
    session = make_session(turns, path="sessions/claude-code/long.jsonl")
    memory.session_texts[session.summary.path] = session
    show(session.summary.path, 302)
    view = panel.view

    def top_of_target() -> int:
        row = view.scroller.layout.rows.position_of_entry(300)
        found = next(found for found in view.scroller.visible() if found.position == row)
        return found.top + view.scroller.layout.head(row).height

    assert current(panel).text.startswith("Message 300.")
    before = top_of_target()
    settle(qtbot, panel)
    assert top_of_target() == before
    panel.resize(620, 600)
    settle(qtbot, panel)
    assert top_of_target() == before


def test_only_rows_near_view_are_laid_out(qtbot, panel, memory, show) -> None:
    turns = [("user", (("text", f"Message {number}"),)) for number in range(5_000)]
    session = make_session(turns, path="sessions/claude-code/many.jsonl")
    memory.session_texts[session.summary.path] = session
    show(session.summary.path)
    panel.view.scroller.scroll_to_end(top=False)
    settle(qtbot, panel)
    assert "Message 4999" in visible_text(panel)
    layout = panel.view.scroller.layout
    assert sum(layout.document_of(row) is not None for row in layout.rows.rows) <= 160


def test_theme_and_font_scale_changes_are_applied(qtbot, panel: ConversationPanel, show, appearance) -> None:
    show()
    colour = panel.view.viewport().grab().toImage().pixelColor(5, 5)
    key = visible_pieces(panel)[0].key
    appearance.set_theme("dark")
    qtbot.waitUntil(lambda: visible_pieces(panel)[0].key != key)
    assert panel.view.viewport().grab().toImage().pixelColor(5, 5) != colour
    key = visible_pieces(panel)[0].key
    appearance.set_font_scale(1.3)
    qtbot.waitUntil(lambda: visible_pieces(panel)[0].key != key)


def test_right_to_left_layout_mirrors_rows_but_not_text(qtbot, panel: ConversationPanel, show) -> None:
    show()
    view = panel.view
    layout, measures = view.scroller.layout, view.scroller.layout.measures
    before = view.viewport().grab().toImage()
    QGuiApplication.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    try:
        qtbot.waitUntil(lambda: view.layoutDirection() == Qt.LayoutDirection.RightToLeft)
        after = view.viewport().grab().toImage()
    finally:
        QGuiApplication.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    position, row, top = next(
        visible_row for visible_row in view.scroller.visible() if layout.head(visible_row.position).names
    )
    head = layout.head(position)
    middle, ground = measures.left + measures.width // 2, before.pixelColor(5, 5)
    begin, end = range(measures.left, middle), range(middle, measures.left + measures.width)
    name = range(max(0, top + head.height - measures.px(26)), top + head.height)

    def inked(image: QImage, across: range, down: range) -> bool:
        return any(image.pixelColor(x, y) != ground for x in across for y in down)

    assert (inked(before, begin, name), inked(before, end, name)) == (True, False)
    assert (inked(after, begin, name), inked(after, end, name)) == (False, True)
    left, body = layout.text_left(row), top + head.height
    text = QRect(left, body, measures.text_width, layout.body_height(row))
    assert before.copy(text) == after.copy(text)  # English stays unchanged


@pytest.mark.parametrize("failed", [False, True])
def test_failed_call_is_painted_with_an_icon(panel: ConversationPanel, memory, show, monkeypatch, failed) -> None:
    session = make_session([("assistant", (("tool-call", "a.py", "Edit"), ("tool-result", "No match", "Edit")))])
    messages = tuple(msgspec.structs.replace(message, failed=failed) for message in session.messages)
    monkeypatch.setattr(memory, "read_session", lambda *_, **__: msgspec.structs.replace(session, messages=messages))
    show()
    image = panel.view.viewport().grab().toImage()
    colour = tokens(panel.view.palette()).degraded
    shown = any(image.pixelColor(x, y) == colour for x in range(image.width()) for y in range(image.height()))
    assert shown == failed


def test_image_link_opens_the_image(qtbot, panel: ConversationPanel, memory, show, monkeypatch) -> None:
    images = iter([(b"\x89PNG", "png"), None])
    monkeypatch.setattr(memory, "session_image", lambda *_, **__: next(images))
    opened: list[Path] = []
    monkeypatch.setattr(ExternalOpener, "open_image", lambda _, path: opened.append(path))
    show()
    panel.view.link_clicked.emit(QUrl("image:0/0"))
    qtbot.waitUntil(lambda: len(opened) == 1)
    assert opened[0].read_bytes() == b"\x89PNG"
    panel.view.link_clicked.emit(QUrl("image:0/0"))
    qtbot.waitUntil(lambda: panel.hint.accessibleName() == "The data of this image is not in the transcript.")


# --- more like this ---------------------------------------------------------------------------------------------------


def test_similar_search_uses_message_or_selection(qtbot, panel: ConversationPanel, show) -> None:
    show()
    panel.view.setFocus()
    with qtbot.waitSignal(panel.like_requested) as signal:
        panel.session_actions.like.trigger()
    passage, words = signal.args
    message = current(panel)
    assert (passage.path, passage.start_line, passage.message) == (VALVE, message.line, message.ordinal)
    assert passage.text == words == message.text
    panel.view.selection.begin((0, 4))
    panel.view.selection.extend((0, 13))
    with qtbot.waitSignal(panel.like_requested) as signal:
        panel.session_actions.like.trigger()
    assert signal.args[0].text == "06:10 run"


def test_revealed_secret_is_never_used_in_search(qtbot, panel: ConversationPanel, show) -> None:
    show()
    click_banner(panel, "Reveal…")
    with qtbot.waitSignal(panel.session_shown):
        click_banner(panel, "Reveal secrets")
    settle(qtbot, panel)
    for number, entry in enumerate(panel.view.conversation.entries):
        panel.view.current.go_to(number)
        with qtbot.waitSignal(panel.like_requested) as signal:
            panel.session_actions.like.trigger()
        passage, words = signal.args
        assert SECRET not in repr(passage) + words
        assert passage.message == panel.view.conversation.message(entry).ordinal


# --- chunks -----------------------------------------------------------------------------------------------------------


def test_chunk_card_steps_through_chunks_with_messages(qtbot, panel, show, memory: FakeMemory) -> None:
    memory.insight = FakeInsight(memory)
    panel.set_manager(memory)
    show(VALVE, BUILD)
    line = current(panel).line
    memory.files[VALVE] = "# Start\n" + "said\n" * (line - 2) + "# Build\n" + "done\n" * 8
    panel.chunks.inspector.margin_action.trigger()
    card = panel.chunks.card
    qtbot.waitUntil(card.isVisible)
    assert card.accessibleName().startswith("Passage 2 of 2")
    previous = next(
        button for button in card.findChildren(QAbstractButton) if button.accessibleName() == "Previous passage"
    )
    previous.click()
    qtbot.waitUntil(lambda: card.accessibleName().startswith("Passage 1 of 2"))
    assert current(panel).line < line
    with qtbot.waitSignal(panel.like_requested) as signal:
        next(button for button in card.findChildren(QPushButton) if button.text() == "More like this").click()
    assert signal.args[0].path == VALVE
    QTest.keyClick(panel.view, Qt.Key.Key_Escape)
    assert card.isHidden()
    assert not panel.chunks.inspector.margin_action.isChecked()


def test_view_knows_whether_its_texts_are_painted(qtbot, panel: ConversationPanel, show) -> None:
    show()
    settle(qtbot, panel)
    panel.view.repaint()
    assert panel.painted
    panel.view.scroller.scroll_to_end(top=False)
    panel.view.repaint()
    assert not panel.painted
    settle(qtbot, panel)
    assert panel.painted
