"""Offers of an empty answer, and the effect of explanations on the list."""

from collections.abc import Callable
from typing import get_args

import msgspec
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QToolTip

from engine import RemedyName, SearchRemedy
from engine.records import WatcherStatus
from gui.search.messages import remedy_label
from gui.search.panel import SearchPanel
from gui.search.query import Scope
from gui.search.ranking_menu import Ranking
from gui.widgets.form_controls import Chip
from gui.widgets.query_box import QueryBox
from tests.helpers.chips import choose_from_chip
from tests.helpers.fake_records import make_progress, make_status, make_summary

pytestmark = pytest.mark.usefixtures("short_waits")


@pytest.fixture
def press(qtbot, panel) -> Callable[[str], None]:
    def run(words: str) -> None:
        button = next(b for b in panel.body.findChildren(QPushButton) if b.text() == words and b.isVisible())
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: not panel.busy)

    return run


def _remedy(name: RemedyName, **changes) -> SearchRemedy:
    return SearchRemedy(name=name, stage="filters", advice=f"So much for {name}.", **changes)


def _shown_text(panel: SearchPanel) -> str:
    return " ".join(part.text() for part in panel.body.findChildren(QLabel) if part.isVisible())


def test_empty_answer_without_weak_matches_counts_words(panel, ask, memory):
    memory.remedies = ()
    ask("zucchini")
    assert "Passages with each word in the whole index: “irrigation”: 12, “timer”: 5." in _shown_text(panel)


@pytest.mark.parametrize("name", get_args(RemedyName))
def test_each_remedy_has_short_button_text(name):
    assert remedy_label(_remedy(name, query="irrigation " * 9)).strip()
    assert len(remedy_label(_remedy(name, query="irrigation " * 9))) < 50


def test_left_out_types_are_chosen_and_left_out_files_shown():
    assert remedy_label(_remedy("skipped")) == "Choose file types…"
    assert remedy_label(SearchRemedy(name="skipped", stage="index", advice="")) == "Show these files"


def _limit(panel: SearchPanel) -> None:
    """Select notes of the past week in one file."""
    filters = panel.filters
    filters.set_scope(Scope("a.md", "A"))
    next(chip for chip in filters.findChildren(Chip) if chip.text() == "Notes").click()
    choose_from_chip(filters, "Changed", "Past week")


def test_remedy_removes_one_limit(panel, ask, press, memory):
    _limit(panel)
    memory.remedies = (_remedy("sources"), _remedy("period"), _remedy("scope"))
    ask("zucchini")
    for words, left in (
        ("Search all sources", (None, True, "a.md")),
        ("Search any time", (None, False, "a.md")),
        ("Search all files", (None, False, None)),
    ):
        press(words)
        options = memory.searches[-1][2]
        assert (options["sources"], options["since"] is not None, options["path_glob"]) == left
    assert [chip.text() for chip in panel.filters.findChildren(Chip) if chip.isVisible() and chip.isChecked()] == [
        "All"
    ]
    assert "Any time" in [chip.text() for chip in panel.filters.findChildren(Chip)]


def test_limits_remedy_removes_all_limits(panel, ask, press, memory):
    _limit(panel)
    memory.remedies = (_remedy("limits"),)
    ask("zucchini")
    count = len(memory.searches)
    press("Search everything")
    limits = [(options["sources"], options["since"], options["path_glob"]) for _, _, options in memory.searches[count:]]
    assert set(limits) == {(None, None, None)}


def test_demand_remedy_searches_reduced_query(panel, results, ask, press, memory):
    memory.remedies = (_remedy("condition", query="timer & hose"),)
    ask("zucchini")
    press("Search for “timer && hose”")
    assert results.isVisible()
    assert panel.header.findChild(QueryBox).edit.text() == "timer & hose"


def test_words_remedy_searches_without_limits(panel, ask, press, memory):
    _limit(panel)
    memory.remedies = (_remedy("words", query="timer"),)
    ask('"zucchini timer" -hose')
    press("Search for “timer”")
    query = panel.body.answer.query
    assert (query.text, query.sources, query.days, query.scope) == ("timer", None, None, None)


def test_within_remedy_removes_scope(panel, ask, press, memory):
    ask("timer")
    panel.controller.search_within()
    memory.remedies = (_remedy("within"),)
    ask("zucchini")
    assert panel.body.answer.query.within is not None
    press("Search beyond these results")
    assert panel.body.answer.query.within is None
    assert panel.body.answer.query.text == "zucchini"


def test_age_remedy_switches_off_half_life(panel, ask, press, memory):
    panel.ranking.show(Ranking(30.0, diverse=True))
    memory.remedies = (_remedy("age"),)
    ask("zucchini")
    press("Ignore age")
    assert panel.ranking.ranking == Ranking(0.0, diverse=True)
    assert memory.searches[-1][2]["half_life_days"] == 0.0


@pytest.mark.parametrize("name", ["excluded", "add-sessions", "sync", "embed", "settings", "folder", "tools"])
def test_remaining_remedies_are_emitted_to_window(qtbot, panel, ask, memory, name):
    memory.remedies = (_remedy(name, path="drafts"),)
    ask("zucchini")
    panel.focus_list()
    with qtbot.waitSignal(panel.controller.variants.remedy_requested) as emitted:
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    assert emitted.args == [memory.remedies[0]]


