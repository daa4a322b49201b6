import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from engine.store.index import IndexStore
from engine.store.index_paths import index_files
from tests.helpers.command_line import Answer, Run


@pytest.fixture(autouse=True)
def _notes(folder: Path) -> None:
    (folder / "a.md").write_text("# Tulips\n\nPlant the bulbs in October.\n")
    (folder / "b.md").write_text("# Roses\n\nCut them in March.\n")


@pytest.fixture
def database(folder: Path, tmp_path: Path) -> Path:
    return index_files(folder, str(tmp_path / "data")).database


def change(database: Path, statement: str) -> None:
    """Execute a statement while no process has the index open."""
    connection = apsw.Connection(str(database))
    connection.execute(statement)
    connection.close()


def checks(answer: Answer) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in answer.json["checks"]}


def wrong(answer: Answer) -> set[str]:
    return {name for name, check in checks(answer).items() if check["state"] != "fine"}


def test_a_healthy_index_is_fine(verb: Run) -> None:
    assert verb("index").code == 0
    answer = verb("doctor")
    assert answer.code == 0
    assert {line.split()[0] for line in answer.out.splitlines()} == {"fine"}
    assert f"{'Embedding':<25}  No search by meaning, as set in the settings." in answer.out
    assert wrong(verb("doctor", "--json")) == set()


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_doctor_of_path_fails_without_readable_file(
    verb: Run, folder: Path, database: Path, options: tuple[str, ...]
) -> None:
    verb("index")
    for name in ("new.md", "bad.md"):
        (folder / name).write_text("# Lilies\n")
    change(database, "INSERT INTO issues VALUES ('failed', 'bad.md', 'timeout', 'It takes too long to read.')")
    (folder / "photo.png").write_bytes(b"\x89PNG")
    codes = {name: verb("doctor", name, *options).code for name in ("a.md", "bad.md", "new.md", "photo.png", "c.md")}
    assert codes == {"a.md": 0, "bad.md": 1, "new.md": 0, "photo.png": 0, "c.md": verb("get", "c.md").code}


def test_doctor_creates_no_missing_index(verb: Run, database: Path) -> None:
    found = checks(verb("doctor", "--json"))["Index"]
    assert (found["state"], found["advice"]) == ("degraded", "Run mnemoscope index.")
    assert verb("doctor", "--repair", "--json").json["repaired"] == []
    assert not database.exists()


def test_unwritable_folder_of_missing_index_fails(verb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    answer = verb("doctor", "--json")
    found = checks(answer)["Index"]
    assert (answer.code, found["state"]) == (1, "failed")
    assert "make the folder writable" in found["detail"]


def test_changed_notes_are_counted(verb: Run, folder: Path) -> None:
    verb("index")
    (folder / "a.md").unlink()
    (folder / "b.md").write_text("# Roses\n\nWater them.\n")
    (folder / "c.md").write_text("# New\n")
    found = checks(verb("doctor", "--json"))["Notes"]
    assert found["detail"] == "1 new, 1 changed, 1 deleted since the last update."


def test_doctor_lists_failed_files(verb: Run, folder: Path) -> None:
    (folder / "bad.md").write_bytes(bytes(99))
    verb("index")
    found = checks(verb("doctor", "--json"))
    assert found["bad.md"]["state"] == "degraded"
    assert "control characters" in found["bad.md"]["detail"]
    assert found["Notes"]["state"] == "fine"


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("DELETE FROM chunks_fts_1 WHERE rowid = (SELECT min(id) FROM chunks_1)", "Keyword index"),
        ("DELETE FROM files_1 WHERE path = 'a.md'", "Passages"),
    ],
)
def test_inconsistent_parts_are_found_and_repaired(verb: Run, database: Path, statement: str, name: str) -> None:
    verb("index")
    change(database, statement)
    assert name in wrong(verb("doctor", "--json"))
    repaired = verb("doctor", "--repair", "--json")
    assert repaired.json["repaired"]
    assert wrong(repaired) == set()
    assert verb("search", "bulbs", "--json").json["results"][0]["path"] == "a.md"


def damage(database: Path, table: str) -> None:
    """Overwrite the end of the first page of a table or index, where its rows are."""
    connection = apsw.Connection(str(database))
    page = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).get
    size = connection.pragma("page_size")
    connection.close()
    with database.open("r+b") as file:
        file.seek(page * size - 64)
        file.write(b"\x55" * 64)


def test_deep_damage_fails_until_repaired(verb: Run, database: Path) -> None:
    verb("index")
    damage(database, "chunks_1_hash")
    answer = verb("doctor", "--json")
    assert answer.code == 1
    found = checks(answer)["Database file"]
    assert (found["state"], found["advice"]) == ("failed", "Run mnemoscope doctor --repair.")
    repaired = verb("doctor", "--repair", "--json")
    assert repaired.code == 0
    assert "set aside as index.sqlite.damaged-" in repaired.json["repaired"][0]
    assert wrong(repaired) == set()
    assert verb("search", "bulbs", "--json").json["results"][0]["path"] == "a.md"


