"""The overview of the index: loaded when shown, updated live, and completely usable by keyboard."""

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QScrollArea, QVBoxLayout

from engine import FileIssue, IndexCorrupt
from gui.index.attention_items import Attention
from gui.index.folder_tree import FolderModel
from gui.index.overview import OverviewPage
from gui.widgets.table import IssuesTable
from tests.helpers.fake_insight import FakeInsight
from tests.helpers.fake_map import FakeInsight as FakeMap
from tests.helpers.fake_overview import make_folder, make_overview, make_sync
from tests.helpers.fake_records import make_progress, make_status

Key = Qt.Key


@pytest.fixture
def insight(memory) -> FakeInsight:
    memory.insight = FakeInsight(memory)
    return memory.insight


@pytest.fixture
def page(qtbot, appearance, jobs, memory, insight) -> OverviewPage:
    page = OverviewPage(jobs)
    assert page.complete()
    assert not page.complete()
    qtbot.addWidget(page)
    page.resize(1200, 760)
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    page.set_manager(memory)
    page.show_status(make_status(files=10, chunks=25))
    qtbot.waitUntil(lambda: not page.busy)
    yield page
    page.set_manager(None)


def texts(page) -> list[str]:
    return [label.text() for label in page.findChildren(QLabel) if label.isVisible()]


def row_names(page) -> list[str]:
    [listed] = (item for item in page.attention.layout().children() if isinstance(item, QVBoxLayout))
    return [listed.itemAt(n).widget().accessibleName() for n in range(listed.count())]


def press(page, words: str) -> None:
    next(b for b in page.findChildren(QPushButton) if not b.isHidden() and b.text() == words).click()


def test_overview_shows_counts(page):
    assert {"10", "files", "25", "passages", "median 1,214 characters"} <= set(texts(page))
    assert page.sizes.chart.accessibleDescription().startswith("33 passages. The median is 1,214 characters")
    assert page.disk.chart.series.marks[0].caption.startswith("Text: 38 MB")
    assert len(page.syncs.chart.series.marks) == 2
    assert row_names(page) == ["Nothing needs your attention."]


def test_hidden_overview_reads_nothing(qtbot, page, insight):
    page.hide()
    looks = len(insight.requests)
    page.refresh()
    page.refresh()
    insight.found = make_overview(folders=(make_folder("", files=77),))
    assert len(insight.requests) == looks
    page.show()
    qtbot.waitUntil(lambda: cells(page.folders, 0)[1] == "77")
    assert len(insight.requests) == looks + 1


def test_figure_of_one_has_a_singular_name(page):
    page.show_status(make_status(files=1, chunks=1))
    assert {"file", "passage"} <= set(texts(page))
    assert not {"files", "passages"} & set(texts(page))


def test_refresh_rereads_and_status_updates_figures(qtbot, page, insight):
    page.show_status(make_status(files=11, chunks=30, syncing=make_progress()))
    assert "30" in texts(page)
    insight.found = make_overview(syncs=(make_sync(),))
    page.refresh()
    qtbot.waitUntil(lambda: len(page.syncs.chart.series.marks) == 1)


def test_failed_count_shows_reason_and_can_be_retried(qtbot, page, insight):
    insight.problem = IndexCorrupt("The index is damaged.")
    page.refresh()
    qtbot.waitUntil(lambda: "statistics can't be read" in row_names(page)[0])
    assert "The index is damaged." in row_names(page)[0]
    insight.problem = None
    press(page, "Try again")
    qtbot.waitUntil(lambda: row_names(page) == ["Nothing needs your attention."])


def test_empty_index_replaces_charts_with_message(qtbot, page):
    page.show_status(make_status(files=0, chunks=0))
    assert not page.sizes.isVisible()
    assert "nothing indexed yet" in texts(page)
    assert row_names(page) == ["Nothing is indexed yet (off). No update has run yet."]
    qtbot.waitUntil(lambda: page.attention.width() > 1000)
    with qtbot.waitSignal(page.action_requested) as signal:
        press(page, "Update now")
    assert signal.args == ["sync"]
    page.show_status(make_status(files=0, chunks=0, syncing=make_progress()))
    assert "as it runs" in row_names(page)[0]
    page.show_status(make_status(files=1, chunks=1))
    qtbot.waitUntil(lambda: page.sizes.x() > page.folders.x())


def test_cleared_manager_empties_page(qtbot, page, insight):
    page.set_manager(None)
    assert not page.sizes.isVisible()
    assert "–" in texts(page)
    assert not page.busy


def test_backend_without_insight_leaves_page_idle(page, memory):
    memory.insight = None
    page.set_manager(memory)
    assert not page.busy


