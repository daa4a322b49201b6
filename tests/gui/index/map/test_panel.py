"""The map of the index in use: showing, moving, pointing and selecting, by mouse and keyboard."""

from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel, QListWidget, QPushButton, QWidget

from engine import IndexCorrupt, SearchOutcome, SearchTimings
from gui.index.map import map_view
from gui.index.map.group_names import PlacedName, place_names
from gui.index.map.panel import MapPanel
from gui.index.map.point_image import Appearance, PointImage
from gui.search.query import Answer, Query
from gui.style.theme import tokens
from gui.widgets.labels import ElidedLabel
from tests.helpers.fake_map import empty_map, make_map
from tests.helpers.fake_records import result_of

LEFT = Qt.MouseButton.LeftButton
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def _calm(qtbot, panel: MapPanel) -> None:
    qtbot.waitUntil(lambda: not panel.busy)


def _subtitle(panel: MapPanel) -> str:
    return panel.header.findChild(ElidedLabel).text()


def _message(panel: MapPanel) -> list[str]:
    """Return the title and the text that are shown instead of the map."""
    labels = panel.message.findChildren(QLabel)
    return [label.text().replace("\u200b", "") for label in labels if label.isVisible()]


def _button(parent: QWidget, words: str) -> QPushButton:
    return next(button for button in parent.findChildren(QPushButton) if button.text() == words)


def _image(panel: MapPanel) -> QImage:
    return panel.canvas.grab().toImage()


def _has_colour_near(panel: MapPanel, at: QPointF, reach: int = 3) -> bool:
    """Whether anything but the ground is painted there."""
    image, ground = _image(panel), tokens(panel.palette()).base
    place = at.toPoint()
    pixels = [place + QPoint(x, y) for x in range(-reach, reach + 1) for y in range(-reach, reach + 1)]
    return any(image.pixelColor(location) != ground for location in pixels if image.valid(location))


def _answer(text: str, make_result, count: int = 2) -> Answer:
    outcome = SearchOutcome(
        results=tuple(make_result(line=number) for number in range(1, count + 1)),
        total=count,
        provider="embedded",
        model="m",
        mode="hybrid",
        timings=SearchTimings(analysis=0, keyword=0, embed=0, vector=0, merge=0, total=1),
        notice="",
        explanation=None,
    )
    return Answer(Query(text), outcome, final=True)


@pytest.fixture
def make_result():
    from engine import MemorySearchResult

    def make(line: int) -> MemorySearchResult:
        return result_of(
            path="daily/note.md",
            start_line=line,
            end_line=line,
            score=0.5,
            snippet="",
            source="memory",
            citation="",
            title="",
            heading=(),
            modified=0.0,
            snippet_line=line,
            match_ranges=(),
            text_score=0.5,
            vector_score=None,
            text_share=1.0,
        )

    return make


# --- shown on the map  ---------------------------------------------------------------------------------------------


def test_every_point_is_painted_at_its_position(map_panel: MapPanel) -> None:
    assert all(_has_colour_near(map_panel, map_panel.canvas.pixel_of(point)) for point in range(30))
    assert not _has_colour_near(map_panel, QPointF(12, 12))
    assert _subtitle(map_panel) == "30 passages. Similar ones sit together"
    assert [item.accessibleName() for item in map_panel.legend.items] == [
        "daily, 10 passages",
        "projects, 10 passages",
        "topics, 10 passages",
    ]


def test_subtitle_counts_chunks_without_vector(qtbot, map_panel: MapPanel, insight) -> None:
    insight.map = make_map(30, chunks=120, stamp=2, layout="directions")
    map_panel.refresh()
    qtbot.waitUntil(lambda: not map_panel.busy and insight.made == 2)
    assert _subtitle(map_panel) == "30 of 120 passages (25% ready), placed by meaning"


