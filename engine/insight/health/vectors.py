"""The stored vectors, and the copies of them that searches use: the matrix beside the database, the table in it."""

from collections import Counter
from collections.abc import Sequence

from engine.insight.health.subject import Matter, Seen, Subject
from engine.store.connection import number
from engine.wording import plural, size

_ROWS_AT_ONCE = 2048
_UNIT = 0.02
"""How far from 1 the length of a vector may be; float16 stays within a hundredth."""
_DELETED_AT_ONCE = 500


def _look(subject: Subject) -> Seen:
    with subject.store.read(subject.cancel) as snapshot:
        models = number(snapshot.connection, "SELECT count(DISTINCT model_id) FROM embedding_cache")
        count = snapshot.cache_entries()
    faults = Counter(fault for _, fault in _bad(subject))
    if faults:
        found = ", ".join(f"{many:,} {fault}" for fault, many in faults.items())
        return Seen(f"Of {plural(count, 'vector')}, {found}.", faults.total())
    if not count:
        return Seen("There are none.")
    of = "" if models == 1 else f" of {models:,} models"
    return Seen(f"{plural(count, 'vector')}{of}: each has its model’s dimensions, and length 1.")


def _bad(subject: Subject) -> list[tuple[int, str]]:
    """Id and fault of every vector that is none."""
    with subject.store.read(subject.cancel) as snapshot:
        highest = number(snapshot.connection, "SELECT max(id) FROM embedding_cache")
        dims = dict(snapshot.connection.execute("SELECT id, dims FROM models"))
    found: list[tuple[int, str]] = []
    for start in range(1, highest + 1, _ROWS_AT_ONCE):
        subject.step("Checking vectors", start - 1, highest)
        with subject.store.read(subject.cancel) as snapshot:
            query = "SELECT model_id, id, vector FROM embedding_cache WHERE id >= ? AND id < ? ORDER BY model_id"
            rows: list[tuple[int, int, bytes]] = list(
                snapshot.connection.execute(query, (start, start + _ROWS_AT_ONCE))
            )
        for model in {row[0] for row in rows}:
            found += _faults([(id_, vector) for of, id_, vector in rows if of == model], dims.get(model, 0))
    return found


def _faults(rows: Sequence[tuple[int, bytes]], dims: int) -> list[tuple[int, str]]:
    import numpy as np

    from engine.store.coding import decode

    found = [(id_, "have the wrong length") for id_, vector in rows if len(vector) != 2 * dims]
    whole = [(id_, vector) for id_, vector in rows if len(vector) == 2 * dims and dims]
    if not whole:
        return found
    lengths = np.linalg.norm(decode([vector for _, vector in whole], dims).astype(np.float32), axis=1)
    for (id_, _), length in zip(whole, lengths.tolist(), strict=True):
        if not np.isfinite(length):
            found.append((id_, "hold what is no number"))
        elif not length:
            found.append((id_, "are all zeros"))
        elif abs(length - 1) > _UNIT:
            found.append((id_, "are not of length 1"))
    return found


def _delete(subject: Subject) -> str:
    ids = [(id_,) for id_, _ in _bad(subject)]
    if not ids:
        return ""
    # Before the first is deleted, too: the same chunks will get other vectors, also where this is broken off.
    subject.vectors.forget()
    try:
        for start in range(0, len(ids), _DELETED_AT_ONCE):
            subject.step("Deleting vectors", start, len(ids))
            with subject.store.write() as writer:
                group = ids[start : start + _DELETED_AT_ONCE]
                writer.connection.executemany("DELETE FROM embedding_cache WHERE id = ?", group)
                writer.set_meta("vec0", None)
                writer.advance_stamp()
    finally:
        subject.vectors.forget()
    return f"Deleted {plural(len(ids), 'vector')}; the next update makes them again."


def _look_at_matrix(subject: Subject) -> Seen:
    model = subject.model()
    if model is None or subject.vectors.engine != "numpy":
        return Seen("None is needed.")
    from engine.store.matrix_check import examine

    with subject.store.read(subject.cancel) as snapshot:
        found = examine(subject.store.files.matrix, snapshot, model)
    if found.problem:
        return Seen(found.problem, 1)
    if not found.rows:
        return Seen("There is no file: so few vectors are read from the database.")
    newer = f", which has {found.behind:,} more" if found.behind else ""
    where = size(subject.store.sizes().matrix)
    return Seen(f"The file ({where}) holds {plural(found.rows, 'vector')} and agrees with the database{newer}.")


def _write_matrix(subject: Subject) -> str:
    model = subject.model()
    if model is None:
        return ""
    subject.step("Writing the vector matrix", 0, 0)
    subject.vectors.rewrite(model, subject.cancel)
    return "The vector matrix was written anew from the stored vectors."


def _look_at_table(subject: Subject) -> Seen:
    model = subject.model()
    with subject.store.read(subject.cancel) as snapshot:
        problem = subject.vectors.table_problem(snapshot, model)
    if problem:
        return Seen(problem, 1)
    if subject.settings.store.vector.engine != "sqlite-vec":
        return Seen("None is needed: vectors are compared in memory.")
    return Seen("It has a row for each chunk with a vector.")


def _fill_table(subject: Subject) -> str:
    subject.step("Filling the table of sqlite-vec", 0, 0)
    subject.vectors.refill_table(subject.model(), subject.cancel)
    subject.store.empty_discarded(subject.cancel)
    subject.store.vacuum(subject.cancel)
    return "The table of sqlite-vec was brought in step with the stored vectors."


VECTORS = Matter("vectors", "Vectors", _look, "Delete them", _delete)
MATRIX = Matter("matrix", "Vector matrix", _look_at_matrix, "Write it anew", _write_matrix)
TABLE = Matter("vector-table", "Vector table", _look_at_table, "Fill it anew", _fill_table)