def test_indexing_damaged_index_reports_and_works(verb: Run, database: Path) -> None:
    verb("index")
    damage(database, "meta")
    answer = verb("index", "--json")
    assert (answer.code, answer.json["error"]) == (0, "")
    assert answer.err.startswith("mnemoscope: The index was damaged and was set aside as index.sqlite.damaged-")
    assert answer.err.count("\n") == 1
    assert verb("index").err == ""


def test_damage_on_open_reported_and_repaired(verb: Run, database: Path) -> None:
    verb("index")
    damage(database, "meta")
    assert "set aside as index.sqlite.damaged-" in checks(verb("doctor", "--json"))["Index"]["detail"]
    assert wrong(verb("doctor", "--repair", "--json")) == set()
    assert verb("search", "bulbs", "--json").json["results"][0]["path"] == "a.md"


def test_an_index_of_a_newer_version_is_a_failure(verb: Run, database: Path) -> None:
    verb("index")
    change(database, "PRAGMA user_version = 99")
    answer = verb("doctor")
    assert answer.code == 1
    assert "failed" in answer.out
    assert "newer version" in answer.out


def test_another_writer_is_not_disturbed(verb: Run, folder: Path, tmp_path: Path) -> None:
    verb("index")
    other = IndexStore(index_files(folder, str(tmp_path / "data")))
    try:
        assert other.try_lock()
        answer = verb("doctor", "--repair")
    finally:
        other.close()
    assert (answer.code, answer.out) == (1, "")
    assert "Another program is writing the index" in answer.err


def test_broken_model_keeps_keyword_search(verb: Run, settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verb("index")
    settings.write_text(settings.read_text().replace('"none"', '"embedded"'))
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    found = checks(verb("doctor", "--json"))["Embedding"]
    assert found["state"] == "degraded"
    assert "install the package" in found["detail"]


def test_missing_sqlite_vec_fails_only_if_chosen(verb: Run, settings: Path, tmp_path: Path) -> None:
    verb("index")
    vector = f'store.vector.extension_path = "{(tmp_path / "none.so").as_posix()}"\n'
    settings.write_text(settings.read_text() + vector)
    found = checks(verb("doctor", "--json"))["sqlite-vec"]
    assert found["state"] == "fine"
    assert found["detail"].endswith("The current settings don't need it.")
    settings.write_text(settings.read_text() + 'store.vector.engine = "sqlite-vec"\n')
    assert checks(verb("doctor", "--json"))["sqlite-vec"]["state"] == "degraded"


def test_path_status_is_printed(verb: Run, folder: Path, tmp_path: Path) -> None:
    verb("index")
    (folder / "c.log").write_text("Peas.\n")
    answer = verb("doctor", "a.md")
    assert answer.code == 0
    assert answer.out.splitlines()[:2] == ["indexed  a.md", "The file is indexed: 1 passage, found by words."]
    assert "extensions = .md, .markdown, .mdx, .txt, .org, .rst, .adoc" in verb("doctor", str(folder / "c.log")).out
    found = verb("doctor", "b.md", "--json").json
    assert (found["state"], found["path"], found["rulePath"]) == ("indexed", "b.md", "")


def test_path_is_looked_up_in_current_directory(verb: Run, folder: Path, monkeypatch) -> None:
    for name in ("beds", "deep"):
        (folder / name).mkdir()
        (folder / name / "d.md").write_text("Leeks.\n")
    verb("index")
    monkeypatch.chdir(folder / "deep")
    assert verb("doctor", "d.md", "--workspace", str(folder), "--json").json["path"] == "deep/d.md"


def test_repair_of_a_path_is_wrong_usage(verb: Run) -> None:
    assert verb("doctor", "a.md", "--repair").code == 2


@pytest.mark.parametrize("ruin", [Path.unlink, lambda path: path.write_bytes(b"")])
def test_doctor_offers_and_restores_a_backup_of_lost_data(
    verb: Run, database: Path, ruin: Callable[[Path], object]
) -> None:
    verb("index")
    verb("facts", "add", "The gate code is on the fridge.")
    ruin(database.with_name("user.sqlite"))
    found = checks(verb("doctor", "--json"))["Facts and saved searches"]
    assert (found["state"], found["advice"]) == ("failed", "Run mnemoscope doctor --repair.")
    assert "run mnemoscope doctor --repair" in verb("status").out
    refused = verb("facts", "add", "Something else.")
    assert refused.code == 1
    assert "user.sqlite" in refused.err
    repaired = verb("doctor", "--repair", "--json")
    assert "from the backup of" in repaired.json["repaired"][0]
    assert wrong(repaired) == set()


def test_doctor_repair_leaves_damaged_data_without_a_backup(verb: Run, database: Path) -> None:
    verb("index")
    for file in database.parent.glob("user.sqlite*"):
        file.unlink()
    user = database.with_name("user.sqlite")
    user.write_bytes(b"no database " * 500)
    answer = verb("doctor", "--repair", "--json")
    assert wrong(answer) == {"Facts and saved searches"}
    assert "no usable backup" in checks(answer)["Facts and saved searches"]["detail"]
    assert user.read_bytes() == b"no database " * 500
