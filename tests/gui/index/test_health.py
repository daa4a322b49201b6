import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QLabel, QScrollArea

from engine import Cancelled, CancelToken, IndexBusy
from gui.core.jobs import Jobs
from gui.index.health_findings import FindingRow
from gui.index.health_page import HealthPage
from tests.helpers.fake_health import FINE, KEYWORDS, NOTES, USER, FakeHealth
from tests.helpers.fake_records import make_status
from tests.helpers.sync_worker import open_with_fake

Show = Callable[..., HealthPage]


@pytest.fixture
def show(qtbot, jobs: Jobs, appearance) -> Iterator[Show]:
    """Return a function that shows the page with these findings, and by default waits until it is idle."""
    pages: list[HealthPage] = []

    def show_(health: FakeHealth, *, wait: bool = True) -> HealthPage:
        page = HealthPage(jobs)
        for timer in page.findChildren(QTimer):
            timer.setInterval(1)  # pauses
        pages.append(page)
        qtbot.addWidget(page)
        page.resize(1000, 700)
        page.set_manager(health.manager)
        with qtbot.waitActive(page):
            page.show()
            page.activateWindow()
        if wait:
            qtbot.waitUntil(lambda: not page.busy)
        return page

    yield show_
    for page in pages:
        page.set_manager(None)


def rows(page: HealthPage) -> list[FindingRow]:
    """Return the rows from top to bottom, in the order of their layout: Qt updates positions only later."""
    column = page.findings_list.layout().itemAt(0).layout()
    return [column.itemAt(index).widget() for index in range(column.count())]


def names(page: HealthPage) -> list[str]:
    return [row.accessibleName().partition(":")[0] for row in rows(page)]


def test_findings_needing_attention_come_first_with_summary(show: Show) -> None:
    page = show(FakeHealth(FINE, KEYWORDS, USER))
    assert names(page) == ["Keyword index", "Facts and saved searches", "Database file"]
    assert page.summary_bar.summary.text() == "2 of 3 checks need attention."
    assert page.summary_bar.message_label.text().startswith("The index was checked at ")
    keywords, user, database = rows(page)
    assert keywords.accessibleName().startswith("Keyword index: Needs attention. 3 passages can't be found by words.")
    assert user.accessibleName() == "Facts and saved searches: Broken. Damaged. Move it away."
    assert (keywords.button.isVisible(), user.button.isVisible(), database.button.isVisible()) == (True, False, False)
    assert keywords.button.accessibleName() == "Repair the keyword index: Keyword index"
    assert page.summary_bar.all.isEnabled()


def test_deep_check_updates_overview_attention(qtbot, show: Show) -> None:
    health = FakeHealth(FINE, KEYWORDS, NOTES)
    page = show(health)
    with qtbot.waitSignal(page.attention_changed) as emitted:
        page.summary_bar.again.click()
    [[row]] = emitted.args
    assert (row.key, row.title, row.detail) == ("health", "1 health check needs attention", "Keyword index")
    assert row.action == ("Show", "health")
    qtbot.waitUntil(lambda: not page.busy)
    health.findings = (FINE, NOTES)
    with qtbot.waitSignal(page.attention_changed) as emitted:
        page.summary_bar.again.click()
    assert emitted.args == [()]
    qtbot.waitUntil(lambda: not page.busy)


def test_quick_check_updates_overview_attention(qtbot, jobs: Jobs) -> None:
    health = FakeHealth(FINE, KEYWORDS, NOTES)
    page = HealthPage(jobs)
    qtbot.addWidget(page)
    page.set_manager(health.manager)
    page.refresh()
    assert health.quick_checks == 0
    with qtbot.waitSignal(page.attention_changed) as emitted:
        page.show_overview(True)
    assert [row.detail for row in emitted.args[0]] == ["Keyword index"]
    health.findings = (FINE,)
    with qtbot.waitSignal(page.attention_changed) as emitted:
        page.refresh()
    assert emitted.args == [()]
    assert (health.quick_checks, health.checks) == (2, [])
    page.show_overview(False)
    page.refresh()
    assert health.quick_checks == 2
    page.set_manager(None)


