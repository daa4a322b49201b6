"""Checks that the parts of the index agree with one another, and mends what can be mended without the notes.

FTS5's own check reads no content in a contentless table, so the rows of the keyword index are compared by id.
"""

from dataclasses import dataclass

from engine.errors import IndexCorrupt
from engine.store import integrity
from engine.store.connection import number
from engine.store.index import IndexStore
from engine.store.snapshot import Snapshot
from engine.store.writer import Writer


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    problem: str
    """Empty when it is as it should be, else one sentence."""


def check(store: IndexStore) -> list[Finding]:
    """Everything worth knowing of one index; reads all of it, which takes about a second for each 500 MB."""
    with store.read() as snapshot:
        damage = integrity.damage(snapshot)
        if damage:
            return [Finding("Database file", damage)]
        return [
            Finding("Database file", ""),
            Finding("Keyword index", _keyword_rows(snapshot)),
            Finding("Chunks", _orphans(snapshot)),
            Finding("Vectors", _vectors(snapshot)),
            Finding("Generations", _generations(snapshot)),
        ]


def repair(store: IndexStore) -> list[str]:
    """Mend what `check` complains of; returns what was done, as sentences. A sync afterwards completes it."""
    done: list[str] = []
    with store.read() as snapshot:
        damage = integrity.damage(snapshot)
    if damage:
        return [store.recovered] if store.mend(IndexCorrupt(damage)) else []
    with store.write() as writer:
        done += _drop_orphans(writer)
        done += _drop_bad_vectors(writer)
        if _keyword_rows(writer):
            # Tokens are not stored, so the rows can only come from the notes: today's rules no longer fit the stored
            # ones, and the next sync builds a generation.
            writer.set_meta("fingerprint", "to be rebuilt")
            done.append("The keyword index will be rebuilt from the notes by the next sync.")
    return done


def _keyword_rows(snapshot: Snapshot) -> str:
    chunks, fts = snapshot.tables.chunks, f"{snapshot.tables.fts}_docsize"
    missing = number(snapshot.connection, f"SELECT count(*) FROM {chunks} WHERE id NOT IN (SELECT id FROM {fts})")
    surplus = number(snapshot.connection, f"SELECT count(*) FROM {fts} WHERE id NOT IN (SELECT id FROM {chunks})")
    if not missing and not surplus:
        return ""
    return f"{missing:,} chunks cannot be found by words, and {surplus:,} rows belong to no chunk."


def _orphans(snapshot: Snapshot) -> str:
    count = number(snapshot.connection, f"SELECT count(*) FROM {snapshot.tables.chunks} WHERE {_orphaned(snapshot)}")
    return f"{count:,} chunks belong to no file." if count else ""


def _orphaned(snapshot: Snapshot) -> str:
    return f"file_id NOT IN (SELECT id FROM {snapshot.tables.files})"


_BAD_VECTOR = "length(vector) <> 2 * (SELECT dims FROM models WHERE models.id = model_id)"


def _vectors(snapshot: Snapshot) -> str:
    count = number(snapshot.connection, f"SELECT count(*) FROM embedding_cache WHERE {_BAD_VECTOR}")
    return f"{count:,} vectors have the wrong length." if count else ""


def _generations(snapshot: Snapshot) -> str:
    others = len(snapshot.generations()) > 1 or snapshot.discarded()
    if others and snapshot.meta("building") is None:
        return "Tables of an older generation are still there; the next sync drops them."
    return ""


def _drop_orphans(writer: Writer) -> list[str]:
    rows = writer.connection.execute(f"SELECT id FROM {writer.tables.chunks} WHERE {_orphaned(writer)}").fetchall()
    if not rows:
        return []
    writer.connection.executemany(f"DELETE FROM {writer.tables.fts} WHERE rowid = ?", rows)
    writer.connection.executemany(f"DELETE FROM {writer.tables.chunks} WHERE id = ?", rows)
    writer.advance_stamp()
    return [f"{len(rows):,} chunks that belonged to no file were removed."]


def _drop_bad_vectors(writer: Writer) -> list[str]:
    writer.connection.execute(f"DELETE FROM embedding_cache WHERE {_BAD_VECTOR}")
    count = writer.connection.changes()
    if not count:
        return []
    writer.advance_stamp()
    return [f"{count:,} vectors of the wrong length were removed; the next sync makes them again."]
