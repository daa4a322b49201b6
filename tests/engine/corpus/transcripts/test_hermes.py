"""Sessions of Hermes Agent in its database."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import find_sources
from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.parsers.hermes import HERMES_DATABASE
from engine.corpus.transcripts.parsers.hermes_files import HermesLines
from engine.corpus.transcripts.registry import copied_sessions, resume_command, session_folders
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.corpus.transcripts.transcript_reader import conversations
from engine.corpus.user_environment import Machine
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.agent_databases import DATABASES
from tests.helpers.session_rows import (
    HERMES,
    HERMES_ENDS,
    HERMES_NEWER,
    check_read,
    marks_of,
    parts_of,
    read_rows,
    write_rows,
)
from tests.helpers.transcripts import (
    fixture_lines,
    json_values,
    mangled,
    read_session,
    read_with_pauses,
    stored_after_every_line,
)

START = 1777885200.5
CALLS: list[dict[str, Any]] = [
    {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": '{"command": "cat hull.py"}'}},
    {"id": "c2", "type": "function", "function": {"name": "todo", "arguments": "{half"}},
]
STRUCTURED = "\0json:" + json.dumps([{"type": "text", "text": "And here?"}, {"type": "image_url", "image_url": {}}])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".hermes" / "state.db"


def session(key: str = "h-1", **more: Any) -> tuple[str, dict[str, Any]]:
    return "sessions", {"id": key, "source": "cli", "started_at": START, "title": "A leaking hull", **more}


def message(role: str, content: Any, **more: Any) -> tuple[str, dict[str, Any]]:
    values = {"session_id": "h-1", "role": role, "content": content, "timestamp": START + 1}
    return "messages", {**values, **more}


def read(path: Path, key: str = "h-1") -> Conversation:
    found = read_rows(HERMES_DATABASE, path, key)
    assert found is not None
    return found


def test_a_session_is_read(path: Path) -> None:
    rows = [
        session(cwd="/home/ada/boats", git_branch="main", parent_session_id="h-0"),
        message("user", "Why does it leak?"),
        message("assistant", "Let me look.", tool_calls=json.dumps(CALLS), reasoning="", reasoning_content="Seams."),
        message("tool", "seams = None", tool_call_id="c1", tool_name="terminal"),
        message("tool", "noted", tool_call_id="c2"),
        message("user", STRUCTURED, active=0),
        message("user", "[CONTEXT COMPACTION] So far: a leak."),
        message("user", "[IMPORTANT: Background process p_1 completed (exit_code=0).]"),
        message("assistant", None, timestamp=START + 9, reasoning="Hm."),
        message("wizard", "?"),
    ]
    write_rows(path, HERMES + HERMES_NEWER, rows)
    conversation = read(path)
    assert parts_of(conversation.messages) == [
        (1, "user", "text", "Why does it leak?", ""),
        (2, "assistant", "thinking", "Seams.", ""),
        (2, "assistant", "text", "Let me look.", ""),
        (2, "assistant", "tool-call", "cat hull.py", "terminal"),
        (2, "assistant", "tool-call", "{half", "todo"),
        (3, "tool", "tool-result", "seams = None", "terminal"),
        (4, "tool", "tool-result", "noted", "todo"),
        (5, "user", "text", "And here?\n[image]", ""),
        (6, "system", "text", "[CONTEXT COMPACTION] So far: a leak.", ""),
        (7, "system", "text", "[IMPORTANT: Background process p_1 completed (exit_code=0).]", ""),
        (8, "assistant", "thinking", "Hm.", ""),
        (9, "system", "text", "?", ""),
    ]
    metadata = conversation.metadata
    assert (metadata.agent, metadata.id, metadata.title, metadata.parent) == ("hermes", "h-1", "A leaking hull", "h-0")
    assert (metadata.project, metadata.branch, metadata.opening) == ("/home/ada/boats", "main", "Why does it leak?")
    assert (metadata.started, metadata.ended) == (START, START + 9)
    assert conversation.unknown == {"role wizard": 1}


SKILL = "skill, indicating they want you to follow it. The full skill content is loaded below.]\n\n# Sails\nSew well."
ASKS = "The user has provided the following instruction alongside the skill invocation: "
FOOTER = "then run them with the terminal tool using the absolute path."


@pytest.mark.parametrize(
    ("stored", "typed"),
    [
        (f'[IMPORTANT: The user has invoked the "sew" {SKILL}\n{ASKS}Mend it.\n\n[Runtime note: x]', "/sew Mend it."),
        (f'[SYSTEM: The user has invoked the "sew" {SKILL} "{ASKS}"\n{ASKS}Mend it.', "/sew Mend it."),
        (f'[IMPORTANT: The user has invoked the "sew" {SKILL}', "/sew"),
        (
            '[IMPORTANT: The user has invoked the "/sew /tar" skill bundle, loading 2 skills.]\n\n'
            'User instruction: Mend it.\n\n[Loaded as part of the "/sew /tar" skill bundle.]\nSew well.',
            "/sew /tar Mend it.",
        ),
        (f'[IMPORTANT: The "sew" skill is auto-loaded. Follow it.]\n\nSew well, {FOOTER}\n\nMend it.', "Mend it."),
        ('[IMPORTANT: The "sew" skill is auto-loaded. Follow it.]\n\nSew well.', ""),
    ],
)
def test_inserted_skill_has_the_system_role(path: Path, stored: str, typed: str) -> None:
    write_rows(path, HERMES, [session(), message("user", stored), message("assistant", "Sewn.")])
    conversation = read(path)
    messages = [(one.role, one.text) for one in conversation.messages]
    assert messages == [*([("user", typed)] if typed else []), ("system", stored), ("assistant", "Sewn.")]
    assert conversation.metadata.opening == typed


@pytest.mark.parametrize(
    ("child", "ended", "parent"),
    [
        ({}, None, "h-0"),
        ({}, "completed", "h-0"),
        ({}, "compression", ""),
        ({}, "branched", ""),
        ({"started_at": START - 99}, "compression", "h-0"),
        ({"source": "subagent"}, "compression", "h-0"),
        ({"model_config": json.dumps({"_delegate_from": "h-0"})}, "compression", "h-0"),
        ({"model_config": json.dumps({"_branched_from": "h-0"})}, None, ""),
        ({"model_config": json.dumps({"_reset_from": "h-0"})}, "completed", ""),
        ({"model_config": "[odd"}, None, "h-0"),
    ],
)
def test_only_sub_agent_session_has_a_parent(path: Path, child: dict[str, Any], ended: str | None, parent: str) -> None:
    before = session("h-0", end_reason=ended, ended_at=None if ended is None else START - 1, started_at=START - 50)
    rows = [before, session(parent_session_id="h-0", **child), message("user", "Why?")]
    write_rows(path, HERMES + HERMES_ENDS, rows)
    assert read(path).metadata.parent == parent


def test_an_older_database_has_fewer_columns(path: Path) -> None:
    write_rows(path, HERMES, [session(title=None), message("user", "Why?"), message("assistant", "So.", tool_calls="")])
    conversation = read(path)
    assert [message.text for message in conversation.messages] == ["Why?", "So."]
    assert (conversation.metadata.title, conversation.metadata.project, conversation.unknown) == ("", "", {})


def test_new_message_changes_mark_of_its_session_only(path: Path) -> None:
    write_rows(path, HERMES, [session(), message("user", "Why?"), session("x"), session("empty")])
    write_rows(path, "", [message("user", "?", session_id="x", timestamp=START + 5)])
    before = marks_of(HERMES_DATABASE, path)
    assert list(before) == ["x", "h-1"]
    write_rows(path, "", [message("assistant", "So.")])
    after = marks_of(HERMES_DATABASE, path)
    assert {key for key in after if after[key] != before[key]} == {"h-1"}


def test_database_is_recognised_and_found(path: Path, tmp_path: Path) -> None:
    write_rows(path, HERMES, [session(), message("user", "Leaks?")])
    found = read_session(path, "h-1")
    assert found is not None
    assert found.metadata.agent == "hermes"
    machine = Machine(str(tmp_path), {"HERMES_HOME": "/h"})
    names = ("state.db", "sessions", "profiles")
    folders = [str(Path(home, name)) for home in ("/h", path.parent) for name in names]
    assert [path for agent, _, path in session_folders(machine) if agent == "hermes"] == folders
    assert resume_command("hermes", "h-1") == "hermes --resume h-1"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(calls=mangled([{"calls": CALLS}]) | json_values, content=json_values, cell=st.binary(max_size=8))
def test_database_with_any_values_is_read(tmp_path: Path, calls: Any, content: Any, cell: bytes) -> None:
    path = tmp_path / "state.db"
    path.unlink(missing_ok=True)
    held = calls.get("calls") if isinstance(calls, dict) else calls
    rows = [
        session(title=cell, parent_session_id=cell),
        message("assistant", "\0json:" + json.dumps(content), tool_calls=json.dumps(held)),
        message("tool", cell, tool_calls=cell, tool_call_id=cell),
    ]
    write_rows(path, HERMES, rows)
    check_read(read(path))
    marks_of(HERMES_DATABASE, path)


# --- Sessions as files ------------------------------------------------------------------------------------------------

LINES = Path(__file__).parent / "fixtures" / "hermes" / "20260504_090000_5a3e2ff1.jsonl"
BEGAN = 1777885200.0


def test_file_of_an_older_version_is_read() -> None:
    parser, messages = read_with_pauses(HermesLines(), str(LINES), fixture_lines(LINES))
    assert [(part.role, part.kind, part.text, part.tool) for part in messages] == [
        ("user", "text", "Why does it leak?", ""),
        ("assistant", "thinking", "A seam?", ""),
        ("assistant", "text", "I look.", ""),
        ("assistant", "tool-call", "cat hull.py", "shell"),
        ("tool", "tool-result", "seam = None", "shell"),
        ("system", "text", "[CONTEXT COMPACTION] So far: a leak.", ""),
        ("assistant", "text", "A seam is open.", ""),
        ("system", "text", "?", ""),
    ]
    metadata = parser.metadata
    assert (metadata.id, metadata.started, metadata.ended) == (LINES.stem, BEGAN, BEGAN + 300)
    assert (list(metadata.usage), parser.unknown) == (["m-1"], {"role oracle": 1})


def test_document_is_read_unless_there_are_lines(tmp_path: Path) -> None:
    folder = tmp_path / ".hermes" / "sessions"
    folder.mkdir(parents=True)
    path = folder / f"session_{LINES.stem}.json"
    about = {"session_id": LINES.stem, "model": "m-1", "session_start": "2026-05-04T09:00:00Z"}
    messages = [{"role": "user", "content": "Why?"}, {"role": "session_meta"}]
    path.write_text(json.dumps({**about, "model_config": {"cwd": "/boats"}, "messages": messages}))
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.files) == ("hermes", 1)
    (session,) = conversations(path)
    metadata = session.metadata
    assert (metadata.id, metadata.project, metadata.started, metadata.opening) == (LINES.stem, "/boats", BEGAN, "Why?")
    assert session.unknown == {}
    path.with_name(LINES.name).touch()
    assert list(conversations(path)) == []


def test_file_of_a_session_in_the_database_is_a_copy(tmp_path: Path) -> None:
    database = next(database for database in DATABASES if database.name.startswith("hermes"))
    rows = [
        (table, {name: LINES.stem if name in ("id", "session_id") and isinstance(value, str) else value
        for name, value in row.items()}) for table, row in database.rows
    ]  # fmt: skip
    path = database.write(tmp_path, rows)
    folder = path.parent / "sessions"
    folder.mkdir()
    (folder / LINES.name).write_bytes(LINES.read_bytes())
    settings = Settings(sessions=SessionSettings(folders=(str(path.parent),)))
    files = find_transcripts(settings).files
    assert copied_sessions(files, set()) == {file.name for file in files if file.path.endswith(LINES.name)}


@given(st.lists(mangled([value for _, value in fixture_lines(LINES)])))
def test_any_line_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    stored_after_every_line(HermesLines(), values)