def test_index_without_problems_shows_all_fine(show: Show) -> None:
    page = show(FakeHealth(FINE, msgspec.structs.replace(FINE, id="chunks", name="Passages")))
    assert page.summary_bar.summary.text() == "All 2 checks passed."
    assert page.findings_list.fold.text() == "Show passed checks"
    assert not any(row.isVisible() for row in rows(page))
    page.findings_list.fold.click()
    assert all(row.isVisible() for row in rows(page))
    assert page.findings_list.fold.accessibleName() == "Hide passed checks"
    assert page.summary_bar.dot.state == "fine"
    assert not page.summary_bar.all.isVisible()
    assert page.summary_bar.again.isEnabled()


def test_hidden_page_checks_nothing(qtbot, jobs: Jobs) -> None:
    health = FakeHealth(FINE)
    page = HealthPage(jobs)
    qtbot.addWidget(page)
    page.set_manager(health.manager)
    page.refresh()
    assert health.checks == []
    page.show()
    qtbot.waitUntil(lambda: not page.busy)
    assert health.checks == [False]
    page.hide()
    page.refresh()
    assert health.checks == [False]
    page.show()
    qtbot.waitUntil(lambda: health.checks == [False, False] and not page.busy)
    page.set_manager(None)


def test_findings_appear_as_they_arrive(qtbot, show: Show) -> None:
    health = FakeHealth(FINE, KEYWORDS)
    go_on = threading.Event()
    health.during = lambda _: _until(go_on)
    page = show(health, wait=False)
    qtbot.waitUntil(lambda: len(rows(page)) == 2)
    assert page.busy
    assert page.summary_bar.summary.text() == "Checking…"
    assert page.summary_bar.stop.isVisible()
    assert not page.summary_bar.again.isVisible()
    go_on.set()
    qtbot.waitUntil(lambda: not page.busy)
    assert page.summary_bar.again.isVisible()


def _until(event: threading.Event) -> None:
    assert event.wait(60)


def test_repair_of_one_finding_rechecks_all(qtbot, show: Show) -> None:
    health = FakeHealth(FINE, KEYWORDS, NOTES)
    page = show(health)
    qtbot.mouseClick(rows(page)[0].button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: health.checks == [False, False] and not page.busy)
    assert health.repaired == [["keywords"]]
    assert page.summary_bar.message_label.text() == "Three rows were made again."
    assert names(page) == ["Notes", "Database file", "Keyword index"]


def test_repair_all_works_by_key(qtbot, show: Show) -> None:
    health = FakeHealth(FINE, KEYWORDS, NOTES)
    page = show(health)
    page.summary_bar.all.setFocus()
    qtbot.keyClick(page.summary_bar.all, Qt.Key.Key_Space)
    assert QApplication.focusWidget() is page.summary_bar.stop
    qtbot.waitUntil(lambda: len(health.checks) == 2 and not page.busy)
    assert health.repaired == [None]
    assert page.summary_bar.summary.text() == "All 3 checks passed."
    assert QApplication.focusWidget() is page.summary_bar.again


def test_read_only_index_refuses_repairs_with_reason(show: Show) -> None:
    page = show(FakeHealth(FINE, KEYWORDS))
    row = next(row for row in rows(page) if row.button.isVisible())
    page.show_status(make_status(custom={"readOnly": "No rights to write."}))
    assert not row.button.isEnabled()
    assert not page.summary_bar.all.isEnabled()
    assert "No rights to write." in row.button.toolTip()
    assert "No rights to write." in page.summary_bar.all.toolTip()
    page.show_status(make_status())
    assert row.button.isEnabled()
    assert page.summary_bar.all.isEnabled()


def test_repair_failure_is_shown(qtbot, show: Show) -> None:
    health = FakeHealth(KEYWORDS)
    health.problem = IndexBusy("Another program is writing the index.")
    page = show(health)
    page.repair(["keywords"])
    qtbot.waitUntil(lambda: len(health.checks) == 2 and not page.busy)
    assert page.summary_bar.message_label.text() == "Another program is writing the index."
    assert names(page) == ["Keyword index"]


