"""Cursor's chats in its database."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from engine import find_sources
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.cursor_database import CursorDatabase
from engine.corpus.transcripts.registry import copied_sessions, is_database, may_be_transcript
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.corpus.transcripts.transcript_reader import database_format, opened
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.cursor_database import CursorWriter
from tests.helpers.transcripts import json_values, mangled, read_session

CHAT = "3f2e1d00-0000-4000-8000-000000000001"
MS = 1_765_000_000_000
START = MS / 1000
METADATA: dict[str, Any] = {
    "name": "A leaking hull",
    "createdAt": MS,
    "lastUpdatedAt": MS + 9000,
    "createdOnBranch": "repair",
    "workspaceIdentifier": {"id": "a1", "uri": {"fsPath": "/home/ada/boats", "path": "/home/ada/boats"}},
}
BUBBLES: list[tuple[str, dict[str, Any]]] = [
    (
        "b1",
        {"type": 1, "bubbleId": "b1", "text": "Why does it leak?", "images": [{"uuid": "x"}], "createdAt": MS + 1000},
    ),
    ("b2", {"type": 2, "bubbleId": "b2", "text": "", "thinking": {"text": "Look at the hull."}}),
    (
        "b3",
        {
            "type": 2,
            "bubbleId": "b3",
            "text": "Let me look.",
            "createdAt": "2025-12-06T05:46:43.000Z",
            "toolFormerData": {
                "name": "run_terminal_cmd",
                "rawArgs": '{"command": "ls"}',
                "params": '{"command": "ls", "cwd": ""}',
                "result": '{"output": "hull.md", "exitCodeV2": 0}',
            },
        },
    ),
    ("b4", {"type": 2, "toolFormerData": {"name": "read_file", "params": {"path": "x.md"}, "error": "not there"}}),
    ("b5", {"type": 2, "text": "Hmm.", "isThought": True, "timingInfo": {"clientRpcSendTime": MS + 8000}}),
    ("b6", {"type": 7, "text": "?"}),
    ("b7", {"type": 2, "text": ""}),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".config" / "Cursor" / "User" / "globalStorage" / "state.vscdb"


@pytest.fixture
def writer(path: Path) -> Iterator[CursorWriter]:
    opened = CursorWriter(path)
    yield opened
    opened.close()


def read(path: Path, key: str = CHAT) -> Conversation | None:
    with CursorDatabase().opened(str(path)) as sessions:
        return sessions.conversation(key)


def marks(path: Path) -> dict[str, str]:
    with CursorDatabase().opened(str(path)) as sessions:
        return dict(sessions.marks())


def test_chat_is_read(path: Path, writer: CursorWriter) -> None:
    writer.chat(CHAT, [*BUBBLES, ("gone", None)], **METADATA)
    conversation = read(path)
    assert conversation is not None
    assert conversation.messages == (
        Message("user", "text", "Why does it leak?\n[image]", 1, 1, "b1", START + 1),
        Message("assistant", "thinking", "Look at the hull.", 2, 2, "b2"),
        Message("assistant", "text", "Let me look.", 3, 3, "b3", START + 3),
        Message("assistant", "tool-call", "ls", 3, 3, "b3", START + 3, "run_terminal_cmd"),
        Message("tool", "tool-result", "hull.md", 3, 3, "b3", START + 3, "run_terminal_cmd"),
        Message("assistant", "tool-call", "x.md", 4, 4, tool="read_file"),
        Message("tool", "tool-result", "not there", 4, 4, tool="read_file"),
        Message("assistant", "thinking", "Hmm.", 5, 5, "", START + 8),
    )
    metadata = conversation.metadata
    assert (metadata.agent, metadata.id, metadata.title, metadata.branch) == (
        "cursor",
        CHAT,
        "A leaking hull",
        "repair",
    )
    assert (metadata.project, metadata.started, metadata.ended) == ("/home/ada/boats", START, START + 8)
    assert conversation.unknown == {"type 7": 1, "missing message": 1}


def test_older_chats_hold_their_messages(path: Path, writer: CursorWriter) -> None:
    inside = [{**bubble, "workspaceUris": ["file:///home/ada/my%20boats"]} for _, bubble in BUBBLES[:2]]
    writer.put("composerData:list", {"conversation": inside, "lastUpdatedAt": MS})
    writer.put("composerData:map", {"conversationMap": {bubble["bubbleId"]: bubble for bubble in inside}})
    for key in ("list", "map"):
        conversation = read(path, key)
        assert conversation is not None
        assert [message.text for message in conversation.messages] == [
            "Why does it leak?\n[image]",
            "Look at the hull.",
        ]
        assert conversation.metadata.project == "/home/ada/my boats"
    assert marks(path).keys() == {"list", "map"}


def test_chats_of_sub_agents_name_their_parent(path: Path, writer: CursorWriter) -> None:
    writer.chat(CHAT, BUBBLES, subagentInfo={"parentComposerId": "parent"})
    conversation = read(path)
    assert conversation is not None
    assert conversation.metadata.parent == "parent"
    assert all(message.side for message in conversation.messages)


def test_changed_chat_has_another_mark_and_draft_none(path: Path, writer: CursorWriter) -> None:
    writer.put("composerData:draft", {"text": "not sent"})
    writer.chat("one", BUBBLES[:1])
    writer.chat("two", BUBBLES[:1])
    before = marks(path)
    assert list(before) == ["two", "one"]

    writer.put("bubbleId:one:b1", {**BUBBLES[0][1], "text": "Why does it sink?"})
    after = marks(path)
    assert (after["one"] != before["one"], after["two"]) == (True, before["two"])

    writer.chat("two", BUBBLES[:2])
    assert marks(path)["two"] != before["two"]
    with CursorDatabase().opened(str(path)) as sessions:
        assert sessions.keys() == {"one", "two"}
        assert sessions.conversation("three") is None


def test_damaged_row_is_skipped_and_others_are_read(path: Path, writer: CursorWriter) -> None:
    writer.chat(CHAT, [("b0", b'{"type": 1, "text": "\xff"}'), ("bx", "{"), *BUBBLES[:1]])
    writer.put("composerData:broken", '{"bubbleId"')
    conversation = read(path)
    assert conversation is not None
    assert [message.text for message in conversation.messages] == ["\ufffd", "Why does it leak?\n[image]"]
    assert conversation.unknown == {"missing message": 1}
    assert read(path, "broken") is None


def test_only_its_database_is_recognised(path: Path, writer: CursorWriter, tmp_path: Path) -> None:
    writer.chat(CHAT, BUBBLES)
    with opened(path) as (source, _):
        known = database_format(source, str(path))
    assert known is not None
    assert known.agent == "cursor"
    session = read_session(path, CHAT)
    assert session is not None
    assert session.metadata.id == CHAT

    other = tmp_path / "state.vscdb"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE ItemTable (key TEXT, value BLOB)")
    connection.close()
    with opened(other) as (source, _):
        assert database_format(source, str(other)) is None


def test_databases_of_single_windows_are_not_listed() -> None:
    assert may_be_transcript("/x/globalStorage/state.vscdb")
    assert is_database("/x/globalStorage/state.vscdb")
    assert not may_be_transcript("/x/workspaceStorage/a1/state.vscdb")
    assert not is_database("/x/workspaceStorage/a1/state.vscdb")


def test_transcripts_of_its_chats_are_copies(path: Path, writer: CursorWriter, tmp_path: Path) -> None:
    writer.chat(CHAT, BUBBLES)
    for id in (CHAT, "other"):
        folder = tmp_path / ".cursor" / "projects" / "boats" / "agent-transcripts" / id
        folder.mkdir(parents=True)
        (folder / f"{id}.jsonl").write_text("{}\n")
    sources = find_sources(tmp_path, {}).sources
    assert [(source.agent, source.files) for source in sources] == [("cursor", 1), ("cursor-cli", 2)]
    folders = tuple(source.path for source in sources)
    files = find_transcripts(Settings(sessions=SessionSettings(folders=folders))).files
    names = {file.name for file in files}
    copy = f"sessions/cursor-cli/boats/agent-transcripts/{CHAT}/{CHAT}.jsonl"
    assert names == {"sessions/cursor/state.vscdb", copy, copy.replace(CHAT, "other")}
    assert copied_sessions(files, set()) == {copy}

    writer.close()
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 200)
    assert copied_sessions(files, {copy, "sessions/x/y.jsonl"}) == {copy}


def test_reading_stops_when_cancelled(path: Path, writer: CursorWriter) -> None:
    writer.chat(CHAT, BUBBLES)
    cancel = CancelToken()
    cancel.cancel()
    with CursorDatabase().opened(str(path), cancel) as sessions, pytest.raises(Cancelled):
        sessions.marks()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    bubble=mangled([bubble for _, bubble in BUBBLES]) | json_values, metadata=mangled([METADATA, {"conversation": [1]}])
)
def test_any_rows_are_read(path: Path, writer: CursorWriter, bubble: object, metadata: dict[str, Any]) -> None:
    writer.chat(CHAT, [("b1", bubble)], **metadata)
    conversation = read(path)
    assert conversation is not None
    for message in conversation.messages:
        assert message.line == message.ordinal
        message.text.encode()
    marks(path)
