"""User data is never destroyed, whatever its state."""

import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from engine.base.errors import IndexReadOnly, IndexTooNew
from engine.records import QueryRecord, SavedSearch, SyncSummary
from engine.store import backups, user_data
from engine.store.batch_jobs import BatchJobs, StoredJob
from engine.store.saved_searches import SavedSearches
from engine.store.stored_models import ModelName
from engine.store.user_data import UserData
from tests.helpers.older_user_data import at_version


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


def test_history_saved_and_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.store.user_data._STORED_SYNCS", 3)
    data = UserData(tmp_path / "user.sqlite")
    for number in range(5):
        data.add_sync(summary(number))
    data.close()
    data = UserData(tmp_path / "user.sqlite")
    assert [sync.started for sync in data.recent_syncs(10)] == [2, 3, 4]
    assert [sync.started for sync in data.recent_syncs(1)] == [4]
    assert data.problem == ""
    data.close()


def test_approval_saved_until_done(tmp_path: Path) -> None:
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


def test_first_version_migrated_with_copy(tmp_path: Path) -> None:
    path = tmp_path / "user.sqlite"
    with at_version(1):
        data = UserData(path)
        data.add_sync(summary(1))
        data.close()
    with closing(apsw.Connection(str(path))) as connection:
        record = json.loads(connection.execute("SELECT record FROM sync_history").fetchone()[0])
        for later in ("tokens", "cost"):
            del record[later]
        connection.execute("UPDATE sync_history SET record = ?", (json.dumps(record),))
    data = UserData(path)
    assert data.recent_syncs(5) == (summary(1),)
    data.approve(ModelName("openai", "small", ""), 1)
    data.close()
    assert path.with_name(f"user.sqlite.before-{len(user_data.USER_MIGRATIONS)}").exists()


def test_damaged_log_loses_nothing(tmp_path: Path) -> None:
    path, crashed = tmp_path / "user.sqlite", tmp_path / "crashed.sqlite"
    with closing(UserData(path)) as user:
        for name in ("pump", "hedge"):
            save(user, name)
        crashed.write_bytes(path.read_bytes())
        log = bytearray(path.with_name("user.sqlite-wal").read_bytes())
        log[40:] = bytes(len(log) - 40)
        crashed.with_name("crashed.sqlite-wal").write_bytes(log)
    with closing(UserData(crashed)) as user:
        assert saved(user) == {"pump", "hedge"}


def test_unknown_entry_does_not_hide_others(tmp_path: Path) -> None:
    data = UserData(tmp_path / "user.sqlite")
    data.add_sync(summary(1))
    with closing(apsw.Connection(str(tmp_path / "user.sqlite"))) as connection:
        connection.execute('INSERT INTO sync_history (started, record) VALUES (2, \'{"reason":"unheard of"}\')')
    assert [sync.started for sync in data.recent_syncs(10)] == [1]
    data.close()


@pytest.mark.parametrize("read_only", [False, True])
def test_damaged_user_data_stays_unchanged(tmp_path: Path, read_only: bool) -> None:
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
    data.close()
    with closing(apsw.Connection(str(path))) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        page = connection.pragma("page_size")
    content = bytearray(path.read_bytes())
    content[(root - 1) * page : root * page] = b"\xff" * page
    path.write_bytes(content)
    data = UserData(path, read_only=read_only)
    jobs = BatchJobs(data)
    assert (jobs.usable, jobs.open(), jobs.texts("job"), data.approved_tokens(job.model)) == (False, (), {}, 0)
    data.close()
    assert "damaged" in data.problem


def test_interrupted_migration_leftover_is_not_damage(tmp_path: Path) -> None:
    path = tmp_path / "user.sqlite"
    with at_version(1):
        data = UserData(path)
        data.add_sync(summary(1))
        data.close()
    aside = path.with_name(f"user.sqlite.before-{len(user_data.USER_MIGRATIONS)}")
    aside.write_bytes(b"half a copy " * 1000)
    data = UserData(path)
    assert (data.problem, data.recent_syncs(5)) == ("", (summary(1),))
    data.close()
    copy = apsw.Connection(str(aside))
    assert copy.execute("SELECT count(*) FROM sync_history").fetchone() == (1,)
    copy.close()


# --- backups ----------------------------------------------------------------------------------------------------------


def save(data: UserData, name: str) -> None:
    SavedSearches(data).save(SavedSearch(name=name, query=QueryRecord(text=name), last_used=1.0))


def saved(data: UserData) -> set[str]:
    return {search.name for search in SavedSearches(data).saved()}


