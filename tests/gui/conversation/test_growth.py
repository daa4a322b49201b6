"""An open session that continues."""

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gui.conversation.panel import ConversationPanel
from tests.helpers.conversations import settle
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import make_session
from tests.helpers.windows import finish_jobs

PATH = "sessions/codex/long.jsonl"
LATER = [
    ("user", [("text", "And the last question?")]),
    ("assistant", [("tool-call", "make late", "Bash")]),
    ("tool", [("tool-result", "late words", "Bash")]),
    ("assistant", [("text", "The last answer speaks of valves.")]),
]


def _turns(count: int) -> list:
    turns: list = [
        ("assistant", [("tool-call", "make", "Bash")]),
        ("tool", [("tool-result", "\n".join(f"line {number}" for number in range(20)), "Bash")]),
    ]
    for number in range(count):
        turns.append(("user", [("text", f"Question {number} about valves?")]))
        turns.append(("assistant", [("text", f"Answer {number}, with **weight**.\n\nAnd a second paragraph.")]))
    return turns


@pytest.fixture
def memory() -> Iterator[FakeMemory]:
    memory = FakeMemory(sessions={PATH: make_session(_turns(30), path=PATH)})
    yield memory
    memory.close()


@pytest.fixture
def panel(qtbot, conversation_panel: ConversationPanel) -> ConversationPanel:
    conversation_panel.resize(800, 500)
    with qtbot.waitSignal(conversation_panel.session_shown):
        conversation_panel.show_session(PATH, None, "valves")
    settle(qtbot, conversation_panel)
    return conversation_panel


def test_reopened_folder_keeps_session_and_follows_it(qtbot, panel, memory, jobs):
    panel.view.current.go_to(12)
    settle(qtbot, panel)
    before, place = panel.opened, panel.view_state
    again = FakeMemory(sessions={PATH: make_session([*_turns(30), *LATER], path=PATH)})
    with qtbot.waitSignal(panel.live_updates.grown):
        panel.set_manager(None, reopening=True)
        assert panel.opened is before
        panel.set_manager(again, reopening=True)
    assert len(panel.opened.conversation.entries) > len(before.conversation.entries)
    assert panel.view.current.number == 12
    assert panel.view_state == place
    panel.set_manager(None)
    assert panel.opened is None
    again.close()


def test_scrolled_or_focused_session_is_read(qtbot, panel):
    panel.view.clearFocus()
    panel.view.verticalScrollBar().setValue(0)
    assert not panel.is_read
    panel.view.verticalScrollBar().setValue(40)
    assert panel.is_read
    panel.clear()
    assert not panel.is_read


def _go_on(qtbot, panel: ConversationPanel, memory: FakeMemory, turns: list) -> None:
    memory.session_texts[PATH] = make_session(turns, path=PATH)
    with qtbot.waitSignal(panel.live_updates.grown):
        panel.refresh()


def test_growth_keeps_position_and_counts_new_messages(qtbot, panel, memory) -> None:
    view = panel.view
    view.folding.toggle(0)
    settle(qtbot, panel)
    view.current.go_to(9)
    settle(qtbot, panel)
    view.selection.select_entry(view.current.number)
    before, selected = list(view.scroller.visible()), view.selection.text()
    _go_on(qtbot, panel, memory, [*_turns(30), *LATER])
    assert list(view.scroller.visible()) == before  # nothing flickered: all is laid out still
    assert (view.current.number, view.selection.text(), view.scroller.layout.rows.fold(0)) == (9, selected, "clamped")
    assert panel.new_messages.text() == "2 new messages below"
    assert panel.new_messages.isVisible()
    assert panel.header.metadata.text().endswith(" · 62 messages · main")
    settle(qtbot, panel)
    assert list(view.scroller.visible()) == before
    QTest.mouseClick(panel.new_messages, Qt.MouseButton.LeftButton)
    assert view.conversation.message(view.conversation.entries[view.current.number]).text == "And the last question?"
    assert panel.new_messages.isHidden()


def test_message_with_only_heading_visible_is_new(qtbot, panel, memory) -> None:
    QTest.keyClick(panel.view, Qt.Key.Key_End)
    settle(qtbot, panel)
    assert panel.view.scroller.shows_end
    _go_on(qtbot, panel, memory, [*_turns(30), LATER[0]])
    assert panel.new_messages.isVisible()
    assert panel.new_messages.text() == "1 new message below"
    QTest.keyClick(panel.view, Qt.Key.Key_End)
    assert panel.new_messages.isHidden()


