"""Goose's sessions in its database."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.goose import GOOSE_DATABASE
from engine.corpus.transcripts.registry import resume_command, session_folders
from engine.corpus.transcripts.token_usage import Usage
from engine.corpus.user_environment import Machine
from tests.helpers.session_rows import GOOSE, GOOSE_NEWER, check_read, marks_of, parts_of, read_rows, write_rows
from tests.helpers.transcripts import json_values, mangled, read_session

START = 1777885200
CALL = {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "ls"}}}
PLAN = {"arguments": {"path": "plan.png"}}
ITEMS: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "Look at the seams.", "signature": ""},
    {"type": "redactedThinking", "data": "x"},
    {"type": "text", "text": "Let me look."},
    {"type": "toolRequest", "id": "c1", "toolCall": CALL},
    {"type": "toolRequest", "id": "c2", "toolCall": {"status": "error", "error": "bad"}},
    {"type": "systemNotification", "notificationType": "inlineMessage", "msg": "Compacted."},
    {"type": "image", "data": "iVBORw0=", "mimeType": "image/png"},
    {"type": "document", "data": "JVBERi0=", "mimeType": "application/pdf", "name": "keel.pdf"},
    {"type": "frontendToolRequest", "id": "c3", "toolCall": {"status": "success", "value": {"name": "show", **PLAN}}},
    {"type": "actionRequired", "data": {"actionType": "elicitation", "id": "e", "message": "Which hull?"}},
    {"type": "actionRequired", "data": {"actionType": "toolConfirmation", "id": "c1", "toolName": "shell"}},
    {"type": "error", "kind": "network", "message": "No connection."},
    {"type": "hologram"},
]
RESULT = {"content": [{"type": "text", "text": "hull.py"}], "isError": False}
RESULTS: list[dict[str, Any]] = [
    {"type": "toolResponse", "id": "c1", "toolResult": {"status": "success", "value": RESULT}},
    {"type": "toolResponse", "id": "c1", "toolResult": {"status": "success", "value": RESULT["content"]}},
    {"type": "toolResponse", "id": "c2", "toolResult": {"status": "error", "error": "stopped"}},
    {"type": "actionRequired", "data": {"actionType": "elicitationResponse", "id": "e", "user_data": {"hull": "old"}}},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "goose" / "sessions" / "sessions.db"


def session(key: str = "20260504_1", **more: Any) -> tuple[str, dict[str, Any]]:
    times = {"created_at": "2026-05-04 09:00:00", "updated_at": "2026-05-04 09:10:00"}
    return "sessions", {"id": key, "working_dir": "/home/ada/boats", **times, **more}


def message(role: str, held: Any, **more: Any) -> tuple[str, dict[str, Any]]:
    values = {"session_id": "20260504_1", "role": role, "created_timestamp": START}
    content = held if isinstance(held, str | bytes) else json.dumps(held)
    return "messages", {**values, "content_json": content, **more}


def text(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}]


def read(path: Path, key: str = "20260504_1") -> Conversation:
    found = read_rows(GOOSE_DATABASE, path, key)
    assert found is not None
    return found


def test_a_session_is_read(path: Path) -> None:
    rows = [
        session(name="A leaking hull"),
        message("user", text("Why does it leak?"), message_id="m1", metadata_json='{"userVisible": true}'),
        message("assistant", ITEMS, message_id="m2", created_timestamp=START + 2),
        message("user", RESULTS, message_id="m3", created_timestamp=START + 3),
        message(
            "assistant",
            text("So far: a leak."),
            created_timestamp=START + 3,
            metadata_json='{"userVisible":false,"agentVisible":true}',
        ),
        message("wizard", text("?"), created_timestamp=START + 3),
    ]
    write_rows(path, GOOSE + GOOSE_NEWER, rows)
    conversation = read(path)
    assert conversation.messages[0] == Message("user", "text", "Why does it leak?", 1, 1, "m1", START)
    assert parts_of(conversation.messages[1:]) == [
        (2, "assistant", "thinking", "Look at the seams.", ""),
        (2, "assistant", "text", "Let me look.", ""),
        (2, "assistant", "tool-call", "ls", "developer__shell"),
        (2, "system", "text", "Compacted.", ""),
        (2, "assistant", "text", "[image: PNG, 1 KB]\n[file: keel.pdf]", ""),
        (2, "assistant", "tool-call", "plan.png", "show"),
        (2, "assistant", "text", "Which hull?", ""),
        (2, "system", "text", "No connection.", ""),
        (3, "tool", "tool-result", "hull.py", "developer__shell"),
        (3, "tool", "tool-result", "hull.py", "developer__shell"),
        (3, "tool", "tool-result", "stopped", ""),
        (3, "user", "text", "old", ""),
        (4, "system", "text", "So far: a leak.", ""),
        (5, "system", "text", "?", ""),
    ]
    metadata = conversation.metadata
    assert (metadata.agent, metadata.id, metadata.title) == ("goose", "20260504_1", "A leaking hull")
    assert (metadata.opening, metadata.project) == ("Why does it leak?", "/home/ada/boats")
    assert (metadata.started, metadata.ended) == (START, START + 3)
    assert conversation.unknown == {"item hologram": 1, "role wizard": 1}
    assert read_rows(GOOSE_DATABASE, path, "deleted since") is None


def test_an_older_database_has_fewer_columns(path: Path) -> None:
    write_rows(path, GOOSE, [session(description="Hull"), message("user", text("Why?"))])
    conversation = read(path)
    assert (conversation.metadata.title, conversation.messages[0].id) == ("Hull", "")


@pytest.mark.parametrize(("name", "title"), [("CLI Session", ""), ("", ""), ("Hull", "Hull")])
def test_program_name_is_not_a_title(path: Path, name: str, title: str) -> None:
    write_rows(path, GOOSE + GOOSE_NEWER, [session(name=name), message("user", text("Why?"))])
    assert read(path).metadata.title == title


def test_sub_agents_are_side_messages_and_hidden_are_left_out(path: Path) -> None:
    rows = [
        session("a", session_type="sub_agent"),
        message("user", text("Search."), session_id="a"),
        session("b", session_type="hidden"),
        message("user", text("Title?"), session_id="b"),
    ]
    write_rows(path, GOOSE + GOOSE_NEWER, rows)
    assert [message.side for message in read(path, "a").messages] == [True]
    assert (read(path, "a").metadata.generated, read(path, "b").metadata.generated) == (False, True)


def test_newest_columns_name_caller_and_cost(path: Path) -> None:
    spent = {"accumulated_input_tokens": 900, "accumulated_output_tokens": 80, "accumulated_cost": 0.25}
    rows = [
        session("a", name="ACP Session", session_type="sub_agent", parent_session_id="20260504_1", **spent),
        message("user", text("Search."), session_id="a"),
    ]
    added = ("parent_session_id TEXT", "accumulated_input_tokens", "accumulated_output_tokens", "accumulated_cost REAL")
    newest = "".join(f"ALTER TABLE sessions ADD COLUMN {column};" for column in (*added, "model_config_json TEXT"))
    write_rows(path, GOOSE + GOOSE_NEWER + newest, rows)
    metadata = read(path, "a").metadata
    assert (metadata.title, metadata.opening, metadata.parent) == ("", "Search.", "20260504_1")
    assert metadata.usage == {"": Usage(900, 80, cost=0.25)}


LEDGER = """CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, model TEXT,
    created_timestamp INTEGER NOT NULL, input_tokens INTEGER, output_tokens INTEGER, total_tokens INTEGER,
    cache_read_tokens INTEGER, cache_write_tokens INTEGER, cost REAL, cost_source TEXT, is_compaction INTEGER);"""
SPENT = [f"accumulated_{one}" for one in "input_tokens output_tokens cache_read_tokens cache_write_tokens cost".split()]
SUMS = "".join(f"ALTER TABLE sessions ADD COLUMN {column};" for column in [*SPENT, "model_config_json"])


def request(model: str | None, sent: int, received: int, **more: Any) -> tuple[str, dict[str, Any]]:
    values = {"session_id": "20260504_1", "model": model, "created_timestamp": START}
    return "usage_ledger", {**values, "input_tokens": sent, "output_tokens": received, **more}


@pytest.mark.parametrize(
    ("sums", "model", "rest"),
    [
        ((1700, 110, 600, 100, 0.3), "big", {}),
        ((2000, 150, 700, 100, 0.5), "big", {"big": Usage(200, 40, 100, 0, cost=pytest.approx(0.2))}),
        ((2000, 150, None, None, None), "", {"": Usage(1000, 40)}),
        ((None, None, None, None, None), "big", {}),
    ],
)
def test_requests_are_counted_by_model(
    path: Path, sums: tuple[float | None, ...], model: str, rest: dict[str, Usage]
) -> None:
    config = json.dumps({"model_name": model}) if model else None
    rows = [
        session(**dict(zip(SPENT, sums, strict=True)), model_config_json=config),
        message("user", text("Why?")),
        request("small", 1000, 50, cache_read_tokens=600, cache_write_tokens=100, cost=0.1),
        request("large", 500, 20, cost=0.2),
        request("small", 200, 40, is_compaction=1),
        request("large", 9, 9, session_id="other"),
    ]
    write_rows(path, GOOSE + SUMS + LEDGER, rows)
    expected = {"small": Usage(500, 90, 600, 100, cost=0.1), "large": Usage(500, 20, cost=0.2), **rest}
    assert read(path).metadata.usage == expected


def test_requests_before_the_ledger_have_the_sessions_model(path: Path) -> None:
    rows = [
        session(model_config_json='{"model_name": "big"}', accumulated_input_tokens=900, accumulated_output_tokens=80),
        message("user", text("Why?")),
        request(None, 600, 50, cost_source="carried_forward"),
        request("small", 300, 30),
    ]
    write_rows(path, GOOSE + SUMS + LEDGER, rows)
    assert read(path).metadata.usage == {"big": Usage(600, 50), "small": Usage(300, 30)}


def test_messages_are_in_the_order_of_their_times(path: Path) -> None:
    rows = [session(), message("assistant", text("So."), created_timestamp=START + 2), message("user", text("Why?"))]
    write_rows(path, GOOSE, rows)
    assert [one.text for one in read(path).messages] == ["Why?", "So."]


def test_new_message_changes_mark_of_its_session_only(path: Path) -> None:
    rows = [session(), message("user", text("Why?")), session("x", updated_at="2026-05-05 09:00:00")]
    write_rows(path, GOOSE, [*rows, message("user", text("?"), session_id="x"), session("empty")])
    before = marks_of(GOOSE_DATABASE, path)
    assert list(before) == ["x", "20260504_1"]
    write_rows(path, "", [message("assistant", text("So."))])
    after = marks_of(GOOSE_DATABASE, path)
    assert {key for key in after if after[key] != before[key]} == {"20260504_1"}


def test_database_is_recognised_and_found(path: Path, tmp_path: Path) -> None:
    write_rows(path, GOOSE, [session(), message("user", text("Leaks?"))])
    found = read_session(path, "20260504_1")
    assert found is not None
    assert found.metadata.agent == "goose"
    machine = Machine(str(tmp_path), {"GOOSE_PATH_ROOT": str(tmp_path / "root"), "APPDATA": str(tmp_path / "roaming")})
    paths = [path for agent, _, path in session_folders(machine) if agent == "goose"]
    homes = ("root/data", ".local/share/goose", "Library/Application Support/Block/goose", "roaming/Block/goose/data")
    assert paths == [str(tmp_path / home / "sessions" / "sessions.db") for home in homes]
    assert resume_command("goose", "a") == "goose session --resume --session-id a"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    item=mangled(ITEMS + RESULTS) | json_values,
    metadata=mangled([{"userVisible": True}]) | json_values,
    cell=st.binary(max_size=8),
)
def test_database_with_any_values_is_read(tmp_path: Path, item: Any, metadata: Any, cell: bytes) -> None:
    path = tmp_path / "sessions.db"
    path.unlink(missing_ok=True)
    rows = [
        session(name=cell, working_dir=cell, updated_at=cell),
        message("user", [item], metadata_json=json.dumps(metadata)),
        message("user", cell),
    ]
    write_rows(path, GOOSE + GOOSE_NEWER, rows)
    check_read(read(path))
    marks_of(GOOSE_DATABASE, path)
