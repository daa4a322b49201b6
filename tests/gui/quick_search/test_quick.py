import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

import engine
from engine import BackendError
from gui.app.desktop_integration import QuickSearchController
from gui.core.workspace import OpenFailure
from gui.search.result_list import ResultList
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_records import make_progress
from tests.helpers.windows import at_rest


def _ask(qtbot, quick_search: QuickSearchController, text: str) -> None:
    with qtbot.waitActive(quick_search.quick):
        quick_search.quick.call_up()
    quick_search.quick.panel.box.edit.clear()
    qtbot.keyClicks(quick_search.quick.panel.box.edit, text)
    qtbot.waitUntil(lambda: not quick_search.quick.panel.busy)


def _paths(results: ResultList) -> list[object]:
    return [results.rows.row(number).key for number in range(results.rows.rowCount())]


def test_quick_search_opens_centred_with_focus_in_box(qtbot, quick_search):
    with qtbot.waitActive(quick_search.quick):
        quick_search.quick.toggle()
    room = QGuiApplication.primaryScreen().availableGeometry()
    assert abs(quick_search.quick.geometry().center().x() - room.center().x()) <= 1
    assert room.contains(quick_search.quick.geometry())
    assert quick_search.quick.panel.box.edit.hasFocus()
    assert quick_search.quick.windowFlags() & Qt.WindowType.FramelessWindowHint
    quick_search.quick.toggle()
    assert not quick_search.quick.isVisible()


def test_results_enlarge_window_without_moving_it(qtbot, quick_search):
    with qtbot.waitActive(quick_search.quick):
        quick_search.quick.call_up()
    before = quick_search.quick.geometry()
    _ask(qtbot, quick_search, "hose")
    assert quick_search.quick.panel.list.current_result().path
    after = quick_search.quick.geometry()
    assert after.topLeft() == before.topLeft()
    assert after.height() > before.height()
    assert QGuiApplication.primaryScreen().availableGeometry().contains(after)
    quick_search.quick.panel.box.edit.clear()
    assert quick_search.quick.geometry() == before


@pytest.mark.parametrize("into_list", [False, True])
def test_escape_closes_from_box_and_list(qtbot, quick_search, into_list):
    _ask(qtbot, quick_search, "hose")
    if into_list:
        qtbot.keyClick(quick_search.quick.panel.box.edit, Qt.Key.Key_Down)
        assert quick_search.quick.panel.list.hasFocus()
    qtbot.keyClick(quick_search.quick.focusWidget(), Qt.Key.Key_Escape)
    assert not quick_search.quick.isVisible()
    assert quick_search.quick.panel.box.query == "hose"


def test_reopening_selects_last_query_and_repeats_it(qtbot, quick_search, memory):
    _ask(qtbot, quick_search, "hose")
    quick_search.quick.hide()
    count = len(memory.searches)
    with qtbot.waitActive(quick_search.quick):
        quick_search.quick.call_up()
    assert quick_search.quick.panel.box.edit.selectedText() == "hose"
    qtbot.waitUntil(lambda: not quick_search.quick.panel.busy)
    assert [query for query, *_ in memory.searches[count:]] == ["hose"]  # the index may be another by now
    qtbot.keyClicks(quick_search.quick.panel.box.edit, "valve")
    assert quick_search.quick.panel.box.query == "valve"


def test_quick_search_closes_when_another_window_activates(qtbot, quick_search, opened):
    _ask(qtbot, quick_search, "hose")
    with qtbot.waitActive(opened):
        opened.activateWindow()
    qtbot.waitUntil(lambda: not quick_search.quick.isVisible())


def test_enter_opens_result_in_window_with_query(qtbot, quick_search, opened):
    _ask(qtbot, quick_search, "hose")
    qtbot.keyClick(quick_search.quick.panel.box.edit, Qt.Key.Key_Down)
    qtbot.keyClick(quick_search.quick.panel.list, Qt.Key.Key_Down)
    wanted = quick_search.quick.panel.list.current_result()
    opened.views.switch("facts")
    opened.hide()
    with qtbot.waitActive(opened):
        qtbot.keyClick(quick_search.quick.panel.list, Qt.Key.Key_Return)
    assert not quick_search.quick.isVisible()
    qtbot.waitUntil(lambda: at_rest(opened))
    assert opened.views.current == "search"
    selected = opened.search.body.list.current_result()
    assert (selected.path, selected.start_line) == (wanted.path, wanted.start_line)
    assert opened.search.controller.view_state.subject.text == "hose"
    qtbot.waitUntil(lambda: opened.viewer.has_file)