@pytest.mark.parametrize("key", [Qt.Key.Key_End, None], ids=["key", "scroll bar"])
def test_end_is_reached_before_texts_are_laid_out(qtbot, panel, memory, key) -> None:
    view, bar = panel.view, panel.view.verticalScrollBar()
    long = [("user", [("text", "Which valve leaks?\n\n- one\n- two\n- three\n\n" * 5)])] * 3
    _go_on(qtbot, panel, memory, [*_turns(30), *long, ("assistant", [("text", "The valve leaks. " * 60)])])
    if key is None:
        bar.setValue(bar.maximum())
    else:
        QTest.keyClick(view, key)
    settle(qtbot, panel)
    last = list(view.scroller.visible())[-1]
    layout = view.scroller.layout
    assert last.position == layout.count - 1
    assert last.top + layout.height(last.position) + layout.measures.px(24) == view.scroller.view_height


def test_end_key_hides_new_messages_notice(qtbot, panel, memory) -> None:
    _go_on(qtbot, panel, memory, [*_turns(30), *LATER])
    assert panel.new_messages.isVisible()
    QTest.keyClick(panel.view, Qt.Key.Key_End)
    assert panel.new_messages.isHidden()


def test_hits_in_new_messages_are_counted(qtbot, panel, memory) -> None:
    _go_on(qtbot, panel, memory, [*_turns(30), *LATER])
    qtbot.waitUntil(lambda: panel.view.highlights.entries[-1] == 1)
    assert panel.view.conversation.entries[-1].kind == "speech"


def test_change_of_other_session_reads_nothing(panel, memory, jobs) -> None:
    reads = len(memory.session_reads)
    memory.session_texts["sessions/codex/other.jsonl"] = make_session(LATER, path="sessions/codex/other.jsonl")
    panel.refresh()
    finish_jobs(jobs)
    assert len(memory.session_reads) == reads


def test_truncated_transcript_is_followed(qtbot, panel, memory) -> None:
    panel.view.current.go_to(40)
    _go_on(qtbot, panel, memory, _turns(5))
    settle(qtbot, panel)
    assert panel.view.current.number == 10
    assert panel.new_messages.isHidden()


def test_change_during_failed_read_is_read_afterwards(qtbot, panel, memory) -> None:
    reading, go_on = threading.Event(), threading.Event()
    original = memory.read_session

    def failing(*arguments, **options):
        memory.read_session = original
        reading.set()
        assert go_on.wait(60)
        raise OSError("busy")

    memory.read_session = failing
    memory.session_texts[PATH] = make_session([*_turns(30), *LATER], path=PATH)
    panel.refresh()
    assert reading.wait(60)
    panel.refresh()
    with qtbot.waitSignal(panel.live_updates.grown):
        go_on.set()


def test_deleted_session_stays_on_screen(panel, memory, jobs) -> None:
    conversation = panel.view.conversation
    memory.session_error = FileNotFoundError(PATH)
    panel.refresh()
    finish_jobs(jobs)
    assert panel.view.conversation is conversation


def test_written_transcript_grows_before_the_index_knows(qtbot, panel, memory, jobs) -> None:
    view = panel.view
    view.current.go_to(9)
    settle(qtbot, panel)
    finish_jobs(jobs)  # the transcript is located, and watched from now on
    before = list(view.scroller.visible())
    memory.session_texts[PATH] = make_session([*_turns(30), *LATER], path=PATH)
    with qtbot.waitSignal(panel.live_updates.grown), memory.locate(PATH).open("a") as transcript:
        transcript.write("\n")
    assert list(view.scroller.visible()) == before
    assert panel.new_messages.text() == "2 new messages below"
    assert view.current.number == 9


def test_write_without_new_messages_changes_nothing(qtbot, panel, memory, jobs) -> None:
    finish_jobs(jobs)
    with (
        qtbot.assertNotEmitted(panel.live_updates.grown),
        qtbot.waitSignal(panel.live_updates.written),
        memory.locate(PATH).open("a") as transcript,
    ):
        transcript.write("\n")
    finish_jobs(jobs)


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("sessions/hermes/state.db", "state.db-wal"),
        ("sessions/openhands/a/base_state.json", "events/1.json"),
        ("sessions/opencode/session/a/ses_1.json", "../../message/ses_1/msg_1.json"),
    ],
)
def test_growth_next_to_the_transcript_is_shown(qtbot, panel, memory, jobs, path, part) -> None:
    memory.session_texts[path] = make_session(_turns(30), path=path)
    added = memory.locate(path).parent / part
    added.parent.mkdir(parents=True, exist_ok=True)
    with qtbot.waitSignal(panel.session_shown):
        panel.show_session(path, None, "valves")
    finish_jobs(jobs)
    memory.session_texts[path] = make_session([*_turns(30), *LATER], path=path)
    with qtbot.waitSignal(panel.live_updates.grown):
        added.write_bytes(b"log")
