import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu

from gui.search import row_delegate
from gui.search.result_list import CITE, ResultActions, ResultList
from gui.search.result_rows import ResultRow, build_rows
from gui.search.row_delegate import ExcerptLayout

Key = Qt.Key


@pytest.fixture
def results(show_active) -> ResultList:
    results = ResultList()
    show_active(results).resize(400, 400)
    results.setFocus()
    return results


@pytest.fixture
def show(results, make_result, make_outcome):
    """Show one result of each of these files, by name."""

    def run(*names: str, keep: bool = False, total: int | None = None, shift: int = 0) -> None:
        found = [make_result(name) for name in names]
        outcome = make_outcome(*found, total=len(found) if total is None else total)
        results.show_rows(build_rows(outcome, "relevance"), keep=keep, shift=shift)

    return run


def _current(results: ResultList) -> str:
    result = results.current_result()
    return result.path if result else ""


def _top(results: ResultList) -> int:
    return results.visualRect(results.currentIndex()).top()


def _choose(results: ResultList, name: str) -> None:
    results.setCurrentIndex(results.rows.index(results.rows.position(("result", name, 1, 0))))


def _names(first: int, last: int) -> list[str]:
    return [f"{number:03}.md" for number in range(first, last)]


def test_new_answer_selects_first_result(show, results):
    show(*_names(0, 30))
    _choose(results, "020.md")
    show(*_names(30, 60))
    assert _current(results) == "030.md"
    assert results.verticalScrollBar().value() == 0
    assert results.selectionModel().selectedIndexes() == [results.currentIndex()]


def test_chosen_result_keeps_position_when_rows_change(qtbot, show, results):
    show(*_names(10, 40))
    _choose(results, "025.md")
    top = _top(results)
    assert 0 <= top < results.viewport().height()
    show(*_names(5, 20), *_names(22, 60), keep=True)
    assert _current(results) == "025.md"
    assert _top(results) == top


def test_scroll_position_survives_rows_added_above(qtbot, show, results):
    show(*_names(10, 60))
    _choose(results, "010.md")
    results.verticalScrollBar().setValue(1500)
    seen = results.rows.row(results.indexAt(QPoint(5, 150)).row())
    top = results.visualRect(results.indexAt(QPoint(5, 150))).top()
    show(*_names(0, 60), keep=True)
    now = results.rows.position(seen.key)
    assert results.visualRect(results.rows.index(now)).top() == top
    assert _current(results) == "010.md"


def test_shifted_list_keeps_chosen_row_on_screen(show, results):
    show(*_names(10, 60))
    _choose(results, "040.md")
    top = _top(results)
    show(*_names(9, 60), keep=True, shift=30)
    assert _top(results) == top - 30


def test_new_results_above_are_counted_and_click_shows_them(qtbot, show, results):
    show(*_names(10, 60))
    _choose(results, "040.md")
    show(*_names(7, 60), keep=True)
    assert results.new_above.isVisible()
    assert results.new_above.text() == "3 more results above"
    qtbot.mouseClick(results.new_above, Qt.MouseButton.LeftButton)
    assert results.verticalScrollBar().value() == 0
    assert not results.new_above.isVisible()


def test_overtaking_results_are_counted_until_navigation(qtbot, show, results):
    show(*_names(10, 60))
    results.pin_current()
    show(*_names(30, 60), *_names(10, 30), keep=True)
    assert _current(results) == "010.md"
    assert results.new_above.text() == "30 more results above"
    show(*_names(29, 60), *_names(10, 29), keep=True)
    assert results.new_above.text() == "31 more results above"
    qtbot.keyClick(results, Key.Key_Down)
    assert not results.new_above.isVisible()


def test_best_result_is_selected_until_user_has_seen_one(show, results):
    show("b.md")
    show("a.md", "b.md", keep=True)
    assert _current(results) == "a.md"
    results.pin_current()
    show("c.md", "a.md", "b.md", keep=True)
    assert _current(results) == "a.md"


def _listed(results: ResultList) -> list[str]:
    """Return the files of the results from top to bottom, those that are no longer found in parentheses."""
    rows = [row for row in results.rows.all if isinstance(row, ResultRow)]
    return [f"({row.result.path})" if row.leg == "gone" else row.result.path for row in rows]


