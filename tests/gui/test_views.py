from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFileDialog, QLineEdit, QPushButton, QWidget

import engine
from engine import FileIssue, Passage
from gui.core.location import Location
from gui.core.window_context import AppPaths
from gui.core.window_state import WindowState
from gui.core.workspace import Workspace
from gui.sessions.session_figures import FiguresDialog
from gui.style.stylesheet import character_width
from gui.text.formatting import short_path
from gui.viewer.panel import CHOSEN_OPENS_HERE
from gui.widgets.accessibility import following
from gui.widgets.form_controls import Chip
from gui.widgets.list_header import ListHeader
from gui.widgets.placeholder_page import NOTHING_FOUND
from gui.window.main_window import MainWindow
from tests.helpers.chips import choose_from_chip
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import NOW, SESSIONS, VALVE, make_session
from tests.helpers.session_list import listed_rows
from tests.helpers.windows import at_rest

CHILD = next(path for path, session in SESSIONS.items() if session.summary.parent)
Key = Qt.Key
Control = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def memories(tmp_path_factory) -> Iterator[list[FakeMemory]]:
    """The memories opened successively in the same folder."""
    folder = tmp_path_factory.mktemp("notes")
    made = [FakeMemory(folder=folder, sessions=SESSIONS), FakeMemory(folder=folder, sessions={CHILD: SESSIONS[CHILD]})]
    yield made
    for memory in made:
        memory.close()


@pytest.fixture
def memory(memories) -> FakeMemory:
    return memories[0]


@pytest.fixture
def conversation_calls(monkeypatch, qapp) -> list[tuple[object, ...]]:
    """The requests to the conversation (session, location, query); () if it was cleared."""
    calls: list[tuple[object, ...]] = []
    monkeypatch.setattr(
        "gui.shell.views.ConversationPanel.show_session", lambda _panel, *arguments: calls.append(arguments[:3])
    )
    monkeypatch.setattr("gui.shell.views.ConversationPanel.clear", lambda _panel, *_instead: calls.append(()))
    return calls


@pytest.fixture
def window(
    qtbot, appearance, jobs, memories, memory, remembers, monkeypatch, conversation_calls
) -> Iterator[MainWindow]:
    """An active window with notes and sessions, indexed and idle."""
    opened = iter(memories)
    monkeypatch.setattr(engine, "open_memory", lambda *_args, **_options: next(opened), raising=False)
    with appearance.bare():
        window = MainWindow(Workspace(jobs), jobs, appearance, WindowState(), paths=AppPaths(), remembers=remembers)
    qtbot.addWidget(window)
    window.resize(1280, 800)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    assert not window.views.conversation.isVisible()  # made now, which clears it
    conversation_calls.clear()
    yield window
    assert window.shut_down(60_000)


def _sessions(qtbot, window: MainWindow) -> None:
    qtbot.keyClick(window, Key.Key_2, Control)
    qtbot.waitUntil(lambda: at_rest(window) and window.views.sessions.view.has_rows)


def _search(qtbot, window: MainWindow, query: str) -> None:
    window.search.search(query)
    qtbot.waitUntil(lambda: at_rest(window))


def test_a_project_of_the_figures_limits_the_list(qtbot, window):
    _sessions(qtbot, window)
    sessions = window.views.sessions.view.list
    before = len(sessions.listed_sessions())
    with qtbot.waitActive(window):
        sessions.setFocus()
    qtbot.keyClick(sessions, Key.Key_G, Control | Qt.KeyboardModifier.ShiftModifier)
    figures = window.findChild(FiguresDialog)
    qtbot.waitUntil(lambda: not figures.busy)
    project = next(row for row in range(figures.table.model().rowCount()) if _name(figures, row) != "unknown")
    figures.table.selectRow(project)
    chosen = _name(figures, project)
    qtbot.keyClick(figures.table, Key.Key_Return)
    qtbot.waitUntil(lambda: window.findChild(FiguresDialog) is None)
    assert window.focusWidget() is sessions
    listed_rows(window.views.sessions)
    limited = sessions.listed_sessions()
    assert 0 < len(limited) < before
    assert {short_path(session.project, str(Path.home())) for session in limited} == {chosen}


