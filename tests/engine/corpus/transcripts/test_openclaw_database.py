"""Sessions of OpenClaw in its database, and the files that it had before."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import zstandard

from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.parsers.openclaw_database import OPENCLAW_DATABASE
from engine.corpus.transcripts.registry import copied_sessions, session_folders
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.corpus.transcripts.transcript_reader import conversations
from engine.corpus.user_environment import Machine
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.session_rows import OPENCLAW, OPENCLAW_NEWER, check_read, marks_of, parts_of, read_rows, write_rows

MS = 1_788_300_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".openclaw" / "agents" / "main" / "agent" / "openclaw-agent.sqlite"


def window(session: str, key: str = "agent:main:main", created: int = MS, **more: Any) -> tuple[str, dict[str, Any]]:
    row = {"session_id": session, "session_key": key, "created_at": created, "updated_at": created}
    return "session_windows", {**row, **more}


def node(session: str, key: str = "agent:main:main", **more: Any) -> tuple[str, dict[str, Any]]:
    row = {"session_key": key, "current_session_id": session, "entry_json": "{}", "updated_at": MS}
    return "session_nodes", {**row, **more}


def spoken(text: str, role: str = "user", id: str = "", parent: str | None = None) -> str:
    message = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": MS + 1000}
    return json.dumps({"type": "message", "id": id or text, "parentId": parent, "message": message})


def head(session: str) -> str:
    return json.dumps({"type": "session", "version": 3, "id": session, "cwd": "/home/ada/boats"})


def event(session: str, number: int, line: str | None, **more: Any) -> tuple[str, dict[str, Any]]:
    row = {"session_id": session, "seq": number, "event_json": line, "created_at": MS + number}
    return "transcript_events", {**row, **more}


def events(session: str, *lines: str) -> list[tuple[str, dict[str, Any]]]:
    return [event(session, number, line) for number, line in enumerate(lines)]


def read(path: Path, key: str) -> Conversation:
    found = read_rows(OPENCLAW_DATABASE, path, key)
    check_read(found)
    assert found is not None
    return found


def texts(found: Conversation) -> list[str]:
    return [message.text for message in found.messages]


def test_rows_are_read_in_order_of_their_numbers(path: Path) -> None:
    lines = head("s1"), spoken("Why does it leak?"), spoken("A seam is open.", "assistant")
    rows = [window("s1"), node("s1", label="The hull"), *reversed(events("s1", *lines))]
    write_rows(path, OPENCLAW, rows)
    found = read(path, "s1")
    assert parts_of(found.messages) == [
        (1, "user", "text", "Why does it leak?", ""),
        (2, "assistant", "text", "A seam is open.", ""),
    ]
    metadata = found.metadata
    assert (metadata.id, metadata.title, metadata.project, metadata.parent) == ("s1", "The hull", "/home/ada/boats", "")


def test_compressed_rows_are_read(path: Path) -> None:
    packed = [event("s1", 1, None, event_zstd=zstandard.compress(spoken("Why?").encode())), event("s1", 2, None)]
    damaged = event("s1", 3, None, event_zstd=b"\x28\xb5\x2f\xfdno")
    write_rows(path, OPENCLAW + OPENCLAW_NEWER, [window("s1"), *events("s1", head("s1")), *packed, damaged])
    found = read(path, "s1")
    assert texts(found) == ["Why?"]
    assert sum(found.unknown.values()) == 2


def test_sub_agent_belongs_to_the_session_of_its_time(path: Path) -> None:
    rows = [
        window("old", created=MS),
        window("parent", created=MS + 10),
        window("later", created=MS + 30),
        window("child", "agent:main:subagent:1", MS + 20, spawned_by="agent:main:main"),
        *events("child", head("child"), spoken("Look for seams.")),
        *events("parent", head("parent"), spoken("Why?")),
    ]
    write_rows(path, OPENCLAW, rows)
    found = read(path, "child")
    assert found.metadata.parent == "parent"
    assert [(message.role, message.side) for message in found.messages] == [("user", True)]
    assert read(path, "parent").metadata.parent == ""


def test_internal_sessions_are_marked(path: Path) -> None:
    cron = "agent:main:cron:tides:run:1"
    rows = [
        window("run", cron),
        *events("run", head("run"), spoken("Check.")),
        window("own"),
        *events("own", spoken("Hi.")),
        window("part", "agent:main:subagent:2", spawned_by=cron),
        *events("part", spoken("Measure.")),
    ]
    write_rows(path, OPENCLAW, rows)
    assert [read(path, key).metadata.generated for key in ("run", "own", "part")] == [True, False, True]


def test_abandoned_branches_come_last(path: Path) -> None:
    lines = (
        head("s1"),
        spoken("Why?", id="a"),
        spoken("Rot.", "assistant", "b", "a"),
        spoken("Really?", id="c", parent="b"),
        spoken("A seam.", "assistant", "d", "a"),
    )
    write_rows(path, OPENCLAW, [window("s1"), *events("s1", *lines)])
    found = read(path, "s1")
    assert texts(found) == ["Why?", "A seam."]
    assert [message.text for message in found.abandoned] == ["Rot.", "Really?"]
    assert found.metadata.rewound == [(3, 4)]


def archive(session: str, data: bytes, created: int = MS) -> tuple[str, dict[str, Any]]:
    row = {"session_id": session, "generation": f"g{created}", "session_key": "agent:main:main", "reason": "reset"}
    named = {"archive_name": f"{session}.jsonl.reset.{created}.zst", "encoding": "zstd"}
    return "session_transcript_archives", {**row, **named, "archive_blob": data, "created_at": created}


@pytest.mark.parametrize("packed", [True, False])
def test_sessions_that_were_reset_are_read(path: Path, packed: bool) -> None:
    data = f"{head('s0')}\n{spoken('Is it dry?')}\n{spoken('Yes.', 'assistant')}\n".encode()
    older = f"{head('s0')}\n{spoken('Older.')}\n".encode()
    if packed:
        data, older = zstandard.compress(data[:100]) + zstandard.compress(data[100:]), zstandard.compress(older)
    rows = [archive("s0", older), archive("s0", data, MS + 5), window("s1"), *events("s1", spoken("New."))]
    write_rows(path, OPENCLAW + OPENCLAW_NEWER, rows)
    assert set(marks_of(OPENCLAW_DATABASE, path)) == {"s0", "s1"}
    found = read(path, "s0")
    assert texts(found) == ["Is it dry?", "Yes."]
    assert found.metadata.project == "/home/ada/boats"
    assert not found.unknown


def test_session_resumed_after_its_reset_counts_once(path: Path) -> None:
    write_rows(path, OPENCLAW + OPENCLAW_NEWER, [archive("s1", b"{}"), window("s1"), *events("s1", spoken("New."))])
    assert set(marks_of(OPENCLAW_DATABASE, path)) == {"s1"}
    assert texts(read(path, "s1")) == ["New."]


@pytest.mark.parametrize("stored", ["file", "sqlite"])
def test_sessions_in_cold_storage_are_read(path: Path, stored: str) -> None:
    lines = [
        {"kind": "header", "version": 1, "sessionId": "s0"},
        *(
            {"kind": "event", "row": {"seq": at, "event_json": line}}
            for at, line in enumerate((head("s0"), spoken("Hm.")))
        ),
    ]
    data = zstandard.compress("\n".join(map(json.dumps, lines)).encode())
    row = {"session_id": "s0", "archive_name": "abc.jsonl.zst", "archived_at": MS, "storage": stored}
    if stored == "file":
        cold = path.parent.parent / "sessions" / "cold"
        cold.mkdir(parents=True)
        (cold / "abc.jsonl.zst").write_bytes(data)
    else:
        row["archive_blob"] = data
    write_rows(path, OPENCLAW + OPENCLAW_NEWER, [window("s0"), ("session_transcript_cold_archives", row)])
    assert set(marks_of(OPENCLAW_DATABASE, path)) == {"s0"}
    assert texts(read(path, "s0")) == ["Hm."]


@pytest.mark.parametrize("data", [b"", b"\x28\xb5\x2f\xfdno", zstandard.compress(b"[1]\n\xff")[:-3]])
def test_damaged_archives_are_skipped(path: Path, data: bytes) -> None:
    cold = {"session_id": "s2", "archive_name": "../../../none", "archived_at": MS, "storage": "file"}
    rows = [
        archive("s0", data),
        ("session_transcript_cold_archives", cold),
        window("s1"),
        *events("s1", spoken("New.")),
    ]
    write_rows(path, OPENCLAW + OPENCLAW_NEWER, rows)
    assert [texts(read(path, key)) for key in ("s0", "s1", "s2")] == [[], ["New."], []]


def test_changed_sessions_have_other_marks(path: Path) -> None:
    write_rows(path, OPENCLAW, [window("s1"), node("s1"), *events("s1", spoken("Why?")), window("s2")])
    write_rows(path, "", events("s2", spoken("Other.")))
    before = marks_of(OPENCLAW_DATABASE, path)
    write_rows(path, "", [event("s1", 1, spoken("A seam.", "assistant"))])
    after = marks_of(OPENCLAW_DATABASE, path)
    assert before["s1"] != after["s1"]
    assert before["s2"] == after["s2"]


def copies(tmp_path: Path, files: Sequence[str]) -> set[str]:
    """Return the names of session files that the database contains too, after writing them."""
    sessions = tmp_path / ".openclaw" / "agents" / "main" / "sessions"
    sessions.mkdir(exist_ok=True)
    for name in files:
        (sessions / name).write_text(spoken("Why?"))
    folders = [folder for _, _, folder in session_folders(Machine(str(tmp_path), {}))]
    found = find_transcripts(Settings(sessions=SessionSettings(folders=tuple(folders)))).files
    return {Path(name).name for name in copied_sessions(found, set())}


LINES = f"{head('s0')}\n{spoken('Is it dry?' * 99)}\n".encode()


@pytest.mark.parametrize(
    ("data", "whole"),
    [
        (LINES, True),
        (zstandard.compress(LINES), True),
        (b"", False),
        (LINES[:-9], False),
        (b"\x28\xb5\x2f\xfdno", False),
        (zstandard.compress(LINES[:99]) + zstandard.compress(LINES[99:])[:-9], False),
    ],
)
def test_file_is_not_copy_of_damaged_archive(path: Path, tmp_path: Path, data: bytes, whole: bool) -> None:
    write_rows(path, OPENCLAW + OPENCLAW_NEWER, [archive("s0", data), window("s1"), *events("s1", spoken("New."))])
    reset = "s0.jsonl.reset.2026-09-02T10-00-00.000Z"
    assert copies(tmp_path, [reset, "s1.jsonl"]) == {"s1.jsonl", *([reset] if whole else [])}


def test_transcript_with_missing_archive_is_no_copy(path: Path, tmp_path: Path) -> None:
    row = {"session_id": "s2", "archive_name": "s2.jsonl.zst", "archived_at": MS, "storage": "file"}
    write_rows(path, OPENCLAW + OPENCLAW_NEWER, [("session_transcript_cold_archives", row)])
    assert copies(tmp_path, ["s2.jsonl"]) == set()
    cold = path.parent.parent / "sessions" / "cold"
    cold.mkdir()
    (cold / "s2.jsonl.zst").write_bytes(zstandard.compress(LINES))
    assert copies(tmp_path, []) == {"s2.jsonl"}


def test_files_in_the_database_are_left_out(path: Path, tmp_path: Path) -> None:
    write_rows(path, OPENCLAW, [window("s1"), *events("s1", spoken("Why?"))])
    sessions = path.parent.parent / "sessions"
    sessions.mkdir()
    for name in ("s1.jsonl", "s2.jsonl", "s1.jsonl.reset.2026-09-02T10-00-00.000Z"):
        (sessions / name).write_text(spoken("Why?"))
    folders = [Path(folder) for _, _, folder in session_folders(Machine(str(tmp_path), {})) if Path(folder).exists()]
    assert folders == [sessions, path]
    found = find_transcripts(Settings(sessions=SessionSettings(folders=tuple(map(str, folders))))).files
    assert "sessions/openclaw-main/openclaw-agent.sqlite" in {file.name for file in found}
    copies = copied_sessions(found, set())
    assert copies == {"sessions/main/s1.jsonl", "sessions/main/s1.jsonl.reset.2026-09-02T10-00-00.000Z"}
    path.write_bytes(path.read_bytes()[:100] + b"\0" * 8000)
    assert copied_sessions(found, copies) == copies
    assert copied_sessions(found, set()) == set()


@pytest.mark.parametrize("generation", ["", f".{'0a' * 16}"])
@pytest.mark.parametrize("packed", [False, True])
def test_files_of_reset_sessions_are_found_and_read(tmp_path: Path, generation: str, packed: bool) -> None:
    sessions = tmp_path / ".openclaw" / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True)
    name = f"s1.jsonl.reset.2026-09-02T10-00-00.000Z{generation}"
    (sessions / f"{name}{'.zst' * packed}").write_bytes(zstandard.compress(LINES) if packed else LINES)
    (sessions / "s1.jsonl.reset.2026-09-02T10-00-00.000Z.tmp").write_bytes(LINES)
    (found,) = find_transcripts(Settings(sessions=SessionSettings(folders=(str(sessions),)))).files
    assert found.name == f"sessions/main/{name}"
    (session,) = conversations(found.path)
    assert session.metadata.id
    assert [message.text for message in session.messages]


def test_a_fork_repeats_the_requests_of_its_original(path: Path) -> None:
    answer = {"role": "assistant", "model": "m", "content": "Yes.", "usage": {"input": 3, "output": 2}}
    line = {"type": "message", "id": "a1", "timestamp": "2026-09-02T10:00:00.000Z", "message": answer}
    rows = [row for key in ("s1", "s2") for row in (window(key), *events(key, json.dumps(line)))]
    write_rows(path, OPENCLAW, rows)
    first, second = conversations(path)
    assert first.requests == second.requests
    assert len(first.requests) == 1
