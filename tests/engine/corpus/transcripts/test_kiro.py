"""Sessions of Kiro and its command line, in files and in a database, and of Amazon Q's."""

import contextlib
import itertools
import json
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import find_sources
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus.folder_walk import FoundFile
from engine.corpus.transcripts.formats import Conversation, LineFormat
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.kiro import KiroDatabase, KiroDocument, KiroEventFormat, KiroFormat
from engine.corpus.transcripts.registry import copied_sessions, resume_command
from engine.corpus.transcripts.tool_uses import uses_of
from engine.corpus.transcripts.transcript_reader import database_format, document_format, opened
from tests.helpers.exports import read as read_document
from tests.helpers.transcripts import (
    feed,
    fixture_lines,
    json_values,
    mangled,
    read_with_pauses,
    stored_after_every_line,
    without_calls,
)

SESSION = Path(__file__).parent / "fixtures" / "kiro" / "0c1d2e3f-0000-4000-8000-000000000007.jsonl"
LINES = fixture_lines(SESSION)
EVENTS = SESSION.parent.parent / "kiro_events" / "sess_0c1d2e3f-0000-4000-8000-000000000008" / "messages.jsonl"
EDITOR = SESSION.parent.parent / "kiro_editor" / "workspace-sessions"
DOCUMENT = EDITOR / "L2hvbWUvYWRhL2JvYXRz" / "0c1d2e3f-0000-4000-8000-000000000009.json"
EVENT_LINES = fixture_lines(EVENTS)
MS = 1_765_000_000_000
START = MS / 1000
HISTORY: list[dict[str, Any]] = [
    {
        "user": {
            "additional_context": "",
            "content": {"Prompt": {"prompt": "Why does the hull leak?"}},
            "timestamp": "2025-12-06T05:46:41+00:00",
            "images": [{"format": "png"}],
        },
        "assistant": {
            "ToolUse": {
                "message_id": "m1",
                "content": "Let me look.",
                "tool_uses": [{"id": "t1", "name": "fs_read", "args": {"path": "hull.py"}}],
            }
        },
        "request_metadata": {"stream_end_timestamp_ms": MS + 2000},
    },
    {
        "user": {
            "content": {"ToolUseResults": {"tool_use_results": [{"tool_use_id": "t1", "content": [{"Text": "seam"}]}]}}
        },
        "assistant": {"Response": {"message_id": "m2", "content": "A seam is open."}},
    },
    {
        "user": {
            "content": {
                "CancelledToolUses": {
                    "prompt": "Stop",
                    "tool_use_results": [{"tool_use_id": "t9", "content": [{"Json": {"error": "cancelled"}}]}],
                },
                "Hologram": {},
            }
        },
        "assistant": {"Hologram": {}},
    },
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".local" / "share" / "kiro-cli" / "data.sqlite3"


@pytest.fixture
def writer(path: Path) -> Iterator[sqlite3.Connection]:
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript("""
        CREATE TABLE migrations (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, migration_time INTEGER NOT NULL);
        CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);
        CREATE TABLE conversations_v2 (key TEXT NOT NULL, conversation_id TEXT NOT NULL, value TEXT NOT NULL,
            created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (key, conversation_id));
    """)
    yield connection
    connection.close()


def put(writer: sqlite3.Connection, id: str, value: object, *, updated: int = MS) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    row = ("/home/ada/boats", id, text, MS, updated)
    writer.execute("INSERT OR REPLACE INTO conversations_v2 VALUES (?, ?, ?, ?, ?)", row)


def read(path: Path, key: str) -> Conversation | None:
    with KiroDatabase().opened(str(path)) as sessions:
        return sessions.conversation(key)


def marks(path: Path) -> dict[str, str]:
    with KiroDatabase().opened(str(path)) as sessions:
        return dict(sessions.marks())


def test_session_lines_become_messages(path: Path, writer: sqlite3.Connection) -> None:
    put(writer, "c1", {"conversation_id": "c1", "history": HISTORY})
    conversation = read(path, "c1")
    assert conversation is not None
    assert without_calls(conversation.messages) == (
        Message("user", "text", "Why does the hull leak?\n[image]", 1, 1, "", START + 1),
        Message("assistant", "text", "Let me look.", 2, 2, "", START + 2),
        Message("assistant", "tool-call", "hull.py", 2, 2, "", START + 2, "fs_read"),
        Message("tool", "tool-result", "seam", 3, 3, tool="fs_read"),
        Message("assistant", "text", "A seam is open.", 4, 4),
        Message("user", "text", "Stop", 5, 5),
        Message("tool", "tool-result", "cancelled", 5, 5),
    )
    metadata = conversation.metadata
    assert (metadata.agent, metadata.id, metadata.project) == ("kiro", "c1", "/home/ada/boats")
    assert (metadata.started, metadata.ended) == (START, START + 2)
    assert conversation.unknown == {"Hologram": 2}


def test_older_table_counts_if_newer_misses_session(path: Path, writer: sqlite3.Connection) -> None:
    put(writer, "c1", {"history": HISTORY[:1]})
    for key, id in (("/home/ada/boats", "c1"), ("/home/ada/rafts", "c2"), ("/x", None)):
        value = json.dumps({"conversation_id": id, "history": HISTORY[1:2]})
        writer.execute("INSERT INTO conversations VALUES (?, ?)", (key, value))
    writer.execute("INSERT INTO conversations VALUES ('/broken', '{')")
    assert list(marks(path)) == ["c1", "c2"]
    first, second = read(path, "c1"), read(path, "c2")
    assert first is not None
    assert second is not None
    assert (len(first.messages), len(second.messages), second.metadata.project) == (3, 2, "/home/ada/rafts")
    with KiroDatabase().opened(str(path)) as sessions:
        assert sessions.keys() == {"c1", "c2"}
        assert sessions.conversation("c3") is None


def test_long_session_is_read_like_a_short_one(path: Path, writer: sqlite3.Connection) -> None:
    put(writer, "c1", {"conversation_id": "c1", "history": HISTORY})
    put(writer, "c2", {"padding": "x" * 300_000, "history": HISTORY, "more": [HISTORY]})
    short, long = read(path, "c1"), read(path, "c2")
    assert short is not None
    assert long is not None
    assert (long.messages, long.unknown) == (short.messages, short.unknown)


def test_too_many_entries_are_cut_and_counted(path: Path, writer: sqlite3.Connection) -> None:
    put(writer, "c1", {"history": [*HISTORY[:1], *({} for _ in range(100_001)), *HISTORY[:1]]})
    conversation = read(path, "c1")
    assert conversation is not None
    assert len(conversation.messages) == 3
    assert conversation.unknown == {"entry of a session that is too long": 1}


def test_truncated_session_yields_its_beginning(path: Path, writer: sqlite3.Connection) -> None:
    text = json.dumps({"history": [*HISTORY[:2], {"padding": "x" * 300_000}]})
    put(writer, "c1", text[:-10])
    conversation = read(path, "c1")
    assert conversation is not None
    assert len(conversation.messages) == 5
    assert conversation.unknown == {"no JSON": 1}


def test_session_deleted_after_listing_is_none(path: Path, writer: sqlite3.Connection) -> None:
    put(writer, "c1", {"history": HISTORY})
    with KiroDatabase().opened(str(path)) as sessions:
        assert list(sessions.marks()) == ["c1"]
        writer.execute("DELETE FROM conversations_v2")
        assert sessions.conversation("c1") is None


def test_marks_change_with_their_conversation(path: Path, writer: sqlite3.Connection) -> None:
    put(writer, "c1", {"history": HISTORY[:1]})
    put(writer, "c2", {"history": HISTORY[:1]}, updated=MS - 1)
    before = marks(path)
    assert list(before) == ["c1", "c2"]
    put(writer, "c2", {"history": HISTORY[:2]}, updated=MS + 1)
    after = marks(path)
    assert list(after) == ["c2", "c1"]
    assert (after["c2"] != before["c2"], after["c1"]) == (True, before["c1"])


def test_only_its_database_is_recognised(path: Path, writer: sqlite3.Connection) -> None:
    put(writer, "c1", {"history": HISTORY})
    with opened(path) as (source, _):
        known = database_format(source, str(path))
    assert known is not None
    assert known.agent == "kiro"


@pytest.mark.parametrize("folder", ["Library/Application Support/kiro-cli", "AppData/Local/amazon-q"])
def test_database_is_found(tmp_path: Path, path: Path, writer: sqlite3.Connection, folder: str) -> None:
    put(writer, "c1", {"history": HISTORY})
    writer.close()
    (tmp_path / folder).mkdir(parents=True)
    path.rename(tmp_path / folder / path.name)
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.path, source.files) == ("kiro", str(tmp_path / folder / path.name), 1)