def _name(figures: FiguresDialog, row: int) -> str:
    return figures.table.model().index(row, 0).data()


def test_keys_switch_views(qtbot, window):
    assert window.search.header.isVisible()
    _sessions(qtbot, window)
    assert window.views.sessions.header.isVisible()
    assert window.views.sessions.body.isVisible()
    assert not window.search.header.isVisible()
    assert window.views.sessions.box.edit.hasFocus()
    qtbot.keyClick(window, Key.Key_1, Control)
    assert window.search.body.isVisible()
    assert not window.views.sessions.header.isVisible()


def test_index_view_replaces_list_and_reader_but_not_search_box(qtbot, window):
    qtbot.keyClick(window, Key.Key_3, Control)
    assert window.views.index.isVisible()
    assert not window.search.body.isVisible()
    assert not window.viewer.isVisible()
    assert window.search.header.isVisible()
    qtbot.keyClick(window, Key.Key_2, Control)
    assert not window.views.index.isVisible()
    assert window.views.sessions.body.isVisible()


def test_location_opened_from_index_is_shown_in_reader(qtbot, window, conversation_calls):
    qtbot.keyClick(window, Key.Key_3, Control)
    with qtbot.waitSignal(window.viewer.file_shown) as file:
        window.views.index.open_requested.emit("topics/shopping.md", 2)
    assert file.args == ["topics/shopping.md"]
    assert window.viewer.opened is not None
    assert window.views.current == "search"
    assert window.viewer.isAncestorOf(window.focusWidget())
    qtbot.keyClick(window, Key.Key_3, Control)
    window.views.index.open_requested.emit(VALVE, 2)
    assert conversation_calls[-1] == (VALVE, 2, "")
    assert window.views.conversation.isVisible()


def _attention_button(qtbot, window, words: str) -> QPushButton:
    def found() -> list[QPushButton]:
        return [b for b in window.views.index.findChildren(QPushButton) if b.text() == words and b.isVisible()]

    qtbot.waitUntil(lambda: bool(found()))
    return found()[0]


def test_down_in_box_enters_index_and_escape_returns(qtbot, window, memory):
    qtbot.keyClick(window, Key.Key_3, Control)
    memory.set_status(failed_files=(FileIssue(path="scan.md", rule="not-utf8", detail="Byte 3."),))
    retry = _attention_button(qtbot, window, "Try again")
    edit = window.search.header.findChild(QLineEdit)
    assert edit.hasFocus()
    _search(qtbot, window, "pressure")  # in an empty box the key means earlier questions
    qtbot.keyClick(edit, Key.Key_Down)
    assert retry.hasFocus()
    qtbot.keyClick(retry, Key.Key_Escape)
    assert edit.hasFocus()


def test_enter_in_box_leaves_index_for_best_result(qtbot, window):
    qtbot.keyClick(window, Key.Key_3, Control)
    _search(qtbot, window, "pressure")
    assert window.views.current == "index"
    qtbot.keyClick(window.search.header.findChild(QLineEdit), Key.Key_Return)
    assert window.views.current == "search"
    assert window.viewer.isAncestorOf(window.focusWidget())


def test_attention_rows_open_diagnostics_and_start_sync(qtbot, window, memory):
    qtbot.keyClick(window, Key.Key_3, Control)
    issue = FileIssue(path="scan.md", rule="not-utf8", detail="Byte 3.")
    memory.set_status(failed_files=(issue,), skipped_files=(issue,))
    _attention_button(qtbot, window, "Show").click()
    assert window.dock.diagnostics.isVisible()
    assert window.views.index.isVisible()
    synced = len(memory.syncs)
    _attention_button(qtbot, window, "Try again").click()
    qtbot.waitUntil(lambda: len(memory.syncs) == synced + 1 and at_rest(window))


