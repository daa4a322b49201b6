"""One search over the blocks of a quantised matrix.

The sign bits of all rows are compared first, at a tenth of the cost of casting and multiplying the codes; the nearest
few per cent are then scored from their int8 codes. Signs alone miss neighbours, so they only select candidates. The
rows scored so far show how well signs predict the cosine for this query, hence how many of the best rows may be further
away. If that is more than 0.2 %, the scan continues further out, over all rows if necessary.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from engine.base.cancellation import CancelToken
from engine.store.matrix_block import Block, Distances, Floats, Ids, Mask, Rows, sign_words

FEWEST_EXAMINED = 2048
_EXAMINED_SHARE = 32
_TOLERATED_LOSS = 0.002


class Scan:
    """State of one search, for a single use by one caller."""

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
        self._bits = None if centre is None else sign_words(query[None, :], centre)[0]
        self._never = len(query) + 1
        """A distance greater than any row's; marks rows that must not be found."""
        self._distances: dict[int, Distances] = {}
        self._scored: list[tuple[Ids, Floats]] = []

    def best(self, k: int) -> tuple[Ids, Floats]:
        """Return the `k` rows with the highest approximate cosines, best first. The best quarter is almost complete."""
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
        """Score all permitted rows if they are so few that signs would select them all; return whether they were."""
        if self._permitted is None:
            return False
        rows = {number: np.flatnonzero(self._findable(number, block)) for number, block in self._sealed.items()}
        if sum(map(len, rows.values())) > max(FEWEST_EXAMINED, 4 * k):
            return False
        for number, found in rows.items():
            self._score(self._sealed[number], found)
        return True

    def _search_sealed(self, k: int) -> None:
        counts = np.zeros(self._never + 1, np.int64)
        for number in self._sealed:
            self._checkpoint()
            self._distances[number] = distances = self._measure(number)
            counts += np.bincount(distances, minlength=len(counts))
        reached = np.cumsum(counts[: self._never])
        enough = max(FEWEST_EXAMINED, 4 * k, int(reached[-1]) // _EXAMINED_SHARE)
        limit = min(int(np.searchsorted(reached, enough)), self._never - 1)
        near = self._score_between(-1, limit)
        further = self._enough_up_to(limit, counts, *near, wanted=max(1, k // 4))
        if further > limit:
            self._score_between(limit, further)

    def _measure(self, number: int) -> Distances:
        block, bits = self._sealed[number], self._bits
        assert bits is not None, "blocks are sealed only once there is a centre"
        distances = block.distances(bits)
        distances[~self._findable(number, block)] = self._never
        return distances

    def _score_between(self, above: int, limit: int) -> tuple[Distances, Floats]:
        """Score rows of sealed blocks at distances in (above, limit]; return their distances and cosines."""
        found: list[tuple[Distances, Floats]] = []
        for number, distances in self._distances.items():
            self._checkpoint()
            rows = np.flatnonzero((distances > above) & (distances <= limit))
            found.append((distances[rows], self._score(self._sealed[number], rows)))
        near, cosines = zip(*found, strict=True)
        return np.concatenate(near), np.concatenate(cosines)

    def _checkpoint(self) -> None:
        if self._cancel is not None:
            self._cancel.checkpoint()

    def _score(self, block: Block, rows: Rows) -> Floats:
        cosines = block.cosines(self._query, None if len(rows) == block.count else rows)
        self._scored.append((block.ids[rows], cosines))
        return cosines

    def _enough_up_to(
        self, limit: int, counts: NDArray[np.int64], distances: Distances, cosines: Floats, *, wanted: int
    ) -> int:
        """Distance up to which to scan so that hardly any of the best `wanted` rows lies beyond; at least `limit`.

        `counts` is the number of rows at each distance; `distances` and `cosines` are of the rows scored up to `limit`.
        The model assumes that cosines fall linearly with the distance, with normal noise.
        """
        if limit == self._never - 1:
            return limit
        seen = np.concatenate([cosines for _, cosines in self._scored])
        least = np.partition(seen, -min(wanted, len(seen)))[-min(wanted, len(seen))]
        x, y = distances.astype(np.float64), cosines.astype(np.float64)
        spread = x.var()
        slope = min(0.0, float(((x - x.mean()) * (y - y.mean())).mean() / spread)) if spread else 0.0
        noise = float((y - slope * x).std()) + 1e-6
        beyond = np.arange(limit + 1, self._never)
        deviations = (least - (y.mean() + slope * (beyond - x.mean()))) / noise
        expected = counts[beyond] * _upper_tail(np.maximum(deviations, 0.0))
        missed = np.cumsum(expected[::-1])[::-1]
        needed = np.flatnonzero(missed > _TOLERATED_LOSS * wanted)
        return int(beyond[needed[-1]]) if len(needed) else limit


def best_first(ids: Ids, cosines: Floats, k: int) -> tuple[Ids, Floats]:
    if len(ids) > k:
        chosen = np.argpartition(-cosines, k)[:k]
        ids, cosines = ids[chosen], cosines[chosen]
    order = np.lexsort((ids, -cosines))
    return ids[order], cosines[order]


def _upper_tail(deviations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability that a standard normal value exceeds each of these (0 or more), within some 2 %."""
    scaled: NDArray[np.float64] = np.sqrt(2 / np.pi) / (deviations + np.sqrt(deviations**2 + 8 / np.pi))
    return scaled * np.exp(-(deviations**2) / 2)
