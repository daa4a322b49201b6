"""Growth of transcripts that is, and is not, enough to sync immediately."""

import os
from pathlib import Path

import pytest

from engine.corpus.transcripts.session_stores import Store
from engine.indexing.folder_watch import SessionGrowth
from engine.settings.options import SessionDeltaSettings
from tests.helpers.invented_agent import declare, write_task

NAME = "sessions/main/a.jsonl"


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * 9 + b"\n")
    return path


def due(path: Path, indexed: dict[str, int], *, bytes: int = 100, messages: int = 5) -> bool:
    limits = SessionDeltaSettings(delta_bytes=bytes, delta_messages=messages)
    deltas = SessionGrowth([Store("sessions/main", str(path.parent))], limits, lambda: indexed)
    return deltas.needs_sync([str(path)])


def test_little_growth_waits_for_the_next_sync(transcript: Path) -> None:
    transcript.write_bytes(transcript.read_bytes() + b"y" * 50 + b"\n" * 4)
    assert not due(transcript, {NAME: 10})


def test_enough_new_bytes_or_lines_make_a_session_due(transcript: Path) -> None:
    transcript.write_bytes(b"x" * 10 + b"y" * 100)
    assert due(transcript, {NAME: 10})
    transcript.write_bytes(b"x" * 10 + b"\n" * 5)
    assert due(transcript, {NAME: 10})


def test_lines_before_the_growth_do_not_count(transcript: Path) -> None:
    transcript.write_bytes(b"\n" * 50 + b"y")
    assert not due(transcript, {NAME: 50})


def test_first_lines_of_a_session_make_it_due_once(transcript: Path) -> None:
    transcript.write_bytes(b"{}\n")
    limits = SessionDeltaSettings(delta_bytes=100, delta_messages=5)
    growth = SessionGrowth([Store("sessions/main", str(transcript.parent))], limits, dict)
    assert [growth.needs_sync([str(transcript)]) for _ in range(3)] == [True, False, False]


def test_a_shrunken_transcript_counts_from_its_beginning(transcript: Path) -> None:
    transcript.write_bytes(b"\n" * 5)
    assert due(transcript, {NAME: 90})
    transcript.write_bytes(b"\n" * 4)
    assert not due(transcript, {NAME: 90})


def test_emptied_transcript_is_due_and_new_empty_one_is_not(transcript: Path) -> None:
    transcript.write_bytes(b"")
    assert due(transcript, {NAME: 10})
    assert not due(transcript, {NAME: 0})
    assert not due(transcript, {})


def test_without_a_limit_any_growth_makes_a_session_due(transcript: Path) -> None:
    assert due(transcript, {NAME: 9}, bytes=100, messages=0)
    assert due(transcript, {NAME: 9}, bytes=0, messages=5)
    assert not due(transcript, {NAME: 10}, bytes=0, messages=0)


def test_deleted_transcript_is_listed_for_removal(transcript: Path) -> None:
    transcript.unlink()
    assert due(transcript, {NAME: 10})
    assert not due(transcript, {})


def test_other_files_do_not_count(tmp_path: Path) -> None:
    other = tmp_path / "a.lock"
    other.write_bytes(b"\n" * 500)
    assert not due(other, {})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipe_named_like_transcript_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    assert not due(tmp_path / "a.jsonl", {})


def test_any_change_to_a_database_or_its_wal_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(b"x")
    wal = tmp_path / "opencode.db-wal"
    wal.write_bytes(b"y")
    indexed = {"sessions/main/opencode.db": 2}  # as many bytes as there are: it is changed in place
    assert due(path, indexed)
    assert due(wal, indexed)
    assert not due(tmp_path / "gone.db-wal", indexed)
    path.unlink()
    assert due(path, indexed)


def test_recompressed_transcript_examined(tmp_path: Path) -> None:
    indexed = {"sessions/main/rollout-1.jsonl": 900}
    packed = tmp_path / "rollout-1.jsonl.zst"
    packed.write_bytes(b"x" * 9)
    assert due(packed, indexed)
    assert due(packed, {})
    assert not due(packed, {"sessions/main/rollout-1.jsonl": 9})
    packed.rename(tmp_path / "other.zst")
    assert due(packed, indexed)
    assert not due(tmp_path / "other.zst", {})


def test_change_of_a_neighbouring_file_updates_transcript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    title = write_task(tmp_path) / "t-1" / "title.json"
    assert not due(title, {})
    declare(monkeypatch)
    assert due(title, {})
    (title.parent / "task.md").unlink()
    assert not due(title, {})
