"""The points of a map, prepared on a pool thread and never changed, and the part of the map that is visible.

The points are found by location, and drawn into an image, also off the GUI thread, with antialiasing and transparency.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import IndexMap
from gui.index.map.groups import CIRCLE, POLYGONS, REACH, RING, RING_MIDDLE, RING_WIDTH, Grouping, Kind, Polygon, group

_MARGIN = 0.06
"""Margin around the whole map, as a share of the shorter side."""
_DEEPEST = 400.0
_SHALLOWEST = 0.5
"""Largest and smallest zoom, relative to the scale at which the map fits."""
Box = tuple[float, float, float, float]
"""Left, bottom, right and top in the map's units."""


@dataclass(frozen=True)
class Viewport:
    """Centre and scale of the visible part of the map. In widget pixels y points down, in map units up."""

    width: float = 1.0
    height: float = 1.0
    across: float = 0.0
    up: float = 0.0
    """Vertical position of the centre in map units."""
    scale: float = 1.0
    """Pixels per map unit."""
    box: Box = (-1.0, -1.0, 1.0, 1.0)
    """Bounding box of all points."""

    @property
    def fitting(self) -> float:
        """The scale at which all points are visible."""
        left, low, right, high = self.box
        margin = _MARGIN * min(self.width, self.height)
        available = max(1.0, self.width - 2 * margin), max(1.0, self.height - 2 * margin)
        return min(available[0] / max(right - left, 1e-9), available[1] / max(high - low, 1e-9))

    def fit(self) -> "Viewport":
        left, low, right, high = self.box
        return replace(self, across=(left + right) / 2, up=(low + high) / 2, scale=self.fitting)

    def resized(self, width: float, height: float) -> "Viewport":
        """Return the viewport for another widget size, with the same centre and relative zoom."""
        relation = self.scale / self.fitting
        sized = replace(self, width=max(1.0, width), height=max(1.0, height))
        return replace(sized, scale=sized.fitting * relation)

    def around(self, box: Box) -> "Viewport":
        """Return a viewport with the same visible area for other points; `box`: their bounding box."""
        return replace(self, box=box)

    def to_pixels(self, across: float, up: float) -> tuple[float, float]:
        """Return the position in pixels, from the top left, of a point in units of the map."""
        return (
            self.width / 2 + (across - self.across) * self.scale,
            self.height / 2 - (up - self.up) * self.scale,
        )

    def to_units(self, x: float, y: float) -> tuple[float, float]:
        """Return the point in units of the map at a position in pixels."""
        return self.across + (x - self.width / 2) / self.scale, self.up - (y - self.height / 2) / self.scale

    def panned(self, right: float, down: float) -> "Viewport":
        """Return the viewport moved by some pixels; some points always stay in view."""
        left, low, far, high = self.box
        across = min(max(self.across - right / self.scale, left), far)
        up = min(max(self.up + down / self.scale, low), high)
        return replace(self, across=across, up=up)

    def zoomed(self, factor: float, x: float, y: float) -> "Viewport":
        """Return the viewport zoomed by a factor around a pixel."""
        fitting = self.fitting
        scale = min(max(self.scale * factor, fitting * _SHALLOWEST), fitting * _DEEPEST)
        across, up = self.to_units(x, y)
        moved = replace(
            self,
            scale=scale,
            across=across - (x - self.width / 2) / scale,
            up=up + (y - self.height / 2) / scale,
        )
        return moved.panned(0, 0)

    def showing(self, across: float, up: float, margin: float) -> "Viewport":
        """Return the viewport moved as little as needed to show a location, `margin` pixels from the edges."""
        x, y = self.to_pixels(across, up)
        right = max(0.0, margin - x) - max(0.0, x - (self.width - margin))
        down = max(0.0, margin - y) - max(0.0, y - (self.height - margin))
        return self.panned(right, down)


Floats = NDArray[np.float32]
Indexes = NDArray[np.int64]

_IN_A_CELL = 4
_BATCH_SIZE = 1 << 20
_ASIDE = 2.5
"""Factor for distances sideways to a direction."""

_CELLS = 24
"""Cells per side of the grid that finds where a group is densest."""

Pixels = NDArray[np.uint8]

_BAND = 64
"""Pixel rows drawn at a time: their data fits into the processor's cache, and no call takes long."""
_POINTS = 4096


