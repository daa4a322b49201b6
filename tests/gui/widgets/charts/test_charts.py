"""Charts: keyboard, mouse, accessible names, and drawn marks that match the figures."""

from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QLineEdit, QPushButton, QVBoxLayout, QWidget

from gui.style.theme import theme_tokens
from gui.widgets.accessibility import describe_painted_widgets, stops
from gui.widgets.charts.bars import BarChart, ShareChart, SparkChart
from gui.widgets.charts.chart import ChartCard, Mark, Series, TableColumn, part_colours
from gui.widgets.table import RecordsTable
from tests.helpers import spoken

Key = Qt.Key
COLUMNS = (TableColumn("Name", 0), TableColumn("Count", 10, figures=True))


def make_series(*heights: float, failed: int | None = None) -> Series:
    marks = tuple(
        Mark((height,), f"mark {index}: {height:g}", ((f"m{index}", index), (f"{height:g}", height)), index == failed)
        for index, height in enumerate(heights)
    )
    return Series(marks, summary="Some marks.", ends=("from", "to"))


def show_chart(qtbot, chart: QWidget, width: int = 300) -> QWidget:
    qtbot.addWidget(chart)
    chart.resize(width, max(chart.sizeHint().height(), 1))
    chart.show()
    return chart


def inked(picture: QImage, x: int, height: int) -> int:
    """Return the number of pixels of a column that differ from its top."""
    ground = picture.pixelColor(x, 0)
    return sum(picture.pixelColor(x, y) != ground for y in range(height))


def test_bar_height_is_proportional_to_value(qtbot, appearance):
    chart = show_chart(qtbot, BarChart("Sizes", 100))
    chart.show_series(make_series(10, 5, 0))
    picture = chart.grab().toImage()
    slot = 56  # the widest
    assert [inked(picture, slot * index + 20, 99) for index in range(3)] == [
        pytest.approx(96, abs=1),
        pytest.approx(48, abs=1),
        0,
    ]


def test_last_label_is_below_last_of_few_bars(qtbot, appearance):
    chart = show_chart(qtbot, BarChart("Sizes", 100), width=600)
    chart.show_series(make_series(10, 5, 7))
    footer = chart.grab(chart.rect().adjusted(0, 101, 0, 0)).toImage()
    columns = [x for x in range(footer.width()) if inked(footer, x, footer.height())]
    assert 3 * 56 - 8 <= max(columns) <= 3 * 56


@pytest.mark.parametrize(("width", "room"), [(600, True), (295, True), (200, False)])
def test_legend_is_shown_whole_or_not_at_all(qtbot, appearance, width, room):
    chart = show_chart(qtbot, BarChart("Files", 100), width=width)
    series = make_series(*range(1, 14))
    chart.show_series(replace(series, ends=("Nov. 2025", "Nov. 2026"), legend=("Notizen", "Sitzungen")))
    footer = chart.grab(chart.rect().adjusted(0, 101, 0, 0)).toImage()
    pixels = [footer.pixelColor(x, y) for x in range(footer.width()) for y in range(footer.height())]
    assert [ink in pixels for ink in part_colours(theme_tokens("light"))] == [room, room]


def test_many_bars_share_width(qtbot, appearance):
    chart = show_chart(qtbot, BarChart("Sizes", 100))
    chart.show_series(make_series(*range(1, 101)))
    assert chart.mark_at(QPointF(299, 50)) == 99
    assert chart.mark_at(QPointF(0, 50)) == 0
    assert chart.mark_at(QPointF(50, 110)) is None


