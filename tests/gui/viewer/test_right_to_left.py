"""The source view in a mirrored window, and notes in right-to-left scripts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QDeadlineTimer, QPoint, Qt
from PySide6.QtGui import QAction, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from engine import CancelToken, NumberedText
from gui.core.jobs import Jobs
from gui.style.theme import theme_tokens, tokens
from gui.style.typography import fixed_font
from gui.viewer.header import ViewerHeader
from gui.viewer.markdown_page import QUOTE_INDENT, PageStyle, page_steps
from gui.viewer.outline import Outline
from gui.viewer.source_view import SourceView
from gui.viewer.text_lines import FileLines

HEBREW = "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd."
TEXT = f"# Title\n- a point.\n{HEBREW}\n\n```\n/path/to/it:\n# {HEBREW}\n```\n"


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
        lines = FileLines(NumberedText.open(path))
        view.set_lines(lines, Outline.of(lines, CancelToken()))
        return view

    yield run
    for view in views:
        view.hide()


def x_of(view: SourceView, line: int, column: int) -> float:
    """Return the x coordinate of a column of a line in the viewport."""
    laid = view.layouts.line(line)
    answer = laid.pieces[0].layout.lineAt(0).cursorToX(column)
    return view._text_left() + (answer[0] if isinstance(answer, tuple) else answer)


def y_of(view: SourceView, line: int) -> int:
    top = view.scroll_position.top_of(line)
    assert top is not None
    return top + view._pad_above(line) + view.row_height // 2


def inked(view: SourceView, line: int) -> list[int]:
    """Return the columns of pixels with ink in a line."""
    view.viewport().grab()
    deadline = QDeadlineTimer(60_000)
    while not view.painted and not deadline.hasExpired():  # on a busy machine, a later frame shows the last lines
        QTest.qWait(10)
    picture: QImage = view.viewport().grab().toImage()
    ground, middle = picture.pixelColor(250, 299), y_of(view, line)
    rows = range(middle - view.row_height // 2, middle + view.row_height // 2)
    return [x for x in range(picture.width()) if any(picture.pixelColor(x, y) != ground for y in rows)]


@pytest.mark.usefixtures("right_to_left")
@pytest.mark.parametrize("wrap", [True, False])
def test_numbers_are_on_right_and_english_reads_left_to_right(make, wrap):
    view = make(wrap=wrap)
    width = view.viewport().width()
    for line in (1, 2, 6):
        found = inked(view, line)
        assert found[0] < 40
        assert found[-1] > width - view.gutter.number_right - 2
        length = len(view.text_at(line))
        places = [x_of(view, line, column) for column in range(length + 1)]
        assert places == sorted(places)  # the hash, the dash and the slash before it, the point behind it


@pytest.mark.usefixtures("right_to_left")
def test_hebrew_starts_at_gutter(make):
    view = make(wrap=True)
    edge = view.viewport().width() - view.gutter.text_left
    assert x_of(view, 3, 0) == pytest.approx(edge, abs=2)
    assert x_of(view, 3, len(HEBREW)) < x_of(view, 3, 0)


def test_hebrew_runs_left_in_left_to_right_window(make):
    view = make(wrap=True)
    edge = view.viewport().width() - view.layouts.typography.scaled(12)
    assert x_of(view, 3, 0) == pytest.approx(edge, abs=2)
    assert x_of(view, 3, len(HEBREW)) < x_of(view, 3, 0)
    assert x_of(view, 2, 0) == view.gutter.text_left
    assert inked(view, 1)[0] < view.gutter.number_right


@pytest.mark.usefixtures("right_to_left")
@pytest.mark.parametrize("wrap", [True, False])
def test_mouse_hits_the_drawn_characters(make, wrap):
    view = make(wrap=wrap)
    for line in (2, 3):
        for column in range(len(view.text_at(line))):
            at = QPoint(round(x_of(view, line, column)), y_of(view, line))
            assert view.position_at(at) == (line, column)
    numbers = QPoint(view.viewport().width() - 5, y_of(view, 2))
    assert view.in_gutter(numbers)
    assert not view.in_gutter(QPoint(5, y_of(view, 2)))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=numbers)
    assert view.selected_lines() == (2, 2)


@pytest.mark.usefixtures("right_to_left")
def test_highlight_edge_is_next_to_gutter(make):
    view = make(wrap=True)
    view.set_highlight((2, 3))
    picture = view.viewport().grab().toImage()
    width, gutter = view.viewport().width(), view.gutter
    accent = {x for x in range(width) if picture.pixelColor(x, y_of(view, 2)) == view.palette().highlight().color()}
    edge = range(width - gutter.edge - gutter.edge_width, width - gutter.edge)
    colours = {picture.pixelColor(x, y_of(view, 2)).name() for x in edge}
    assert len(colours) == 1
    assert not accent - set(edge)
    assert colours != {picture.pixelColor(gutter.edge, y_of(view, 2)).name()}


@pytest.mark.usefixtures("right_to_left")
def test_code_runs_left_to_right(make):
    view = make(wrap=True)
    assert x_of(view, 7, 0) == view._text_left()
    assert not view.layouts.line(7).runs_left


def test_arrow_keys_move_visually(make):
    view = make(wrap=True)
    for line, ahead, back in ((2, Qt.Key.Key_Right, Qt.Key.Key_Left), (3, Qt.Key.Key_Left, Qt.Key.Key_Right)):
        view.selection.start_at((line, 2))
        QTest.keyClick(view, ahead, Qt.KeyboardModifier.ShiftModifier)
        assert view.selection.caret == (line, 3)
        QTest.keyClick(view, back, Qt.KeyboardModifier.ShiftModifier)
        QTest.keyClick(view, back, Qt.KeyboardModifier.ShiftModifier)
        assert view.selection.caret == (line, 1)


@pytest.mark.usefixtures("right_to_left")
def test_header_starts_at_right(qtbot, appearance, jobs):
    action = QAction("Copy")
    owner = QWidget()
    qtbot.addWidget(owner)
    header = ViewerHeader([action], [action], owner)
    header.resize(700, 44)
    header.show_title("Title", "a/path.md")
    rights = [
        part.geometry().right() for part in (header.title, header.crumb, header.source_button, header.rendered_button)
    ]
    assert rights == sorted(rights, reverse=True)
    assert rights[0] == 700 - 16 - 1


@pytest.mark.usefixtures("right_to_left")
def test_page_has_code_on_left_and_quotes_on_right(appearance):
    style = PageStyle(fixed_font(), fixed_font(), theme_tokens("light"), 1.0)
    steps = page_steps([f"> {HEBREW}\n\nplain.\n\n```\n# {HEBREW}\n```\n"], style)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            document = done.value.document
            break
    quote, plain, code = (document.findBlockByNumber(number) for number in range(3))
    assert quote.textDirection() == Qt.LayoutDirection.RightToLeft
    assert quote.blockFormat().rightMargin() == QUOTE_INDENT
    assert plain.textDirection() == code.textDirection() == Qt.LayoutDirection.LeftToRight


@pytest.mark.usefixtures("right_to_left")
def test_overview_strip_marks_highlight_on_text_side(make):
    view = make(wrap=True)
    view.set_highlight((1, 8))
    strip = view.verticalScrollBar()
    picture = strip.grab().toImage()
    sides = [picture.pixelColor(x, 5).name() for x in (1, strip.width() - 2)]
    assert sides[0] != sides[1]
    assert sides[1] == tokens(view.palette()).accent.name()
