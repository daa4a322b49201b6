"""Compares the keyword index with the chunks: the same rows, and in a sample the same words.

FTS5's own check reads no content of a contentless table. A row's content can't be read back, but it can be queried:
each word of the chunk must be found in its row, and FTS5 stores the number of tokens per column.
"""

from collections.abc import Sequence

from engine.base.language import marked, tr, tr_count
from engine.insight.health.health_check import NOTHING, HealthCheck, Observation, Subject
from engine.store.connection import number
from engine.store.index import KEYWORDS_TO_PURGE
from engine.store.index_schema import FTS_COLUMNS, KeywordRow, keyword_rows
from engine.store.snapshot import Snapshot
from engine.store.writer import Writer

_SAMPLE = 200
_SAMPLED_PER_BATCH = 20
_MAX_WORDS = 16
"""Number of words per chunk that are queried: the longest, which are the most specific."""
_ROWS_PER_BATCH = 200
_WORDS = FTS_COLUMNS.index("words")


def _is_intact(snapshot: Snapshot, row: KeywordRow) -> bool:
    """Whether the keyword index has the expected content for this chunk. The title of a session may differ."""
    fts = snapshot.tables.fts
    size = snapshot.connection.execute(f"SELECT sz FROM {fts}_docsize WHERE id = ?", (row.id,)).get
    if size is None:
        return True  # missing rows are covered by another check
    stored, made = _lengths(size), [len(stream.split()) for stream in row.streams]
    if len(stored) <= _WORDS:
        return False
    # A session that has grown may have a new title, which its first chunks don't have.
    if stored[_WORDS] != made[_WORDS] or not (row.session or stored == made[: len(stored)]):
        return False
    words = sorted(set(row.streams[_WORDS].split()), key=lambda word: (-len(word), word))[:_MAX_WORDS]
    if not words:
        return True
    query = " AND ".join(f'"{word}"' for word in words)
    sql = f"SELECT 1 FROM {fts} WHERE {fts} MATCH ? AND rowid = ?"
    return snapshot.connection.execute(sql, (f"words : ({query})", row.id)).fetchone() is not None


def _lengths(sizes: object) -> list[int]:
    """Decode the numbers of tokens per column, FTS5's variable-length integers; empty for a damaged row."""
    lengths: list[int] = []
    if not isinstance(sizes, bytes):
        return lengths
    value = 0
    for byte in sizes:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            lengths.append(value)
            value = 0
    return lengths


# --- rows ----------------------------------------------------------------------------------------------------------


def _missing(snapshot: Snapshot) -> str:
    tables = snapshot.tables
    # Orphaned chunks are covered by another check, and have no title.
    return f"""SELECT id FROM {tables.chunks} WHERE id NOT IN (SELECT id FROM {tables.fts}_docsize)
        AND file_id IN (SELECT id FROM {tables.files})"""


def _surplus(snapshot: Snapshot) -> str:
    return f"SELECT id FROM {snapshot.tables.fts}_docsize WHERE id NOT IN (SELECT id FROM {snapshot.tables.chunks})"


def _check_rows(subject: Subject) -> Observation:
    with subject.store.read(subject.cancel) as snapshot:
        missing = number(snapshot.connection, f"SELECT count(*) FROM ({_missing(snapshot)})")
        surplus = number(snapshot.connection, f"SELECT count(*) FROM ({_surplus(snapshot)})")
        chunks = snapshot.chunk_count()
    if missing or surplus:
        detail = tr_count(
            "{count:,} passage can't be found by words. Rows without a passage: {surplus:,}.",
            "{count:,} passages can't be found by words. Rows without a passage: {surplus:,}.",
            missing,
            surplus=surplus,
        )
        return Observation(detail, missing + surplus)
    if not chunks:
        return Observation(tr(NOTHING))
    return Observation(
        tr_count(
            "The keyword index contains {count:,} passage.",
            "The keyword index contains all {count:,} passages.",
            chunks,
        )
    )