def test_buttons_switch_views(qtbot, window):
    def press(words: str) -> None:
        next(b for b in window.frame.header.findChildren(QPushButton) if b.text() == words).click()

    press("Sessions")
    assert window.views.current == "sessions"
    press("Search")
    assert window.views.current == "search"


def test_ctrl_k_focuses_box_of_current_view(qtbot, window):
    _sessions(qtbot, window)
    window.sync_bar.setFocus()
    qtbot.keyClick(window, Key.Key_K, Control)
    assert window.views.sessions.box.edit.hasFocus()


def test_sessions_are_not_read_before_view_is_shown(qtbot, window, memory, monkeypatch):
    calls = []
    listed = memory.sessions
    monkeypatch.setattr(memory, "sessions", lambda: calls.append(1) or listed())
    window.views.refresh()
    qtbot.waitUntil(lambda: at_rest(window))
    assert calls == []
    _sessions(qtbot, window)
    assert len(calls) == 1
    window.views.refresh()
    qtbot.waitUntil(lambda: len(calls) == 2 and at_rest(window))


def test_conversation_refreshes_on_index_change(qtbot, window, memory, monkeypatch):
    received = []
    monkeypatch.setattr(window.views.conversation, "refresh", lambda: received.append(True))
    window.workspace.sync()
    memory.files["late.md"] = "# Late"
    qtbot.waitUntil(lambda: bool(received))
    qtbot.waitUntil(lambda: at_rest(window))


@pytest.mark.parametrize("is_read", [True, False])
def test_read_session_stays_when_another_begins(qtbot, window, memory, monkeypatch, is_read):
    _sessions(qtbot, window)
    monkeypatch.setattr(type(window.views.conversation), "is_read", is_read)
    newer = make_session([("user", [("text", "Is the pump on?")])], path="sessions/new.jsonl", started=NOW, ended=NOW)
    memory.session_texts["sessions/new.jsonl"] = newer
    window.views.refresh()
    listed = window.views.sessions.view.list
    qtbot.waitUntil(lambda: at_rest(window) and listed.rows.position(("session", "sessions/new.jsonl")) >= 0)
    assert listed.current_session().path == (VALVE if is_read else "sessions/new.jsonl")


def test_selected_session_is_shown_as_conversation(qtbot, window, conversation_calls):
    _sessions(qtbot, window)
    assert conversation_calls == [(VALVE, None, "")]
    assert window.views.conversation.isVisible()
    window.views.sessions.search("firmware")
    qtbot.waitUntil(lambda: at_rest(window))
    path, line, query = conversation_calls[-1]
    assert (path, query) == (VALVE, "firmware")
    assert "firmware" in next(message.text for message in SESSIONS[VALVE].messages if message.line == line)


def test_without_sessions_reader_shows_no_choose_hint(qtbot, window, memory, monkeypatch):
    messages = []
    monkeypatch.setattr("gui.shell.views.ConversationPanel.clear", lambda _, instead=None: messages.append(instead))
    monkeypatch.setattr(type(memory), "sessions", lambda *_arguments, **_options: ())
    qtbot.keyClick(window, Key.Key_2, Control)
    qtbot.waitUntil(lambda: at_rest(window) and bool(messages))
    assert messages == [NOTHING_FOUND]


def test_no_matching_session_clears_reader_until_filters_reset(qtbot, window, conversation_calls, monkeypatch):
    messages = []
    monkeypatch.setattr("gui.shell.views.ConversationPanel.clear", lambda _, instead=None: messages.append(instead))
    _sessions(qtbot, window)
    sessions = window.views.sessions
    choose_from_chip(sessions.chips, "Agent", "Codex")
    qtbot.keyClicks(sessions.box.edit, "zebra crossing")
    qtbot.waitUntil(lambda: at_rest(window) and bool(messages))
    assert messages == [NOTHING_FOUND]
    for agent in ("codex", ""):
        qtbot.keyClick(sessions.box.edit, Key.Key_Escape)
        assert sessions.chips.agent == agent
    assert sessions.box.edit.hasFocus()
    qtbot.waitUntil(lambda: at_rest(window))
    assert conversation_calls[-1] == (VALVE, None, "")


