"""The source where the window runs from right to left, and notes that are written so."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest

from engine import NumberedText
from gui.jobs import Jobs
from gui.viewer.lines import FileLines
from gui.viewer.outline import Outline
from gui.viewer.source_view import SourceView

HEBREW = "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd."
TEXT = f"# Title\n- a point.\n{HEBREW}\n\n```\n/path/to/it:\n```\n"


@pytest.fixture
def make(qtbot, appearance, jobs: Jobs, tmp_path: Path) -> Iterator:
    views = []

    def run(*, wrap: bool) -> SourceView:
        view = SourceView(jobs)
        views.append(view)
        qtbot.addWidget(view)
        view.resize(500, 300)
        view.set_wrap(wrap)
        with qtbot.waitExposed(view):
            view.show()
        path = tmp_path / "note.md"
        path.write_text(TEXT, encoding="utf-8")
        view.set_lines(FileLines(NumberedText.open(path)), Outline())
        return view

    yield run
    for view in views:
        view.hide()


def x_of(view: SourceView, line: int, column: int) -> float:
    """Where a column of a line stands in the viewport."""
    laid = view._layouts.line(line)
    answer = laid.pieces[0].layout.lineAt(0).cursorToX(column)
    return view._text_left() + (answer[0] if isinstance(answer, tuple) else answer)


def y_of(view: SourceView, line: int) -> int:
    top = view._scroll.top_of(line)
    assert top is not None
    return top + view._pad_above(line) + view.row_height // 2


def inked(view: SourceView, line: int) -> list[int]:
    """The columns of pixels with ink in a line."""
    picture: QImage = view.viewport().grab().toImage()
    ground, middle = picture.pixelColor(250, 299), y_of(view, line)
    rows = range(middle - view.row_height // 2, middle + view.row_height // 2)
    return [x for x in range(picture.width()) if any(picture.pixelColor(x, y) != ground for y in rows)]


@pytest.mark.usefixtures("right_to_left")
@pytest.mark.parametrize("wrap", [True, False])
def test_numbers_stand_at_the_right_and_english_reads_from_the_left(make, wrap):
    view = make(wrap=wrap)
    width = view.viewport().width()
    for line in (1, 2, 6):
        found = inked(view, line)
        assert found[0] < 40
        assert found[-1] > width - view._gutter.number_right - 2
        length = len(view.text_at(line))
        places = [x_of(view, line, column) for column in range(length + 1)]
        assert places == sorted(places)  # the hash, the dash and the slash before it, the point behind it


@pytest.mark.usefixtures("right_to_left")
def test_hebrew_begins_at_the_gutter(make):
    view = make(wrap=True)
    edge = view.viewport().width() - view._gutter.text_left
    assert x_of(view, 3, 0) == pytest.approx(edge, abs=2)
    assert x_of(view, 3, len(HEBREW)) < x_of(view, 3, 0)


def test_hebrew_runs_to_the_left_where_the_window_does_not(make):
    view = make(wrap=True)
    edge = view.viewport().width() - view._layouts.typography.scaled(12)
    assert x_of(view, 3, 0) == pytest.approx(edge, abs=2)
    assert x_of(view, 3, len(HEBREW)) < x_of(view, 3, 0)
    assert x_of(view, 2, 0) == view._gutter.text_left
    assert inked(view, 1)[0] < view._gutter.number_right


@pytest.mark.usefixtures("right_to_left")
@pytest.mark.parametrize("wrap", [True, False])
def test_the_mouse_meets_the_letters_that_are_drawn(make, wrap):
    view = make(wrap=wrap)
    for line in (2, 3):
        for column in range(len(view.text_at(line))):
            at = QPoint(round(x_of(view, line, column)), y_of(view, line))
            assert view.place_at(at) == (line, column)
    numbers = QPoint(view.viewport().width() - 5, y_of(view, 2))
    assert view.in_gutter(numbers)
    assert not view.in_gutter(QPoint(5, y_of(view, 2)))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=numbers)
    assert view.selected_lines() == (2, 2)


@pytest.mark.usefixtures("right_to_left")
def test_what_was_found_has_its_edge_beside_the_gutter(make):
    view = make(wrap=True)
    view.set_highlight((2, 3))
    picture = view.viewport().grab().toImage()
    width, gutter = view.viewport().width(), view._gutter
    accent = {x for x in range(width) if picture.pixelColor(x, y_of(view, 2)) == view.palette().highlight().color()}
    edge = range(width - gutter.edge - gutter.edge_width, width - gutter.edge)
    colours = {picture.pixelColor(x, y_of(view, 2)).name() for x in edge}
    assert len(colours) == 1
    assert not accent - set(edge)
    assert colours != {picture.pixelColor(gutter.edge, y_of(view, 2)).name()}
