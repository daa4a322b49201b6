"""The window's layout and the user's location: saved immediately, and restored."""

import json
import os
from datetime import date

import msgspec
import pytest

import engine
from engine import QueryRecord
from gui.core.session_criteria import Criteria, Period
from gui.core.window_context import AppPaths
from gui.core.window_state import LastView, WindowState, load_state, state_path
from gui.core.workspace import Workspace
from gui.window.main_window import MainWindow
from tests.helpers.chips import choose_from_chip
from tests.helpers.fake_sessions import SESSIONS, make_session
from tests.helpers.windows import at_rest, finish_jobs

LONG = "sessions/claude-code/greenhouse/long.jsonl"


@pytest.fixture
def sessions(memory):
    """Sessions of which one is much longer than the window."""
    turns = [("user" if n % 2 else "assistant", [("text", f"Message {n}\n\nof the valve.")]) for n in range(200)]
    memory.session_texts = SESSIONS | {LONG: make_session(turns, path=LONG)}


@pytest.fixture
def begin(qtbot, appearance, jobs, memory, monkeypatch):
    """Return a function that opens a window with a state and restores the location in it."""
    monkeypatch.setattr(engine, "open_memory", lambda *_args, **_options: memory, raising=False)
    made = []

    def open_window(state: WindowState, *, wait: bool = True) -> MainWindow:
        with appearance.bare():
            window = MainWindow(Workspace(jobs), jobs, appearance, state, paths=AppPaths())
        qtbot.addWidget(window)
        made.append(window)
        window.show()
        window.session_restore.resume()
        window.folders.open(memory.folder)
        if wait:
            qtbot.waitUntil(lambda: at_rest(window))
        return window

    yield open_window
    for window in made:
        assert window.shut_down(60_000)


def _written() -> dict:
    return json.loads(state_path().read_text()) if state_path().exists() else {}


def _ask(qtbot, window, text: str) -> None:
    window.search.search(text)
    qtbot.waitUntil(lambda: not window.search.busy and window.search.body.has_results)


def test_query_selection_view_and_geometry_are_saved_live(qtbot, opened, memory):
    _ask(qtbot, opened, "timer")
    results = opened.search.body.list
    results.setCurrentIndex(results.rows.index(results.rows.rowCount() - 1))
    row = list(results.rows.row(results.currentIndex().row()).key)
    qtbot.waitUntil(lambda: _written().get("last_view", {}).get("row") == row)
    saved_view = _written()["last_view"]
    assert saved_view["folder"] == str(memory.folder)
    assert saved_view["query"]["text"] == "timer"
    opened.views.switch("facts")
    qtbot.waitUntil(lambda: _written()["last_view"]["view"] == "facts")
    opened.resize(900, 640)
    geometry = _written()["geometry"]
    qtbot.waitUntil(lambda: _written()["geometry"] != geometry)
    if os.name == "posix":
        assert state_path().stat().st_mode & 0o077 == 0


def test_next_start_restores_query_selection_and_page(qtbot, opened, begin, memory):
    _ask(qtbot, opened, "timer")
    results = opened.search.body.list
    results.setCurrentIndex(results.rows.index(results.rows.rowCount() - 1))
    chosen = results.current_result()
    qtbot.waitUntil(lambda: at_rest(opened))
    opened.viewer.header.rendered_button.click()
    qtbot.waitUntil(lambda: _written().get("rendered") is True)
    opened.session_restore.write_now()
    again = begin(load_state())
    qtbot.waitUntil(lambda: again.search.body.has_results and not again.search.busy)
    qtbot.waitUntil(again.viewer.rendered.isVisible)
    assert again.views.current == "search"
    assert again.search.controller.view_state.query.text == "timer"
    assert again.search.body.list.current_result() == chosen


