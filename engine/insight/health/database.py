"""Checks of the index's files and of user data: location, writer lock, damage, empty pages, and leftover rows."""

from engine.base.formatting import size
from engine.base.language import marked, tr, tr_count
from engine.insight.health.health_check import (
    NOTHING,
    UPDATE,
    HealthCheck,
    Observation,
    Subject,
    degraded,
    failed,
    fine,
)
from engine.records import HealthFinding
from engine.store import integrity
from engine.store.connection import disk_full_error, has_free_space, number
from engine.store.index import KEYWORDS_TO_PURGE, IndexStore
from engine.store.index_paths import on_network_drive
from engine.store.index_schema import Tables
from engine.store.snapshot import MAX_FREE_SHARE, Snapshot
from engine.store.user_data import UserData
from engine.store.writer import Writer

DATABASE = "database"
USER_DATA = "user-data"
RESTORE = marked("Restore backup")

_ELSEWHERE = marked("Choose a folder on this machine's own disk for store.path in the settings.")
_ROWS_PER_BATCH = 500


def check_index(store: IndexStore) -> HealthFinding:
    id_, name = "index", tr("Index")
    if store.recovered:
        return degraded(id_, name, store.recovered, repair=tr(UPDATE))
    if not has_free_space(store.files.folder):
        return failed(id_, name, str(disk_full_error(store.files.folder)))
    if store.read_only:
        return degraded(id_, name, store.read_only)
    if on_network_drive(store.files.folder):
        lies = tr("The index is on a network drive, where it could be damaged: {folder}.", folder=store.files.folder)
        return degraded(id_, name, lies, advice=tr(_ELSEWHERE))
    return fine(id_, name, str(store.files.database))


def check_writer(store: IndexStore, *, updating: bool) -> HealthFinding:
    """Report whether another program holds the writer lock.

    The system releases the lock of a dead process, so its owner is running.
    """
    id_, name = "writing", tr("Write access to the index")
    if updating:
        return fine(id_, name, tr("This program is updating the index."))
    if store.locked_elsewhere():
        other = tr("Another program is writing the index; repairs here wait until it has finished.")
        return degraded(id_, name, other, advice=tr("Wait until the other program has finished, or close it."))
    return fine(id_, name, tr("No other program writes the index."))


def check_user_data(data: UserData) -> HealthFinding:
    data.recent_syncs(1)
    status = data.status()
    if status is None:
        return fine(USER_DATA, tr("Facts and saved searches"), str(data.path))
    return failed(
        USER_DATA, tr("Facts and saved searches"), status.problem, repair="" if status.backup is None else tr(RESTORE)
    )


def damage(subject: Subject) -> str:
    """Check the database file with SQLite; returns a sentence that describes damage, or "". Reads the whole file."""
    with subject.store.read(subject.cancel) as snapshot:
        return integrity.damage(snapshot)


def sound(subject: Subject) -> str:
    """Return the message for a database file without damage."""
    return tr("SQLite read all {size} of it and found no damage.", size=size(subject.store.sizes().database))


def _check_space(subject: Subject) -> Observation:
    with subject.store.read(subject.cancel) as snapshot:
        share = snapshot.free_share()
    free = size(round(share * subject.store.sizes().database))
    if share > MAX_FREE_SHARE:
        return Observation(tr("{share:.0%} of the file, {free}, is empty.", share=share, free=free), 1)
    return Observation(tr("{share:.0%} of the file is free space for later changes.", share=share))


def _give_space_back(subject: Subject) -> str:
    before = subject.store.sizes().database
    subject.step(tr("Releasing free space"), 0, 0)
    subject.store.vacuum(subject.cancel)
    subject.store.make_durable()
    return tr(
        "The size of the index file changed from {before} to {now}.",
        before=size(before),
        now=size(subject.store.sizes().database),
    )


def _check_generations(subject: Subject) -> Observation:
    with subject.store.read(subject.cancel) as snapshot:
        generations = snapshot.generations()
        if snapshot.meta("building") is not None:
            return Observation(tr("A rebuild is unfinished; the next update continues it."))
        others = len(generations) - 1 + snapshot.has_discarded_tables()
    if others:
        return Observation(tr("Tables of an older generation still take up space."), others)
    return Observation(
        tr("The index has only the tables of its current generation, number {number}.", number=generations[-1])
    )


def _drop_generations(subject: Subject) -> str:
    subject.step(tr("Deleting old tables"), 0, 0)
    with subject.store.write() as writer:
        if writer.meta("building") is not None:
            return ""
        writer.discard_other_generations()
    subject.store.delete_discarded_tables(subject.cancel)
    subject.store.vacuum(subject.cancel)
    return tr("The tables of older generations were deleted.")


