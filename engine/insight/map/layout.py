"""Computes the map's points from the vectors."""

from collections.abc import Callable

import numpy as np

from engine.base.cancellation import CancelToken
from engine.insight.map.map_file import StoredLayout
from engine.insight.map.map_rows import Rows
from engine.insight.map.neighbours import NEIGHBOURS, nearest, tie
from engine.insight.map.pca import PrincipalComponents, find_directions
from engine.insight.map.placement import begin, turn
from engine.insight.map.tsne import arrange
from engine.records import MapProgress

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
