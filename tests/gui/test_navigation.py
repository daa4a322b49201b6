"""Back and forward through the window: queries, results, sessions, views."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from engine import QueryRecord
from gui.core.location import Location
from gui.search.ranking_menu import Ranking
from gui.text.session_texts import agent_name
from gui.window.main_window import MainWindow
from tests.helpers.chips import choose_from_chip
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import SESSIONS, make_session
from tests.helpers.windows import at_rest

Key = Qt.Key
Alt = Qt.KeyboardModifier.AltModifier
NOTES = {f"{n:03}.md": f"# Note {n}\n\nThe timer of valve {n} and a hose.\n" for n in range(60)}


@pytest.fixture
def memory() -> Iterator[FakeMemory]:
    memory = FakeMemory(NOTES, sessions=SESSIONS)
    yield memory
    memory.close()


@pytest.fixture
def rest(qtbot, opened) -> Callable[[], None]:
    return lambda: qtbot.waitUntil(lambda: at_rest(opened) and not opened.search.controller.saved_searches.store.busy)


@pytest.fixture
def find(opened, rest) -> Callable[[str], None]:
    def run(query: str) -> None:
        opened.search.search(query)
        rest()

    return run


@pytest.fixture
def back(qtbot, opened, rest) -> Callable[[], None]:
    def run() -> None:
        qtbot.keyClick(opened, Key.Key_Left, Alt)
        rest()

    return run


@pytest.fixture
def forward(qtbot, opened, rest) -> Callable[[], None]:
    def run() -> None:
        qtbot.keyClick(opened, Key.Key_Right, Alt)
        rest()

    return run


def _query(window: MainWindow) -> str:
    return window.search.controller.saved_searches.query.text if window.search.controller.saved_searches.query else ""


def _current(window: MainWindow) -> str:
    return window.search.body.list.current_result().path


def _directions(window: MainWindow) -> tuple[bool, bool]:
    return window.commands.back.isEnabled(), window.commands.forward.isEnabled()


def _open(qtbot, window: MainWindow, path: str, rest: Callable[[], None]) -> None:
    results = window.search.body.list
    results.setCurrentIndex(
        results.rows.index(next(n for n in range(results.rows.rowCount()) if _path(results, n) == path))
    )
    results.setFocus()
    qtbot.keyClick(results, Key.Key_Return)
    rest()


def _path(results, number: int) -> str:
    row = results.rows.row(number)
    return row.result.path if hasattr(row, "result") else ""


def test_back_and_forward_step_through_queries_not_typing(qtbot, opened, find, back, forward, rest):
    assert _directions(opened) == (False, False)
    find("timer")
    find("hose")
    box = opened.search.box.edit
    box.setFocus()
    box.selectAll()
    qtbot.keyClicks(box, "valve")
    rest()
    assert _directions(opened) == (True, False)
    back()
    assert (_query(opened), _directions(opened)) == ("hose", (True, True))
    back()
    assert (_query(opened), _directions(opened)) == ("timer", (False, True))
    back()
    assert _query(opened) == "timer"
    forward()
    forward()
    assert (_query(opened), _directions(opened)) == ("valve", (True, False))


def test_going_back_does_not_save_query_again(qtbot, opened, memory, find, back, rest):
    find("timer")
    find("hose")
    back()
    assert [search.query.text for search in memory.saved_searches.recent()] == ["hose", "timer"]


def test_back_restores_selection_and_scroll_position(qtbot, opened, find, back, forward, rest):
    find("timer")
    results = opened.search.body.list
    _open(qtbot, opened, "030.md", rest)
    top = results.verticalScrollBar().value()
    assert top > 0
    with qtbot.waitSignal(opened.viewer.file_shown, check_params_cb=lambda path: path == "000.md"):
        find("hose")
    assert results.verticalScrollBar().value() == 0
    with qtbot.waitSignal(opened.viewer.file_shown) as signal:
        back()
    assert signal.args == ["030.md"]
    assert (_current(opened), results.verticalScrollBar().value()) == ("030.md", top)
    assert results.hasFocus()
    forward()
    assert (_query(opened), _current(opened)) == ("hose", "000.md")


def test_each_opened_result_is_a_history_entry(qtbot, opened, find, back, rest):
    find("timer")
    _open(qtbot, opened, "003.md", rest)
    results = opened.search.body.list
    row = next(n for n in range(results.rows.rowCount()) if _path(results, n) == "005.md")
    qtbot.mouseClick(
        results.viewport(), Qt.MouseButton.LeftButton, pos=results.visualRect(results.rows.index(row)).center()
    )
    rest()
    back()
    assert _current(opened) == "003.md"
    assert _directions(opened) == (False, True)


def test_back_and_forward_restore_filters_ranking_and_order(qtbot, opened, find, back, forward, rest):
    find("timer")
    narrow = QueryRecord(text="hose", sources=("memory",), days=365, half_life_days=90.0, diverse=True, order="date")
    opened.search.controller.show_query(narrow)
    rest()
    back()
    assert opened.search.controller.saved_searches.query == QueryRecord(text="timer", half_life_days=0.0, diverse=False)
    assert opened.search.ranking.ranking == Ranking()
    forward()
    assert opened.search.controller.saved_searches.query == narrow


def test_back_restores_extended_result_list(qtbot, opened, find, back, rest):
    find("timer")
    opened.search.body.list.more_requested.emit()
    rest()
    _open(qtbot, opened, "055.md", rest)
    find("hose")
    back()
    assert _current(opened) == "055.md"


def test_views_and_sessions_are_history_entries(qtbot, opened, find, back, forward, rest):
    find("timer")
    qtbot.keyClick(opened, Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    rest()
    sessions = opened.views.sessions.view.list
    qtbot.waitUntil(lambda: sessions.current_session() is not None)
    paths = [
        entry.key[1] for entry in map(sessions.rows.row, range(sessions.rows.rowCount())) if entry.key[0] == "session"
    ]
    for path in paths[:2]:
        assert sessions.go_to(path)
        sessions.open_current()
        rest()
    qtbot.keyClick(opened, Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    rest()
    assert opened.views.current == "index"
    back()
    assert (opened.views.current, sessions.current_session().path) == ("sessions", paths[1])
    back()
    assert sessions.current_session().path == paths[0]
    back()
    assert (opened.views.current, _query(opened)) == ("search", "timer")
    forward()
    assert (opened.views.current, sessions.current_session().path) == ("sessions", paths[0])


def test_back_restores_session_filters(qtbot, opened, back, forward, rest):
    qtbot.keyClick(opened, Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    rest()
    qtbot.waitUntil(lambda: opened.views.sessions.view.has_rows)
    agent = opened.views.sessions.view.list.current_session().agent
    choose_from_chip(opened.views.sessions.chips, "Agent", agent_name(agent))
    rest()
    opened.views.sessions.view.list.open_current()
    rest()
    path = opened.views.sessions.view.list.current_session().path
    choose_from_chip(opened.views.sessions.chips, "Agent", "All agents")
    rest()
    back()
    assert (opened.views.sessions.chips.agent, opened.views.sessions.view.list.current_session().path) == (agent, path)
    forward()
    assert opened.views.sessions.chips.agent == ""


def test_location_opened_from_index_is_a_history_entry(qtbot, opened, find, back, forward, rest):
    find("timer")
    opened.views.switch("index")
    rest()
    with qtbot.waitSignal(opened.viewer.file_shown):
        opened.views.show_location(Location("020.md", 3))
    rest()
    find("hose")
    with qtbot.waitSignal(opened.viewer.file_shown) as signal:
        back()
        qtbot.waitUntil(opened.viewer.isVisible)
    assert signal.args == ["020.md"]
    back()
    assert opened.views.current == "index"


def test_mouse_buttons_go_back_and_forward(qtbot, opened, find, rest):
    find("timer")
    find("hose")
    for button, query in ((Qt.MouseButton.BackButton, "timer"), (Qt.MouseButton.ForwardButton, "hose")):
        QTest.mouseClick(opened.windowHandle(), button, Qt.KeyboardModifier.NoModifier, QPoint(200, 300))
        rest()
        assert _query(opened) == query
    assert QApplication.activePopupWidget() is None


def test_opening_workspace_clears_history(qtbot, opened, find, tmp_path, monkeypatch, rest):
    find("timer")
    find("hose")
    other = FakeMemory({"x.md": "# Something else\n\nabout herons"})
    monkeypatch.setattr("engine.open_memory", lambda *_args, **_options: other)
    opened.folders.open(tmp_path)
    qtbot.waitUntil(lambda: opened.workspace.current is not None and opened.workspace.current.manager is other)
    rest()
    assert _directions(opened) == (False, False)


def test_followed_link_focuses_reader(qtbot, opened, find, rest):
    find("timer")
    opened.viewer.show_file("001.md")
    qtbot.waitUntil(lambda: opened.viewer.name == "001.md")
    opened.viewer.follow_link(QUrl("020.md"))
    qtbot.waitUntil(lambda: opened.viewer.name == "020.md")
    rest()
    assert opened.viewer.isAncestorOf(QApplication.focusWidget())


def test_back_from_followed_link_keeps_focus_in_reader(qtbot, opened, find, back, rest):
    find("timer")
    start = _current(opened)
    _open(qtbot, opened, start, rest)
    qtbot.waitUntil(lambda: opened.viewer.name == start)
    target = "020.md" if start != "020.md" else "021.md"
    opened.viewer.follow_link(QUrl(target))
    qtbot.waitUntil(lambda: opened.viewer.name == target)
    rest()
    back()
    qtbot.waitUntil(lambda: opened.viewer.name == start)
    assert opened.viewer.isAncestorOf(QApplication.focusWidget())
    find("hose")
    back()
    rest()
    assert not opened.viewer.isAncestorOf(QApplication.focusWidget())


@pytest.mark.parametrize("how", ["preview", "click", "enter", "box"])
def test_back_returns_from_followed_link_to_result(qtbot, opened, find, back, forward, rest, how):
    find("timer")
    results = opened.search.body.list
    start = _current(opened)
    target = "020.md" if start != "020.md" else "021.md"
    match how:
        case "click":
            row = results.visualRect(results.currentIndex()).center()
            qtbot.mouseClick(results.viewport(), Qt.MouseButton.LeftButton, pos=row)
        case "enter":
            _open(qtbot, opened, start, rest)
        case "box":
            qtbot.keyClick(opened.search.box.edit, Key.Key_Return)
    rest()
    qtbot.waitUntil(lambda: opened.viewer.name == start)
    opened.viewer.follow_link(QUrl(target))
    qtbot.waitUntil(lambda: opened.viewer.name == target)
    rest()
    assert _directions(opened) == (True, False)
    back()
    qtbot.waitUntil(lambda: opened.viewer.name == start)
    assert _directions(opened) == (False, True)
    forward()
    qtbot.waitUntil(lambda: opened.viewer.name == target)


def test_back_returns_to_row_previewed_after_a_link(qtbot, opened, find, back, rest):
    find("timer")
    results = opened.search.body.list
    _open(qtbot, opened, _current(opened), rest)
    opened.viewer.follow_link(QUrl("040.md"))
    qtbot.waitUntil(lambda: opened.viewer.name == "040.md")
    rest()
    results.setFocus()
    qtbot.keyClick(results, Key.Key_Down)
    rest()
    second = _current(opened)
    qtbot.waitUntil(lambda: opened.viewer.name == second)
    opened.viewer.follow_link(QUrl("041.md"))
    qtbot.waitUntil(lambda: opened.viewer.name == "041.md")
    rest()
    back()
    qtbot.waitUntil(lambda: opened.viewer.name == second)
    back()
    qtbot.waitUntil(lambda: opened.viewer.name == "040.md")


def test_back_to_followed_link_of_another_query_stays_there(qtbot, opened, find, back, rest):
    find("timer")
    opened.viewer.follow_link(QUrl("040.md"))
    qtbot.waitUntil(lambda: opened.viewer.name == "040.md")
    rest()
    find("hose")
    qtbot.waitUntil(lambda: opened.viewer.name == _current(opened))
    back()
    qtbot.waitUntil(lambda: opened.viewer.name == "040.md")
    qtbot.wait(400)  # longer than the preview waits
    assert (_query(opened), opened.viewer.name) == ("timer", "040.md")


def test_click_on_current_row_shows_it_after_a_link(qtbot, opened, find, rest):
    find("timer")
    results = opened.search.body.list
    start = _current(opened)
    qtbot.waitUntil(lambda: opened.viewer.name == start)
    opened.viewer.follow_link(QUrl("040.md"))
    qtbot.waitUntil(lambda: opened.viewer.name == "040.md")
    rest()
    row = results.visualRect(results.currentIndex()).center()
    qtbot.mouseClick(results.viewport(), Qt.MouseButton.LeftButton, pos=row)
    qtbot.waitUntil(lambda: opened.viewer.name == start)


def test_link_in_session_opens_file_of_index(qtbot, opened, memory):
    path = "sessions/claude-code/one.jsonl"
    memory.session_texts = {path: make_session([("user", [("text", "See 020.md.")])], path=path)}
    opened.views.show_location(Location(path, 1))
    conversation = opened.views.conversation
    qtbot.waitUntil(lambda: conversation.opened is not None)
    conversation.view.link_clicked.emit(QUrl("missing.md"))
    qtbot.waitUntil(lambda: "not in the index" in conversation.hint.findChild(QLabel).text())
    conversation.view.link_clicked.emit(QUrl("../../020.md"))
    qtbot.waitUntil(lambda: opened.viewer.name == "020.md")
    assert opened.viewer.isAncestorOf(QApplication.focusWidget())


def test_back_restores_reading_position_in_conversation(qtbot, opened, memory, back, forward, rest):
    turns = [("user" if n % 2 else "assistant", [("text", f"Message {n} of the valve.")]) for n in range(200)]
    paths = ["sessions/claude-code/one.jsonl", "sessions/claude-code/two.jsonl"]
    memory.session_texts = {path: make_session(turns, path=path) for path in paths}
    conversation = opened.views.conversation

    def read(path: str) -> None:
        qtbot.waitUntil(lambda: conversation.view_state is not None and conversation.view_state.path == path)

    def top() -> tuple[str, int, int]:
        state = conversation.view_state
        return ("", 0, 0) if state is None else (state.path, state.line, state.slot)

    qtbot.keyClick(opened, Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    rest()
    qtbot.waitUntil(lambda: opened.views.sessions.view.has_rows)
    left = []
    for path, pixels in zip(paths, (1234, 4321), strict=True):
        assert opened.views.sessions.view.list.go_to(path)
        opened.views.sessions.view.list.open_current()
        rest()
        read(path)
        conversation.view.scroller.scroll_by(pixels)
        left.append(top())
    back()
    qtbot.waitUntil(lambda: top() == left[0])
    forward()
    qtbot.waitUntil(lambda: top() == left[1])
    assert opened.views.sessions.view.list.go_to(paths[0])  # a new visit begins at the top
    opened.views.sessions.view.list.open_current()
    rest()
    read(paths[0])
    assert conversation.view_state.line < left[0][1]
