"""Data stored per workspace: the ranking options and the searches."""

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QPushButton

import engine
from engine import QueryRecord, StoreError
from gui.search.ranking_menu import Ranking
from gui.search.saved_searches import NameDialog
from gui.search.search_runner import REPEAT_MS
from tests.helpers.fake_records import make_progress, make_summary
from tests.helpers.windows import at_rest

Key = Qt.Key


def test_settings_determine_initial_ranking(qtbot, window, memory, user_home):
    engine.save_settings(
        {"query.hybrid.temporal_decay.enabled": True, "query.hybrid.mmr.enabled": True}, workspace=memory.folder
    )
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: window.workspace.current is not None)
    assert window.search.ranking.ranking == Ranking(30.0, diverse=True)


def test_default_ranking_is_saved_for_this_workspace(qtbot, opened, memory, tmp_path):
    opened.search.ranking.default_requested.emit(Ranking(90.0, diverse=True))
    qtbot.waitUntil(lambda: "90 days" in opened.banner.text)
    hybrid = engine.load_settings(memory.folder).query.hybrid
    assert (hybrid.temporal_decay.effective_days, hybrid.mmr.enabled) == (90.0, True)
    assert not engine.load_settings(tmp_path).query.hybrid.mmr.enabled
    opened.search.ranking.default_requested.emit(Ranking())
    qtbot.waitUntil(lambda: "Neither" in opened.banner.text)
    hybrid = engine.load_settings(memory.folder).query.hybrid
    assert (hybrid.temporal_decay.effective_days, hybrid.mmr.enabled) == (0.0, False)


def test_default_ranking_is_passed_to_manager(qtbot, opened, memory):
    opened.search.ranking.default_requested.emit(Ranking(90.0, diverse=True))
    qtbot.waitUntil(lambda: bool(memory.answers_as))
    hybrid = memory.answers_as[-1].query.hybrid
    assert (hybrid.temporal_decay.effective_days, hybrid.mmr.enabled) == (90.0, True)


def test_settings_that_affect_results_repeat_search(qtbot, opened, memory):
    _search(qtbot, opened, "irrigation timer")
    panel = opened.search
    found = [result.score for result in panel.body.answer.outcome.results]
    assert min(found) < max(found)
    settings = opened.workspace.current.settings
    count = len(memory.searches)
    strict = replace(settings, query=replace(settings.query, min_score=max(found)))
    opened.workspace.apply_settings(strict, memory.folder)
    qtbot.waitUntil(lambda: len(memory.searches) > count and at_rest(opened))
    scores = [result.score for result in panel.body.answer.outcome.results]
    assert scores
    assert set(scores) == {max(found)}
    count = len(memory.searches)
    opened.workspace.apply_settings(replace(strict, window=replace(strict.window, editor="vim {path}")), memory.folder)
    qtbot.wait(2 * REPEAT_MS)
    assert len(memory.searches) == count, "the editor setting doesn't affect answers"


@pytest.mark.parametrize("remembers", [False])
def test_demo_saves_no_ranking(qtbot, opened, user_home):
    opened.search.ranking.default_requested.emit(Ranking(90.0))
    assert "The demo saves nothing" in opened.banner.text


def _menu(window) -> dict[str, QAction]:
    """Return the entries of the open submenu of searches."""
    menu = next(a.menu() for a in window.frame.header.menu_button.menu().actions() if a.text() == "Searches")
    menu.aboutToShow.emit()
    return {action.text(): action for action in menu.actions()}


def _search(qtbot, window, query: str) -> None:
    window.search.search(query)
    qtbot.waitUntil(lambda: at_rest(window) and not window.search.controller.saved_searches.store.busy)


def test_menu_saves_lists_and_runs_searches(qtbot, opened, memory):
    assert not any(_menu(opened)[words].isEnabled() for words in ("Save this search…", "Saved searches"))
    _search(qtbot, opened, "CR2032")
    saved_searches = opened.search.controller.saved_searches
    assert _menu(opened)["Save this search…"].isEnabled()
    opened.sync_bar.setFocus()
    qtbot.keyClick(opened, Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, NameDialog)
    with qtbot.waitActive(opened):
        dialog.reject()
        opened.activateWindow()
    saved_searches.store.save("Bed & breakfast", saved_searches.query)
    qtbot.waitUntil(lambda: bool(saved_searches.store.saved))
    _search(qtbot, opened, "timer")
    qtbot.keyClick(opened, Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: at_rest(opened))
    saved = _menu(opened)["Saved searches"].menu()
    saved.aboutToShow.emit()
    [action] = saved.actions()
    assert action.text() == "Bed && breakfast"
    action.trigger()
    qtbot.waitUntil(lambda: at_rest(opened))
    assert opened.views.current == "search"
    assert saved_searches.query.text == "CR2032"
    qtbot.keyClick(opened, Key.Key_H, Qt.KeyboardModifier.ControlModifier)
    assert saved_searches.picker.is_open
    qtbot.waitUntil(lambda: not saved_searches.store.busy)