def _repair_rows(subject: Subject) -> str:
    with subject.store.read(subject.cancel) as snapshot:
        missing = [id_ for (id_,) in snapshot.connection.execute(_missing(snapshot))]
        surplus = [id_ for (id_,) in snapshot.connection.execute(_surplus(snapshot))]
    _write(subject, sorted(missing + surplus))
    if not missing and not surplus:
        return ""
    return tr_count(
        "Keyword index: {count:,} row rebuilt, {removed:,} removed.",
        "Keyword index: {count:,} rows rebuilt, {removed:,} removed.",
        len(missing),
        removed=len(surplus),
    )


# --- words ----------------------------------------------------------------------------------------------------------


def _check_words(subject: Subject) -> Observation:
    with subject.store.read(subject.cancel) as snapshot:
        ids = [id_ for (id_,) in snapshot.connection.execute(f"SELECT id FROM {snapshot.tables.chunks} ORDER BY id")]
    sample = ids[:: max(1, len(ids) // _SAMPLE)][:_SAMPLE]
    looked = wrong = 0
    for start in range(0, len(sample), _SAMPLED_PER_BATCH):
        subject.step(tr("Comparing the words of passages with the keyword index"), start, len(sample))
        with subject.store.read(subject.cancel) as snapshot:
            for row in keyword_rows(snapshot.connection, snapshot.tables, sample[start : start + _SAMPLED_PER_BATCH]):
                looked += 1
                wrong += not _is_intact(snapshot, row)
    if wrong:
        detail = tr_count(
            "{wrong:,} of {count:,} checked passage can't be found by some of its words.",
            "{wrong:,} of {count:,} checked passages can't be found by some of their words.",
            looked,
            wrong=wrong,
        )
        return Observation(detail, wrong)
    if not looked:
        return Observation(tr(NOTHING))
    detail = tr_count(
        "{count:,} passage re-analysed: all of its words are in the keyword index.",
        "{count:,} passages re-analysed: all of their words are in the keyword index.",
        looked,
    )
    return Observation(detail)


def _rewrite(subject: Subject) -> str:
    with subject.store.read(subject.cancel) as snapshot:
        ids = [id_ for (id_,) in snapshot.connection.execute(f"SELECT id FROM {snapshot.tables.chunks} ORDER BY id")]
    _write(subject, ids)
    return tr_count(
        "The keyword index of {count:,} passage was rewritten.",
        "The keyword index of {count:,} passages was rewritten.",
        len(ids),
    )


def _write(subject: Subject, ids: Sequence[int]) -> None:
    """Rewrite the keyword-index rows of these chunks, in transactions that each leave complete rows."""
    model = subject.model()
    for start in range(0, len(ids), _ROWS_PER_BATCH):
        subject.step(tr("Writing the keyword index"), start, len(ids))
        with subject.store.write() as writer:
            before = writer.stamp
            _replace(writer, ids[start : start + _ROWS_PER_BATCH])
            writer.set_meta(KEYWORDS_TO_PURGE, 1)  # after a kill, the next update continues
            writer.advance_stamp()
        subject.vectors.apply_commit(before, model)
    if ids:
        subject.store.purge_keywords(subject.cancel)


def _replace(writer: Writer, ids: Sequence[int]) -> None:
    fts = writer.tables.fts
    writer.connection.executemany(f"DELETE FROM {fts} WHERE rowid = ?", ((id_,) for id_ in ids))
    writer.add_keywords((row.id, row.streams) for row in keyword_rows(writer.connection, writer.tables, ids))


ROWS = HealthCheck(
    "keywords",
    marked("Keyword index"),
    marked("Checking the keyword index"),
    _check_rows,
    marked("Repair the keyword index"),
    _repair_rows,
)
SAMPLE = HealthCheck(
    "keyword-words",
    marked("Words"),
    marked("Checking the words in the keyword index"),
    _check_words,
    marked("Rewrite the copy"),
    _rewrite,
)
