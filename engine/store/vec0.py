"""The sqlite-vec engine: vectors in a vec0 table, searched exactly and inside SQLite.

For machines with little memory, and as the oracle of tests and `doctor`. vec0 takes float32 only: it answers nonsense
to float16, without an error.
"""

import json
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from engine.language import tr
from engine.store.discarding import discard

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LOAD_SECONDS = 30.0
_ENTRY_POINT = "sqlite3_vec_init"
_MOST_NEIGHBOURS = 4096
"""vec0 refuses to look for more."""
_TABLE = "chunks_vec"


@dataclass(frozen=True)
class VecState:
    """Whether sqlite-vec is there."""

    available: bool
    path: str | None
    """The library that was tried; None when there is none to try."""
    error: str | None
    """Why it is not available, one sentence."""


def load_extension(connection: apsw.Connection, path: str | None = None) -> VecState:
    """Load sqlite-vec, the package's own or the one at `path`, into a connection. Never raises, waits at most 30 s.

    A library on a dead network drive blocks for ever, and a thread inside it cannot be stopped. So a thread of its own
    loads that of a path into a connection of its own first; only what has come back from there, and hence is in memory,
    is loaded into the caller's. A thread that never comes back is left behind. The package's library lies where the
    program itself was loaded from.
    """
    if path is None:
        path = _package_path()
        if path is None:
            return VecState(False, None, tr("The package sqlite-vec is not installed."))
        error = _load(connection, path)
        return VecState(error is None, path, error)
    outcome: list[str | None] = []
    trial = threading.Thread(target=lambda: outcome.append(_trial(path)), name="mnemoscope-sqlite-vec", daemon=True)
    trial.start()
    trial.join(LOAD_SECONDS)
    if not outcome:
        error = tr(
            "Loading sqlite-vec from {file} took more than {seconds:.0f} seconds.", file=path, seconds=LOAD_SECONDS
        )
    else:
        error = outcome[0] or _load(connection, path)
    return VecState(error is None, path, error)


def ready_table(connection: apsw.Connection, dims: int) -> bool:
    """Make sure that `chunks_vec` is there for this many dimensions; True when it is new, and so empty.

    A table that is mostly holes is made anew too: vec0 fills only its last chunk of rows, so the place of a row that
    was removed from another comes back neither for new rows nor through VACUUM.
    """
    existing = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (_TABLE,)).get
    if existing is not None:
        declared = re.search(r"float\[(\d+)\]", str(existing))
        if declared and int(declared[1]) == dims and not mostly_holes(connection):
            return False
        drop_table(connection)
    connection.execute(f"CREATE VIRTUAL TABLE {_TABLE} USING vec0(embedding float[{dims}] distance_metric=cosine)")
    return True


def has_table(connection: apsw.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (_TABLE,)).fetchone() is not None


def drop_table(connection: apsw.Connection) -> None:
    """Drop `chunks_vec`; the vectors themselves are taken away first, to be made an end of in steps."""
    vectors = f"{_TABLE}_vector_chunks00"
    discard(connection, vectors)
    connection.execute(f"CREATE TABLE {vectors} (rowid PRIMARY KEY, vectors BLOB)")  # or vec0 would miss it
    connection.execute(f"DROP TABLE {_TABLE}")


def stored_ids(connection: apsw.Connection) -> list[int]:
    """Ids of all rows, rising."""
    return [row[0] for row in connection.execute(f"SELECT rowid FROM {_TABLE}_rowids ORDER BY rowid")]


def insert_rows(
    connection: apsw.Connection, ids: Iterable[int], vectors: "NDArray[np.float32] | NDArray[np.float16]"
) -> None:
    """Insert vectors, (n, dims), under chunk ids, replacing rows that have the same ids."""
    ids = list(ids)
    delete_rows(connection, ids)
    rows = zip(ids, (row.tobytes() for row in vectors.astype("<f4")), strict=True)
    connection.executemany(f"INSERT INTO {_TABLE} (rowid, embedding) VALUES (?, ?)", rows)


def delete_rows(connection: apsw.Connection, ids: Iterable[int]) -> None:
    connection.executemany(f"DELETE FROM {_TABLE} WHERE rowid = ?", ((id_,) for id_ in ids))


def nearest(
    connection: apsw.Connection, query: "NDArray[np.float32]", k: int, *, allowed: Iterable[int] | None = None
) -> tuple["NDArray[np.int64]", "NDArray[np.float32]"]:
    """The `k` rows nearest to the query, (dims,): ids (m,) and exact cosines (m,), best first, m <= min(k, 4096).

    `allowed` limits the search to these ids. Vectors of zeros are never found.
    """
    import numpy as np

    sql = f"SELECT rowid, distance FROM {_TABLE} WHERE embedding MATCH ? AND k = ?"
    bindings: list[bytes | int | str] = [query.astype("<f4").tobytes(), max(0, min(k, _MOST_NEIGHBOURS))]
    if allowed is not None:
        sql += " AND rowid IN (SELECT value FROM json_each(?))"
        bindings.append(json.dumps(list(allowed)))
    found = [row for row in connection.execute(sql, bindings) if row[1] is not None]
    ids = np.array([row[0] for row in found], dtype=np.int64)
    cosines = 1 - np.array([row[1] for row in found], dtype=np.float32)
    return ids, cosines


def _package_path() -> str | None:
    try:
        import sqlite_vec
    except ImportError:
        return None
    return str(sqlite_vec.loadable_path())


def _trial(path: str) -> str | None:
    connection = apsw.Connection(":memory:")
    try:
        return _load(connection, path)
    finally:
        connection.close()


def _load(connection: apsw.Connection, path: str) -> str | None:
    """Load the library; what went wrong as one sentence, or None."""
    # The SQL function load_extension() stays switched off, unlike with `enable_load_extension`.
    before = connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, -1)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1)
    try:
        connection.load_extension(path, _ENTRY_POINT)
    except apsw.Error as error:
        reason = str(error).removeprefix("ExtensionLoadingError: ").rstrip(".")
        return tr("sqlite-vec could not be loaded from {file}: {reason}.", file=path, reason=reason)
    finally:
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, before)
    return None


def mostly_holes(connection: apsw.Connection) -> bool:
    """Whether more than half of the table's slots are empty."""
    rows = connection.execute(f"SELECT count(*) FROM {_TABLE}_rowids").get
    # Slots come in chunks of 1,024; less than two chunks' worth of holes is not worth the work.
    slots = connection.execute(f"SELECT total(size) FROM {_TABLE}_chunks").get
    return bool(slots - rows > max(2048, slots / 2))
