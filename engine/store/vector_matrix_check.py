"""Checks that the saved matrix file matches the database."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from engine.base.language import tr
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import StoredModel, decode
from engine.store.vector_matrix_blocks import read_matrix
from engine.store.vector_matrix_engine import WORTH_SAVING, matrix_key

_SAMPLE = 200
_LEAST_COSINE = 0.99
"""Minimum cosine between a vector and its int8 form; rounding alone leaves more than .999."""


class MatrixState(NamedTuple):
    problem: str
    """Description of the problem in one sentence, or empty."""
    rows: int = 0
    behind: int = 0
    """Number of chunks that got a vector after the file was written; the next search reads them from the database."""


def examine(path: Path, snapshot: Snapshot, model: StoredModel) -> MatrixState:
    """Compare the saved matrix file with the vectors in the database.

    A missing file is a problem only if it would have been worth saving.
    """
    indexed = np.asarray(snapshot.vector_chunk_ids(model.id), dtype=np.int64)
    found = read_matrix(path, generation=snapshot.generation, model_key=matrix_key(snapshot, model))
    if found is None:
        if path.exists():
            return MatrixState(tr("The file is damaged or outdated."))
        many = len(indexed) >= WORTH_SAVING
        return MatrixState(tr("The file is missing, so each start reads all vectors.") if many else "")
    stamp, ids, scales, codes = found
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
    place = {int(ids[slot]): slot for slot in sample}
    slots = np.asarray([place[id_] for id_, _ in rows], dtype=np.intp)
    if len(slots):
        exact = decode([vector for _, vector in rows], model.dims).astype(np.float32)
        saved = codes[slots].astype(np.float32) * scales[slots][:, None]
        exact[~np.isfinite(exact).all(axis=1)] = 0
        lengths = np.linalg.norm(exact, axis=1) * np.linalg.norm(saved, axis=1)
        cosines = (exact * saved).sum(axis=1) / np.where(lengths > 0, lengths, 1)
        wrong = int(((cosines < _LEAST_COSINE) & (lengths > 0)).sum())
        if wrong:
            return MatrixState(
                tr(
                    "{wrong:,} of {count:,} checked vectors in the file differ from the database.",
                    count=len(slots),
                    wrong=wrong,
                )
            )
    return MatrixState("", len(ids), behind)
