"""Stores vectors as they arrive, from any source, and publishes them to searches immediately."""

from collections.abc import Sequence

from engine.indexing.stage_data import StageWork
from engine.store.vector_encoding import StoredModel, Vectors, encode


class VectorStorage:
    """Stores vectors of one model in one generation, and makes them available to searches."""

    def __init__(self, work: StageWork, model: StoredModel) -> None:
        self._store = work.parts.store
        self._vectors = work.parts.vectors
        self._committed = work.parts.committed
        self._tables = work.tables
        self._meter = work.meter
        self._model = model

    def save(self, hashes: Sequence[bytes], vectors: Vectors, *, made: bool = True) -> None:
        """Store the vectors (n, dims) of distinct texts, given by their hashes, in one transaction.

        `made`: the vectors were made by this sync, not copied.
        """
        with self._store.write(self._tables) as writer:
            writer.store_vectors(self._model.id, zip(hashes, encode(vectors), strict=True))
            before = writer.stamp
            if self._tables is None:
                row_of = {hash_: row for row, hash_ in enumerate(hashes)}
                chunks = writer.chunks_of_hashes(list(row_of))
                writer.advance_stamp()
        if self._tables is None:
            rows = vectors[[row_of[hash_] for _, hash_ in chunks]]
            self._vectors.changed(before, self._model, added=([id_ for id_, _ in chunks], rows))
        if made:
            self._meter.embedded += len(hashes)
        else:
            self._meter.reused += len(hashes)
        self._committed()
