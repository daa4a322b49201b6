"""How the window stands and where the person is: kept at once, and found again."""

import json
import os

import msgspec
import pytest

import engine
from engine import AskedQuestion
from gui.main_window import MainWindow
from gui.places import Places
from gui.window_state import LastPlace, WindowState, load_state, state_path
from gui.workspace import Workspace
from tests.helpers.windows import at_rest


@pytest.fixture
def begin(qtbot, appearance, jobs, memory, monkeypatch):
    """Opens a window that begins with a state, and leads back to where that says."""
    monkeypatch.setattr(engine, "open_memory", lambda *_args, **_options: memory, raising=False)
    made = []

    def open_window(state: WindowState) -> MainWindow:
        with appearance.bare():
            window = MainWindow(Workspace(jobs), jobs, appearance, state, places=Places())
        qtbot.addWidget(window)
        made.append(window)
        window.show()
        window.resuming.resume()
        window.folders.open(memory.folder)
        qtbot.waitUntil(lambda: at_rest(window))
        return window

    yield open_window
    for window in made:
        assert window.shut_down(5000)


def _written() -> dict:
    return json.loads(state_path().read_text()) if state_path().exists() else {}


def _ask(qtbot, window, text: str) -> None:
    window.search.search(text)
    qtbot.waitUntil(lambda: not window.search.busy and window.search.body.has_results)


def test_what_is_asked_and_chosen_is_kept_without_closing(qtbot, opened, memory):
    _ask(qtbot, opened, "timer")
    results = opened.search.body.list
    results.setCurrentIndex(results.rows.index(results.rows.rowCount() - 1))
    row = list(results.rows.row(results.currentIndex().row()).key)
    qtbot.waitUntil(lambda: _written().get("place", {}).get("row") == row)
    place = _written()["place"]
    assert place["folder"] == str(memory.folder)
    assert place["question"]["text"] == "timer"
    opened.views.switch("facts")
    qtbot.waitUntil(lambda: _written()["place"]["view"] == "facts")
    opened.resize(900, 640)
    geometry = _written()["geometry"]
    qtbot.waitUntil(lambda: _written()["geometry"] != geometry)
    if os.name == "posix":
        assert state_path().stat().st_mode & 0o077 == 0


def test_the_next_start_is_where_the_person_was(qtbot, opened, begin, memory):
    _ask(qtbot, opened, "timer")
    results = opened.search.body.list
    results.setCurrentIndex(results.rows.index(results.rows.rowCount() - 1))
    chosen = results.current_result()
    opened.resuming.write_now()
    again = begin(load_state())
    qtbot.waitUntil(lambda: again.search.body.has_results and not again.search.busy)
    assert again.views.current == "search"
    assert again.search.asker.standing.question.text == "timer"
    assert again.search.body.list.current_result() == chosen


@pytest.mark.parametrize("view", ["sessions", "index", "facts"])
def test_the_view_is_found_again(begin, memory, view):
    window = begin(WindowState(place=LastPlace(folder=str(memory.folder), view=view)))
    assert window.views.current == view


def test_another_folder_begins_anew(qtbot, begin, memory):
    place = LastPlace(folder="/elsewhere", view="facts", question=AskedQuestion(text="timer"))
    window = begin(WindowState(place=place))
    assert window.views.current == "search"
    assert window.search.asker.standing.question is None


@pytest.mark.parametrize("text", ["password: hunter2hunter2", "sk-proj-abcdefghijklmnopqrstuvwxyz123456"])
def test_a_secret_is_never_kept(qtbot, opened, text):
    opened.search.search(text)
    qtbot.waitUntil(lambda: not opened.search.busy)
    opened.resuming.write_now()
    assert _written()["place"]["question"] is None
    assert text not in state_path().read_text()


def test_who_keeps_no_searches_leaves_none_here(qtbot, opened):
    opened.search_way.keep_recent(False)
    _ask(qtbot, opened, "timer")
    opened.resuming.write_now()
    place = msgspec.json.decode(state_path().read_bytes(), type=WindowState).place
    assert (place.question, place.row, place.file) == (None, None, "")


def test_a_place_is_not_forgotten_before_its_folder_is_open(opened, memory):
    opened.state.place = LastPlace(folder="/elsewhere", view="facts")
    opened.resuming.resume()
    opened.resuming.keep()
    assert opened.state.place.folder == "/elsewhere"
