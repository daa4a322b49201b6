"""Recent and saved searches: listed below the empty box, selected by typing, run completely, and deleted."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QPushButton

from engine import QueryRecord, QuerySuggestion, SavedSearch, StoreError
from gui.search.panel import SearchPanel
from gui.search.query import Scope
from gui.search.ranking_menu import Ranking
from gui.search.saved_search_list import SavedList, name_of
from gui.search.saved_searches import NameDialog, SavedSearchController
from gui.widgets.query_box import QueryBox
from tests.helpers.fake_memory import FakeMemory

Key = Qt.Key
PLAIN = {"half_life_days": 0.0, "diverse": False}


pytestmark = pytest.mark.usefixtures("short_waits")


@pytest.fixture
def saved_searches(qtbot, panel) -> SavedSearchController:
    qtbot.waitUntil(lambda: not panel.controller.saved_searches.store.busy)
    return panel.controller.saved_searches


@pytest.fixture
def listed(saved_searches) -> SavedList:
    return saved_searches.picker.list


@pytest.fixture
def rest(qtbot, panel) -> Callable[[], None]:
    return lambda: qtbot.waitUntil(lambda: not panel.busy and not panel.controller.saved_searches.store.busy)


@pytest.fixture
def mean(qtbot, box, rest) -> Callable[[str], None]:
    """Type a query and open a result, so that the query counts as recent."""

    def run(text: str) -> None:
        box.setFocus()
        box.selectAll()
        qtbot.keyClicks(box, text)
        rest()
        qtbot.keyClick(box, Key.Key_Down)
        rest()
        box.setFocus()

    return run


def _texts(memory: FakeMemory) -> list[str]:
    return [search.query.text for search in memory.saved_searches.recent()]


def _names(listed: SavedList) -> list[str]:
    return [name_of(search) for search in listed.searches]


def _save(saved_searches: SavedSearchController, name: str, **query) -> None:
    saved_searches.store.save(name, QueryRecord(**(PLAIN | query)))


def test_submitted_query_is_saved_and_typed_only_query_is_not(qtbot, panel, memory, box, mean, rest):
    mean("timer")
    box.selectAll()
    qtbot.keyClicks(box, "hos")
    rest()
    assert _texts(memory) == ["timer"]
    qtbot.keyClicks(box, "e")
    qtbot.keyClick(box, Key.Key_Return)
    rest()
    assert _texts(memory) == ["hose", "timer"]
    box.selectAll()
    qtbot.keyClicks(box, "x")
    qtbot.keyClick(box, Key.Key_Return)
    rest()
    assert _texts(memory) == ["hose", "timer"]  # one letter isn't a query


def test_query_without_results_is_not_in_history(memory, mean):
    mean("timer")
    mean("qwertzuiop")
    assert _texts(memory) == ["timer"]


def test_corrected_query_is_in_history_as_searched(memory, mean):
    memory.corrections["tiemr"] = QuerySuggestion("timer", (("tiemr", "timer"),), 3)
    mean("tiemr")
    assert _texts(memory) == ["timer"]


@pytest.mark.parametrize("key", [Key.Key_Up, Key.Key_Down])
def test_up_or_down_in_empty_box_lists_recent_searches(qtbot, panel, memory, box, mean, listed, rest, key):
    mean("timer")
    mean("hose")
    box.clear()
    rest()
    qtbot.keyClick(box, key)
    assert _names(listed) == ["hose", "timer"]
    assert name_of(listed.current()) == "hose"
    qtbot.keyClick(box, Key.Key_Down)
    assert name_of(listed.current()) == "timer"
    count = len(memory.searches)
    qtbot.keyClick(box, Key.Key_Return)
    rest()
    assert listed.isHidden()
    assert box.text() == "timer"
    assert box.hasFocus()
    assert {query for query, _, _ in memory.searches[count:]} == {"timer"}
    assert _texts(memory) == ["timer", "hose"]


def test_keys_without_saved_searches_open_no_list(qtbot, panel, box, listed):
    qtbot.keyClick(box, Key.Key_Down)
    assert listed.isHidden()


def test_recent_searches_survive_restart_and_alt_up_steps_back(qtbot, jobs, panel, memory, box, mean, listed, rest):
    for text in ("timer", "hose"):
        mean(text)
    box.clear()
    panel.set_manager(None)
    assert panel.controller.saved_searches.store.recent == ()
    fresh = SearchPanel(jobs, panel)
    fresh.set_manager(memory)
    for widget in (fresh.header, fresh.body):
        qtbot.addWidget(widget)
    qtbot.waitUntil(lambda: len(fresh.controller.saved_searches.store.recent) == 2)
    edit = fresh.header.findChild(QueryBox).edit
    for expected in ("hose", "timer", "timer"):
        qtbot.keyClick(edit, Key.Key_Up, Qt.KeyboardModifier.AltModifier)
        assert edit.text() == expected
    qtbot.waitUntil(lambda: not fresh.busy)


def test_typing_filters_list_without_searching(qtbot, panel, memory, box, mean, listed, saved_searches, rest):
    for text in ("timer", "hose", "timer battery"):
        mean(text)
    _save(saved_searches, "Shopping", text="hose tag:shop")
    rest()
    box.clear()
    rest()
    count = len(memory.searches)
    qtbot.keyClick(box, Key.Key_Up)
    qtbot.keyClicks(box, "Tim")
    assert _names(listed) == ["timer battery", "timer"]
    qtbot.keyClicks(box, "er ba")
    assert _names(listed) == ["timer battery"]
    box.selectAll()
    qtbot.keyClicks(box, "shop")
    assert _names(listed) == ["Shopping"]
    qtbot.keyClick(box, Key.Key_Backspace)
    rest()
    assert len(memory.searches) == count
    qtbot.keyClick(box, Key.Key_Escape)
    assert listed.isHidden()
    rest()
    assert memory.searches[-1][0] == box.text() == "sho"
    assert "sho" not in _texts(memory)


def test_text_typed_to_filter_list_is_not_saved(qtbot, panel, memory, box, mean, listed, rest):
    for text in ("timer", "hose"):
        mean(text)
    qtbot.keyClick(box, Key.Key_Escape)
    rest()
    qtbot.keyClick(box, Key.Key_Up)
    qtbot.keyClicks(box, "tim")
    qtbot.keyClick(box, Key.Key_Return)
    rest()
    assert box.text() == "timer"
    assert _texts(memory) == ["timer", "hose"]
    qtbot.keyClick(box, Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert box.text() == "hose"
    rest()


def test_text_matching_no_entry_is_searched_immediately(qtbot, panel, memory, box, mean, listed, rest):
    mean("timer")
    box.clear()
    rest()
    qtbot.keyClick(box, Key.Key_Up)
    qtbot.keyClicks(box, "valve")
    rest()
    assert listed.isHidden()
    assert memory.searches[-1][0] == "valve"


def test_saved_query_restores_filters_order_and_ranking(qtbot, panel, memory, box, saved_searches, listed, rest):
    panel.filters.choose(("memory",), 30, Scope("topics/shopping.md", "Shopping"))
    panel.ranking.show(Ranking(90.0, diverse=True))
    panel.body.show_order("date")
    panel.search("timer")
    rest()
    whole = saved_searches.query
    assert whole.order == "date"
    saved_searches.store.save("timer", whole)
    rest()
    panel.controller.show_query(QueryRecord(text="hose", **PLAIN))
    rest()
    assert saved_searches.query == QueryRecord(text="hose", **PLAIN)
    saved_searches.picker.open()
    for _ in listed.searches:
        if listed.current().query != whole:
            qtbot.keyClick(box, Key.Key_Down)
    assert listed.current().query == whole
    qtbot.keyClick(box, Key.Key_Return)
    rest()
    assert saved_searches.query == whole
    options = memory.searches[-1][2]
    assert (options["sources"], options["path_glob"]) == (("memory",), "topics/shopping.md")
    assert (options["half_life_days"], options["diverse"]) == (90.0, True)
    chips = [chip.text() for chip in panel.header.findChildren(QPushButton) if chip.isVisible() and chip.text()]
    assert "Past month" in chips
    assert any("Shopping" in chip for chip in chips)


def test_period_outside_choices_is_still_applied(panel, memory, rest):
    panel.controller.show_query(QueryRecord(text="timer", days=3))
    rest()
    assert memory.searches[-1][2]["since"] is not None
    assert any(chip.text() == "Past 3 days" for chip in panel.header.findChildren(QPushButton))


def test_removing_an_empty_history_announces_nothing(qtbot, panel):
    searches = panel.controller.saved_searches
    assert searches.store.recent == ()
    with qtbot.assertNotEmitted(searches.forgotten):
        searches.forget_history()


def test_delete_key_removes_recent_search(qtbot, panel, memory, box, mean, listed, rest):
    for text in ("timer", "hose"):
        mean(text)
    box.clear()
    rest()
    qtbot.keyClick(box, Key.Key_Up)
    qtbot.keyClick(box, Key.Key_Delete)
    rest()
    assert _names(listed) == _texts(memory) == ["timer"]
    qtbot.keyClick(box, Key.Key_Delete)
    rest()
    assert listed.isHidden()
    assert _texts(memory) == []


def test_delete_key_edits_text_before_cursor_end(qtbot, panel, memory, box, mean, listed, rest):
    mean("timer")
    box.clear()
    rest()
    qtbot.keyClick(box, Key.Key_Up)
    qtbot.keyClicks(box, "tim")
    qtbot.keyClick(box, Key.Key_Home)
    qtbot.keyClick(box, Key.Key_Delete)
    assert box.text() == "im"
    assert _texts(memory) == ["timer"]


def test_click_runs_entry_and_right_click_opens_menu(
    qtbot, panel, memory, box, mean, listed, saved_searches, rest, monkeypatch
):
    for text in ("timer", "hose"):
        mean(text)
    _save(saved_searches, "Shopping", text="CR2032")
    rest()
    box.clear()
    rest()
    opener = next(
        b for b in panel.header.findChildren(QPushButton) if b.accessibleName().startswith("Saved and recent")
    )
    qtbot.mouseClick(opener, Qt.MouseButton.LeftButton)
    assert _names(listed) == ["Shopping", "hose", "timer"]
    rect = listed.visualItemRect(listed.item(1))
    menus: list[QMenu] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, _at: menus.append(menu))
    listed.contextMenuEvent(
        QContextMenuEvent(QContextMenuEvent.Reason.Mouse, rect.center(), listed.mapToGlobal(rect.center()))
    )
    listed.contextMenuEvent(
        QContextMenuEvent(QContextMenuEvent.Reason.Mouse, QPoint(5, 5), listed.mapToGlobal(QPoint(5, 5)))
    )
    [menu] = menus
    assert [action.text() for action in menu.actions()] == ["Search", "Rename…", "Remove"]
    menu.deleteLater()
    rect = listed.visualItemRect(listed.item(4))
    qtbot.mouseClick(listed.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    rest()
    assert box.text() == "timer"


def test_list_closes_when_box_loses_focus(qtbot, panel, box, mean, listed, rest):
    mean("timer")
    saved_searches = panel.controller.saved_searches
    saved_searches.picker.open()
    assert not listed.isHidden()
    panel.focus_list()
    assert listed.isHidden()
    rest()


def test_list_opens_at_the_latest_search_again(qtbot, box, mean, saved_searches, listed, rest):
    for text in ("timer", "hose", "valve"):
        mean(text)
    for _ in range(2):
        saved_searches.picker.open()
        assert listed.current().query.text == "valve"
        qtbot.keyClick(box, Key.Key_Down)
        assert listed.current().query.text == "hose"
        qtbot.keyClick(box, Key.Key_Escape)
    rest()


def test_completions_do_not_cover_list(qtbot, panel, box, saved_searches, listed, rest):
    _save(saved_searches, "Tagged", text="tag:garden")
    rest()
    saved_searches.picker.open()
    qtbot.keyClicks(box, "tag:ga")
    rest()
    qtbot.waitUntil(lambda: not panel.completion.busy)
    assert _names(listed) == ["Tagged"]
    assert panel.completion.popup.isHidden()
    qtbot.keyClick(box, Key.Key_Escape)
    qtbot.keyClicks(box, "r")
    qtbot.waitUntil(lambda: not panel.completion.popup.isHidden())
    rest()


def _name(qtbot, text: str) -> NameDialog:
    """Answer the question for a name."""
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, NameDialog)
    edit = dialog.findChild(QLineEdit)
    edit.selectAll()
    qtbot.keyClicks(edit, text)
    return dialog


def test_star_saves_search_under_typed_name(qtbot, panel, memory, saved_searches, rest):
    star = saved_searches.star
    assert not star.isVisible()
    panel.search("timer")
    rest()
    assert (star.isVisible(), star.isChecked()) == (True, False)
    qtbot.mouseClick(star, Qt.MouseButton.LeftButton)
    assert not star.isChecked()
    dialog = _name(qtbot, "  ")
    save = next(b for b in dialog.findChildren(QPushButton) if b.text() == "Save")
    assert not save.isEnabled()
    _name(qtbot, "All  timers")
    qtbot.keyClick(dialog.findChild(QLineEdit), Key.Key_Return)
    rest()
    [saved] = memory.saved_searches.saved()
    assert (saved.name, saved.query) == ("All timers", saved_searches.query)
    assert star.isChecked()
    assert "All timers" in star.accessibleName()
    panel.search("hose")
    rest()
    assert not star.isChecked()
    panel.search("")
    assert not star.isVisible()


def test_rename_to_existing_name_offers_replace(qtbot, panel, memory, saved_searches, rest, box):
    _save(saved_searches, "One", text="timer")
    _save(saved_searches, "Two", text="hose")
    rest()
    saved_searches.picker.open()
    qtbot.keyClick(box, Key.Key_F2)
    dialog = _name(qtbot, "One")
    assert any(b.text() == "Replace" for b in dialog.findChildren(QPushButton))
    _name(qtbot, "Three")
    assert any(b.text() == "Save" for b in dialog.findChildren(QPushButton))
    qtbot.keyClick(dialog.findChild(QLineEdit), Key.Key_Return)
    rest()
    assert {search.name for search in memory.saved_searches.saved()} == {"One", "Three"}


def test_star_removes_saved_search_and_it_can_be_restored(qtbot, panel, memory, saved_searches, rest):
    panel.search("timer")
    rest()
    saved_searches.store.restore(SavedSearch(name="One", query=saved_searches.query, last_used=5.0))
    rest()
    assert saved_searches.star.isChecked()
    with qtbot.waitSignal(saved_searches.forgotten) as forgotten:
        qtbot.mouseClick(saved_searches.star, Qt.MouseButton.LeftButton)
    rest()
    assert memory.saved_searches.saved() == ()
    assert not saved_searches.star.isChecked()
    _, undo = forgotten.args
    undo()
    rest()
    assert memory.saved_searches.saved() == (SavedSearch(name="One", query=saved_searches.query, last_used=5.0),)


def test_run_saved_search_moves_to_top(qtbot, panel, memory, box, saved_searches, listed, rest):
    saved_searches.store.restore(SavedSearch(name="Old", query=QueryRecord(text="hose", **PLAIN), last_used=1.0))
    saved_searches.store.restore(SavedSearch(name="New", query=QueryRecord(text="timer", **PLAIN), last_used=2.0))
    rest()
    saved_searches.picker.open()
    assert _names(listed) == ["New", "Old"]
    qtbot.keyClick(box, Key.Key_Up)
    qtbot.keyClick(box, Key.Key_Return)
    rest()
    assert box.text() == "hose"
    assert [search.name for search in saved_searches.store.saved] == ["Old", "New"]


def test_history_switched_off_saves_nothing(qtbot, panel, memory, mean, saved_searches, rest):
    saved_searches.store.notes = False
    mean("timer")
    assert _texts(memory) == []


def test_failed_save_reports_reason(qtbot, panel, memory, saved_searches, rest, monkeypatch):
    def refuse(_search: SavedSearch) -> None:
        raise StoreError("There is no room for it.")

    monkeypatch.setattr(memory.saved_searches, "save", refuse)
    with qtbot.waitSignal(saved_searches.store.failed) as failed:
        _save(saved_searches, "One", text="timer")
        _save(saved_searches, "Two", text="hose")
    assert failed.args == ["There is no room for it."]
    rest()


def test_current_entry_is_announced(qtbot, panel, box, mean, listed, rest, monkeypatch):
    announced: list[str] = []
    monkeypatch.setattr("gui.search.saved_search_list.announce", lambda widget, sentence: announced.append(sentence))
    panel.filters.choose(("memory",), None, None)
    for text in ("timer", "hose"):
        mean(text)
    qtbot.keyClick(box, Key.Key_Escape)
    rest()
    qtbot.keyClick(box, Key.Key_Up)
    qtbot.keyClick(box, Key.Key_Down)
    qtbot.keyClicks(box, "ho")
    assert announced == ["hose, notes", "timer, notes", "hose, notes", "hose, notes"]
    qtbot.keyClick(box, Key.Key_Escape)
    rest()
