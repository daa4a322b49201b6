"""A map prepared for drawing on a pool thread, and then never changed; finds points by their place."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine import IndexMap
from gui.index.map.groups import Grouping, Kind, group
from gui.index.map.viewport import Box

# --- Looks for points by place: the nearest one, those in a loop, the next one in a direction ------------------------

Floats = NDArray[np.float32]
Indexes = NDArray[np.int64]

_IN_A_CELL = 4
_AT_ONCE = 1 << 20
_ASIDE = 2.5
"""In a direction, what lies to the side counts so many times as far."""


class PointIndex:
    """Over points (n, 2), which are never changed."""

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
        """Points in this rectangle, in no order."""
        corners = self._cells(np.array([[left, low], [right, high]], np.float32))
        (first, bottom), (last, top) = corners.tolist()
        found = [np.empty(0, np.int64)]
        for row in range(bottom, top + 1):
            start, end = self._starts[row * self._side + first], self._starts[row * self._side + last + 1]
            found.append(self._order[start:end])
        near = np.concatenate(found)
        across, up = self._points[near].T
        inside: Indexes = near[(across >= left) & (across <= right) & (up >= low) & (up <= high)]
        return inside

    def nearest(self, across: float, up: float, reach: float) -> int:
        """The point nearest to this place, no farther than `reach`; -1 for none."""
        near = self.within(across - reach, up - reach, across + reach, up + reach)
        if not len(near):
            return -1
        gaps = np.hypot(*(self._points[near] - np.array([across, up], np.float32)).T)
        best = int(gaps.argmin())
        return int(near[best]) if gaps[best] <= reach else -1

    def inside(self, loop: Sequence[tuple[float, float]], check: Callable[[], None] = lambda: None) -> Indexes:
        """Points in a closed loop, by the even-odd rule, rising. `check` may raise between two steps."""
        corners = np.array(loop, np.float64).reshape(-1, 2)
        if len(corners) < 3:
            return np.empty(0, np.int64)
        (left, low), (right, high) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
        near = np.sort(self.within(left, low, right, high))
        after = np.roll(corners, -1, axis=0)
        found = [np.empty(0, np.int64)]
        step = max(1, _AT_ONCE // len(corners))
        for start in range(0, len(near), step):
            check()
            part = near[start : start + step]
            across, up = (self._points[part, axis, None].astype(np.float64) for axis in (0, 1))
            crosses = (corners[:, 1] > up) != (after[:, 1] > up)
            rise = after[:, 1] - corners[:, 1]
            share = (up - corners[:, 1]) / np.where(crosses, rise, 1)  # of a side that is crossed: from 0 to 1
            where = share * (after[:, 0] - corners[:, 0]) + corners[:, 0]
            found.append(part[(crosses & (across < where)).sum(axis=1) % 2 == 1])
        return np.concatenate(found)

    def next(self, across: float, up: float, right: int, higher: int, besides: int = -1) -> int:
        """The nearest point in one of the four directions, with a preference for straight ahead; -1 for none."""
        gaps = self._points - np.array([across, up], np.float32)
        ahead = gaps[:, 0] * right + gaps[:, 1] * higher
        aside = np.abs(gaps[:, 0] * higher + gaps[:, 1] * right)
        far = np.where(ahead > 1e-6 * self._cell, ahead + _ASIDE * aside, np.inf)
        if besides >= 0:
            far[besides] = np.inf
        best = int(far.argmin()) if len(far) else -1
        return best if best >= 0 and np.isfinite(far[best]) else -1


# ---------------------------------------------------------------------------------------------------------------------

_CELLS = 24
"""A side, to find where a group is densest."""


@dataclass(frozen=True, eq=False)
class Scene:
    record: IndexMap
    ids: Indexes
    """(n,)"""
    points: Floats
    """(n, 2), y upwards"""
    file_of: NDArray[np.int32]
    """(n,)"""
    grid: PointIndex
    box: Box

    @classmethod
    def of(cls, record: IndexMap) -> "Scene":
        points = np.frombuffer(record.points, np.float32).reshape(-1, 2)
        box = (-1.0, -1.0, 1.0, 1.0)
        if len(points):
            (left, low), (right, high) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
            gap = max(right - left, high - low, 1e-6) * 0.01  # of a single point, too
            box = (left - gap, low - gap, right + gap, high + gap)
        ids = np.frombuffer(record.ids, np.int64)
        scene = cls(record, ids, points, np.frombuffer(record.file_of, np.int32), PointIndex(points), box)
        _ = scene._by_id
        return scene

    def place(self, point: int) -> tuple[float, float]:
        """Of one point."""
        return float(self.points[point, 0]), float(self.points[point, 1])

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def _by_id(self) -> Indexes:
        return np.argsort(self.ids, kind="stable")

    def find(self, chunks: Iterable[int | None]) -> list[int]:
        """Which points these chunks are; those that are none are left out."""
        wanted = np.array([chunk for chunk in chunks if chunk is not None], np.int64)
        if not len(self.ids):
            return []
        order = self._by_id
        at = order[np.minimum(np.searchsorted(self.ids, wanted, sorter=order), len(order) - 1)]
        return [int(place) for place in at[self.ids[at] == wanted]]

    def grouped(self, kind: Kind, now: float) -> Grouping:
        return group(self.record.files, self.file_of, kind, now)

    def peaks(self, grouping: Grouping) -> tuple[tuple[float, float], ...]:
        """Where each group is densest: for its name."""
        left, low, right, high = self.box
        side = max(right - left, high - low) / _CELLS
        cells = ((self.points - np.array([left, low], np.float32)) / np.float32(side)).astype(np.int64)
        found = []
        for number in range(len(grouping.names)):
            own = grouping.of == number
            numbers = (cells[own, 1] + 1) * (_CELLS + 2) + cells[own, 0] + 1
            counts = np.bincount(numbers, minlength=(_CELLS + 2) ** 2).reshape(_CELLS + 2, _CELLS + 2)
            around = counts.astype(np.float64)
            for rows, columns in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                around += 0.5 * np.roll(counts, (rows, columns), axis=(0, 1))
            up, across = np.unravel_index(int(around[1:-1, 1:-1].argmax()), (_CELLS, _CELLS))
            near = self.points[own & (np.abs(cells - [across, up]) <= 1).all(axis=1)]
            middle = near.mean(axis=0) if len(near) else self.points[own].mean(axis=0)
            found.append((float(middle[0]), float(middle[1])))
        return tuple(found)
