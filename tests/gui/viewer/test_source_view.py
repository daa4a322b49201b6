"""The visible source view: geometry, wrapping, selection, keys."""

import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from engine import CancelToken, NumberedText
from gui.core.jobs import Jobs
from gui.style.theme import tokens
from gui.viewer.line_layout import LineLayout
from gui.viewer.match_list import Hit, plain_finder
from gui.viewer.outline import Outline
from gui.viewer.source_view import SourceView
from gui.viewer.text_canvas import CUT_MARK
from gui.viewer.text_lines import LINE_LIMIT, FileLines

TEXT = "\n".join(
    [
        "# Title 🌱 of the note",
        "",
        "short",
        "words " * 200 + "end",
        "tail\twith \x1b[31m and \u2028 signs",
        *(f"line {number} of many" for number in range(6, 300)),
    ]
)


@pytest.fixture
def view(qtbot, appearance, jobs: Jobs, tmp_path: Path) -> Iterator[SourceView]:
    view = SourceView(jobs)
    qtbot.addWidget(view)
    view.resize(500, 400)
    with qtbot.waitExposed(view):
        view.show()
    put(view, tmp_path, TEXT)
    yield view
    view.set_finders(None, None)
    view.hide()


def put(view: SourceView, folder: Path, text: str) -> None:
    path = folder / "note.md"
    path.write_text(text)
    view.set_lines(FileLines(NumberedText.open(path)), Outline())


def top_character(view: SourceView) -> tuple[int, int]:
    """Return the line and column of the character at the top left."""
    return view.position_at(QPoint(0, 1))


def y_of(view: SourceView, line: int) -> int:
    """Return the first visible pixel row of a line."""
    return next(y for y in range(view.viewport().height()) if view.position_at(QPoint(0, y))[0] == line)


