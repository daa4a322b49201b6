import json

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton, QScrollArea, QTableView, QWidget

from engine import MemorySearchResult, SearchOutcome, set_language
from gui.explanation.panel import ExplanationPanel
from gui.explanation.result_view import RangeBar, ScoreBar, TermBars
from gui.explanation.tables import FigureTable, StageTable
from gui.explanation.wording import Part
from gui.search.messages import milliseconds
from gui.search.query import Answer, Query
from gui.style.appearance import Appearance
from gui.style.theme import theme_tokens
from gui.widgets.icons import IconButton
from tests.helpers.fake_explanations import explain, make_reason
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_records import with_text


@pytest.fixture
def outcome() -> SearchOutcome:
    memory = FakeMemory()
    try:
        return memory.search("irrigation timer", max_results=9, explain=True)
    finally:
        memory.close()


@pytest.fixture
def panel(qtbot) -> ExplanationPanel:
    panel = ExplanationPanel()
    qtbot.addWidget(panel)
    panel.resize(330, 900)
    with qtbot.waitExposed(panel):
        panel.show()
    return panel


def _answer(outcome: SearchOutcome, **changes) -> Answer:
    fields = {"query": Query("irrigation timer"), "outcome": outcome, "final": True, "explained": True}
    return Answer(**(fields | changes))


def _shown_text(panel: QWidget) -> str:
    return " | ".join(part.text() for part in panel.findChildren(QLabel) if part.isVisible() and part.text())


def _cells(table: QTableView) -> list[list[str]]:
    model = table.model()
    return [
        [model.index(row, column).data() for column in range(model.columnCount())] for row in range(model.rowCount())
    ]


def _show(panel: ExplanationPanel, outcome: SearchOutcome, result: MemorySearchResult) -> None:
    panel.show_result(result)
    panel.show_answer(_answer(outcome))


def test_empty_panel_shows_introduction(panel):
    assert "to see where each score comes from" in _shown_text(panel)
    assert not panel.findChild(StageTable).isVisible()


@pytest.mark.parametrize("name", ["threshold", "age", "unknown", "unrelated"])
def test_panel_offers_results_below_the_minimum(qtbot, panel, outcome, name):
    (stage, *others) = outcome.explanation.stages
    weak = msgspec.structs.replace(stage, name=name, before=9, after=3)
    explanation = msgspec.structs.replace(outcome.explanation, stages=(weak, *others))
    outcome = msgspec.structs.replace(outcome, explanation=explanation)
    _show(panel, outcome, outcome.results[0])
    (button,) = (part for part in panel.findChildren(QPushButton) if "below the minimum" in part.text())
    assert button.isVisible()
    panel.resize(220, 900)
    page = panel.findChild(QScrollArea)
    qtbot.waitUntil(lambda: page.viewport().width() >= page.widget().width())
    with qtbot.waitSignal(panel.weak_requested) as requested:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert requested.args == [True]
    panel.show_answer(_answer(outcome, query=Query("irrigation timer", min_score=0.0)))
    assert not button.isVisible(), "they are shown already"
    complete = tuple(msgspec.structs.replace(stage, after=stage.before) for stage in outcome.explanation.stages)
    explanation = msgspec.structs.replace(outcome.explanation, stages=complete)
    panel.show_answer(_answer(msgspec.structs.replace(outcome, explanation=explanation)))
    assert not button.isVisible(), "no stage left out anything"


def test_tab_into_folded_panel_scrolls_to_the_focused_control(qtbot, panel, outcome):
    panel.resize(330, 260)
    _show(panel, outcome, outcome.results[0])
    close, fold = (button for button in panel.findChildren(IconButton) if button.isVisible())
    with qtbot.waitActive(panel):
        panel.activateWindow()
    close.setFocus()
    qtbot.waitUntil(lambda: panel.findChild(QScrollArea).verticalScrollBar().maximum() > 0)
    assert fold.visibleRegion().isEmpty()
    qtbot.keyClick(close, Qt.Key.Key_Tab)
    assert fold.hasFocus()
    assert not fold.visibleRegion().isEmpty()