def test_attention_buttons_emit_their_action(qtbot, page):
    issue = FileIssue(path="scan.md", rule="not-utf8", detail="Byte 3.")
    page.show_status(make_status(failed_files=(issue,), skipped_files=(issue,)))
    for words, action in (("Try again", "sync"), ("Show", "skipped")):
        with qtbot.waitSignal(page.action_requested) as signal:
            press(page, words)
        assert signal.args == [action]
    assert row_names(page)[0] == "scan.md (degraded). Byte 3."


def test_attention_card_grows_with_rows_at_any_width(qtbot, page):
    issues = tuple(FileIssue(path=f"{n}.md", rule="not-utf8", detail="Byte 3. " * 12) for n in range(4))
    card = page.attention
    for width in (560, 1200):
        page.resize(width, 700)
        page.show_status(make_status())
        page.show_status(make_status(failed_files=issues))
        qtbot.waitUntil(lambda: card.height() >= card.layout().heightForWidth(card.width()) > 200)


def test_rows_of_other_pages_follow_index_rows(page):
    rows = (Attention("", "off", "7 near-duplicates", "daily logs", ("Compare", "duplicates")),)
    page.attention.show_rows("duplicates", rows)
    page.show_status(make_status(skipped_files=(FileIssue(path="x", rule="link", detail=""),)))
    assert [name.partition(" (")[0] for name in row_names(page)] == ["1 file or folder skipped", "7 near-duplicates"]
    page.attention.show_rows("duplicates", ())
    assert len(row_names(page)) == 1


def test_remaining_row_keeps_focus(qtbot, page):
    bad = [FileIssue(path=f"{n}.md", rule="not-utf8", detail="Byte 3.") for n in range(2)]
    page.show_status(make_status(failed_files=tuple(bad)))
    button = [b for b in page.findChildren(QPushButton) if b.text() == "Try again"][1]
    button.setFocus()
    page.show_status(make_status(failed_files=(bad[1],)))
    assert button.hasFocus()
    assert row_names(page) == ["1.md (degraded). Byte 3."]


# --- folders ----------------------------------------------------------------------------------------------------------


def cells(card, *rows: int) -> list[str]:
    """Return the texts of the row that is reached by these row numbers, from the top."""
    index = QModelIndex()
    for row in rows:
        index = card.model.index(row, 0, index)
    return [index.siblingAtColumn(column).data() for column in range(card.model.columnCount())]


def test_folder_expansion_survives_update(page):
    card, tree, model = page.folders, page.folders.tree, page.folders.model
    source = model.index(0, 0)
    daily = model.index(0, 0, source)
    assert cells(card, 0) == ["Notes", "10", "25", "", "", ""]
    assert (cells(card, 0, 0)[0], cells(card, 0, 0, 0)[0]) == ("daily", "2026")
    assert (tree.isExpanded(source), tree.isExpanded(daily)) == (True, False)
    tree.expand(daily)
    tree.setCurrentIndex(daily)
    card.show_folders((make_folder(""), make_folder("a"), make_folder("daily"), make_folder("daily/2026", chunks=3)))
    daily = model.index(1, 0, model.index(0, 0))
    assert (tree.isExpanded(daily), tree.isExpanded(daily.siblingAtRow(0))) == (True, False)
    assert tree.currentIndex() == daily
    assert cells(card, 0, 1, 0)[2] == "3"
    tree.collapse(model.index(0, 0))
    card.show_folders((make_folder(""), make_folder("b"), make_folder("", source="sessions")))
    assert not tree.isExpanded(model.index(0, 0)), "a closed source stays closed"
    assert tree.isExpanded(model.index(1, 0)), "a new source is open"


def test_focused_folder_tree_selects_its_current_row(qtbot, page):
    tree = page.folders.tree
    with qtbot.waitActive(page):
        page.activateWindow()
    tree.setFocus(Qt.FocusReason.TabFocusReason)
    assert tree.selectionModel().isSelected(tree.currentIndex())


def test_folder_names_have_minimum_width(qtbot, page, appearance):
    card, tree = page.folders, page.folders.tree
    card.show_folders((make_folder(""), make_folder("recipes/cakes", pending=0)))

    def hidden() -> list[bool]:
        return [tree.isColumnHidden(column) for column in range(3, 6)]

    def room() -> int:
        return tree.columnWidth(0) // tree.fontMetrics().averageCharWidth()

    page.resize(1400, 760)
    qtbot.waitUntil(lambda: not any(hidden()) and room() >= 17)
    page.resize(500, 760)
    qtbot.waitUntil(lambda: all(hidden()) and room() >= 17)
    card.show_folders((make_folder("", failed=3), make_folder("recipes/cakes", failed=3)))
    assert hidden() == [True, False, True], "folders with failures are shown at any width"
    page.resize(320, 760)
    appearance.set_font_scale(2.0)
    card.show_folders((make_folder("", pending=1, failed=3, skipped=2), make_folder("recipes/cakes")))
    qtbot.waitUntil(lambda: room() >= 17 and tree.horizontalScrollBar().maximum() > 0)


