"""opencode's sessions: one file for the session, one for each message, one for each part."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from engine import find_sources
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.opencode import OpencodeDocument
from tests.helpers.transcripts import mangled, without_calls

START = 1_765_000_000.0
MS = 1_765_000_000_000

SESSION = {
    "id": "ses_1",
    "version": "1.0.10",
    "projectID": "4b0e",
    "directory": "/home/ada/boats",
    "title": "Repairing the boat",
    "time": {"created": MS, "updated": MS + 9000},
}
MESSAGES: dict[str, dict[str, Any]] = {
    "msg_1": {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": MS + 1000}, "agent": "build"},
    "msg_2": {"id": "msg_2", "sessionID": "ses_1", "role": "assistant", "time": {"created": MS + 2000}},
    "msg_3": {
        "id": "msg_3",
        "sessionID": "ses_1",
        "role": "assistant",
        "summary": True,
        "time": {"created": MS + 3000},
    },
    "msg_4": {"id": "msg_4", "sessionID": "ses_1", "role": "hologram"},
}
PARTS: dict[str, dict[str, dict[str, Any]]] = {
    "msg_1": {
        "prt_1": {"type": "text", "text": "Why does it leak?\nSee @plan.pdf"},
        "prt_2": {
            "type": "file",
            "mime": "application/pdf",
            "filename": "plan.pdf",
            "url": "data:application/pdf;base64,aGk=",
        },
        "prt_3": {"type": "text", "text": "Called the Read tool", "synthetic": True},
        "prt_4": {"type": "file", "mime": "image/png", "url": "data:image/png;base64,aGk="},
    },
    "msg_2": {
        "prt_1": {"type": "step-start"},
        "prt_2": {"type": "reasoning", "text": "Look at the hull.", "time": {"start": MS}},
        "prt_3": {"type": "text", "text": "Let me look."},
        "prt_4": {
            "type": "tool",
            "callID": "c1",
            "tool": "bash",
            "state": {"status": "completed", "input": {"command": "ls", "description": "List"}, "output": "hull.md"},
        },
        "prt_5": {
            "type": "tool",
            "callID": "c2",
            "tool": "read",
            "state": {"status": "error", "input": {"filePath": "x.md"}, "error": "no such file"},
        },
        "prt_6": {
            "type": "tool",
            "callID": "c3",
            "tool": "read",
            "state": {"status": "pending", "input": {}, "raw": ""},
        },
        "prt_7": {"type": "subtask", "prompt": "Search the attic", "description": "search", "agent": "explore"},
        "prt_8": {"type": "hologram"},
        "prt_9": {"type": "patch", "hash": "x", "files": []},
    },
    "msg_3": {"prt_1": {"type": "text", "text": "So far: a leak."}},
    "msg_4": {"prt_1": {"type": "text", "text": "?"}},
}


def stored(
    root: Path,
    session: object = SESSION,
    messages: dict[str, dict[str, Any]] = MESSAGES,
    parts: dict[str, dict[str, dict[str, Any]]] = PARTS,
) -> Path:
    storage = root / "storage"
    files: dict[Path, object] = {storage / "session" / "4b0e" / "ses_1.json": session}
    files |= {storage / "message" / "ses_1" / f"{name}.json": message for name, message in messages.items()}
    files |= {
        storage / "part" / message / f"{name}.json": part for message, of in parts.items() for name, part in of.items()
    }
    for path, value in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=2))
    return storage / "session" / "4b0e" / "ses_1.json"


def only(path: Path) -> Conversation:
    (conversation,) = OpencodeDocument().conversations(str(path))
    return conversation


def test_a_session_is_put_together_from_its_files(tmp_path: Path) -> None:
    conversation = only(stored(tmp_path))

    call = '{\n  "command": "ls",\n  "description": "List"\n}'
    first, second = ("msg_1", START + 1), ("msg_2", START + 2)
    assert without_calls(conversation.messages) == (
        Message("user", "text", "Why does it leak?\nSee @plan.pdf\n[file: plan.pdf]\n[image: PNG, 1 KB]", 1, 1, *first),
        Message("system", "text", "Called the Read tool", 1, 1, *first),
        Message("assistant", "thinking", "Look at the hull.", 2, 2, *second),
        Message("assistant", "text", "Let me look.", 2, 2, *second),
        Message("assistant", "tool-call", call, 2, 2, *second, "bash"),
        Message("tool", "tool-result", "hull.md", 2, 2, *second, "bash"),
        Message("assistant", "tool-call", "x.md", 2, 2, *second, "read", failed=True),
        Message("tool", "tool-result", "no such file", 2, 2, *second, "read", failed=True),
        Message("assistant", "tool-call", "read", 2, 2, *second, "read"),
        Message("assistant", "tool-call", "Search the attic", 2, 2, *second, "explore"),
        Message("system", "text", "So far: a leak.", 3, 3, "msg_3", START + 3),
    )
    metadata = conversation.metadata
    assert (metadata.agent, metadata.id, metadata.title) == ("opencode", "ses_1", "Repairing the boat")
    assert (metadata.project, metadata.opening, metadata.parent) == (
        "/home/ada/boats",
        "Why does it leak? See @plan.pdf",
        "",
    )
    assert (metadata.started, metadata.ended) == (START, START + 3)
    assert conversation.unknown == {"role hologram": 1, "part hologram": 1}


def test_size_of_found_sessions_includes_their_messages(tmp_path: Path) -> None:
    opencode = tmp_path / ".local" / "share" / "opencode"
    stored(opencode)
    (source,) = find_sources(tmp_path, {}).sources
    size = sum(path.stat().st_size for path in opencode.rglob("*.json"))
    assert (source.agent, source.files, source.bytes) == ("opencode", 1, size)


def test_session_without_folder_has_that_of_its_answers(tmp_path: Path) -> None:
    older = {key: value for key, value in SESSION.items() if key != "directory"}
    path = {"cwd": "/home/ada/boats/hull", "root": "/home/ada/boats"}
    assert only(stored(tmp_path, older, {"msg_2": MESSAGES["msg_2"] | {"path": path}})).metadata.project == path["cwd"]


@pytest.mark.parametrize(
    "title", ["New session - 2025-12-06T05:46:40.000Z", "Child session - 2025-12-06T05:46:40.000Z"]
)
def test_title_that_is_only_a_date_is_ignored(tmp_path: Path, title: str) -> None:
    metadata = only(stored(tmp_path, {**SESSION, "title": title})).metadata
    assert (metadata.title, metadata.name) == ("", "Why does it leak? See @plan.pdf")


def test_the_session_of_a_sub_agent_is_a_side_conversation(tmp_path: Path) -> None:
    conversation = only(stored(tmp_path, {**SESSION, "parentID": "ses_0"}))
    assert conversation.metadata.parent == "ses_0"
    assert all(message.side for message in conversation.messages)


def test_format_is_recognised_by_path_and_id(tmp_path: Path) -> None:
    path = stored(tmp_path)
    format = OpencodeDocument()
    assert format.matches(str(path), path.read_bytes())
    message = tmp_path / "storage" / "message" / "ses_1" / "msg_1.json"
    assert not format.matches(str(message), message.read_bytes())
    assert not format.matches(str(path), b'{"id": "other"}')
    assert not format.matches("/x/ses_1.json", path.read_bytes())


def test_half_written_file_is_skipped_and_others_are_read(tmp_path: Path) -> None:
    path = stored(tmp_path)
    storage = tmp_path / "storage"
    (storage / "message" / "ses_1" / "msg_2.json").write_text('{"id": "msg_2", "ro')
    (storage / "part" / "msg_1" / "prt_2.json").write_bytes(b"")
    conversation = only(path)
    assert [message.ordinal for message in conversation.messages] == [1, 1, 2]
    assert conversation.unknown["unreadable file"] == 2

    path.write_text('{"id": "ses_1", ')
    with pytest.raises(ValueError, match="ses_1"):
        only(path)


def test_only_its_own_folders_are_read(tmp_path: Path) -> None:
    elsewhere = stored(tmp_path / "elsewhere").parents[2]
    path = stored(tmp_path / "here", messages={}, parts={})
    (path.parents[2] / "message").mkdir()
    (path.parents[2] / "message" / "ses_1").symlink_to(elsewhere / "message" / "ses_1")
    assert only(path).messages == ()


def test_reading_stops_when_cancelled(tmp_path: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(OpencodeDocument().conversations(str(stored(tmp_path)), cancel))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    session=mangled([SESSION]),
    message=mangled([MESSAGES["msg_1"], MESSAGES["msg_3"]]),
    part=mangled([part for parts in PARTS.values() for part in parts.values()]),
)
def test_any_json_is_read(tmp_path: Path, session: object, message: dict[str, Any], part: dict[str, Any]) -> None:
    conversation = only(stored(tmp_path, session, {"msg_1": message}, {"msg_1": {"prt_1": part}}))
    for found in conversation.messages:
        found.text.encode()
        found.tool.encode()
        assert found.line == found.ordinal == 1