def test_session_without_similar_ones_stays_open(qtbot, window, memory, conversation_calls, monkeypatch):
    monkeypatch.setattr(memory, "vectors", False)
    _sessions(qtbot, window)
    window.views.sessions.show_similar(VALVE)
    qtbot.waitUntil(lambda: at_rest(window))
    assert "No similar session" in window.views.sessions.view.page.accessibleName()
    assert conversation_calls == [(VALVE, None, "")]


def test_session_hit_opens_conversation_and_note_hit_file(qtbot, window, conversation_calls):
    _search(qtbot, window, "lost_ticks")
    path, line, query = conversation_calls[-1]
    assert (path, query) == (VALVE, "lost_ticks")
    assert isinstance(line, int)
    assert window.views.conversation.isVisible()
    _search(qtbot, window, "pressure")
    assert window.viewer.isVisible()
    assert not window.views.conversation.isVisible()


def test_each_view_restores_its_reader(qtbot, window, conversation_calls):
    _search(qtbot, window, "lost_ticks")
    hit = conversation_calls[-1]
    _sessions(qtbot, window)
    assert conversation_calls[-1] == (VALVE, None, "")
    qtbot.keyClick(window, Key.Key_1, Control)
    assert conversation_calls[-1] == hit
    _search(qtbot, window, "pressure")
    before = len(conversation_calls)
    qtbot.keyClick(window, Key.Key_2, Control)
    assert window.views.conversation.isVisible()
    qtbot.keyClick(window, Key.Key_1, Control)
    assert window.viewer.isVisible()
    assert len(conversation_calls) == before + 1


def test_enter_focuses_conversation_and_escape_returns(qtbot, window):
    _sessions(qtbot, window)
    window.views.sessions.focus_list()
    qtbot.keyClick(window.views.sessions.view.list, Key.Key_Return)
    conversation = window.views.conversation
    qtbot.waitUntil(lambda: conversation is window.focusWidget() or conversation.isAncestorOf(window.focusWidget()))
    conversation.escape_pressed.emit()
    assert window.views.sessions.view.list.hasFocus()


def test_similar_sessions_open_in_sessions_view(qtbot, window):
    _search(qtbot, window, "lost_ticks")
    _sessions(qtbot, window)
    qtbot.keyClick(window, Key.Key_1, Control)
    window.views.conversation.session_actions.similar_requested.emit(VALVE)
    assert window.views.current == "sessions"
    qtbot.waitUntil(lambda: at_rest(window))
    assert "sessions similar" in window.views.sessions.view.notice.accessibleName()


def test_similar_sessions_work_before_listing(qtbot, window):
    window.views.conversation.session_actions.similar_requested.emit(VALVE)
    qtbot.waitUntil(lambda: at_rest(window) and "similar to “" in window.views.sessions.view.notice.accessibleName())


def test_more_from_session_limits_search_until_chip_is_pressed(qtbot, window, memory):
    _sessions(qtbot, window)
    window.views.sessions.search("timer")
    qtbot.waitUntil(lambda: at_rest(window))
    window.views.conversation.session_actions.more_requested.emit(VALVE)
    assert window.views.current == "search"
    qtbot.waitUntil(lambda: at_rest(window))
    query, _, options = memory.searches[-1]
    assert (query, options["path_glob"]) == ("timer", VALVE)
    chip = next(b for b in window.search.header.findChildren(QPushButton) if b.text().startswith("Only in “"))
    assert chip.accessibleName() == "Searching only in Fix the valve controller. Activate to search everything."
    chip.click()
    qtbot.waitUntil(lambda: at_rest(window))
    assert memory.searches[-1][2]["path_glob"] is None
    assert not chip.isVisible()