def test_hidden_calendar_stays_hidden(qtbot, sessions, opened, begin):
    opened.views.sessions.view.hide_calendar.trigger()
    qtbot.waitUntil(lambda: _written().get("calendar_hidden") is True)
    again = begin(load_state())
    again.views.switch("sessions")
    qtbot.waitUntil(lambda: again.views.sessions.view.has_rows and at_rest(again))
    assert not again.views.sessions.view.calendar.isVisible()
    again.views.sessions.view.hide_calendar.trigger()
    assert again.views.sessions.view.calendar.isVisible()


def _choose_last(qtbot, window):
    _ask(qtbot, window, "timer")
    results = window.search.body.list
    results.setCurrentIndex(results.rows.index(results.rows.rowCount() - 1))
    qtbot.waitUntil(lambda: at_rest(window) and bool(window.viewer.name))
    window.session_restore.write_now()
    return results.current_result()


def test_next_start_shows_keyword_results_first(qtbot, opened, begin, memory):
    chosen = _choose_last(qtbot, opened)
    memory.search_delay = 3600
    again = begin(load_state(), wait=False)
    qtbot.waitUntil(lambda: again.search.body.has_results)
    assert again.search.busy
    assert again.search.body.list.current_result().path == chosen.path
    memory.search_delay = 0
    again.search.controller.run_query()
    qtbot.waitUntil(lambda: at_rest(again))
    assert again.search.body.list.current_result() == chosen


def test_next_start_finds_row_missing_from_keyword_results(qtbot, opened, begin, memory, monkeypatch):
    chosen = _choose_last(qtbot, opened)
    search = memory.search

    def without_chosen(query, *, mode="auto", **options):
        outcome = search(query, mode=mode, **options)
        if mode == "auto":
            return outcome
        left = tuple(one for one in outcome.results if one.path != chosen.path)
        assert left
        return msgspec.structs.replace(outcome, results=left)

    monkeypatch.setattr(memory, "search", without_chosen)
    again = begin(load_state())
    assert again.search.body.list.current_result() == chosen
    qtbot.waitUntil(lambda: again.viewer.name == chosen.path)


@pytest.mark.parametrize("view", ["sessions", "index", "facts"])
def test_view_is_restored(begin, memory, view):
    window = begin(WindowState(last_view=LastView(folder=str(memory.folder), view=view)))
    assert window.views.current == view


def test_other_folder_restores_nothing(qtbot, begin, memory):
    saved_view = LastView(folder="/elsewhere", view="facts", query=QueryRecord(text="timer"))
    window = begin(WindowState(last_view=saved_view))
    assert window.views.current == "search"
    assert window.search.controller.view_state.query is None


def test_order_of_sessions_stays_in_other_folder(qtbot, begin, memory):
    kept = Criteria(text="valve", agent="codex", order="longest", show_sub_agents=True)
    window = begin(WindowState(last_view=LastView(folder="/elsewhere", criteria=kept)))
    window.views.switch("sessions")
    qtbot.waitUntil(lambda: at_rest(window))
    sessions = window.views.sessions
    assert sessions.view_state.criteria == Criteria(order="longest", show_sub_agents=True)
    assert sessions.view.show_sub_agents.isChecked()
    sessions.view.show_sub_agents.trigger()
    assert not sessions.view_state.criteria.show_sub_agents


@pytest.mark.parametrize("text", ["password: hunter2hunter2", "sk-proj-abcdefghijklmnopqrstuvwxyz123456"])
def test_query_with_secret_is_not_saved(qtbot, opened, text):
    opened.search.search(text)
    qtbot.waitUntil(lambda: not opened.search.busy)
    opened.session_restore.write_now()
    assert _written()["last_view"]["query"] is None
    assert text not in state_path().read_text()


def test_disabled_history_saves_no_query(qtbot, opened):
    opened.search_settings.record_history(False)
    _ask(qtbot, opened, "timer")
    opened.session_restore.write_now()
    saved_view = msgspec.json.decode(state_path().read_bytes(), type=WindowState).last_view
    assert (saved_view.query, saved_view.row, saved_view.file) == (None, None, "")


