"""Integrity checks of a database file, both for SQLite and for the values that this program reads.

A damaged index is set aside, and all vectors that can still be read are copied from it.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import msgspec

from engine.base.errors import IndexCorrupt
from engine.base.language import tr
from engine.store.connection import number, open_connection, translated
from engine.store.index_schema import INDEX_MIGRATIONS, Tables
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import MAX_DIMS

if TYPE_CHECKING:
    from engine.store.writer import Writer

_VALID_BY_TYPE = {
    "INTEGER": "typeof({0}) = 'integer'",
    "TEXT": "typeof({0}) = 'text'",
    "BLOB": "typeof({0}) = 'blob'",
    "REAL": "typeof({0}) IN ('real', 'integer') AND {0} BETWEEN -62135596800 AND 253402300799",
}
"""SQL conditions for valid values, by column type. All REAL columns hold times in the years 1 to 9999,
or small values.
"""


_VALID_BY_NAME = {
    "dims": f"dims BETWEEN 1 AND {MAX_DIMS}",
    "start_line": f"start_line BETWEEN 0 AND {2**31 - 1}",
    "end_line": f"end_line BETWEEN 0 AND {2**31 - 1}",
    "size": "size >= 0",
    "places": "json_valid(CAST(places AS TEXT))",
}
"""SQL conditions for valid values of single columns."""
_SUFFIXES = ("-wal", "-shm", "-journal", "")
"""Endings of the names of a database's files, itself last."""
_MAX_ID = 2**62
"""Ids from which a row is taken for damaged: adding to larger ones would leave the range of integers."""


class Column(msgspec.Struct, frozen=True):
    """A column of `user.sqlite` that is checked; `kind` is its type, as in `CREATE TABLE`."""

    table: str
    name: str
    kind: str
    required: bool

    @property
    def valid_condition(self) -> str:
        """SQL condition that a row has a valid value in this column."""
        fits = _VALID_BY_TYPE[self.kind].format(self.name) if self.kind in _VALID_BY_TYPE else "1"
        if self.name in _VALID_BY_NAME:
            fits += f" AND {_VALID_BY_NAME[self.name]}"
        return f"({fits})" if self.required else f"({fits} OR {self.name} IS NULL)"


def damage(snapshot: Snapshot) -> str:
    """Return a sentence about damage to the index; empty if it is intact.

    Reads the whole file: about 1 s for 500 MB.
    """
    for generation in snapshot.generations():
        # FTS5 refreshes its cached structure when a query starts, but not for the integrity check, which would then
        # report damage after another connection has written.
        fts = Tables(generation).fts
        snapshot.connection.execute(f"SELECT rowid FROM {fts} WHERE {fts} MATCH 'any' LIMIT 1").fetchall()
    first = snapshot.connection.execute("PRAGMA integrity_check(1)").fetchone()
    if snapshot.generation not in snapshot.generations():
        reason = f"meta.generation {snapshot.generation}"
    elif first == ("ok",):
        reason = first_invalid_column(snapshot.connection, _columns(snapshot.generations()))
    else:
        reason = first[0] if first else tr("the integrity check gave no answer")
    return tr("The database file is damaged: {reason}.", reason=reason) if reason else ""


def is_damaged(database: Path) -> bool:
    """Whether the database file is damaged; checked through a separate connection, so that no other user waits."""
    try:
        with translated(database), closing(open_connection(database, "reader")) as connection:
            connection.execute("BEGIN")
            return bool(damage(Snapshot(connection)))
    except IndexCorrupt:
        return True


def columns_of(connection: apsw.Connection) -> list[Column]:
    """Return all columns of the database's tables, except virtual tables."""
    rows = connection.execute(
        """SELECT m.name, c.name, c.type, c."notnull" OR c.pk FROM sqlite_schema m, pragma_table_info(m.name) c
           WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.sql NOT LIKE 'CREATE VIRTUAL%'"""
    )
    return [Column(table, name, kind, bool(required)) for table, name, kind, required in rows]


def first_invalid_column(connection: apsw.Connection, expected: Iterable[Column]) -> str:
    """Return the first column that is missing or has an invalid value, as table.column; empty if there is none."""
    present = {(column.table, column.name) for column in columns_of(connection)}
    for table, group in groupby(expected, key=attrgetter("table")):
        columns = list(group)
        missing = [column.name for column in columns if (table, column.name) not in present]
        if missing or not _readable(connection, columns):
            bad = missing or [column.name for column in columns if not _readable(connection, [column])]
            return f"{table}.{bad[0]}"
    return ""