def test_reading_stops_when_cancelled(path: Path, writer: sqlite3.Connection) -> None:
    put(writer, "c1", {"history": HISTORY})
    cancel = CancelToken()
    cancel.cancel()
    with KiroDatabase().opened(str(path), cancel) as sessions, pytest.raises(Cancelled):
        sessions.marks()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=mangled([{"history": HISTORY}]) | json_values)
def test_database_with_any_values_is_read(path: Path, writer: sqlite3.Connection, value: object) -> None:
    put(writer, "c1", json.dumps(value))
    conversation = read(path, "c1")
    for message in conversation.messages if conversation else ():
        assert message.line == message.ordinal
        message.text.encode()
    marks(path)


def test_session_file_is_read() -> None:
    parser = KiroFormat().parser(str(SESSION))
    sent = 1784869360.0
    assert without_calls(feed(parser, LINES)) == [
        Message("user", "text", "Why does the hull leak?\n[image]", 1, 1, "m1", sent),
        Message("assistant", "thinking", "Look at the hull.", 2, 2, "m2"),
        Message("assistant", "text", "Let me look.", 2, 2, "m2"),
        Message("assistant", "tool-call", "cat hull.py", 2, 2, "m2", tool="shell"),
        Message("tool", "tool-result", "seam\nend", 3, 3, "m3", tool="shell"),
        Message("assistant", "text", "A seam is open.", 4, 4, "m4"),
    ]
    metadata = parser.metadata
    assert (metadata.id, metadata.title, metadata.project) == (SESSION.stem, "A leaking hull", "/home/ada/boats")
    assert (metadata.started, metadata.parent) == (sent, "")
    assert parser.unknown == {"block hologram": 1, "Hologram": 1}


