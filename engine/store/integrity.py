"""Whether a database file is what SQLite says an intact one is."""

from contextlib import closing
from pathlib import Path

import apsw

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
        return _unreadable(snapshot)
    if not first:
        return tr("The database file is damaged: no answer.")
    return tr("The database file is damaged: {reason}.", reason=first[0])


def _unreadable(snapshot: Snapshot) -> str:
    """What of the content this program cannot read, though the file is sound for SQLite."""
    for generation in snapshot.generations():
        tables = Tables(generation)
        queries = (
            f"SELECT title, path, language FROM {tables.files}",
            f"SELECT file_id, start_line, end_line, heading, text, places FROM {tables.chunks}",
            f"SELECT transcript, agent, session_id, project FROM {tables.sessions}",
            f"SELECT aliases FROM {tables.front_matter}",
        )
        for query in queries:
            try:
                for _ in snapshot.connection.execute(query):
                    pass
            except (apsw.SQLError, UnicodeDecodeError) as error:
                return tr("The database file is damaged: {reason}.", reason=str(error))
        other_kinds = f"""
            SELECT 1 FROM {tables.files} WHERE typeof(mtime_ns) <> 'integer' OR typeof(size) <> 'integer'
            UNION ALL SELECT 1 FROM {tables.chunks} WHERE typeof(heading) <> 'text' OR typeof(text) <> 'text'
                OR typeof(start_line) <> 'integer' OR typeof(end_line) <> 'integer' LIMIT 1"""
        if snapshot.connection.execute(other_kinds).fetchone():
            return tr("The database file is damaged: it holds values of another kind.")
    return ""


def is_damaged(database: Path) -> bool:
    """Look at the whole file, through a connection of its own: nobody has to wait."""
    try:
        with translated(database), closing(open_connection(database, "reader")) as connection:
            connection.execute("BEGIN")
            return bool(damage(Snapshot(connection)))
    except IndexCorrupt:
        return True
