"""Draws many points into one picture, off the GUI thread: as smooth and see-through as a painter's."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gui.index.map.markers import CIRCLE, POLYGONS, REACH, RING, RING_MIDDLE, RING_WIDTH, Polygon

Floats = NDArray[np.float32]
Pixels = NDArray[np.uint8]

_BAND = 64
"""Rows of pixels at a time: what belongs to them stays in the processor's cache, and no call takes long."""
_POINTS = 4096


def draw_points(
    points: Floats,
    groups: NDArray[np.uint8],
    colours: Floats,
    size: tuple[int, int],
    radius: float,
    check: Callable[[], None] = lambda: None,
    signs: Sequence[int] = (),
) -> Pixels:
    """Blue, green, red, alpha (height, width, 4), premultiplied.

    `points` (n, 2) are x and y in pixels, `groups` (n,) rows of `colours` (g, 4): red, green, blue and opacity, 0 to 1.
    What lies on each other mixes its colours and shuts out the ground; the order does not matter. `signs` are the
    shapes of the groups, circles without them. `check` may raise between two steps.
    """
    width, height = size
    picture = np.zeros((height, width, 4), np.uint8)
    opacity = np.minimum(colours[:, 3], 0.995)
    shapes = np.array(signs or [CIRCLE] * len(colours), np.uint8)[groups]
    drawn = [_Shape(points, np.flatnonzero(shapes == sign), sign, radius) for sign in np.unique(shapes).tolist()]
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
            seen = (cover > 0) & (x >= 0) & (x < width) & (y >= 0) & (y < rows)
            where = y[seen] * width + x[seen]
            group = np.broadcast_to(groups[part, None], seen.shape)[seen]
            # What shines through multiplies where points lie on each other: the logarithms add up.
            weight = -np.log1p(-cover[seen] * opacity[group])
            sums[3] += np.bincount(where, weight, minlength=rows * width)
            for channel in range(3):
                sums[channel] += np.bincount(where, weight * colours[group, channel], minlength=rows * width)
        alpha = -np.expm1(-sums[3])
        share = np.divide(alpha, sums[3], out=np.zeros_like(alpha), where=sums[3] > 0)
        mixed = np.stack([sums[2] * share, sums[1] * share, sums[0] * share, alpha], axis=1)
        picture[top : top + rows] = np.rint(mixed * 255).reshape(rows, width, 4)
    return picture


class _Shape:
    """The points of one shape, from the top down, and the pixels round a point that it may cover."""

    def __init__(self, points: Floats, members: NDArray[np.intp], sign: int, radius: float) -> None:
        self._sign, self._radius = sign, np.float32(radius)
        far = radius if sign == CIRCLE else radius * REACH
        self._reach = int(np.ceil(far + 0.5))
        steps = np.arange(-self._reach, self._reach + 1, dtype=np.int32)
        around = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
        self.offsets = around[np.hypot(*around.T) <= far + 1.3]
        self._order = members[np.argsort(points[members, 1], kind="stable")]
        self._heights = points[self._order, 1]

    def parts(self, top: int, bottom: int) -> list[NDArray[np.intp]]:
        """The points that touch these rows of pixels, some at a time."""
        first, last = np.searchsorted(self._heights, [top - self._reach - 1, bottom + self._reach + 1])
        return [self._order[start : min(start + _POINTS, last)] for start in range(first, last, _POINTS)]

    def gaps(self, x: Floats, y: Floats) -> Floats:
        """Distances of pixels near the centre from the shape's edge; below 0 inside."""
        if self._sign == CIRCLE:
            return np.hypot(x, y) - self._radius
        if self._sign == RING:
            return np.abs(np.hypot(x, y) - RING_MIDDLE * self._radius) - RING_WIDTH / 2 * self._radius
        found: Floats = np.minimum.reduce([self._outside(polygon, x, y) for polygon in POLYGONS[self._sign]])
        return found

    def _outside(self, polygon: Polygon, x: Floats, y: Floats) -> Floats:
        """Outside the farthest edge: exact except beyond a corner, which is nearer."""
        gaps = []
        for (x0, y0), (x1, y1) in zip(polygon, (*polygon[1:], polygon[0]), strict=True):
            length = float(np.hypot(x1 - x0, y1 - y0))
            across, down = (y1 - y0) / length, (x0 - x1) / length
            edge = np.float32(across * x0 + down * y0) * self._radius
            gaps.append(np.float32(across) * x + np.float32(down) * y - edge)
        found: Floats = np.maximum.reduce(gaps)
        return found