@pytest.mark.parametrize(
    ("gap", "chunks", "title", "words"),
    [
        ("no-model", 10, "No map without a model", "built-in model needs neither a key nor a network"),
        ("no-chunks", 0, "Nothing is indexed yet", "as soon as notes or sessions have been read"),
        ("no-vectors", 12, "Nothing has a vector yet", "12 passages wait for a vector, 0% ready"),
    ],
)
def test_map_without_points_shows_reason(qtbot, panel, memory, insight, gap, chunks, title, words) -> None:
    insight.map = empty_map(gap, chunks)
    panel.set_manager(memory)
    qtbot.waitUntil(lambda: insight.made == 1 and not panel.busy)
    message = _message(panel)
    assert message[0] == title
    assert words in message[1]
    assert not panel.canvas.isVisible()
    assert not panel.header.lasso.isEnabled()
    insight.map = make_map()
    panel.refresh()
    qtbot.waitUntil(lambda: panel.prepared is not None and not panel.busy)
    assert panel.canvas.isVisible()


def test_computing_map_shows_progress(qtbot, panel, memory, insight) -> None:
    insight.released.clear()
    panel.set_manager(memory)
    qtbot.waitUntil(panel.progress.isVisible)
    assert _message(panel)[-1] == "Arranging the points of the map, 43%"
    assert panel.progress.value() == 430
    insight.released.set()
    _calm(qtbot, panel)
    assert panel.canvas.isVisible()


def test_previous_map_is_shown_until_new_one_is_ready(qtbot, panel, memory, insight) -> None:
    insight.last = make_map(12)
    insight.released.clear()
    panel.set_manager(memory)
    qtbot.waitUntil(lambda: "arranging the points of the map, 43%" in _subtitle(panel))
    assert len(panel.prepared.scene) == 12
    assert panel.canvas.isVisible()
    insight.released.set()
    _calm(qtbot, panel)
    assert len(panel.prepared.scene) == 30
    assert _subtitle(panel) == "30 passages. Similar ones sit together"


def test_principal_component_map_is_replaced_by_neighbours(qtbot, panel, memory, insight) -> None:
    insight.first = make_map(layout="directions")
    insight.released.clear()
    panel.set_manager(memory)
    qtbot.waitUntil(lambda: panel.prepared is not None)
    assert panel.prepared.scene.record.layout == "directions"
    insight.released.set()
    _calm(qtbot, panel)
    assert panel.prepared.scene.record.layout == "neighbours"


@pytest.mark.parametrize("still", [False, True])
def test_map_fades_to_its_final_layout(qtbot, panel, memory, insight, monkeypatch, still: bool) -> None:
    reduced_motion = SimpleNamespace(styleHint=lambda *_: 0)
    if still:
        monkeypatch.setattr(panel.canvas, "style", lambda: reduced_motion)
    insight.first = make_map(layout="directions")
    insight.map = make_map(60)
    insight.released.clear()
    panel.set_manager(memory)
    qtbot.waitUntil(lambda: panel.prepared is not None and not panel.canvas.picture.busy)
    before = _image(panel)
    map_panel = []
    panel.canvas.picture.drawn.connect(lambda: map_panel.append((panel.canvas.fading, _image(panel))))
    insight.released.set()
    qtbot.waitUntil(lambda: bool(map_panel))
    fading, image = map_panel[0]
    assert fading is not still
    _calm(qtbot, panel)
    assert not panel.canvas.fading
    assert (_image(panel) == image) is still
    assert _image(panel) != before


def test_index_change_keeps_existing_points_in_place(qtbot, map_panel, insight) -> None:
    map_panel.canvas.zoom(3.0, QPointF(200, 150))
    before = map_panel.canvas.pixel_of(4)
    insight.map = make_map(40, stamp=2)
    points = np.frombuffer(make_map(30).points, np.float32)
    more = np.concatenate([points, np.full(20, 30, np.float32)])
    insight.map = msgspec.structs.replace(insight.map, points=more.tobytes())
    map_panel.refresh()
    qtbot.waitUntil(lambda: map_panel.prepared is not None and len(map_panel.prepared.scene) == 40)
    assert map_panel.canvas.pixel_of(4) == before


def test_unchanged_map_is_not_rebuilt(qtbot, map_panel, insight) -> None:
    before = map_panel.prepared
    insight.map = make_map()
    map_panel.refresh()
    qtbot.waitUntil(lambda: insight.made == 2 and not map_panel.busy)
    assert map_panel.prepared is before


def test_hidden_map_is_not_computed(qtbot, panel, memory, insight) -> None:
    panel.hide()
    panel.set_manager(memory)
    panel.refresh()
    assert insight.made == 0
    panel.show()
    qtbot.waitUntil(lambda: insight.made >= 1)
    _calm(qtbot, panel)


