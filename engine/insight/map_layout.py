"""Computes the map's points from the vectors: principal components, nearest neighbours, then t-SNE.

After L. van der Maaten and G. Hinton, "Visualizing Data using t-SNE" (2008), and G. Linderman et al., "Fast
interpolation-based t-SNE" (2019): the layout preserves neighbours, with repulsion by convolution on a grid. All steps
are array operations of a few milliseconds, so that other threads never wait long for the interpreter.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.base.cancellation import CancelToken, checkpoint
from engine.insight.map_data import Rows, StoredLayout
from engine.insight.seeded_random import normal
from engine.records import MapProgress
from engine.store.vector_encoding import Ids, Vectors

_ENOUGH = 0.7
"""Least share of points with a position in the old layout for the new one to start from it."""
_ASIDE = 0.1
"""Distance at which a new point is placed from its neighbour, in widths of the kernel: two points in one position would
never separate.
"""
_TURN_ROUNDS = 20

MAX_NEIGHBOURS = 20_000
"""With more points, only the two first principal components are used: neighbours would take half a minute."""
SLOW = 4000
"""From this number of points on, neighbours take a second or more, so that a preliminary layout is shown."""
_MIN_POINTS = 30
"""With fewer points, neighbours are meaningless."""
_COMPARED = 128
"""Number of principal components used to find neighbours; of real sentences they hold four fifths of the variance."""

Progress = Callable[[MapProgress], None]

_WORK = 4e10
"""Multiplications for the covariance, about a second; with more rows or dimensions, rows are sampled."""
_SPARE = 8
_POWER_STEPS = 12

Doubles = NDArray[np.float64]

NEIGHBOURS = 15
_PERPLEXITY = 5.0
"""Effective number of neighbours."""
_CLUSTER = 140
"""Approximate number of points per cluster."""
_PROBED = 24
"""Number of clusters searched for a point's neighbours: finds some nine of ten, in a tenth of the time
of all clusters.
"""
_GRAPH_ROUNDS = 6
_BISECTIONS = 30
_BLOCK = 1 << 20
"""Number of distances computed in one step."""

Counts = NDArray[np.intp]

_NODES, _FEW_NODES = 128, 64
"""Grid points per side; the smaller number is for up to `_FEW` points."""
_FEW = 5000
_EARLY, _ROUNDS = 60, 200
"""Iterations with exaggerated attraction, and iterations in total."""
_EXAGGERATION = 8.0
_AGAIN = 40
"""Iterations to settle points that already have a position."""
_FIRST_WIDTH = 1e-2
_FARTHEST = np.float32(5)
"""Longest step of a point per iteration, in widths of the kernel: oscillating points would fly away."""


# --- Keeps positions recognisable: points stay near their old positions, and a query is placed near its results.


def starting_positions(ids: Ids, found: Ids, old_ids: Ids, old_points: Vectors) -> Vectors | None:
    """Return starting positions (n, 2) for a layout, taken from an older one; None if too few points have a position
    there.

    `found` (n, k): neighbours of each point, nearest first. A new point is placed next to the first that has an old
    position.
    """
    points, known = find_points(ids, old_ids, old_points)
    if not len(ids) or known.mean() < _ENOUGH:
        return None
    counted = known[found]
    neighbour = found[np.arange(len(found)), counted.argmax(axis=1)]
    near = points[neighbour] + _ASIDE * normal(1, points.shape)
    near[~counted.any(axis=1)] = points[known].mean(axis=0)
    return np.where(known[:, None], points, near).astype(np.float32)


def alignment(ids: Ids, points: Vectors, old_ids: Ids, old_points: Vectors) -> Vectors:
    """Return the rotation or reflection matrix (2, 2) that moves `points` closest to their old positions.

    An old map of only a few points, from the first indexing, doesn't determine the rotation.
    """
    previous, known = find_points(ids, old_ids, old_points)
    if known.sum() < 3 or known.mean() < _ENOUGH:
        return np.eye(2, dtype=np.float32)
    new, old = points[known], previous[known]
    left, _, right = np.linalg.svd((new - new.mean(axis=0)).T @ (old - old.mean(axis=0)))
    turned: Vectors = (left @ right).astype(np.float32)
    return turned


def find_points(ids: Ids, old_ids: Ids, old_points: Vectors) -> tuple[Vectors, NDArray[np.bool_]]:
    """Return the old positions (n, 2) of these ids, and a mask (n,) of those that have one."""
    if not len(old_ids):
        return np.zeros((len(ids), 2), np.float32), np.zeros(len(ids), np.bool_)
    order = np.argsort(old_ids, kind="stable")
    at = order[np.minimum(np.searchsorted(old_ids, ids, sorter=order), len(old_ids) - 1)]
    return old_points[at], old_ids[at] == ids


def query_position(points: Vectors, cosines: Vectors) -> tuple[float, float]:
    """Return the position of a query between its nearest chunks, at `points` (m, 2), m > 0, with `cosines` (m,).

    Uses the weighted geometric median: a mean would be far from all points if one of the nearest is elsewhere.
    """
    weights = np.maximum(cosines - cosines.min(), 1e-3) ** 2
    at = (points * weights[:, None]).sum(axis=0) / weights.sum()
    for _ in range(_TURN_ROUNDS):
        pulls = weights / np.maximum(np.linalg.norm(points - at, axis=1), 1e-6)
        at = (points * pulls[:, None]).sum(axis=0) / pulls.sum()
    return float(at[0]), float(at[1])


# ---------------------------------------------------------------------------------------------------------------------


def compute_layout(
    rows: Rows,
    stamp: int,
    old: StoredLayout | None,
    *,
    first: Callable[[StoredLayout], None] | None = None,
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> StoredLayout:
    """Compute a layout of at least one vector, as close to the positions in `old` as possible.

    `first` receives a layout by principal components if the one by neighbours is slow. Raises `Cancelled`.
    """
    report = progress or (lambda _: None)
    by_neighbours = _MIN_POINTS <= len(rows) <= MAX_NEIGHBOURS
    report(MapProgress(stage="directions", done=0.05))
    directions = principal_components(rows, _COMPARED if by_neighbours else 2, cancel)
    spread = directions.project(rows, cancel)
    drawn = _by_directions(rows, stamp, directions, spread, old)
    if not by_neighbours:
        return drawn
    if first is not None and len(rows) >= SLOW:
        first(drawn)
    report(MapProgress(stage="neighbours", done=0.1))
    neighbours, distances = nearest(spread, min(NEIGHBOURS, len(rows) - 1), cancel)
    report(MapProgress(stage="arranging", done=0.4))
    known = None
    if old is not None and old.layout == "neighbours":
        known = starting_positions(rows.ids, neighbours, old.ids, old.points)
    points = run_tsne(
        neighbour_weights(neighbours, distances),
        drawn.points if known is None else known,
        settled=known is not None,
        progress=lambda done: report(MapProgress(stage="arranging", done=0.4 + 0.6 * done)),
        cancel=cancel,
    )
    if known is not None and old is not None:
        points = points @ alignment(rows.ids, points, old.ids, old.points)
    return StoredLayout("neighbours", stamp, rows.ids, points, drawn.mean, drawn.axes, drawn.shown_variance)


@dataclass(frozen=True)
class PrincipalComponents:
    mean: Vectors
    """(dims,)"""
    axes: Vectors
    """(dims, m), orthonormal, in order of falling variance."""
    shares: Vectors
    """(m,), share of the variance along each axis; they sum to at most 1."""

    def project(self, rows: Rows, cancel: CancelToken | None = None) -> Vectors:
        """Return the coordinates (n, m) of vectors on the axes."""
        positions = np.empty((len(rows), self.axes.shape[1]), np.float32)
        for where, piece in rows.pieces():
            _check(cancel)
            positions[where] = (piece - self.mean) @ self.axes
        return positions


def _by_directions(
    rows: Rows, stamp: int, directions: PrincipalComponents, spread: np.ndarray, old: StoredLayout | None
) -> StoredLayout:
    points, axes = _pair(spread), _pair(directions.axes)
    if old is not None and old.layout == "directions":
        turned = alignment(rows.ids, points, old.ids, old.points)
        points, axes = points @ turned, axes @ turned
    share = float(directions.shares[:2].sum())
    return StoredLayout("directions", stamp, rows.ids, points, directions.mean, axes, share)


def _pair(columns: np.ndarray) -> np.ndarray:
    """Return the first two columns; missing ones are zeros."""
    pair = np.zeros((len(columns), 2), np.float32)
    pair[:, : min(2, columns.shape[1])] = columns[:, :2]
    return pair


def principal_components(rows: Rows, count: int, cancel: CancelToken | None = None) -> PrincipalComponents:
    """Return the first `count` principal components, fewer if vectors are shorter. Raises `Cancelled`."""
    every = max(1, round(len(rows) * rows.dims**2 / _WORK))
    total, seen = np.zeros(rows.dims), 0
    for _, piece in rows.pieces(every):
        _check(cancel)
        total += piece.sum(axis=0, dtype=np.float64)
        seen += len(piece)
    mean = (total / max(1, seen)).astype(np.float32)
    covariance = np.zeros((rows.dims, rows.dims))
    for _, piece in rows.pieces(every):
        _check(cancel)
        off = piece - mean
        covariance += off.T @ off
    axes, variances = _largest(covariance, min(count, rows.dims), cancel)
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])  # otherwise the sign is arbitrary
    shares = np.maximum(variances, 0) / (np.trace(covariance) or 1.0)
    return PrincipalComponents(mean, axes.astype(np.float32), shares.astype(np.float32))


def _largest(matrix: Doubles, count: int, cancel: CancelToken | None) -> tuple[Doubles, Doubles]:
    """Return the eigenvectors (dims, count) and eigenvalues of a symmetric matrix, largest first.

    Uses subspace iteration: a full decomposition of 3,072 dimensions would take many seconds in one call.
    """
    width = min(len(matrix), count + _SPARE)
    basis = np.linalg.qr(normal(1, (len(matrix), width)))[0]
    for _ in range(_POWER_STEPS if width < len(matrix) else 0):
        _check(cancel)
        basis = np.linalg.qr(matrix @ basis)[0]
    values, turn = np.linalg.eigh(basis.T @ (matrix @ basis))
    order = np.argsort(-values)[:count]
    return basis @ turn[:, order], values[order]


def _check(cancel: CancelToken | None) -> None:
    checkpoint(cancel)


@dataclass(frozen=True)
class NeighbourGraph:
    """Weights between neighbouring points: a symmetric sparse matrix (n, n) in row order, whose entries sum to 1."""

    columns: NDArray[np.int32]
    """(e,), column of each entry."""
    weights: Vectors
    """(e,), value of each entry."""
    starts: Counts
    """(n,), the start of each row; none is empty."""
    counts: Counts
    """(n,), number of entries of each row."""


def nearest(points: Vectors, count: int, cancel: CancelToken | None = None) -> tuple[Ids, Vectors]:
    """Return the `count` nearest other points of each point (n, m), nearest first, and their distances, (n, count)
    each.

    With more than some thousand points, the result is approximate.
    """
    members, near = _clusters(points, cancel)
    squares = np.einsum("ij,ij->i", points, points)
    neighbours = np.empty((len(points), count), np.int64)
    distances = np.empty((len(points), count), np.float32)
    for own, order in zip(members, near, strict=True):
        nearby: list[Ids] = []
        size = 0
        for cluster in order:  # the points' own cluster comes first
            if len(nearby) >= _PROBED and size > count:
                break
            nearby.append(members[cluster])
            size += len(members[cluster])
        candidates = np.concatenate(nearby)
        others, lengths = np.ascontiguousarray(points[candidates].T), squares[candidates]
        step = max(1, _BLOCK // len(candidates))
        for start in range(0, len(own), step):
            checkpoint(cancel)
            rows = own[start : start + step]
            gaps = lengths - 2 * (points[rows] @ others) + squares[rows, None]
            gaps[np.arange(len(rows)), np.arange(start, start + len(rows))] = np.inf  # a point isn't its own neighbour
            best = np.argpartition(gaps, count - 1, axis=1)[:, :count]
            best = np.take_along_axis(best, np.argsort(np.take_along_axis(gaps, best, 1), axis=1), 1)
            neighbours[rows] = candidates[best]
            distances[rows] = np.sqrt(np.maximum(np.take_along_axis(gaps, best, 1), 0))
    return neighbours, distances


def _clusters(points: Vectors, cancel: CancelToken | None) -> tuple[list[Ids], Ids]:
    """Return the members of each non-empty cluster, and for each cluster all clusters by distance, itself first."""
    count = len(points) // _CLUSTER
    if count <= _PROBED:
        return [np.arange(len(points))], np.zeros((1, 1), np.int64)
    chosen = random.Random(1).sample(range(len(points)), count)
    centres = points[np.sort(chosen)]
    for _ in range(_GRAPH_ROUNDS):
        labels = np.empty(len(points), np.int64)
        lengths = np.einsum("ij,ij->i", centres, centres)
        step = max(1, _BLOCK // len(centres))
        for start in range(0, len(points), step):
            checkpoint(cancel)
            labels[start : start + step] = (lengths - 2 * (points[start : start + step] @ centres.T)).argmin(axis=1)
        order = np.argsort(labels, kind="stable")
        sizes = np.bincount(labels, minlength=len(centres))
        sizes = sizes[sizes > 0]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        centres = (np.add.reduceat(points[order], starts, axis=0) / sizes[:, None]).astype(np.float32)
    lengths = np.einsum("ij,ij->i", centres, centres)
    gaps = lengths - 2 * (centres @ centres.T)
    np.fill_diagonal(gaps, -np.inf)
    return np.split(order, starts[1:]), np.argsort(gaps, axis=1, kind="stable")


def neighbour_weights(found: Ids, distances: Vectors) -> NeighbourGraph:
    """Return the t-SNE weights of pairs of points, from each point's nearest neighbours and their distances."""
    rows, count = found.shape
    weights = _likelihoods(distances, min(_PERPLEXITY, count / 3 + 0.5))
    own = np.repeat(np.arange(rows), count)
    keys = np.concatenate([own * rows + found.ravel(), found.ravel() * rows + own])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    both = np.add.reduceat(np.concatenate([weights, weights], axis=None)[order], first)
    starts = np.searchsorted(keys[first] // rows, np.arange(rows))
    return NeighbourGraph(
        columns=(keys[first] % rows).astype(np.int32),
        weights=(both / both.sum()).astype(np.float32),
        starts=starts,
        counts=np.diff(np.append(starts, len(first))),
    )


def _likelihoods(distances: Vectors, perplexity: float) -> Vectors:
    """Return Gaussian weights (n, count) of each point's neighbours; the perplexity sets the width of each row."""
    gaps = distances.astype(np.float64) ** 2
    gaps -= gaps[:, :1]
    narrow, wide = np.zeros(len(gaps)), np.full(len(gaps), np.inf)
    slope = 1 / np.maximum(gaps.mean(axis=1), 1e-9)
    for _ in range(_BISECTIONS):
        shares = np.exp(-gaps * slope[:, None])
        total = shares.sum(axis=1)
        too_wide = np.log(total) + slope * (gaps * shares).sum(axis=1) / total > np.log(perplexity)
        narrow, wide = np.where(too_wide, slope, narrow), np.where(too_wide, wide, slope)
        slope = np.where(np.isinf(wide), slope * 2, (narrow + wide) / 2)
    shares = np.exp(-gaps * slope[:, None])
    likelihoods: Vectors = shares / shares.sum(axis=1, keepdims=True)
    return likelihoods


def run_tsne(
    graph: NeighbourGraph,
    start: Vectors,
    *,
    settled: bool = False,
    progress: Callable[[float], None] | None = None,
    cancel: CancelToken | None = None,
) -> Vectors:
    """Compute the t-SNE coordinates (n, 2) from starting positions (n, 2).

    `settled`: the positions are from an earlier layout. `progress` is called with 0 to 1. Raises `Cancelled`.
    """
    at = start.astype(np.float32)
    if not settled:
        at = at * np.float32(_FIRST_WIDTH / (at.std() or 1.0))
    rounds, early = (_AGAIN, 0) if settled else (_ROUNDS, _EARLY)
    rate = np.float32(len(at) / 48)
    speed, gain = np.zeros_like(at), np.ones_like(at)
    for done in range(rounds):
        checkpoint(cancel)
        pull = _attraction(graph, at) * np.float32(_EXAGGERATION if done < early else 1.0)
        slope = 4 * (pull - _repulsion(at))
        gain = np.maximum(np.where((slope > 0) == (speed > 0), gain * np.float32(0.8), gain + np.float32(0.2)), 0.01)
        speed = np.float32(0.5 if done < early else 0.8) * speed - rate * gain * slope
        speed = np.clip(speed, -_FARTHEST, _FARTHEST)
        at = at + speed
        at -= at.mean(axis=0)
        if progress is not None:
            progress((done + 1) / rounds)
    return at


def _attraction(graph: NeighbourGraph, at: Vectors) -> Vectors:
    """Return the gradient (n, 2) of each point's attraction by its neighbours."""
    across, down = (np.ascontiguousarray(at[:, axis]) for axis in (0, 1))
    across = np.repeat(across, graph.counts) - across.take(graph.columns)
    down = np.repeat(down, graph.counts) - down.take(graph.columns)
    strength = graph.weights / (1 + across * across + down * down)
    pulls = [np.add.reduceat(gap * strength, graph.starts) for gap in (across, down)]
    return np.stack(pulls, axis=1)


def _repulsion(at: Vectors) -> Vectors:
    """Return the gradient (n, 2) of each point's repulsion by all other points.

    Points are spread over the four grid nodes around them, the nodes are convolved with the kernels by FFT, and the
    result is interpolated at the points.
    """
    side = _FEW_NODES if len(at) <= _FEW else _NODES
    low = at.min(axis=0)
    spacing = float(max((at.max(axis=0) - low).max(), 1e-6)) * 1.0001 / (side - 1)
    where = (at - low) / np.float32(spacing)
    cell = np.minimum(where.astype(np.int64), side - 2)
    inside = where - cell
    first = cell[:, 0] * side + cell[:, 1]
    (left, top), (right, bottom) = (1 - inside).T, inside.T
    corners = (
        (first, left * top),
        (first + 1, left * bottom),
        (first + side, right * top),
        (first + side + 1, right * bottom),
    )
    middle = where - side / 2
    nodes = np.concatenate([node for node, _ in corners])
    charges = [
        np.bincount(nodes, np.concatenate([share * value for _, share in corners]), minlength=side * side)
        for value in (np.float32(1), middle[:, 0], middle[:, 1])
    ]
    steps = np.arange(side)
    gaps = np.concatenate([steps, [0], steps[:0:-1]]) * spacing
    kernel = 1 / (1 + gaps[:, None] ** 2 + gaps[None] ** 2)
    kernels = np.fft.rfft2(np.stack([kernel, kernel * kernel]).astype(np.float32))
    padded = (2 * side, 2 * side)
    spread = np.fft.rfft2(np.stack(charges).reshape(3, side, side).astype(np.float32), s=padded)
    fields = np.fft.irfft2(np.concatenate([spread * kernels[1], spread[:1] * kernels[0]]), s=padded)
    fields = np.ascontiguousarray(fields[:, :side, :side]).reshape(4, side * side)
    felt = np.zeros((4, len(at)), np.float32)
    for node, share in corners:
        felt += fields[:, node] * share
    total = max(float(felt[3].sum(dtype=np.float64)) - len(at), 1e-6)  # without the effect of each point on itself
    push = (middle.T * felt[0] - felt[1:3]) * np.float32(spacing / total)
    return np.ascontiguousarray(push.T)
