"""Similarity of points: the nearest neighbours of each, and the weight of each pair."""

import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.base.cancellation import CancelToken
from engine.store.vector_encoding import Ids, Vectors

NEIGHBOURS = 15
_PERPLEXITY = 5.0
"""Effective number of neighbours."""
_CLUSTER = 140
"""Approximate number of points per cluster."""
_PROBED = 24
"""Clusters searched for the neighbours of a point: finds some nine of ten, in a tenth of the time of all clusters."""
_ROUNDS = 6
_BISECTIONS = 30
_BLOCK = 1 << 20
"""Distances computed in one step."""

Counts = NDArray[np.intp]


@dataclass(frozen=True)
class NeighbourGraph:
    """A symmetric sparse matrix (n, n) in row order, whose entries sum to 1."""

    columns: NDArray[np.int32]
    """(e,)"""
    weights: Vectors
    """(e,)"""
    starts: Counts
    """(n,), the start of each row; none is empty."""
    counts: Counts
    """(n,), number of entries of each row."""


def nearest(points: Vectors, count: int, cancel: CancelToken | None = None) -> tuple[Ids, Vectors]:
    """The `count` < n nearest other points of each point (n, m), and their distances: (n, count) each, nearest first.

    With more than some thousand points, the result is approximate.
    """
    members, near = _clusters(points, cancel)
    squares = np.einsum("ij,ij->i", points, points)
    found = np.empty((len(points), count), np.int64)
    distances = np.empty((len(points), count), np.float32)
    for own, order in zip(members, near, strict=True):
        among: list[Ids] = []
        size = 0
        for cluster in order:  # its own comes first
            if len(among) >= _PROBED and size > count:
                break
            among.append(members[cluster])
            size += len(members[cluster])
        candidates = np.concatenate(among)
        others, lengths = np.ascontiguousarray(points[candidates].T), squares[candidates]
        step = max(1, _BLOCK // len(candidates))
        for start in range(0, len(own), step):
            if cancel is not None:
                cancel.checkpoint()
            rows = own[start : start + step]
            gaps = lengths - 2 * (points[rows] @ others) + squares[rows, None]
            gaps[np.arange(len(rows)), np.arange(start, start + len(rows))] = np.inf  # not itself
            best = np.argpartition(gaps, count - 1, axis=1)[:, :count]
            best = np.take_along_axis(best, np.argsort(np.take_along_axis(gaps, best, 1), axis=1), 1)
            found[rows] = candidates[best]
            distances[rows] = np.sqrt(np.maximum(np.take_along_axis(gaps, best, 1), 0))
    return found, distances


def _clusters(points: Vectors, cancel: CancelToken | None) -> tuple[list[Ids], Ids]:
    """Members of each non-empty cluster, and all clusters ordered by distance to each, itself first."""
    count = len(points) // _CLUSTER
    if count <= _PROBED:
        return [np.arange(len(points))], np.zeros((1, 1), np.int64)
    chosen = random.Random(1).sample(range(len(points)), count)
    centres = points[np.sort(chosen)]
    for _ in range(_ROUNDS):
        labels = np.empty(len(points), np.int64)
        lengths = np.einsum("ij,ij->i", centres, centres)
        step = max(1, _BLOCK // len(centres))
        for start in range(0, len(points), step):
            if cancel is not None:
                cancel.checkpoint()
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


def tie(found: Ids, distances: Vectors) -> NeighbourGraph:
    """Weights of pairs of points by their nearest neighbours, as defined by t-SNE."""
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
    """Gaussian weights of each point's neighbours, (n, count), with the width of each row set by the perplexity."""
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
