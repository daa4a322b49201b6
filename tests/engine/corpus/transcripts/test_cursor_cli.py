"""Transcripts and databases of Cursor's command line."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import find_sources
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.cursor_cli import CursorCliFormat
from engine.corpus.transcripts.parsers.cursor_store import _root
from engine.corpus.transcripts.parsers.cursor_text import CursorText
from engine.corpus.transcripts.registry import copied_sessions, resume_command
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.corpus.transcripts.token_usage import Usage
from engine.corpus.transcripts.transcript_reader import conversations
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.agent_databases import CURSOR_STORE, SINGLE, cursor_store
from tests.helpers.session_rows import write_rows
from tests.helpers.transcripts import feed, fixture_lines, mangled, read_with_pauses, stored_after_every_line

TRANSCRIPT = Path(__file__).parent / "fixtures" / "cursor_cli" / "3f2e1d00-0000-4000-8000-000000000001.jsonl"
LINES = fixture_lines(TRANSCRIPT)
SAMPLES = [value for _, value in LINES]
ASKED = 1787601660.0
"""24 August 2026, 20:01 UTC."""


def test_typed_text_is_separated_from_inserted_text() -> None:
    parser = CursorCliFormat().parser(
        f"/home/ada/.cursor/projects/home-ada-boats/agent-transcripts/x/{TRANSCRIPT.name}"
    )
    messages = feed(parser, LINES)

    assert messages == [
        Message("user", "text", "Why does the hull leak?", 1, 1, "", ASKED),
        Message("system", "text", "<open_files>\nhull.py\n</open_files>", 1, 1, "", ASKED),
        Message("assistant", "text", "I look at it.\n\n", 2, 2),
        Message("assistant", "tool-call", "/home/ada/boats/hull.py", 2, 2, tool="Read"),
        Message("tool", "tool-result", "seam = None", 4, 3, tool="Read"),
        Message("assistant", "text", "A seam is open.", 5, 4),
        Message(
            "system", "text", "<system_notification>\nA task has finished.\n</system_notification>", 7, 5, "", ASKED
        ),
        Message("user", "text", "Thanks <3", 8, 6, "", ASKED),
    ]
    metadata = parser.metadata
    assert (metadata.id, metadata.opening, metadata.project) == (
        TRANSCRIPT.stem,
        "Why does the hull leak?",
        "home-ada-boats",
    )
    assert (metadata.started, metadata.parent) == (ASKED, "")
    assert parser.unknown == {"block hologram": 1, "oracle": 1}
    assert resume_command("cursor-cli", "x") == "cursor-agent --resume x"


def test_trusted_folder_names_the_project(tmp_path: Path) -> None:
    path = tmp_path / "agent-transcripts" / "parent-id" / "subagents" / "child-id.jsonl"
    (tmp_path / ".workspace-trusted").write_text(json.dumps({"workspacePath": "/home/ada/boats"}))
    parser = CursorCliFormat().parser(str(path))
    messages = feed(parser, LINES)
    assert (parser.metadata.id, parser.metadata.parent) == ("child-id", "parent-id")
    assert parser.metadata.project == "/home/ada/boats"
    assert all(message.side for message in messages)


@pytest.mark.parametrize(
    ("stated", "time"),
    [
        ("Monday, Aug 24, 2026, 12:30 AM (UTC)", 1787531400.0),
        ("Monday, Aug 24, 2026, 12:30 AM (UTC+5:30)", 1787511600.0),
        ("Monday, Aug 24, 2026", None),
        ("Monday, Foo 99, 2026, 12:30 AM (UTC)", None),
        ("Monday, Aug 24, 2026, 12:30 AM (UTC+99)", None),
    ],
)
def test_time_is_read_from_the_timestamp_tag(stated: str, time: float | None) -> None:
    text = f"<timestamp>{stated}</timestamp>\n<user_query>x</user_query>"
    line = {"role": "user", "message": {"content": [{"type": "text", "text": text}]}}
    assert CursorCliFormat().parser("s.jsonl").feed(line, 1)[0].time == time


def test_only_own_lines_are_recognised() -> None:
    format = CursorCliFormat()
    assert format.matches(SAMPLES)
    assert not format.matches([{"role": "user", "content": "x"}, {"type": "user", "message": {"content": []}}])


def test_cursor_cli_sessions_folder_is_detected(tmp_path: Path) -> None:
    folder = tmp_path / ".cursor" / "projects" / "boats" / "agent-transcripts" / "x"
    folder.mkdir(parents=True)
    (folder / "x.jsonl").write_bytes(TRANSCRIPT.read_bytes())
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.files) == ("cursor-cli", 1)


def test_reading_lines_resumes() -> None:
    read_with_pauses(CursorCliFormat(), "s.jsonl", LINES)


@given(st.lists(mangled(SAMPLES)))
def test_any_line_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    stored_after_every_line(CursorCliFormat(), values)


def test_output_of_commands_is_a_result() -> None:
    content = [{"type": "command_output", "output": "hull.py"}, {"type": "text", "text": "One file."}]
    line = {"role": "assistant", "message": {"content": content}}
    assert [(part.role, part.text) for part in CursorCliFormat().parser("s.jsonl").feed(line, 1)] == [
        ("tool", "hull.py"),
        ("assistant", "One file."),
    ]
    assert CursorCliFormat().matches([{"role": "user", "message": {"content": "Why?"}}])


# --- Text -------------------------------------------------------------------------------------------------------------

TEXT = TRANSCRIPT.parents[1] / "cursor_text" / "agent-transcripts" / "3f2e1d00-0000-4000-8000-000000000002.txt"


def test_transcript_of_text_is_read(tmp_path: Path) -> None:
    path = tmp_path / ".cursor" / "projects" / "home-ada-boats" / "agent-transcripts" / TEXT.name
    path.parent.mkdir(parents=True)
    path.write_bytes(TEXT.read_bytes())
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.files) == ("cursor-cli", 1)
    (session,) = conversations(path)
    assert [(part.role, part.kind, part.text, part.tool, part.time) for part in session.messages] == [
        ("user", "text", "Why does it leak?", "", ASKED),
        ("assistant", "thinking", "A seam?\n  Perhaps.", "", None),
        ("assistant", "text", "I look at it.", "", None),
        ("assistant", "tool-call", '{\n  "path": "hull.py",\n  "old": ""\n}', "Edit", None),
        ("assistant", "tool-call", '{"command": "ls", "cwd": "/boats"}', "Shell", None),
        ("tool", "tool-result", "hull.py\nuser:\n  ada", "Shell", None),
        ("assistant", "text", "A seam is open.", "", None),
        ("user", "text", "Thanks.", "", ASKED),
    ]
    assert (session.metadata.id, session.metadata.project, session.unknown) == (TEXT.stem, "home-ada-boats", {})
    path.with_suffix(".jsonl").touch()
    assert list(conversations(path)) == []


@given(st.text(st.sampled_from("user:\n assistant[Thinking]Tool call=x{}\ufeff"), max_size=200))
def test_any_text_is_read(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.txt"
        path.write_text(f"user:\n{text}", errors="replace")
        for session in CursorText().conversations(str(path)):
            assert all(message.text.strip() for message in session.messages)


# --- Databases of single chats ----------------------------------------------------------------------------------------

CHAT = "7f3e1d00-0000-4000-8000-000000000001"
TOLD = (
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": "<user_info>\nOS: linux\n</user_info>"},
    {
        "role": "user",
        "content": [
            {
                "type": "text",
                "text": "<timestamp>Monday, Aug 24, 2026, 8:01 PM (UTC)</timestamp>\n"
                "<user_query>\nWhy does it leak?\n</user_query>",
            }
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "A seam?"},
            {"type": "text", "text": "I look at it."},
            {"type": "tool-call", "toolCallId": "t", "toolName": "Shell", "args": {"command": "cat hull.py"}},
        ],
    },
    {
        "role": "tool",
        "content": [{"type": "tool-result", "toolCallId": "t", "toolName": "Shell", "result": "seam = None"}],
    },
    {"role": "assistant", "content": "A seam is open."},
)


def write_store(folder: Path, messages: Sequence[object] = TOLD, missing: int = 0, **about: object) -> Path:
    """Write the database of a chat, whose root has `missing` ids more than there are messages."""
    uri = b"file:///home/ada/my%20boats"
    end = (b"\x0a\x20" + bytes(32)) * missing + b"\x10\xac\x02\x19" + bytes(8) + b"\x4a" + bytes([len(uri)]) + uri
    stated = {"agentId": CHAT, "name": "Hull", "createdAt": 1787601600000, "lastUsedModel": "m-1", **about}
    path = folder / "0a1b" / CHAT / "store.db"
    write_rows(path, CURSOR_STORE, cursor_store(messages, end=end, **stated))
    return path


def test_store_of_one_chat_is_read(tmp_path: Path) -> None:
    (session,) = conversations(write_store(tmp_path))
    assert [(part.role, part.kind, part.text, part.time) for part in session.messages] == [
        ("system", "text", "<user_info>\nOS: linux\n</user_info>", None),
        ("user", "text", "Why does it leak?", ASKED),
        ("assistant", "thinking", "A seam?", None),
        ("assistant", "text", "I look at it.", None),
        ("assistant", "tool-call", "cat hull.py", None),
        ("tool", "tool-result", "seam = None", None),
        ("assistant", "text", "A seam is open.", None),
    ]
    metadata = session.metadata
    assert (metadata.agent, metadata.id, metadata.title, metadata.project) == (
        "cursor-cli",
        CHAT,
        "Hull",
        "/home/ada/my boats",
    )
    assert (metadata.started, metadata.usage, session.unknown) == (1787601600.0, {"m-1": Usage()}, {})


def test_store_without_a_folder_has_that_of_its_neighbour(tmp_path: Path) -> None:
    path = SINGLE[0].write(tmp_path)
    beside = {"title": "Other", "cwd": "/home/ada/boats", "updatedAtMs": 1787609999000}
    path.with_name("meta.json").write_text(json.dumps(beside))
    (session,) = conversations(path)
    assert (session.metadata.title, session.metadata.project) == ("A leaking hull", "/home/ada/boats")
    path = write_store(tmp_path, [{"role": "user", "content": "Why?"}])
    path.with_name("meta.json").write_text(json.dumps(beside))
    assert next(conversations(path)).metadata.ended == 1787609999.0


def test_damaged_parts_of_a_store_are_counted(tmp_path: Path) -> None:
    odd = ({"role": "oracle", "content": "?"}, [1], {"role": "assistant", "content": [{"type": "hologram"}]})
    (session,) = conversations(write_store(tmp_path, [*TOLD, *odd], missing=2, name="New Agent"))
    assert len(session.messages) == 7
    assert session.unknown == {"role oracle": 1, "no object": 1, "block hologram": 1, "missing message": 2}
    assert session.metadata.name == "Why does it leak?"


@pytest.mark.parametrize("about", [{"latestRootBlobId": "0" * 64}, {"agentId": ""}, {"agentId": None}])
def test_store_without_a_readable_chat_has_no_session(tmp_path: Path, about: dict[str, object]) -> None:
    assert list(conversations(write_store(tmp_path, **about))) == []


@given(st.binary(max_size=300))
def test_any_root_can_be_read(data: bytes) -> None:
    folder, names = _root(data)
    assert len(names) <= len(data)
    assert isinstance(folder, str)


def test_root_is_read_up_to_a_number_of_fields() -> None:
    message = b"\x0a\x20" + bytes(32)
    assert len(_root(b"\x10\x01" * 1_000 + message)[1]) == 1
    assert _root(b"\x10\x01" * 1_000_000 + message) == ("", [])


@pytest.mark.parametrize("created", ["\ud800", [], None, 1e308])
def test_store_with_an_odd_time_is_read(tmp_path: Path, created: object) -> None:
    (session,) = conversations(write_store(tmp_path, createdAt=created))
    assert session.metadata.title == "Hull"


def test_store_of_a_chat_with_a_transcript_is_a_copy(tmp_path: Path) -> None:
    chats, projects = tmp_path / ".cursor" / "chats", tmp_path / ".cursor" / "projects"
    write_store(chats)
    settings = Settings(sessions=SessionSettings(folders=(str(chats), str(projects))))
    files = find_transcripts(settings).files
    assert [file.name for file in files] == [f"sessions/cursor-chats/0a1b/{CHAT}/store.db"]
    assert copied_sessions(files, set()) == set()
    transcript = projects / "home-ada-boats" / "agent-transcripts" / CHAT / f"{CHAT}.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text(TRANSCRIPT.read_text())
    files = find_transcripts(settings).files
    assert len(files) == 2
    assert copied_sessions(files, set()) == {f"sessions/cursor-chats/0a1b/{CHAT}/store.db"}
