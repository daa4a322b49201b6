"""The names of Codex's sessions, from the list and the database that Codex stores next to them."""

import itertools
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from engine.corpus.transcripts.codex_names import GivenName, Memo, given_name
from engine.corpus.transcripts.messages import one_line
from engine.corpus.transcripts.parsers.codex import CodexFormat
from engine.corpus.transcripts.transcript_files import last_change
from tests.helpers.transcripts import mangled

ONE, TWO = "019b1f00-1111-7222-8333-444455556666", "019b1f00-1111-7222-8333-444455557777"
TIME = 1_773_050_400.0
_TIMES = itertools.count()


def entry(session: str, name: object, time: object = "2026-03-09T10:00:00Z") -> dict[str, object]:
    return {"id": session, "thread_name": name, "updated_at": time}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CODEX_SQLITE_HOME", raising=False)
    (tmp_path / ".codex" / "sessions/2026/03/09").mkdir(parents=True)
    return tmp_path / ".codex"


def rollout(home: Path, session: str = ONE) -> str:
    return str(home / f"sessions/2026/03/09/rollout-2026-03-09T11-00-00-{session}.jsonl")


def keep(home: Path, *entries: object) -> None:
    lines = [value if isinstance(value, str) else json.dumps(value) for value in entries]
    (home / "session_index.jsonl").write_text("".join(f"{line}\n" for line in lines))


