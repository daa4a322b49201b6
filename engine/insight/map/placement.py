"""Keeps positions recognisable: points stay near their old positions, and a query is placed near its results."""

import numpy as np
from numpy.typing import NDArray

from engine.insight.seeded_random import normal
from engine.store.vector_encoding import Ids, Vectors

_ENOUGH = 0.7
"""Minimum share of points with an old position, for a layout to start from the old one."""
_ASIDE = 0.1
"""Distance from a neighbour, in widths of the kernel: two points in one position would never separate."""
_ROUNDS = 20


def begin(ids: Ids, found: Ids, old_ids: Ids, old_points: Vectors) -> Vectors | None:
    """Starting positions (n, 2) of the points `ids` (n,) from an older layout; None if too few have a position there.

    `found` (n, k) are the neighbours of each, nearest first: a new point is placed next to the first with a position.
    """
    places, known = find_points(ids, old_ids, old_points)
    if not len(ids) or known.mean() < _ENOUGH:
        return None
    counted = known[found]
    beside = found[np.arange(len(found)), counted.argmax(axis=1)]
    near = places[beside] + _ASIDE * normal(1, places.shape)
    near[~counted.any(axis=1)] = places[known].mean(axis=0)
    return np.where(known[:, None], places, near).astype(np.float32)


def turn(ids: Ids, points: Vectors, old_ids: Ids, old_points: Vectors) -> Vectors:
    """The rotation or reflection (2, 2) for which `points @ it` is closest to the old positions of the same ids."""
    places, known = find_points(ids, old_ids, old_points)
    if known.sum() < 3:
        return np.eye(2, dtype=np.float32)
    new, old = points[known], places[known]
    left, _, right = np.linalg.svd((new - new.mean(axis=0)).T @ (old - old.mean(axis=0)))
    turned: Vectors = (left @ right).astype(np.float32)
    return turned


def find_points(ids: Ids, old_ids: Ids, old_points: Vectors) -> tuple[Vectors, NDArray[np.bool_]]:
    """The old positions (n, 2) of these ids, and a mask of those that have one, (n,)."""
    if not len(old_ids):
        return np.zeros((len(ids), 2), np.float32), np.zeros(len(ids), np.bool_)
    order = np.argsort(old_ids, kind="stable")
    at = order[np.minimum(np.searchsorted(old_ids, ids, sorter=order), len(old_ids) - 1)]
    return old_points[at], old_ids[at] == ids


def between(points: Vectors, cosines: Vectors) -> tuple[float, float]:
    """Position of a query whose nearest chunks are at `points` (m, 2), m > 0, with these cosines (m,).

    Uses the weighted geometric median: a mean would be far from all points if one of the nearest is elsewhere.
    """
    weights = np.maximum(cosines - cosines.min(), 1e-3) ** 2
    at = (points * weights[:, None]).sum(axis=0) / weights.sum()
    for _ in range(_ROUNDS):
        pulls = weights / np.maximum(np.linalg.norm(points - at, axis=1), 1e-6)
        at = (points * pulls[:, None]).sum(axis=0) / pulls.sum()
    return float(at[0]), float(at[1])
