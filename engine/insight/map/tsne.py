"""The layout that preserves neighbours: t-SNE with repulsion by convolution on a grid.

After L. van der Maaten and G. Hinton, "Visualizing Data using t-SNE" (2008), and G. Linderman et al., "Fast
interpolation-based t-SNE" (2019). All steps are array operations of a few milliseconds, so that other threads never
wait long for the interpreter.
"""

from collections.abc import Callable

import numpy as np

from engine.base.cancellation import CancelToken
from engine.insight.map.neighbours import NeighbourGraph
from engine.store.vector_encoding import Vectors

_NODES, _FEW_NODES = 128, 64
"""Grid points per side; the smaller number is for up to `_FEW` points."""
_FEW = 5000
_EARLY, _ROUNDS = 60, 200
"""Rounds with exaggerated attraction, and rounds in total."""
_EXAGGERATION = 8.0
_AGAIN = 40
"""Rounds to settle points that already have a position."""
_FIRST_WIDTH = 1e-2
_FARTHEST = np.float32(5)
"""Maximum step of a round, in widths of the kernel: oscillating points would fly away."""


def arrange(
    ties: NeighbourGraph,
    begin: Vectors,
    *,
    settled: bool = False,
    progress: Callable[[float], None] | None = None,
    cancel: CancelToken | None = None,
) -> Vectors:
    """Compute coordinates (n, 2) from starting positions (n, 2); `settled`: these are from an earlier layout.

    `progress` is called with 0 to 1. Raises `Cancelled`.
    """
    at = begin.astype(np.float32)
    if not settled:
        at = at * np.float32(_FIRST_WIDTH / (at.std() or 1.0))
    rounds, early = (_AGAIN, 0) if settled else (_ROUNDS, _EARLY)
    rate = np.float32(len(at) / 48)
    speed, gain = np.zeros_like(at), np.ones_like(at)
    for done in range(rounds):
        if cancel is not None:
            cancel.checkpoint()
        pull = _attraction(ties, at) * np.float32(_EXAGGERATION if done < early else 1.0)
        slope = 4 * (pull - _repulsion(at))
        gain = np.maximum(np.where((slope > 0) == (speed > 0), gain * np.float32(0.8), gain + np.float32(0.2)), 0.01)
        speed = np.float32(0.5 if done < early else 0.8) * speed - rate * gain * slope
        speed = np.clip(speed, -_FARTHEST, _FARTHEST)
        at = at + speed
        at -= at.mean(axis=0)
        if progress is not None:
            progress((done + 1) / rounds)
    return at


def _attraction(ties: NeighbourGraph, at: Vectors) -> Vectors:
    """Gradient of the attraction by its neighbours, for each point: (n, 2)."""
    across, down = (np.ascontiguousarray(at[:, axis]) for axis in (0, 1))
    across = np.repeat(across, ties.counts) - across.take(ties.columns)
    down = np.repeat(down, ties.counts) - down.take(ties.columns)
    strength = ties.weights / (1 + across * across + down * down)
    pulls = [np.add.reduceat(gap * strength, ties.starts) for gap in (across, down)]
    return np.stack(pulls, axis=1)


def _repulsion(at: Vectors) -> Vectors:
    """Gradient of the repulsion by all points, for each point: (n, 2).

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
