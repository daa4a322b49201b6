"""A long file leaves room for others; a key shows its other results."""

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from gui.app.desktop_integration import QuickSearchController
from gui.search.result_rows import MoreInFileRow, ResultRow
from gui.widgets.form_controls import Chip
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.windows import at_rest, rows_of, search_results

Key = Qt.Key
LOG = "# Log\n\n" + "\n\n".join(f"## Day {day}\n\nThe landlord called." for day in range(12))
NOTES = {"log.md": LOG, "house.md": "# House\n\nThe landlord wants the key back.\n"}


@pytest.fixture
def memory(monkeypatch):
    """A fake memory that limits the results of a file as the engine does."""
    memory = FakeMemory(NOTES)
    search = memory.search

    def limited(query, **options):
        outcome = search(query, **options)
        if options.get("per_file") == 0 or len({one.path for one in outcome.results}) < 2:
            return outcome
        long = [one for one in outcome.results if one.path == "log.md"]
        kept = [*long[:2], msgspec.structs.replace(long[2], more_in_file=len(long) - 3)]
        others = [one for one in outcome.results if one.path != "log.md"]
        return msgspec.structs.replace(outcome, results=(*kept, *others))

    monkeypatch.setattr(memory, "search", limited)
    yield memory
    memory.close()


@pytest.fixture
def results(qtbot, opened):
    return search_results(qtbot, opened, "landlord")


def _go_to_more(qtbot, results):
    """Go from the search box to the row that shows more results, by keyboard."""
    for _ in range(10):
        if isinstance(results.rows.row(results.currentIndex().row()), MoreInFileRow):
            return
        qtbot.keyClick(QApplication.focusWidget(), Key.Key_Down)
    raise AssertionError("The row is not reached")


def test_more_in_file_row_limits_to_file_and_alt_left_returns(qtbot, opened, results):
    [row] = rows_of(results, MoreInFileRow)
    assert (row.path, row.hidden) == ("log.md", 9)
    assert results.rows.spoken(row) == "+9 more in this file"
    opened.search.focus_box()
    _go_to_more(qtbot, results)
    qtbot.keyClick(results, Key.Key_Return)
    qtbot.waitUntil(lambda: at_rest(opened) and len(rows_of(results, ResultRow)) == 12)
    assert {row.result.path for row in rows_of(results, ResultRow)} == {"log.md"}
    assert QApplication.focusWidget() is results
    assert opened.search.filters.scope.path == "log.md"
    qtbot.keyClick(opened, Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: at_rest(opened) and len(rows_of(results, MoreInFileRow)) == 1)
    assert opened.search.filters.scope is None
    assert isinstance(results.rows.row(results.currentIndex().row()), MoreInFileRow)


def test_more_in_file_click_limits_to_file_and_chip_returns(qtbot, opened, results):
    place = results.rows.position(rows_of(results, MoreInFileRow)[0].key)
    at = results.visualRect(results.rows.index(place)).center()
    qtbot.mouseClick(results.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.waitUntil(lambda: at_rest(opened) and len(rows_of(results, ResultRow)) == 12)
    chips = opened.search.filters.findChildren(Chip)
    chip = next(chip for chip in chips if chip.accessibleName().startswith("Searching only in"))
    qtbot.mouseClick(chip, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: at_rest(opened) and len(rows_of(results, ResultRow)) == 4)


def test_quick_search_more_in_file_opens_in_window(qtbot, opened, jobs):
    quick_search = QuickSearchController(opened, opened.workspace, jobs)
    qtbot.addWidget(quick_search.quick)
    with qtbot.waitActive(quick_search.quick):
        quick_search.quick.call_up()
    qtbot.keyClicks(quick_search.quick.panel.box.edit, "landlord")
    qtbot.waitUntil(lambda: not quick_search.quick.panel.busy)
    _go_to_more(qtbot, quick_search.quick.panel.list)
    qtbot.keyClick(quick_search.quick.panel.list, Key.Key_Return)
    results = opened.search.body.list
    qtbot.waitUntil(lambda: at_rest(opened) and len(rows_of(results, ResultRow)) == 12)
    assert opened.search.filters.scope.path == "log.md"
    assert not quick_search.quick.isVisible()