def test_folder_figures_change_in_place(page):
    card = page.folders
    daily = card.model.index(0, 0, card.model.index(0, 0))
    card.tree.setCurrentIndex(daily)
    card.show_folders((make_folder("", failed=3), make_folder("daily", files=6, skipped=4), make_folder("daily/2026")))
    assert card.tree.currentIndex() == daily
    assert (cells(card, 0)[4], cells(card, 0, 0)[5]) == ("3", "4")


def test_folder_model_passes_qt_model_tester(qtmodeltester):
    model = FolderModel()
    model.show_folders(make_overview().folders)
    qtmodeltester.check(model)


def test_copy_includes_all_folders(qtbot, page):
    page.folders.tree.setFocus()
    qtbot.keyClick(page.folders.tree, Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = QGuiApplication.clipboard().text().split("\n")
    assert lines[0].split("\t") == ["Kind of source", "Folder", "Files", "Passages", "Pending", "Failed", "Skipped"]
    assert lines[-1].split("\t") == ["Notes", "daily/2026", "2", "25", "0", "0", "0"]


# --- syncs ------------------------------------------------------------------------------------------------------------


def test_enter_on_sync_lists_failures(qtbot, page, insight):
    issue = FileIssue(path="scan.md", rule="not-utf8", detail="Byte 3.")
    bad = make_sync(error="The disk is full.", files_failed=12, failed=(issue,))
    insight.found = make_overview(syncs=(make_sync(started=1.0), bad))
    page.refresh()
    qtbot.waitUntil(lambda: page.syncs.chart.series.marks[-1].failed)
    page.syncs.chart.setFocus()
    qtbot.keyClick(page.syncs.chart, Key.Key_End)
    qtbot.keyClick(page.syncs.chart, Key.Key_Return)
    dialog = page.window().findChild(QDialog)
    labels = [label.text() for label in dialog.findChildren(QLabel)]
    assert "The disk is full." in labels
    assert "12 files failed. The first 1 are listed." in labels
    assert dialog.findChild(IssuesTable).model().rowCount() == 1
    qtbot.keyClick(dialog, Key.Key_Escape)
    qtbot.waitUntil(lambda: page.window().findChild(QDialog) is None)


def test_throughput_is_drawn_while_sync_runs(page, monkeypatch):
    for second in range(3):
        monkeypatch.setattr("gui.index.overview.time.time", lambda second=second: 1000.0 + second)
        page.show_status(make_status(files=5, syncing=make_progress(phase="embedding", completed=second * 40)))
    assert page.speed.chart.isVisible()
    assert "40 passages/s" in texts(page)


# --- places -----------------------------------------------------------------------------------------------------------


def test_narrow_window_has_one_column_with_attention_first(qtbot, page):
    assert page.sizes.x() > page.folders.x()
    page.resize(560, 360)
    qtbot.waitUntil(lambda: page.sizes.x() == page.folders.x())
    assert page.attention.y() < page.folders.y()
    columns = page.findChild(QScrollArea)
    content = columns.widget()
    qtbot.waitUntil(lambda: content.width() <= columns.viewport().width())
    page.resize(1200, 760)
    qtbot.waitUntil(lambda: page.sizes.x() > page.folders.x())


def test_every_part_is_reached_by_tab(qtbot, page):
    page.take_focus()
    reached = set()
    for _ in range(40):
        focus = page.window().focusWidget()
        reached |= {name for name in ("folders", "syncs", "sizes", "disk", "times") if _inside(page, name, focus)}
        qtbot.keyClick(focus, Key.Key_Tab)
    assert reached == {"folders", "syncs", "sizes", "disk", "times"}


def test_focus_skips_map_controls(qtbot, page, memory, monkeypatch):
    monkeypatch.setattr(memory, "insight", FakeMap())
    page.map.set_manager(memory)
    qtbot.waitUntil(lambda: page.map.prepared is not None and not page.map.busy)
    page.take_focus()
    assert page.map.canvas.hasFocus()
    page.map.set_manager(None)


def _inside(page, name: str, focus) -> bool:
    return focus is not None and getattr(page, name).isAncestorOf(focus)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_overview_paints_at_double_font_size(qtbot, page, appearance, theme):
    appearance.set_theme(theme)
    appearance.set_font_scale(2.0)
    page.resize(560, 360)
    assert not page.grab().isNull()
