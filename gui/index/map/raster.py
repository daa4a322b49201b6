"""Draws many points into one picture, off the GUI thread: as round, smooth and see-through as a painter's."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

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
) -> Pixels:
    """Blue, green, red, alpha (height, width, 4), premultiplied.

    `points` (n, 2) are x and y in pixels, `groups` (n,) rows of `colours` (g, 4): red, green, blue and opacity, 0 to 1.
    What lies on each other mixes its colours and shuts out the ground; the order does not matter. `check` may raise
    between two steps.
    """
    width, height = size
    picture = np.zeros((height, width, 4), np.uint8)
    reach = int(np.ceil(radius + 0.5))
    steps = np.arange(-reach, reach + 1, dtype=np.int32)
    offsets = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    offsets = offsets[np.hypot(*offsets.T) <= radius + 1.3]
    opacity = np.minimum(colours[:, 3], 0.995)
    order = np.argsort(points[:, 1], kind="stable")
    heights = points[order, 1]
    for top in range(0, height, _BAND):
        rows = min(_BAND, height - top)
        first, last = np.searchsorted(heights, [top - reach - 1, top + rows + reach + 1])
        if first == last:
            continue
        sums = np.zeros((4, rows * width))
        for start in range(first, last, _POINTS):
            check()
            part = order[start : min(start + _POINTS, last)]
            at = np.floor(points[part]).astype(np.int32)
            x, y = (at[:, None, axis] + offsets[:, axis] for axis in (0, 1))
            gaps = np.hypot(x + np.float32(0.5) - points[part, 0, None], y + np.float32(0.5) - points[part, 1, None])
            cover = np.clip(np.float32(radius + 0.5) - gaps, 0, 1)
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
