"""In-memory matrix of all vectors of one model, quantised to one byte per dimension, for nearest-neighbour candidates.

Searches use the state from when they began and hold no lock; changes run one at a time and each makes a new state.
Scores are approximate: callers request about four times what they need and rescore with the stored vectors.

A search compares the sign bits of all rows first, at a tenth of the cost of casting and multiplying the codes; the
nearest few per cent are then scored from their int8 codes. Signs alone miss neighbours, so they only select candidates.
The rows scored so far show how well signs predict the cosine for this query, hence how many of the best rows may be
further away. If that is more than 0.02 %, the scan continues further out, over all rows if necessary.
"""

import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.base.cancellation import CancelToken, checkpoint
from engine.base.errors import Cancelled
from engine.store.vector_matrix_blocks import (
    BLOCK_ROWS,
    Block,
    Codes,
    Distances,
    Floats,
    Halves,
    Ids,
    Mask,
    RowIndex,
    Rows,
    Words,
    by_block,
    map_codes,
    quantise,
    read_matrix,
    sign_words,
    write_matrix,
)

_MAX_DEAD = BLOCK_ROWS // 4
"""A full block with more removed rows than this moves the others to the open block and is removed."""

MIN_EXAMINED = 2048
_EXAMINED_SHARE = 128
_TOLERATED_LOSS = 0.0002
"""Share of the best quarter of the results that may be missed, as estimated."""
_SMALL = 0.6
"""Share of a query's components, the smallest, whose signs count once; others count three times."""


class _State(NamedTuple):
    blocks: dict[int, Block]
    """Blocks by number, ascending; only the last one may be open."""
    lookup: RowIndex
    centre: Floats | None
    """Origin for sign bits, fixed when the first block is full; None before. Without it, vectors of models whose mean
    is far from zero would mostly have the same signs.
    """