def test_panel_follows_selected_result(panel, outcome):
    first, second = outcome.results[:2]
    _show(panel, outcome, first)
    shown_text = _shown_text(panel)
    assert first.citation in shown_text
    assert f"Result 1 of {outcome.total} · score {first.score:.2f}" in shown_text
    assert "Meaning counts 30% and words 70%" in shown_text
    assert "reaches the minimum score, 0.35" in shown_text
    panel.show_result(second)
    assert second.citation in _shown_text(panel)
    assert f"Result 2 of {outcome.total}" in _shown_text(panel)


def test_bars_and_tables_have_accessible_names(panel, outcome):
    _show(panel, outcome, outcome.results[0])
    assert panel.findChild(ScoreBar).accessibleName().startswith("Score 0.84: words 0.63, meaning 0.21")
    assert panel.findChild(TermBars).accessibleName() == "word 0.90"
    assert panel.findChild(RangeBar).accessibleName() == "Cosine 0.70 between 0.00 and 1.00"
    assert panel.findChild(StageTable).accessibleName() == "Stages of the search"


def test_words_that_are_missing_together_are_drawn(qtbot, appearance):
    bars = TermBars()
    qtbot.addWidget(bars)
    bars.resize(330, 40)
    pictures = []
    for term in ("wombat", "quokka"):
        bars.show_parts([Part(term, 0.0, "not in this passage")])
        pictures.append(bars.grab().toImage())
    assert pictures[0] != pictures[1]


def test_figures_table_unfolds(qtbot, panel, outcome):
    _show(panel, outcome, outcome.results[0])
    figures = panel.findChild(FigureTable)
    assert not figures.isVisible()
    fold = next(b for b in panel.findChildren(IconButton) if b.accessibleName() == "Show all figures")
    fold.setFocus()
    qtbot.keyClick(fold, Qt.Key.Key_Space)
    assert figures.isVisible()
    assert ["Cosine", "0.700"] in _cells(figures)
    assert fold.accessibleName() == "Hide the figures"
    rows = figures.model().rowCount() * figures.verticalHeader().defaultSectionSize()
    assert figures.height() > rows  # no scroll area inside a scroll area


def test_stages_are_in_order_with_counts_and_times(panel, outcome):
    _show(panel, outcome, outcome.results[0])
    cells = _cells(panel.findChild(StageTable))
    assert [row[0] for row in cells] == [
        "Words",
        "Found by words",
        "Found by meaning",
        "Minimum score",
        "Results shown",
    ]
    assert cells[0] == ["Words", "2", "2", "0.40"]
    assert f"5 stages in {milliseconds(outcome.timings.total)}." in _shown_text(panel)
    assert "Minimum score: 4 passages entered" in _shown_text(panel)


def test_selected_stage_stays_current(panel, outcome):
    _show(panel, outcome, outcome.results[0])
    table = panel.findChild(StageTable)
    table.selectRow(2)
    panel.show_result(outcome.results[1])
    assert table.currentIndex().row() == 2


def test_empty_answer_names_emptying_stage(panel, outcome, memory_of_nothing):
    panel.show_result(outcome.results[0])
    panel.show_answer(_answer(memory_of_nothing))
    shown_text = _shown_text(panel)
    assert "Why nothing was found" in shown_text
    assert (
        "Minimum score: 4 passages entered, 0 remaining. "
        "Passages that scored below 0.35: 4. This step removed everything."
    ) in shown_text
    assert outcome.results[0].citation not in shown_text


@pytest.fixture
def memory_of_nothing() -> SearchOutcome:
    memory = FakeMemory()
    try:
        return memory.search("quagga", explain=True)
    finally:
        memory.close()


def test_keyword_only_answer_keeps_shown_explanation(panel, outcome, memory_of_nothing):
    _show(panel, outcome, outcome.results[0])
    before = _shown_text(panel)
    panel.show_answer(_answer(memory_of_nothing, final=False))
    assert _shown_text(panel) == before


