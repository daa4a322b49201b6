"""Checks for orphaned rows: chunks, sessions and tags without a file."""

from engine.base.language import marked, tr, tr_count
from engine.insight.health.subject import NOTHING, HealthCheck, Seen, Subject
from engine.store.connection import number
from engine.store.snapshot import Snapshot
from engine.store.writer import Writer

_ROWS_AT_ONCE = 500


def _orphaned(snapshot: Snapshot) -> str:
    return f"file_id NOT IN (SELECT id FROM {snapshot.tables.files})"


def _count(snapshot: Snapshot, table: str) -> int:
    return number(snapshot.connection, f"SELECT count(*) FROM {table} WHERE {_orphaned(snapshot)}")


def _look(subject: Subject) -> Seen:
    with subject.store.read(subject.cancel) as snapshot:
        tables = snapshot.tables
        lost = _count(snapshot, tables.chunks)
        others = sum(_count(snapshot, table) for table in (tables.sessions, tables.tags, tables.front_matter))
        chunks, files = snapshot.chunk_count(), snapshot.file_count()
    if lost:
        detail = tr_count(
            "Of {count:,} passage, {lost:,} belong to no file.",
            "Of {count:,} passages, {lost:,} belong to no file.",
            chunks,
            lost=lost,
        )
        return Seen(detail, lost + others)
    if others:
        detail = tr_count(
            "{count:,} orphaned session or tag row.",
            "{count:,} orphaned session or tag rows.",
            others,
        )
        return Seen(detail, others)
    if not chunks:
        return Seen(tr(NOTHING))
    every = tr_count("Each of {count:,} passage", "Each of {count:,} passages", chunks)
    detail = tr_count(
        "{every} belongs to one of {count:,} file.", "{every} belongs to one of {count:,} files.", files, every=every
    )
    return Seen(detail)


def _drop(subject: Subject) -> str:
    removed = some = _drop_some(subject)
    while some:
        subject.step(tr("Removing passages of no file"), removed, 0)
        some = _drop_some(subject)
        removed += some
    with subject.store.write() as writer:
        for table in (writer.tables.sessions, writer.tables.tags, writer.tables.front_matter):
            writer.connection.execute(f"DELETE FROM {table} WHERE {_orphaned(writer)}")
            removed += writer.connection.changes()
    if not removed:
        return ""
    return tr_count(
        "Removed {count:,} row that belonged to no file.", "Removed {count:,} rows that belonged to no file.", removed
    )


def _drop_some(subject: Subject) -> int:
    model = subject.model()
    with subject.store.write() as writer:
        before = writer.stamp
        ids = _remove_rows(writer)
        if ids:
            writer.advance_stamp()
    if ids:
        subject.vectors.changed(before, model, removed=ids)
    return len(ids)


def _remove_rows(writer: Writer) -> list[int]:
    query = f"SELECT id FROM {writer.tables.chunks} WHERE {_orphaned(writer)} LIMIT {_ROWS_AT_ONCE}"
    rows: list[tuple[int]] = list(writer.connection.execute(query))
    writer.connection.executemany(f"DELETE FROM {writer.tables.fts} WHERE rowid = ?", rows)
    writer.connection.executemany(f"DELETE FROM {writer.tables.chunks} WHERE id = ?", rows)
    return [id_ for (id_,) in rows]


CHUNKS = HealthCheck("chunks", marked("Passages"), marked("Checking passages"), _look, marked("Remove them"), _drop)