def empty(path: Path) -> None:
    os.truncate(path, 0)


def damage(path: Path) -> None:
    path.write_bytes(b"no database " * 500)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "user.sqlite"


@pytest.fixture
def passing(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets this many seconds pass; files keep the times of the real clock."""
    now = [time.time()]

    def pass_(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(backups.time, "time", lambda: now[0])
    return pass_


def test_change_before_a_crash_is_backed_up_at_the_next_start(path: Path, passing: Callable[[float], None]) -> None:
    crashed = path.with_name("crashed.sqlite")
    with closing(UserData(path)) as data:
        save(data, "one")
        (backup,) = path.parent.glob("*.backup-*")
        save(data, "two")
        for part in ("", "-wal", backup.name.removeprefix(path.name)):
            shutil.copy(f"{path}{part}", f"{crashed}{part}")
    for part in ("", backup.name.removeprefix(path.name)):
        os.utime(f"{crashed}{part}", (1.0, 1.0))
    passing(7200)
    UserData(crashed).close()
    crashed.write_bytes(b"")
    with closing(UserData(crashed)) as data:
        data.restore()
        assert saved(data) == {"one", "two"}


@pytest.mark.parametrize("ruin", [Path.unlink, empty, damage])
def test_file_ruined_between_starts_is_reported_and_restored(path: Path, ruin: Callable[[Path], None]) -> None:
    with closing(UserData(path)) as data:
        save(data, "one")
    ruin(path)
    before = path.read_bytes() if path.exists() else None
    with closing(UserData(path)) as data:
        status = data.status()
        assert status is not None
        assert str(path) in status.problem
        assert status.backup == pytest.approx(time.time(), abs=100)
        assert not data.can_save
        with pytest.raises(IndexReadOnly):
            save(data, "two")
        data.add_sync(summary(1))
        assert (path.read_bytes() if path.exists() else None) == before, "no new file replaces the lost one"
        assert "from the backup of" in data.restore()
        assert (data.status(), saved(data)) == (None, {"one"})
        save(data, "two")
    aside = [file.read_bytes() for file in path.parent.glob("user.sqlite.damaged-*")]
    assert aside == ([] if before is None else [before])
    with closing(UserData(path)) as data:
        assert saved(data) == {"one", "two"}


def test_deleted_file_refuses_writes_and_can_be_restored(path: Path) -> None:
    with closing(UserData(path)) as data:
        save(data, "one")
        save(data, "two")  # after the backup
        path.unlink()
        with pytest.raises(IndexReadOnly, match="missing"):
            save(data, "three")
        assert not path.exists()
        assert "restored completely" in data.restore()
        assert saved(data) == {"one", "two"}
        save(data, "three")
    with closing(UserData(path)) as data:
        assert saved(data) == {"one", "two", "three"}


def test_file_emptied_while_open_is_restored_from_the_backup(path: Path) -> None:
    with closing(UserData(path)) as data:
        save(data, "one")
        os.truncate(path, 0)
        with pytest.raises(IndexReadOnly, match="empty"):
            save(data, "two")
        assert path.stat().st_size == 0
        data.restore()
        assert saved(data) == {"one"}
    with closing(UserData(path)) as data:
        assert (data.problem, saved(data)) == ("", {"one"})


@pytest.mark.parametrize("ruin", [Path.unlink, empty, damage])
def test_file_ruined_before_backup_says_fix(path: Path, ruin: Callable[[Path], None]) -> None:
    UserData(path).close()
    ruin(path)
    with closing(UserData(path)) as data:
        if ruin is Path.unlink:  # nothing was in it
            assert data.problem == ""
            return
        status = data.status()
        assert status is not None
        assert status.backup is None
        with pytest.raises(IndexReadOnly, match="no usable backup"):
            data.restore()
    for file in path.parent.glob("user.sqlite*"):
        file.unlink()
    with closing(UserData(path)) as data:
        assert data.problem == ""


def test_unusable_replacement_is_reported_until_removed(path: Path) -> None:
    data = UserData(path)
    save(data, "mine")
    newer = path.with_name("newer.sqlite")
    with closing(apsw.Connection(str(newer))) as connection:
        connection.pragma("user_version", 99)
    newer.replace(path)
    for _ in range(2):
        with pytest.raises(IndexTooNew, match="newer version"):
            saved(data)
    path.unlink()
    assert "is missing" in data.problem
    assert saved(data) == set()
    assert "from the backup" in data.restore()
    assert saved(data) == {"mine"}
    data.close()


def test_file_deleted_during_a_write_is_not_reported_as_saved(path: Path) -> None:
    with closing(UserData(path)) as data:
        save(data, "one")

        def write() -> None:
            with data.writing() as connection:
                connection.execute("DELETE FROM saved_searches")
                path.unlink()

        with pytest.raises(IndexReadOnly, match="removed or replaced"):
            write()


def test_other_processes_follow_a_restored_file(path: Path) -> None:
    with closing(UserData(path)) as one, closing(UserData(path)) as other:
        save(one, "one")
        path.unlink()
        assert other.problem
        one.restore()
        assert saved(other) == {"one"}
        save(other, "two")
        assert saved(one) == {"one", "two"}


def test_restoring_a_sound_file_does_nothing(path: Path) -> None:
    with closing(UserData(path)) as data:
        save(data, "one")
        assert data.restore() == ""
        assert saved(data) == {"one"}


def test_log_of_the_lost_file_is_not_applied_to_the_backup(path: Path) -> None:
    with closing(UserData(path)) as data:
        save(data, "one")
        log = path.with_name("user.sqlite-wal").read_bytes()
        assert log
    path.unlink()
    path.with_name("user.sqlite-wal").write_bytes(log)
    with closing(UserData(path)) as data:
        data.restore()
        assert saved(data) == {"one"}
        assert data.problem == ""


def test_backups_are_made_daily_and_the_last_seven_stay(path: Path, passing: Callable[[float], None]) -> None:
    with closing(UserData(path)) as data:
        for day in range(10):
            save(data, f"day {day}")
            save(data, f"later on day {day}")
            names = sorted(path.parent.glob("*.backup-*"))
            assert len(names) == min(day + 1, 7)
            in_backup = _saved_in(names[-1])
            assert f"day {day}" in in_backup
            assert f"later on day {day}" not in in_backup, "a backup is made at most once an hour"
            passing(86_400)
    assert "later on day 9" in _saved_in(max(path.parent.glob("*.backup-*"))), "and when the file is closed"


def _saved_in(backup: Path) -> set[str]:
    with closing(apsw.Connection(str(backup))) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM saved_searches")}


def test_an_unusable_backup_is_passed_over_for_an_older_one(path: Path) -> None:
    with closing(UserData(path)) as data:
        save(data, "one")
    (good,) = path.parent.glob("*.backup-*")
    os.utime(good, (1, 1))
    assert good.read_bytes()[18:20] == b"\x01\x01", "opening a copy in WAL mode would need a log file next to it"
    path.with_name("user.sqlite.backup-2999-01-01").write_bytes(b"half a copy " * 500)
    with closing(apsw.Connection(str(path.with_name("user.sqlite.backup-2999-01-02")))) as other:
        other.execute("CREATE TABLE other (name)")
    path.write_bytes(b"")
    with closing(UserData(path)) as data:
        data.restore()
        assert saved(data) == {"one"}


def test_backups_from_a_wrong_clock_are_older_than_later_ones(path: Path, passing: Callable[[float], None]) -> None:
    with closing(UserData(path)) as data:
        passing(365 * 86_400)
        for day in range(8):
            save(data, f"wrong {day}")
            ahead = backups.time.time()
            os.utime(max(path.parent.glob("*.backup-*")), (ahead, ahead))
            passing(86_400)
    passing(-400 * 86_400)
    with closing(UserData(path)) as data:
        save(data, "right")
    path.write_bytes(b"")
    with closing(UserData(path)) as data:
        data.restore()
        assert "right" in saved(data)


def test_backups_before_migrations_are_limited(path: Path) -> None:
    newest = len(user_data.USER_MIGRATIONS)
    for count in range(1, newest + 1):
        with at_version(count), closing(UserData(path)) as data:
            data.add_sync(summary(count))
    before = {file.name for file in path.parent.glob("*.before-*")}
    assert before == {f"user.sqlite.before-{number}" for number in range(newest - 2, newest + 1)}


def test_files_next_to_the_data_are_private(path: Path) -> None:
    before = os.umask(0)
    try:
        with closing(UserData(path)) as data:
            save(data, "one")
            modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
            path.unlink()
            data.restore()
            save(data, "two")
            modes |= {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert {"user.sqlite", "user.sqlite-wal"} < set(modes)
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("read_only", [False, True])
def test_empty_file_is_reported_and_stays_empty(path: Path, read_only: bool) -> None:
    path.touch()
    with closing(UserData(path, read_only=read_only)) as data:
        assert "empty" in data.problem
        assert saved(data) == set()
    assert path.stat().st_size == 0
