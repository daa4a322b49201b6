"""A map made ready to be looked at: on a pool thread, and then never changed."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine import IndexMap
from gui.index.map.groups import Grouping, Kind, group
from gui.index.map.point_index import Floats, Indexes, PointIndex
from gui.index.map.viewport import Box

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
