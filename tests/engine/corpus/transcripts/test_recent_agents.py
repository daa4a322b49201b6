"""Agents added in late autumn 2026: Proma, Octofriend, Unsloth Studio, Cherry Studio and Tau."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import find_sources
from engine.corpus.transcripts.parsers.cherry_studio import CHERRY_DATABASE
from engine.corpus.transcripts.parsers.proma import PromaFormat
from engine.corpus.transcripts.parsers.tau import TauFormat
from engine.corpus.transcripts.registry import parts_changed, resume_command
from engine.corpus.transcripts.token_usage import Usage
from engine.corpus.transcripts.transcript_reader import conversations
from tests.helpers.agent_databases import ANSWERED, ASKED, COMMAND, DATABASES, LOOKING, OUTPUT, Row
from tests.helpers.transcripts import fixture_lines, mangled, read_with_pauses, stored_after_every_line

PROMA = Path(__file__).parent / "fixtures" / "proma" / "0c1d2e3f-0000-4000-8000-000000000031.jsonl"
LINES = fixture_lines(PROMA)
TAU = Path(__file__).parent / "fixtures" / "tau" / "0c1d2e3f000040008000000000000041.jsonl"
START = 1777885200.0


def test_messages_of_proma_are_read() -> None:
    parser, messages = read_with_pauses(PromaFormat(), f"/x/{PROMA.name}", LINES)
    assert [(part.role, part.kind, part.text, part.tool, part.side) for part in messages] == [
        ("user", "text", "Why does the hull leak?", "", False),
        ("assistant", "tool-call", "hull.py", "Read", False),
        ("tool", "tool-result", "seam = None", "Read", False),
        ("assistant", "text", "I look.", "", False),
        ("system", "text", "Out of memory.", "", False),
        ("user", "text", "Go on.", "", False),
        ("assistant", "thinking", "A seam?", "", False),
        ("assistant", "text", "Let me look.", "", False),
        ("assistant", "tool-call", "cat hull.py", "Bash", False),
        ("tool", "tool-result", "seam = None", "Bash", False),
        ("user", "text", "Search the attic.", "", True),
        ("system", "text", "You have a skill.", "", False),
        ("system", "text", "No key.", "", False),
        ("assistant", "thinking", "Sure.", "", False),
        ("assistant", "tool-call", "seams", "web", False),
        ("tool", "tool-result", "None", "web", False),
        ("assistant", "text", "A seam is open.\n[file: plan.pdf]", "", False),
        ("system", "text", "?", "", False),
    ]
    metadata = parser.metadata
    assert (metadata.id, metadata.title, metadata.started, metadata.ended) == (PROMA.stem, "", START, START + 9.5)
    assert metadata.usage == {"m-0": Usage(), "m-1": Usage(3, 4)}
    assert parser.unknown == {"hologram": 1, "role oracle": 1}


def test_call_of_proma_with_input_at_its_result_counts_once() -> None:
    call = {"toolCallId": "c1", "toolName": "Read"}
    activities = [{"type": "start", **call}, {"type": "result", **call, "input": {"path": "hull.py"}, "result": "seam"}]
    line = {"id": "m1", "role": "assistant", "content": "", "createdAt": 1777885200000, "toolActivities": activities}
    _, messages = read_with_pauses(PromaFormat(), f"/x/{PROMA.name}", [(1, line)])
    assert [(part.kind, part.text) for part in messages] == [("tool-call", "Read"), ("tool-result", "seam")]


def test_sessions_of_proma_are_found_with_titles(tmp_path: Path) -> None:
    folder = tmp_path / ".proma" / "agent-sessions"
    folder.mkdir(parents=True)
    path = shutil.copy(PROMA, folder)
    before = parts_changed(str(path))
    listed = {"id": PROMA.stem, "title": "A leaking hull", "attachedDirectories": ["/boats"], "parentSessionId": "x"}
    other = shutil.copy(PROMA, folder / "x.jsonl")
    untitled = {"id": "x", "title": "新 Agent 会话"}
    folder.with_suffix(".json").write_text(json.dumps({"version": 1, "sessions": [None, listed, untitled]}))
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.files) == ("proma", 2)
    (session,) = conversations(Path(path))
    assert (session.metadata.agent, session.metadata.title, session.metadata.project) == (
        "proma",
        "A leaking hull",
        "/boats",
    )
    assert (session.metadata.parent, session.messages[0].author) == ("x", "assistant")
    assert [found.metadata.name for found in conversations(Path(other))] == ["Why does the hull leak?"]
    assert parts_changed(str(path)) > before


@given(st.lists(mangled([value for _, value in LINES])))
def test_any_line_of_proma_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    stored_after_every_line(PromaFormat(), values)


def _read(folder: Path, name: str, *more: Row) -> Any:
    database = next(database for database in DATABASES if database.name == name)
    (session,) = conversations(database.write(folder, [*database.rows, *more]))
    return session


@pytest.mark.parametrize(
    ("name", "tool", "project"),
    [
        ("octofriend: with times", "shell", "/boats"),
        ("unsloth-studio: as a tree", "terminal", "/boats"),
        ("cherry-studio: blocks", "shell", ""),
        ("cherry-studio: parts", "shell", ""),
    ],
)
def test_sessions_in_databases_are_read(tmp_path: Path, name: str, tool: str, project: str) -> None:
    session = _read(tmp_path, name)
    assert [(part.role, part.kind, part.text, part.tool) for part in session.messages] == [
        ("user", "text", ASKED, ""),
        ("assistant", "thinking", "A seam?", ""),
        ("assistant", "text", LOOKING, ""),
        ("assistant", "tool-call", COMMAND, tool),
        ("tool", "tool-result", OUTPUT, tool),
        ("assistant", "text", ANSWERED, ""),
    ]
    assert session.metadata.project == project
    assert list(session.metadata.usage) == ["m-1"]


def test_other_items_of_octofriend_are_read_or_counted(tmp_path: Path) -> None:
    failed = {"role": "tool-runtime-error", "toolCall": {"toolCallId": "x"}, "error": "No such file."}
    messages = (
        {"version": "octo-llm-ir/v1", "ir": failed},
        {"version": "octo-llm-ir/v2", "turn": {"role": "user"}},
        {"version": "octo-llm-ir/v1", "ir": {"role": "trajectory"}},
    )
    rows: list[Row] = [("notifications", {"id": 1, "content": "Compacted."})]
    for at, message in enumerate(messages, 5):
        rows += [
            ("llm_irs", {"id": at, "json": json.dumps(message)}),
            ("history_items", {"id": at, "llm_ir_id": at}),
            ("tree_nodes", {"id": at, "history_item_id": at, "tree_id": 1, "parent_id": at - 1, "is_leaf": 0}),
        ]
    rows += [
        ("history_items", {"id": 9, "notification_id": 1}),
        ("tree_nodes", {"id": 9, "history_item_id": 9, "tree_id": 1, "parent_id": 7, "is_leaf": 1}),
    ]
    rows = [(table, {**row, "launch_id": 1} if table == "tree_nodes" else row) for table, row in rows]
    session = _read(tmp_path, "octofriend: first", *rows)
    assert [(part.role, part.text) for part in session.messages[-2:]] == [
        ("tool", "No such file."),
        ("system", "Compacted."),
    ]
    assert session.unknown == {"version octo-llm-ir/v2": 1, "role trajectory": 1}
    assert resume_command("octofriend", "o1") == "octo --resume o1"


def test_edited_message_of_unsloth_begins_another_branch(tmp_path: Path) -> None:
    message = {"thread_id": "u1", "role": "user", "attachments_json": '[{"name": "plan.pdf"}]'}
    edited = {**message, "id": "m9", "parent_id": "m1", "content_json": '["Why?"]', "created_at": 1775117700000}
    session = _read(tmp_path, "unsloth-studio: as a tree", ("chat_messages", edited))
    assert [part.text for part in session.messages] == [ASKED, "Why?\n[file: plan.pdf]"]
    assert ANSWERED in [part.text for part in session.abandoned]


def test_branch_shown_last_of_cherry_studio_is_read(tmp_path: Path) -> None:
    message = {"topic_id": "y1", "status": "error", "parent_id": "m1", "created_at": 1775117700000}
    parts = [
        {"type": "data-error", "data": {"message": "No key."}},
        {"type": "file", "mediaType": "image/png", "filename": "hull.png"},
        {"type": "hologram"},
    ]
    other = {**message, "id": "m8", "role": "assistant", "data": json.dumps({"parts": parts})}
    deleted = {**message, "id": "m9", "role": "user", "data": "{}", "deleted_at": 1}
    session = _read(tmp_path, "cherry-studio: parts", ("message", other), ("message", deleted))
    assert ANSWERED in [part.text for part in session.messages]
    assert [(part.role, part.text) for part in session.abandoned] == [
        ("system", "No key."),
        ("assistant", "[image: hull.png]"),
    ]
    assert (session.metadata.usage, session.unknown) == ({"m-1": Usage(6, 8)}, {"part hologram": 1})


def test_deleted_message_of_cherry_studio_is_a_change(tmp_path: Path) -> None:
    path = next(database for database in DATABASES if database.name == "cherry-studio: parts").write(tmp_path)

    def marks() -> dict[str, str]:
        with CHERRY_DATABASE.opened(str(path)) as sessions:
            return dict(sessions.marks())

    before = marks()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE message SET deleted_at = 1 WHERE id = 'm3'")
    assert marks().keys() == before.keys()
    assert marks() != before


def test_entries_of_tau_are_read() -> None:
    parser, messages = read_with_pauses(TauFormat(), f"/x/{TAU.name}", fixture_lines(TAU))
    assert [(part.role, part.kind, part.text, part.tool) for part in messages] == [
        ("user", "text", "Why does the hull leak?\n[image]", ""),
        ("assistant", "thinking", "A seam?", ""),
        ("assistant", "text", "Let me look.", ""),
        ("assistant", "tool-call", "hull.py", "read"),
        ("tool", "tool-result", "seam = None", "read"),
        ("assistant", "text", "A seam is open.", ""),
        ("user", "text", "Sew it by hand.", ""),
        ("user", "text", "Sew it.", ""),
        ("user", "tool-call", "make", "bash"),
        ("tool", "tool-result", "ok", "bash"),
        ("system", "text", "A notice.", ""),
        ("system", "text", "So far.", ""),
        ("system", "text", "A detour.", ""),
    ]
    metadata = parser.metadata
    assert (metadata.id, metadata.project, metadata.started, metadata.ended) == (
        TAU.stem,
        "/home/ada/boats",
        START,
        START + 16,
    )
    assert [text.text for text in messages if metadata.is_abandoned(text.line)] == ["Sew it by hand."]
    assert metadata.usage == {"m-1": Usage(10, 5, 2, 1, cost=0.25), "": Usage(20, 10, 4, 2, cost=0.5)}
    assert parser.unknown == {"hologram": 1}
    older = TAU.with_name("default.jsonl")
    parser, messages = read_with_pauses(TauFormat(), f"/x/{older.name}", fixture_lines(older))
    assert [(part.role, part.kind, part.text, part.tool) for part in messages] == [
        ("user", "text", "Why does the hull leak?", ""),
        ("assistant", "text", "Let me look.", ""),
        ("assistant", "tool-call", "hull.py", "read"),
        ("tool", "tool-result", "No such file.", "read"),
        ("system", "text", "A notice.", ""),
        ("assistant", "text", "A seam is open.", ""),
    ]
    assert (parser.metadata.title, parser.unknown) == ("A leaking hull", {})


def test_sessions_of_tau_are_found_with_titles(tmp_path: Path) -> None:
    folder = tmp_path / ".tau" / "sessions" / "home-ada-boats-0c1d2e"
    folder.mkdir(parents=True)
    path = shutil.copy(TAU, folder / "hull.v2.jsonl")
    before = parts_changed(str(path))
    titles = ({"id": "hull.v2", "title": "Old"}, {"id": "hull.v2", "title": "A leaking hull"}, {"id": "x"})
    (folder / "index.jsonl").write_text("".join(json.dumps(title) + "\n" for title in titles))
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.files) == ("tau", 1)
    (session,) = conversations(Path(path))
    assert (session.metadata.id, session.metadata.title) == ("hull.v2", "A leaking hull")
    assert parts_changed(str(path)) > before
    (folder / "index.jsonl").write_text(json.dumps({"id": "hull.v2", "title": "Dry"}))
    assert next(conversations(Path(path))).metadata.title == "Dry"
    assert resume_command("tau", "t1") == "tau --session t1"


@given(st.lists(mangled([value for _, value in fixture_lines(TAU)])))
def test_any_entry_of_tau_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    stored_after_every_line(TauFormat(), values)
