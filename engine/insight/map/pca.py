"""Principal component analysis of many vectors, in blocks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.base.cancellation import CancelToken
from engine.insight.map.map_rows import Rows
from engine.insight.seeded_random import normal
from engine.store.vector_encoding import Vectors

_WORK = 4e10
"""Multiplications for the covariance, about a second; with more rows or dimensions, rows are sampled."""
_SPARE = 8
_ROUNDS = 12

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class PrincipalComponents:
    mean: Vectors
    """(dims,)"""
    axes: Vectors
    """(dims, m), orthonormal, in order of falling variance."""
    shares: Vectors
    """(m,), share of the variance of each axis; they sum to at most 1."""

    def project(self, rows: Rows, cancel: CancelToken | None = None) -> Vectors:
        """Coordinates (n, m)."""
        found = np.empty((len(rows), self.axes.shape[1]), np.float32)
        for where, piece in rows.pieces():
            _check(cancel)
            found[where] = (piece - self.mean) @ self.axes
        return found


def find_directions(rows: Rows, count: int, cancel: CancelToken | None = None) -> PrincipalComponents:
    """The first `count` main directions, or fewer if the vectors have fewer dimensions. Raises `Cancelled`."""
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
    """Eigenvectors (dims, count) and eigenvalues of a symmetric matrix, largest first.

    Uses subspace iteration: a full decomposition of 3,072 dimensions would take many seconds in one call.
    """
    width = min(len(matrix), count + _SPARE)
    basis = np.linalg.qr(normal(1, (len(matrix), width)))[0]
    for _ in range(_ROUNDS if width < len(matrix) else 0):
        _check(cancel)
        basis = np.linalg.qr(matrix @ basis)[0]
    values, turn = np.linalg.eigh(basis.T @ (matrix @ basis))
    order = np.argsort(-values)[:count]
    return basis @ turn[:, order], values[order]


def _check(cancel: CancelToken | None) -> None:
    if cancel is not None:
        cancel.checkpoint()