def test_removed_result_stays_until_another_is_selected(qtbot, show, results):
    show("a.md", "b.md", "c.md", "d.md")
    _choose(results, "c.md")
    top = _top(results)
    for names in (("a.md", "b.md", "d.md"), ("b.md", "a.md", "d.md", "e.md"), ("a.md", "b.md", "d.md")):
        show(*names, keep=True)
        assert _current(results) == "c.md"
        assert _top(results) == top
    assert _listed(results) == ["a.md", "b.md", "(c.md)", "d.md"]
    assert "no longer found" in results.currentIndex().data(Qt.ItemDataRole.DisplayRole)
    show("a.md", "b.md", "c.md", "d.md", keep=True)
    assert _listed(results) == ["a.md", "b.md", "c.md", "d.md"]
    show("a.md", "b.md", "d.md", keep=True)
    results.select_next()
    assert _current(results) == "d.md"
    show("a.md", "b.md", "d.md", keep=True)
    assert _listed(results) == ["a.md", "b.md", "d.md"]
    assert _current(results) == "d.md"


def test_removed_result_stays_below_rest_of_its_file(results, make_result, make_outcome):
    first, second, third, other = make_result(line=1), make_result(line=10), make_result(line=20), make_result("b.md")
    results.show_rows(build_rows(make_outcome(other, first, second, third), "relevance"), keep=False)
    results.setCurrentIndex(results.rows.index(results.rows.position(("result", "a.md", 10, 0))))
    results.show_rows(build_rows(make_outcome(first, third, other), "relevance"), keep=True)
    rows = [row for row in results.rows.all if isinstance(row, ResultRow)]
    assert [(row.result.start_line, row.leg) for row in rows] == [(1, ""), (10, "gone"), (20, ""), (1, "")]
    assert results.current_result() == second


def test_selected_passage_is_followed_to_other_lines_and_names(results, make_result, make_outcome):
    selected = make_result("b.md", 10, snippet="words to follow")
    moved = make_result("b.md", 12, snippet="words to follow, edited")
    renamed = make_result("new.md", 12, snippet="words to follow, edited")
    before, after = make_result("a.md"), make_result("c.md")
    results.show_rows(build_rows(make_outcome(before, selected, after), "relevance"), keep=False)
    results.setCurrentIndex(results.rows.index(results.rows.position(("result", "b.md", 10, 0))))
    for found in (moved, renamed):
        results.show_rows(build_rows(make_outcome(before, after, found), "relevance"), keep=True)
        assert results.current_result() == found
        assert _listed(results) == ["a.md", "c.md", found.path]


def test_same_rows_do_not_reset_model(qtbot, show, results):
    show(*_names(0, 30))
    _choose(results, "020.md")
    with qtbot.assertNotEmitted(results.rows.modelReset):
        show(*_names(0, 30), keep=True)


def test_show_more_selects_first_new_result(qtbot, show, results):
    show(*_names(0, 30), total=90)
    qtbot.keyClick(results, Key.Key_End)
    assert results.current_result() is None
    value = results.verticalScrollBar().value()
    show(*_names(0, 60), keep=True, total=90)
    assert _current(results) == "030.md"
    assert results.verticalScrollBar().value() == value


def test_arrow_keys_move_between_results(qtbot, show, results):
    show("a.md", "b.md", "c.md", total=9)
    walked = []
    for key in (Key.Key_Down, Key.Key_Down, Key.Key_Down, Key.Key_Down, Key.Key_Up, Key.Key_Home, Key.Key_End):
        qtbot.keyClick(results, key)
        walked.append(_current(results))
    assert walked == ["b.md", "c.md", "", "", "c.md", "a.md", ""]


def test_page_keys_move_by_visible_rows(qtbot, show, results):
    show(*_names(0, 60))
    visible = results.viewport().height() // (
        results.painter.metrics.result_height + results.painter.metrics.file_height
    )
    qtbot.keyClick(results, Key.Key_PageDown)
    moved = int(_current(results)[:3])
    assert 1 <= moved <= visible
    for _ in range(60):
        qtbot.keyClick(results, Key.Key_PageDown)
    assert _current(results) == "059.md"
    for _ in range(60):
        qtbot.keyClick(results, Key.Key_PageUp)
    assert _current(results) == "000.md"
    assert results.verticalScrollBar().value() == 0


def test_first_result_of_file_is_shown_with_title(qtbot, show, results):
    show(*_names(0, 40))
    _choose(results, "030.md")
    _choose(results, "010.md")
    title = results.rows.index(results.currentIndex().row() - 1)
    assert results.visualRect(title).top() == 0


@pytest.mark.parametrize("key", [Key.Key_Up, Key.Key_Escape])
def test_up_or_escape_leaves_list_at_top(qtbot, show, results, key):
    show("a.md", "b.md")
    with qtbot.waitSignal(results.left):
        qtbot.keyClick(results, key)
    assert _current(results) == "a.md"


def test_typed_text_is_forwarded_but_shortcuts_are_not(qtbot, show, results):
    show("a.md", "b.md")
    typed: list[str] = []
    results.typed.connect(lambda event: typed.append(event.text()))
    for key in (Key.Key_X, Key.Key_Space, Key.Key_Backspace):
        qtbot.keyClick(results, key)
    qtbot.keyClick(results, Key.Key_X, Qt.KeyboardModifier.ControlModifier)
    assert typed == ["x", " ", "\b"]


