"""The program's files after changes by other programs: one sentence each, never a traceback."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tests.helpers.command_line import Run

NO_TEXT = "CAST(x'ff41' AS TEXT)"


@pytest.fixture
def damage(verb: Run, folder: Path, settings: Path) -> Callable[[str, str], None]:
    """Index a note and one fact, then change one of the databases with an SQL statement."""
    (folder / "a.md").write_text("# Lamp\n\nA brass lamp.\n")
    verb("facts", "add", "I like tea.")  # first, since a backup is made once a day
    verb("index")

    def change(name: str, statement: str) -> None:
        (path,) = settings.parent.glob(f"data/**/{name}")
        connection = apsw.Connection(str(path))
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        tables = {kind: next((name for name in names if name.startswith(kind)), "") for kind in ("files", "chunks")}
        connection.execute(statement.format(**tables))
        connection.close()

    return change


@pytest.mark.parametrize(
    "statement",
    [
        f"UPDATE {{files}} SET title = {NO_TEXT}",
        f"UPDATE {{files}} SET path = {NO_TEXT}",
        f"UPDATE {{chunks}} SET text = {NO_TEXT}",
        "UPDATE {files} SET mtime_ns = 'yesterday'",
        "UPDATE {chunks} SET heading = x'00'",
        "ALTER TABLE {files} RENAME COLUMN title TO heading",
    ],
)
def test_a_damaged_index_is_set_aside_and_made_again(verb: Run, damage, statement: str) -> None:
    damage("index.sqlite", statement)
    answer = verb("search", "lamp")
    assert (answer.code, answer.out) == (1, "")
    assert "was damaged and was set aside" in answer.err
    assert verb("index").code == 0
    assert "A brass lamp." in verb("search", "lamp").out


@pytest.mark.parametrize("name", ["index.sqlite", "user.sqlite"])
def test_database_replaced_by_folder_is_named(verb: Run, settings: Path, damage, name: str) -> None:
    damage(name, "SELECT 1")
    (path,) = settings.parent.glob(f"data/**/{name}")
    for file in path.parent.glob(f"{name}*"):
        file.unlink()
    path.mkdir()
    answer = verb("status")
    assert (answer.code, answer.out) == (1, "")
    assert f"{path} is a folder, not a database: move it elsewhere" in answer.err


def test_damaged_meta_prints_no_traceback(verb: Run, damage) -> None:
    damage("index.sqlite", "UPDATE meta SET value = x'ff00'")
    for name in ("search lamp", "status", "index"):
        answer = verb(*name.split())
        assert "Traceback" not in answer.err
        assert "Unexpected" not in answer.err
    assert "A brass lamp." in verb("search", "lamp").out


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE facts RENAME COLUMN text TO said",
        "DROP TABLE facts",
        "DROP TABLE sync_history",
        f"UPDATE facts SET text = {NO_TEXT}",
        f"UPDATE sync_history SET record = {NO_TEXT}",
        "UPDATE facts SET created = 'yesterday', importance = 'much'",
    ],
)
def test_damaged_facts_are_named_and_restored(verb: Run, damage, statement: str) -> None:
    damage("user.sqlite", statement)
    for name in ("facts list", "facts search tea", "facts add Coffee"):
        answer = verb(*name.split())
        assert answer.code == 1
        assert "user.sqlite is damaged. It holds your facts" in answer.err
    assert "A brass lamp." in verb("search", "lamp").out
    assert "is damaged" in verb("status").out
    verb("doctor", "--repair")
    assert "I like tea." in verb("facts", "list").out


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("chunking.tokens = " + "9" * 5000, ", line 4: the settings cannot be read: a number is too long."),
        ("chunking.tokens = 0x" + "f" * 9000, ', line 4: "chunking.tokens" is too large.'),
        ("chunking.tokens = " + "9" * 30, ', line 4: "chunking.tokens" is too large.'),
        ("extensions = " + "[" * 60_000, ": the settings cannot be read: brackets are nested too deeply."),
        ('extra_paths = ["/a\\u0000b"]', ', line 4: "extra_paths" contains a NUL character'),
        ('qmd.command = "a\\u0000b"', ', line 4: "qmd.command" contains a NUL character'),
        ('[workspace."/a\\u0000b"]\nprovider = "none"', '"workspace" contains a NUL character'),
        ("# " + "x" * 5_000_000, "cannot be read: File too large."),
    ],
    ids=["digits", "hexadecimal", "large", "brackets", "path", "command", "folder", "size"],
)
def test_error_names_invalid_setting(verb: Run, folder: Path, settings: Path, text: str, problem: str) -> None:
    settings.write_text(f"{settings.read_text()}{text}\n")
    for name in ("search lamp", "status", "index"):
        answer = verb(*name.split())
        assert (answer.code, answer.out) == (1, "")
        assert problem in answer.err
        assert str(settings) in answer.err


def test_error_names_workspace_with_nul(verb: Run, folder: Path) -> None:
    answer = verb("search", "lamp", "--workspace", "/a\0b")
    assert (answer.code, answer.out) == (1, "")
    assert "cannot be found" in answer.err
