"""Qwen Code's sessions."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.qwen import QwenFormat
from engine.corpus.transcripts.registry import resume_command, session_folders
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.corpus.transcripts.transcript_reader import conversations, format_of
from engine.corpus.user_environment import Machine
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.transcripts import (
    feed,
    fixture_lines,
    json_values,
    mangled,
    read_session,
    read_with_pauses,
    stored_after_every_line,
    without_calls,
)

SESSION = Path(__file__).parent / "fixtures" / "qwen" / "5e6f7a8b-0000-4000-8000-000000000001.jsonl"
SAMPLES = [value for _, value in fixture_lines(SESSION)]
START = 1777885200.0


def system(subtype: str, **payload: Any) -> dict[str, Any]:
    return {"uuid": "s", "sessionId": "x", "type": "system", "subtype": subtype, "systemPayload": payload}


def test_records_become_messages() -> None:
    parser = QwenFormat().parser(str(SESSION))
    assert without_calls(feed(parser, fixture_lines(SESSION))) == [
        Message("user", "text", "Why does it leak?", line=2, ordinal=1, id="u1", time=START + 1),
        Message("assistant", "thinking", "Look at the seams.", 3, 2, "a1", START + 2),
        Message("assistant", "text", "Let me look.", 3, 2, "a1", START + 2),
        Message("assistant", "tool-call", "hull.py", 3, 2, "a1", START + 2, "read_file"),
        Message("tool", "tool-result", "seams = None", 4, 3, "t1", START + 3, "read_file"),
        Message("system", "text", "A task has finished.", 5, 4, "u2", START + 4),
        Message("assistant", "text", "The keel is dry.", 6, 5, "a2", START + 5, side=True),
        Message("system", "text", "/stats", 7, 6, "s1", START + 6),
        Message("user", "text", "See @hull.py", 9, 7, "u3", START + 8),
        Message("system", "text", "See @hull.py\n<hook>Be brief.</hook>", 9, 7, "u3", START + 8),
        Message("system", "text", "<state_snapshot>A leak.</state_snapshot>", 12, 8, "s3", START + 11),
    ]
    metadata = parser.metadata
    assert (metadata.agent, metadata.id) == ("qwen", "5e6f7a8b-0000-4000-8000-000000000001")
    assert (metadata.title, metadata.opening) == ("A leaking hull", "Why does it leak?")
    assert (metadata.project, metadata.branch, metadata.ended) == ("/home/ada/boats", "main", START + 11)
    assert parser.unknown == {"hologram": 1, "system hologram": 1}


def test_the_users_title_outranks_a_generated_one() -> None:
    parser = QwenFormat().parser("s.jsonl")
    for title, source in (("Auto", "auto"), ("Mine", "manual"), ("Again", "auto"), ("", "manual")):
        parser.feed(system("custom_title", customTitle=title, titleSource=source), 1)
    assert parser.metadata.title == "Mine"
    parser.feed(system("custom_title", customTitle="From an older version"), 1)
    parser.feed(system("parent_session", parentSessionId="p"), 1)
    assert (parser.metadata.title, parser.metadata.parent) == ("From an older version", "p")


@pytest.mark.parametrize("line", SAMPLES[:3])
def test_every_line_is_recognised_as_qwen(line: dict[str, Any]) -> None:
    known = format_of([line])
    assert known is not None
    assert known.agent == "qwen"


def test_other_lines_are_not_recognised() -> None:
    matches = QwenFormat().matches
    named = {"uuid": "u", "sessionId": "s"}
    assert not matches([{**named, "type": "user", "message": {"content": "x"}}])
    assert not matches([{**named, "type": "system", "subtype": "compact_boundary"}])
    assert not matches([{"type": "user", "message": {"parts": []}}])


def test_result_with_display_text_only_is_read() -> None:
    record = {"type": "tool_result", "sessionId": "s", "toolCallResult": {"resultDisplay": "Listed."}}
    (message,) = QwenFormat().parser("s.jsonl").feed(record, 1)
    assert (message.role, message.kind, message.text) == ("tool", "tool-result", "Listed.")


def test_older_documents_are_not_gemini_sessions(tmp_path: Path) -> None:
    answer = {"id": "b", "timestamp": "2026-05-04T09:00:02Z", "type": "qwen", "content": [{"text": "No seams."}]}
    question = {"id": "a", "timestamp": "2026-05-04T09:00:01Z", "type": "user", "content": "Why does it leak?"}
    document = {"sessionId": "s-1", "projectHash": "00ff", "startTime": "2026-05-04T09:00:00Z"}
    for home, agent in ((".qwen", "qwen"), (".gemini", "gemini")):
        path = tmp_path / home / "tmp" / "00ff" / "chats" / "session-2025-11-26T14-57-9e676089.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({**document, "messages": [question, answer]}))
        session = read_session(path, "")
        assert session is not None
        assert [(message.role, message.text) for message in session.messages] == [
            ("user", "Why does it leak?"),
            ("assistant", "No seams."),
        ]
        assert (session.metadata.agent, session.metadata.id, session.unknown) == (agent, "s-1", {})


def test_sessions_are_found_and_resumed(tmp_path: Path) -> None:
    machine = Machine(str(tmp_path), {"QWEN_HOME": str(tmp_path / "other")})
    found = [path for agent, _, path in session_folders(machine) if agent == "qwen"]
    assert found == [str(tmp_path / home / name) for home in ("other", ".qwen") for name in ("projects", "tmp")]
    assert resume_command("qwen", "x") == "qwen --resume x"


def test_reading_resumes() -> None:
    read_with_pauses(QwenFormat(), str(SESSION), fixture_lines(SESSION))


@given(st.lists(mangled(SAMPLES) | st.dictionaries(st.sampled_from(["type", "message", "systemPayload"]), json_values)))
def test_any_record_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    parser, messages = stored_after_every_line(QwenFormat(), values)
    assert {message.ordinal for message in messages} == set(range(1, parser.ordinal + 1))


def test_a_summary_of_older_messages_is_shown() -> None:
    def compressed(*parts: object) -> dict[str, Any]:
        history = [{"role": "user", "parts": list(parts)}, {"role": "model", "parts": [{"text": "Got it."}]}]
        return system("chat_compression", info={}, compressedHistory=history)

    summary = "<state_snapshot>\n<goal>Tie a bowline.</goal>\n</state_snapshot>"
    parser = QwenFormat().parser("s.jsonl")
    (message,) = parser.feed(compressed({"text": summary}), 1)
    assert (message.role, message.kind, message.text) == ("system", "text", summary)
    assert parser.feed(compressed({"text": "Tie a bowline."}, 7), 2) == []
    assert parser.feed(system("chat_compression", compressedHistory="odd"), 3) == []


def test_records_of_unknown_subtypes_are_counted() -> None:
    parser = QwenFormat().parser("s.jsonl")
    lines = [system("session_notes", text="Knots"), system("goal_state"), system("hologram")]
    assert feed(parser, list(enumerate(lines, 1))) == []
    assert parser.unknown == {"system hologram": 1}


def test_messages_of_a_managed_session_are_in_other_files(tmp_path: Path) -> None:
    folder = tmp_path / "resources" / "s"

    def reference(kind: str, id: str, data: bytes) -> dict[str, Any]:
        (folder / kind).mkdir(parents=True, exist_ok=True)
        (folder / kind / id).write_bytes(data)
        return {"kind": kind, "resourceId": id}

    def event(kind: str, **payload: Any) -> dict[str, Any]:
        record = {key: value for key, value in SAMPLES[0].items() if key != "systemPayload"}
        managed = {"kind": kind, "payload": payload}
        return {**record, "type": "system", "subtype": "managed_session_event_v1", "managedSession": managed}

    def said(role: str, text: str) -> bytes:
        message = {"role": role, "parts": [{"text": text}]}
        return json.dumps({"uuid": text, "sessionId": "s", "type": role, "message": message}).encode()

    answer = said("assistant", "With a bowline.")
    parts = [reference("managed-message-part", f"p{at}", answer[at : at + 40]) for at in range(0, len(answer), 40)]
    chunks = reference("managed-message-chunks", "b", json.dumps({"parts": parts}).encode())
    title = json.dumps({"title": "Knots", "titleSource": "manual"}).encode()
    about = reference("managed-session_metadata", "t", title)
    generated = reference("managed-session_metadata", "g", title.replace(b"Knots", b"Rope").replace(b"manual", b"auto"))
    blank = reference("managed-message-part", "blank", b" " * 8 * 1024**2)
    huge = json.dumps({"parts": [blank] * 9 + parts}).encode()
    own = reference("managed-message", "own", b"")
    reference("managed-message", "own", json.dumps(event("message.committed", contentRef=own)).encode())
    lines = [
        {**event(""), "subtype": "managed_session_header_v1", "managedSession": {"formatVersion": 1}},
        event("message.committed", contentRef=reference("managed-message", "a", said("user", "How to tie it?"))),
        event("message.committed", contentRef=chunks),
        event("domain.committed", domain="session_metadata", recordRef=about),
        event("domain.committed", domain="session_metadata", recordRef=generated),
        event("activation.changed", phase="active"),
        event("message.committed", contentRef={"kind": "managed-message", "resourceId": "../../s"}),
        event("message.committed", contentRef={"kind": "managed-message", "resourceId": "gone"}),
        event("message.committed", contentRef=reference("managed-message-chunks", "huge", huge)),
        event("message.committed", contentRef=own),
        {**event(""), "subtype": "managed_session_commit_v1", "managedSession": {"eventCount": 1}},
    ]
    path = tmp_path / "projects/boats/chats/s.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (session,) = conversations(path)
    said_parts = [(message.role, message.text, message.line) for message in session.messages]
    assert said_parts == [("user", "How to tie it?", 2), ("assistant", "With a bowline.", 3)]
    assert session.metadata.title == "Knots"
    assert session.unknown == {"missing message": 4}


def test_the_list_of_prompts_is_no_session(tmp_path: Path) -> None:
    chats = tmp_path / ".qwen" / "projects" / "-boats" / "chats"
    chats.mkdir(parents=True)
    for name in (SESSION.name, SESSION.name.replace(".jsonl", ".ledger.jsonl")):
        (chats / name).write_bytes(SESSION.read_bytes())
    found = find_transcripts(Settings(sessions=SessionSettings(folders=(str(chats.parent.parent),))))
    assert [Path(file.path).name for file in found.files] == [SESSION.name]
    assert found.skipped == []


def test_a_rewind_leaves_all_records_after_its_parent() -> None:
    def record(name: str, parent: str | None, text: str = "", **more: Any) -> dict[str, Any]:
        message = {"message": {"role": "user", "parts": [{"text": text}]}} if text else {}
        return {"uuid": name, "parentUuid": parent, "sessionId": "s", "type": "user", **message, **more}

    rewind = {"type": "system", "subtype": "rewind", "systemPayload": {"truncatedCount": 2}}
    parser = QwenFormat().parser("s.jsonl")
    lines = [
        record("a", None, "Tie a bowline."),
        record("b", "a", "And a hitch."),
        record("c", "a", **rewind),
        record("d", "c", "And a sheet bend."),
    ]
    feed(parser, list(enumerate(lines, 1)))
    assert parser.metadata.rewound == [(2, 3)]
    assert feed(parser, [(5, record("e", "unknown", **rewind))]) == []
    assert parser.metadata.rewound == [(2, 3)]
    feed(parser, [(6, record("f", None, **rewind)), (7, record("g", "f", "Start again."))])
    assert parser.metadata.rewound == [(1, 6)]
    assert parser.metadata.name == "Start again."
