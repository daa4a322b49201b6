"""The page of notes that share text."""

import threading
from collections.abc import Iterator

import msgspec
import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton

from engine import CancelToken, MnemoscopeError, duplicate_title
from gui.core.jobs import Jobs
from gui.index.duplicates import comparison
from gui.index.duplicates.page import DuplicatesPage
from gui.index.panel import IndexPanel
from tests.helpers.fake_insight import FakeInsight, make_group
from tests.helpers.fake_memory import FakeMemory

LEFT, RIGHT = "projects/greenhouse.md", "topics/shopping.md"


@pytest.fixture
def insight(memory: FakeMemory) -> FakeInsight:
    memory.insight = FakeInsight(memory)
    memory.insight.groups = (
        make_group(LEFT, RIGHT),
        make_group(LEFT, "daily/2026-02-08.md", kind="passage", similarity=1.0, words=44),
    )
    return memory.insight


@pytest.fixture
def page(qtbot, appearance, jobs: Jobs) -> Iterator[DuplicatesPage]:
    page = DuplicatesPage(jobs)
    qtbot.addWidget(page)
    page.resize(1100, 600)
    with qtbot.waitExposed(page):
        page.show()
    yield page
    page.hide()


@pytest.fixture
def loaded_page(qtbot, page: DuplicatesPage, memory: FakeMemory, insight: FakeInsight) -> DuplicatesPage:
    page.set_manager(memory)
    qtbot.waitUntil(lambda: not page.busy)
    return page


def words(page: DuplicatesPage) -> str:
    return "\n".join(part.text() for part in page.findChildren(QLabel) if part.isVisible())


def press(page: DuplicatesPage, text: str) -> None:
    next(b for b in page.findChildren(QPushButton) if b.text() == text and b.isVisible()).click()


def listed(page: DuplicatesPage) -> list[str]:
    return [page.groups.rows.row(index).key for index in range(page.groups.rows.rowCount())]


def test_groups_are_listed_and_first_is_compared(qtbot, loaded_page: DuplicatesPage, insight: FakeInsight) -> None:
    assert len(listed(loaded_page)) == 2
    assert "2 groups among 4 notes" in words(loaded_page)
    assert "Nearly the same · 90% · 2 notes · 50 words in common" in words(loaded_page)
    assert "The note on the left is newer by 24 h" in words(loaded_page)
    kinds = {row.kind for row in loaded_page.comparison.view.rows}
    assert "same" in kinds or "changed" in kinds
    assert loaded_page.comparison.view.accessibleDescription()


def test_recurring_text_is_folded_below_copies(qtbot, page: DuplicatesPage, memory, insight: FakeInsight) -> None:
    recurring = [make_group(f"{name}.md", f"{name}-2.md", kind="recurring") for name in "ab"]
    insight.groups = (make_group(LEFT, RIGHT), *recurring)
    page.set_manager(memory)
    qtbot.waitUntil(lambda: not page.busy)
    assert listed(page) == [f"{LEFT}-{RIGHT}", "recurring"]
    QTest.keyClick(page.groups, Qt.Key.Key_Down)
    assert page.groups.current is None
    QTest.keyClick(page.groups, Qt.Key.Key_Return)
    assert listed(page) == [f"{LEFT}-{RIGHT}", "recurring", "a.md-a-2.md", "b.md-b-2.md"]
    QTest.keyClick(page.groups, Qt.Key.Key_Down)
    assert page.groups.current == recurring[0]
    QTest.keyClick(page.groups, Qt.Key.Key_Up)
    QTest.keyClick(page.groups, Qt.Key.Key_Return)
    assert listed(page) == [f"{LEFT}-{RIGHT}", "recurring"]
    insight.groups = tuple(recurring)
    page.compare()
    qtbot.waitUntil(lambda: "recurring" not in listed(page))
    assert listed(page) == ["a.md-a-2.md", "b.md-b-2.md"]


