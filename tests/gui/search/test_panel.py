import threading
import time
from typing import Any, ClassVar

import msgspec
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPushButton, QWidget

from engine import QuerySuggestion, SearchOutcome, SearchRemedy, StoreError
from engine.records import FileIssue, FoundMessage, SourceCount
from gui.core.location import Location
from gui.search.panel import PREVIEW_MS, SearchPanel
from gui.search.query import Scope
from gui.search.result_list import ResultList
from gui.search.result_rows import build_rows
from gui.style.theme import theme_tokens
from gui.widgets import accessibility
from gui.widgets.form_controls import Chip
from gui.widgets.placeholder_page import StatePage
from tests.helpers.fake_explanations import WEAK, explain
from tests.helpers.fake_records import make_progress, make_status, make_summary

Key = Qt.Key


pytestmark = pytest.mark.usefixtures("short_waits")


@pytest.fixture
def signals(panel) -> dict[str, list[Any]]:
    """The signals of the panel: (path, query) or the text."""
    signals: dict[str, list[Any]] = {"selected": [], "activated": [], "query": []}
    panel.preview.selected.connect(lambda result, query: signals["selected"].append((result.path, query)))
    panel.result_activated.connect(lambda result, query: signals["activated"].append((result.path, query)))
    panel.controller.builder.query_changed.connect(signals["query"].append)
    return signals


