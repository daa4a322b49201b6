"""Reading another program's database: the data that is read, and an unchanged folder."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import apsw
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, PathRefused
from engine.corpus.transcripts import sqlite_view
from engine.corpus.transcripts.sqlite_view import SqliteView
from tests.helpers.opencode_database import OpencodeWriter


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "theirs" / "some.db"


@pytest.fixture
def writer(path: Path) -> Iterator[OpencodeWriter]:
    opened = OpencodeWriter(path, "CREATE TABLE numbers (n, filling)")
    yield opened
    opened.close()


def add(writer: OpencodeWriter, *numbers: int) -> None:
    writer.connection.executemany("INSERT INTO numbers VALUES (?, zeroblob(5000))", [(n,) for n in numbers])


def numbers(connection: apsw.Connection) -> list[int]:
    return [n for (n,) in connection.execute("SELECT n FROM numbers ORDER BY n")]


def look(path: Path) -> list[int]:
    with closing(SqliteView(str(path))) as view:
        return view.read(numbers)


def folder(path: Path) -> dict[str, tuple[bytes, int, int, int]]:
    """Return content, times and inode of every file in the folder of the database, by name."""
    found = {}
    for entry in path.parent.iterdir():
        state = entry.stat()
        found[entry.name] = (entry.read_bytes(), state.st_mtime_ns, state.st_ctime_ns, state.st_ino)
    return found


def test_wal_contents_read_without_changes(path: Path, writer: OpencodeWriter) -> None:
    add(writer, 1)
    writer.checkpoint()
    add(writer, 2, 3)
    before = folder(path)
    assert sorted(before) == ["some.db", "some.db-shm", "some.db-wal"]
    assert look(path) == [1, 2, 3]
    assert folder(path) == before


def test_leftover_wal_is_unchanged(path: Path, writer: OpencodeWriter, tmp_path: Path) -> None:
    add(writer, 1)
    left = tmp_path / "left" / "some.db"
    left.parent.mkdir()
    for suffix in ("", "-wal"):
        (left.parent / f"some.db{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    before = folder(left)
    assert look(left) == [1]
    assert folder(left) == before


def test_closed_database_leaves_no_other_files(path: Path, writer: OpencodeWriter) -> None:
    add(writer, 1)
    writer.close()
    before = folder(path)
    assert list(before) == ["some.db"]
    assert look(path) == [1]
    assert folder(path) == before


def test_later_changes_seen_by_next_read(path: Path, writer: OpencodeWriter) -> None:
    add(writer, 1)
    with closing(SqliteView(str(path))) as view:
        assert view.read(numbers) == [1]
        writer.checkpoint()
        add(writer, 2)
        assert view.read(numbers) == [1, 2]


@pytest.mark.parametrize("times", [1, 9])
def test_checkpoint_during_read_causes_a_second_read(path: Path, writer: OpencodeWriter, times: int) -> None:
    add(writer, 1)
    seen: list[list[int]] = []

    def query(connection: apsw.Connection) -> list[int]:
        seen.append(numbers(connection))
        if len(seen) <= times:
            add(writer, len(seen) + 1)
            writer.checkpoint()
        return seen[-1]

    with closing(SqliteView(str(path))) as view:
        if times == 1:
            assert view.read(query) == [1, 2]
        else:
            with pytest.raises(ValueError, match="next update"):
                view.read(query)


def test_half_written_database_reopened(path: Path, writer: OpencodeWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    add(writer, 1)
    writer.close()
    whole = path.read_bytes()
    path.write_bytes(b"SQLite format 3\0" + bytes(500))
    original, calls = sqlite_view._state, list[str]()

    def state(database: str) -> sqlite_view._State:
        calls.append(database)
        if len(calls) == 2:
            path.write_bytes(whole)
        return original(database)

    monkeypatch.setattr(sqlite_view, "_state", state)
    assert look(path) == [1]
    assert len(calls) == 4


def test_snapshot_ignores_later_transactions(path: Path, writer: OpencodeWriter) -> None:
    add(writer, 1)

    def query(connection: apsw.Connection) -> list[int]:
        first = numbers(connection)
        add(writer, 2)  # grows the write-ahead log, which doesn't affect the current snapshot
        return first + numbers(connection)

    with closing(SqliteView(str(path))) as view:
        assert view.read(query) == [1, 1]


def test_writing_statements_change_nothing(path: Path, writer: OpencodeWriter) -> None:
    add(writer, 1)
    before = folder(path)
    for statement in (
        "DELETE FROM numbers",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "PRAGMA journal_mode = DELETE",
        "VACUUM",
    ):
        with closing(SqliteView(str(path))) as view, suppress(ValueError):
            view.read(lambda connection, statement=statement: connection.execute(statement).fetchall())
    assert folder(path) == before
    assert look(path) == [1]


def test_links_and_missing_files_are_refused(path: Path, writer: OpencodeWriter, tmp_path: Path) -> None:
    add(writer, 1)
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with pytest.raises(PathRefused):
        look(link)
    with pytest.raises(FileNotFoundError):
        look(tmp_path / "none.db")


def test_a_link_in_place_of_the_wal_is_refused(path: Path, writer: OpencodeWriter, tmp_path: Path) -> None:
    add(writer, 1)
    alone = tmp_path / "alone" / "some.db"
    alone.parent.mkdir()
    alone.write_bytes(path.read_bytes())
    Path(f"{alone}-wal").symlink_to(f"{path}-wal")
    with pytest.raises(PathRefused):
        look(alone)


def test_database_needing_repair_reported_untouched(path: Path, tmp_path: Path) -> None:
    crashed = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('PRAGMA cache_size = 1');"
        "c.execute('CREATE TABLE numbers (n, filling)'); c.commit();"
        "c.executemany('INSERT INTO numbers VALUES (?, zeroblob(5000))', [(n,) for n in range(99)]); os._exit(0)"
    )
    path.parent.mkdir()
    subprocess.run([sys.executable, "-c", crashed, str(path)], check=True)
    before = folder(path)
    assert sorted(before) == ["some.db", "some.db-journal"]
    with pytest.raises(ValueError, match="interrupted: start the agent"):
        look(path)
    assert folder(path) == before


def test_invalid_utf_8_is_an_error(path: Path, writer: OpencodeWriter) -> None:
    writer.connection.execute("INSERT INTO numbers VALUES (CAST(x'ff' AS TEXT), 0)")
    with pytest.raises(ValueError, match=r"^The database cannot be read: a text in it is damaged$"):
        look(path)


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"SQLite format 3\0" + b"\xff" * 5000])
def test_non_database_reported(tmp_path: Path, content: bytes) -> None:
    other = tmp_path / "other.db"
    other.write_bytes(content)
    with pytest.raises(ValueError, match="cannot be read"):
        look(other)


def test_a_long_query_ends_when_cancelled(path: Path, writer: OpencodeWriter) -> None:
    add(writer, 1)
    cancel = CancelToken()
    endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"

    def query(connection: apsw.Connection) -> object:
        cancel.cancel()
        return connection.execute(endless).fetchall()

    with closing(SqliteView(str(path), cancel)) as view, pytest.raises(Cancelled):
        view.read(query)


def test_huge_computed_value_is_refused(path: Path, writer: OpencodeWriter) -> None:
    writer.connection.execute("CREATE TABLE huge (id)")
    writer.connection.execute("INSERT INTO huge VALUES (1)")
    # Added after the row, because an INSERT computes this value, which takes seconds.
    writer.connection.execute("ALTER TABLE huge ADD COLUMN text AS (printf('%.*c', 900000000, 'x'))")
    with (
        closing(SqliteView(str(path))) as view,
        pytest.raises(ValueError, match="too big"),
    ):
        view.read(lambda connection: connection.execute("SELECT length(text) FROM huge").fetchall())