def test_keys_move_between_bars_and_name_each(qtbot, appearance):
    chart = show_chart(qtbot, BarChart("Sizes", 100))
    chart.show_series(make_series(1, 2, 3))
    assert chart.accessibleName() == "Sizes"
    assert chart.accessibleDescription() == "Some marks."
    for key, name in (
        (Key.Key_Left, "mark 2: 3"),
        (Key.Key_Left, "mark 1: 2"),
        (Key.Key_Home, "mark 0: 1"),
        (Key.Key_Left, "mark 0: 1"),
        (Key.Key_Right, "mark 1: 2"),
        (Key.Key_End, "mark 2: 3"),
        (Key.Key_Right, "mark 2: 3"),
    ):
        qtbot.keyClick(chart, key)
        assert chart.accessibleName() == f"Sizes: {name}"
    with qtbot.waitSignal(chart.opened) as opened:
        qtbot.keyClick(chart, Key.Key_Return)
    assert opened.args[0].caption == "mark 2: 3"


def test_hover_names_bar_temporarily_and_click_permanently(qtbot, appearance):
    chart = show_chart(qtbot, BarChart("Sizes", 100))
    chart.show_series(make_series(1, 2, 3))
    qtbot.mouseMove(chart, QPoint(70, 50))
    qtbot.waitUntil(lambda: "mark 1" in chart.accessibleName())
    qtbot.mouseMove(chart, QPoint(250, 50))
    qtbot.waitUntil(lambda: chart.accessibleName() == "Sizes")
    qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(10, 50))
    qtbot.mouseMove(chart, QPoint(250, 50))
    assert "mark 0" in chart.accessibleName()


def test_chosen_mark_survives_new_series(qtbot, appearance):
    chart = show_chart(qtbot, BarChart("Sizes", 100))
    chart.show_series(make_series(1, 2))
    qtbot.keyClick(chart, Key.Key_Left)
    chart.show_series(make_series(1, 7, 3, 4))
    assert chart.accessibleName() == "Sizes: mark 1: 7"
    chart.show_series(make_series(1))
    assert chart.accessibleName() == "Sizes"


def visible(chart: BarChart) -> set[int]:
    """Return the marks that the mouse can reach."""
    found = {chart.mark_at(QPointF(x, 20)) for x in range(chart.width())}
    return {mark for mark in found if mark is not None}


def test_fixed_width_bars_show_newest_and_keys_reach_oldest(qtbot, appearance):
    chart = show_chart(qtbot, BarChart("Updates", 50, bar_width=16), width=280)
    chart.show_series(make_series(*range(1, 41)))
    assert visible(chart) == set(range(28, 40))
    for _ in range(15):
        qtbot.keyClick(chart, Key.Key_Left)
    assert "mark 25" in chart.accessibleName()
    assert 25 in visible(chart)
    qtbot.keyClick(chart, Key.Key_Home)
    assert visible(chart) == set(range(12))
    qtbot.keyClick(chart, Key.Key_End)
    assert visible(chart) == set(range(28, 40))
    few = show_chart(qtbot, BarChart("Updates", 50, bar_width=16), width=280)
    few.show_series(make_series(1, 2))
    assert visible(few) == {0, 1}


def test_failed_bar_is_hatched(qtbot, appearance):
    chart = show_chart(qtbot, BarChart("Updates", 100, bar_width=40))
    chart.show_series(make_series(10, 10, failed=1))
    picture = chart.grab().toImage()
    well = {picture.pixelColor(20, y).name() for y in range(20, 80)}
    hatched = {picture.pixelColor(80, y).name() for y in range(20, 80)}
    assert len(well) == 1
    assert len(hatched) > 1


def test_parts_of_bar_differ_by_pattern(qtbot, appearance):
    mark = Mark((3, 3), "Jan: 3 notes, 3 sessions", (("Jan", 1),))
    chart = show_chart(qtbot, BarChart("Files", 100))
    chart.show_series(Series((mark,), legend=("notes", "sessions")))
    picture = chart.grab().toImage()
    x = round(chart.rect_of_mark(0).center().x())
    assert len({picture.pixelColor(x, y).name() for y in range(60, 90)}) == 1
    assert len({picture.pixelColor(x, y).name() for y in range(15, 45)}) > 1