# --- Looks for points by position: the nearest one, those in a loop, the next one in a direction ---------------------


class PointIndex:
    """A spatial index over an array of points (n, 2) that never changes. Points are identified by their rows."""

    def __init__(self, points: Floats) -> None:
        self._points = points
        self._side = max(1, int(np.sqrt(len(points) / _IN_A_CELL)))
        self._low = points.min(axis=0) if len(points) else np.zeros(2, np.float32)
        extent = float((points.max(axis=0) - self._low).max()) if len(points) else 1.0
        self._cell = max(extent, 1e-6) * 1.0001 / self._side
        cells = self._cells(points)
        numbers = cells[:, 1] * self._side + cells[:, 0]
        self._order = np.argsort(numbers, kind="stable")
        self._starts = np.searchsorted(numbers[self._order], np.arange(self._side**2 + 1))

    def _cells(self, points: Floats) -> Indexes:
        return np.clip(((points - self._low) / self._cell).astype(np.int64), 0, self._side - 1)

    def within(self, left: float, low: float, right: float, high: float) -> Indexes:
        """Return the numbers of the points in a rectangle, unordered."""
        corners = self._cells(np.array([[left, low], [right, high]], np.float32))
        (first, bottom), (last, top) = corners.tolist()
        points = [np.empty(0, np.int64)]
        for row in range(bottom, top + 1):
            start, end = self._starts[row * self._side + first], self._starts[row * self._side + last + 1]
            points.append(self._order[start:end])
        near = np.concatenate(points)
        across, up = self._points[near].T
        inside: Indexes = near[(across >= left) & (across <= right) & (up >= low) & (up <= high)]
        return inside

    def count(self, left: float, low: float, right: float, high: float) -> int:
        """Return the number of points in a rectangle; only points in cells at its edges are checked individually."""
        corners = self._cells(np.array([[left, low], [right, high]], np.float32))
        (first, bottom), (last, top) = corners.tolist()
        rows = np.arange(bottom + 1, top) * self._side
        if last - first < 2 or not len(rows):
            return len(self.within(left, low, right, high))
        starts, order = self._starts, self._order
        whole = int((starts[rows + last] - starts[rows + first + 1]).sum())
        edges = np.concatenate([rows + first, rows + last])
        spans = [
            *((starts[row * self._side + first], starts[row * self._side + last + 1]) for row in (bottom, top)),
            *zip(starts[edges].tolist(), starts[edges + 1].tolist(), strict=True),
        ]
        across, up = self._points[np.concatenate([order[start:end] for start, end in spans])].T
        inside = (across >= left) & (across <= right) & (up >= low) & (up <= high)
        return whole + int(np.count_nonzero(inside))

    def nearest(self, across: float, up: float, reach: float) -> int:
        """Return the point nearest to a location (`across`, `up`), no farther than `reach`; -1 for none."""
        near = self.within(across - reach, up - reach, across + reach, up + reach)
        if not len(near):
            return -1
        gaps = np.hypot(*(self._points[near] - np.array([across, up], np.float32)).T)
        best = int(gaps.argmin())
        return int(near[best]) if gaps[best] <= reach else -1

    def inside(self, loop: Sequence[tuple[float, float]], check: Callable[[], None] = lambda: None) -> Indexes:
        """Return the numbers of the points in a closed loop (even-odd rule), ascending. `check` may raise to cancel."""
        corners = np.array(loop, np.float64).reshape(-1, 2)
        if len(corners) < 3:
            return np.empty(0, np.int64)
        (left, low), (right, high) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
        near = np.sort(self.within(left, low, right, high))
        after = np.roll(corners, -1, axis=0)
        points = [np.empty(0, np.int64)]
        step = max(1, _BATCH_SIZE // len(corners))
        for start in range(0, len(near), step):
            check()
            part = near[start : start + step]
            across, up = (self._points[part, axis, None].astype(np.float64) for axis in (0, 1))
            crosses = (corners[:, 1] > up) != (after[:, 1] > up)
            rise = after[:, 1] - corners[:, 1]
            share = (up - corners[:, 1]) / np.where(crosses, rise, 1)  # position on the crossed side, 0 to 1
            where = share * (after[:, 0] - corners[:, 0]) + corners[:, 0]
            points.append(part[(crosses & (across < where)).sum(axis=1) % 2 == 1])
        return np.concatenate(points)

    def next(self, across: float, up: float, right: int, higher: int, excluded: int = -1) -> int:
        """Return the nearest point in a direction (`right`, `higher`: 1, 0 or -1), best straight ahead; -1 for none."""
        gaps = self._points - np.array([across, up], np.float32)
        ahead = gaps[:, 0] * right + gaps[:, 1] * higher
        aside = np.abs(gaps[:, 0] * higher + gaps[:, 1] * right)
        far = np.where(ahead > 1e-6 * self._cell, ahead + _ASIDE * aside, np.inf)
        if excluded >= 0:
            far[excluded] = np.inf
        best = int(far.argmin()) if len(far) else -1
        return best if best >= 0 and np.isfinite(far[best]) else -1


# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scene:
    """The points of a map with their files and groups, prepared for drawing and for finding points."""

    record: IndexMap
    ids: Indexes
    """Chunk id of each point, shape (n,)."""
    points: Floats
    """Location of each point in map units, shape (n, 2); y points up."""
    file_of: NDArray[np.int32]
    """Number of the file of each point, shape (n,)."""
    grid: PointIndex
    box: Box

    @classmethod
    def of(cls, record: IndexMap) -> "Scene":
        points = np.frombuffer(record.points, np.float32).reshape(-1, 2)
        box = (-1.0, -1.0, 1.0, 1.0)
        if len(points):
            (left, low), (right, high) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
            gap = max(right - left, high - low, 1e-6) * 0.01  # also for a single point
            box = (left - gap, low - gap, right + gap, high + gap)
        ids = np.frombuffer(record.ids, np.int64)
        scene = cls(record, ids, points, np.frombuffer(record.file_of, np.int32), PointIndex(points), box)
        _ = scene._by_id
        return scene

    def position(self, point: int) -> tuple[float, float]:
        """Return the location of a point in map units."""
        return float(self.points[point, 0]), float(self.points[point, 1])

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def _by_id(self) -> Indexes:
        return np.argsort(self.ids, kind="stable")

    def find(self, chunks: Iterable[int | None]) -> list[int]:
        """Return the points of chunks with these ids; ids without a point are left out."""
        requested = np.array([chunk for chunk in chunks if chunk is not None], np.int64)
        if not len(self.ids):
            return []
        order = self._by_id
        at = order[np.minimum(np.searchsorted(self.ids, requested, sorter=order), len(order) - 1)]
        return [int(number) for number in at[self.ids[at] == requested]]

    def grouped(self, kind: Kind, now: float) -> Grouping:
        """Group the points by a property of their files; `now` is in seconds since the epoch."""
        return group(self.record.files, self.file_of, kind, now)

    def peaks(self, grouping: Grouping) -> tuple[tuple[float, float], ...]:
        """Return the location at which each group is densest, where its name is shown."""
        left, low, right, high = self.box
        side = max(right - left, high - low) / _CELLS
        cells = ((self.points - np.array([left, low], np.float32)) / np.float32(side)).astype(np.int64)
        peaks = []
        for number in range(len(grouping.names)):
            own = grouping.group_of == number
            numbers = (cells[own, 1] + 1) * (_CELLS + 2) + cells[own, 0] + 1
            counts = np.bincount(numbers, minlength=(_CELLS + 2) ** 2).reshape(_CELLS + 2, _CELLS + 2)
            around = counts.astype(np.float64)
            for rows, columns in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                around += 0.5 * np.roll(counts, (rows, columns), axis=(0, 1))
            up, across = np.unravel_index(int(around[1:-1, 1:-1].argmax()), (_CELLS, _CELLS))
            near = self.points[own & (np.abs(cells - [across, up]) <= 1).all(axis=1)]
            middle = near.mean(axis=0) if len(near) else self.points[own].mean(axis=0)
            peaks.append((float(middle[0]), float(middle[1])))
        return tuple(peaks)


class GroupStyles(NamedTuple):
    """How the points of each group look."""

    colours: Floats
    """Red, green, blue and opacity of each group, 0 to 1 (g, 4)."""
    markers: Sequence[int] = ()
    """Shapes of the groups; circles without them."""


def draw_points(
    points: Floats,
    groups: NDArray[np.uint8],
    styles: GroupStyles,
    size: tuple[int, int],
    radius: float,
    check: Callable[[], None] = lambda: None,
) -> Pixels:
    """Draw points into an image: blue, green, red, alpha (height, width, 4), premultiplied.

    `points` (n, 2) are x and y in pixels, `groups` (n,) their groups. Overlapping points mix their colours and
    hide the background, independent of their order. `check` may raise to cancel.
    """
    colours, markers = styles
    width, height = size
    picture = np.zeros((height, width, 4), np.uint8)
    opacity = np.minimum(colours[:, 3], 0.995)
    shapes = np.array(markers or [CIRCLE] * len(colours), np.uint8)[groups]
    drawn = [_Shape(points, np.flatnonzero(shapes == marker), marker, radius) for marker in np.unique(shapes).tolist()]
    for top in range(0, height, _BAND):
        rows = min(_BAND, height - top)
        parts = [(shape, part) for shape in drawn for part in shape.parts(top, top + rows)]
        if not parts:
            continue
        sums = np.zeros((4, rows * width))
        for shape, part in parts:
            check()
            at = np.floor(points[part]).astype(np.int32)
            x, y = (at[:, None, axis] + shape.offsets[:, axis] for axis in (0, 1))
            half = np.float32(0.5)
            cover = np.clip(half - shape.gaps(x + half - points[part, 0, None], y + half - points[part, 1, None]), 0, 1)
            y -= top
            visible = (cover > 0) & (x >= 0) & (x < width) & (y >= 0) & (y < rows)
            where = y[visible] * width + x[visible]
            group = np.broadcast_to(groups[part, None], visible.shape)[visible]
            # Transparencies of overlapping points multiply, so their logarithms are added.
            weight = -np.log1p(-cover[visible] * opacity[group])
            sums[3] += np.bincount(where, weight, minlength=rows * width)
            for channel in range(3):
                sums[channel] += np.bincount(where, weight * colours[group, channel], minlength=rows * width)
        alpha = -np.expm1(-sums[3])
        share = np.divide(alpha, sums[3], out=np.zeros_like(alpha), where=sums[3] > 0)
        mixed = np.stack([sums[2] * share, sums[1] * share, sums[0] * share, alpha], axis=1)
        picture[top : top + rows] = np.rint(mixed * 255).reshape(rows, width, 4)
    return picture


class _Shape:
    """The points to draw with one shape, from top to bottom, and the offsets of the pixels that a point may cover."""

    def __init__(self, points: Floats, members: NDArray[np.intp], marker: int, radius: float) -> None:
        self._marker, self._radius = marker, np.float32(radius)
        far = radius if marker == CIRCLE else radius * REACH
        self._reach = int(np.ceil(far + 0.5))
        steps = np.arange(-self._reach, self._reach + 1, dtype=np.int32)
        around = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
        self.offsets = around[np.hypot(*around.T) <= far + 1.3]
        self._order = members[np.argsort(points[members, 1], kind="stable")]
        self._heights = points[self._order, 1]

    def parts(self, top: int, bottom: int) -> list[NDArray[np.intp]]:
        """Return the points that touch the pixel rows `top` to `bottom`, in batches."""
        first, last = np.searchsorted(self._heights, [top - self._reach - 1, bottom + self._reach + 1])
        return [self._order[start : min(start + _POINTS, last)] for start in range(first, last, _POINTS)]

    def gaps(self, x: Floats, y: Floats) -> Floats:
        """Return the distances of pixels (`x`, `y` from the centre) from the shape's edge; negative inside."""
        if self._marker == CIRCLE:
            return np.hypot(x, y) - self._radius
        if self._marker == RING:
            return np.abs(np.hypot(x, y) - RING_MIDDLE * self._radius) - RING_WIDTH / 2 * self._radius
        distances: Floats = np.minimum.reduce(
            [self._distance_outside(polygon, x, y) for polygon in POLYGONS[self._marker]]
        )
        return distances

    def _distance_outside(self, polygon: Polygon, x: Floats, y: Floats) -> Floats:
        """Return the distance from the farthest edge of a polygon, less than the true one beyond a corner."""
        gaps = []
        for (x0, y0), (x1, y1) in zip(polygon, (*polygon[1:], polygon[0]), strict=True):
            length = float(np.hypot(x1 - x0, y1 - y0))
            across, down = (y1 - y0) / length, (x0 - x1) / length
            edge = np.float32(across * x0 + down * y0) * self._radius
            gaps.append(np.float32(across) * x + np.float32(down) * y - edge)
        distances: Floats = np.maximum.reduce(gaps)
        return distances