def _press_undo(window):
    next(b for b in window.banner.findChildren(QPushButton) if b.text() == "Undo" and b.isVisible()).click()


def test_removed_saved_search_is_restored_by_undo(qtbot, opened, memory):
    store = opened.search.controller.saved_searches.store
    store.save("Coins", QueryRecord(text="CR2032"))
    qtbot.waitUntil(lambda: bool(store.saved))
    opened.search.controller.saved_searches.forget(store.saved[0])
    qtbot.waitUntil(lambda: not store.saved)
    assert "Coins" in opened.banner.text
    _press_undo(opened)
    qtbot.waitUntil(lambda: bool(store.saved))
    assert opened.banner.text == ""


def test_recent_searches_can_be_cleared_and_switched_off(qtbot, opened, memory):
    store = opened.search.controller.saved_searches.store
    for query in ("timer", "hose"):
        _search(qtbot, opened, query)
        opened.search.focus_box()
    qtbot.waitUntil(lambda: len(store.recent) == 2)
    _menu(opened)["Clear recent searches"].trigger()
    qtbot.waitUntil(lambda: not store.recent)
    assert memory.saved_searches.recent() == ()
    assert opened.banner.text == "2 recent searches were removed."
    _press_undo(opened)
    qtbot.waitUntil(lambda: [search.query.text for search in store.recent] == ["hose", "timer"])
    _menu(opened)["Clear recent searches"].trigger()
    qtbot.waitUntil(lambda: not store.recent)
    keep = _menu(opened)["Save search history"]
    assert keep.isChecked()
    keep.trigger()
    _search(qtbot, opened, "Tomatoes")
    opened.search.focus_box()
    qtbot.waitUntil(lambda: not engine.load_settings(memory.folder).window.search_history)
    assert memory.saved_searches.recent() == ()
    assert not _menu(opened)["Clear recent searches"].isEnabled()


def test_saved_history_setting_applies_from_start(qtbot, window, memory):
    engine.save_setting("window.search_history", False, memory.folder)
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    assert not _menu(window)["Save search history"].isChecked()


@pytest.mark.parametrize(("store", "kept"), [("", []), ("/tmp/demo", ["timer"])])
@pytest.mark.parametrize("remembers", [False])
def test_demo_saves_recent_queries_only_in_own_store(qtbot, window, memory, store, kept):
    window.workspace.store_path = store
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    _search(qtbot, window, "timer")
    window.search.focus_box()
    qtbot.waitUntil(lambda: not window.search.controller.saved_searches.store.busy)
    assert [search.query.text for search in memory.saved_searches.recent()] == kept


def test_query_is_not_logged(qtbot, opened, memory, caplog, monkeypatch):
    def fail(_question: QueryRecord) -> None:
        raise StoreError("There is no room for it.")

    caplog.set_level("DEBUG")
    monkeypatch.setattr(memory.saved_searches, "add_recent", fail)
    _search(qtbot, opened, "limp")
    opened.search.focus_box()
    qtbot.waitUntil(lambda: "no room" in opened.banner.text)
    assert "limp" not in caplog.text


def test_empty_search_during_first_index_counts_files(qtbot, opened, memory):
    files, memory.files = memory.files, {}
    page = opened.search.view.page

    def read(count: int, **changes: object) -> None:
        step = make_progress(phase="indexing", completed=count, total=834)
        memory.set_status(**{"files": count, "chunks": count, "last_sync": None, "syncing": step} | changes)

    read(0)
    opened.search.search("greenhouse")
    message = "Mnemoscope is still reading files: {} of 834 files. Results appear as files are indexed."
    qtbot.waitUntil(lambda: message.format(0) in page.accessibleName())
    assert not page.findChildren(QPushButton)
    read(17)
    qtbot.waitUntil(lambda: message.format(17) in page.accessibleName())
    memory.files = files
    read(400)
    qtbot.waitUntil(lambda: opened.search.view.has_results)


def test_empty_search_after_first_index_shows_nothing_found(qtbot, opened, memory):
    page = opened.search.view.page
    memory.set_status(last_sync=None, syncing=make_progress(phase="indexing", completed=1, total=4))
    opened.search.search("zeppelin")
    qtbot.waitUntil(lambda: "Mnemoscope is still reading files: 1 of 4 files." in page.accessibleName())
    memory.set_status(syncing=None, last_sync=make_summary())
    qtbot.waitUntil(lambda: "No passage matches" in page.accessibleName())
    assert page.findChildren(QPushButton)