def test_similar_to_message_is_searched_and_escape_returns(qtbot, window, memory):
    _sessions(qtbot, window)
    passage = Passage(path=VALVE, start_line=3, end_line=3, text="the relay debounces", message=2)
    window.views.conversation.like_requested.emit(passage, passage.text)
    assert window.views.current == "search"
    qtbot.waitUntil(lambda: at_rest(window) and bool(memory.liked))
    assert memory.liked[-1] == passage
    assert window.search.body.scope_bar.isVisible()
    qtbot.keyClick(window.search.header.findChild(QLineEdit), Key.Key_Escape)
    qtbot.waitUntil(lambda: at_rest(window) and not window.search.body.scope_bar.isVisible())


def test_ctrl_shift_k_searches_within_results_from_any_view(qtbot, window, memory):
    _search(qtbot, window, "timer")
    _sessions(qtbot, window)
    qtbot.keyClick(window, Key.Key_K, Control | Qt.KeyboardModifier.ShiftModifier)
    assert window.views.current == "search"
    assert window.search.body.scope_bar.accessibleName().startswith("Within")


def test_added_session_folder_is_saved_and_workspace_reopened(qtbot, window, memories, monkeypatch, tmp_path):
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    _sessions(qtbot, window)
    folder = window.workspace.current.folder
    window.views.sessions.listed.folder_requested.emit()
    for words in ("Add a folder…", "Save and index"):
        qtbot.waitUntil(lambda: window.first_run.ready)
        next(b for b in window.first_run.findChildren(QPushButton) if b.text() == words).click()
    qtbot.waitUntil(lambda: memories[1].syncs == [("manual", False)] and at_rest(window))
    assert engine.load_settings(folder).sessions.folders == (str(tmp_path),)
    assert window.workspace.current.settings.sessions.folders == (str(tmp_path),)
    assert window.views.current == "sessions"


@pytest.mark.parametrize("remembers", [False])
def test_demo_refuses_session_folder(qtbot, window):
    window.views.sessions.listed.folder_requested.emit()
    assert "demo" in window.banner.text


def test_other_workspace_lists_its_own_sessions(qtbot, window, memories):
    _sessions(qtbot, window)
    window.folders.open(memories[1].folder)
    listed = window.views.sessions.view.list
    qtbot.waitUntil(lambda: listed.current_session() is not None and listed.current_session().path == CHILD)
    qtbot.waitUntil(lambda: at_rest(window))


def _switch_button(window: MainWindow, words: str) -> QPushButton:
    return next(b for b in window.frame.header.findChildren(QPushButton) if b.text() == words)


def test_facts_have_a_button_once_there_is_one(qtbot, window, memory):
    button = _switch_button(window, "Facts")
    assert not button.isVisible()
    qtbot.keyClick(window, Key.Key_4, Control)
    assert window.views.current == "facts"
    assert button.isVisible()
    assert button.isChecked()
    window.views.switch("search")
    assert not button.isVisible()
    memory.facts.add("The dog is called Bo")
    window.views.refresh()
    qtbot.waitUntil(button.isVisible)
    state = WindowState()
    window.frame.update_state(state)
    assert state.offered_views == ["facts"]


def _left_edge(widget: QWidget, window: MainWindow) -> int:
    return widget.mapTo(window, QPoint()).x()


def _right_edge(widget: QWidget, window: MainWindow) -> int:
    return _left_edge(widget, window) + widget.width()


