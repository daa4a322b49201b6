"""Whether a database file is what SQLite says an intact one is."""

from contextlib import closing
from pathlib import Path

from engine.errors import IndexCorrupt
from engine.language import tr
from engine.store.connection import open_connection
from engine.store.failures import translated
from engine.store.schema import Tables
from engine.store.snapshot import Snapshot


def damage(snapshot: Snapshot) -> str:
    """What is wrong with the file, one sentence; empty when nothing is. Reads all of it: about a second for 500 MB."""
    for generation in snapshot.generations():
        # FTS5 looks whether what it remembers of a table still holds when a query begins, but not for the check,
        # which then finds damage where another connection has written.
        fts = Tables(generation).fts
        snapshot.connection.execute(f"SELECT rowid FROM {fts} WHERE {fts} MATCH 'any' LIMIT 1").fetchall()
    first = snapshot.connection.execute("PRAGMA integrity_check(1)").fetchone()
    if first == ("ok",):
        return ""
    if not first:
        return tr("The database file is damaged: no answer.")
    return tr("The database file is damaged: {reason}.", reason=first[0])


def is_damaged(database: Path) -> bool:
    """Look at the whole file, through a connection of its own: nobody has to wait."""
    try:
        with translated(database), closing(open_connection(database, "reader")) as connection:
            connection.execute("BEGIN")
            return bool(damage(Snapshot(connection)))
    except IndexCorrupt:
        return True
