"""Removal of obsolete tables: they are renamed immediately, then emptied in small steps and dropped.

Dropping a large table is one long transaction that overwrites every page (`secure_delete`), which blocks other writers
and fills the write-ahead log. A renamed table blocks nothing, and removal resumes after a kill.
"""

import time
from collections.abc import Iterator

import apsw

from engine.store.schema import Tables

_PREFIX = "discarded_"
_STEP_SECONDS = 0.03


def discard_generation(connection: apsw.Connection, tables: Tables) -> None:
    """Discard the tables of a generation, in the caller's transaction."""
    connection.execute(f"DROP TABLE IF EXISTS {tables.terms}")
    # The data of the keyword index; FTS5 itself drops its remaining small tables.
    discard(connection, f"{tables.fts}_data")
    connection.execute(f"DROP TABLE IF EXISTS {tables.fts}")
    discard(connection, tables.chunks)
    discard(connection, tables.transcripts)
    connection.execute(f"DROP TABLE IF EXISTS {tables.sessions}")
    connection.execute(f"DROP TABLE IF EXISTS {tables.tags}")
    connection.execute(f"DROP TABLE IF EXISTS {tables.front_matter}")
    connection.execute(f"DROP TABLE IF EXISTS {tables.files}")


def discard(connection: apsw.Connection, table: str) -> None:
    """Rename a table, if it exists, for later removal and drop its small indexes, in the caller's transaction."""
    if table not in _tables(connection, table):
        return
    query = "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
    for (index,) in connection.execute(query, (table,)).fetchall():
        connection.execute(f"DROP INDEX {index}")
    taken = {int(name.removeprefix(_PREFIX)) for name in discarded(connection)}
    connection.execute(f"ALTER TABLE {table} RENAME TO {_PREFIX}{max(taken, default=0) + 1}")


def discarded(connection: apsw.Connection) -> list[str]:
    """Names of the renamed tables that are still to be deleted."""
    return list(_tables(connection, f"{_PREFIX}[0-9]*"))


def shrink(connection: apsw.Connection) -> bool:
    """Run one short step of removal in the caller's transaction; return False when nothing is left."""
    waiting = discarded(connection)
    if not waiting:
        return False
    table = waiting[0]
    delete = f"DELETE FROM {table} WHERE _rowid_ = (SELECT min(_rowid_) FROM {table})"
    end = time.monotonic() + _STEP_SECONDS
    connection.execute(delete)
    while connection.changes() and time.monotonic() < end:
        connection.execute(delete)
    if not connection.changes():
        connection.execute(f"DROP TABLE {table}")
    return True


def _tables(connection: apsw.Connection, pattern: str) -> Iterator[str]:
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB ?", (pattern,))
    return (name for (name,) in rows)
