"""Gemini CLI's sessions as lines and as documents, and saved histories."""

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.gemini import GeminiDocument, GeminiLines
from engine.corpus.transcripts.registry import resume_command
from tests.helpers.transcripts import (
    feed,
    fixture_lines,
    json_values,
    mangled,
    read_with_pauses,
    stored_after_every_line,
    without_calls,
)

FIXTURES = Path(__file__).parent / "fixtures" / "gemini"
LINES = FIXTURES / "session-2026-05-04T09-00-1a2b3c4d.jsonl"
DOCUMENT = FIXTURES / "session-2025-10-01T08-00-5e6f7a8b.json"
CHECKPOINT = FIXTURES / "checkpoint-boats%20and%20more.json"
SAMPLES = [value for _, value in fixture_lines(LINES)]
START = 1777885200.0


def test_repeated_messages_returned_once() -> None:
    parser = GeminiLines().parser("/home/ada/.gemini/tmp/boats/chats/session-2026-05-04T09-00-1a2b3c4d.jsonl")
    messages = feed(parser, fixture_lines(LINES))

    files = "--- Content from referenced files ---\nContent from @a.py:\n1/0\n--- End of content ---"
    assert without_calls(messages) == [
        Message("user", "text", "Why does @a.py fail?", line=2, ordinal=1, id="u1", time=START + 1),
        Message("system", "text", files, 2, 1, "u1", START + 1),
        Message("assistant", "thinking", "Reading\nI read the file.", 4, 2, "g1", START + 2),
        Message("assistant", "text", "It divides by zero.", 4, 2, "g1", START + 2),
        Message("assistant", "tool-call", "python a.py", 6, 2, "g1", START + 2, "run_shell_command"),
        Message("tool", "tool-result", "ZeroDivisionError", 6, 2, "g1", START + 2, "run_shell_command"),
        Message("system", "text", "Update available.", 7, 3, "i1", START + 4),
        Message("user", "text", "/review", 8, 4, "u2", START + 5),
        Message("system", "text", "Review the code in depth.\n[image: PNG, 1 KB]", 8, 4, "u2", START + 5),
    ]
    metadata = parser.metadata
    assert (metadata.agent, metadata.id) == ("gemini", "1a2b3c4d-0000-4000-8000-000000000001")
    assert (metadata.title, metadata.opening, metadata.project) == ("Division by zero", "Why does @a.py fail?", "boats")
    assert (metadata.started, metadata.ended, metadata.parent) == (START, START + 5, "")
    assert parser.unknown == {"hologram": 1, "without a type": 1}


def test_rewound_messages_are_an_abandoned_branch() -> None:
    def left(*values: dict[str, Any]) -> tuple[list[tuple[int, int]], str]:
        parser = GeminiLines().parser("chats/session-1.jsonl")
        feed(parser, enumerate(values, 1))
        return parser.metadata.rewound, parser.metadata.opening

    messages = [
        {"id": str(number), "type": "gemini" if number % 2 else "user", "content": f"Sing song {number}."}
        for number in range(6)
    ]
    assert left(*messages[:4], {"$rewindTo": "2"}, *messages[4:]) == ([(3, 5)], "Sing song 0.")
    assert left(*messages[:4], {"$rewindTo": "0"}, *messages[4:]) == ([(1, 5)], "Sing song 4.")
    assert left(*messages[:4], {"$rewindTo": "gone"}) == ([(1, 5)], "Sing song 0.")
    assert left({"$rewindTo": "2"}, *messages) == ([], "Sing song 0.")


def test_only_recorded_sessions_are_resumed_by_id() -> None:
    session = "1a2b3c4d-0000-4000-8000-000000000001"
    assert resume_command("gemini", session) == f"gemini --resume {session}"
    for other in ("checkpoint-hull", "session-2026-05-04T09-00-1a2b3c4d", f"'{session} x'", ""):
        assert resume_command("gemini", other) == ""


def test_the_file_of_a_sub_agent_is_a_side_conversation(tmp_path: Path) -> None:
    (tmp_path / ".project_root").write_text("/home/ada/boats\n")
    parser = GeminiLines().parser(str(tmp_path / "chats" / "parent-id" / "child-id.jsonl"))
    messages = feed(parser, fixture_lines(LINES)[1:])

    assert (parser.metadata.id, parser.metadata.parent, parser.metadata.project) == (
        "child-id",
        "parent-id",
        "/home/ada/boats",
    )
    assert all(message.side for message in messages)


def test_project_folder_is_named_by_the_lists_of_projects(tmp_path: Path) -> None:
    def project(name: str) -> str:
        return GeminiLines().parser(str(tmp_path / "tmp" / name / "chats" / "session-1.jsonl")).metadata.project

    def hashed(path: str) -> str:
        return hashlib.sha256(path.encode()).hexdigest()

    (tmp_path / "projects.json").write_text(json.dumps({"projects": {"/home/ada/boats": "boats-1", "/x": 1}}))
    (tmp_path / "trustedFolders.json").write_text(json.dumps({"/home/ada/sails": "TRUST_FOLDER"}))
    assert project("boats-1") == project(hashed("/home/ada/boats")) == "/home/ada/boats"
    assert (project(hashed("/home/ada/sails")), project("other"), project(hashed("/y"))) == (
        "/home/ada/sails",
        "other",
        "",
    )
    (tmp_path / "projects.json").write_text("[]")
    (tmp_path / "trustedFolders.json").write_text(json.dumps({"trustedFolders": ["/y", ["odd"]]}))
    assert (project("boats-1"), project(hashed("/y"))) == ("boats-1", "/y")