def test_missing_explanation_shows_progress_then_note(panel, outcome):
    bare = _bare(outcome)
    panel.show_answer(_answer(bare, explained=False))
    assert "Searching…" in _shown_text(panel)
    panel.show_answer(_answer(bare))
    assert "This answer has no explanation" in _shown_text(panel)
    panel.show_answer(None)
    assert "to see where each score comes from" in _shown_text(panel)


def _bare(outcome: SearchOutcome) -> SearchOutcome:
    return msgspec.structs.replace(outcome, explanation=None)


def test_explanations_are_requested_only_while_visible(qtbot, panel):
    with qtbot.waitSignal(panel.requested) as emitted:
        panel.hide()
    assert emitted.args == [False]
    with qtbot.waitSignal(panel.requested) as emitted:
        panel.show()
    assert emitted.args == [True]


def test_explanation_is_copied_as_json(qtbot, panel, outcome):
    _show(panel, outcome, outcome.results[0])
    copy = next(b for b in panel.findChildren(QWidget) if getattr(b, "text", str)() == "Copy as JSON")
    qtbot.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert json.loads(QGuiApplication.clipboard().text())["results"][0]["citation"] == outcome.results[0].citation
    qtbot.waitUntil(lambda: copy.text() == "Copy as JSON")


@pytest.mark.parametrize("width", [260, 330, 600])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_panel_fits_width_and_uses_theme_colours(qtbot, appearance, panel, outcome, theme, width):
    appearance.set_theme(theme)
    aged = make_reason(citation=outcome.results[0].citation)
    full = explain(outcome.results, outcome.results, min_score=0.35, remedies=())
    with_details = msgspec.structs.replace(
        outcome, explanation=msgspec.structs.replace(full, results=(aged, *full.results[1:]))
    )
    panel.resize(width, 700)
    _show(panel, with_details, outcome.results[0])
    page = panel.findChild(QScrollArea).widget()
    qtbot.waitUntil(lambda: page.width() <= width)
    assert page.minimumSizeHint().width() <= width
    picture = panel.findChild(ScoreBar).grab().toImage()
    seen = {picture.pixelColor(x, 8).name() for x in range(picture.width())}
    colours = theme_tokens(theme)
    assert {colours.accent.name(), colours.meaning.name(), colours.text.name()} <= seen


@pytest.mark.parametrize("kind", [ScoreBar, TermBars, RangeBar])
def test_bars_grow_with_font_and_keep_minimum_width(qtbot, appearance: Appearance, kind):
    bar = kind()
    qtbot.addWidget(bar)
    if isinstance(bar, TermBars):
        bar.show_parts([Part("timer", 0.5, "in the text")])
    bar.show()
    before = bar.height()
    scale = appearance.font_scale
    try:
        appearance.enlarge(1)
        qtbot.waitUntil(lambda: bar.height() > before)
    finally:
        appearance.enlarge(0)
    assert appearance.font_scale == scale
    assert bar.minimumSizeHint().width() == 120


def test_panel_shows_the_time_that_boosted_a_result(panel, outcome):
    reason = make_reason(time="“last spring” (2026-03-01 to 2026-05-31)", time_factor=1.6)
    boosted = msgspec.structs.replace(
        outcome,
        explanation=msgspec.structs.replace(outcome.explanation, results=(reason,)),
        results=outcome.results[:1],
    )
    panel.show_answer(_answer(boosted))
    panel.show_result(boosted.results[0])
    assert "“last spring” (2026-03-01 to 2026-05-31): × 1.60" in _shown_text(panel).replace("\u200b", "")


def test_page_of_document_is_translated(panel, outcome):
    found = msgspec.structs.replace(with_text(outcome.results[0], heading=("Page 12",)), path="books/sailing.pdf")
    set_language("de")
    try:
        _show(panel, msgspec.structs.replace(outcome, results=(found, *outcome.results[1:])), found)
    finally:
        set_language("en")
    shown_text = _shown_text(panel).split(" | ")
    assert "Seite 12" in shown_text
    assert "Page 12" not in shown_text
