"""The matrix engine: the vectors of the current generation in memory, in step with the database.

The matrix is a disposable copy of the database. Chunk ids are never reused, so "in step" means: the same set of ids. A
stamp in the database shows cheaply whether that may have changed.
"""

import logging
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.base.cancellation import CancelToken
from engine.store.location import IndexFiles
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import Ids, StoredModel, Vectors, decode

if TYPE_CHECKING:
    from engine.store.matrix import QuantisedMatrix

log = logging.getLogger(__name__)

_READ_AT_ONCE = 2048
WORTH_SAVING = 1000
"""So many changed rows are read again at the next start in a tenth of a second; to write them costs the whole file."""


class MatrixEngine:
    """The matrix of one process. Thread-safe."""

    def __init__(self, files: IndexFiles) -> None:
        self._files = files
        self._lock = threading.Lock()
        self._matrix: QuantisedMatrix | None = None
        self._of = ("", -1)
        """Identity of the index, and id of the model."""
        self._generation = -1
        self._stamp = -1
        self._unsaved = 0
        """Rows that came or went since the file was read or written."""

    def search(
        self,
        snapshot: Snapshot,
        model: StoredModel,
        query: Vectors,
        k: int,
        *,
        allowed: Sequence[int] | None = None,
        cancel: CancelToken | None = None,
    ) -> tuple[Ids, Vectors]:
        """Ids (m,) and approximate cosines (m,) of the nearest chunks, best first, m <= k; `allowed` restricts them."""
        import numpy as np

        matrix = self.in_step(snapshot, model)
        among = None if allowed is None else np.asarray(allowed, dtype=np.int64)
        return matrix.search(query, k, allowed=among, cancel=cancel)

    def in_step(self, snapshot: Snapshot, model: StoredModel) -> "QuantisedMatrix":
        """The matrix, updated to the chunks that have a vector in this snapshot, or newer.

        A sync of this process may be ahead of the snapshot. Newer chunks are ignored in results, while going back would
        have to be undone immediately.
        """
        with self._lock:
            of = snapshot.identity, model.id
            other = self._matrix is None or self._of != of or self._matrix.dims != model.dims
            if self._matrix is None or other or self._generation < snapshot.generation:
                self._matrix = self._load(snapshot, model)
                self._of, self._generation = of, snapshot.generation
            if self._stamp < snapshot.stamp:
                self._reconcile(self._matrix, snapshot, model)
                self._stamp = snapshot.stamp
            return self._matrix

    def changed(
        self,
        snapshot: Snapshot,
        before: int,
        model: StoredModel | None,
        *,
        added: tuple[Sequence[int], Vectors] | None,
        new: Sequence[int],
        removed: Sequence[int],
    ) -> None:
        """Follow one commit of this process that took the database from stamp `before` to this snapshot.

        `added` are vectors of `model`, `new` chunks that may have had their vector before. A matrix that was not at
        `before` is left alone: its next use brings it in step.
        """
        with self._lock:
            if self._matrix is None or self._stamp != before:
                return
            if model is None or self._of[1] != model.id or self._matrix.dims != model.dims:
                added = None  # nothing to this matrix, which is of another model
            import numpy as np

            if removed:
                self._matrix.remove(np.asarray(removed, dtype=np.int64))
            if added is not None and len(added[0]):
                self._matrix.add(np.asarray(added[0], dtype=np.int64), added[1])
            self._add(self._matrix, snapshot, self._of[1], new)
            self._unsaved += len(removed) + (0 if added is None else len(added[0]))
            self._stamp = snapshot.stamp

    def forget(self) -> None:
        """Release the memory; the next search loads it again."""
        with self._lock:
            self._matrix = None

    def discard(self) -> None:
        """Forget the matrix, and delete its file: vectors of existing chunks may be re-embedded."""
        self.forget()
        try:
            self._files.matrix.unlink(missing_ok=True)
        except OSError as error:
            log.warning("The vector matrix could not be removed: %s", error)

    def worth_saving(self, snapshot: Snapshot, model: StoredModel) -> bool:
        """Whether the saved file is so far behind that a start would be slower."""
        self.in_step(snapshot, model)
        return self._unsaved >= WORTH_SAVING

    def save(self, snapshot: Snapshot, model: StoredModel) -> None:
        """Write the matrix next to the database, so that the next start needn't read every vector.

        The database must be synced to the disk up to the snapshot: after a power failure, ids of lost chunks are used
        again.
        """
        matrix = self.in_step(snapshot, model)
        try:
            matrix.save(
                self._files.matrix,
                generation=snapshot.generation,
                model_key=matrix_key(snapshot, model),
                stamp=snapshot.stamp,
            )
            self._unsaved = 0
        except OSError as error:
            log.warning("The vector matrix could not be saved: %s", error)

    def _load(self, snapshot: Snapshot, model: StoredModel) -> "QuantisedMatrix":
        """The saved matrix, as old as it may be, else an empty one."""
        from engine.store.matrix import QuantisedMatrix

        found = QuantisedMatrix.load(
            self._files.matrix, generation=snapshot.generation, model_key=matrix_key(snapshot, model)
        )
        if found is not None:
            matrix, stamp = found
            if matrix.dims == model.dims and stamp <= snapshot.stamp:
                self._stamp, self._unsaved = stamp, 0
                return matrix
        # A file that is of no use is replaced at the next occasion.
        self._stamp, self._unsaved = -1, WORTH_SAVING
        return QuantisedMatrix(model.dims)

    def _reconcile(self, matrix: "QuantisedMatrix", snapshot: Snapshot, model: StoredModel) -> None:
        import numpy as np

        wanted = np.asarray(snapshot.vector_chunk_ids(model.id), dtype=np.int64)
        present = matrix.ids()
        gone = np.setdiff1d(present, wanted, assume_unique=True)
        missing = np.setdiff1d(wanted, present, assume_unique=True)
        matrix.remove(gone)
        self._unsaved += len(gone) + len(missing)
        self._add(matrix, snapshot, model.id, missing.tolist())

    @staticmethod
    def _add(matrix: "QuantisedMatrix", snapshot: Snapshot, model_id: int, chunks: Sequence[int]) -> None:
        """Add those of these chunks that have a vector."""
        import numpy as np

        for start in range(0, len(chunks), _READ_AT_ONCE):
            rows = list(snapshot.vectors(model_id, chunks[start : start + _READ_AT_ONCE]))
            ids = np.asarray([id_ for id_, _ in rows], dtype=np.int64)
            matrix.add(ids, decode([vector for _, vector in rows], matrix.dims))


def matrix_key(snapshot: Snapshot, model: StoredModel) -> str:
    """The key that tells the files of matrices apart."""
    return f"{snapshot.identity}/{model.name}"