def test_narrow_window_hides_view_switch(qtbot, window):
    search, index = (_switch_button(window, words) for words in ("Search", "Index"))
    switch = index.parentWidget()
    assert search.x() < index.x()
    assert search.y() == index.y()
    box = window.search.box
    for width in range(640, 1000, 20):
        window.resize(width, 700)
        qtbot.waitUntil(
            lambda width=width: (
                window.width() == width
                and box.width() >= box.sizeHint().width()
                and (not switch.isVisible() or _right_edge(switch, window) < _left_edge(box, window))
            )
        )
        assert switch.isVisible() or width < 840
        assert search.y() == index.y()
    window.resize(600, 700)
    qtbot.waitUntil(lambda: not switch.isVisible())
    views = next(chip for chip in window.frame.header.findChildren(Chip) if chip.accessibleName() == "View: Search")
    assert views.isVisible()
    views.menu().aboutToShow.emit()
    next(action for action in views.menu().actions() if action.text().startswith("Facts")).trigger()
    assert window.views.current == "facts"
    assert views.accessibleName() == "View: Facts"
    _sessions(qtbot, window)
    chips = window.views.sessions.chips
    assert chips.mapTo(window, chips.rect().topRight()).x() < window.width()


@pytest.mark.parametrize("width", [900, 1280, 1360, 1500])
def test_header_keeps_its_height_while_a_folder_opens(qtbot, window, memory, width):
    header = window.frame.header
    window.resize(width, 800)
    qtbot.waitUntil(lambda: window.width() == width == header.width())
    qtbot.wait(50)  # the rest of the layout
    heights = {header.height()}
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: heights.add(header.height()) or at_rest(window))
    for offered in (True, False):
        header.offer("facts", offered)
        qtbot.waitUntil(lambda offered=offered: _switch_button(window, "Facts").isVisible() is offered)
        qtbot.wait(1)
        heights.add(header.height())
    assert len(heights) == 1


def test_results_grow_in_window_beyond_200_characters(qtbot, window):
    results = window.views.lists
    wide = 200 * character_width()
    widths = []
    for width in (wide - 400, wide, wide + 400):
        window.resize(width, 800)
        qtbot.waitUntil(lambda width=width: window.width() == width)
        qtbot.waitUntil(lambda: window.panes.width() == window.width())
        widths.append(results.width())
    assert widths[0] == widths[1]
    assert abs(widths[2] - widths[1] - 100) <= 1


def test_box_leaves_room_for_buttons_once_folder_is_open(qtbot, window):
    header, box = window.frame.header, window.search.box
    header.show_working(False)
    assert not header.dock_button.isVisible()
    header.show_working(True)
    qtbot.waitUntil(lambda: header.dock_button.isVisible() and box.isVisible())
    qtbot.waitUntil(lambda: _right_edge(box, window) < _left_edge(header.dock_button, window))


def test_view_switch_hides_depending_on_font_scale(qtbot, window, appearance):
    switch = next(b for b in window.frame.header.findChildren(QPushButton) if b.text() == "Index").parentWidget()
    appearance.set_font_scale(0.8)
    window.resize(560, 360)
    qtbot.waitUntil(lambda: window.width() == 560 and not switch.isVisible())
    window.resize(760, 500)
    qtbot.waitUntil(switch.isVisible)
    appearance.set_font_scale(1.5)
    assert not switch.isVisible()


def test_tab_order_of_result_tools_is_left_to_right(qtbot, opened):
    opened.search.search("timer")
    qtbot.waitUntil(lambda: not opened.search.busy)
    header = opened.search.body.findChild(ListHeader)
    tools = [b for b in header.findChildren(QPushButton) if b.isVisible()]
    tools.sort(key=lambda tool: tool.x())
    assert len(tools) == 3
    tools[0].setFocus()
    for tool in tools:
        assert tool.hasFocus()
        qtbot.keyClick(tool, Key.Key_Tab)
    assert opened.search.body.list.hasFocus()


def test_tab_visits_index_page_chips_in_order(opened):
    opened.views.switch("index")
    chips = list(opened.views.index.chips.values())
    order = []
    widget = chips[0]
    while len(order) < len(chips):
        order.append(widget)
        widget = following(widget)
    assert order == chips


def test_box_starts_at_same_x_in_every_view(qtbot, opened):
    for width in (1280, 800):
        opened.resize(width, 800)
        starts = []
        for name, panel in (
            ("search", opened.search.box),
            ("sessions", opened.views.sessions.box),
            ("index", opened.search.box),
        ):
            opened.views.switch(name)
            qtbot.waitUntil(panel.edit.isVisible)
            starts.append(panel.edit.mapTo(opened, QPoint(0, 0)).x())
        assert max(starts) - min(starts) <= 4, width