def test_revealed_part_is_a_third_from_top(view: SourceView) -> None:
    view.reveal_part(100, 103)
    assert abs(y_of(view, 100) - view.viewport().height() // 3) <= view.row_height


def test_best_line_of_long_part_is_in_view(view: SourceView) -> None:
    view.reveal_part(100, 180)
    assert abs(y_of(view, 180) - view.viewport().height() // 3) <= view.row_height


def test_revealed_line_stays_in_view_after_resize(view: SourceView) -> None:
    view.reveal_part(100, 100)
    view.resize(500, 200)
    assert y_of(view, 100) < 200
    view.scroll_by(10_000)
    top = top_character(view)
    view.resize(500, 300)
    assert abs(top_character(view)[0] - top[0]) < 10  # scrolled by hand: not brought back


def test_highlight_background_and_edge_are_painted(view: SourceView) -> None:
    view.set_highlight((3, 3))
    colours = tokens(view.palette())
    image = view.viewport().grab().toImage()
    y = y_of(view, 3) + view.row_height // 2
    assert image.pixelColor(view.viewport().width() - 3, y) == colours.line_highlight
    assert colours.accent.name() in {image.pixelColor(x, y).name() for x in range(100)}
    assert image.pixelColor(view.viewport().width() - 3, y + view.row_height) == colours.base


def test_marks_are_painted_behind_words(qtbot, view: SourceView) -> None:
    view.set_finders(plain_finder("short"), None)
    y = y_of(view, 3) + 4

    def marked() -> bool:  # in the first frame, or in a later one on a busy machine
        image = view.viewport().grab().toImage()
        found = {image.pixelColor(x, y).name() for x in range(view.viewport().width())}
        return tokens(view.palette()).mark.name() in found

    qtbot.waitUntil(marked)


class PaintCounter(QObject):
    """Counts the frames of a widget."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.frames = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.frames += event.type() == QEvent.Type.Paint
        return False


def test_slow_frames_paint_every_line_then_end(
    qtbot, view: SourceView, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qtbot.waitUntil(lambda: view.horizontalScrollBar().maximum() > 0)  # all lines in view are laid out
    counter = PaintCounter(view.viewport())
    qtbot.waitUntil(lambda: settled(counter))
    whole = on_screen(view)
    seconds = count()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(seconds)))
    counter.frames = 0
    put(view, tmp_path, TEXT)
    qtbot.waitUntil(lambda: counter.frames > view.viewport().height() // view.row_height)  # a line each
    qtbot.waitUntil(lambda: settled(counter))
    assert on_screen(view) == whole


def test_view_is_painted_after_several_slow_frames(
    qtbot, view: SourceView, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = count()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(seconds)))
    put(view, tmp_path, TEXT)
    view.viewport().repaint()
    assert not view.painted
    qtbot.waitUntil(lambda: view.painted)


def on_screen(view: SourceView) -> QImage:
    """Return the lines that the last frames have painted."""
    return view.screen().grabWindow(view.winId()).toImage()


def settled(counter: PaintCounter) -> bool:
    before = counter.frames
    QTest.qWait(50)
    return counter.frames == before


def test_wrap_toggle_keeps_top_line(view: SourceView) -> None:
    view.scroll_by(60 * view.row_height)
    line = top_character(view)[0]
    for wrap in (True, False):
        view.set_wrap(wrap)
        assert top_character(view)[0] == line


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_wrapped_rows_have_a_hundred_characters_in_wide_view(view: SourceView, appearance, scale: float) -> None:
    appearance.set_font_scale(scale)
    view.resize(round(2400 * scale), 600)
    view.set_wrap(True)
    character = view.layouts.typography.character_width
    assert view.layouts.wrap_width == round(100 * character)
    view.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    view.viewport().grab()
    column = view.viewport().width() - view.gutter.text_left - round(100 * character)
    assert view.position_at(QPoint(round(column + 3.1 * character), 2 * view.row_height + 12)) == (3, 3)
    view.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    view.resize(round(40 * character), 600)
    assert view.layouts.wrap_width < 40 * character
    view.resize(round(2400 * scale), 600)
    view.set_wrap(False)
    assert view.layouts.wrap_width is None
    assert view.horizontalScrollBar().pageStep() > 150 * character


def test_width_change_keeps_top_word_of_wrapped_line(view: SourceView) -> None:
    view.set_wrap(True)
    view.scroll_by(10 * view.row_height)
    line, column = top_character(view)
    assert line == 4
    assert column > 0
    view.resize(420, 400)
    assert top_character(view)[0] == 4
    assert top_character(view)[1] <= column < top_character(view)[1] + 70


def test_wrapped_scrolling_does_not_jump(view: SourceView) -> None:
    view.set_wrap(True)
    view.scroll_by(view.row_height)
    seen = []
    for _ in range(40):
        seen.append(view.position_at(QPoint(0, view.row_height)))
        view.scroll_by(view.row_height)
        assert view.position_at(QPoint(0, 0))[0] <= seen[-1][0]
    assert seen == sorted(seen)
    for place in reversed(seen):
        view.scroll_by(-view.row_height)
        assert view.position_at(QPoint(0, view.row_height)) == place


def test_only_unwrapped_lines_scroll_sideways(view: SourceView) -> None:
    view.viewport().grab()
    assert view.horizontalScrollBar().maximum() > 0
    view.set_wrap(True)
    view.viewport().grab()
    assert view.horizontalScrollBar().maximum() == 0


def test_line_of_megabytes_is_cut_with_mark(view: SourceView, tmp_path: Path) -> None:
    put(view, tmp_path, "a" * 3_000_000 + "\nnext")
    laid = view.layouts.line(1)
    assert laid.drawn_text == "a" * LINE_LIMIT + CUT_MARK.format(limit=LINE_LIMIT)
    assert view.text_at(1) == "a" * LINE_LIMIT
    view.viewport().grab()


def test_control_characters_are_shown_as_symbols(view: SourceView) -> None:
    laid = view.layouts.line(5)
    assert laid.drawn_text == "tail\twith \u241b[31m and \u2424 signs"
    assert laid.rows_within(9) == 1


def test_heading_is_bold(view: SourceView, tmp_path: Path) -> None:
    path = tmp_path / "b.md"
    path.write_text("# Head\nbody")
    lines = FileLines(NumberedText.open(path))
    view.set_lines(lines, Outline.of(lines, CancelToken()))
    assert [bool(view.layouts.line(number).pieces[0].layout.formats()) for number in (1, 2)] == [True, False]


def test_hit_is_framed_and_scrolled_into_view(view: SourceView) -> None:
    view.show_hit(Hit(4, 1200, 1203))
    assert view.level(Hit(4, 1200, 1203)) is not None
    assert view.horizontalScrollBar().value() > 0
    view.show_hit(Hit(250, 0, 4))
    assert view.horizontalScrollBar().value() == 0
    assert abs(y_of(view, 250) - view.viewport().height() // 3) <= view.row_height


def test_frame_of_hit_in_view_appears_and_disappears(qtbot, view: SourceView) -> None:
    counter = PaintCounter(view.viewport())
    qtbot.waitUntil(lambda: settled(counter))
    plain = on_screen(view)
    view.show_hit(Hit(3, 0, 5))
    qtbot.waitUntil(lambda: on_screen(view) != plain)
    view.show_hit(None)
    qtbot.waitUntil(lambda: on_screen(view) == plain)


def test_drag_selects_text(view: SourceView) -> None:
    x = view.gutter.text_left
    start, end = QPoint(x + 1, y_of(view, 3) + 3), QPoint(x + 1, y_of(view, 6) + 3)
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(view.viewport(), end)
    view.mouseMoveEvent(_move(end))
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=end)
    assert view.selection.ends == ((3, 0), (6, 0))
    assert view.selected_lines() == (3, 5)


def test_drag_beyond_edge_scrolls(qtbot, view: SourceView) -> None:
    x = view.gutter.text_left
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, y_of(view, 3) + 3))
    view.mouseMoveEvent(_move(QPoint(x, view.viewport().height() + 60)))
    qtbot.waitUntil(lambda: (view.selection.caret or (0, 0))[0] > 40)
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, 10))


def test_double_click_selects_word_and_triple_click_line(view: SourceView) -> None:
    point = QPoint(view.gutter.text_left + 2, y_of(view, 3) + 3)
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert view.selected_word() == "short"
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert view.selection.ends == ((3, 0), (4, 0))


def test_click_on_line_number_selects_line(view: SourceView) -> None:
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5, y_of(view, 3) + 3))
    assert view.selected_lines() == (3, 3)


def test_columns_after_emoji_are_correct(view: SourceView) -> None:
    view.selection.select((1, 8), (1, 9))
    decoration = view._decoration(1, view.layouts.line(1), late=False)
    assert view.selected_word() == "🌱"
    assert decoration.selected == (8, 10)


def test_shift_arrow_keys_extend_selection(view: SourceView) -> None:
    shift = Qt.KeyboardModifier.ShiftModifier
    view.selection.start_at((3, 0))
    for key in (Qt.Key.Key_End, Qt.Key.Key_Right, Qt.Key.Key_Right):
        QTest.keyClick(view, key, shift)
    assert view.selection.ends == ((3, 0), (4, 1))
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Home):
        QTest.keyClick(view, key, shift)
    assert view.selection.ends == ((2, 0), (3, 0))


@pytest.mark.parametrize(
    ("key", "line"),
    [(Qt.Key.Key_Down, 2), (Qt.Key.Key_End, 299), (Qt.Key.Key_PageDown, 15), (Qt.Key.Key_Space, 15)],
)
def test_keys_scroll_and_home_returns(view: SourceView, key: Qt.Key, line: int) -> None:
    QTest.keyClick(view, key)
    bottom = view.position_at(QPoint(0, view.viewport().height() - 10))[0]
    assert bottom >= line
    assert top_character(view)[0] > 1 or view.verticalScrollBar().value() > 0
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert view.verticalScrollBar().value() == 0


def test_select_all_covers_whole_text(view: SourceView) -> None:
    view.select_all()
    assert view.selection.ends == ((1, 0), (299, len(view.text_at(299))))


def test_accessible_description_has_current_line(view: SourceView) -> None:
    view.scroll_by(1)
    assert view.accessibleDescription().startswith("Line 1: # Title")
    view.show_hit(Hit(250, 0, 4))
    assert view.accessibleDescription() == "Line 250: line 250 of many"


def test_empty_file_is_accepted(view: SourceView, tmp_path: Path) -> None:
    put(view, tmp_path, "")
    view.viewport().grab()
    view.select_all()
    for key in (Qt.Key.Key_Down, Qt.Key.Key_End, Qt.Key.Key_PageUp):
        QTest.keyClick(view, key)
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(80, 40))
    assert view.selection.ends is None


def _move(point: QPoint) -> QMouseEvent:
    left = Qt.MouseButton.LeftButton
    return QMouseEvent(QEvent.Type.MouseMove, QPointF(point), QPointF(point), left, left, Qt.KeyboardModifier(0))


def test_marks_far_right_in_long_line_are_painted(qtbot, view: SourceView, tmp_path: Path) -> None:
    put(view, tmp_path, "timer and " * 1_900 + "\nnext")
    view.viewport().grab()  # the line's width is known once it was painted
    view.set_finders(plain_finder("timer"), None)
    view.horizontalScrollBar().setValue(view.horizontalScrollBar().maximum())
    mark = tokens(view.palette()).mark.name()

    def marked() -> bool:
        image = view.viewport().grab().toImage()
        return mark in {image.pixelColor(x, view.row_height).name() for x in range(view.viewport().width())}

    qtbot.waitUntil(marked)


def test_cached_line_layouts_are_bounded(view: SourceView, tmp_path: Path) -> None:
    put(view, tmp_path, ("word " * 4_000 + "\n") * 200)
    for line in range(1, 201):
        view.text_at(line)
    kept = sum(view.layouts.is_cached(line) for line in range(1, 201))
    assert kept == 3_000_000 // len(view.text_at(200))


def test_new_text_lays_out_only_lines_in_view(view: SourceView) -> None:
    view.set_wrap(True)
    view.set_lines(view.lines, Outline(), first=150)
    view.reveal_part(150, 150)
    laid = [number for number in range(1, 300) if view.layouts.is_cached(number)]
    assert 150 in laid
    assert len(laid) <= view.viewport().height() // view.row_height + 2


def test_slow_marks_do_not_prevent_text_painting(qtbot, view: SourceView, monkeypatch) -> None:
    spans = LineLayout.spans

    def slow(*arguments) -> Iterator[tuple[int, float, float]]:
        time.sleep(0.05)  # longer than one turn may paint
        return spans(*arguments)

    monkeypatch.setattr(LineLayout, "spans", slow)
    view.set_finders(plain_finder("title"), None)
    laid = view.layouts.line(1)
    for piece in laid.pieces:
        piece.drawn = False
    view.viewport().update()
    qtbot.waitUntil(lambda: all(piece.drawn for piece in laid.pieces))