def test_description_with_a_long_request_names_the_model(tmp_path: Path) -> None:
    request = {"conversation_metadata": {"last_request": {"system_prompt": "x" * 300_000}}}
    state = {**request, "rts_model_state": {"model_info": {"model_id": "m-1"}}}
    described = {"cwd": "/home/ada/boats", "title": "A leaking hull", "session_state": state}
    (tmp_path / "s.json").write_text(json.dumps(described))
    metadata = KiroFormat().parser(str(tmp_path / "s.jsonl")).metadata
    assert (metadata.title, metadata.project, list(metadata.usage)) == ("A leaking hull", "/home/ada/boats", ["m-1"])


def test_folder_of_files_is_found(tmp_path: Path) -> None:
    folder = tmp_path / ".kiro" / "sessions"
    shutil.copytree(EVENTS.parent, folder / "9f3c1d0b7a4e2856" / EVENTS.parent.name)
    for part in ("snapshots", "sub-executions"):
        shutil.copytree(SESSION.parent, folder / "9f3c1d0b7a4e2856" / EVENTS.parent.name / part)
    shutil.copytree(SESSION.parent, folder / "cli")
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.path, source.files) == ("kiro", str(folder), 2)


@pytest.mark.parametrize(("format", "lines"), [(KiroFormat(), LINES), (KiroEventFormat(), EVENT_LINES)])
def test_reading_lines_resumes(format: LineFormat, lines: list[tuple[int, Mapping[str, Any]]]) -> None:
    read_with_pauses(format, "s.jsonl", lines)


@given(st.lists(mangled([value for _, value in LINES])))
def test_any_line_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    stored_after_every_line(KiroFormat(), values)


@given(st.lists(mangled([value for _, value in EVENT_LINES])))
def test_any_event_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    stored_after_every_line(KiroEventFormat(), values)


def test_time_next_to_the_message_counts() -> None:
    parser = KiroFormat().parser("s.jsonl")
    prompt = {"content": [{"kind": "text", "data": "Caulk it."}]}
    (message,) = parser.feed({"kind": "Prompt", "timestamp": "2026-09-03T10:00:00Z", "data": prompt}, 1)
    assert message.time == 1788429600.0