@pytest.fixture
def threads(home: Path) -> Iterator[sqlite3.Connection]:
    """Make a database with a WAL, as a running Codex has it open."""
    with closing(sqlite3.connect(home / "state_5.sqlite", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE threads (id TEXT PRIMARY KEY, title TEXT NOT NULL, name TEXT)")
        yield connection


def thread(threads: sqlite3.Connection, session: str, name: object) -> None:
    threads.execute("INSERT OR REPLACE INTO threads VALUES (?, 'First message', ?)", (session, name))


def test_the_last_name_counts(home: Path) -> None:
    assert given_name(rollout(home)) == GivenName()
    keep(
        home,
        entry(ONE, "Boat", "2026-03-08T10:00:00Z"),
        entry(TWO, "Tap"),
        "{half",
        entry(ONE, " The\nboat "),
        entry(ONE, ""),
    )
    assert given_name(rollout(home)) == GivenName("The boat", TIME)
    assert given_name(str(home / f"archived_sessions/rollout-2026-03-09T11-00-00-{TWO}.jsonl.zst")).name == "Tap"
    assert given_name(rollout(home, f"{TWO}_019b1f00-1111-7222-8333-444455558888")).name == "Tap"  # after a revert
    assert given_name(rollout(home, "019b1f00-1111-7222-8333-444455558888")) == GivenName()
    assert given_name(str(home / f"rollout-{ONE}.jsonl")) == GivenName()  # outside the sessions folder
    assert given_name(str(home / "sessions/notes.jsonl")) == GivenName()
    keep(home, entry(ONE, "Ship", "unknown"))
    assert given_name(rollout(home)) == GivenName("Ship", 0.0)


def test_a_secret_in_a_name_is_masked(home: Path) -> None:
    secret = "ghp_" + "a1B2c3D4" * 5
    keep(home, entry(ONE, f"Use {secret}"))
    assert secret not in given_name(rollout(home)).name


def test_session_names_behind_a_link_are_not_read(home: Path, tmp_path: Path) -> None:
    keep(home, entry(ONE, "Boat"))
    (home / "session_index.jsonl").rename(tmp_path / "elsewhere.jsonl")
    (home / "session_index.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    assert given_name(rollout(home)) == GivenName()


def test_a_session_changes_when_it_gets_a_name(home: Path) -> None:
    path = Path(rollout(home))
    path.write_text("{}\n")
    os.utime(path, (1e9, 1e9))
    assert last_change(str(path), path.stat()) == (3, 10**18)
    keep(home, entry(ONE, "Boat"))
    assert last_change(str(path), path.stat()) == (3, int(TIME * 1e9))
    os.utime(path, (2e9, 2e9))
    assert last_change(str(path), path.stat()) == (3, 2 * 10**18)


def test_the_list_has_a_later_name_than_the_rollout(home: Path) -> None:
    line = {"timestamp": "", "type": "event_msg", "payload": {"type": "thread_name_updated", "thread_name": "Boat"}}
    parser = CodexFormat().parser(rollout(home))
    parser.feed(line, 1)
    assert parser.metadata.title == "Boat"
    keep(home, entry(ONE, "Ship"))
    parser = CodexFormat().parser(rollout(home))
    parser.feed(line, 1)
    assert (parser.metadata.title, parser.metadata.id) == ("Ship", ONE)


def test_a_name_in_the_database_counts(home: Path, threads: sqlite3.Connection) -> None:
    keep(home, entry(ONE, "Boat"), entry(TWO, "Tap"))
    thread(threads, ONE, None)
    assert given_name(rollout(home)) == GivenName("Boat", TIME)
    thread(threads, ONE.upper(), " The\nship ")
    files = sorted(file.name for file in home.iterdir())
    assert given_name(rollout(home)) == GivenName("The ship")
    assert given_name(rollout(home, TWO)) == GivenName("Tap", TIME)
    assert sorted(file.name for file in home.iterdir()) == files
    assert CodexFormat().parser(rollout(home)).metadata.title == "The ship"


def test_the_database_with_the_highest_number_counts(home: Path, threads: sqlite3.Connection) -> None:
    thread(threads, ONE, "Boat")
    assert given_name(rollout(home)).name == "Boat"
    with closing(sqlite3.connect(home / "state_10.sqlite", isolation_level=None)) as newer:
        newer.execute("CREATE TABLE threads (id TEXT PRIMARY KEY, title TEXT, name TEXT)")
        thread(newer, ONE, "Ship")
    os.utime(home, (1e9, 1e9))
    assert given_name(rollout(home)).name == "Ship"


@pytest.mark.parametrize("place", ["sqlite", "setting", "variable"])
def test_database_in_another_folder_counts(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    keep(home, entry(ONE, "Boat"), entry(TWO, "Tap"))
    folder = home / "sqlite" if place == "sqlite" else tmp_path / "elsewhere"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "state_5.sqlite", isolation_level=None)) as database:
        database.execute("CREATE TABLE threads (id TEXT PRIMARY KEY, title TEXT, name TEXT)")
        thread(database, ONE, "Ship")
    if place == "setting":
        (home / "config.toml").write_text(f"model = 'x'\nsqlite_home = '{folder}'\n")
        monkeypatch.setenv("CODEX_SQLITE_HOME", str(tmp_path / "nowhere"))
    if place == "variable":
        monkeypatch.setenv("CODEX_SQLITE_HOME", str(folder))
        (home / "config.toml").write_text("not [toml")
    assert given_name(rollout(home)).name == "Ship"
    assert given_name(rollout(home, TWO)).name == "Tap"


def test_names_are_read_once_for_a_listing(home: Path) -> None:
    keep(home, entry(ONE, "Boat"))
    memo: Memo = {}
    assert given_name(rollout(home), memo).name == "Boat"
    keep(home, entry(ONE, "A ship"), entry(TWO, "Tap"))
    assert (given_name(rollout(home), memo).name, given_name(rollout(home, TWO), memo).name) == ("Boat", "")
    assert (given_name(rollout(home)).name, given_name(rollout(home, TWO), {}).name) == ("A ship", "Tap")


@pytest.mark.parametrize(
    ("name", "read"), [(b"Boat", ""), (7, "7"), ("", ""), (" \n", ""), ("x" * 2_000_000, one_line("x" * 1_000))]
)
def test_an_odd_name_in_the_database_is_bounded(
    home: Path, threads: sqlite3.Connection, name: object, read: str
) -> None:
    thread(threads, ONE, name)
    thread(threads, TWO, "Tap")
    assert given_name(rollout(home)).name == read
    assert given_name(rollout(home, TWO)).name == "Tap"


@pytest.mark.parametrize("damage", ["no database", "no column", "overwritten"])
def test_a_damaged_database_leaves_the_list(home: Path, damage: str) -> None:
    keep(home, entry(ONE, "Boat"))
    path = home / "state_5.sqlite"
    path.write_bytes(b"not a database" * 400)
    if damage != "no database":
        path.unlink()
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            column = "" if damage == "no column" else ", name TEXT"
            connection.execute(f"CREATE TABLE threads (id TEXT PRIMARY KEY, title TEXT{column})")
            if column:
                thread(connection, ONE, "Ship")
    if damage == "overwritten":
        path.write_bytes(path.read_bytes()[:4096] + b"\xff" * 8192)
    assert given_name(rollout(home)) == GivenName("Boat", TIME)


def test_a_session_changes_with_its_name_in_the_database(home: Path, threads: sqlite3.Connection) -> None:
    path = Path(rollout(home))
    path.write_text("{}\n")
    os.utime(path, (1e9, 1e9))
    changes = set()
    for name in (None, "Boat", "Ship"):
        thread(threads, ONE, name)
        _, changed = last_change(str(path), path.stat())
        assert 10**18 <= changed < 10**18 + 10**9
        assert last_change(str(path), path.stat()) == (3, changed)
        changes.add(changed)
    assert len(changes) == 3


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(mangled([entry(ONE, "Boat")]))
def test_any_json_is_read(home: Path, value: dict[str, object]) -> None:
    keep(home, value, entry(TWO, "Tap"))
    os.utime(home / "session_index.jsonl", ns=(0, next(_TIMES)))  # a different timestamp, even within a clock tick
    assert given_name(rollout(home, TWO)).name == "Tap"
    given_name(rollout(home)).name.encode()