class QuantisedMatrix:
    """Vectors with ids in memory, searched by cosine. Thread-safe."""

    def __init__(self, dims: int) -> None:
        self.dims = dims
        self._change = threading.Lock()
        self._state = _State({}, RowIndex.empty(), None)

    @property
    def rows(self) -> int:
        return len(self._state.lookup.ids)

    @property
    def nbytes(self) -> int:
        """Memory of all rows in bytes, including those mapped from the file."""
        state = self._state
        return sum(block.nbytes for block in state.blocks.values()) + state.lookup.nbytes

    def ids(self) -> Ids:
        """Return all ids, ascending."""
        return self._state.lookup.ids.copy()

    def parts(self) -> list[tuple[Ids, Codes, Floats]]:
        """Return all vectors in parts: ids (n,), codes (n, dims) and scales (n,). The arrays must not be modified."""
        parts = []
        for block in self._state.blocks.values():
            whole = block.live == block.count
            rows = slice(block.count) if whole else block.live_rows()
            parts.append((block.ids[rows], block.codes[rows], block.scales[rows]))
        return parts

    def add(self, ids: Ids, vectors: Floats | Halves) -> None:
        """Add L2-normalised vectors, (n, dims), replacing rows with the same ids, (n,); the ids must be distinct.

        Raises ValueError if the shapes do not match or an id occurs twice.
        """
        if vectors.shape != (len(ids), self.dims):
            raise ValueError(f"Expected vectors of shape {(len(ids), self.dims)}, got {vectors.shape}.")
        if len(np.unique(ids)) != len(ids):
            raise ValueError("An id occurs twice.")
        if not len(ids):
            return
        with self._change:
            builder = _StateBuilder(self._state, self.dims)
            builder.remove(ids)
            for start in range(0, len(ids), BLOCK_ROWS):
                part = slice(start, start + BLOCK_ROWS)
                builder.append(ids[part], *quantise(vectors[part]))
            self._state = builder.finish()

    def remove(self, ids: Ids) -> None:
        """Remove rows; unknown ids are ignored."""
        with self._change:
            builder = _StateBuilder(self._state, self.dims)
            builder.remove(ids)
            self._state = builder.finish()

    def search(
        self,
        query: Floats,
        k: int,
        *,
        allowed: Ids | None = None,
        cancel: CancelToken | None = None,
    ) -> tuple[Ids, Floats]:
        """Return at most `k` rows nearest to the L2-normalised query, (dims,): ids and approximate cosines, best first.

        The best quarter of `k` is reliable (recall above .99); the rest may miss a few rows. `allowed` limits the
        search to these ids. Raises Cancelled.
        """
        state = self._state
        query = np.ascontiguousarray(query, np.float32)
        permitted = None
        if k <= 0 or not state.blocks:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        if allowed is not None:
            positions, found = state.lookup.find(allowed)
            positions = positions[found]
            if not (np.diff(positions) > 0).all():  # `unique` takes 0.3 s for a million
                positions = np.unique(positions)
            slots = state.lookup.slots[positions]
            if len(slots) <= MIN_EXAMINED:
                return best_first(*_cosines(state, slots, query), k)
            permitted = _masks(slots)
        scan = Scan(state.blocks, query, centre=state.centre, permitted=permitted, cancel=cancel)
        return scan.best(k)

    def save(self, path: Path, *, generation: int, model_key: str, stamp: int) -> None:
        """Write the cache file that `load` reads for the same generation and model. Raises OSError.

        Afterwards the codes are mapped from it, as after `load`, so that the system can drop their pages.
        """
        state = self._state
        alive = [(block, block.live_rows()) for block in state.blocks.values()]
        write_matrix(
            path,
            ids=np.concatenate([np.empty(0, np.int64), *(block.ids[rows] for block, rows in alive)]),
            scales=np.concatenate([np.empty(0, np.float32), *(block.scales[rows] for block, rows in alive)]),
            codes=(block.codes[rows] for block, rows in alive),
            dims=self.dims,
            generation=generation,
            model_key=model_key,
            stamp=stamp,
        )
        if sys.platform != "win32":  # Windows can't replace a mapped file
            self._read_from(map_codes(path, sum(len(rows) for _, rows in alive), self.dims), state.blocks)

    def _read_from(self, codes: Codes, saved: dict[int, Block]) -> None:
        """Map the codes of full blocks from the file that the rows of `saved` were written to, in order."""
        with self._change:
            blocks, start = dict(self._state.blocks), 0
            for number, block in saved.items():
                now = blocks.get(number)
                if now is not None and now.codes is block.codes and block.live == BLOCK_ROWS:
                    blocks[number] = replace(now, codes=codes[start : start + BLOCK_ROWS])
                start += block.live
            self._state = self._state._replace(blocks=blocks)

    @classmethod
    def load(
        cls, path: Path, *, generation: int, model_key: str, cancel: CancelToken | None = None
    ) -> "tuple[QuantisedMatrix, int] | None":
        """Load a saved matrix, its codes mapped from the file, and the stamp it was saved with.

        Returns None for a damaged file or one of another generation or model. Raises `Cancelled`.
        """
        content = read_matrix(path, generation=generation, model_key=model_key)
        if content is None:
            return None
        stamp, ids, scales, codes = content
        matrix = cls(codes.shape[1])
        builder = _StateBuilder(matrix._state, matrix.dims)
        builder.append_blocks(ids, codes, scales, cancel)
        matrix._state = builder.finish()
        return matrix, stamp


class _StateBuilder:
    """Builds a changed state of the matrix; blocks of the old state are never modified."""

    def __init__(self, state: _State, dims: int) -> None:
        self._dims = dims
        self._blocks = dict(state.blocks)
        self._lookup = state.lookup
        self._centre = state.centre
        self._next = max(state.blocks, default=-1) + 1

    def remove(self, ids: Ids) -> None:
        positions, found = self._lookup.find(ids)
        positions = positions[found]
        if not len(positions):
            return
        for number, rows, _ in by_block(self._lookup.slots[positions]):
            self._blocks[number] = self._blocks[number].without(rows)
        self._lookup = self._lookup.excluding(positions)
        self._compact()

    def append(self, ids: Ids, codes: Codes, scales: Floats) -> None:
        """Append rows; rows that already exist are moved to the end."""
        start = 0
        while start < len(ids):
            number, block = self._open_block()
            part = slice(start, start + BLOCK_ROWS - block.count)
            slots = np.arange(len(ids[part]), dtype=np.int64) + (number * BLOCK_ROWS + block.count)
            self._lookup = self._lookup.having(ids[part], slots)
            self._put(number, block.appended(ids[part], codes[part], scales[part]))
            start += len(slots)

    def append_blocks(self, ids: Ids, codes: Codes, scales: Floats, cancel: CancelToken | None) -> None:
        """Use full blocks without copying their codes, and append the remaining rows."""
        full = len(ids) - len(ids) % BLOCK_ROWS
        self._lookup = self._lookup.having(ids[:full], np.arange(full, dtype=np.int64))
        for start in range(0, full, BLOCK_ROWS):
            if cancel is not None and cancel.cancelled:  # no checkpoint: a pause would block searches
                raise Cancelled
            part = slice(start, start + BLOCK_ROWS)
            alive = np.ones(BLOCK_ROWS, np.bool_)
            self._put(self._next, Block(codes[part], scales[part], ids[part], alive, BLOCK_ROWS, BLOCK_ROWS))
            self._next += 1
        self.append(ids[full:], codes[full:], scales[full:])

    def finish(self) -> _State:
        return _State(self._blocks, self._lookup, self._centre)

    def _open_block(self) -> tuple[int, Block]:
        number = max(self._blocks, default=-1)
        if number < 0 or self._blocks[number].count == BLOCK_ROWS:
            number, self._next = self._next, self._next + 1
            self._blocks[number] = Block.empty(self._dims)
        return number, self._blocks[number]

    def _put(self, number: int, block: Block) -> None:
        if block.count == BLOCK_ROWS:
            if self._centre is None:
                self._centre = block.centre()
            block = block.sealed(self._centre)
        self._blocks[number] = block

    def _compact(self) -> None:
        """Move rows out of blocks that consist mostly of removed rows, so that their memory is freed."""
        for number in list(self._blocks):
            block = self._blocks[number]
            if block.count - block.live > _MAX_DEAD or not block.live:
                del self._blocks[number]
                rows = block.live_rows()
                self.append(block.ids[rows], block.codes[rows], block.scales[rows])