def test_event_file_is_read() -> None:
    parser = KiroEventFormat().parser(str(EVENTS))
    start = 1788429600.0
    messages = [(one.role, one.kind, one.text, one.line, one.tool) for one in feed(parser, EVENT_LINES)]
    assert messages == [
        ("user", "text", "Why does the hull leak?\n[image: PNG, 1 KB]\n[file: hull.md]", 2, ""),
        ("assistant", "thinking", "Look at the hull.", 4, ""),
        ("assistant", "text", "Let me look.", 5, ""),
        ("assistant", "tool-call", "cat hull.py", 6, "execute_pwsh"),
        ("tool", "tool-result", "seam", 10, "execute_pwsh"),
        ("assistant", "tool-call", "Review the seam.", 11, "reviewer"),
        ("tool", "tool-result", "It is open.", 12, "reviewer"),
        (
            "assistant",
            "tool-call",
            '{\n  "path": "src/hull.py",\n  "oldStr": "a",\n  "newStr": "b"\n}',
            13,
            "str_replace",
        ),
        ("tool", "tool-result", "done", 14, "str_replace"),
        ("system", "text", "The hull was inspected.", 16, ""),
        ("assistant", "text", "A seam was open.", 17, ""),
        ("user", "text", "Caulk it.", 20, ""),
        ("assistant", "text", "Caulked.", 21, ""),
    ]
    metadata = parser.metadata
    assert (metadata.id, metadata.title, metadata.project) == (EVENTS.parent.name, "A leaking hull", "/home/ada/boats")
    assert (metadata.started, metadata.ended, metadata.parent) == (start - 1, start + 20, "")
    assert parser.unknown == {"assistant Hum": 1, "hologram": 1}


def test_commands_and_files_of_events_are_found() -> None:
    messages = feed(KiroEventFormat().parser(str(EVENTS)), EVENT_LINES)
    assert [use for message in messages for use in uses_of(message)] == [
        ("read", "hull.py"),
        ("command", "cat hull.py"),
        ("edited", "src/hull.py"),
    ]


@pytest.mark.parametrize(
    ("described", "metadata"),
    [
        ({"title": "New Session", "parentSessionId": "sess_a"}, ("", "sess_a")),
        ({"title": "Hull", "parentSessionId": "sess_a", "createdReason": "tangent"}, ("Hull", "")),
        ("hologram", ("", "")),
    ],
)
def test_description_names_session_and_caller(tmp_path: Path, described: object, metadata: tuple[str, str]) -> None:
    (tmp_path / "session.json").write_text(json.dumps(described))
    parsed = KiroEventFormat().parser(str(tmp_path / "messages.jsonl")).metadata
    assert (parsed.id, parsed.title, parsed.parent) == (tmp_path.name, *metadata)


def test_answers_of_kiros_editor_are_read_from_executions() -> None:
    (conversation,) = read_document(KiroDocument(), DOCUMENT)
    changed = {"file": "src/hull.py", "originalContent": "seam = None", "modifiedContent": "seam = 1"}
    edit = json.dumps(changed, indent=2)
    files = json.dumps({"files": [{"path": "src/hull.py", "range": {"startLine": 0}}]}, indent=2)
    assert conversation.messages == (
        Message("user", "text", "Why does the hull leak?\n[image: PNG, 1 KB]", 1, 1, "m1", START + 1),
        Message("assistant", "text", "Let me look.", 2, 2, "m2", START + 1),
        Message("assistant", "tool-call", files, 2, 2, "m2", START + 1, "readFiles"),
        Message("assistant", "tool-call", "pytest -q", 2, 2, "m2", START + 1, "runCommand"),
        Message("tool", "tool-result", "1 failed", 2, 2, "m2", START + 1, "runCommand"),
        Message("assistant", "tool-call", edit, 2, 2, "m2", START + 1, "replace"),
        Message("assistant", "tool-call", "Kiel", 2, 2, "m2", START + 1, "tide_table"),
        Message("tool", "tool-result", "12:40", 2, 2, "m2", START + 1, "tide_table"),
        Message("assistant", "tool-call", "Check", 2, 2, "m2", START + 1, "specAgent"),
        Message("assistant", "text", "Checked.", 2, 2, "m2", START + 1),
        Message("assistant", "tool-call", "again", 2, 2, "m2", START + 1, "specAgent"),
        Message("assistant", "text", "A seam is open.", 2, 2, "m2", START + 1),
        Message("user", "text", "Write it down.", 3, 3, "m3"),
        Message("assistant", "text", "On it.", 4, 4, "m4"),
        Message("user", "text", "And now?", 5, 5, "m5"),
        Message("assistant", "text", "Sail.\n\nHome.", 6, 6, "m6"),
    )
    metadata = conversation.metadata
    assert (metadata.id, metadata.title, metadata.project) == (
        f"sess_{DOCUMENT.stem}",
        "A leaking hull",
        "/home/ada/boats",
    )
    assert (metadata.started, conversation.unknown) == (START, {"role oracle": 1})
    uses = [(use.kind, use.value) for message in conversation.messages for use in uses_of(message)]
    assert uses == [("read", "src/hull.py"), ("command", "pytest -q"), ("edited", "src/hull.py")]