def test_failed_map_shows_error(qtbot, panel, memory, insight) -> None:
    insight.error = IndexCorrupt("The index is damaged.")
    panel.set_manager(memory)
    _calm(qtbot, panel)
    assert _message(panel) == ["The map cannot be shown", "The index is damaged."]


def test_manager_change_resets_map(qtbot, map_panel, insight, memory) -> None:
    insight.released.clear()
    map_panel.set_manager(None)
    assert map_panel.prepared is None
    assert not map_panel.canvas.isVisible()
    map_panel.set_manager(memory)
    insight.released.set()
    qtbot.waitUntil(lambda: map_panel.prepared is not None and not map_panel.busy)


# --- colours ----------------------------------------------------------------------------------------------------------


def test_colour_choice_regroups_points(qtbot, map_panel: MapPanel) -> None:
    map_panel.header.colour.setCurrentIndex(map_panel.header.colour.findData("age"))
    _calm(qtbot, map_panel)
    assert map_panel.prepared.grouping.kind == "age"
    map_panel.header.colour.setCurrentIndex(map_panel.header.colour.findData("source"))
    _calm(qtbot, map_panel)
    assert [item.accessibleName() for item in map_panel.legend.items] == ["Notes, 30 passages"]


def test_legend_click_isolates_group_and_second_shows_all(qtbot, map_panel: MapPanel) -> None:
    other = map_panel.canvas.pixel_of(1)
    strong = _image(map_panel).pixelColor(other.toPoint())
    qtbot.mouseClick(map_panel.legend.items[0], LEFT)
    _calm(qtbot, map_panel)
    faint = _image(map_panel).pixelColor(other.toPoint())
    assert faint.saturation() < strong.saturation()
    qtbot.mouseClick(map_panel.legend.items[0], LEFT)
    _calm(qtbot, map_panel)
    assert _image(map_panel).pixelColor(other.toPoint()) == strong


def test_legend_uses_signs_of_points(qtbot, map_panel: MapPanel, monkeypatch) -> None:
    looks: list[Appearance] = []
    monkeypatch.setattr(PointImage, "show", lambda _, look, view: looks.append(look))
    qtbot.mouseClick(map_panel.legend.items[0], LEFT)
    markers = [item.marker for item in map_panel.legend.items]
    assert len(set(markers)) == len(markers) > 1
    assert tuple(markers) == looks[-1].markers


def test_theme_change_updates_colours(qtbot, map_panel: MapPanel, appearance) -> None:
    before = [item.colour for item in map_panel.legend.items]
    appearance.set_theme("dark")
    _calm(qtbot, map_panel)
    assert [item.colour for item in map_panel.legend.items] != before
    assert _image(map_panel).pixelColor(12, 12) == tokens(map_panel.palette()).base
    assert _has_colour_near(map_panel, map_panel.canvas.pixel_of(0))


# --- moving -----------------------------------------------------------------------------------------------------------


def test_drag_moves_map_and_opens_nothing(qtbot, map_panel: MapPanel) -> None:
    before = map_panel.canvas.pixel_of(7)
    with qtbot.assertNotEmitted(map_panel.open_requested):
        qtbot.mousePress(map_panel.canvas, LEFT, pos=before.toPoint())
        qtbot.mouseMove(map_panel.canvas, before.toPoint() + QPoint(20, 0))
        qtbot.mouseMove(map_panel.canvas, before.toPoint() + QPoint(60, 30))
        qtbot.mouseRelease(map_panel.canvas, LEFT, pos=before.toPoint() + QPoint(60, 30))
        _calm(qtbot, map_panel)
    moved = map_panel.canvas.pixel_of(7) - before
    assert (moved.x(), moved.y()) == pytest.approx((60, 30), abs=1.5)
    assert _has_colour_near(map_panel, map_panel.canvas.pixel_of(7))