def test_double_click_unfolds_recurring_text(qtbot, page: DuplicatesPage, memory, insight: FakeInsight) -> None:
    recurring = make_group(LEFT, "daily/2026-02-08.md", kind="recurring", similarity=1.0, words=44)
    insight.groups = (make_group(LEFT, RIGHT), recurring)
    page.set_manager(memory)
    qtbot.waitUntil(lambda: not page.busy)
    groups = page.groups
    before = groups.rows.rowCount()
    centre = groups.visualRect(groups.rows.index(1, 0)).center()
    QTest.mouseClick(groups.viewport(), Qt.MouseButton.LeftButton, pos=centre)
    QTest.mouseDClick(groups.viewport(), Qt.MouseButton.LeftButton, pos=centre)
    assert groups.rows.rowCount() == before + 1


def test_comparison_without_group_disables_its_buttons(loaded_page: DuplicatesPage) -> None:
    pane = loaded_page.comparison
    assert any(button.isEnabled() for button in pane.findChildren(QPushButton) if button.text() == "Open")
    pane.show_group(None)
    assert not [
        button.text() for button in pane.findChildren(QPushButton) if button.isEnabled() and button != pane.back
    ]
    assert "Nearly the same" not in words(loaded_page)


def test_hidden_page_searches_nothing(qtbot, appearance, jobs: Jobs, memory, insight) -> None:
    page = DuplicatesPage(jobs)
    qtbot.addWidget(page)
    page.set_manager(memory)
    page.refresh()
    assert insight.requests == []


def test_no_duplicates_shows_message(qtbot, page: DuplicatesPage, memory: FakeMemory, insight: FakeInsight) -> None:
    insight.groups = ()
    received = []
    page.attention_changed.connect(received.append)
    page.set_manager(memory)
    qtbot.waitUntil(lambda: not page.busy)
    assert comparison.NOTHING in words(page)
    assert received[-1] == ()


def test_no_notes_offers_sync(qtbot, page: DuplicatesPage, memory: FakeMemory, insight: FakeInsight) -> None:
    insight.groups = ()
    memory.files.clear()
    page.set_manager(memory)
    qtbot.waitUntil(lambda: not page.busy)
    assert comparison.NO_NOTES in words(page)
    with qtbot.waitSignal(page.action_requested) as signal:
        press(page, "Update now")
    assert signal.args == ["sync"]


def test_passage_is_compared_with_surrounding_lines(qtbot, loaded_page: DuplicatesPage) -> None:
    QTest.keyClick(loaded_page.groups, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: not loaded_page.busy)
    numbers = [row.left.number for row in loaded_page.comparison.view.rows if row.left]
    assert numbers == [1, 2, 3, 4, 5]


def test_context_of_one_note_alone_is_left_out(qtbot, page, memory: FakeMemory, insight: FakeInsight) -> None:
    """The passage is longer in one note, so its context has lines that the other one's context doesn't reach."""
    shared = "\n".join(f"The valve number {number} opens at six." for number in range(8))
    memory.files[LEFT], memory.files[RIGHT] = f"Left.\n{shared}", f"Right.\n{shared}"
    group = make_group(LEFT, RIGHT, kind="passage")
    left, right = group.members
    members = (
        msgspec.structs.replace(left, start_line=2, end_line=3),
        msgspec.structs.replace(right, start_line=2, end_line=5),
    )
    insight.groups = (msgspec.structs.replace(group, members=members),)
    page.set_manager(memory)
    qtbot.waitUntil(lambda: not page.busy)
    rows = page.comparison.view.rows
    assert [row.left.number for row in rows if row.left] == [1, 2, 3, 4, 5]
    assert [row.right.number for row in rows if row.right] == [1, 2, 3, 4, 5]


def test_other_note_of_group_can_be_compared(qtbot, page, memory: FakeMemory, insight: FakeInsight) -> None:
    insight.groups = (make_group(LEFT, RIGHT, "daily/2026-02-08.md"),)
    page.set_manager(memory)
    qtbot.waitUntil(lambda: not page.busy)
    right = next(box for box in page.comparison.findChildren(QComboBox) if box.accessibleName() == "Right note")
    assert right.count() == 3
    right.setCurrentIndex(2)
    right.activated.emit(2)
    qtbot.waitUntil(lambda: not page.busy)
    assert any(row.right and "Tomatoes limp" in row.right.text for row in page.comparison.view.rows)