def test_saved_state_is_not_overwritten_before_folder_opens(opened, memory):
    opened.state.last_view = LastView(folder="/elsewhere", view="facts")
    opened.session_restore.resume()
    opened.session_restore.update_state()
    assert opened.state.last_view.folder == "/elsewhere"


def _read(qtbot, window: MainWindow, path: str) -> None:
    window.views.switch("sessions")
    qtbot.waitUntil(lambda: at_rest(window) and window.views.sessions.view.has_rows)
    window.views.sessions.view.list.go_to(path)
    window.views.sessions.view.list.open_current()
    qtbot.waitUntil(lambda: window.views.read_session is not None and window.views.conversation.view_state.path == path)


def _saved_line() -> int:
    reading = _written().get("last_view", {}).get("reading") or {}
    return reading.get("line", 0)


def _top(window: MainWindow) -> tuple[str, int, int]:
    saved_view = window.views.conversation.view_state
    return ("", 0, 0) if saved_view is None else (saved_view.path, saved_view.line, saved_view.slot)


def test_sessions_list_and_reading_position_are_restored(qtbot, opened, begin, sessions, jobs):
    _read(qtbot, opened, LONG)
    chips = opened.views.sessions.chips
    year = Period("2026", first=date(2026, 1, 1), last=date(2026, 12, 31))
    chips.choose(Criteria(agent="claude-code", period=year), "")
    chips.changed.emit()
    opened.views.sessions.search("valve")
    qtbot.waitUntil(lambda: not opened.views.sessions.busy)
    opened.views.sessions.view.list.go_to(LONG)
    qtbot.waitUntil(lambda: not opened.views.sessions.busy)
    conversation = opened.views.conversation
    finish_jobs(jobs)
    assert conversation.opened.request.path == LONG
    conversation.view.scroller.scroll_by(2345)
    qtbot.waitUntil(lambda: _saved_line() == conversation.view_state.line > 20)
    left = _top(opened)
    again = begin(load_state())
    qtbot.waitUntil(lambda: _top(again) == left and not again.views.sessions.busy)
    qtbot.waitUntil(lambda: again.views.conversation._request.line is not None)
    finish_jobs(jobs)
    assert _top(again) == left  # though the best hit is in another message
    assert again.views.sessions.view_state.criteria == opened.views.sessions.view_state.criteria
    assert (again.views.sessions.chips.agent, again.views.sessions.box.query) == ("claude-code", "valve")
    assert again.views.sessions.view_state.path == LONG


def test_session_filters_are_saved_from_another_view(qtbot, opened, begin, sessions):
    _read(qtbot, opened, LONG)
    choose_from_chip(opened.views.sessions.chips, "Said by", "Me")
    opened.views.switch("search")
    opened.session_restore.write_now()
    again = begin(load_state())
    assert (again.views.current, again.views.sessions.chips.role) == ("search", "user")
    _read(qtbot, again, LONG)


def test_session_query_with_secret_is_not_saved(qtbot, opened, sessions):
    opened.views.switch("sessions")
    opened.views.sessions.search("sk-proj-abcdefghijklmnopqrstuvwxyz123456")
    opened.session_restore.write_now()
    assert _written()["last_view"]["criteria"]["text"] == ""
    assert "sk-proj" not in state_path().read_text()


def test_query_typed_while_folder_opens_is_searched(qtbot, begin, memory):
    saved_view = LastView(folder=str(memory.folder), query=QueryRecord(text="timer"))
    window = begin(WindowState(last_view=saved_view), wait=False)
    assert window.workspace.current is None
    qtbot.keyClicks(window.focusWidget(), "hose")
    qtbot.waitUntil(lambda: at_rest(window) and window.search.body.answer is not None)
    assert window.search.body.answer.query.text == "hose"
    qtbot.keyClicks(window.focusWidget(), "s")
    assert window.search.box.query == "hoses"