def _turn(panel: MapPanel, at: QPointF, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
    """Turn the wheel forward."""
    none, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    turn = QWheelEvent(at, panel.canvas.mapToGlobal(at), QPoint(), QPoint(0, 240), none, modifiers, phase, False)
    QApplication.sendEvent(panel.canvas, turn)


def test_wheel_zooms_around_mouse(qtbot, map_panel: MapPanel) -> None:
    at = map_panel.canvas.pixel_of(3)
    map_panel.canvas.setFocus()
    scale = map_panel.canvas.view.scale
    _turn(map_panel, at)
    assert map_panel.canvas.view.scale > 1.3 * scale
    now = map_panel.canvas.pixel_of(3)
    assert (now.x(), now.y()) == pytest.approx((at.x(), at.y()), abs=0.01)
    _calm(qtbot, map_panel)
    assert _has_colour_near(map_panel, now)
    qtbot.mouseClick(map_panel.header.fit, LEFT)
    assert map_panel.canvas.view.scale == pytest.approx(scale)


def test_names_are_placed_again_once_a_zoomed_map_is_drawn(qtbot, map_panel: MapPanel, monkeypatch) -> None:
    canvas = map_panel.canvas
    qtbot.waitUntil(lambda: not canvas.picture.busy)
    canvas.repaint()
    scales = []

    def counted(scene, names, hits, scale, *sizes):
        scales.append(scale)
        return place_names(scene, names, hits, scale, *sizes)

    monkeypatch.setattr(map_view, "place_names", counted)
    for _ in range(3):
        canvas.zoom(1.3)
        canvas.repaint()
    assert canvas.picture.busy
    assert not scales
    qtbot.waitUntil(lambda: bool(scales))
    assert scales == [canvas.view.scale]


def test_zoomed_name_stays_next_to_its_group() -> None:
    name = PlacedName("daily", QPointF(10, -20), QRectF(12, -50, 40, 15)).zoomed(3)
    assert (name.peak, name.box) == (QPointF(30, -60), QRectF(32, -90, 40, 15))


def test_double_click_on_background_zooms_in(qtbot, map_panel: MapPanel) -> None:
    scale = map_panel.canvas.view.scale
    qtbot.mouseDClick(map_panel.canvas, LEFT, pos=QPoint(10, 10))
    assert map_panel.canvas.view.scale == pytest.approx(2 * scale)
    _calm(qtbot, map_panel)


def test_keys_move_and_zoom_map(qtbot, map_panel: MapPanel) -> None:
    map_panel.canvas.setFocus()
    view = map_panel.canvas.view
    qtbot.keyClick(map_panel.canvas, Qt.Key.Key_Right)
    assert map_panel.canvas.view.across > view.across
    qtbot.keyClick(map_panel.canvas, Qt.Key.Key_Up)
    assert map_panel.canvas.view.up > view.up
    qtbot.keyClick(map_panel.canvas, Qt.Key.Key_Plus)
    assert map_panel.canvas.view.scale > view.scale
    qtbot.keyClick(map_panel.canvas, Qt.Key.Key_Minus)
    qtbot.keyClick(map_panel.canvas, Qt.Key.Key_0)
    assert map_panel.canvas.view == view
    _calm(qtbot, map_panel)


def test_resize_keeps_points_in_view(qtbot, map_panel: MapPanel) -> None:
    map_panel.window().resize(500, 420)
    _calm(qtbot, map_panel)
    positions = [map_panel.canvas.pixel_of(point) for point in range(30)]
    assert all(map_panel.canvas.rect().contains(place.toPoint()) for place in positions)
    assert all(_has_colour_near(map_panel, place) for place in positions)


# --- one point --------------------------------------------------------------------------------------------------------


def test_hover_shows_card_of_point(qtbot, map_panel: MapPanel) -> None:
    qtbot.mouseMove(map_panel.canvas, map_panel.canvas.pixel_of(4).toPoint())
    qtbot.waitUntil(map_panel.map_selection.card.isVisible)
    assert [part.text() for part in map_panel.map_selection.card.findChildren(ElidedLabel)][:2] == [
        "Note 1 › Watering",
        "words of chunk 104",
    ]
    assert map_panel.canvas.rect().contains(map_panel.map_selection.card.geometry())
    qtbot.mouseMove(map_panel.canvas, QPoint(8, 8))
    assert not map_panel.map_selection.card.isVisible()


def test_click_opens_chunk(qtbot, map_panel: MapPanel) -> None:
    with qtbot.waitSignal(map_panel.open_requested) as opened:
        qtbot.mouseClick(map_panel.canvas, LEFT, pos=map_panel.canvas.pixel_of(5).toPoint())
    assert opened.args == ["topics/note.md", 105]


def test_deleted_chunk_opens_nothing(qtbot, map_panel: MapPanel, insight) -> None:
    insight.gone = {105}
    with qtbot.assertNotEmitted(map_panel.open_requested):
        qtbot.mouseClick(map_panel.canvas, LEFT, pos=map_panel.canvas.pixel_of(5).toPoint())
        qtbot.waitUntil(lambda: (105,) in insight.requests)
        QApplication.processEvents()


def test_keys_move_between_points_and_open_chunk(qtbot, map_panel: MapPanel) -> None:
    map_panel.canvas.setFocus()
    qtbot.keyClick(map_panel.canvas, Qt.Key.Key_Right, CTRL)
    first = map_panel.canvas.point
    assert first >= 0
    qtbot.keyClick(map_panel.canvas, Qt.Key.Key_Right, CTRL)
    second = map_panel.canvas.point
    assert map_panel.canvas.pixel_of(second).x() > map_panel.canvas.pixel_of(first).x()
    qtbot.waitUntil(map_panel.map_selection.card.isVisible)
    labels = [part.text() for part in map_panel.map_selection.card.findChildren(ElidedLabel)]
    assert f"words of chunk {100 + second}" in labels
    with qtbot.waitSignal(map_panel.open_requested) as opened:
        qtbot.keyClick(map_panel.canvas, Qt.Key.Key_Return)
    assert opened.args[1] == 100 + second
    qtbot.keyClick(map_panel.canvas, Qt.Key.Key_Escape)
    assert map_panel.canvas.point == -1
    assert not map_panel.map_selection.card.isVisible()


def test_map_has_accessible_description(map_panel: MapPanel) -> None:
    words = map_panel.canvas.accessibleDescription()
    assert "30 passages. Similar ones sit together" in words
    assert "daily 10, projects 10, topics 10" in words
    assert "Enter opens it" in words


# --- the query in the search box --------------------------------------------------------------------------------------


def test_query_and_results_are_marked_then_cleared(qtbot, map_panel, insight, make_result) -> None:
    middle = QPointF(*map_panel.canvas.view.to_pixels(5.0, 4.0))
    assert not _has_colour_near(map_panel, middle, 14)
    map_panel.show_answer(_answer("irrigation", make_result))
    _calm(qtbot, map_panel)
    assert _has_colour_near(map_panel, middle, 14)
    marked = _image(map_panel).pixelColor(map_panel.canvas.pixel_of(0).toPoint())
    assert marked == tokens(map_panel.palette()).mark
    assert insight.queries == ["irrigation"]
    map_panel.show_answer(None)
    assert not _has_colour_near(map_panel, middle, 14)


def test_keyword_query_marks_only_results(qtbot, map_panel, insight, make_result) -> None:
    insight.point = None
    map_panel.show_answer(_answer("irrigation", make_result, 1))
    _calm(qtbot, map_panel)
    assert map_panel.canvas.marks.query is None
    assert map_panel.canvas.marks.hits == (0,)


def test_non_final_answer_and_hidden_map_are_ignored(qtbot, map_panel, insight, make_result) -> None:
    final = _answer("irrigation", make_result)
    map_panel.show_answer(Answer(final.query, final.outcome, final=False))
    assert insight.queries == []
    map_panel.hide()
    map_panel.show_answer(final)
    assert insight.queries == []
    map_panel.show()
    qtbot.waitUntil(lambda: insight.queries == ["irrigation"] and not map_panel.busy)


def test_query_before_map_is_marked_when_map_is_ready(qtbot, panel, memory, insight, make_result) -> None:
    panel.set_manager(memory)
    panel.show_answer(_answer("irrigation", make_result))
    qtbot.waitUntil(lambda: insight.queries == ["irrigation"] and not panel.busy)
    assert panel.canvas.marks.hits == (0, 1)


# --- the list ---------------------------------------------------------------------------------------------------------


def _encircle(qtbot, panel: MapPanel, points: list[int], modifier=Qt.KeyboardModifier.NoModifier) -> None:
    """Draw a loop around some points."""
    positions = [panel.canvas.pixel_of(point) for point in points]
    left, right = min(place.x() for place in positions) - 14, max(place.x() for place in positions) + 14
    top, bottom = min(place.y() for place in positions) - 14, max(place.y() for place in positions) + 14
    corners = [QPoint(round(x), round(y)) for x, y in ((left, top), (right, top), (right, bottom), (left, bottom))]
    qtbot.mousePress(panel.canvas, LEFT, modifier, corners[0])
    for corner in (*corners[1:], corners[0] + QPoint(0, 3)):
        qtbot.mouseMove(panel.canvas, corner)
    qtbot.mouseRelease(panel.canvas, LEFT, modifier, corners[0])
    qtbot.waitUntil(lambda: not panel.busy)


@pytest.mark.parametrize("by_shift", [True, False])
def test_lasso_lists_enclosed_chunks(qtbot, map_panel: MapPanel, by_shift: bool) -> None:
    daily = list(range(0, 30, 3))
    if not by_shift:
        qtbot.mouseClick(map_panel.header.lasso, LEFT)
    _encircle(qtbot, map_panel, daily, SHIFT if by_shift else Qt.KeyboardModifier.NoModifier)
    assert map_panel.map_selection.list.isVisible()
    assert map_panel.map_selection.list.chunks == tuple(100 + point for point in daily)
    assert map_panel.map_selection.list.findChild(QLabel).text() == "10 passages"
    assert map_panel.map_selection.list.list.item(1).text() == "Note 0 › Watering\ndaily/note.md#L103-L107"
    assert not map_panel.header.lasso.isChecked()


def test_row_height_is_constant_across_scripts(qtbot, map_panel: MapPanel, insight) -> None:
    _encircle(qtbot, map_panel, [0, 3, 6], SHIFT)
    rows = map_panel.map_selection.list.list
    height = rows.visualItemRect(rows.item(0)).height()
    assert height >= 2 * rows.fontMetrics().height()
    rows.item(0).setText("비 오는 날 중 中秋节\ncards/rain.md#L1-L3")
    rows.doItemsLayout()
    assert rows.visualItemRect(rows.item(0)).height() == height
    assert _ink(rows, 0, lower=True)  # where Qt wrote one line alone


def _ink(rows: QListWidget, row: int, *, lower: bool) -> bool:
    """Whether anything is written in that half of a row."""
    rect = rows.visualItemRect(rows.item(row))
    half = rect.adjusted(20, rect.height() // 2 + 4 if lower else 0, -20, -4 if lower else -rect.height() // 2)
    image = rows.viewport().grab(half).toImage()
    return len({image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}) > 1


def test_tab_moves_from_map_to_legend(qtbot, map_panel: MapPanel) -> None:
    map_panel.canvas.setFocus()
    qtbot.keyClick(map_panel.canvas, Qt.Key.Key_Tab)
    for item in map_panel.legend.items:
        assert item.hasFocus()
        qtbot.keyClick(item, Qt.Key.Key_Tab)


def test_selection_list_opens_copies_and_closes(qtbot, map_panel: MapPanel) -> None:
    _encircle(qtbot, map_panel, [0, 3, 6], SHIFT)
    listed = map_panel.map_selection.list
    listed.list.setFocus()
    qtbot.keyClick(listed.list, Qt.Key.Key_Down)
    assert map_panel.canvas.point == listed.chunks[1] - 100
    with qtbot.waitSignal(map_panel.open_requested) as opened:
        qtbot.mouseClick(_button(listed, "Open"), LEFT)
    assert opened.args == ["daily/note.md", listed.chunks[1]]
    qtbot.mouseClick(_button(listed, "Copy citations"), LEFT)
    assert QGuiApplication.clipboard().text().splitlines() == [place.citation for place in listed.details]
    listed.list.setFocus()
    qtbot.keyClick(listed.list, Qt.Key.Key_Escape)
    assert not listed.isVisible()
    assert map_panel.canvas.hasFocus()
    _calm(qtbot, map_panel)


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Space])
def test_enter_without_point_moves_to_nearest(qtbot, map_panel: MapPanel, key) -> None:
    map_panel.canvas.setFocus()
    with qtbot.assertNotEmitted(map_panel.open_requested):
        qtbot.keyClick(map_panel.canvas, key)
    assert map_panel.canvas.point >= 0
    qtbot.waitUntil(map_panel.map_selection.card.isVisible)


