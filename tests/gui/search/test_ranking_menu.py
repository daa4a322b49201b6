"""Ageing and variety, selected in the header of the list."""

import pytest
from PySide6.QtGui import QAction, QFontMetrics
from PySide6.QtWidgets import QMenu, QPushButton

from gui.search.ranking_menu import Ranking
from gui.style.stylesheet import font_at
from gui.widgets.list_header import CountLine, SortButton

pytestmark = pytest.mark.usefixtures("short_waits")


@pytest.fixture
def button(panel) -> SortButton:
    return panel.body.findChild(SortButton)


def _action(menu: QMenu, words: str) -> QAction:
    known = {action.text(): action for action in menu.actions()}
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            known |= {each.text(): each for each in inner.actions()}
    return known[words]


def _ask(qtbot, panel, text: str = "timer") -> None:
    panel.search(text)
    qtbot.waitUntil(lambda: not panel.busy)


def _last(memory) -> tuple[float | None, bool | None]:
    options = memory.searches[-1][2]
    return options["half_life_days"], options["diverse"]


def test_ranking_choice_applies_immediately_and_is_shown(qtbot, panel, memory, button):
    _ask(qtbot, panel)
    assert (_last(memory), button.text()) == ((0.0, False), "Relevance")
    for words, options, label in (
        ("Prefer newer", (30.0, False), "Relevance · newer"),
        ("More variety", (30.0, True), "Relevance · newer · varied"),
        ("90 days", (90.0, True), "Relevance · newer · varied"),
        ("Prefer newer", (0.0, True), "Relevance · varied"),
        ("Prefer newer", (90.0, True), "Relevance · newer · varied"),
        ("90 days", (90.0, True), "Relevance · newer · varied"),
        ("More variety", (90.0, False), "Relevance · newer"),
        ("Date", (90.0, False), "Date · newer"),
    ):
        _action(button.menu(), words).trigger()
        qtbot.waitUntil(lambda: not panel.busy)
        assert (_last(memory), button.text()) == (options, label)
    assert button.accessibleName() == "List sorted by date, newer"
    assert "every 90 days" in button.toolTip()
    assert _action(button.menu(), "90 days").isChecked()
    assert not _action(button.menu(), "30 days").isChecked()


def test_active_ranking_stays_visible_on_empty_answer(qtbot, panel, button):
    _ask(qtbot, panel, "nowhere")
    assert not button.isVisible()
    panel.ranking.show(Ranking(half_life_days=7))
    _ask(qtbot, panel, "nowhere at all")
    assert button.isVisible()


def test_half_life_from_settings_joins_menu(qtbot, panel, button):
    panel.ranking.set_default(Ranking(half_life_days=14), reset=True)
    menu = _action(button.menu(), "Half-life").menu()
    assert [action.text() for action in menu.actions()] == ["7 days", "14 days", "30 days", "90 days", "365 days"]
    assert _action(button.menu(), "14 days").isChecked()
    panel.ranking.show(Ranking(half_life_days=1000))
    assert menu.actions()[-1].text() == "1,000 days"


def test_settings_change_only_unchanged_ranking(qtbot, panel):
    ranking = panel.ranking
    ranking.set_default(Ranking(30), reset=True)
    ranking.set_default(Ranking(7), reset=False)
    assert ranking.ranking == Ranking(7)
    ranking.show(Ranking(90))
    ranking.set_default(Ranking(30), reset=False)
    assert ranking.ranking == Ranking(90)
    ranking.set_default(Ranking(30), reset=True)
    assert ranking.ranking == Ranking(30)


def test_current_ranking_can_be_made_default(qtbot, panel, button):
    keep = _action(button.menu(), "Use this order for all searches")
    assert not keep.isEnabled()
    _action(button.menu(), "More variety").trigger()
    assert keep.isEnabled()
    with qtbot.waitSignal(panel.ranking.default_requested) as wanted:
        keep.trigger()
    assert wanted.args == [Ranking(diverse=True)]
    panel.ranking.set_default(Ranking(diverse=True), reset=False)
    assert not keep.isEnabled()


def test_narrow_button_cuts_ranking_before_order(qtbot, panel, button):
    panel.ranking.show(Ranking(7, diverse=True))
    wide = button.sizeHint().width()
    metrics = QFontMetrics(font_at(12))
    assert button.fitting(metrics, 1000) == "Relevance · newer · varied"
    assert button.fitting(metrics, metrics.horizontalAdvance("newer · varied")) == "newer · varied"
    assert button.fitting(metrics, metrics.horizontalAdvance("newer · vari")).startswith("newer")
    panel.ranking.show(Ranking())
    assert button.fitting(metrics, 1000) == "Relevance"
    assert button.fitting(metrics, metrics.horizontalAdvance("Relevance") - 1) == ""
    assert button.minimumSizeHint().width() < button.sizeHint().width() < wide
    assert isinstance(button, QPushButton)


def test_counts_are_whole_at_their_least_width(qtbot, appearance):
    line = CountLine()
    qtbot.addWidget(line)
    cut = []
    for text in (
        "4 Dateien",
        "7 Dateien",
        "12 files",
        "17 Sitzungen",
        "25 Dateien in 5 Projekten",
        "3 groups",
        "1 file",
    ):
        line.show_counts(text, legend=True)
        least = line.minimumSizeHint()
        line.resize(least)
        narrow = line.grab().toImage()
        line.show_counts(text, legend=False)
        line.resize(least.width() + 40, least.height())
        if line.grab().toImage().copy(narrow.rect()) != narrow:
            cut.append(text)
    assert not cut
