"""Copies of a passage in other files share one row, which can list them at its position."""

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from engine import PassageCopy
from gui.search.result_rows import CopiesRow, ResultRow, build_rows, button_text, list_copies
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.windows import at_rest, rows_of, search_results

Key = Qt.Key
TEXT = "# Marina\n\nThe landlord wants the key back.\n"
NOTES = {"marina.md": TEXT, "marina (1).md": TEXT, "old/marina.md": TEXT, "house.md": "# House\n\nThe landlord.\n"}


def copy_of(result) -> PassageCopy:
    names = ("path", "start_line", "end_line", "citation", "title", "modified", "text")
    return PassageCopy(**{name: getattr(result, name) for name in names})


@pytest.fixture
def memory(monkeypatch):
    """A fake memory that folds copies as the engine does."""
    memory = FakeMemory(NOTES)
    search = memory.search

    def folded(query, **options):
        outcome = search(query, **options)
        first, *copies = (one for one in outcome.results if one.path.endswith((").md", "marina.md")))
        first = msgspec.structs.replace(first, copies=tuple(map(copy_of, copies)))
        others = [one for one in outcome.results if one.path == "house.md"]
        return msgspec.structs.replace(outcome, results=(first, *others), total=1 + len(others))

    monkeypatch.setattr(memory, "search", folded)
    yield memory
    memory.close()


@pytest.fixture
def results(qtbot, opened):
    return search_results(qtbot, opened, "landlord")


def _paths(results):
    return [row.result.path for row in rows_of(results, ResultRow)]


def _copies_row(results):
    return results.rows.position(rows_of(results, CopiesRow)[0].key)


def test_copies_row_lists_the_other_files_by_key(qtbot, opened, results):
    assert len(_paths(results)) == 2
    [row] = rows_of(results, CopiesRow)
    assert results.rows.spoken(row) == "Also in 2 other files"
    assert set(results.rows.tip(row).splitlines()[1:]) == set(NOTES) - {"house.md", row.result.path}
    opened.search.focus_box()
    for _ in range(results.rows.rowCount()):
        if results.currentIndex().row() != _copies_row(results):
            qtbot.keyClick(QApplication.focusWidget(), Key.Key_Down)
    with qtbot.waitSignal(opened.viewer.file_shown):  # the first copy, as a preview
        qtbot.keyClick(QApplication.focusWidget(), Key.Key_Return)
    assert not rows_of(results, CopiesRow)
    assert set(_paths(results)) == set(NOTES)
    assert results.current_result() == row.result.in_copy(row.result.copies[0])


def test_listed_copies_stay_until_the_next_query(qtbot, opened, results):
    qtbot.mouseClick(
        results.viewport(),
        Qt.MouseButton.LeftButton,
        pos=results.visualRect(results.rows.index(_copies_row(results))).center(),
    )
    assert set(_paths(results)) == set(NOTES)
    results.show_rows(build_rows(opened.search.body.answer.outcome, "relevance"), keep=True)
    assert set(_paths(results)) == set(NOTES)
    opened.search.search("key")
    qtbot.waitUntil(lambda: at_rest(opened) and len(rows_of(results, CopiesRow)) == 1)


def test_every_row_has_its_own_key_with_copies_listed(make_result, make_outcome):
    first = make_result("a.md", 5)
    first = msgspec.structs.replace(first, copies=tuple(copy_of(make_result(f"a ({n}).md", 5)) for n in range(30)))
    rows = build_rows(make_outcome(first, make_result("b.md", 5)), "relevance")
    assert button_text(rows[2]) == "Also in 30 other files"
    listed = list_copies(rows, {rows[2].key})
    assert len({row.key for row in listed}) == len(listed) == len(rows) + 29
    assert list_copies(rows, ()) == rows