def test_keys_select_single_points_and_all_in_view(qtbot, map_panel: MapPanel) -> None:
    map_panel.canvas.setFocus()
    qtbot.keyClick(map_panel.canvas, Qt.Key.Key_Left, CTRL)
    first = map_panel.canvas.point
    qtbot.keyClick(map_panel.canvas, Qt.Key.Key_Space)
    _calm(qtbot, map_panel)
    assert map_panel.map_selection.list.chunks == (100 + first,)
    qtbot.keyClick(map_panel.canvas, Qt.Key.Key_Space)
    _calm(qtbot, map_panel)
    assert map_panel.map_selection.list.chunks == ()
    qtbot.keyClick(map_panel.canvas, Qt.Key.Key_A, CTRL)
    _calm(qtbot, map_panel)
    assert len(map_panel.map_selection.list.chunks) == 30


def test_isolated_group_limits_selection(qtbot, map_panel: MapPanel) -> None:
    qtbot.mouseClick(map_panel.legend.items[1], LEFT)
    map_panel.canvas.setFocus()
    qtbot.keyClick(map_panel.canvas, Qt.Key.Key_A, CTRL)
    _calm(qtbot, map_panel)
    assert map_panel.map_selection.list.chunks == tuple(range(101, 130, 3))


def test_narrow_panel_places_list_below_map(qtbot, map_panel: MapPanel) -> None:
    map_panel.canvas.all_requested.emit()
    _calm(qtbot, map_panel)
    assert map_panel.map_selection.list.x() > map_panel.canvas.geometry().right()
    map_panel.window().resize(480, 520)
    qtbot.waitUntil(lambda: map_panel.map_selection.list.y() > map_panel.canvas.geometry().bottom())
    _calm(qtbot, map_panel)


