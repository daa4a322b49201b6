"""Crush's sessions in the databases of projects."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.crush import CRUSH_DATABASE
from engine.corpus.transcripts.registry import resume_command, session_folders
from engine.corpus.transcripts.tool_uses import uses_of
from engine.corpus.user_environment import Machine
from tests.helpers.session_rows import CRUSH, CRUSH_NEWER, check_read, marks_of, parts_of, read_rows, write_rows
from tests.helpers.transcripts import json_values, mangled, read_session

START = 1777885200
PARTS: list[dict[str, Any]] = [
    {"type": "reasoning", "data": {"thinking": "Look at the seams.", "signature": ""}},
    {"type": "text", "data": {"text": "Let me look."}},
    {"type": "tool_call", "data": {"id": "c1", "name": "bash", "input": '{"command":"ls"}', "finished": True}},
    {"type": "tool_call", "data": {"id": "c2", "name": "view", "input": "{half", "finished": False}},
    {"type": "tool_result", "data": {"tool_call_id": "c1", "name": "bash", "content": "hull.py", "is_error": False}},
    {"type": "shell_command", "data": {"command": "make", "output": "done", "exit_code": 0}},
    {"type": "binary", "data": {"Path": "/home/ada/plan.png", "MIMEType": "image/png", "Data": "iVBORw0="}},
    {"type": "image_url", "data": {"url": "https://a.b/c.png"}},
    {"type": "finish", "data": {"reason": "error", "time": START, "message": "No network", "details": "timed out"}},
    {"type": "hologram", "data": {}},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "boats" / ".crush" / "crush.db"


def session(key: str = "s-1", **more: Any) -> tuple[str, dict[str, Any]]:
    return "sessions", {"id": key, "title": "A leaking hull", "updated_at": START, "created_at": START, **more}


def message(key: str, role: str, parts: Any, **more: Any) -> tuple[str, dict[str, Any]]:
    held = parts if isinstance(parts, str | bytes) else json.dumps(parts)
    values = {"id": key, "session_id": "s-1", "role": role, "parts": held, "created_at": START, "updated_at": START}
    return "messages", {**values, **more}


def text(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "data": {"text": words}}]


def read(path: Path, key: str = "s-1") -> Conversation:
    found = read_rows(CRUSH_DATABASE, path, key)
    assert found is not None
    return found


def test_hidden_prompts_are_not_the_users(path: Path) -> None:
    hidden = [{"type": "text", "data": {"text": "Go on.", "hidden": True}}]
    write_rows(path, CRUSH, [session(), message("m1", "user", text("Sew it.")), message("m2", "user", hidden)])
    assert [part.role for part in read(path).messages] == ["user", "system"]


def test_a_session_is_read(path: Path) -> None:
    rows = [
        session(),
        message("m1", "user", text("Why does it leak?")),
        message("m2", "assistant", PARTS, created_at=(START + 2) * 1000),
        message("m3", "assistant", text("So far: a leak."), is_summary_message=1),
        message("m4", "wizard", text("?"), created_at=(START + 2) * 1000),
    ]
    write_rows(path, CRUSH + CRUSH_NEWER, rows)
    conversation = read(path)
    assert conversation.messages[0] == Message("user", "text", "Why does it leak?", 1, 1, "m1", START)
    assert parts_of(conversation.messages[1:]) == [
        (2, "system", "text", "So far: a leak.", ""),
        (3, "assistant", "thinking", "Look at the seams.", ""),
        (3, "assistant", "text", "Let me look.", ""),
        (3, "assistant", "tool-call", "ls", "bash"),
        (3, "assistant", "tool-call", "{half", "view"),
        (3, "tool", "tool-result", "hull.py", "bash"),
        (3, "user", "tool-call", "make", "shell"),
        (3, "tool", "tool-result", "done", "shell"),
        (3, "assistant", "text", "[image: plan.png]\n[image]", ""),
        (3, "system", "text", "No network\ntimed out", ""),
        (4, "system", "text", "?", ""),
    ]
    metadata = conversation.metadata
    assert (metadata.agent, metadata.id, metadata.title) == ("crush", "s-1", "A leaking hull")
    assert (metadata.opening, metadata.project) == ("Why does it leak?", str(path.parent.parent))
    assert (metadata.started, metadata.ended, metadata.parent) == (START, START + 2, "")
    assert conversation.unknown == {"part hologram": 1, "role wizard": 1}


def test_symbol_replaced_by_a_language_server_edits_the_file(path: Path) -> None:
    given = json.dumps({"symbol": "seams", "file_path": "hull.py", "replacement": "x"})
    call = {"type": "tool_call", "data": {"id": "c1", "name": "lsp_replace_symbol", "input": given, "finished": True}}
    write_rows(path, CRUSH, [session(), message("m1", "user", text("Sew it.")), message("m2", "assistant", [call])])
    assert [use for part in read(path).messages for use in uses_of(part)] == [("edited", "hull.py")]


def test_sub_agents_name_their_parent_and_titles_are_internal(path: Path) -> None:
    rows = [
        session("m2$$c1", parent_session_id="s-1"),
        message("m3", "user", text("Search the attic."), session_id="m2$$c1"),
        session("title-s-1", parent_session_id="s-1"),
        message("m4", "user", text("Make a title."), session_id="title-s-1"),
        session("empty"),
    ]
    write_rows(path, CRUSH, rows)
    sub_agent = read(path, "m2$$c1")
    assert (sub_agent.metadata.parent, sub_agent.metadata.generated) == ("s-1", False)
    assert all(message.side for message in sub_agent.messages)
    assert read(path, "title-s-1").metadata.generated
    assert set(marks_of(CRUSH_DATABASE, path)) == {"m2$$c1", "title-s-1"}


def test_marks_change_while_an_answer_arrives(path: Path) -> None:
    write_rows(path, CRUSH, [session(), message("m1", "user", text("Why?"))])
    write_rows(path, "", [session("s-2", updated_at=START + 9), message("m2", "user", text("?"), session_id="s-2")])
    before = marks_of(CRUSH_DATABASE, path)
    assert list(before) == ["s-2", "s-1"]
    write_rows(path, "UPDATE messages SET parts = '[{}]' WHERE id = 'm1'")
    after = marks_of(CRUSH_DATABASE, path)
    assert {key for key in after if after[key] != before[key]} == {"s-1"}


def test_rows_other_than_messages_are_counted(path: Path) -> None:
    rows = [session(), message("m1", "user", "{half"), message("m2", "user", b"\xff\x00"), message("m3", "user", "7")]
    write_rows(path, CRUSH, [*rows, message("m4", "user", text("Leaks?"))])
    conversation = read(path)
    assert [message.text for message in conversation.messages] == ["Leaks?"]
    assert conversation.unknown == {"no JSON": 2}


def test_session_found_by_key_in_name(path: Path) -> None:
    write_rows(path, CRUSH, [session(), message("m1", "user", text("Leaks?"))])
    assert read_session(path, "s-1") is not None
    assert read_session(path, "s-2") is None


def test_reading_stops_when_cancelled(path: Path) -> None:
    write_rows(path, CRUSH, [session()])
    cancel = CancelToken()
    cancel.cancel()
    with CRUSH_DATABASE.opened(str(path), cancel) as sessions, pytest.raises(Cancelled):
        sessions.marks()


def test_damaged_database_is_an_error(path: Path) -> None:
    write_rows(path, CRUSH, [session(), message("m1", "user", text("Leaks? " * 5000))])
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match="database"):
        read(path)


def test_databases_of_listed_projects_are_found(tmp_path: Path) -> None:
    listing = tmp_path / ".local" / "share" / "crush" / "projects.json"
    listing.parent.mkdir(parents=True)
    boats, oars = tmp_path / "boats", tmp_path / "oars"
    projects = [
        {"path": str(boats), "data_dir": str(boats / ".crush")},
        {"path": str(oars)},
        {"path": "relative"},
        "odd",
    ]
    listing.write_text(json.dumps({"projects": projects}))
    machine = Machine(str(tmp_path), {})
    found = [(name, path) for agent, name, path in session_folders(machine) if agent == "crush"]
    assert found == [("boats", str(boats / ".crush/crush.db")), ("oars", str(oars / ".crush/crush.db"))]
    listing.write_text("[half")
    assert [path for agent, _, path in session_folders(machine) if agent == "crush"] == []
    assert resume_command("crush", "s-1") == "crush --session s-1"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    part=mangled(PARTS) | json_values,
    time=st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.binary(max_size=8),
    cell=st.binary(max_size=8),
)
def test_database_with_any_values_is_read(tmp_path: Path, part: Any, time: Any, cell: bytes) -> None:
    path = tmp_path / "crush.db"
    path.unlink(missing_ok=True)
    rows = [session(title=cell, updated_at=time), message("m1", "user", [part], created_at=time)]
    write_rows(path, CRUSH, [*rows, message("m2", "assistant", cell)])
    check_read(read(path))
    marks_of(CRUSH_DATABASE, path)
