from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester

from gui.search.result_rows import MoreRow, ResultModel, build_rows
from gui.widgets.rows import RowRole

Role = Qt.ItemDataRole


def _filled(outcome) -> ResultModel:
    model = ResultModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, model)
    model.set_rows(build_rows(outcome, "relevance"))
    return model


def test_result_model_passes_qt_model_tester(qtbot, make_result, make_outcome):
    model = _filled(make_outcome(make_result("a.md"), make_result("b.md"), total=9))
    assert model.rowCount() == 5
    assert model.rowCount(model.index(0)) == 0
    model.set_rows(build_rows(make_outcome(make_result("c.md")), "relevance"))
    model.set_rows(())
    assert model.rowCount() == 0
    assert model.first_position() == -1


def test_rows_are_found_by_key_and_only_results_selectable(qtbot, make_result, make_outcome):
    model = _filled(make_outcome(make_result("a.md"), make_result("b.md", 7), total=9))
    assert model.position(("result", "b.md", 7, 0)) == 3
    assert model.position(("result", "b.md", 8, 0)) == -1
    assert model.first_position() == 1
    selectable = [bool(model.flags(model.index(index)) & Qt.ItemFlag.ItemIsSelectable) for index in range(5)]
    assert selectable == [False, True, False, True, True]


def test_rows_have_full_accessible_text(qtbot, make_result, make_outcome):
    model = _filled(make_outcome(make_result("a.md", 41, heading=("a", "Watering")), total=24))
    spoken = [model.index(index).data(Role.AccessibleTextRole) for index in range(3)]
    assert spoken[0].startswith("a, 1 result, ")
    assert spoken[1] == "words of a.md at 41. a.md, lines 41–45. Watering"
    assert spoken[2] == "23 more results – show more"
    assert isinstance(model.index(2).data(RowRole), MoreRow)


def test_row_of_a_pdf_names_its_page_instead_of_lines(qtbot, make_result, make_outcome):
    model = _filled(make_outcome(make_result("lease.pdf", 41, heading=("Page 5",))))
    assert model.index(1).data(Role.AccessibleTextRole) == "words of lease.pdf at 41. lease.pdf, Page 5"
    assert model.index(1).data(Role.ToolTipRole).count("Page 5") == 1
    assert "lines" not in model.index(1).data(Role.ToolTipRole)
    row = model.index(1).data(RowRole)
    assert (row.where, row.heading, row.heading_marks) == ("Page 5", "", ())


def test_out_of_range_time_shows_unknown_date(qtbot, make_result, make_outcome):
    model = _filled(make_outcome(make_result("a.md", modified=1e18)))
    assert model.index(0).data(Role.AccessibleTextRole) == "a, 1 result, unknown date"
    assert "unknown date" in model.index(0).data(Role.ToolTipRole)


def test_tooltip_of_file_has_whole_title(qtbot, make_result, make_outcome):
    title = "A long title of a note " * 9
    model = _filled(make_outcome(make_result("a.md", title=title)))
    assert title.strip() in model.index(0).data(Role.ToolTipRole)


def test_tooltips_escape_note_text(qtbot, make_result, make_outcome):
    model = _filled(make_outcome(make_result("a<b>.md", heading=("x", "<img src='y'>"))))
    tip = model.index(1).data(Role.ToolTipRole)
    assert "a&lt;b&gt;.md, lines" in tip
    assert "<img" not in tip
    assert "Score 0.80: words 0.48, meaning 0.32" in tip
