"""Paints the map: points, group names and marks in the current view."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QHideEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QStyle, QWidget

from engine import IndexMap, tr_count
from gui.core.jobs import Jobs
from gui.index.map.group_names import PlacedName, paint_names, place_names
from gui.index.map.groups import Grouping, Kind, colours_of, markers_of
from gui.index.map.point_image import Appearance, PointImage, point_radius
from gui.index.map.scene import Viewport
from gui.style.stylesheet import font_at, font_scale
from gui.style.theme import Tokens, tokens
from gui.viewer.line_painter import faded
from gui.widgets.accessibility import Part

if TYPE_CHECKING:
    from gui.index.map.scene import Indexes, Scene

_FADE_FRAME_MS = 16
_CROSS, _TICK = 9.0, 15.0
_HIT = 5.5
_LOOP_GROUND = 40

_MIN_NAMED_SHARE = 0.01
"""Least share of all points for a group to have a name on the map; the legend has all."""

EDGE = 40.0
"""Least pixels between the edges and a point that was brought into view."""
_RESTYLING = {
    QEvent.Type.FontChange,
    QEvent.Type.StyleChange,
    QEvent.Type.PaletteChange,
    QEvent.Type.DevicePixelRatioChange,
}


# --- Drawn over the points: a query and its results, the current point, a loop --------------------------------


def paint_hits(painter: QPainter, positions: Iterable[QPointF], colours: Tokens, unit: float) -> None:
    """Paint marks at the results of the current query."""
    painter.setPen(QPen(colours.text, 1.6))
    painter.setBrush(colours.mark)
    for position in positions:
        painter.drawEllipse(position, _HIT * unit, _HIT * unit)


def paint_query(painter: QPainter, position: QPointF, colours: Tokens, unit: float) -> None:
    """Paint cross-hairs at the query's location, with a rim that separates them from the points below."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for colour, width in ((colours.base, 5.5), (colours.text, 2.5)):
        painter.setPen(QPen(colour, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
        painter.drawEllipse(position, _CROSS * unit, _CROSS * unit)
        for right, down in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            step = QPointF(right, down) * unit
            painter.drawLine(position + step * (_CROSS - 3), position + step * _TICK)


def paint_point(painter: QPainter, position: QPointF, radius: float, colours: Tokens, *, focused: bool) -> None:
    """Paint a ring around the current point, and a second one for the keyboard cursor."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for colour, width in ((colours.base, 4.5), (colours.accent if focused else colours.text, 2.0)):
        painter.setPen(QPen(colour, width))
        painter.drawEllipse(position, radius + 3.5, radius + 3.5)


def paint_chosen(painter: QPainter, positions: Iterable[QPointF], radius: float, colour: QColor) -> None:
    """Paint thin rings around the points in the selection list."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(colour, 1.2))
    for position in positions:
        painter.drawEllipse(position, radius + 1.5, radius + 1.5)


def paint_loop(painter: QPainter, loop: Sequence[QPointF], colours: Tokens) -> None:
    """Paint the lasso while the user draws it."""
    painter.setBrush(faded(colours.accent, _LOOP_GROUND))
    painter.setPen(QPen(colours.accent, 1.5, Qt.PenStyle.DashLine))
    painter.drawPolygon(QPolygonF(list(loop)))


# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Marks:
    """The query and its results, painted over the points."""

    query: tuple[float, float] | None = None
    """Location of the query, in the map's units."""
    hits: tuple[int, ...] = ()
    """Points that are results."""


class MapView(QWidget):
    """Paints the map. Points are identified by their positions in the scene.

    Signals:
        pointed: the point under the mouse or the keyboard cursor, -1 for none; and whether by keyboard.
        moved: the view has changed.
    """

    pointed = Signal(int, bool)
    moved = Signal()

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self.view = Viewport()
        self.point = -1
        """The hovered point; -1 for none."""
        self.picture = PointImage(jobs, self)
        self.picture.drawn.connect(self._show_drawn)
        self.picture.failed.connect(self._end_fade)
        self._before: QPixmap | None = None
        """The map from which this one fades in."""
        self._fade_began = 0.0
        """A time of `time.monotonic`; 0 until the new points are drawn."""
        self._frames = QTimer(self, interval=_FADE_FRAME_MS)
        self._frames.timeout.connect(self._next_frame)
        self._placed: tuple[tuple[object, ...], float, tuple[PlacedName, ...]] = ((), 1.0, ())
        """The names of the groups, and the values that their positions depend on, except the scale: they stay while
        the map moves, and are next to their groups until a zoomed map is drawn."""
        self._scene: Scene | None = None
        self._grouping: Grouping | None = None
        self._peaks: Sequence[tuple[float, float]] = ()
        self._isolated = -1
        self.marks = Marks()
        """The marks of the current query."""
        self._listed: tuple[int, ...] = ()
        self._loop: list[QPointF] = []

    # --- display ----------------------------------------------------------------------------------------------------

    def show_scene(self, scene: "Scene") -> None:
        """Show other points; the visible area stays unless it included all points."""
        whole = self._scene is None or self.view == self.view.fit()
        at = -1 if self._scene is None or self.point < 0 else int(self._scene.ids[self.point])
        self._scene, self._grouping = scene, None
        self.view = self.view.around(scene.box)
        if whole:
            self.view = self.view.fit()
        self._point_at(next(iter(scene.find([at])), -1), by_key=False)

    def show_groups(self, grouping: "Grouping", peaks: Sequence[tuple[float, float]], isolated: int) -> None:
        """Set the groups of the points, the locations of their names, and the only group not shown faintly (or -1)."""
        self._grouping, self._peaks, self._isolated = grouping, peaks, isolated
        self._redraw()

    def show_marks(self, marks: Marks) -> None:
        self.marks = marks
        self.update()

    def show_listed(self, points: tuple[int, ...]) -> None:
        """Set the points that are marked as selected."""
        self._listed = points
        self.update()

    def clear(self) -> None:
        self._scene = self._grouping = None
        self.marks, self._listed, self._loop = Marks(), (), []
        self.picture.clear()
        self._end_fade()
        self._point_at(-1, by_key=False)
        self.update()

    def fade(self) -> None:
        """Clear the map, whose next points fade in over the present ones, if the style animates widgets."""
        before = self.grab() if self._fade_seconds and self.isVisible() and not self.picture.busy else None
        self.clear()
        self._before = before

    @property
    def fading(self) -> bool:
        """Whether the points are still fading in."""
        return self._before is not None

    @property
    def _fade_seconds(self) -> float:
        """Duration of the fade in seconds; 0 if the desktop is set to reduce motion."""
        return 2 * self.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, self) / 1000

    @Slot()
    def _show_drawn(self) -> None:
        if self._before is not None and not self._frames.isActive():
            self._fade_began = time.monotonic()
            self._frames.start()
        self.update()

    @Slot()
    def _next_frame(self) -> None:
        if self._fade_share >= 1:
            self._end_fade()
        self.update()

    @property
    def _fade_share(self) -> float:
        """How far the new points have faded in, from 0 to 1."""
        if self._before is None:
            return 1.0
        passed = time.monotonic() - self._fade_began if self._fade_began else 0.0
        return min(1.0, passed / max(0.001, self._fade_seconds))

    @Slot()
    def _end_fade(self) -> None:
        self._before, self._fade_began = None, 0.0
        self._frames.stop()
        self.update()

    @Slot()
    def fit(self) -> None:
        """Zoom and pan so that all points are visible."""
        self._set_view(self.view.fit())

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom by a factor around a pixel of the widget, or around its middle."""
        middle = at or QPointF(self.width() / 2, self.height() / 2)
        self._set_view(self.view.zoomed(factor, middle.x(), middle.y()))

    def show_point(self, point: int) -> None:
        """Pan until a point is in view and make it current; -1 makes none current."""
        if self._scene is not None and point >= 0:
            self._set_view(self.view.showing(*self._scene.position(point), margin=EDGE))
        self._point_at(point, by_key=False)

    def pixel_of(self, point: int) -> QPointF:
        """Return the position of a point in widget pixels."""
        assert self._scene is not None
        return self._pixel(*self._scene.position(point))

    def _pixel(self, across: float, up: float) -> QPointF:
        return QPointF(*self.view.to_pixels(across, up))

    def _set_view(self, view: Viewport) -> None:
        if view != self.view:
            self._end_fade()
            self.view = view
            self._redraw()
            self.moved.emit()

    def _redraw(self) -> None:
        if self._scene is not None and self._grouping is not None and self.isVisible():
            unit = font_scale()
            appearance = Appearance(
                scene=self._scene,
                grouping=self._grouping,
                colours=tuple(colour.rgb() for colour in colours_of(self._grouping, self.palette())),
                markers=markers_of(len(self._grouping.names), has_others=self._grouping.has_others),
                isolated=self._isolated,
                quiet=tokens(self.palette()).off.rgb(),
                ratio=self.devicePixelRatioF(),
                unit=unit,
            )
            self.picture.show(appearance, self.view)
        self.update()

    def _point_at(self, point: int, *, by_key: bool) -> None:
        if point != self.point:
            self.point = point
            self.pointed.emit(point, by_key)
            self.update()

    # --- painting ---------------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        return QSize(640, 400)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 120)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = QPainter(self)
        painter.fillRect(self.rect(), colours.base)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        scene, grouping = self._scene, self._grouping
        if self._before is not None:
            painter.setOpacity(1 - self._fade_share)
            painter.drawPixmap(0, 0, self._before)
            painter.setOpacity(self._fade_share)
        if (
            scene is not None and grouping is not None and self.picture.drawn_once
        ):  # names appear together with their points
            unit = font_scale()
            radius = point_radius(len(scene), self.view, unit)
            self.picture.paint(painter, self.view)
            room = QRectF(self.rect())
            visible = room.adjusted(-20, -20, 20, 20)
            listed = (position for point in self._listed if visible.contains(position := self.pixel_of(point)))
            paint_chosen(painter, listed, radius, colours.accent)
            names = self._placed_names(scene, grouping, unit)
            paint_names(painter, names, self._pixel(0, 0), room.adjusted(2, 2, -2, -2), colours, unit)
            hits = (position for point in self.marks.hits if visible.contains(position := self.pixel_of(point)))
            paint_hits(painter, hits, colours, unit)
            if self.marks.query is not None:
                paint_query(painter, self._pixel(*self.marks.query), colours, unit)
            if self.point >= 0:
                paint_point(painter, self.pixel_of(self.point), radius, colours, focused=self.hasFocus())
        if self._loop:
            paint_loop(painter, self._loop, colours)
        if self.hasFocus():
            painter.setPen(colours.accent)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)

    def spoken_parts(self) -> Sequence[Part]:
        """Return the groups with a visible name, and the number of marked results, for screen readers."""
        if self._grouping is None:
            return []
        counts = dict(zip(self._grouping.names, self._grouping.counts, strict=True))
        parts = [
            Part(
                tr_count("{name}: {count:,} passage", "{name}: {count:,} passages", counts[name], name=name),
                QRect(self._pixel(across, up).toPoint(), QSize(1, 1)),
            )
            for name, across, up in self._names(self._grouping)
        ]
        if self.marks.hits:
            marked = tr_count(
                "{count:,} result of the query marked on the map",
                "{count:,} results of the query marked on the map",
                len(self.marks.hits),
            )
            parts.append(Part(marked, self.rect()))
        return parts

    def _placed_names(self, scene: "Scene", grouping: Grouping, unit: float) -> tuple[PlacedName, ...]:
        key = scene, grouping, self._peaks, self._isolated, self.marks.hits, unit, self.width(), font_at(13).key()
        scale = self.view.scale
        known, before, names = self._placed
        if known == key and before != scale and self.picture.busy:
            return tuple(name.zoomed(scale / before) for name in names)
        if known != key or before != scale:
            names = place_names(scene, self._names(grouping), self.marks.hits, scale, unit, self.width())
            self._placed = key, scale, names
        return names

    def _names(self, grouping: "Grouping") -> list[tuple[str, float, float]]:
        """Return name and densest point of each group that gets a name on the map, in the map's units."""
        if grouping.ordered or len(grouping.names) < 2:
            return []
        fewest = _MIN_NAMED_SHARE * sum(grouping.counts)
        return [
            (name, *self._peaks[number])
            for number, name in enumerate(grouping.names)
            if (number == self._isolated if self._isolated >= 0 else grouping.counts[number] >= fewest)
            and not (grouping.has_others and number == len(grouping.names) - 1)
        ]

    # --- changes ----------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._end_fade()
        self.view = self.view.resized(self.width(), self.height())
        self._redraw()
        self.moved.emit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in _RESTYLING:
            self._redraw()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._redraw()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._end_fade()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()


@dataclass(frozen=True, eq=False)
class Prepared:
    scene: "Scene"
    grouping: Grouping
    peaks: tuple[tuple[float, float], ...]
    """Locations of the groups' names."""


def prepare(record: IndexMap, kind: Kind) -> Prepared:
    """Make the scene and the groups of an index map. On a pool thread."""
    from gui.index.map.scene import Scene

    return regroup(Scene.of(record), kind)


def within_group(prepared: Prepared, points: "Indexes", isolated: int) -> tuple[int, ...]:
    """Return the ascending chunk ids of those points that belong to group `isolated`; of all for -1."""
    members = points if isolated < 0 else points[prepared.grouping.group_of[points] == isolated]
    return tuple(sorted(prepared.scene.ids[members].tolist()))


def regroup(scene: "Scene", kind: Kind) -> Prepared:
    """Group the points of a scene by another kind."""
    grouping = scene.grouped(kind, time.time())
    return Prepared(scene, grouping, scene.peaks(grouping))