def test_alt_up_and_down_step_through_earlier_queries(qtbot, panel, box, results, signals):
    for typed in ("timer", "hose"):
        box.selectAll()
        qtbot.keyClicks(box, typed)
    qtbot.waitUntil(lambda: not panel.busy)
    qtbot.keyClick(box, Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert box.text() == "timer"
    qtbot.waitUntil(lambda: not panel.busy)
    assert signals["query"][-1] == "timer"
    qtbot.keyClick(box, Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert box.text() == "hose"
    qtbot.waitUntil(lambda: not panel.busy)
    qtbot.keyClick(box, Key.Key_Escape)
    qtbot.keyClick(box, Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert box.text() == "hose"


def test_ctrl_e_opens_result_in_editor(qtbot, panel, results, ask):
    ask("timer")
    results.setFocus()
    with qtbot.waitSignal(panel.actions.editor_requested) as signal:
        qtbot.keyClick(results, Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    assert signal.args[0] == results.current_result()


def test_ctrl_c_copies_citation(qtbot, results, ask):
    ask("timer")
    results.setFocus()
    QGuiApplication.clipboard().clear()
    qtbot.keyClick(results, Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == results.current_result().citation


def _shown_text(widget: QWidget) -> str:
    """All visible text of labels and buttons."""
    parts = [*widget.findChildren(QLabel), *widget.findChildren(QAbstractButton)]
    return " | ".join(part.text() for part in parts if part.isVisible() and part.text())


def _press(qtbot, panel: SearchPanel, text: str) -> None:
    button = next(b for b in panel.body.findChildren(QPushButton) if b.text() == text and b.isVisible())
    button.setFocus()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not panel.busy)


def _chip(panel: SearchPanel, text: str) -> Chip:
    return next(chip for chip in panel.header.findChildren(Chip) if chip.text() == text)


def _keys(results):
    return [results.rows.row(index).key for index in range(results.rows.rowCount())]


def _paths(results: ResultList) -> list[str]:
    return [key[1] for key in _keys(results) if key[0] == "result"]


def test_typing_searches_and_selects_first_result(qtbot, panel, box, results, signals):
    assert box.hasFocus()
    qtbot.keyClicks(box, "timer")
    qtbot.waitUntil(lambda: not panel.busy and bool(signals["selected"]))
    assert signals["query"] == ["t", "ti", "tim", "time", "timer"]
    assert signals["selected"][-1] == (_paths(results)[0], "timer")
    assert "3 results · " in _shown_text(panel.header)
    assert box.hasFocus()


def test_keys_move_from_box_to_result_and_back(qtbot, panel, box, results, signals, ask):
    ask("timer")
    qtbot.keyClick(box, Key.Key_Down)
    assert results.hasFocus()
    assert results.current_result().path == _paths(results)[0]
    for _ in range(2):
        qtbot.keyClick(results, Key.Key_Down)
    qtbot.waitUntil(lambda: signals["selected"][-1][0] == _paths(results)[2])
    qtbot.keyClick(results, Key.Key_Return)
    assert signals["activated"] == [(_paths(results)[2], "timer")]
    qtbot.keyClick(results, Key.Key_Escape)
    assert box.hasFocus()
    assert box.text() == "timer"
    qtbot.keyClick(box, Key.Key_Escape)
    assert box.text() == ""
    qtbot.waitUntil(lambda: "Search your notes" in _shown_text(panel.body))
    assert signals["query"][-1] == ""


def test_typing_in_list_continues_in_box(qtbot, panel, box, results, ask):
    ask("time")
    panel.focus_list()
    qtbot.keyClick(results, Key.Key_R)
    assert box.hasFocus()
    assert box.text() == "timer"
    qtbot.keyClick(box, Key.Key_Backspace)
    assert box.text() == "time"


def test_enter_opens_result_only_when_answer_is_current(qtbot, panel, box, results, signals, ask, memory):
    ask("timer")
    qtbot.keyClick(box, Key.Key_Return)
    assert signals["activated"] == [(_paths(results)[0], "timer")]
    memory.keyword_delay = 5.0
    panel.filters.set_scope(Scope("daily/2026-02-08.md", "Sunday"))
    panel.controller.run_query()
    qtbot.keyClick(box, Key.Key_Return)
    qtbot.keyClicks(box, " irrigation")
    qtbot.keyClick(box, Key.Key_Return)
    assert len(signals["activated"]) == 1


def test_down_before_results_goes_to_them_once_they_arrive(qtbot, panel, box, results, memory):
    memory.keyword_delay = 0.2
    qtbot.keyClicks(box, "timer")
    qtbot.keyClick(box, Key.Key_Down)
    assert box.hasFocus()
    qtbot.waitUntil(results.hasFocus)
    qtbot.keyClick(results, Key.Key_Escape)
    qtbot.keyClick(box, Key.Key_Escape)
    qtbot.waitUntil(lambda: not panel.view.has_results)
    memory.keyword_delay = 5.0
    qtbot.keyClicks(box, "tim")
    qtbot.keyClick(box, Key.Key_Down)
    memory.keyword_delay = 0.0
    qtbot.keyClicks(box, "er")
    qtbot.waitUntil(lambda: not panel.busy and panel.view.has_results)
    assert box.hasFocus()


def test_down_before_an_empty_answer_is_forgotten(qtbot, panel, box, results, memory, monkeypatch):
    search = memory.search
    with monkeypatch.context() as empty:
        none = {"results": (), "total": 0}
        empty.setattr(memory, "search", lambda *a, **o: msgspec.structs.replace(search(*a, **o), **none))
        qtbot.keyClicks(box, "timer")
        qtbot.keyClick(box, Key.Key_Down)
        qtbot.waitUntil(lambda: not panel.busy)
        assert not panel.view.has_results
        panel.refresh()
        qtbot.keyClick(box, Key.Key_Down)
        assert panel.view.page.has_focus(), "the answer is there and is only repeated"
        box.setFocus()
    panel.refresh()
    qtbot.waitUntil(lambda: not panel.busy and panel.view.has_results)
    assert box.hasFocus()


def test_down_before_results_leaves_other_focus_alone(qtbot, panel, box, results, memory):
    memory.keyword_delay = 0.2
    qtbot.keyClicks(box, "timer")
    qtbot.keyClick(box, Key.Key_Down)
    chip = _chip(panel, "Notes")
    chip.setFocus()
    qtbot.waitUntil(lambda: not panel.busy and panel.view.has_results)
    assert chip.hasFocus()


def test_newest_query_wins(qtbot, panel, box, results, memory, signals):
    memory.keyword_delay = 5.0
    qtbot.keyClicks(box, "irrigation")
    qtbot.waitUntil(lambda: bool(memory.searches))
    memory.keyword_delay = 0.0
    panel.search("tomatoes")
    qtbot.waitUntil(lambda: not panel.busy)
    assert _paths(results) == ["daily/2026-02-08.md"]
    assert {query for _, query in signals["selected"]} == {"tomatoes"}


def test_same_result_is_selected_once_per_query(qtbot, panel, ask, signals):
    ask("tomatoes")
    panel.refresh()
    qtbot.waitUntil(lambda: not panel.busy)
    ask("limp")
    assert signals["selected"] == [("daily/2026-02-08.md", "tomatoes"), ("daily/2026-02-08.md", "limp")]


def test_settled_fires_after_selection(qtbot, panel, signals):
    received: list[int] = []
    panel.settled.connect(lambda: received.append(len(signals["selected"])))
    with qtbot.waitSignals([panel.settled], order="strict"):
        panel.search("timer")
    qtbot.waitUntil(lambda: not panel.busy)
    assert received[-1] == 1


def test_index_change_keeps_current_result_and_focus(qtbot, panel, results, ask, memory, signals):
    ask("timer")
    panel.focus_list()
    qtbot.keyClick(results, Key.Key_Down)
    qtbot.waitUntil(lambda: not panel.busy)
    chosen, selections = results.current_result().path, list(signals["selected"])
    memory.files["aaa.md"] = "# Timer\n\ntimer timer\n"
    panel.refresh()
    qtbot.waitUntil(lambda: "aaa.md" in _paths(results))
    qtbot.waitUntil(lambda: not panel.busy)
    assert results.current_result().path == chosen
    assert signals["selected"] == selections
    assert results.hasFocus()


def test_first_indexing_selects_best_until_user_moves(qtbot, panel, results, box, ask, memory):
    panel.show_status(make_status(syncing=make_progress(phase="indexing"), last_sync=None))
    ask("timer")
    for name, best in (("aaa.md", "aaa.md"), ("bbb.md", "aaa.md")):
        memory.files[name] = "# Timer\n\n" + len(memory.files) * "timer " + "\n"
        panel.refresh()
        qtbot.waitUntil(lambda name=name: name in _paths(results))
        qtbot.waitUntil(lambda: not panel.busy)
        assert results.current_result().path == best
        assert not results.new_above.isVisible()
        qtbot.keyClick(box, Key.Key_Down)
        qtbot.keyClick(results, Key.Key_Up)


def test_index_change_finds_new_match(qtbot, panel, results, ask, memory):
    ask("zucchini")
    assert "Nothing found for “zucchini”" in _shown_text(panel.body)
    memory.files["late.md"] = "# Late\n\nzucchini\n"
    panel.refresh()
    qtbot.waitUntil(lambda: results.isVisible() and _paths(results) == ["late.md"])


def test_show_more_loads_remaining_results(qtbot, panel, results, memory, ask, monkeypatch):
    memory.files.update({f"n{number:02}.md": f"# N\n\ncarrot {number}\n" for number in range(60)})
    ask("carrot")
    assert "50 of 60 results" in _shown_text(panel.header)
    assert _keys(results)[-1][0] == "more"
    panel.focus_list()
    qtbot.keyClick(results, Key.Key_End)
    qtbot.keyClick(results, Key.Key_Return)
    qtbot.waitUntil(lambda: len(_paths(results)) == 60)
    assert results.current_result().path == "n50.md"
    assert _keys(results)[-1][0] == "result"
    qtbot.waitUntil(lambda: not panel.busy)


@pytest.fixture
def weak(memory, monkeypatch):
    """Results exist, but only below the minimal score."""
    original = memory.search

    def search(query: str, *, min_score=None, **options) -> SearchOutcome:
        outcome = original(query, min_score=0.0, **options)
        if min_score == 0:
            return outcome
        explanation = explain((), (), min_score=0.35, remedies=(WEAK,)) if options["explain"] else None
        return msgspec.structs.replace(outcome, results=(), total=0, explanation=explanation)

    monkeypatch.setattr(memory, "search", search)


def test_weak_matches_can_be_shown_and_hidden(qtbot, weak, panel, results, ask):
    ask("timer")
    assert not results.isVisible()
    panel.focus_list()
    _press(qtbot, panel, "Show results below the minimum score")
    assert results.isVisible()
    assert len(_paths(results)) == 3
    assert results.hasFocus()
    assert "Results below the minimum score are shown too." in _shown_text(panel.body)
    _press(qtbot, panel, "Hide results below the minimum score")
    assert not results.isVisible()
    assert "Nothing found" in _shown_text(panel.body)


def test_empty_answer_explains_itself(qtbot, panel, ask):
    ask("zucchini")
    assert WEAK.advice in _shown_text(panel.body)
    panel.focus_list()
    assert QApplication.focusWidget().text() == "Show results below the minimum score"
    assert QApplication.focusWidget().accessibleDescription() == WEAK.advice
    with qtbot.waitSignal(panel.view.list.why_requested):
        _press(qtbot, panel, "How this search worked")


SYNC = SearchRemedy(name="sync", stage="embedding", advice="Update to create the vectors for search by meaning.")


def test_running_update_is_not_offered_again(qtbot, panel, memory, ask, monkeypatch):
    original = memory.search

    def search(query: str, **options) -> SearchOutcome:
        explanation = explain((), (), min_score=0.35, remedies=(SYNC,)) if options.get("explain") else None
        return msgspec.structs.replace(original(query, **options), explanation=explanation)

    monkeypatch.setattr(memory, "search", search)
    ask("zucchini")
    assert SYNC.advice in _shown_text(panel.body)
    panel.view.show_status(make_status(syncing=make_progress(phase="embedding")))
    assert SYNC.advice not in _shown_text(panel.body)
    assert "Search by meaning is incomplete until" in _shown_text(panel.body)
    panel.view.show_status(make_status(syncing=make_progress(phase="embedding"), paused=True))
    assert "Search by meaning is incomplete while the update is paused." in _shown_text(panel.body)
    panel.view.show_status(make_status())
    assert SYNC.advice in _shown_text(panel.body)


@pytest.mark.parametrize(
    ("button", "remedy"),
    [("Show these files", "skipped"), ("Choose folder…", "folder"), ("Add sessions…", "add-sessions")],
)
def test_folder_without_notes_offers_remedies(qtbot, panel, button, remedy):
    skipped = FileIssue(path="*.pdf", rule="other-extension", detail="It has another file extension.")
    empty = make_status(files=0, last_sync=make_summary(), sources=("memory",), skipped_files=(skipped,))
    panel.view.show_hint(empty)
    with qtbot.waitSignal(panel.view.remedy_chosen) as chosen:
        _press(qtbot, panel, button)
    assert chosen.args[0].name == remedy


def test_folder_without_files_offers_only_other_sources(qtbot, panel):
    panel.view.show_hint(make_status(files=0, last_sync=make_summary(), sources=("memory", "sessions")))
    button_texts = {button.text() for button in panel.view.page.findChildren(QPushButton) if button.isVisible()}
    assert "Choose folder…" in button_texts
    assert not button_texts & {"Show these files", "Add sessions…"}


def test_silent_refresh_keeps_focus_on_button(qtbot, panel, ask):
    ask("zucchini")
    panel.focus_list()
    button = QApplication.focusWidget()
    assert isinstance(button, QPushButton)
    panel.refresh()
    qtbot.waitUntil(lambda: not panel.busy)
    assert button.hasFocus()


def test_failed_search_is_shown_and_can_be_retried(qtbot, panel, results, ask, memory):
    memory.search_error = StoreError("The index is locked.")
    ask("timer")
    assert "The index is locked." in _shown_text(panel.body)
    memory.search_error = None
    _press(qtbot, panel, "Try again")
    assert results.isVisible()


def test_failed_refresh_keeps_results(qtbot, panel, results, ask, memory):
    ask("timer")
    memory.search_error = StoreError("The index is locked.")
    panel.refresh()
    qtbot.waitUntil(lambda: "The index is locked." in _shown_text(panel.body))
    assert results.isVisible()
    memory.search_error = None
    _press(qtbot, panel, "Try again")
    assert "locked" not in _shown_text(panel.body)


@pytest.mark.parametrize("chosen", [False, True])
def test_hybrid_best_result_becomes_current_unless_chosen(
    qtbot, panel, box, results, signals, meaning_waits, memory, monkeypatch, chosen: bool
):
    ask = memory.search

    def turned(query: str, *, mode: str = "auto", **options):
        outcome = ask(query, mode=mode, **options)
        return outcome if mode == "keyword" else msgspec.structs.replace(outcome, results=outcome.results[::-1])

    monkeypatch.setattr(memory, "search", turned)
    panel.search("timer")
    qtbot.waitUntil(lambda: bool(signals["selected"]))
    if chosen:
        qtbot.keyClick(box, Key.Key_Down)
        qtbot.keyClick(results, Key.Key_Down)
    before = results.current_result().path
    meaning_waits.set()
    qtbot.waitUntil(lambda: not panel.busy)
    assert (results.current_result().path == before) is chosen
    assert chosen or results.current_result().path == _paths(results)[0] == signals["selected"][-1][0]


def test_pending_semantic_answer_is_shown(qtbot, panel, meaning_waits):
    panel.search("timer")
    qtbot.waitUntil(lambda: "3 results by words, meaning follows" in _shown_text(panel.header))
    meaning_waits.set()
    qtbot.waitUntil(lambda: not panel.busy)
    assert "meaning follows" not in _shown_text(panel.header)


def test_empty_keyword_answer_shows_searching(qtbot, panel, meaning_waits, monkeypatch):
    titles: list[str] = []
    show_state = StatePage.show_state
    monkeypatch.setattr(
        StatePage, "show_state", lambda page, title, *a, **o: titles.append(title) or show_state(page, title, *a, **o)
    )
    panel.search("zucchini")
    qtbot.waitUntil(meaning_waits.entered.is_set)  # after the keyword results have arrived
    qtbot.waitUntil(lambda: "Searching…" in _shown_text(panel.body))
    assert not any(titles)
    meaning_waits.set()
    qtbot.waitUntil(lambda: titles[-1:] == ["Nothing found for “zucchini”"])


def test_notice_is_shown_above_results(qtbot, panel, results, ask, memory, monkeypatch):
    original = memory.search
    monkeypatch.setattr(
        memory, "search", lambda *a, **o: msgspec.structs.replace(original(*a, **o), notice="The index is growing.")
    )
    ask("timer")
    assert "The index is growing." in _shown_text(panel.body)
    assert results.isVisible()


def test_weak_results_offer_reason_for_unindexed_text(qtbot, panel, ask, memory, monkeypatch):
    found = SearchRemedy("tools", "words", "A tool's result contains this.")
    search, requests, names = memory.search, [], []

    def weak(*arguments, **options):
        looked = (found,) if options.get("explain") == "if weak" and "timer" in arguments[0] else ()
        outcome = search(*arguments, **options)
        return msgspec.structs.replace(outcome, notice="Similar in meaning.", similar_only=True, remedies=looked)

    def press(words):
        next(button for button in panel.body.findChildren(QPushButton) if button.text() == words).click()

    monkeypatch.setattr(memory, "search", weak)
    panel.controller.variants.remedy_requested.connect(requests.append)
    panel.body.missing_file_requested.connect(names.append)
    ask("timer")
    qtbot.waitUntil(lambda: "Similar in meaning. A tool's result contains this." in _shown_text(panel.body))
    press("Index tool calls and results")
    assert requests == [found]
    ask("hose")
    press("A file is missing…")
    assert names == ["hose"]


def test_notice_leaves_out_reason_of_failed_update(qtbot, panel, results, ask, memory, monkeypatch):
    search, reason, notice = memory.search, "The server cannot be reached.", "Nothing has been embedded yet."
    changed = {"notice": f"{notice} {reason}"}
    monkeypatch.setattr(memory, "search", lambda *a, **o: msgspec.structs.replace(search(*a, **o), **changed))
    for error, shown in (("", f"{notice} {reason}"), (reason, notice)):
        panel.show_status(make_status(last_sync=make_summary(error=error)))
        ask("timer" if error else "irrigation")
        qtbot.waitUntil(lambda shown=shown: shown in _shown_text(panel.body))
        assert (reason in _shown_text(panel.body)) == (not error)


@pytest.mark.parametrize("pointed", [True, False])
def test_removed_notice_moves_no_row_under_the_pointer(qtbot, pointed, panel, results, ask, memory, monkeypatch):
    search, notices = memory.search, ["Nothing has been embedded yet.", ""]
    monkeypatch.setattr(memory, "search", lambda *a, **o: msgspec.structs.replace(search(*a, **o), notice=notices[0]))
    ask("timer")
    with_notice = results.mapTo(panel.body, QPoint()).y()
    notices.pop(0)
    results.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, pointed)
    panel.refresh()
    qtbot.waitUntil(lambda: "Nothing has been embedded yet." not in _shown_text(panel.body) and not panel.busy)
    assert (results.mapTo(panel.body, QPoint()).y() == with_notice) == pointed
    QApplication.sendEvent(results, QEvent(QEvent.Type.Leave))
    qtbot.waitUntil(lambda: results.mapTo(panel.body, QPoint()).y() < with_notice)
    ask("hose")
    assert results.mapTo(panel.body, QPoint()).y() < with_notice


MEANT = QuerySuggestion(query="timer batteries", words=(("tiemr", "timer"),), chunks=3)
OTHER = QuerySuggestion(query="time batteries", words=(("tiemr", "time"),), chunks=2)


def test_suggestion_is_offered_and_click_searches_it(qtbot, panel, box, results, ask, memory, monkeypatch):
    original = memory.search

    def weak(*arguments: Any, **options: Any) -> SearchOutcome:
        outcome = original(*arguments, **options)
        lower = tuple(msgspec.structs.replace(result, score=result.score / 2) for result in outcome.results)
        return msgspec.structs.replace(outcome, results=lower)

    monkeypatch.setattr(memory, "search", weak)
    memory.suggestions["tiemr batteries"] = (MEANT, OTHER)
    ask("tiemr batteries")
    assert results.isVisible()
    assert _shown_text(panel.body) == "Did you mean | Relevance | timer | time"
    _press(qtbot, panel, "timer")
    assert box.text() == "timer batteries"
    assert box.hasFocus()
    assert memory.searches[-1][0] == "timer batteries"
    assert "Did you mean" not in _shown_text(panel.body)


def test_corrected_query_can_be_searched_as_typed(qtbot, panel, box, results, ask, memory):
    memory.corrections["tiemr batteries"] = MEANT
    with qtbot.waitSignal(panel.preview.selected) as selected:
        ask("tiemr batteries")
    assert selected.args[1] == "timer batteries"  # highlighted in the viewer
    assert results.isVisible()
    assert "Showing results for “timer batteries”" in _shown_text(panel.body)
    assert box.text() == "tiemr batteries"
    _press(qtbot, panel, "Search as typed")
    qtbot.waitUntil(lambda: "Showing results for" not in _shown_text(panel.body))
    assert box.text() == "tiemr batteries"


def test_empty_answer_focuses_suggestion_first(qtbot, panel, box, ask, memory):
    memory.suggestions["tiemr"] = (MEANT,)
    ask("tiemr")
    assert "Nothing found for “tiemr”" in _shown_text(panel.body)
    qtbot.keyClick(box, Key.Key_Down)
    focused = QApplication.focusWidget()
    assert (focused.text(), focused.accessibleName()) == ("timer", "Search for timer batteries")
    panel.refresh()
    qtbot.waitUntil(lambda: not panel.busy)
    assert focused.hasFocus()
    qtbot.keyClick(focused, Key.Key_Space)
    qtbot.waitUntil(lambda: not panel.busy)
    assert box.text() == "timer batteries"


def test_suggestions_that_do_not_fit_are_hidden(qtbot, panel, ask, memory):
    memory.suggestions["tiemr"] = tuple(
        QuerySuggestion(query=word * 3, words=(("tiemr", word * 3),), chunks=2)
        for word in ("timer", "tinder", "tinker")
    )
    ask("tiemr")
    assert "timertimertimer | tindertindertinder | tinkertinkertinker" in _shown_text(panel.body)
    panel.body.setFixedWidth(200)
    qtbot.waitUntil(lambda: "tinder" not in _shown_text(panel.body))
    assert "timertimertimer" in _shown_text(panel.body)


def test_filter_change_repeats_search(qtbot, panel, results, ask, memory):
    qtbot.waitUntil(lambda: _chip(panel, "Sessions").isEnabled())
    ask("timer")
    qtbot.mouseClick(_chip(panel, "Sessions"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: _paths(results) == ["sessions/claude/fix-the-valve.md"])
    qtbot.mouseClick(_chip(panel, "All"), Qt.MouseButton.LeftButton)
    next(action for action in _chip(panel, "Any time").menu().actions() if action.text() == "Past week").trigger()
    qtbot.waitUntil(lambda: not panel.busy)
    assert memory.searches[-1][2]["since"] == pytest.approx(time.time() - 7 * 86_400, abs=60)
    chip = _chip(panel, "Past week")
    assert chip.accessibleName() == "Changed: past week"
    assert chip.grab().toImage().pixelColor(chip.width() // 2, 4) == theme_tokens("light").accent_ground


def test_sessions_filter_is_disabled_without_sessions(qtbot, panel, memory):
    memory.set_status(source_counts=())
    panel.refresh()
    qtbot.waitUntil(lambda: not _chip(panel, "Sessions").isEnabled())
    assert "No sessions" in _chip(panel, "Sessions").toolTip()
    assert _chip(panel, "Notes").isEnabled()


def test_notes_filter_is_disabled_with_sessions_only(qtbot, panel, memory):
    memory.set_status(source_counts=(SourceCount(source="sessions", files=2, chunks=9),))
    panel.refresh()
    qtbot.waitUntil(lambda: not _chip(panel, "Notes").isEnabled())
    assert "No notes" in _chip(panel, "Notes").toolTip()
    assert _chip(panel, "Sessions").isEnabled()


def test_date_order_needs_no_new_search(qtbot, panel, results, ask, memory):
    memory.modified = {"topics/shopping.md": 1_790_000_000.0}
    ask("timer")
    count = len(memory.searches)
    menu = next(b.menu() for b in panel.body.findChildren(QPushButton) if b.text() == "Relevance")
    next(action for action in menu.actions() if action.text() == "Date").trigger()
    assert _paths(results)[0] == "topics/shopping.md"
    assert results.current_result().path == "topics/shopping.md"
    assert len(memory.searches) == count
    qtbot.waitUntil(lambda: not panel.busy)


def test_menu_copies_and_emits_requests(panel, results, ask, opened_menus):
    ask("tomatoes")
    result = results.current_result()
    received: list[Any] = []
    panel.actions.editor_requested.connect(lambda it: received.append(("editor", it)))
    panel.actions.reveal_requested.connect(lambda it: received.append(("reveal", it)))
    panel.view.list.why_requested.connect(lambda: received.append("why"))
    results.menu_requested.emit(results.mapToGlobal(results.rect().center()))
    texts = {}
    for action in opened_menus[0].values():
        action.trigger()
        texts[action.text()] = QGuiApplication.clipboard().text()
    assert texts["Copy citation"] == result.citation
    assert texts["Copy path"] == result.path
    assert texts["Copy snippet"] == result.snippet
    assert received == ["why", ("editor", result), ("reveal", result)]


def test_link_of_a_session_is_to_its_message(panel, results, make_result, make_outcome, opened_menus):
    links: list[Location] = []
    panel.actions.link_requested.connect(links.append)
    note = make_result(line=3, snippet_line=4)
    session = make_result(line=3, snippet_line=4, message=FoundMessage(ordinal=1, id="m1", role="user"))
    for result in (note, session):
        results.show_rows(build_rows(make_outcome(result), "relevance"), keep=False)
        results.menu_requested.emit(QPoint())
        opened_menus[-1]["Copy link"].trigger()
    assert links == [Location(note.path, 3, 7, ""), Location(note.path, 4, None, "m1")]


def test_workspace_chip_menu_is_filled_by_owner(qtbot, panel, memory):
    memory.set_status(workspace_dir="/home/me/R&D notes")
    panel.refresh()
    qtbot.waitUntil(lambda: any(chip.text() == "R&D notes" for chip in panel.header.findChildren(Chip)))
    chip = _chip(panel, "R&D notes")
    panel.filters.workspace_menu_requested.connect(lambda menu: menu.addAction("Open another folder"))
    for _ in range(2):
        chip.menu().aboutToShow.emit()
        assert [action.text() for action in chip.menu().actions()] == ["Open another folder"]
    assert chip.shortcut().isEmpty()


def test_index_change_during_first_search_repeats_it(qtbot, panel, results, memory, monkeypatch):
    searched, changed, search = threading.Event(), threading.Event(), memory.search

    def search_before_change(*query, on_keywords=None, **options):
        outcome = search(*query, **options)
        searched.set()
        assert changed.wait(60)
        return outcome

    monkeypatch.setattr(memory, "search", search_before_change)
    panel.search("zucchini")
    qtbot.waitUntil(searched.is_set)
    memory.files["late.md"] = "# Late\n\nzucchini\n"
    panel.refresh()
    changed.set()
    qtbot.waitUntil(lambda: results.isVisible() and _paths(results) == ["late.md"])


def test_manager_change_repeats_query(qtbot, panel, results, ask, jobs):
    from tests.helpers.fake_memory import FakeMemory

    ask("timer")
    other = FakeMemory({"other.md": "# Other\n\ntimer\n"})
    panel.set_manager(other)
    qtbot.waitUntil(lambda: not panel.busy)
    assert _paths(results) == ["other.md"]
    panel.set_manager(None)
    assert not results.isVisible()
    assert not panel.busy
    other.close()


def test_one_letter_is_not_searched_but_one_ideograph_is(qtbot, panel, ask, memory):
    ask("t")
    assert memory.searches == []
    ask("水")
    assert {query for query, _, _ in memory.searches} == {"水"}


def test_emptied_box_stops_query_before_start_page(qtbot, panel, box, memory, meaning_waits, monkeypatch):
    tokens = []
    search = memory.search
    monkeypatch.setattr(
        memory, "search", lambda *a, cancel, **o: tokens.append(cancel) or search(*a, cancel=cancel, **o)
    )
    panel.search("timer")
    qtbot.waitUntil(meaning_waits.entered.is_set)
    box.clear()
    assert tokens[-1].cancelled
    assert panel.busy
    qtbot.waitUntil(lambda: not panel.busy)
    assert panel.view.answer is None


def test_query_returned_to_survives_emptied_box(qtbot, panel, box, ask):
    ask("hose")
    hose = panel.controller.view_state
    ask("timer")
    box.clear()
    panel.controller.return_to(hose)
    qtbot.waitUntil(lambda: not panel.busy)
    assert panel.view.answer is not None
    assert panel.view.answer.query.text == box.text() == "hose"


@pytest.mark.parametrize("query", ["", "timer", "zucchini"])
def test_every_focusable_widget_has_accessible_name(qtbot, panel, ask, query: str):
    ask(query)
    for part in (panel.header, panel.body):
        for widget in part.findChildren(QWidget):
            if widget.isVisible() and widget.focusPolicy() != Qt.FocusPolicy.NoFocus and widget.focusProxy() is None:
                interface = QAccessible.queryAccessibleInterface(widget)
                assert interface.text(QAccessible.Text.Name), widget


def test_result_rows_are_exposed_to_assistive_tools(qtbot, results, ask):
    ask("tomatoes")
    rows = QAccessible.queryAccessibleInterface(results)
    assert rows.text(QAccessible.Text.Description) == "1 result in 1 file"
    spoken = [rows.child(number).text(QAccessible.Text.Name) for number in range(rows.childCount())]
    assert any("Tomatoes limp." in text and "daily/2026-02-08.md" in text for text in spoken)


class _Windows(QObject):
    """Records every window that was shown, however briefly."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[QWidget] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.shown.append(watched)
        return False


def test_no_state_opens_extra_window(qapp, panel, ask, memory):
    watch = _Windows()
    qapp.installEventFilter(watch)
    for text in ("timer", "zucchini", ""):
        ask(text)
    memory.search_error = StoreError("The index is locked.")
    ask("irrigation")
    panel.set_manager(None)
    qapp.removeEventFilter(watch)
    assert watch.shown == []


class _Listening:
    """Replaces `QAccessible`, as if an assistive tool were listening."""

    messages: ClassVar[list[str]] = []

    @staticmethod
    def isActive() -> bool:
        return True

    @classmethod
    def updateAccessibility(cls, event: QAccessibleAnnouncementEvent) -> None:
        cls.messages.append(event.message())


def test_each_answer_is_announced_once(qtbot, panel, ask, monkeypatch):
    monkeypatch.setattr(accessibility, "QAccessible", _Listening)
    _Listening.messages.clear()
    ask("timer")
    qtbot.waitUntil(lambda: len(_Listening.messages) == 1)
    panel.refresh()
    qtbot.waitUntil(lambda: not panel.busy)
    ask("zucchini")
    qtbot.waitUntil(lambda: len(_Listening.messages) == 2)
    assert _Listening.messages == ["3 results in 3 files", "No results"]


def test_repeated_counts_announce_only_the_last(qtbot, panel, ask, monkeypatch):
    monkeypatch.setattr(accessibility, "QAccessible", _Listening)
    _Listening.messages.clear()
    counts = accessibility.SettledAnnouncer(panel.body)
    for sentence in ("9 results", "4 results", "2 results"):
        counts.announce(sentence)
    qtbot.waitUntil(lambda: bool(_Listening.messages))
    qtbot.wait(50)
    assert _Listening.messages == ["2 results"]


def test_index_change_retries_failed_search(qtbot, panel, results, ask, memory):
    memory.search_error = StoreError("The index is locked.")
    ask("timer")
    memory.search_error = None
    panel.refresh()
    qtbot.waitUntil(results.isVisible)
    qtbot.waitUntil(lambda: not panel.busy)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("query", ["", "timer", "zucchini"])
def test_panel_is_drawn_in_both_themes(appearance, panel, ask, theme, query: str):
    """Any Qt warning fails a test; here, only painting could cause one."""
    host = panel.header.window()
    appearance.set_theme(theme)
    ask(query)
    picture = host.grab().toImage()
    appearance.set_font_scale(1.5)
    assert host.grab().toImage() != picture


def test_preview_waits_longer_for_typing_than_for_a_choice(qtbot, panel, box, results, signals):
    (timer,) = panel.preview.findChildren(QTimer)
    qtbot.keyClicks(box, "timer")
    qtbot.waitUntil(lambda: panel.view.has_results and not panel.controller.busy)
    after_typing = timer.interval()
    qtbot.keyClick(box, Key.Key_Down)
    qtbot.keyClick(results, Key.Key_Down)
    assert timer.interval() == PREVIEW_MS < after_typing
    qtbot.waitUntil(lambda: not panel.busy)
    assert signals["selected"][-1] == (results.current_result().path, "timer")


def test_preview_waits_again_after_another_key(qtbot, panel, box):
    (timer,) = panel.preview.findChildren(QTimer)
    qtbot.keyClicks(box, "timer")
    qtbot.waitUntil(lambda: panel.view.has_results and not panel.busy)
    timer.start(100_000)
    qtbot.waitUntil(lambda: timer.remainingTime() < 99_000)
    qtbot.keyClick(box, "s")
    assert timer.remainingTime() > 99_000
    timer.stop()
    qtbot.keyClick(box, Key.Key_Backspace)
    assert not timer.isActive()  # nothing was about to be opened
    qtbot.waitUntil(lambda: not panel.busy)


def test_opened_result_is_not_previewed_later(qtbot, panel, box, results, signals):
    panel.controller.idle.connect(lambda: qtbot.keyClick(box, Key.Key_Return), Qt.ConnectionType.SingleShotConnection)
    box.setText("timer")
    qtbot.waitUntil(lambda: bool(signals["activated"]))
    assert signals["selected"] == signals["activated"] == [(results.current_result().path, "timer")]
    assert not panel.busy
