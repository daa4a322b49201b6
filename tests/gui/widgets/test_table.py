import pytest
from PySide6.QtCore import Qt

from engine import FileIssue
from gui.widgets.table import IssuesTable


def _issue(path: str, rule: str = "symlink") -> FileIssue:
    return FileIssue(path=path, rule=rule, detail=f"{path} is left out.")


ISSUES = (_issue("b.md", "too-large"), _issue("a.md", "symlink"), _issue("C.md", "exclude"))


def _column(table: IssuesTable, column: int) -> list[str]:
    model = table.model()
    return [model.index(row, column).data() for row in range(model.rowCount())]


def test_issues_model_passes_qt_model_tester(qtbot, qtmodeltester):
    table = IssuesTable()
    qtbot.addWidget(table)
    qtmodeltester.check(table.model())
    table.show_records(ISSUES)
    qtmodeltester.check(table.model())
    qtmodeltester.check(table.model().sourceModel())
    table.show_records(())
    assert table.model().rowCount() == 0


def test_rows_sort_by_any_column(qtbot):
    table = IssuesTable()
    qtbot.addWidget(table)
    table.show_records(ISSUES)
    assert _column(table, 0) == ["a.md", "b.md", "C.md"]
    table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    assert _column(table, 1) == ["too large", "symbolic link", "excluded in the settings"]


def test_name_in_a_table_cannot_look_like_another_one(qtbot):
    table = IssuesTable()
    qtbot.addWidget(table)
    table.show_records((_issue("report\u202efdp.md"),))
    assert _column(table, 0) == ["report\ufffdfdp.md"]
    assert table.model().index(0, 0).data(Qt.ItemDataRole.ToolTipRole).startswith("report\ufffdfdp.md")


def test_chosen_row_is_reported_and_revealed(qtbot):
    table = IssuesTable()
    qtbot.addWidget(table)
    revealed: list[str] = []
    table.reveal_requested.connect(revealed.append)
    table.show_records(ISSUES)
    assert table.detail.text().replace("\u200b", "") == "a.md: a.md is left out."
    qtbot.keyClick(table, Qt.Key.Key_Down)
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert revealed == ["b.md"]
    table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    table.doubleClicked.emit(table.model().index(0, 0))
    assert revealed == ["b.md", "C.md"]


def test_same_records_keep_selection(qtbot):
    table = IssuesTable()
    qtbot.addWidget(table)
    table.show_records(ISSUES)
    table.selectRow(2)
    table.show_records(tuple(ISSUES))
    assert table.currentIndex().row() == 2


@pytest.mark.parametrize("width", [200, 300, 450, 700, 1200])
def test_issues_never_scroll_sideways(qtbot, appearance, width):
    table = IssuesTable()
    qtbot.addWidget(table)
    table.resize(width, 200)
    table.show()
    table.show_records((_issue("a/long/folder/with/a/file.md", "unreadable"), *ISSUES))
    header = table.horizontalHeader()
    qtbot.waitUntil(lambda: header.length() <= table.viewport().width())
    assert table.horizontalScrollBar().maximum() == 0
    assert not table.horizontalScrollBar().isVisible()
    last = header.count() - 1
    assert table.isColumnHidden(last) is (width < 450)
    assert header.sectionSize(last) > 100 or width < 450


def test_rows_and_sort_arrow_grow_with_font_scale(qtbot, appearance):
    table = IssuesTable()
    qtbot.addWidget(table)
    table.show_records(ISSUES)
    table.resize(600, 200)
    table.show()
    appearance.set_font_scale(1.0)
    row, arrow = table.rowHeight(0), len(_arrow(table))
    appearance.set_font_scale(2.0)
    assert table.rowHeight(0) > 1.5 * row
    assert len(_arrow(table)) > 1.5 * arrow > 0


def test_sort_arrow_is_next_to_the_title(qtbot, appearance):
    table = IssuesTable()
    qtbot.addWidget(table)
    table.show_records(ISSUES)
    table.resize(600, 200)
    table.show()
    height = table.horizontalHeader().height()
    rows = {y for _x, y in _arrow(table)}
    assert rows
    assert rows <= set(range(height // 4, height - height // 4))


def _arrow(table: IssuesTable) -> set[tuple[int, int]]:
    """Return the pixels of the arrow in the header of the first column."""
    header = table.horizontalHeader()
    drawn = []
    for shown in (True, False):
        header.setSortIndicatorShown(shown)
        drawn.append(header.grab().toImage())
    return {
        (x, y)
        for x in range(header.sectionSize(0))
        for y in range(header.height())
        if drawn[0].pixel(x, y) != drawn[1].pixel(x, y)
    }


@pytest.mark.usefixtures("right_to_left")
def test_first_row_is_selected_in_right_to_left_layout(qtbot):
    table = IssuesTable()
    qtbot.addWidget(table)
    table.resize(900, 200)
    table.show_records(ISSUES)
    assert table.current == ISSUES[1]
    assert {index.column() for index in table.selectionModel().selectedIndexes()} == {0, 1, 2}