def test_repair_can_be_stopped(qtbot, show: Show) -> None:
    health = FakeHealth(KEYWORDS)
    stopped = threading.Event()

    def wait(token: CancelToken) -> None:
        while not token.cancelled:
            stopped.wait(0.01)
        stopped.set()
        raise Cancelled

    page = show(health)
    health.during = wait
    page.repair(["keywords"])
    qtbot.waitUntil(lambda: page.summary_bar.message_label.text() == "Writing the keyword index: 1 of 3")
    assert page.summary_bar.summary.text() == "Repairing…"
    assert not rows(page)[0].button.isEnabled()
    health.during = lambda _: None
    qtbot.mouseClick(page.summary_bar.stop, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(stopped.is_set)
    qtbot.waitUntil(lambda: not page.busy)
    assert page.summary_bar.message_label.text() == "The repair was stopped. Repairs made so far remain."
    assert rows(page)[0].button.isEnabled()


def test_check_can_be_stopped(qtbot, show: Show) -> None:
    health = FakeHealth(KEYWORDS)
    health.during = _cancelled
    page = show(health, wait=False)
    qtbot.waitUntil(lambda: len(rows(page)) == 1)
    qtbot.mouseClick(page.summary_bar.stop, Qt.MouseButton.LeftButton)
    assert not page.busy
    assert page.summary_bar.message_label.text() == "The health check was stopped before all checks had run."


def _cancelled(token: CancelToken) -> None:
    event = threading.Event()
    while not token.cancelled:
        event.wait(0.01)
    raise Cancelled


def test_repeated_changes_recheck_once(qtbot, show: Show) -> None:
    health = FakeHealth(FINE, KEYWORDS)
    page = show(health)
    health.findings = (FINE,)
    for _ in range(5):
        page.refresh()
    qtbot.waitUntil(lambda: not page.busy)
    assert health.checks == [False, False]
    assert names(page) == ["Database file"]  # findings that are not found again are removed


def test_deep_check_runs_only_on_request(qtbot, show: Show) -> None:
    health = FakeHealth(FINE)
    page = show(health)
    qtbot.mouseClick(page.summary_bar.deeper, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: health.checks == [False, True] and not page.busy)
    page.refresh()
    qtbot.waitUntil(lambda: not page.busy)
    assert health.checks == [False, True, False]  # nothing is sent unasked


def test_manager_change_clears_findings(qtbot, show: Show) -> None:
    page = show(FakeHealth(KEYWORDS))
    page.set_manager(None)
    assert rows(page) == []
    assert page.summary_bar.summary.text() == "No checks have run yet."
    assert not page.summary_bar.again.isEnabled()


@pytest.mark.parametrize("width", [280, 560, 1200])
def test_no_row_is_cut_at_any_width(qtbot, show: Show, width: int) -> None:
    page = show(FakeHealth(KEYWORDS, NOTES, USER))
    page.resize(width, 400)
    qtbot.wait(1)
    for row in rows(page):
        assert row.height() >= row.heightForWidth(row.width()) > 0


def test_real_index_is_repaired(qtbot, jobs: Jobs, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(5):
        (notes / f"{number}.md").write_text(f"Pump{number} leaks.\n")
    memory = open_with_fake(notes, tmp_path / "data")
    memory.sync()
    with memory.store.write() as writer:
        writer.connection.execute("DELETE FROM chunks_fts_1 WHERE rowid IN (2, 3)")
    page = HealthPage(jobs)
    qtbot.addWidget(page)
    page.set_manager(memory)
    page.show()
    qtbot.waitUntil(lambda: not page.busy)
    assert [finding.id for finding in page.findings if finding.state != "fine"] == ["keywords"]
    page.repair(None)
    qtbot.waitUntil(lambda: not page.busy)
    assert [finding.id for finding in page.findings if finding.state != "fine"] == []
    assert page.summary_bar.message_label.text() == "Keyword index: 2 rows rebuilt, 0 removed."
    page.set_manager(None)
    memory.close()


def test_long_name_moves_no_column(show: Show) -> None:
    long_name = msgspec.structs.replace(KEYWORDS, id="long", name="exports/" + "a-long-file-name-" * 6 + ".md")
    page = show(FakeHealth(KEYWORDS, long_name))
    page.resize(1400, 700)
    short, long = rows(page)
    left, also_left = (
        next(label for label in row.findChildren(QLabel) if label.text().startswith("3 passages")).x()
        for row in (short, long)
    )
    assert long.height() > short.height()  # its name is wrapped
    assert left == also_left


def test_row_stays_wide_when_scroll_bar_takes_room(show: Show) -> None:
    page = show(FakeHealth(KEYWORDS, USER))
    grid = rows(page)[0].layout()

    def is_wide(width: int) -> bool:
        page.resize(width, 700)
        return bool(grid.columnMinimumWidth(2))  # the column of the state

    bar = page.findChild(QScrollArea).verticalScrollBar().sizeHint().width()
    least = next(width for width in range(600, 1200) if is_wide(width))
    assert bar > 0
    assert is_wide(least - bar)
    assert not is_wide(least - 2 * bar)
    assert not is_wide(least - bar)