def test_enter_opens_result_or_requests_more(qtbot, show, results):
    show("a.md", total=9)
    with qtbot.waitSignal(results.opened) as opened:
        qtbot.keyClick(results, Key.Key_Return)
    assert opened.args[0].path == "a.md"
    qtbot.keyClick(results, Key.Key_Down)
    with qtbot.waitSignal(results.more_requested):
        qtbot.keyClick(results, Key.Key_Return)


def test_mouse_selects_results_not_titles(qtbot, show, results):
    show("a.md", "b.md", total=9)

    def centre(place: int) -> QPoint:
        return results.visualRect(results.rows.index(place)).center()

    qtbot.mouseClick(results.viewport(), Qt.MouseButton.LeftButton, pos=centre(2))
    assert _current(results) == "a.md"
    qtbot.mouseClick(results.viewport(), Qt.MouseButton.LeftButton, pos=centre(3))
    assert _current(results) == "b.md"
    with qtbot.waitSignal(results.opened):
        qtbot.mouseDClick(results.viewport(), Qt.MouseButton.LeftButton, pos=centre(3))
    with qtbot.waitSignal(results.more_requested):
        qtbot.mouseClick(results.viewport(), Qt.MouseButton.LeftButton, pos=centre(4))


def test_context_menu_is_for_current_result(qtbot, show, results):
    show("a.md", "b.md")
    with qtbot.waitSignal(results.menu_requested):
        event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(0, 0), QPoint(0, 0))
        QApplication.sendEvent(results.viewport(), event)
    assert results.current_result().path == "a.md"


@pytest.mark.qt_log_ignore("grabbing the keyboard", "support raise", extend=True)
def test_menu_keeps_its_row_and_closes_without_it(qtbot, show, results):
    ResultActions(results, results)
    show("b.md", "c.md")
    QApplication.sendEvent(results.viewport(), QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint()))
    (menu,) = results.findChildren(QMenu)
    show("a.md", "b.md", keep=True)
    assert _current(results) == "b.md"
    assert menu.isVisible()
    show("a.md", "c.md")
    assert not menu.isVisible()


@pytest.fixture
def laid_out(monkeypatch) -> list[ExcerptLayout]:
    """Return all excerpts that are laid out."""
    laid_out: list[ExcerptLayout] = []

    def lay_out(*arguments, **options) -> ExcerptLayout:
        laid_out.append(ExcerptLayout(*arguments, **options))
        return laid_out[-1]

    monkeypatch.setattr(row_delegate, "ExcerptLayout", lay_out)
    return laid_out


@pytest.mark.parametrize("count", [3, 100])
def test_rows_laid_out_before_only_need_painting(results, make_result, make_outcome, laid_out, count):
    found = [make_result(name, snippet=f"{name} has water") for name in _names(0, count)]
    rows = build_rows(make_outcome(*found), "relevance")
    results.lay_out(rows, results.size())
    before = len(laid_out)
    assert 0 < before < 20
    results.show_rows(rows, keep=False)
    results.viewport().repaint()
    assert len(laid_out) == before


def test_long_list_lays_out_only_visible_rows(show, results, laid_out):
    show(*_names(0, 10_000))
    results.verticalScrollBar().setValue(results.verticalScrollBar().maximum())
    results.viewport().repaint()
    assert 0 < len(laid_out) < 20


def test_empty_list_ignores_keys(qtbot, show, results):
    show()
    for key in (Key.Key_Down, Key.Key_End, Key.Key_PageDown, Key.Key_Return):
        qtbot.keyClick(results, key)
    assert results.current_result() is None


def test_selected_results_are_copied_with_the_row_of_more(qtbot, results, show):
    ResultActions(results, results)
    show("a.md", "b.md", total=9)
    qtbot.keyClick(results, Key.Key_End, Qt.KeyboardModifier.ShiftModifier)
    assert len(results.selected_results()) == 2
    assert results.current_result() is None
    qtbot.keyClick(results, Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QApplication.clipboard().text()
    assert "a.md" in copied
    assert "b.md" in copied
    qtbot.keyClick(results, Key.Key_Home)
    qtbot.keyClick(results, Key.Key_End)
    assert not results.selected_results()
    (cite,) = (action for action in results.actions() if action.objectName() == CITE.name)
    assert not cite.isEnabled()


def test_new_answer_leaves_actions_enabled_throughout(results, show):
    ResultActions(results, results)
    show("a.md")
    (cite,) = (action for action in results.actions() if action.objectName() == CITE.name)
    states: list[bool] = []
    cite.enabledChanged.connect(states.append)
    show("b.md")
    assert cite.isEnabled()
    assert not states
    show()
    assert states == [False]