def _cosines(state: _State, slots: Ids, query: Floats) -> tuple[Ids, Floats]:
    """Return the ids and approximate cosines of the rows at these slots, in the given order."""
    ids = np.empty(len(slots), np.int64)
    cosines = np.empty(len(slots), np.float32)
    for number, rows, positions in by_block(slots):
        block = state.blocks[number]
        ids[positions] = block.ids[rows]
        cosines[positions] = block.cosines(query, rows)
    return ids, cosines


def _masks(slots: Ids) -> dict[int, Mask]:
    """Return a mask of rows for each block that contains one of these slots."""
    masks: dict[int, Mask] = {}
    for number, rows, _ in by_block(slots):
        masks[number] = np.zeros(BLOCK_ROWS, np.bool_)
        masks[number][rows] = True
    return masks


class Scan:
    """One search of the matrix; used once."""

    def __init__(
        self,
        blocks: Mapping[int, Block],
        query: Floats,
        *,
        centre: Floats | None,
        permitted: Mapping[int, Mask] | None,
        cancel: CancelToken | None,
    ) -> None:
        self._query = query
        self._permitted = permitted
        self._cancel = cancel
        self._sealed = {number: block for number, block in blocks.items() if block.sketch is not None}
        self._open = {number: block for number, block in blocks.items() if block.sketch is None}
        self._signs: tuple[Words, Words] | None = None
        """The query's sign bits, and those of its largest components.

        Not relative to the centre, unlike those of the rows: what a row's difference from the centre adds to the cosine
        depends on the query's own components.
        """
        if centre is not None:
            origin, sizes, small = np.zeros_like(query), np.abs(query), int(_SMALL * len(query))
            large = sizes > np.partition(sizes, small)[small]
            self._signs = sign_words(query[None, :], origin)[0], sign_words(large[None, :], origin)[0]
        self._excluded = 3 * len(query) + 1
        """A distance greater than any row's; marks rows that must not be found."""
        self._distances = np.empty((len(self._sealed), BLOCK_ROWS), np.uint16)
        """Distances of all rows of the sealed blocks."""
        self._scored: list[tuple[Ids, Floats]] = []

    def best(self, k: int) -> tuple[Ids, Floats]:
        """Return the `k` rows with the highest approximate cosines, best first; the best quarter is nearly complete."""
        for number, block in self._open.items():
            self._score(block, np.flatnonzero(self._findable(number, block)))
        if self._sealed and not self._score_few(k):
            self._search_sealed(k)
        if not self._scored:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        ids, cosines = zip(*self._scored, strict=True)
        return best_first(np.concatenate(ids), np.concatenate(cosines), k)

    def _findable(self, number: int, block: Block) -> Mask:
        alive = block.alive[: block.count]
        if self._permitted is None:
            return alive
        permitted = self._permitted.get(number)
        return np.zeros_like(alive) if permitted is None else alive & permitted[: block.count]

    def _score_few(self, k: int) -> bool:
        """Score all permitted rows if they are few, as signs would select them all; return whether they were scored."""
        if self._permitted is None:
            return False
        rows = {number: np.flatnonzero(self._findable(number, block)) for number, block in self._sealed.items()}
        if sum(map(len, rows.values())) > max(MIN_EXAMINED, 4 * k):
            return False
        for number, found in rows.items():
            self._score(self._sealed[number], found)
        return True

    def _search_sealed(self, k: int) -> None:
        for index, (number, block) in enumerate(self._sealed.items()):
            self._checkpoint()
            self._measure(number, block, self._distances[index])
        counts = np.bincount(self._distances.ravel(), minlength=self._excluded + 1)
        reached = np.cumsum(counts[: self._excluded])
        enough = max(MIN_EXAMINED, 4 * k, int(reached[-1]) // _EXAMINED_SHARE)
        limit = min(int(np.searchsorted(reached, enough)), self._excluded - 1)
        near = self._score_between(-1, limit)
        further = self._enough_up_to(limit, counts, *near, count=max(1, k // 4))
        if further > limit:
            self._score_between(limit, further)

    def _measure(self, number: int, block: Block, distances: Distances) -> None:
        assert self._signs is not None, "blocks are sealed only once there is a centre"
        distances[:] = block.distances(*self._signs)
        if self._permitted is not None or block.live < block.count:
            distances[~self._findable(number, block)] = self._excluded

    def _score_between(self, above: int, limit: int) -> tuple[Distances, Floats]:
        """Score rows of sealed blocks whose distance is in (above, limit]; return their distances and cosines."""
        rows = np.flatnonzero((self._distances > above) & (self._distances <= limit))
        borders = np.searchsorted(rows, np.arange(len(self._sealed) + 1) * BLOCK_ROWS).tolist()
        cosines = [np.empty(0, np.float32)]
        for index, block in enumerate(self._sealed.values()):
            if len(own := rows[borders[index] : borders[index + 1]]):
                self._checkpoint()
                cosines.append(self._score(block, own - index * BLOCK_ROWS))
        return self._distances.ravel()[rows], np.concatenate(cosines)

    def _checkpoint(self) -> None:
        checkpoint(self._cancel)

    def _score(self, block: Block, rows: Rows) -> Floats:
        cosines = block.cosines(self._query, None if len(rows) == block.count else rows)
        self._scored.append((block.ids[rows], cosines))
        return cosines

    def _enough_up_to(
        self, limit: int, counts: NDArray[np.int64], distances: Distances, cosines: Floats, *, count: int
    ) -> int:
        """Return the Hamming distance of sign bits to scan up to, so that few of the best `count` rows are missed.

        `counts`: the number of rows at each distance. `distances`, `cosines`: of the rows scored so far, which are all
        rows up to the distance `limit`.
        The model assumes that cosines fall linearly with the distance, with normal noise.
        """
        if limit == self._excluded - 1:
            return limit
        seen = np.concatenate([cosines for _, cosines in self._scored])
        least = np.partition(seen, -min(count, len(seen)))[-min(count, len(seen))]
        x, y = distances.astype(np.float64), cosines.astype(np.float64)
        spread = x.var()
        slope = min(0.0, float(((x - x.mean()) * (y - y.mean())).mean() / spread)) if spread else 0.0
        noise = float((y - slope * x).std()) + 1e-6
        beyond = np.arange(limit + 1, self._excluded)
        deviations = (least - (y.mean() + slope * (beyond - x.mean()))) / noise
        expected = counts[beyond] * _upper_tail(np.maximum(deviations, 0.0))
        missed = np.cumsum(expected[::-1])[::-1]
        needed = np.flatnonzero(missed > _TOLERATED_LOSS * count)
        return int(beyond[needed[-1]]) if len(needed) else limit


def best_first(ids: Ids, cosines: Floats, k: int) -> tuple[Ids, Floats]:
    """Return the `k` ids (k,) with the highest cosines (k,), best first; equal ones by id."""
    if len(ids) > k:
        chosen = np.argpartition(-cosines, k)[:k]
        ids, cosines = ids[chosen], cosines[chosen]
    order = np.lexsort((ids, -cosines))
    return ids[order], cosines[order]


def _upper_tail(deviations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities that a standard normal value exceeds each of `deviations` (0 or more),
    within some 2 %.
    """
    scaled: NDArray[np.float64] = np.sqrt(2 / np.pi) / (deviations + np.sqrt(deviations**2 + 8 / np.pi))
    return scaled * np.exp(-(deviations**2) / 2)