def _check_words_to_forget(subject: Subject) -> Observation:
    with subject.store.read(subject.cancel) as snapshot:
        waiting = snapshot.meta(KEYWORDS_TO_PURGE) is not None
        query = f"SELECT count(DISTINCT segid) FROM {snapshot.tables.fts}_idx"
        parts = int(snapshot.connection.execute(query).get or 0)
    if waiting:
        return Observation(tr("The index file still contains words of removed notes."), 1)
    detail = tr_count(
        "The keyword index has {count:,} part and no words of removed notes.",
        "The keyword index has {count:,} parts and no words of removed notes.",
        parts,
    )
    return Observation(detail)


def _forget_words(subject: Subject) -> str:
    subject.step(tr("Rewriting the keyword index"), 0, 0)
    subject.store.purge_keywords(subject.cancel)
    return tr("The keyword index was rewritten without the words of removed notes.")


GENERATIONS = HealthCheck(
    "generations",
    marked("Generations of the index"),
    marked("Checking generations"),
    _check_generations,
    marked("Delete old tables"),
    _drop_generations,
)
WORDS = HealthCheck(
    "removed-words",
    marked("Words of removed notes"),
    marked("Checking removed words"),
    _check_words_to_forget,
    marked("Remove words of removed notes"),
    _forget_words,
)
SPACE = HealthCheck(
    "space",
    marked("Free space"),
    marked("Checking free space"),
    _check_space,
    marked("Compact the index file"),
    _give_space_back,
)


def _orphaned(snapshot: Snapshot) -> str:
    return f"file_id NOT IN (SELECT id FROM {snapshot.tables.files})"


def _of_files(tables: Tables) -> tuple[str, ...]:
    of_sessions = tables.sessions, tables.session_usage, tables.session_requests, tables.request_marks, tables.tool_uses
    return *of_sessions, tables.tags, tables.front_matter, tables.links, tables.link_names


def _count(snapshot: Snapshot, table: str) -> int:
    return number(snapshot.connection, f"SELECT count(*) FROM {table} WHERE {_orphaned(snapshot)}")


def _inspect(subject: Subject) -> Observation:
    with subject.store.read(subject.cancel) as snapshot:
        tables = snapshot.tables
        lost = _count(snapshot, tables.chunks)
        others = sum(_count(snapshot, table) for table in _of_files(tables))
        chunks, files = snapshot.chunk_count(), snapshot.file_count()
    if lost:
        detail = tr_count(
            "{lost:,} of {count:,} passage belong to no file.",
            "{lost:,} of {count:,} passages belong to no file.",
            chunks,
            lost=lost,
        )
        return Observation(detail, lost + others)
    if others:
        detail = tr_count(
            "{count:,} orphaned session or tag row.",
            "{count:,} orphaned session or tag rows.",
            others,
        )
        return Observation(detail, others)
    if not chunks:
        return Observation(tr(NOTHING))
    passages = tr_count("{count:,} passage", "{count:,} passages", chunks)
    return Observation(
        tr_count("{passages} in {count:,} file.", "{passages} in {count:,} files.", files, passages=passages)
    )


def _drop(subject: Subject) -> str:
    removed = some = _drop_some(subject)
    while some:
        subject.step(tr("Deleting orphaned passages"), removed, 0)
        some = _drop_some(subject)
        removed += some
    with subject.store.write() as writer:
        for table in _of_files(writer.tables):
            writer.connection.execute(f"DELETE FROM {table} WHERE {_orphaned(writer)}")
            removed += writer.connection.changes()
        if removed:
            writer.set_meta("fingerprint", "")  # some file has lost these rows: the next update rebuilds the index
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
        subject.vectors.apply_commit(before, model, removed=ids)
    return len(ids)


def _remove_rows(writer: Writer) -> list[int]:
    query = f"SELECT id FROM {writer.tables.chunks} WHERE {_orphaned(writer)} LIMIT {_ROWS_PER_BATCH}"
    rows: list[tuple[int]] = list(writer.connection.execute(query))
    writer.connection.executemany(f"DELETE FROM {writer.tables.fts} WHERE rowid = ?", rows)
    writer.connection.executemany(f"DELETE FROM {writer.tables.chunks} WHERE id = ?", rows)
    return [id_ for (id_,) in rows]


CHUNKS = HealthCheck(
    "chunks", marked("Passages"), marked("Checking passages"), _inspect, marked("Delete orphaned passages"), _drop
)
