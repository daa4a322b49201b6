"""Stored batch jobs survive a restart, and nothing else does."""

from pathlib import Path

import apsw
import msgspec
import pytest

from engine.store.batch_jobs import BatchJobs, StoredJob
from engine.store.stored_models import ModelName
from engine.store.user_data import UserData
from tests.helpers.fake_records import make_summary
from tests.helpers.older_user_data import at_version

MODEL = ModelName("openai", "small", "key")
JOB = StoredJob("n1", MODEL, 5.0, 1, 3)
TEXTS = {b"a": 1, b"b": 2, b"c": 3}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "user.sqlite"


def test_job_is_unchanged_after_restart(path):
    user = UserData(path)
    jobs = BatchJobs(user)
    jobs.begin(JOB, TEXTS)
    known = msgspec.structs.replace(
        JOB, input_file="file-1", id="batch-1", state="validating", stopped=9.0, created=6.0
    )
    jobs.update(known)
    jobs.mark_delivered("n1", [b"b", b"of no job"])
    user.close()
    user = UserData(path)
    jobs = BatchJobs(user)
    assert jobs.open() == (known,)
    assert jobs.texts("n1") == {b"a": 1, b"c": 3}
    jobs.end("n1")
    assert (jobs.open(), jobs.texts("n1")) == ((), {})
    user.close()


def test_retry_replaces_its_job_in_one_step(path, monkeypatch):
    user = UserData(path)
    jobs = BatchJobs(user)
    jobs.begin(JOB, TEXTS)
    second = msgspec.structs.replace(JOB, name="n2", attempt=2, created=7.0, texts=1)
    with pytest.raises(apsw.ConstraintError):  # the same name again: all of it is undone
        jobs.begin(msgspec.structs.replace(second, name="n1"), {b"a": 1}, instead_of="n0")
    assert jobs.open() == (JOB,)
    jobs.begin(second, {b"a": 1}, instead_of="n1")
    assert jobs.open() == (second,)
    assert (jobs.texts("n1"), jobs.texts("n2")) == ({}, {b"a": 1})
    user.close()


def test_jobs_come_oldest_first(path):
    user = UserData(path)
    jobs = BatchJobs(user)
    jobs.begin(msgspec.structs.replace(JOB, name="late", created=9.0), {})
    jobs.begin(msgspec.structs.replace(JOB, name="early", created=1.0), {})
    assert [job.name for job in jobs.open()] == ["early", "late"]
    user.close()


def test_no_job_starts_if_nothing_can_be_written(path):
    user = UserData(path, read_only=True)
    assert not BatchJobs(user).usable
    assert BatchJobs(user).open() == ()
    user.close()


def test_older_data_preserved(path):
    with at_version(2):
        user = UserData(path)
        user.add_sync(make_summary(files_indexed=77))
        user.close()
    user = UserData(path)
    assert [sync.files_indexed for sync in user.recent_syncs(9)] == [77]
    BatchJobs(user).begin(JOB, TEXTS)
    assert BatchJobs(user).open() == (JOB,)
    user.close()
