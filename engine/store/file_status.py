"""Index status of individual files."""

from collections.abc import Iterable
from typing import NamedTuple

from engine.records import FileIssue, Source
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import StoredModel


class Held(NamedTuple):
    """An indexed file, with the metadata from when it was indexed."""

    id: int
    mtime_ns: int
    size: int
    title: str


def held(snapshot: Snapshot, source: Source, name: str) -> Held | None:
    """Return the indexed file of this name; None if it is not indexed."""
    query = f"SELECT id, mtime_ns, size, title FROM {snapshot.tables.files} WHERE source = ? AND path = ?"
    row = snapshot.connection.execute(query, (source, name)).fetchone()
    return None if row is None else Held(*row)


def count_chunks(snapshot: Snapshot, file_ids: Iterable[int], model: StoredModel | None) -> tuple[int, int]:
    """Count the chunks of these files, and how many of them have a vector of the model."""
    chunks = vectors = 0
    for id_ in file_ids:
        rows = snapshot.connection.execute(
            f"""SELECT e.id IS NOT NULL, count(*) FROM {snapshot.tables.chunks} c
                LEFT JOIN embedding_cache e ON e.model_id = ? AND e.hash = c.hash WHERE c.file_id = ? GROUP BY 1""",
            (None if model is None else model.id, id_),
        )
        for embedded, number in rows:
            chunks += number
            vectors += number if embedded else 0
    return chunks, vectors


def issue_of(snapshot: Snapshot, kind: str, name: str) -> FileIssue | None:
    """Issue that the last sync recorded for this file; `kind` is `failed`, `skipped` or `not embedded`."""
    query = "SELECT rule, detail FROM issues WHERE kind = ? AND path = ? ORDER BY rule LIMIT 1"
    row = snapshot.connection.execute(query, (kind, name)).fetchone()
    return None if row is None else FileIssue(path=name, rule=row[0], detail=row[1])