def test_keys_step_through_differences(qtbot, loaded_page: DuplicatesPage) -> None:
    view = loaded_page.comparison.view
    assert view.step(forward=True)
    first = view.accessibleDescription()
    QTest.keyClick(view, Qt.Key.Key_N, Qt.KeyboardModifier.ShiftModifier)
    assert view.accessibleDescription() == first, "there is no previous one"
    for key in (Qt.Key.Key_End, Qt.Key.Key_Home, Qt.Key.Key_PageDown, Qt.Key.Key_Up):
        QTest.keyClick(view, key)


def test_both_columns_are_painted(qtbot, loaded_page: DuplicatesPage) -> None:
    picture = loaded_page.comparison.view.viewport().grab().toImage()
    half = picture.width() // 2
    ink = [{picture.pixelColor(x, 10).name() for x in range(start, start + half)} for start in (0, half)]
    assert all(len(colours) > 2 for colours in ink)


def test_focus_frame_covers_no_text(qtbot, loaded_page: DuplicatesPage) -> None:
    viewport = loaded_page.comparison.view.viewport()
    with qtbot.waitActive(loaded_page):
        loaded_page.activateWindow()
    inside = viewport.rect().adjusted(1, 1, -1, -1)
    before = viewport.grab(inside).toImage()
    loaded_page.comparison.view.setFocus()
    assert viewport.grab(inside).toImage() == before
    assert viewport.grab().toImage() != before


def test_either_note_can_be_opened(qtbot, loaded_page: DuplicatesPage) -> None:
    opened = [b for b in loaded_page.findChildren(QPushButton) if b.text() == "Open"]
    for button, path in zip(opened, (LEFT, RIGHT), strict=True):
        with qtbot.waitSignal(loaded_page.open_requested) as signal:
            button.click()
        assert signal.args == [path, 1]


def test_copy_paths_copies_both_notes(qtbot, loaded_page: DuplicatesPage) -> None:
    press(loaded_page, "Copy paths")
    assert QGuiApplication.clipboard().text() == f"{LEFT}\n{RIGHT}\n"


def test_group_is_hidden_and_undo_restores_it(qtbot, loaded_page: DuplicatesPage, insight: FakeInsight) -> None:
    before = listed(loaded_page)
    press(loaded_page, "Not a duplicate")
    qtbot.waitUntil(lambda: listed(loaded_page) == before[1:])
    assert insight.hidden == {before[0]}
    assert "1 hidden" in words(loaded_page)
    press(loaded_page, "Undo")
    qtbot.waitUntil(lambda: listed(loaded_page) == before)
    assert insight.hidden == set()


def test_hidden_groups_can_be_restored(qtbot, page: DuplicatesPage, memory, insight: FakeInsight) -> None:
    insight.hidden = {group.key for group in insight.groups}
    page.set_manager(memory)
    qtbot.waitUntil(lambda: not page.busy)
    assert comparison.NOTHING in words(page)
    press(page, "Show hidden")
    qtbot.waitUntil(lambda: not page.busy)
    assert len(listed(page)) == 2
    press(page, "List this group again")
    qtbot.waitUntil(lambda: len(insight.hidden) == 1)


def test_failed_hide_is_reported(qtbot, loaded_page: DuplicatesPage, insight: FakeInsight) -> None:
    insight.problem = MnemoscopeError("The folder of the index cannot be written.")
    press(loaded_page, "Not a duplicate")
    qtbot.waitUntil(lambda: "cannot be written" in words(loaded_page))
    assert len(listed(loaded_page)) == 2