def _readable(connection: apsw.Connection, columns: Sequence[Column]) -> bool:
    """Whether all rows have valid values in these columns of one table."""
    table, fits = columns[0].table, " AND ".join(column.valid_condition for column in columns)
    if number(connection, f"SELECT EXISTS (SELECT 1 FROM {table} WHERE NOT ({fits}))"):
        return False
    if texts := ", ".join(column.name for column in columns if column.kind in ("TEXT", "")):
        try:
            for _ in connection.execute(f"SELECT {texts} FROM {table}"):
                pass
        except UnicodeDecodeError:
            return False
    return True


def _columns(generations: Iterable[int]) -> Iterator[Column]:
    """Yield the columns that an index with these generations has."""
    with closing(apsw.Connection(":memory:")) as sample:
        for step in INDEX_MIGRATIONS:
            step(sample)
        own = [column for column in columns_of(sample) if not column.table.startswith(f"{Tables(1).fts}_")]
    for column in own:
        stem, _, ending = column.table.rpartition("_")
        if ending != "1":
            yield column
        else:
            yield from (msgspec.structs.replace(column, table=f"{stem}_{generation}") for generation in generations)


def set_aside(database: Path) -> Path:
    """Rename the damaged database and its companion files; returns the new path of the database."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    target = database.with_name(f"{database.name}.damaged-{stamp}")
    number = 1
    while target.exists():
        number += 1
        target = database.with_name(f"{database.name}.damaged-{stamp}-{number}")
    _move(database, target)
    return target


def undo_set_aside(aside: Path, database: Path) -> None:
    """Undo `set_aside`: replace the new database by the damaged one."""
    for suffix in _SUFFIXES:
        database.with_name(database.name + suffix).unlink(missing_ok=True)
    _move(aside, database)


def _move(database: Path, target: Path) -> None:
    for suffix in _SUFFIXES:
        source = database.with_name(database.name + suffix)
        if source.exists():
            source.rename(target.with_name(target.name + suffix))


def delete_older(aside: Path, database: Path) -> None:
    """Remove all files set aside earlier except the newest; their readable vectors have been copied already."""
    for old in database.parent.glob(f"{database.name}.damaged-*"):
        if not old.name.startswith(aside.name):
            old.unlink(missing_ok=True)


def copy_vectors(damaged: Path, writer: "Writer") -> int:
    """Copy every readable vector into the new index; returns the number copied.

    Ids are read in rising order and in steps, so that an unreadable page loses only its own rows.
    """
    try:
        source = apsw.Connection(str(damaged), flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.Error:
        return 0
    with closing(source):
        try:
            models = source.execute("SELECT id, provider, model, provider_key, dims FROM models").fetchall()
            highest = number(source, f"SELECT max(id) FROM embedding_cache WHERE id < {_MAX_ID}")
        except apsw.Error:
            return 0
        ids: dict[object, tuple[int, int]] = {}
        for old, provider, model, key, dims in models:
            if isinstance(dims, int) and 0 < dims <= MAX_DIMS:  # a damaged row may have any value
                ids[old] = writer.ensure_model(str(provider), str(model), str(key), dims).id, dims
        copied, start, step = 0, 1, 256
        while start <= highest:
            rows = _readable_rows(source, start, start + step)
            # A vector of the wrong length comes from a damaged page.
            good = [(ids[model][0], h, v) for model, h, v in rows if model in ids and len(v) == 2 * ids[model][1]]
            for model in {row[0] for row in good}:
                writer.store_vectors(model, [(h, v) for m, h, v in good if m == model])
            copied += len(good)
            start = _next_id(source, start + step)
        return copied


def _next_id(source: apsw.Connection, start: int) -> int:
    """Return the next id of a vector from `start` on: a damaged one may be so large that counting never ends."""
    try:
        return number(source, "SELECT min(id) FROM embedding_cache WHERE id >= ?", (start,)) or start
    except apsw.Error:
        return start


def _readable_rows(source: apsw.Connection, start: int, end: int) -> list[tuple[int, bytes, bytes]]:
    query = "SELECT model_id, hash, vector FROM embedding_cache WHERE id >= ? AND id < ?"
    try:
        rows = list(source.execute(query, (start, end)))
        return [(m, h, v) for m, h, v in rows if isinstance(m, int) and isinstance(h, bytes) and isinstance(v, bytes)]
    except (apsw.Error, ValueError):
        if end - start == 1:
            return []
        middle = (start + end) // 2
        return _readable_rows(source, start, middle) + _readable_rows(source, middle, end)
