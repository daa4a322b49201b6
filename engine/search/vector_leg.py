"""The vector search: candidates from the vector index, approximate cosines for all of them, exact ones for the best."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.base.cancellation import CancelToken
from engine.providers import Calibration
from engine.search import scoring
from engine.search.chunk_filter import ChunkFilter
from engine.search.search_sources import NearVectors
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import StoredModel, Vectors, decode

_FEWEST = 200
"""Number of passages from which the variation of cosines shows whether any shares the query's subject."""
_SAMPLE = 500
"""About how many passages, spread over the index, are compared for that."""
_NEAREST, _OUTSTANDING = 5.0, 6.0
"""Standard deviations above the average cosine: random directions rarely reach the first, and not the second."""


@dataclass(frozen=True)
class VectorLeg:
    """Compares the vector of one query with those of one snapshot."""

    snapshot: Snapshot
    vectors: NearVectors
    model: StoredModel
    calibration: Calibration
    query: Vectors
    """Unit vector (dims,)."""
    _near: dict[int, float] = field(default_factory=dict)
    """Cosines of candidates, within a few thousandths."""
    _exact: dict[int, float] = field(default_factory=dict)

    def candidates(self, limit: int, scope: ChunkFilter, cancel: CancelToken | None) -> list[int]:
        """Return the ids of the chunks nearest to the query, best first."""
        allowed = scope.chunks
        if allowed is None and scope.files is not None:
            allowed = self.snapshot.chunks_of_files(scope.files)
        found = self.vectors.search(self.snapshot, self.model, self.query, limit, allowed=allowed, cancel=cancel)
        ids, cosines = (values.tolist() for values in found)
        self._near.update(zip(ids, cosines, strict=True))
        return list(ids)

    def rows(self) -> int:
        """Return the number of chunks that have a vector."""
        return self.vectors.rows(self.snapshot, self.model)

    def near_cosines(self, ids: Sequence[int]) -> dict[int, float]:
        """Return approximate cosines, within a few thousandths, by id; chunks without a vector are left out."""
        if others := [id_ for id_ in ids if id_ not in self._near]:
            known, cosines = self.vectors.search(self.snapshot, self.model, self.query, len(others), allowed=others)
            self._near.update(zip(known.tolist(), cosines.tolist(), strict=True))
        found = {id_: self._near[id_] for id_ in ids if id_ in self._near}
        return found | self.cosines([id_ for id_ in others if id_ not in found])

    def shared_subject(self, nearest: float) -> float:
        """Return how likely passages of the index share the query's subject, 0 to 1.

        Only then do its cosines vary more than those of random directions, or the `nearest` one stands out. 1 if the
        index has too few passages to tell, or if the model was not measured.
        """
        scatter = self.calibration.scatter
        if scatter is None:
            return 1.0
        first, last = self.snapshot.chunk_id_range()
        sample = range(first, last + 1, max(1, self.rows() // _SAMPLE))
        cosines = list(self.near_cosines(sample).values())
        if len(cosines) < _FEWEST:
            return 1.0
        mean = math.fsum(cosines) / len(cosines)
        deviation = math.dist(cosines, [mean] * len(cosines)) / math.sqrt(len(cosines))
        varied = (deviation - scatter[0]) / (scatter[1] - scatter[0])
        distant = (nearest - mean) / max(deviation, 1e-9)
        return scoring.within_limits(max(varied, (distant - _NEAREST) / (_OUTSTANDING - _NEAREST)))

    def cosines(self, ids: Sequence[int]) -> dict[int, float]:
        """Return exact cosines by id; chunks without a vector are left out. Each reads three pages of the index."""
        if new := [id_ for id_ in ids if id_ not in self._exact]:
            rows = list(self.snapshot.vectors(self.model.id, self.model.dims, new))
            if rows:
                matrix = decode([vector for _, vector in rows], self.model.dims).astype("float32")
                self._exact.update(zip((id_ for id_, _ in rows), (matrix @ self.query).tolist(), strict=True))
        return {id_: self._exact[id_] for id_ in ids if id_ in self._exact}

    def evidence(self, cosine: float) -> float:
        """Return the meaning score of a cosine, without limits of 0 and 1."""
        return scoring.vector_evidence(cosine, self.calibration)
