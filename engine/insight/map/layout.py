"""Computes the map's points from the vectors."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.base.cancellation import CancelToken
from engine.insight.map.map_file import StoredLayout
from engine.insight.map.map_rows import Rows
from engine.insight.map.neighbours import NEIGHBOURS, nearest, tie
from engine.insight.map.pca import PrincipalComponents, find_directions
from engine.insight.map.tsne import arrange
from engine.insight.seeded_random import normal
from engine.records import MapProgress
from engine.store.vector_encoding import Ids, Vectors

# --- Keeps positions recognisable: points stay near their old positions, and a query is placed near its results.

_ENOUGH = 0.7
"""Minimum share of points with an old position, for a layout to start from the old one."""
_ASIDE = 0.1
"""Distance from a neighbour, in widths of the kernel: two points in one position would never separate."""
_TURN_ROUNDS = 20


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
    for _ in range(_TURN_ROUNDS):
        pulls = weights / np.maximum(np.linalg.norm(points - at, axis=1), 1e-6)
        at = (points * pulls[:, None]).sum(axis=0) / pulls.sum()
    return float(at[0]), float(at[1])


# ---------------------------------------------------------------------------------------------------------------------

MOST_NEIGHBOURS = 20_000
"""Above this number, only the two main directions are used: neighbours would take half a minute."""
SLOW = 4000
"""From this number on, neighbours take a second or more, so that a preliminary layout is shown."""
_FEWEST = 30
"""With fewer points, neighbours have no meaning."""
_COMPARED = 128
"""Number of main directions used to find neighbours; of real sentences they hold four fifths of the variance."""

Progress = Callable[[MapProgress], None]


def draw(
    rows: Rows,
    stamp: int,
    old: StoredLayout | None,
    *,
    first: Callable[[StoredLayout], None] | None = None,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> StoredLayout:
    """Lay out at least one row, as close to the positions in `old` as possible.

    `first` receives the layout by directions if that by neighbours is slow. Raises `Cancelled`.
    """
    tell = progress or (lambda _: None)
    by_neighbours = _FEWEST <= len(rows) <= MOST_NEIGHBOURS
    tell(MapProgress(stage="directions", done=0.05))
    directions = find_directions(rows, _COMPARED if by_neighbours else 2, cancel)
    spread = directions.project(rows, cancel)
    drawn = _by_directions(rows, stamp, directions, spread, old)
    if not by_neighbours:
        return drawn
    if first is not None and len(rows) >= SLOW:
        first(drawn)
    tell(MapProgress(stage="neighbours", done=0.1))
    found, distances = nearest(spread, min(NEIGHBOURS, len(rows) - 1), cancel)
    tell(MapProgress(stage="arranging", done=0.4))
    known = None
    if old is not None and old.layout == "neighbours":
        known = begin(rows.ids, found, old.ids, old.points)
    points = arrange(
        tie(found, distances),
        drawn.points if known is None else known,
        settled=known is not None,
        progress=lambda done: tell(MapProgress(stage="arranging", done=0.4 + 0.6 * done)),
        cancel=cancel,
    )
    if known is not None and old is not None:
        points = points @ turn(rows.ids, points, old.ids, old.points)
    return StoredLayout("neighbours", stamp, rows.ids, points, drawn.mean, drawn.axes, drawn.shown)


def _by_directions(
    rows: Rows, stamp: int, directions: PrincipalComponents, spread: np.ndarray, old: StoredLayout | None
) -> StoredLayout:
    points, axes = _pair(spread), _pair(directions.axes)
    if old is not None and old.layout == "directions":
        turned = turn(rows.ids, points, old.ids, old.points)
        points, axes = points @ turned, axes @ turned
    shown = float(directions.shares[:2].sum())
    return StoredLayout("directions", stamp, rows.ids, points, directions.mean, axes, shown)


def _pair(columns: np.ndarray) -> np.ndarray:
    """The first two columns, with zeros for missing ones."""
    pair = np.zeros((len(columns), 2), np.float32)
    pair[:, : min(2, columns.shape[1])] = columns[:, :2]
    return pair
