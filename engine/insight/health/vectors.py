"""Checks of the stored vectors, their copies for searching (matrix file and sqlite-vec table), and the extension."""

from collections import Counter
from collections.abc import Sequence

from engine.base.formatting import size
from engine.base.language import marked, tr, tr_count
from engine.insight.health.health_check import HealthCheck, Observation, Subject, degraded, fine
from engine.records import HealthFinding
from engine.store.connection import number

_ROWS_PER_BATCH = 2048
_UNIT = 0.02
"""Tolerance for the length 1 of a vector; float16 stays within a hundredth."""
_DELETED_PER_BATCH = 500
_LENGTH = marked("{count:,} have the wrong length")
_NO_NUMBER = marked("{count:,} contain invalid numbers")
_ZEROS = marked("{count:,} are all zeros")
_NOT_UNIT = marked("{count:,} are not of length 1")


def _inspect(subject: Subject) -> Observation:
    with subject.store.read(subject.cancel) as snapshot:
        models = number(snapshot.connection, "SELECT count(DISTINCT model_id) FROM embedding_cache")
        count = snapshot.cache_entries()
    faults = Counter(fault for _, fault in _invalid_vectors(subject))
    if faults:
        fault_counts = ", ".join(tr(fault, count=many) for fault, many in faults.items())
        detail = tr_count(
            "Of {count:,} vector, {faults}.", "Of {count:,} vectors, {faults}.", count, faults=fault_counts
        )
        return Observation(detail, faults.total())
    if not count:
        return Observation(tr("There are no vectors."))
    if models == 1:
        detail = tr_count(
            "{count:,} vector in the cache: it has its model’s dimensions, and length 1.",
            "{count:,} vectors in the cache: each has its model’s dimensions, and length 1.",
            count,
        )
    else:
        detail = tr_count(
            "{count:,} vector of {models:,} models in the cache: it has its model’s dimensions, and length 1.",
            "{count:,} vectors of {models:,} models in the cache: each has its model’s dimensions, and length 1.",
            count,
            models=models,
        )
    return Observation(detail)


def _invalid_vectors(subject: Subject) -> list[tuple[int, str]]:
    """Return the row id and problem of each invalid vector."""
    with subject.store.read(subject.cancel) as snapshot:
        count = snapshot.cache_entries()
        dims = dict(snapshot.connection.execute("SELECT id, dims FROM models"))
    faults: list[tuple[int, str]] = []
    query = "SELECT model_id, id, vector FROM embedding_cache WHERE id > ? ORDER BY id LIMIT ?"
    done = last = 0
    while done < count:
        subject.step(tr("Checking vectors"), done, count)
        with subject.store.read(subject.cancel) as snapshot:
            rows: list[tuple[int, int, bytes]] = list(snapshot.connection.execute(query, (last, _ROWS_PER_BATCH)))
        if not rows:
            break
        done, last = done + len(rows), rows[-1][1]
        for model in {row[0] for row in rows}:
            faults += _faults(
                [(id_, vector) for row_model, id_, vector in rows if row_model == model], dims.get(model, 0)
            )
    return faults


def _faults(rows: Sequence[tuple[int, bytes]], dims: int) -> list[tuple[int, str]]:
    import numpy as np

    from engine.store.vector_encoding import decode

    faults = [(id_, _LENGTH) for id_, vector in rows if len(vector) != 2 * dims]
    whole = [(id_, vector) for id_, vector in rows if len(vector) == 2 * dims and dims]
    if not whole:
        return faults
    lengths = np.linalg.norm(decode([vector for _, vector in whole], dims), axis=1)
    for (id_, _), length in zip(whole, lengths.tolist(), strict=True):
        if not np.isfinite(length):
            faults.append((id_, _NO_NUMBER))
        elif not length:
            faults.append((id_, _ZEROS))
        elif abs(length - 1) > _UNIT:
            faults.append((id_, _NOT_UNIT))
    return faults