def test_focus_stays_in_page_after_its_button_is_replaced(panel, ask, memory):
    memory.remedies = ()
    unwatched = make_status(watcher=WatcherStatus(), last_sync=make_summary())
    panel.show_status(unwatched)
    ask("zucchini")
    panel.focus_list()
    assert QApplication.focusWidget().text() == "Update now"
    panel.show_status(msgspec.structs.replace(unwatched, syncing=make_progress()))
    assert panel.body.page.has_focus()
    assert QApplication.focusWidget().text() != "Update now"


def test_narrow_page_stacks_buttons(qtbot, panel, ask):
    ask("zucchini")
    page = panel.body.page
    panel.header.window().resize(300, 600)
    buttons = [
        b for b in page.findChildren(QPushButton) if b.text() in ("How this search worked", "A file is missing…")
    ]
    qtbot.waitUntil(lambda: buttons[0].geometry().bottom() < buttons[1].geometry().top())
    assert page.widget().minimumSizeHint().width() <= 300


# --- explanations of results ----------------------------------------------------------------------------------------


def test_explanation_is_requested_only_while_enabled(qtbot, panel, results, ask, memory):
    ask("timer")
    assert not any(options["explain"] is True for _, _, options in memory.searches)
    qtbot.keyClick(results, Qt.Key.Key_Down)
    before = results.rows.rowCount(), results.current_result(), results.verticalScrollBar().value()
    panel.controller.explain(True)
    qtbot.waitUntil(lambda: not panel.busy)
    assert [(mode, options["explain"]) for _, mode, options in memory.searches[2:]] == [("auto", True)]
    assert (results.rows.rowCount(), results.current_result(), results.verticalScrollBar().value()) == before
    panel.controller.explain(False)
    panel.controller.explain(True)
    assert not panel.busy  # the answer on show has one
    ask("hose")
    requested = [(mode, options["explain"]) for _, mode, options in memory.searches[3:]]
    assert requested == [("keyword", False), ("auto", True)]


def test_running_answer_gets_its_explanation(qtbot, panel, memory, meaning_waits):
    panel.search("timer")
    qtbot.waitUntil(meaning_waits.entered.is_set)
    panel.controller.explain(True)
    meaning_waits.set()
    qtbot.waitUntil(lambda: not panel.busy)
    assert panel.body.answer.outcome.explanation is not None


def test_score_bar_click_opens_explanation(qtbot, panel, results, ask):
    ask("timer")
    rect = results.visualRect(results.currentIndex())
    bar = QPoint(rect.left() + 20, rect.bottom() - 14)
    assert results.painter.is_on_bar(rect, bar, Qt.LayoutDirection.LeftToRight)
    with qtbot.waitSignal(panel.view.list.why_requested):
        qtbot.mouseClick(results.viewport(), Qt.MouseButton.LeftButton, pos=bar)
    with qtbot.assertNotEmitted(panel.view.list.why_requested):
        qtbot.mouseClick(results.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(rect.center().x(), rect.top() + 20))


def test_score_bar_looks_and_speaks_like_a_button(qtbot, results, ask):
    ask("timer")
    rect = results.visualRect(results.currentIndex())
    bar = QPoint(rect.left() + 20, rect.bottom() - 14)
    qtbot.mouseMove(results.viewport(), bar)
    qtbot.waitUntil(lambda: results.viewport().cursor().shape() == Qt.CursorShape.PointingHandCursor)
    assert results.painter.hovered == results.currentIndex().row()
    qtbot.mouseMove(results.viewport(), QPoint(rect.center().x(), rect.top() + 20))
    qtbot.waitUntil(lambda: results.viewport().cursor().shape() == Qt.CursorShape.ArrowCursor)
    described = results.currentIndex().data(Qt.ItemDataRole.AccessibleDescriptionRole)
    assert described == "Score 0.84: words 0.63, meaning 0.21. Why this result? (Ctrl+I)"


def test_score_bar_tooltip_lists_parts(results, ask, monkeypatch):
    ask("timer")
    tooltips: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda at, text, widget: tooltips.append(text))
    rect = results.visualRect(results.currentIndex())
    for at in (QPoint(rect.left() + 20, rect.bottom() - 14), rect.center()):
        event = QHelpEvent(QEvent.Type.ToolTip, at, results.viewport().mapToGlobal(at))
        QApplication.sendEvent(results.viewport(), event)
    assert tooltips == ["Score 0.84: words 0.63, meaning 0.21\nClick to see why (Ctrl+I)", ""]


def test_tooltip_of_line_below_excerpt_names_file(qtbot, results, ask):
    ask("timer")
    rect = results.visualRect(results.currentIndex())
    at = QPoint(rect.left() + 140, rect.bottom() - 14)
    event = QHelpEvent(QEvent.Type.ToolTip, at, results.viewport().mapToGlobal(at))
    QApplication.sendEvent(results.viewport(), event)
    qtbot.waitUntil(lambda: results.current_result().path in QToolTip.text())
    QToolTip.hideText()
