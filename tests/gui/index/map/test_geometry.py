"""Geometry of the map: pan and zoom, finding points, groups, and the painted points."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPolygonF

from engine import Cancelled, CancelToken, MapFile
from gui.index.map.group_names import PlacedName, paint_names, place_names
from gui.index.map.groups import (
    CIRCLE,
    MIN_SHAPE_RADIUS,
    OTHERS,
    POLYGONS,
    RING,
    TOP_FOLDER,
    group,
    marker_path,
    markers_of,
)
from gui.index.map.scene import GroupStyles, PointIndex, Scene, Viewport, draw_points
from gui.style.theme import theme_tokens
from tests.helpers.fake_map import NOW, make_map

POINTS = np.random.default_rng(3).normal(0, 20, (400, 2)).astype(np.float32)
GRID = PointIndex(POINTS)

location = st.tuples(st.floats(-60, 60), st.floats(-60, 60))
pixel = st.floats(0, 400)


# --- the view ---------------------------------------------------------------------------------------------------------


def _view() -> Viewport:
    return Viewport(box=(-10, -5, 30, 15)).resized(400, 300).fit()


def test_fitted_view_shows_every_corner() -> None:
    view = _view()
    for across, up in ((-10, -5), (30, 15), (-10, 15), (30, -5)):
        x, y = view.to_pixels(across, up)
        assert 0 <= x <= 400
        assert 0 <= y <= 300
    assert view.to_pixels(0, 15)[1] < view.to_pixels(0, -5)[1]


@given(factor=st.floats(0.1, 10), x=pixel, y=pixel, times=st.integers(1, 5))
def test_zoom_keeps_point_under_mouse(factor: float, x: float, y: float, times: int) -> None:
    view = _view()
    before = view.to_units(x, y)
    inside = -10 <= before[0] <= 30 and -5 <= before[1] <= 15
    for _ in range(times):
        view = view.zoomed(factor, x, y)
    middle = view.across, view.up
    held = -10 < middle[0] < 30 and -5 < middle[1] < 15  # unless the map was forced into view
    if inside and held:
        assert view.to_units(x, y) == pytest.approx(before, abs=1e-6)
    assert view.fitting * 0.49 < view.scale < view.fitting * 401


@given(steps=st.lists(st.tuples(st.floats(-900, 900), st.floats(-900, 900)), max_size=6))
def test_panned_view_keeps_part_of_map_visible(steps: list[tuple[float, float]]) -> None:
    view = _view().zoomed(3, 100, 100)
    for right, down in steps:
        view = view.panned(right, down)
    assert -10 <= view.across <= 30
    assert -5 <= view.up <= 15


@given(width=st.floats(1, 2000), height=st.floats(1, 2000))
def test_resize_keeps_centre_and_zoom(width: float, height: float) -> None:
    view = _view().zoomed(4, 50, 60)
    other = view.resized(width, height)
    assert (other.across, other.up) == (view.across, view.up)
    assert other.scale / other.fitting == pytest.approx(view.scale / view.fitting)


@given(across=st.floats(-10, 30), up=st.floats(-5, 15))
def test_point_is_brought_into_view(across: float, up: float) -> None:
    x, y = _view().zoomed(6, 10, 10).showing(across, up, 30).to_pixels(across, up)
    assert 29.9 <= x <= 370.1
    assert 29.9 <= y <= 270.1


# --- looking for points -----------------------------------------------------------------------------------------------


@given(at=location, reach=st.floats(0.01, 50))
def test_nearest_point_matches_brute_force(at: tuple[float, float], reach: float) -> None:
    gaps = np.hypot(*(POINTS - np.array(at, np.float32)).T)
    found = GRID.nearest(*at, reach)
    if found < 0:
        assert gaps.min() > reach * 0.9999
    else:
        assert gaps[found] == pytest.approx(gaps.min(), abs=1e-4)
        assert gaps[found] <= reach


@given(one=location, other=location)
def test_rectangle_query_matches_brute_force(one: tuple[float, float], other: tuple[float, float]) -> None:
    left, right = sorted((one[0], other[0]))
    low, high = sorted((one[1], other[1]))
    wanted = [number for number, (x, y) in enumerate(POINTS.tolist()) if left <= x <= right and low <= y <= high]
    assert sorted(GRID.within(left, low, right, high).tolist()) == wanted
    assert GRID.count(left, low, right, high) == len(wanted)


@given(loop=st.lists(location, max_size=12))
@example(loop=[(0.0, 0.0), (0.0, 5.0), (2.0, 5e-324)])  # an almost horizontal side
def test_loop_query_matches_polygon(loop: list[tuple[float, float]]) -> None:
    polygon = QPolygonF([QPointF(x, y) for x, y in loop])
    found = set(GRID.inside(loop).tolist())
    for number, (x, y) in enumerate(POINTS.tolist()):
        inside = len(loop) > 2 and polygon.containsPoint(QPointF(x, y), Qt.FillRule.OddEvenFill)
        if inside != (number in found):  # only on a line itself may the two be of different opinion
            around = [(x + dx, y + dy) for dx in (-1e-4, 1e-4) for dy in (-1e-4, 1e-4)]
            opinions = {polygon.containsPoint(QPointF(*place), Qt.FillRule.OddEvenFill) for place in around}
            assert len(opinions) == 2


def test_loop_query_can_be_cancelled() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        GRID.inside([(-60, -60), (60, -60), (60, 60), (-60, 60)], token.checkpoint)


@pytest.mark.parametrize(("right", "higher"), [(1, 0), (-1, 0), (0, 1), (0, -1)])
def test_steps_continue_in_direction_until_last_point(right: int, higher: int) -> None:
    at, seen = int(np.abs(POINTS).sum(axis=1).argmin()), set()
    while (after := GRID.next(*POINTS[at].tolist(), right, higher, at)) >= 0:
        way = POINTS[after] - POINTS[at]
        assert way[0] * right + way[1] * higher > 0
        assert after not in seen
        seen.add(after)
        at = after
    assert len(seen) > 5


def test_point_index_handles_zero_and_one_point() -> None:
    nothing = PointIndex(np.empty((0, 2), np.float32))
    assert nothing.nearest(0, 0, 10) == -1
    assert nothing.next(0, 0, 1, 0) == -1
    assert not len(nothing.inside([(0, 0), (1, 0), (1, 1)]))
    one = PointIndex(np.array([[3, 4]], np.float32))
    assert one.nearest(3, 5, 2) == 0
    assert one.nearest(3, 7, 2) == -1


# --- groups -----------------------------------------------------------------------------------------------------------


def _files(*paths: str, agent: str = "") -> tuple[MapFile, ...]:
    return tuple(
        MapFile(
            path=path,
            source="sessions" if path.startswith("sessions/") else "memory",
            agent=agent,
            modified=NOW - number * 10 * 86_400,
        )
        for number, path in enumerate(paths)
    )


def _groups(files: tuple[MapFile, ...], kind: str) -> dict[str, int]:
    found = group(files, np.arange(len(files), dtype=np.int32), kind, NOW)  # type: ignore[arg-type]
    assert found.group_of.tolist() == [int(number) for number in found.group_of]
    assert sum(found.counts) == len(files)
    return dict(zip(found.names, found.counts, strict=True))


def test_points_are_grouped_by_folder() -> None:
    files = _files("a/1.md", "a/2.md", "b/1.md", "c.md", "sessions/x/1")
    assert _groups(files, "folder") == {"a": 2, "Sessions": 1, TOP_FOLDER: 1, "b": 1}


def test_dominant_folder_is_split_by_subfolders() -> None:
    files = _files("notes/a/1.md", "notes/a/2.md", "notes/b/1.md", "notes/b/2.md", "notes/c.md", "x/1.md")
    assert _groups(files, "folder") == {"notes/a": 2, "notes/b": 2, "notes": 1, "x": 1}


def test_largest_of_many_folders_in_a_dominant_one_are_groups() -> None:
    names = [f"docs/f{number}/{file}.md" for number in range(12) for file in range(12 - number)]
    found = _groups(_files("x/1.md", "y/1.md", *names), "folder")
    largest = {f"docs/f{number}": 12 - number for number in range(5)}
    assert found == {**largest, "docs/…": 28, "x": 1, "y": 1}


def test_folder_of_small_folders_is_not_split() -> None:
    assert _groups(_files(*(f"docs/f{number}/a.md" for number in range(99))), "folder") == {"docs": 99}


def test_folder_named_like_the_group_of_others_keeps_its_notes() -> None:
    names = [f"docs/{name}/{file}.md" for name in ("…", *"abcdefghij") for file in range(9)]
    found = _groups(_files(*names), "folder")
    assert sum(found.values()) == 99
    assert "Sessions" not in found


def test_smallest_of_many_folders_are_grouped_as_others() -> None:
    names = [f"f{number}/{file}.md" for number in range(12) for file in range(12 - number)]
    found = _groups(_files(*names), "folder")
    assert len(found) == 8
    assert list(found)[-1] == OTHERS
    assert found["f0"] == 12


def test_points_are_grouped_by_source_agent_and_age() -> None:
    files = (*_files("a.md", "b.md"), *_files("sessions/x/1", "sessions/x/2", agent="claude-code"))
    assert _groups(files, "source") == {"Notes": 2, "Sessions": 2}
    assert _groups(files, "agent") == {"Claude Code": 2, "Notes": 2}
    assert _groups(files, "age") == {"Past week": 2, "Past month": 2}


def test_files_without_points_form_no_group() -> None:
    found = group(_files("a/1.md", "b/1.md"), np.zeros(3, np.int32), "folder", NOW)
    assert (found.names, found.counts) == (("a",), (3,))


def test_group_labels_are_at_densest_point() -> None:
    scene = Scene.of(make_map(300))
    grouping = scene.grouped("folder", NOW)
    for name, place in zip(grouping.names, scene.peaks(grouping), strict=True):
        middle = {"daily": (0, 0), "projects": (10, 0), "topics": (5, 8)}[name]
        assert np.hypot(*np.subtract(place, middle)) < 1.5


@pytest.mark.parametrize("scale", [12.0, 40.0, 200.0])
def test_map_names_avoid_points_and_each_other(qapp, scale: float) -> None:
    scene = Scene.of(make_map(300))
    grouping = scene.grouped("folder", NOW)
    names = [(name, *peak) for name, peak in zip(grouping.names, scene.peaks(grouping), strict=True)]
    placed = place_names(scene, names, (), scale, 1.0, 600)
    assert [name.text for name in placed] == list(grouping.names)
    assert not any(one.intersects(other) for one, other in combinations((name.box for name in placed), 2))
    pixels = [QPointF(x * scale, -y * scale) for x, y in scene.points.tolist()]
    for name in placed:
        above = QRectF(QPointF(), name.box.size())
        above.moveCenter(name.peak - QPointF(0, name.box.height() / 2 + 12))
        covered, before = (sum(box.contains(pixel) for pixel in pixels) for box in (name.box, above))
        assert covered <= before
    if scale == 12:
        assert not any(name.box.contains(pixel) for name in placed for pixel in pixels)


def test_name_avoids_marks_of_results_before_points(qapp) -> None:
    scene = Scene.of(make_map(300))
    [before] = place_names(scene, [("daily", 0, 0)], (), 60.0, 1.0, 600)

    def covered(name: PlacedName) -> list[int]:
        box = name.box.adjusted(-4, -4, 4, 4)
        return [n for n in range(300) if box.contains(QPointF(scene.position(n)[0], -scene.position(n)[1]) * 60)]

    hits = covered(before)
    assert hits
    [after] = place_names(scene, [("daily", 0, 0)], hits, 60.0, 1.0, 600)
    assert len(covered(after)) >= len(hits)
    assert not set(covered(after)) & set(hits)


def test_name_has_a_halo_around_its_letters(appearance) -> None:
    colours = theme_tokens("light")
    image = QImage(200, 60, QImage.Format.Format_RGB32)
    image.fill(colours.accent)
    painter = QPainter(image)
    name = PlacedName("projects", QPointF(100, 50), QRectF(60, 20, 90, 20))
    paint_names(painter, [name], QPointF(), QRectF(0, 0, 200, 60), colours, 1.0)
    painter.end()
    halo = sum(image.pixelColor(x, y) == colours.base for x in range(200) for y in range(60))
    assert halo > 100
    assert image.pixelColor(20, 30) == colours.accent


def test_name_without_room_is_left_out(qapp) -> None:
    scene = Scene.of(make_map(30))
    placed = place_names(scene, [("daily", 0, 0)] * 40, (), 10.0, 1.0, 600)
    assert 2 <= len(placed) < 40


def test_long_name_is_whole_on_a_wide_map(qapp) -> None:
    scene, name = Scene.of(make_map(30)), "research/projects/winter garden plans"
    [narrow], [wide] = (place_names(scene, [(name, 0, 0)], (), 10.0, 1.0, width) for width in (600, 2_400))
    assert wide.text == name
    assert narrow.text.startswith("…")


def test_scene_finds_points_of_chunks() -> None:
    scene = Scene.of(make_map(10))
    assert scene.find([103, None, 99, 100, 5000]) == [3, 0]
    assert len(Scene.of(make_map(0))) == 0
    assert Scene.of(make_map(0)).find([100]) == []


# --- the picture ------------------------------------------------------------------------------------------------------


_MARKERS = range(len(POLYGONS))


def _drawn(
    points: list[tuple[float, float]],
    groups: list[int],
    colours: list[QColor],
    radius: float,
    markers: tuple[int, ...] = (),
) -> QImage:
    rgba = np.array([colour.getRgbF() for colour in colours], np.float32)
    places = np.array(points, np.float32).reshape(-1, 2)
    found = draw_points(places, np.array(groups, np.uint8), GroupStyles(rgba, markers), (40, 90), radius)
    return QImage(found.tobytes(), 40, 90, 160, QImage.Format.Format_ARGB32_Premultiplied).copy()


@given(x=st.floats(-3, 43), y=st.floats(-3, 93), radius=st.floats(1.2, 6), marker=st.sampled_from(_MARKERS))
def test_drawn_point_matches_qpainter(x: float, y: float, radius: float, marker: int) -> None:
    colour = QColor(200, 80, 20, 254)
    ours = _drawn([(x, y)], [0], [colour], radius, (marker,))
    theirs = QImage(40, 90, QImage.Format.Format_ARGB32_Premultiplied)
    theirs.fill(Qt.GlobalColor.transparent)
    painter = QPainter(theirs)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(200, 80, 20))
    painter.drawPath(marker_path(marker, QPointF(float(np.float32(x)), float(np.float32(y))), radius))
    painter.end()
    mine, other = (np.frombuffer(image.constBits(), np.uint8).reshape(90, 40, 4) for image in (ours, theirs))
    gaps = np.abs(mine[..., 3].astype(int) - other[..., 3])
    corners = marker not in (CIRCLE, RING)
    tiny_hole = marker == RING and radius < 1.4  # narrower than a pixel: 92 at its middle
    assert gaps.max() < (100 if corners or tiny_hole else 70)
    assert gaps.sum() < 255 * (0.7 + 0.6 * radius) * (2 if corners else 1.1)
    inside = mine[mine[..., 3] > 250]
    assert not len(inside) or inside.mean(axis=0)[:3] == pytest.approx([20, 80, 200], abs=5)  # premultiplied


@pytest.mark.parametrize("radius", [MIN_SHAPE_RADIUS, 3.4, 7])
def test_group_signs_differ_without_colour(radius: float) -> None:
    """Signs have the same amount of ink, but different shapes, for users who don't see the colours."""
    images = [_drawn([(20, 20)], [0], [QColor("black")], radius, (marker,)) for marker in _MARKERS]
    pictures = [np.frombuffer(image.constBits(), np.uint8).astype(int) for image in images]
    amounts = [picture.sum() for picture in pictures]
    assert max(amounts) < 1.6 * min(amounts)
    for one, other in combinations(pictures, 2):
        assert np.abs(one - other).sum() > 0.25 * max(one.sum(), other.sum())