def _delete(subject: Subject) -> str:
    ids = [(id_,) for id_, _ in _invalid_vectors(subject)]
    if not ids:
        return ""
    # Also before the first deletion: even if this is interrupted, the same chunks will get new vectors.
    subject.vectors.discard_copies()
    try:
        for start in range(0, len(ids), _DELETED_PER_BATCH):
            subject.step(tr("Deleting vectors"), start, len(ids))
            with subject.store.write() as writer:
                group = ids[start : start + _DELETED_PER_BATCH]
                writer.connection.executemany("DELETE FROM embedding_cache WHERE id = ?", group)
                writer.set_meta("vec0", None)
                writer.advance_stamp()
    finally:
        subject.vectors.discard_copies()
    return tr_count(
        "Deleted {count:,} vector; the next update creates it again.",
        "Deleted {count:,} vectors; the next update creates them again.",
        len(ids),
    )


def _check_matrix(subject: Subject) -> Observation:
    model = subject.model()
    from engine.store.vector_matrix_engine import examine

    with subject.store.read(subject.cancel) as snapshot:
        if model is None or subject.vectors.choice(snapshot, model).engine != "numpy":
            return Observation(tr("No vector matrix is needed."))
        found = examine(subject.store.files.matrix, snapshot, model)
    if found.problem:
        return Observation(found.problem, 1)
    if not found.rows:
        return Observation(
            tr("No matrix file is needed: there are so few vectors that they are read from the database.")
        )
    where = size(subject.store.sizes().matrix)
    if not found.behind:
        detail = tr_count(
            "The file ({size}) holds {count:,} vector and agrees with the database.",
            "The file ({size}) holds {count:,} vectors and agrees with the database.",
            found.rows,
            size=where,
        )
    else:
        detail = tr_count(
            "The file ({size}) holds {count:,} correct vector; the database has {more:,} more.",
            "The file ({size}) holds {count:,} correct vectors; the database has {more:,} more.",
            found.rows,
            size=where,
            more=found.behind,
        )
    return Observation(detail)


def _write_matrix(subject: Subject) -> str:
    model = subject.model()
    if model is None:
        return ""
    subject.step(tr("Writing the vector matrix"), 0, 0)
    subject.vectors.rewrite(model, subject.cancel)
    return tr("The vector matrix was rewritten from the stored vectors.")


def _check_table(subject: Subject) -> Observation:
    model = subject.model()
    with subject.store.read(subject.cancel) as snapshot:
        problem = subject.vectors.table_problem(snapshot, model)
        choice = subject.vectors.choice(snapshot, model)
    if problem:
        return Observation(problem, 1)
    if choice.engine == "numpy":
        return Observation(choice.reason or tr("No vector table is needed: vectors are compared in memory."))
    return Observation(tr("The vector table has a row for each passage with a vector."))


def _fill_table(subject: Subject) -> str:
    subject.step(tr("Filling the table of sqlite-vec"), 0, 0)
    subject.vectors.refill_table(subject.model(), subject.cancel)
    subject.store.delete_discarded_tables(subject.cancel)
    subject.store.vacuum(subject.cancel)
    return tr("The vector table was updated to match the stored vectors.")


VECTORS = HealthCheck(
    "vectors", marked("Vectors"), marked("Checking vectors"), _inspect, marked("Delete faulty vectors"), _delete
)
MATRIX = HealthCheck(
    "matrix",
    marked("Vector matrix"),
    marked("Checking the vector matrix"),
    _check_matrix,
    marked("Rewrite the copy"),
    _write_matrix,
)
TABLE = HealthCheck(
    "vector-table",
    marked("Vector table"),
    marked("Checking the vector table"),
    _check_table,
    marked("Refill the vector table"),
    _fill_table,
)


def check_extension(subject: Subject) -> HealthFinding:
    """Check whether sqlite-vec can be loaded. A failure is reported even if the current settings don't need it."""
    probe = subject.vectors.probe()
    if probe.ok:
        return fine("sqlite-vec", "sqlite-vec", tr("sqlite-vec can be loaded."))
    if not subject.prefers_table():
        return fine(
            "sqlite-vec", "sqlite-vec", tr("{problem} The current settings don't need it.", problem=probe.error)
        )
    return degraded(
        "sqlite-vec", "sqlite-vec", tr("{problem} Vectors are compared in memory instead.", problem=probe.error)
    )