def test_escape_focuses_box_from_header_and_sync_bar(opened, qtbot):
    for view in ("search", "sessions", "index"):
        opened.views.switch(view)
        box = (opened.views.sessions.box if view == "sessions" else opened.search.box).edit
        for button in (opened.frame.header.menu_button, opened.sync_bar.findChild(QPushButton)):
            button.setFocus()
            qtbot.keyClick(button, Key.Key_Escape)
            assert box.hasFocus(), view


def _instead(window: MainWindow) -> str:
    """The page shown instead of a file."""
    return window.viewer.empty_page.accessibleName() if window.viewer.empty_page.isVisible() else ""


def test_empty_answer_clears_reader_and_new_results_fill_it(qtbot, window):
    with qtbot.waitSignal(window.viewer.file_shown):
        _search(qtbot, window, "CR2032")
    _search(qtbot, window, "xylophone")
    assert window.viewer.empty_page.isVisible()
    assert not _instead(window)
    with qtbot.waitSignal(window.viewer.file_shown):
        _search(qtbot, window, "CR2032")
    assert not _instead(window)


def test_reader_is_cleared_when_answer_loses_its_results(qtbot, window):
    with qtbot.waitSignal(window.viewer.file_shown), qtbot.waitSignal(window.search.answer_changed) as answered:
        _search(qtbot, window, "CR2032")
    answer = answered.args[0]
    none = msgspec.structs.replace(answer.outcome, results=())
    window.search.answer_changed.emit(replace(answer, outcome=none))  # by a change of the index
    assert not window.viewer.empty_page.isVisible()
    window.search.answer_changed.emit(replace(answer, final=False))
    window.search.answer_changed.emit(replace(answer, outcome=none))  # by meaning, after keywords
    assert window.viewer.empty_page.isVisible()


def test_file_opened_elsewhere_survives_lost_results(qtbot, window):
    with qtbot.waitSignal(window.viewer.file_shown), qtbot.waitSignal(window.search.answer_changed) as answered:
        _search(qtbot, window, "CR2032")
    answer = answered.args[0]
    other = "topics/shopping.md"
    assert window.viewer.name != other
    with qtbot.waitSignal(window.viewer.file_shown):
        window.views.show_location(Location(other, 1))
    window.search.box.focus()
    none = msgspec.structs.replace(answer.outcome, results=())
    window.search.answer_changed.emit(replace(answer, outcome=none))
    assert window.viewer.name == other
    assert not window.viewer.empty_page.isVisible()


def test_empty_query_shows_viewer_hint(qtbot, window):
    _search(qtbot, window, "xylophone")
    window.search.search("")
    qtbot.waitUntil(lambda: _instead(window).startswith(CHOSEN_OPENS_HERE.sentence))


def test_file_opened_as_box_is_emptied_stays(qtbot, window):
    with qtbot.waitSignal(window.viewer.file_shown):
        _search(qtbot, window, "CR2032")
    other = "topics/shopping.md"
    assert window.viewer.name != other
    with qtbot.waitSignal(window.viewer.file_shown):
        window.search.search("")
        window.views.show_location(Location(other, 1))
    assert window.viewer.name == other


def test_focused_reader_survives_empty_answer(qtbot, window):
    with qtbot.waitSignal(window.viewer.file_shown):
        _search(qtbot, window, "CR2032")
    window.views.focus_reader()
    _search(qtbot, window, "xylophone")
    assert not _instead(window)


def test_empty_answer_clears_conversation(qtbot, window, memory):
    _search(qtbot, window, "relay debounces")
    qtbot.waitUntil(window.views.conversation.isVisible)
    _search(qtbot, window, "xylophone")
    assert window.viewer.empty_page.isVisible()
    assert not _instead(window)