def test_search_shows_progress_and_can_be_stopped(qtbot, page, memory, insight: FakeInsight) -> None:
    ended = threading.Event()

    def wait(token: CancelToken) -> None:
        token.on_cancel(ended.set)
        assert ended.wait(60)
        token.checkpoint()

    insight.during = wait
    page.set_manager(memory)
    qtbot.waitUntil(lambda: "50% compared" in words(page))
    press(page, "Stop")
    assert "Stopped" in words(page)
    assert ended.wait(60)
    insight.during = lambda _token: None
    press(page, "Compare again")
    qtbot.waitUntil(lambda: "recurring" not in listed(page))


def test_leaving_page_stops_search_until_return(qtbot, page, memory, insight: FakeInsight) -> None:
    ended = threading.Event()

    def wait(token: CancelToken) -> None:
        token.on_cancel(ended.set)
        assert ended.wait(60)
        token.checkpoint()

    insight.during = wait
    page.set_manager(memory)
    qtbot.waitUntil(lambda: "50% compared" in words(page))
    page.hide()
    assert ended.wait(60)
    insight.during = lambda _token: None
    page.show()
    qtbot.waitUntil(lambda: not page.busy)
    assert len(insight.requests) == 2


def test_failure_is_shown_and_can_be_retried(qtbot, page, memory, insight: FakeInsight) -> None:
    insight.problem = MnemoscopeError("The index cannot be read.")
    page.set_manager(memory)
    qtbot.waitUntil(lambda: "The index cannot be read." in words(page))
    insight.problem = None
    press(page, "Try again")
    qtbot.waitUntil(lambda: "recurring" not in listed(page))


def test_quick_search_repeats_on_index_change(qtbot, loaded_page: DuplicatesPage, insight) -> None:
    insight.groups = insight.groups[:1]
    loaded_page.refresh()
    qtbot.waitUntil(lambda: len(listed(loaded_page)) == 1)


@pytest.mark.parametrize("chosen", [False, True])
def test_first_group_is_current_until_one_is_chosen(qtbot, loaded_page: DuplicatesPage, insight, chosen: bool) -> None:
    if chosen:
        QTest.keyClick(loaded_page.groups, Qt.Key.Key_Down)
        QTest.keyClick(loaded_page.groups, Qt.Key.Key_Up)
    before = loaded_page.groups.current
    insight.groups = (make_group(LEFT, "new.md"), *insight.groups)
    loaded_page.refresh()
    qtbot.waitUntil(lambda: len(listed(loaded_page)) == 3)
    assert loaded_page.groups.current == (before if chosen else insight.groups[0])


def test_slow_search_repeats_only_on_request(qtbot, page, memory, insight: FakeInsight) -> None:
    insight.seconds = 9.0
    page.set_manager(memory)
    qtbot.waitUntil(lambda: not page.busy)
    count = len(insight.requests)
    page.refresh()
    assert "The index has changed since these groups were found." in words(page)
    assert len(insight.requests) == count
    press(page, "Compare again")
    qtbot.waitUntil(lambda: len(insight.requests) > count and not page.busy)


def test_deleted_note_is_reported(qtbot, page, memory: FakeMemory, insight: FakeInsight) -> None:
    memory.open_error = FileNotFoundError(LEFT)
    page.set_manager(memory)
    qtbot.waitUntil(lambda: f"{LEFT} no longer exists." in words(page))


def test_narrow_window_shows_list_or_comparison(qtbot, loaded_page: DuplicatesPage) -> None:
    loaded_page.resize(500, 300)
    assert loaded_page.comparison.isHidden()
    QTest.keyClick(loaded_page.groups, Qt.Key.Key_Return)
    assert loaded_page.comparison.isVisible()
    assert not loaded_page.groups.isVisible()
    QTest.keyClick(loaded_page.comparison.view, Qt.Key.Key_Escape)
    assert loaded_page.groups.isVisible()
    loaded_page.resize(1100, 600)
    assert loaded_page.comparison.isVisible()


@pytest.mark.parametrize("key", [Qt.Key.Key_Escape, Qt.Key.Key_Up])
def test_escape_or_up_leaves_list_from_first_group(qtbot, loaded_page: DuplicatesPage, key) -> None:
    loaded_page.groups.take_focus()
    with qtbot.waitSignal(loaded_page.left):
        QTest.keyClick(loaded_page.groups, key)


