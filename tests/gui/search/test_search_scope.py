"""More like a result, and searches within results: queries, messages, and how to return."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QPushButton

from engine import LAST_LINE, EarlierResultCount, Passage
from gui.core.capabilities import capabilities
from gui.search import scope
from gui.search.panel import SearchPanel
from gui.search.query import Query, Scope
from gui.search.result_list import ResultList
from gui.search.scope import ScopeBar
from gui.widgets.form_controls import Chip
from gui.widgets.icons import IconButton
from gui.widgets.labels import ElidedLabel
from gui.widgets.query_box import QueryBox
from tests.helpers.fake_memory import FakeMemory

Key = Qt.Key
GREENHOUSE = "projects/greenhouse.md"


pytestmark = pytest.mark.usefixtures("short_waits")


@pytest.fixture
def bar(panel) -> ScopeBar:
    return panel.body.scope_bar


@pytest.fixture
def settle(qtbot, panel) -> Callable[[], None]:
    return lambda: qtbot.waitUntil(lambda: not panel.busy)


def shown_texts(bar: ScopeBar) -> list[str]:
    lines = [button.parentWidget() for button in bar.findChildren(IconButton) if button.isVisible()]
    return [line.findChild(ElidedLabel).text() for line in lines]


def found_lines(panel: SearchPanel) -> list[tuple[str, int]]:
    answer = panel.body.answer
    return [] if answer is None else [(result.path, result.start_line) for result in answer.outcome.results]


def choose(results: ResultList, path: str, line: int) -> None:
    results.setCurrentIndex(results.rows.index(results.rows.position(("result", path, line, 0))))
    results.setFocus()


# --- more like this ---------------------------------------------------------------------------------------------------


def test_alt_m_searches_passages_like_result(qtbot, panel, results, box, bar, ask, settle, memory: FakeMemory) -> None:
    ask("irrigation")
    choose(results, GREENHOUSE, 3)
    settle()
    current = results.current_result()
    qtbot.keyClick(results, Key.Key_M, Qt.KeyboardModifier.AltModifier)
    settle()
    assert memory.liked[-1] == Passage(path=GREENHOUSE, start_line=current.start_line, end_line=current.end_line)
    assert [mode for _, mode, _ in memory.searches[-2:]] == ["keyword", "auto"], "keywords come first"
    assert box.text() == ""
    [line] = shown_texts(bar)
    assert line.startswith("Similar to “Set both irrigation zones to 06:10")
    assert (GREENHOUSE, 3) not in found_lines(panel)
    assert found_lines(panel)
    assert results.hasFocus()
    assert panel.body.answer.query.like == memory.liked[-1]


def test_escape_in_empty_box_returns_to_query_and_result(qtbot, panel, results, box, bar, ask, settle) -> None:
    ask("irrigation")
    before = found_lines(panel)
    choose(results, "topics/shopping.md", 1)
    qtbot.keyClick(results, Key.Key_M, Qt.KeyboardModifier.AltModifier)
    settle()
    qtbot.keyClick(results, Key.Key_Escape)
    assert box.hasFocus()
    qtbot.keyClick(box, Key.Key_Escape)
    settle()
    assert (box.text(), shown_texts(bar), found_lines(panel)) == ("irrigation", [], before)
    assert results.current_result().path == "topics/shopping.md"


def test_down_in_empty_box_focuses_similar_results(qtbot, panel, results, box, ask, settle) -> None:
    ask("irrigation")
    panel.controller.saved_searches.store.notes = True
    panel.controller.search_like(Passage(path="topics/shopping.md", start_line=1, end_line=3), "")
    settle()
    panel.focus_box()
    qtbot.keyClick(box, Key.Key_Down)
    assert results.hasFocus()


def test_similar_searches_nest_and_back_returns_stepwise(qtbot, panel, results, box, bar, ask, settle, memory) -> None:
    ask("irrigation")
    for _ in range(2):
        results.setFocus()
        qtbot.keyClick(results, Key.Key_M, Qt.KeyboardModifier.AltModifier)
        settle()
    first, second = dict.fromkeys(memory.liked)
    assert panel.body.answer.query.like == second
    bar.findChild(IconButton).click()
    settle()
    assert panel.body.answer.query.like == first
    bar.findChild(IconButton).click()
    settle()
    assert panel.body.answer.query.text == box.text() == "irrigation"
    assert not bar.isVisible()


def test_typing_replaces_similar_search(qtbot, panel, results, box, bar, ask, settle, memory) -> None:
    ask("irrigation")
    results.setFocus()
    qtbot.keyClick(results, Key.Key_M, Qt.KeyboardModifier.AltModifier)
    settle()
    qtbot.keyClicks(box, "timer")
    settle()
    assert shown_texts(bar) == []
    assert (
        panel.body.answer.query == panel.body.answer.query.subject == Query("timer", half_life_days=0.0, diverse=False)
    )


def test_placeholder_describes_effect_of_typing(qtbot, panel, results, box, ask, settle) -> None:
    ask("irrigation")
    panel.controller.search_like(Passage(path="topics/shopping.md", start_line=1, end_line=3), "Irrigation hose")
    settle()
    assert box.placeholderText() == "Search for other words"
    qtbot.keyClicks(box, "timer")
    settle()
    box.clear()
    assert box.placeholderText() == "Search by words or meaning"


def test_filters_apply_to_similar_search(qtbot, panel, results, ask, settle, memory) -> None:
    ask("irrigation")
    results.setFocus()
    qtbot.keyClick(results, Key.Key_M, Qt.KeyboardModifier.AltModifier)
    settle()
    next(chip for chip in panel.header.findChildren(Chip) if chip.text() == "Notes").click()
    settle()
    assert memory.searches[-1][2]["sources"] == ("memory",)
    assert panel.body.answer.query.like is not None


def open_menu(results: ResultList) -> None:
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(0, 0), QPoint(0, 0))
    QApplication.sendEvent(results.viewport(), event)


def test_menu_offers_similar_and_within(qtbot, panel, results, ask, settle, memory, opened_menus, bar) -> None:
    ask("irrigation")
    open_menu(results)
    opened_menus[-1]["More like this"].trigger()
    settle()
    assert len(set(memory.liked)) == 1
    open_menu(results)
    opened_menus[-1]["Search within these results"].trigger()
    assert len(shown_texts(bar)) == 1
    assert shown_texts(bar)[0].startswith("Within")


def test_changed_features_repeat_the_query(qtbot, panel, ask, memory) -> None:
    ask("irrigation")
    before = len(memory.searches)
    capabilities().begin({"ordering": "Nothing can be ranked here."})
    qtbot.waitUntil(lambda: len(memory.searches) > before and not panel.busy)


def test_similar_search_without_result_or_passage_is_reported(qtbot, panel, results, settle, memory, bar) -> None:
    panel.controller.search_like(
        Passage(path="topics/shopping.md", start_line=1, end_line=3, text="zebra giraffe"), "zebra"
    )
    settle()
    assert panel.body.page.accessibleName().startswith("No similar passages")
    panel.controller.search_like(Passage(path="gone.md", start_line=1, end_line=3), "")
    settle()
    assert "No passage of gone.md is indexed" in panel.body.page.accessibleName()
    assert shown_texts(bar) == ["Similar to gone.md#L1-L3"]


def test_similar_search_highlights_distinctive_words(qtbot, panel, settle, memory) -> None:
    received: list[str] = []
    panel.preview.selected.connect(lambda result, query: received.append(query))
    panel.controller.search_like(Passage(path="topics/shopping.md", start_line=1, end_line=3), "Irrigation hose")
    settle()
    assert "irrigation" in received[-1].split()


# --- within -----------------------------------------------------------------------------------------------------------


def test_next_query_searches_within_shown_results(qtbot, panel, results, box, bar, ask, settle, memory) -> None:
    ask("irrigation")
    count = len(memory.searches)
    panel.controller.search_within()
    assert box.hasFocus()
    assert box.text() == ""
    assert results.isVisible(), "results stay until the next query"
    assert len(memory.searches) == count
    assert shown_texts(bar) == ["Within 3 results of “irrigation”"]
    assert box.placeholderText() == "Within these results"
    qtbot.keyClicks(box, "hose")
    settle()
    query, _, options = memory.searches[-1]
    assert query == "hose"
    assert [level.query for level in options["within"]] == ["irrigation"]
    within = set(found_lines(panel))
    panel.controller.run_again(Query("irrigation"))
    settle()
    irrigation = set(found_lines(panel))
    panel.controller.run_again(Query("hose"))
    settle()
    assert within == irrigation & set(found_lines(panel))
    assert within < irrigation


def test_scope_levels_nest_and_each_can_be_removed(qtbot, panel, box, bar, ask, settle) -> None:
    ask("irrigation")
    panel.controller.search_within()
    qtbot.keyClicks(box, "timer")
    settle()
    panel.controller.search_within()
    qtbot.keyClicks(box, "valve")
    settle()
    assert shown_texts(bar) == ["Within 3 results of “irrigation”", "Within 2 results of “timer”"]
    inner = found_lines(panel)
    qtbot.keyClick(box, Key.Key_Escape)  # clears the box
    settle()
    assert panel.body.answer.query.text == "timer"
    qtbot.keyClick(box, Key.Key_Escape)
    settle()
    assert (box.text(), shown_texts(bar)) == ("timer", ["Within 3 results of “irrigation”"])
    qtbot.keyClicks(box, "s")
    panel.controller.run_again(Query("valve", within=Query("timer", within=Query("irrigation"))))
    settle()
    assert found_lines(panel) == inner
    bar.findChildren(IconButton)[0].click()
    settle()
    assert (box.text(), shown_texts(bar)) == ("irrigation", [])


def test_single_letter_keeps_results(qtbot, panel, results, box, ask, settle) -> None:
    ask("irrigation")
    before = found_lines(panel)
    panel.controller.search_within()
    qtbot.keyClicks(box, "h")
    settle()
    assert found_lines(panel) == before
    assert results.isVisible()


def test_empty_within_answer_offers_search_without_scope(qtbot, panel, box, bar, ask, settle, memory) -> None:
    from engine import SearchRemedy

    ask("irrigation")
    panel.controller.search_within()
    qtbot.keyClicks(box, "radishes")
    settle()
    assert panel.body.page.accessibleName().startswith("Nothing found for “radishes” within these results")
    panel.body.remedy_chosen.emit(SearchRemedy(name="within", stage="within", advice="Outside it finds 1 result."))
    settle()
    assert shown_texts(bar) == []
    assert box.text() == "radishes"
    assert found_lines(panel) == [(GREENHOUSE, 18)]


def test_scope_counts_follow_index(qtbot, panel, box, bar, ask, settle, memory) -> None:
    ask("irrigation")
    panel.controller.search_within()
    qtbot.keyClicks(box, "hose")
    settle()
    memory.files["new.md"] = "# New\n\nAnother irrigation hose.\n"
    panel.refresh()
    settle()
    assert shown_texts(bar) == ["Within 4 results of “irrigation”"]
    assert ("new.md", 1) in found_lines(panel)


def test_manager_change_clears_scope(qtbot, panel, bar, ask, settle) -> None:
    ask("irrigation")
    panel.controller.search_within()
    panel.set_manager(FakeMemory({}))
    settle()
    assert shown_texts(bar) == []
    assert panel.header.findChild(QueryBox).edit.placeholderText() == "Search by words or meaning"


def test_ask_again_restores_all_query_options(panel, box, bar, settle, memory) -> None:
    query = Query(
        "hose",
        ("memory",),
        30,
        Scope("topics/shopping.md", "Shopping"),
        min_score=0.0,
        within=Query("irrigation"),
        half_life_days=7.0,
        diverse=True,
    )
    memory.modified["topics/shopping.md"] = 4_000_000_000.0
    panel.controller.run_again(query)
    settle()
    assert panel.body.answer.query == query
    assert panel.body.ranking.ranking.half_life_days == 7.0
    assert shown_texts(bar) == ["Within 3 results of “irrigation”"]
    _, _, options = memory.searches[-1]
    assert (options["sources"], options["path_glob"]) == (("memory",), "topics/shopping.md")
    assert next(chip for chip in panel.header.findChildren(Chip) if chip.text() == "Notes").isChecked()


def test_within_button_starts_search_within_results(qtbot, panel, results, bar, ask, box) -> None:
    button = next(
        b for b in panel.body.findChildren(QPushButton) if b.accessibleName() == "Search within these results"
    )
    assert not button.isVisible()
    ask("irrigation")
    assert button.isVisible()
    button.click()
    assert box.hasFocus()
    assert len(shown_texts(bar)) == 1


# --- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (None, "Within the results of “a b”"),
        (EarlierResultCount(passages=1, total=1, total_is_least=False), "Within 1 result of “a b”"),
        (
            EarlierResultCount(passages=1000, total=2345, total_is_least=False),
            "Within the best 1,000 of 2,345 results of “a b”",
        ),
        (
            EarlierResultCount(passages=1000, total=4000, total_is_least=True),
            "Within the best 1,000 of 4,000+ results of “a b”",
        ),
    ],
)
def test_within_label_shows_count(count: EarlierResultCount | None, words: str) -> None:
    assert scope.within(Query("a b"), count, "").text == words


def test_scope_label_is_short_and_tooltip_is_complete() -> None:
    passage = Passage(path="projects/a.md", start_line=5, end_line=9)
    crumb = scope.like(passage, "One two\n three " + "four " * 40)
    assert crumb.text.startswith("Similar to “One two three four")
    assert crumb.text.endswith("…”")
    assert crumb.location == "a.md#L5-L9"
    assert scope.like(passage, "## One\n\n- **two** [three](x.md)").text == "Similar to “One · two three”"
    assert crumb.tip.endswith("· projects/a.md#L5-L9")
    assert scope.like(Passage(path="a/b.md", start_line=1, end_line=LAST_LINE), "").text == "Similar to b.md"
    limited = Query("x", ("memory",), 7, min_score=0.0)
    assert scope.within(limited, None, "").tip == (
        "Within the results of “x” (notes · changed in the past 7 days · also below the minimum score)"
    )