def test_adjacent_pieces_differ_by_pattern(qtbot, appearance):
    chart = show_chart(qtbot, ShareChart("On disk", 8), width=644)
    chart.show_series(make_series(*[1] * 8))
    picture = chart.grab().toImage()
    patterns = [_pattern(picture, 82 + 80 * index - 60) for index in range(8)]
    assert all(one != other for one, other in pairwise(patterns))
    assert len(set(patterns)) > 5


def _pattern(picture: QImage, left: int) -> tuple[bool, ...]:
    """Return the cells of a square that differ from its most frequent colour, on the grid of the pattern."""
    left += -left % 8
    pixels = [picture.pixelColor(left + x, 3 + y).name() for y in range(8) for x in range(16)]
    ground = max(set(pixels), key=pixels.count)
    return tuple(pixel != ground for pixel in pixels)


def test_pieces_share_bar_and_have_legend(qtbot, appearance):
    chart = show_chart(qtbot, ShareChart("On disk", 4), width=300)
    height = chart.sizeHint().height()
    chart.show_series(make_series(3, 1))
    assert chart.sizeHint().height() == height
    assert [chart.mark_at(QPointF(x, 8)) for x in (20, 200, 260)] == [0, 0, 1]
    assert chart.mark_at(chart.rect_of_mark(1).center()) == 1
    assert chart.mark_at(QPointF(20, height - 2)) is None
    picture = chart.grab().toImage()
    assert picture.pixelColor(60, 8) == theme_tokens("light").accent
    assert picture.pixelColor(260, 8) != theme_tokens("light").accent


def test_spark_chart_keeps_newest_at_right(qtbot, appearance):
    chart = show_chart(qtbot, SparkChart("Throughput", 50), width=100)
    chart.show_series(make_series(*range(1, 201)))
    points = {place: point.center() for place in range(200) if (point := chart.rect_of_mark(place)).isValid()}
    first, *_, last = points
    assert (first, last) == (200 - len(points), 199)
    assert len(points) < 200
    assert points[last].y() < points[first].y()
    assert max(points, key=lambda place: points[place].x()) == last
    assert chart.mark_at(points[last]) == 199
    assert chart.mark_at(points[first]) == first
    chart.grab()
    chart.show_series(make_series(0, 0))
    chart.grab()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scale", [0.8, 2.0])
def test_every_chart_paints_at_any_size_and_theme(qtbot, appearance, theme, scale):
    appearance.set_theme(theme)
    appearance.set_font_scale(scale)
    charts = (BarChart("a", 60), BarChart("b", 60, bar_width=10), ShareChart("c", 3), SparkChart("d", 40))
    for chart in charts:
        for width in (30, 400):
            show_chart(qtbot, chart, width)
            for series in (Series(), make_series(1, 0, 3), make_series(0, 0)):
                chart.show_series(series)
                chart.choose(0) if series.marks else None
                assert not chart.grab().isNull()


# --- the card ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def card(qtbot, appearance) -> ChartCard:
    card = ChartCard("Sizes", BarChart("Sizes", 100), COLUMNS, "Nothing yet.")
    qtbot.addWidget(card)
    card.resize(360, 200)
    with qtbot.waitActive(card):
        card.show()
        card.activateWindow()
    return card


def button(card: ChartCard) -> QPushButton:
    return card.findChild(QPushButton)


def test_card_without_marks_shows_empty_text(card):
    assert card.empty.isVisible()
    assert not button(card).isVisible()
    assert not any(action.isEnabled() for action in card.actions())
    card.show_series(make_series(1))
    assert card.chart.isVisible()
    assert all(action.isEnabled() for action in card.actions())
    assert not card.empty.isVisible()
    assert card.accessibleDescription() == "Some marks."


