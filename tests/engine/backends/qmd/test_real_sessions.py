"""Sessions with the real `qmd`: exported with secrets masked, and found at their message."""

import json
from pathlib import Path

import pytest

from engine.base.errors import Unsupported
from engine.settings.backend_settings import QmdSessionSettings
from engine.settings.options import SessionSettings
from tests.helpers.peers import indexed

SECRET = "sk-ant-api03-" + "abcDEF123456" * 6


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "claude sessions"
    project = folder / "-home-ada-otter"
    project.mkdir(parents=True)
    lines = [
        ("user", "How shall we rehearse the evacuation?"),
        ("assistant", "With the tugboat at dawn.\n\n## Plan\n\nRing the bell twice."),
        ("user", f"My key is {SECRET}, do not lose it."),
    ]
    text = "".join(
        json.dumps(
            {
                "type": role,
                "uuid": f"u{number}",
                "sessionId": "5e551014-0000-4000-8000-000000000001",
                "timestamp": f"2026-02-0{number}T10:00:00Z",
                "cwd": "/home/ada/otter",
                "message": {"role": role, "content": text},
            }
        )
        + "\n"
        for number, (role, text) in enumerate(lines, 1)
    )
    (project / "5e551014-0000-4000-8000-000000000001.jsonl").write_text(text)
    return folder


def test_sessions_are_found_at_their_message(open_qmd, real, store, data, tmp_path):
    memory = open_qmd(real, sources=("memory", "sessions"), sessions=SessionSettings(folders=(str(store),)))
    memory.sync()
    (result,) = memory.search("bell", sources=["sessions"]).results
    assert result.source == "sessions"
    assert result.path.endswith("000000000001.jsonl")
    assert result.message is not None
    assert (result.message.ordinal, result.message.role) == (2, "assistant")
    assert (result.start_line, result.snippet_line, result.message.project) == (2, 2, "/home/ada/otter")
    (summary,) = memory.sessions()
    assert summary.path == result.path
    assert summary.agent == "claude-code"
    assert summary.messages == 3
    assert memory.read_session(summary.path).masked == 1
    assert SECRET not in "".join(indexed(data(), tmp_path).values())
    assert all(SECRET.encode() not in file.read_bytes() for file in data().rglob("*") if file.is_file())
    assert not memory.search("bell", session_key="agent:main:discord:group:1").results


def test_transcript_crash_keeps_notes_searchable(open_qmd, real, store, monkeypatch):
    def die(path, token):
        raise SystemExit(139)

    memory = open_qmd(real, sources=("memory", "sessions"), sessions=SessionSettings(folders=(str(store),)))
    with monkeypatch.context() as dying:
        dying.setattr("engine.corpus.transcripts.transcript_reader.conversations", die)
        with pytest.raises(SystemExit):
            memory.sync()
    assert memory.search("drip").results
    report = memory.sync()
    assert memory.search("bell", sources=["sessions"]).results
    assert report.files_indexed == 1


def test_added_and_removed_sessions_are_followed(open_qmd, real, store, data):
    memory = open_qmd(real, sources=("memory", "sessions"), sessions=SessionSettings(folders=(str(store),)))
    memory.sync()
    (file,) = (data() / "sessions").glob("*.md")
    before = file.stat().st_mtime_ns
    foreign = data() / "sessions" / "mine.md"
    foreign.write_text("The bell of someone else.\n")
    assert memory.sync().files_indexed == 1  # the foreign file
    assert file.stat().st_mtime_ns == before
    assert [result.source for result in memory.search("bell").results] == ["sessions"]
    next(store.rglob("*.jsonl")).unlink()
    memory.sync()
    assert not memory.search("tugboat").results
    assert not memory.sessions()
    assert not file.exists()
    assert foreign.exists()


def test_old_sessions_are_listed_and_not_searched(open_qmd, real, store, data):
    settings = QmdSessionSettings(retention_days=3)
    memory = open_qmd(
        real,
        sources=("memory", "sessions"),
        sessions=SessionSettings(folders=(str(store),)),
        qmd={"sessions": settings},
    )
    memory.sync()
    assert len(memory.sessions()) == 1
    assert not memory.search("bell").results
    assert not list((data() / "sessions").iterdir())


def test_sessions_switched_off_are_neither_found_nor_listed(open_qmd, real, store):
    settings = QmdSessionSettings(enabled=False)
    memory = open_qmd(
        real,
        sources=("memory", "sessions"),
        sessions=SessionSettings(folders=(str(store),)),
        qmd={"sessions": settings},
    )
    memory.sync()
    assert not memory.search("bell").results
    with pytest.raises(Unsupported, match=r"qmd\.sessions\.enabled"):
        memory.sessions()
    assert "sessions" in memory.status().unsupported