def test_editors_session_without_executions_is_read(tmp_path: Path) -> None:
    path = tmp_path / "workspace-sessions" / DOCUMENT.parent.name / DOCUMENT.name
    shutil.copytree(DOCUMENT.parent, path.parent)
    (conversation,) = read_document(KiroDocument(), path)
    assert [message.text for message in conversation.messages if message.role == "assistant"] == [
        "On it.",
        "On it.",
        "Sail.\n\nHome.",
    ]


def test_damaged_execution_is_counted(tmp_path: Path) -> None:
    shutil.copytree(EDITOR.parent, tmp_path / "storage")
    for execution in (tmp_path / "storage").glob("*/414*/71*"):
        execution.write_text(execution.read_text()[:1200])
    (conversation,) = read_document(KiroDocument(), tmp_path / "storage" / DOCUMENT.relative_to(EDITOR.parent))
    assert conversation.unknown == {"role oracle": 1, "execution that can't be read": 1}
    assert "Let me look." in [message.text for message in conversation.messages]


def test_chain_of_executions_is_cut_and_counted(tmp_path: Path) -> None:
    shutil.copytree(EDITOR.parent, tmp_path / "storage")
    path = tmp_path / "storage" / DOCUMENT.relative_to(EDITOR.parent)
    first = next(entry["executionId"] for entry in json.loads(path.read_text())["history"] if "executionId" in entry)
    (folder,) = (tmp_path / "storage").glob("*/414*")
    names = [first, *(f"e{number}" for number in range(1500))]
    for name, started in itertools.pairwise(names):
        action = {"actionType": "run", "output": {"output": started, "executionId": started}}
        (folder / f"0{name}").write_text(json.dumps({"executionId": name, "actions": [action]}))
    for old in folder.glob("[!0]*"):
        old.unlink()
    (conversation,) = read_document(KiroDocument(), path)
    assert conversation.unknown["execution within too many others"] == 1
    assert [message.text for message in conversation.messages if message.text == "e48"] == ["e48"]


def test_editors_earlier_sessions_are_found(tmp_path: Path) -> None:
    storage = tmp_path / ".config" / "Kiro" / "User" / "globalStorage" / "kiro.kiroagent"
    shutil.copytree(EDITOR.parent, storage)
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.files) == ("kiro", 1)
    assert resume_command("kiro", f"sess_{DOCUMENT.stem}") == ""


def test_sessions_copied_by_version_1_are_left_out() -> None:
    copied = "/k/.kiro/sessions/0a1b/sess_0c1d2e3f-0000-4000-8000-000000000009/messages.jsonl"
    files = [FoundFile(path, path, "sessions", 1, 1) for path in (str(DOCUMENT), copied)]
    assert copied_sessions(files, set()) == {str(DOCUMENT)}
    assert copied_sessions(files[:1], set()) == set()


def test_editors_document_is_recognised_as_its() -> None:
    with opened(DOCUMENT) as (source, _):
        known = document_format(source, str(DOCUMENT))
    assert isinstance(known, KiroDocument)
    assert not KiroDocument().matches(str(SESSION), DOCUMENT.read_bytes())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=mangled([json.loads(DOCUMENT.read_text())]) | json_values, actions=json_values)
def test_any_document_is_read_or_refused(tmp_path: Path, value: object, actions: object) -> None:
    shutil.copytree(EDITOR.parent, tmp_path, dirs_exist_ok=True)
    next(tmp_path.glob("*/414*/c3*")).write_text(json.dumps({"executionId": "e1", "actions": actions}))
    path = tmp_path / DOCUMENT.relative_to(EDITOR.parent)
    path.write_text(json.dumps(value))
    with contextlib.suppress(ValueError):
        read_document(KiroDocument(), path)