def test_t_key_toggles_chart_and_table(qtbot, card):
    card.show_series(make_series(5, 7))
    toggle = card.actions()[0]
    assert toggle.text() == "Show as table"
    card.chart.setFocus()
    qtbot.keyClick(card.chart, Key.Key_T)
    assert card.table.isVisible()
    assert card.table.hasFocus()
    assert not card.chart.isVisible()
    model = card.table.model()
    assert [model.index(row, 1).data() for row in range(2)] == ["5", "7"]
    assert button(card).accessibleName() == "Sizes: show as chart"
    assert toggle.text() == "Show as chart"
    qtbot.keyClick(card.table, Key.Key_T)
    assert card.chart.hasFocus()


def test_card_makes_its_table_when_turned(qtbot, card):
    card.show_series(make_series(5, 7))
    assert card.findChild(RecordsTable) is None
    card.toggle_table()
    assert card.findChild(RecordsTable) is card.table
    assert stops(card)[-1] is card.table
    card.toggle_table()
    assert not card.table.isVisible()


def test_turned_card_grows_with_the_text(card, appearance):
    card.show_series(make_series(5, 7))
    card.toggle_table()
    before = card.table.height()
    appearance.set_font_scale(2.0)
    assert card.table.height() > 1.5 * before


def test_table_is_copied_from_chart_and_table(qtbot, card):
    card.show_series(make_series(5, 7))
    for side in (card.chart, card.table):
        QGuiApplication.clipboard().clear()
        side.setFocus()
        qtbot.keyClick(side, Key.Key_C, Qt.KeyboardModifier.ControlModifier)
        assert QGuiApplication.clipboard().text() == "Name\tCount\nm0\t5\nm1\t7"
        card.toggle_table()


def test_enter_opens_row_like_mark(qtbot, card):
    card.show_series(make_series(5, 7))
    card.toggle_table()
    card.table.setFocus()
    card.table.selectRow(1)
    with qtbot.waitSignal(card.chart.opened) as opened:
        qtbot.keyClick(card.table, Key.Key_Return)
    assert opened.args[0].caption == "mark 1: 7"


def test_t_key_outside_card_types_a_letter(qtbot, appearance):
    page = QWidget()
    qtbot.addWidget(page)
    column = QVBoxLayout(page)
    edit, card = QLineEdit(), ChartCard("Sizes", BarChart("Sizes", 100), COLUMNS, "Nothing yet.")
    card.show_series(make_series(1))
    for part in (edit, card):
        column.addWidget(part)
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    edit.setFocus()
    qtbot.keyClicks(edit, "tt")
    assert edit.text() == "tt"
    assert card.chart.isVisible()


@pytest.mark.usefixtures("right_to_left")
@pytest.mark.parametrize("kind", [BarChart, SparkChart])
def test_right_to_left_chart_mirrors_marks_and_hit_testing(qtbot, appearance, kind):
    chart = show_chart(qtbot, kind("Sizes", 100))
    chart.show_series(make_series(*range(1, 13)))
    picture = chart.grab().toImage()
    first, last = (chart.spoken_parts()[place].rect for place in (0, 11))
    assert first.center().x() > last.center().x()
    assert inked(picture, last.center().x(), 99) > inked(picture, first.center().x(), 99)
    for place, rect in ((0, first), (11, last)):
        qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=rect.center())
        assert chart.chosen == place
    chart.choose(5)
    qtbot.keyClick(chart, Key.Key_Left)
    assert chart.chosen == 6
    qtbot.keyClick(chart, Key.Key_Right)
    assert chart.chosen == 5


def test_screen_reader_walk_reads_parts_less_than_once_each(qtbot, appearance, monkeypatch):
    describe_painted_widgets()
    chart = show_chart(qtbot, BarChart("Sizes", 100))
    chart.show_series(make_series(*range(1, 31)))
    read, calls = BarChart.spoken_parts, []
    monkeypatch.setattr(BarChart, "spoken_parts", lambda self: calls.append(None) or read(self))
    names = [spoken.name(one) for one in spoken.walk(spoken.of(chart))][1:]
    assert names == [mark.detail or mark.caption for mark in chart.series.marks]
    assert len(calls) < len(names)
