"""What cannot be rebuilt is never destroyed, whatever state it is found in."""

import json
from pathlib import Path

import apsw
import pytest

from engine.records import SyncSummary
from engine.store import user_data
from engine.store.batch_jobs import BatchJobs, StoredJob
from engine.store.models import ModelName
from engine.store.user_data import UserData


def summary(started: float) -> SyncSummary:
    return SyncSummary(
        started=started,
        seconds=1,
        reason="manual",
        files_indexed=1,
        files_removed=0,
        chunks_indexed=1,
        vectors_embedded=1,
        cancelled=False,
        error="",
    )


def test_the_history_is_kept_and_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.store.user_data._KEPT_SYNCS", 3)
    data = UserData(tmp_path / "user.sqlite")
    for number in range(5):
        data.add_sync(summary(number))
    data.close()
    data = UserData(tmp_path / "user.sqlite")
    assert [sync.started for sync in data.recent_syncs(10)] == [2, 3, 4]
    assert [sync.started for sync in data.recent_syncs(1)] == [4]
    assert data.problem == ""
    data.close()


def test_what_was_agreed_to_is_kept_until_it_is_done(tmp_path: Path) -> None:
    one, other = ModelName("openai", "small", "a"), ModelName("openai", "small", "b")
    data = UserData(tmp_path / "user.sqlite")
    data.approve(one, 7)
    data.approve(one, 5)
    data.close()
    data = UserData(tmp_path / "user.sqlite")
    assert (data.approved_tokens(one), data.approved_tokens(other)) == (5, 0)
    data.end_approval(one)
    assert data.approved_tokens(one) == 0
    data.close()


def test_the_data_of_the_first_version_is_taken_over_with_a_copy_aside(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "user.sqlite"
    with monkeypatch.context() as first:
        first.setattr(user_data, "MIGRATIONS", user_data.MIGRATIONS[:1])
        data = UserData(path)
        data.add_sync(summary(1))
        record = json.loads(data._connection.execute("SELECT record FROM sync_history").fetchone()[0])
        for later in ("tokens", "cost"):
            del record[later]
        data._connection.execute("UPDATE sync_history SET record = ?", (json.dumps(record),))
        data.close()
    data = UserData(path)
    assert data.recent_syncs(5) == (summary(1),)
    data.approve(ModelName("openai", "small", ""), 1)
    data.close()
    assert path.with_name(f"user.sqlite.before-{len(user_data.MIGRATIONS)}").exists()


def test_an_entry_that_another_version_wrote_does_not_hide_the_others(tmp_path: Path) -> None:
    data = UserData(tmp_path / "user.sqlite")
    data.add_sync(summary(1))
    data._connection.execute('INSERT INTO sync_history (started, record) VALUES (2, \'{"reason":"unheard of"}\')')
    assert [sync.started for sync in data.recent_syncs(10)] == [1]
    data.close()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_damaged_file_is_left_as_it_is(tmp_path: Path, read_only: bool) -> None:
    path = tmp_path / "user.sqlite"
    path.write_bytes(b"no database " * 500)
    before = path.read_bytes()
    data = UserData(path, read_only=read_only)
    assert data.recent_syncs(10) == ()
    data.add_sync(summary(1))
    data.close()
    assert "damaged" in data.problem
    assert str(path) in data.problem
    assert path.read_bytes() == before


def test_damage_inside_the_file_is_found_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "user.sqlite"
    data = UserData(path)
    for number in range(40):
        data.add_sync(summary(number))
    data.close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    data = UserData(path)
    assert data.recent_syncs(10) == ()
    data.add_sync(summary(1))
    data.close()
    assert "damaged" in data.problem
    assert path.read_bytes()[4096:] == bytes(content[4096:])


@pytest.mark.parametrize("table", ["approvals", "batch_jobs", "batch_texts"])
@pytest.mark.parametrize("read_only", [False, True])
def test_damage_in_any_table_is_found_at_the_start(tmp_path: Path, table: str, read_only: bool) -> None:
    path = tmp_path / "user.sqlite"
    data = UserData(path)
    job = StoredJob("job", ModelName("openai", "small", ""), 1.0, 1, 1)
    BatchJobs(data).begin(job, {b"hash": 1})
    assert BatchJobs(data).open() == (job,)
    (root,) = data._connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    page = data._connection.pragma("page_size")
    data.close()
    content = bytearray(path.read_bytes())
    content[(root - 1) * page : root * page] = b"\xff" * page
    path.write_bytes(content)
    data = UserData(path, read_only=read_only)
    jobs = BatchJobs(data)
    assert (jobs.usable, jobs.open(), jobs.texts("job"), data.approved_tokens(job.model)) == (False, (), {}, 0)
    data.close()
    assert "damaged" in data.problem


def test_what_a_broken_off_migration_left_aside_is_no_damage(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "user.sqlite"
    with monkeypatch.context() as first:
        first.setattr(user_data, "MIGRATIONS", user_data.MIGRATIONS[:1])
        data = UserData(path)
        data.add_sync(summary(1))
        data.close()
    aside = path.with_name(f"user.sqlite.before-{len(user_data.MIGRATIONS)}")
    aside.write_bytes(b"half a copy " * 1000)
    data = UserData(path)
    assert (data.problem, data.recent_syncs(5)) == ("", (summary(1),))
    data.close()
    copy = apsw.Connection(str(aside))
    assert copy.execute("SELECT count(*) FROM sync_history").fetchone() == (1,)
    copy.close()
