"""Test values of the wrong type in the index: an answer, or one sentence and a repair, never a traceback."""

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from engine.backends.builtin import BuiltinMemory
from engine.base.errors import IndexCorrupt, MnemoscopeError
from engine.store.connection import open_connection
from engine.store.index_paths import index_files
from engine.store.integrity import columns_of
from tests.helpers.sync_worker import open_with_fake

_NOTE = """---
tags: [garden]
aliases: [Beds {number}]
---
# Note {number}

Greenhouse {number} needs watering, see [[n0]]. #plants

Every note has this passage on soil, seeds and seasons, which is long enough to be found as a duplicate of others.
"""
_ANSWERS: tuple[Callable[[BuiltinMemory], object], ...] = (
    lambda memory: memory.search("greenhouse watering", mode="keyword"),
    lambda memory: memory.search("tag:garden greenhouse", copies=True),
    lambda memory: memory.status(),
    lambda memory: memory.insight.overview(),
    lambda memory: memory.insight.changed_notes(5),
    lambda memory: memory.insight.duplicates(),
    lambda memory: memory.insight.note_links("n1.md"),
    lambda memory: memory.sync(),
)


@pytest.fixture
def index(tmp_path: Path) -> tuple[Path, Path]:
    """Return notes and the data folder of their index, which no memory has open."""
    notes, data = tmp_path / "notes", tmp_path / "data"
    notes.mkdir()
    for number in range(4):
        (notes / f"n{number}.md").write_text(_NOTE.format(number=number))
    with contextlib.closing(open_with_fake(notes, data)) as memory:
        assert memory.sync().error == ""
    return notes, data


def damage(database: Path, column: str, value: str) -> None:
    """Set all rows of a column to an SQL value that its table does not allow."""
    table, _, name = column.partition(".")
    found = "sqlite_schema WHERE name = ?"
    with contextlib.closing(open_connection(database, "writer")) as connection:
        (sql,) = connection.execute(f"SELECT sql FROM {found}", (table,)).fetchone()
        connection.pragma("writable_schema", 1)
        connection.execute(f"UPDATE {found[:13]} SET sql = ? {found[13:]}", (sql.replace(" NOT NULL", ""), table))
    with contextlib.closing(open_connection(database, "writer")) as connection:
        connection.execute(f"UPDATE OR IGNORE {table} SET {name} = {value}")
        connection.pragma("writable_schema", 1)
        connection.execute(f"UPDATE {found[:13]} SET sql = ? {found[13:]}", (sql, table))


def columns(database: Path, table: str) -> dict[str, str]:
    with contextlib.closing(open_connection(database, "reader")) as connection:
        return {column.name: column.kind for column in columns_of(connection) if column.table == table}


@pytest.mark.parametrize(
    "table", ["files_1", "chunks_1", "front_matter_1", "links_1", "tags_1", "models", "embedding_cache", "meta"]
)
def test_damaged_column_is_reported_and_repaired(index: tuple[Path, Path], tmp_path: Path, table: str) -> None:
    notes, data = index
    database = index_files(notes, str(data)).database
    for name, kind in columns(database, table).items():
        for value in ("NULL" if kind in ("TEXT", "BLOB") else "'damaged'", str(2**63 - 1)):
            copy = tmp_path / "copy"
            shutil.copytree(data, copy)
            with contextlib.suppress(apsw.Error):  # a row id is always an integer
                damage(index_files(notes, str(copy)).database, f"{table}.{name}", value)
            with contextlib.closing(open_with_fake(notes, copy)) as memory:
                for answer in _ANSWERS:
                    with contextlib.suppress(MnemoscopeError):
                        answer(memory)
                memory.insight.repair()
                assert memory.search("greenhouse watering").results, (name, value)
                states = {finding.id: finding.state for finding in memory.insight.health()}
                assert "failed" not in states.values(), (name, value, states)
            shutil.rmtree(copy)


def test_error_without_damage_stays_unchanged(index: tuple[Path, Path]) -> None:
    notes, data = index
    with contextlib.closing(open_with_fake(notes, data)) as memory:
        with pytest.raises(TypeError, match="a defect"), memory.store.read():
            raise TypeError("a defect")
        damage(memory.store.files.database, "files_1.size", "NULL")
        with pytest.raises(IndexCorrupt, match="doctor --repair"), memory.store.read():
            raise TypeError("a defect")