def test_hashed_project_folder_names_no_project() -> None:
    parser = GeminiLines().parser(f"/tmp/{'0a' * 32}/chats/session-x.jsonl")
    assert parser.metadata.project == ""
    parser.feed({"sessionId": "s", "projectHash": "h", "directories": ["/home/ada/boats"]}, 1)
    assert parser.metadata.project == "/home/ada/boats"


def test_a_document_is_read() -> None:
    (conversation,) = GeminiDocument().conversations(str(DOCUMENT))

    start = 1759305600.0
    assert without_calls(conversation.messages) == (
        Message("user", "text", "Name a river.", line=1, ordinal=1, id="a", time=start + 1),
        Message("assistant", "text", "The Elbe.", 2, 2, "b", start + 2),
        Message("assistant", "tool-call", '{\n  "pattern": "*.md",\n  "limit": 2\n}', 3, 3, "c", start + 3, "glob"),
        Message("tool", "tool-result", "nothing found", 3, 3, "c", start + 3, "glob", failed=True),
    )
    metadata = conversation.metadata
    assert (metadata.id, metadata.title, metadata.opening) == (
        "5e6f7a8b-0000-4000-8000-000000000002",
        "Rivers",
        "Name a river.",
    )
    assert (metadata.started, metadata.ended) == (start, start + 3)
    assert (conversation.key, conversation.unknown) == ("", Counter())


def test_a_saved_history_is_read() -> None:
    (conversation,) = GeminiDocument().conversations(str(CHECKPOINT))

    assert [(part.ordinal, part.role, part.kind, part.text) for part in conversation.messages] == [
        (
            1,
            "system",
            "text",
            "This is the Gemini CLI. We are setting up the context for our chat.\nToday's date is some day.",
        ),
        (2, "system", "text", "Got it. Thanks for the context!"),
        (3, "user", "text", "Draw a boat."),
        (4, "assistant", "thinking", "Thinking of sails."),
        (4, "assistant", "tool-call", "boat"),
        (5, "tool", "tool-result", "done"),
        (6, "assistant", "text", "Here it is.\n[image]"),
    ]
    assert (conversation.metadata.title, conversation.metadata.opening) == ("boats and more", "Draw a boat.")
    assert conversation.unknown == {"part hologram": 1}


def test_older_history_format_is_a_list(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint-x.json"
    path.write_text(json.dumps(json.loads(CHECKPOINT.read_text())["history"]))
    assert GeminiDocument().matches(str(path), path.read_bytes())
    (conversation,) = GeminiDocument().conversations(str(path))
    (newer,) = GeminiDocument().conversations(str(CHECKPOINT))
    assert conversation.messages == newer.messages


def test_gemini_format_recognises_only_its_own_files(tmp_path: Path) -> None:
    format = GeminiDocument()
    for path in (DOCUMENT, CHECKPOINT):
        assert format.matches(str(path), path.read_bytes())
    assert not format.matches("/x/conversations.json", b'[{"title": "x", "mapping": {}}]')
    assert not format.matches("/x/checkpoint-a.json", b'{"state": 1}')
    assert not format.matches("/x/logs.json", b'[{"sessionId": "s", "messageId": 0, "type": "user"}]')
    assert not format.matches(str(LINES), LINES.read_bytes())

    old = tmp_path / "session-x.json"
    old.write_bytes(DOCUMENT.read_bytes())
    assert format.matches(str(old), old.read_bytes())
    (tmp_path / "session-x.jsonl").touch()
    assert not format.matches(str(old), old.read_bytes()), "the session continues in the newer file"

    assert GeminiLines().matches(SAMPLES[:1])
    assert not GeminiLines().matches(SAMPLES[1:])
    assert not GeminiLines().matches([{"type": "user", "sessionId": "s"}])


def test_truncated_document_is_read_up_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "session-x.json"
    path.write_bytes(DOCUMENT.read_bytes()[:620])
    conversations = GeminiDocument().conversations(str(path))
    assert [message.text for message in next(conversations).messages] == ["Name a river.", "The Elbe."]
    with pytest.raises(ValueError, match="premature"):
        next(conversations)


def test_reading_stops_when_cancelled() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(GeminiDocument().conversations(str(DOCUMENT), cancel))


def test_reading_lines_resumes() -> None:
    read_with_pauses(GeminiLines(), "s.jsonl", fixture_lines(LINES))


@given(st.lists(mangled(SAMPLES) | st.dictionaries(st.sampled_from(["type", "content", "$set"]), json_values)))
def test_any_line_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    stored_after_every_line(GeminiLines(), values)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    value=mangled([json.loads(DOCUMENT.read_text()), json.loads(CHECKPOINT.read_text())]) | json_values,
    cut=st.integers(0, 3),
)
def test_any_document_is_read_or_refused(tmp_path: Path, value: object, cut: int) -> None:
    path = tmp_path / "session-x.json"
    data = json.dumps(value).encode()
    path.write_bytes(data[: len(data) - cut])
    try:
        for conversation in GeminiDocument().conversations(str(path)):
            for message in conversation.messages:
                assert message.line == message.ordinal
                message.text.encode()
    except ValueError:
        pass