def test_chosen_result_opens_if_missing_in_newer_answer(qtbot, quick_search, opened, memory):
    _ask(qtbot, quick_search, "hose")
    qtbot.keyClick(quick_search.quick.panel.box.edit, Qt.Key.Key_Down)
    qtbot.keyClick(quick_search.quick.panel.list, Qt.Key.Key_Down)
    wanted = quick_search.quick.panel.list.current_result().path
    memory.files[wanted] = "# Other words\n"
    with qtbot.waitActive(opened):
        qtbot.keyClick(quick_search.quick.panel.list, Qt.Key.Key_Return)
        opened.search.body.show_searching()  # as if the search took long
    qtbot.waitUntil(lambda: opened.search.body.has_results and at_rest(opened))
    assert opened.search.body.list.current_result().path != wanted
    assert opened.viewer.target.name == wanted


def test_ctrl_enter_shows_all_results_in_window(qtbot, quick_search, opened):
    _ask(qtbot, quick_search, "hose")
    found = _paths(quick_search.quick.panel.list)
    qtbot.keyClick(quick_search.quick.panel.box.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: at_rest(opened))
    assert _paths(opened.search.body.list) == found
    assert not quick_search.quick.isVisible()


def test_no_match_shows_nothing_found(qtbot, quick_search):
    _ask(qtbot, quick_search, "zzz qqq")
    assert "Nothing found for “zzz qqq”" in quick_search.quick.panel.page.accessibleName()


def test_results_appear_during_first_index(qtbot, quick_search, memory):
    files, memory.files = memory.files, {}
    _read(memory, 0)
    _ask(qtbot, quick_search, "greenhouse")
    qtbot.waitUntil(
        lambda: "Mnemoscope is still reading files: 0 of 834 files." in quick_search.quick.panel.page.accessibleName()
    )
    memory.files = files
    _read(memory, 4)
    qtbot.waitUntil(lambda: bool(_paths(quick_search.quick.panel.list)))


def _read(memory: FakeMemory, files: int) -> None:
    step = make_progress(phase="indexing", completed=files, total=834)
    memory.set_status(files=files, last_sync=None, syncing=step)


def test_failed_search_is_shown_and_can_be_retried(qtbot, quick_search, memory):
    memory.search_error = BackendError("The disk is gone.")
    _ask(qtbot, quick_search, "hose")
    assert "The disk is gone." in quick_search.quick.panel.page.accessibleName()
    memory.search_error = None
    qtbot.keyClick(quick_search.quick.panel.box.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: quick_search.quick.panel.list.current_result() is not None)


def test_without_folder_enter_opens_window(qtbot, quick_search, opened, memory):
    opened.workspace.close()
    _ask(qtbot, quick_search, "hose")
    assert "Choose a folder" in quick_search.quick.panel.page.accessibleName()
    opened.workspace.failed.emit(OpenFailure(memory.folder, "It is in use.", in_settings=False))
    assert "It is in use." in quick_search.quick.panel.page.accessibleName()
    opened.hide()
    qtbot.keyClick(quick_search.quick.panel.box.edit, Qt.Key.Key_Return)
    assert opened.isVisible()


def test_query_typed_while_opening_runs_afterwards(qtbot, quick_search, opened, monkeypatch):
    opened.workspace.close()
    other = FakeMemory()
    monkeypatch.setattr(engine, "open_memory", lambda *_args, **_options: other)
    _ask(qtbot, quick_search, "hose")
    opened.folders.open(other.folder)
    assert "Opening" in quick_search.quick.panel.page.accessibleName()
    qtbot.waitUntil(lambda: quick_search.quick.panel.list.current_result() is not None)
