"""The matrix engine: the vectors of the current generation in memory, synchronised with the database.

The database is authoritative; the matrix is a disposable copy. Chunk ids are never reused, so both are in step if they
have the same set of ids. A stamp in the database makes it cheap to detect possible changes.
"""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from engine.base import in_batches, lazy_logger
from engine.base.cancellation import CancelToken
from engine.base.language import tr
from engine.store.index_paths import IndexFiles
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import Ids, StoredModel, Vectors, decode, integers, read_header

if TYPE_CHECKING:
    from engine.store.vector_matrix import QuantisedMatrix

log = lazy_logger(__name__)

_CHUNKS_PER_BATCH = 2048
_SAMPLE = 200
_MIN_COSINE = 0.99
"""Minimum cosine between a vector and its int8 form; rounding alone leaves more than .999."""
WORTH_SAVING = 1000
"""Number of changed rows from which the matrix is saved: rereading them at the next start takes 0.1 s."""


class MatrixEngine:
    """Searches the vectors in memory and keeps them in step with the database. Thread-safe."""

    def __init__(self, files: IndexFiles) -> None:
        self._files = files
        self._lock = threading.Lock()
        self._matrix: QuantisedMatrix | None = None
        self._key = ("", -1)
        """Identity of the index and id of the model whose vectors are in memory."""
        self._generation = -1
        self._stamp = -1
        self._unsaved = 0
        """Rows added or removed since the file was read or written."""

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
        """Return ids (m,) and approximate cosines (m,) of the chunks nearest to the query, best first, m <= k."""
        import numpy as np

        matrix = self.matrix_of(snapshot, model, cancel)
        allowed_ids = None if allowed is None else np.asarray(allowed, dtype=np.int64)
        return matrix.search(query, k, allowed=allowed_ids, cancel=cancel)

    def matrix_of(self, snapshot: Snapshot, model: StoredModel, cancel: CancelToken | None = None) -> "QuantisedMatrix":
        """Return the matrix with all chunks that have a vector in this snapshot, or a later state of it.

        A sync in this process may have progressed since the snapshot was taken. Newer rows are not found in the
        snapshot, so they do no harm, while reverting them would have to be undone immediately.
        """
        with self._lock:
            key = snapshot.identity, model.id
            other = self._matrix is None or self._key != key or self._matrix.dims != model.dims
            if self._matrix is None or other or self._generation < snapshot.generation:
                self._matrix = self._load(snapshot, model, cancel)
                self._key, self._generation = key, snapshot.generation
            if self._stamp < snapshot.stamp:
                self._reconcile(self._matrix, snapshot, model)
                self._stamp = snapshot.stamp
            return self._matrix

    def apply_commit(
        self,
        snapshot: Snapshot,
        before: int,
        model: StoredModel | None,
        *,
        added: tuple[Sequence[int], Vectors] | None,
        new: Sequence[int],
        removed: Sequence[int],
    ) -> None:
        """Apply one commit of this process, which took the database from stamp `before` to this snapshot.

        `added` are vectors of `model`; `new` are chunks that may already have a cached vector. A matrix that was not at
        `before` is left unchanged and catches up on its next use.
        """
        with self._lock:
            if self._matrix is None or self._stamp != before:
                return
            if model is None or self._key[1] != model.id or self._matrix.dims != model.dims:
                added = None  # this matrix is of another model
            import numpy as np

            if removed:
                self._matrix.remove(np.asarray(removed, dtype=np.int64))
            if added is not None and len(added[0]):
                self._matrix.add(np.asarray(added[0], dtype=np.int64), added[1])
            self._add(self._matrix, snapshot, self._key[1], new)
            self._unsaved += len(removed) + (0 if added is None else len(added[0]))
            self._stamp = snapshot.stamp

    def free_memory(self) -> None:
        """Free the memory; the next search reloads the matrix."""
        with self._lock:
            self._matrix = None

    def discard(self) -> None:
        """Drop the matrix and its file, because vectors of existing chunks may be replaced."""
        self.free_memory()
        try:
            self._files.matrix.unlink(missing_ok=True)
        except OSError as error:
            log.warning("The vector matrix could not be removed: %s", error)

    def is_saved(self, snapshot: Snapshot, model: StoredModel) -> bool:
        """Whether the file has the vectors of this snapshot, according to its header. Reads nothing else."""
        header = read_header(self._files.matrix)
        return (
            header is not None
            and header.is_of(snapshot.generation, matrix_key(snapshot, model))
            and (header.dims, header.stamp) == (model.dims, snapshot.stamp)
        )

    def worth_saving(self, snapshot: Snapshot, model: StoredModel, cancel: CancelToken | None) -> bool:
        """Whether the saved file is so outdated that it would slow down the next start. Raises `Cancelled`."""
        self.matrix_of(snapshot, model, cancel)
        return self._unsaved >= WORTH_SAVING

    def save(self, snapshot: Snapshot, model: StoredModel) -> None:
        """Save the matrix next to the database, so that the next start need not read every vector.

        The database must be flushed up to this snapshot: after a power failure, ids of lost chunks are reused.
        """
        matrix = self.matrix_of(snapshot, model)
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

    def _load(self, snapshot: Snapshot, model: StoredModel, cancel: CancelToken | None) -> "QuantisedMatrix":
        """Load the saved matrix, however old; an empty one if there is none."""
        from engine.store.vector_matrix import QuantisedMatrix

        loaded = QuantisedMatrix.load(
            self._files.matrix,
            generation=snapshot.generation,
            model_key=matrix_key(snapshot, model),
            cancel=cancel,
        )
        if loaded is not None:
            matrix, stamp = loaded
            if matrix.dims == model.dims and stamp <= snapshot.stamp:
                self._stamp, self._unsaved = stamp, 0
                return matrix
        # An unusable file is replaced the next time the matrix is saved.
        self._stamp, self._unsaved = -1, WORTH_SAVING
        return QuantisedMatrix(model.dims)

    def _reconcile(self, matrix: "QuantisedMatrix", snapshot: Snapshot, model: StoredModel) -> None:
        import numpy as np

        # Chunks keep their vectors, so only the other ones are looked up: finding a million hashes takes a second.
        query = f"SELECT id FROM {snapshot.tables.chunk_rows} WHERE ? ORDER BY id"
        rows = snapshot.connection.execute(query, (snapshot.has_vectors(model.id),))
        indexed = integers(rows, 1)[:, 0]
        present = matrix.ids()
        obsolete = np.setdiff1d(present, indexed, assume_unique=True)
        matrix.remove(obsolete)
        remaining = matrix.rows
        self._add(matrix, snapshot, model.id, np.setdiff1d(indexed, present, assume_unique=True).tolist())
        self._unsaved += len(obsolete) + matrix.rows - remaining

    @staticmethod
    def _add(matrix: "QuantisedMatrix", snapshot: Snapshot, model_id: int, chunks: Sequence[int]) -> None:
        """Add the vectors of those chunks that have one."""
        import numpy as np

        for batch in in_batches(chunks, _CHUNKS_PER_BATCH):
            rows = list(snapshot.vectors(model_id, matrix.dims, batch))
            ids = np.asarray([id_ for id_, _ in rows], dtype=np.int64)
            matrix.add(ids, decode([vector for _, vector in rows], matrix.dims))