def test_manager_change_clears_page(qtbot, loaded_page: DuplicatesPage) -> None:
    loaded_page.set_manager(None)
    assert listed(loaded_page) == []
    assert loaded_page.comparison.view.rows == []


def test_group_title_names_and_lines_are_worded() -> None:
    group = make_group("a/x.md", "b/x.md", "c.md", "d.md", similarity=0.999, files=40)
    assert duplicate_title(group) == "Nearly the same · 99%"
    assert comparison.names_text(group) == "a/x.md, b/x.md, c.md and 37 more"
    left, right = group.members[:2]
    short = msgspec.structs.replace(left, path="a/x.md", start_line=3, end_line=1040)
    assert comparison.member_text(short) == "a/x.md · 3\N{EN DASH}1040"
    assert comparison.member_text(msgspec.structs.replace(short, end_line=3)) == "a/x.md · 3"
    assert comparison.between_text(left, left) == "Same age and length"
    assert comparison.between_text(right, left) == "The note on the right is newer by 24 h"
    longer = msgspec.structs.replace(left, size=3_000)
    assert comparison.between_text(left, longer) == "The note on the right is longer by 2.4 KB"
    assert comparison.between_text(longer, right) == "The note on the left is newer by 24 h and longer by 2.4 KB"
    older = msgspec.structs.replace(right, size=3_000)
    assert (
        comparison.between_text(left, older)
        == "The note on the left is newer by 24 h; the one on the right is longer by 2.4 KB"
    )
    assert comparison.summary_text(1000, 1200, 10_000, 3) == (
        "1,200 groups among 10,000 notes · the first 1,000 groups are listed · 3 hidden"
    )


def test_attention_row_counts_duplicates(qtbot, page: DuplicatesPage, memory: FakeMemory, insight: FakeInsight) -> None:
    received = []
    page.attention_changed.connect(received.append)
    page.set_manager(memory)
    qtbot.waitUntil(lambda: not page.busy)
    (row,) = received[-1]
    assert (row.title, row.detail) == ("2 near-duplicates", "1 nearly the same, 1 shared passage")
    assert row.action == ("Compare", "duplicates")
    insight.hidden = {group.key for group in insight.groups}
    page.compare()
    qtbot.waitUntil(lambda: received[-1] == ())


def _wait_for_no_pause(page: DuplicatesPage) -> None:
    for timer in page.findChildren(QTimer):
        timer.setInterval(0)


def test_visible_overview_triggers_search(qtbot, appearance, jobs, memory, insight) -> None:
    page = DuplicatesPage(jobs)
    qtbot.addWidget(page)
    page.set_manager(memory)
    _wait_for_no_pause(page)
    received = []
    page.attention_changed.connect(received.append)
    page.show_overview(True)
    qtbot.waitUntil(lambda: bool(received))
    assert len(received[-1]) == 1
    count = len(insight.requests)
    page.show_overview(False)
    page.refresh()
    assert len(insight.requests) == count


def test_overview_opens_duplicates(qtbot, appearance, jobs: Jobs, memory: FakeMemory, insight: FakeInsight) -> None:
    panel = IndexPanel(jobs)
    qtbot.addWidget(panel)
    _wait_for_no_pause(panel.duplicates)
    panel.resize(1200, 760)
    panel.set_manager(memory)
    with qtbot.waitExposed(panel):
        panel.show()
    compare = "Compare: 2 near-duplicates"
    qtbot.waitUntil(lambda: any(b.accessibleName() == compare for b in panel.findChildren(QPushButton)))
    next(b for b in panel.findChildren(QPushButton) if b.accessibleName() == compare).click()
    assert panel.page == "duplicates"
    qtbot.waitUntil(lambda: not panel.busy)
    assert len(listed(panel.duplicates)) == 2
    panel.hide()
    panel.set_manager(None)