def test_new_points_stay_in_fitted_view(qtbot, map_panel: MapPanel, insight) -> None:
    points = 3 * np.frombuffer(insight.map.points, np.float32)
    insight.map = msgspec.structs.replace(insight.map, points=points.tobytes(), stamp=2)
    map_panel.refresh()
    qtbot.waitUntil(lambda: insight.made == 2 and not map_panel.busy)
    assert all(map_panel.canvas.rect().contains(map_panel.canvas.pixel_of(point).toPoint()) for point in range(30))


# --- as a card on the overview ----------------------------------------------------------------------------------------


def test_wheel_zooms_only_with_focus_or_ctrl(qtbot, map_panel: MapPanel) -> None:
    map_panel.header.fit.setFocus()
    scale = map_panel.canvas.view.scale
    _turn(map_panel, QPointF(50, 50))
    assert map_panel.canvas.view.scale == scale
    _turn(map_panel, QPointF(50, 50), CTRL)
    assert map_panel.canvas.view.scale > scale
    scale = map_panel.canvas.view.scale
    map_panel.canvas.setFocus()
    _turn(map_panel, QPointF(50, 50))
    assert map_panel.canvas.view.scale > scale
    _calm(qtbot, map_panel)


def test_card_opens_map_page(qtbot, map_panel: MapPanel) -> None:
    with qtbot.waitSignal(map_panel.action_requested) as signal:
        qtbot.mouseClick(map_panel.header.enlarge, LEFT)
    assert signal.args == ["map"]


@pytest.mark.parametrize(
    ("gap", "chunks", "words", "action"),
    [("no-model", 3, "Choose a model…", "settings"), ("no-chunks", 0, "Update now", "sync")],
)
def test_empty_map_offers_remedy(qtbot, panel, memory, insight, gap, chunks, words, action) -> None:
    insight.map = empty_map(gap, chunks)
    panel.set_manager(memory)
    qtbot.waitUntil(lambda: not panel.busy and bool(panel.message.findChildren(QPushButton)))
    [remedy] = panel.message.findChildren(QPushButton)
    assert remedy.text() == words
    with qtbot.waitSignal(panel.action_requested) as signal:
        qtbot.mouseClick(remedy, LEFT)
    assert signal.args == [action]
