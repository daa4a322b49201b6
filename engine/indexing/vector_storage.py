"""Stores vectors as they arrive, from any source, and publishes them to searches immediately."""

from collections.abc import Sequence

from engine.indexing.sync_parts import StageWork
from engine.store.vector_encoding import StoredModel, Vectors, encode


class VectorStorage:
    """For one model and one generation."""

    def __init__(self, work: StageWork, model: StoredModel) -> None:
        self._store = work.parts.store
        self._vectors = work.parts.vectors
        self._committed = work.parts.committed
        self._tables = work.tables
        self._meter = work.meter
        self._model = model

    def keep(self, hashes: Sequence[bytes], vectors: Vectors, *, made: bool = True) -> None:
        """Keep the unit vectors (n, dims) of distinct texts, named by their hashes, in one transaction.

        `made`: they were embedded here and now, and not only brought.
        """
        with self._store.write(self._tables) as writer:
            writer.store_vectors(self._model.id, zip(hashes, encode(vectors), strict=True))
            before = writer.stamp
            if self._tables is None:
                places = {hash_: place for place, hash_ in enumerate(hashes)}
                chunks = writer.chunks_of_hashes(list(places))
                writer.advance_stamp()
        if self._tables is None:
            rows = vectors[[places[hash_] for _, hash_ in chunks]]
            self._vectors.changed(before, self._model, added=([id_ for id_, _ in chunks], rows))
        if made:
            self._meter.embedded += len(hashes)
        else:
            self._meter.reused += len(hashes)
        self._committed()