def matrix_key(snapshot: Snapshot, model: StoredModel) -> str:
    """Return a key that identifies the index and model of a matrix file."""
    return f"{snapshot.identity}/{model.name}"


class MatrixState(msgspec.Struct, frozen=True):
    problem: str
    """Description of the problem in one sentence, or empty."""
    rows: int = 0
    behind: int = 0
    """Number of chunks that got a vector after the file was written; the next search reads them from the database."""


def examine(path: Path, snapshot: Snapshot, model: StoredModel) -> MatrixState:
    """Compare the saved matrix file with the vectors in the database.

    A missing file is a problem only if it would have been worth saving.
    """
    import numpy as np

    from engine.store.vector_matrix_blocks import read_matrix

    indexed = integers(snapshot.vector_chunks(model.id), 1)[:, 0]
    matrix = read_matrix(path, generation=snapshot.generation, model_key=matrix_key(snapshot, model))
    if matrix is None:
        if path.exists():
            return MatrixState(tr("The file is damaged or outdated."))
        many = len(indexed) >= WORTH_SAVING
        return MatrixState(tr("The file is missing, so each start reads all vectors.") if many else "")
    stamp, ids, scales, codes = matrix
    if codes.shape[1] != model.dims or stamp > snapshot.stamp:
        return MatrixState(tr("The file doesn't match the database."))
    behind = len(np.setdiff1d(indexed, ids, assume_unique=True))
    gone = len(np.setdiff1d(ids, indexed, assume_unique=True))
    if stamp == snapshot.stamp and (behind or gone):
        return MatrixState(
            tr("{behind:,} vectors are missing from the file, and {gone:,} are obsolete.", behind=behind, gone=gone)
        )
    order = np.argsort(ids)
    sample = order[:: max(1, len(order) // _SAMPLE)][:_SAMPLE]
    rows = list(snapshot.vectors(model.id, model.dims, ids[sample].tolist()))
    slot_of = {int(ids[slot]): slot for slot in sample}
    slots = np.asarray([slot_of[id_] for id_, _ in rows], dtype=np.intp)
    if len(slots):
        exact = decode([vector for _, vector in rows], model.dims)
        saved = codes[slots].astype(np.float32) * scales[slots][:, None]
        exact[~np.isfinite(exact).all(axis=1)] = 0
        lengths = np.linalg.norm(exact, axis=1) * np.linalg.norm(saved, axis=1)
        cosines = (exact * saved).sum(axis=1) / np.where(lengths > 0, lengths, 1)
        wrong = int(((cosines < _MIN_COSINE) & (lengths > 0)).sum())
        if wrong:
            return MatrixState(
                tr(
                    "{wrong:,} of {count:,} checked vectors in the file differ from the database.",
                    count=len(slots),
                    wrong=wrong,
                )
            )
    return MatrixState("", len(ids), behind)