def test_others_group_uses_ring_sign() -> None:
    assert markers_of(3, has_others=False) == (0, 1, 2)
    assert markers_of(8, has_others=True) == (0, 1, 2, 3, 4, 5, 6, RING)
    assert markers_of(0, has_others=False) == ()


def test_overlapping_points_mix_regardless_of_order() -> None:
    red, blue = QColor(255, 0, 0, 128), QColor(0, 0, 255, 128)
    one = _drawn([(20, 20), (20, 20)], [0, 1], [red, blue], 4).pixelColor(20, 20)
    other = _drawn([(20, 20), (20, 20)], [1, 0], [red, blue], 4).pixelColor(20, 20)
    assert one == other
    assert one.red() == pytest.approx(one.blue(), abs=2)
    assert one.alphaF() == pytest.approx(0.75, abs=0.02)
    many = _drawn([(20, 20)] * 20, [0] * 20, [red], 4).pixelColor(20, 20)
    assert many.alphaF() > 0.99


def test_no_points_in_view_draws_empty_picture() -> None:
    assert not np.frombuffer(_drawn([(-50, -50)], [0], [QColor("red")], 3).constBits(), np.uint8).any()
    assert not np.frombuffer(_drawn([], [], [QColor("red")], 3).constBits(), np.uint8).any()
