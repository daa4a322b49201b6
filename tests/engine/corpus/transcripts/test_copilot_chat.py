"""Chats in VS Code: a session as one object, and as a log of changes."""

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import find_sources
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.copilot_chat import CopilotChatDocument
from engine.corpus.transcripts.registry import copied_sessions, may_be_transcript
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.corpus.transcripts.transcript_reader import conversations
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.transcripts import fixture_lines, json_values, mangled, without_calls

FIXTURES = Path(__file__).parent / "fixtures" / "copilot_chat"
OBJECT = FIXTURES / "chatSessions" / "0c1d2e3f-0000-4000-8000-000000000001.json"
LOG = FIXTURES / "chatSessions" / "0c1d2e3f-0000-4000-8000-000000000002.jsonl"
SAMPLES = [value for _, value in fixture_lines(LOG)]


def test_session_in_one_json_object_is_read() -> None:
    (conversation,) = CopilotChatDocument().conversations(str(OBJECT))

    request, answered = ("request_1", 1765000000.0), ("response_1", 1765000004.0)
    question = "Why does #file:hull.py leak?\n[file: hull.py]"
    assert without_calls(conversation.messages) == (
        Message("user", "text", question, 1, 1, *request),
        Message("assistant", "thinking", "I should read it.", 2, 2, *answered),
        Message("assistant", "tool-call", '{"filePath": "hull.py"}', 2, 2, *answered, "copilot_readFile"),
        Message("tool", "tool-result", "Read /home/ada/my boats/hull.py", 2, 2, *answered, "copilot_readFile"),
        Message("assistant", "text", "The seam in hull.py is open.", 2, 2, *answered),
        Message("assistant", "tool-call", "/home/ada/my boats/hull.py\ncaulk()", 2, 2, *answered, "edit"),
        Message("user", "text", "Is it tight now?", 3, 3, "request_2", 1765000060.0),
        Message("assistant", "text", "It is.", 4, 4, "", 1765000060.0),
        Message("system", "text", "The answer was cut off.", 4, 4, "", 1765000060.0),
    )
    metadata = conversation.metadata
    assert (metadata.agent, metadata.id, metadata.title) == ("copilot-chat", OBJECT.stem, "A leaking hull")
    assert (metadata.project, metadata.opening) == ("/home/ada/my boats", "Why does #file:hull.py leak?")
    assert (metadata.started, metadata.ended) == (1764999990.0, 1765000060.0)
    assert conversation.unknown == {"part hologram": 1}


def test_log_of_changes_becomes_messages() -> None:
    (conversation,) = CopilotChatDocument().conversations(str(LOG))

    answered = ("response_1", 1770000009.0)
    assert without_calls(conversation.messages) == (
        Message("user", "text", "Build the boat", 1, 1, "request_1", 1770000001.0),
        Message("assistant", "text", "On it.", 2, 2, *answered),
        Message("assistant", "tool-call", "make", 2, 2, *answered, "run_in_terminal"),
        Message("tool", "tool-result", "done", 2, 2, *answered, "run_in_terminal"),
        Message("assistant", "tool-call", '{"q": "keel"}', 2, 2, *answered, "mcp_docs"),
        Message("tool", "tool-result", "a beam", 2, 2, *answered, "mcp_docs"),
    )
    assert (conversation.metadata.id, conversation.metadata.title) == (LOG.stem, "Boat building")
    assert conversation.metadata.started == 1770000000.0


def test_questions_plans_and_notices_are_speech(tmp_path: Path) -> None:
    seam = {"id": "q1", "title": "Seam?", "options": [{"value": "0", "label": "Caulk"}, {"value": "1", "label": "Tar"}]}
    carousel = {
        "kind": "questionCarousel",
        "questions": [seam, {"id": "q2", "title": "Sail", "message": {"value": "Which **sail**?"}}],
        "data": {"q1": {"selectedValue": "1"}, "q2": {"selectedValues": [], "freeformValue": "the old one"}},
    }
    plan = {"kind": "planReview", "title": "Plan", "content": "1. Tar it", "data": {"action": "Implement Plan"}}
    parts = [
        carousel,
        {**carousel, "questions": [seam], "data": {"q1": "0"}},
        plan,
        {**plan, "data": {"rejected": True, "feedback": "Too slow."}},
        {"kind": "externalEdit", "uri": {"path": "/boats/hull.py"}, "editKind": "edit"},
        {"kind": "systemNotification", "content": {"value": "A task is done."}},
        {"kind": "usage", "promptTokens": 3},
        {"kind": "questionCarousel", "questions": [None, {"options": {}}], "data": 3},
    ]
    request = {"requestId": "r", "message": {"text": "Repair it"}, "response": parts}
    path = tmp_path / OBJECT.name
    path.write_text(json.dumps({"version": 3, "responderUsername": "x", "sessionId": "s", "requests": [request]}))
    (conversation,) = CopilotChatDocument().conversations(str(path))
    assert [(message.role, message.kind, message.text) for message in conversation.messages[1:]] == [
        ("assistant", "text", "Seam?\n- Caulk\n- Tar\n\nWhich **sail**?"),
        ("user", "text", "Seam? Tar\nWhich **sail**? the old one"),
        ("assistant", "text", "Seam?\n- Caulk\n- Tar"),
        ("user", "text", "Caulk"),
        ("assistant", "text", "1. Tar it"),
        ("user", "text", "Implement Plan"),
        ("assistant", "text", "1. Tar it"),
        ("user", "text", "Rejected\nToo slow."),
        ("assistant", "tool-call", "/boats/hull.py"),
        ("system", "text", "A task is done."),
    ]
    assert not conversation.unknown


def test_half_written_last_line_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / LOG.name
    path.write_bytes(LOG.read_bytes() + b'{"kind":1,"k":["custom')
    (conversation,) = CopilotChatDocument().conversations(str(path))
    assert conversation.metadata.title == "Boat building"
    assert not conversation.unknown


def test_workspace_on_another_machine_keeps_its_path(tmp_path: Path) -> None:
    chat = tmp_path / "chatSessions" / OBJECT.name
    chat.parent.mkdir()
    shutil.copy(OBJECT, chat)
    for uri, path in (
        ("vscode-remote://ssh-remote%2Bharbour/home/ada/boats", "/home/ada/boats"),
        ("file:///c%3A/Users/ada/boats", "c:/Users/ada/boats"),
    ):
        (tmp_path / "workspace.json").write_text(json.dumps({"folder": uri}))
        (conversation,) = CopilotChatDocument().conversations(str(chat))
        assert conversation.metadata.project == path
    (tmp_path / "workspace.json").write_text("[")
    (conversation,) = CopilotChatDocument().conversations(str(chat))
    assert conversation.metadata.project == ""


def test_only_own_files_are_recognised() -> None:
    format = CopilotChatDocument()
    for path in (OBJECT, LOG):
        assert format.matches(str(path), path.read_bytes())
    assert not format.matches("/x/state.json", b'{"version": 2, "initialFileContents": []}')
    assert not format.matches("/x/a.jsonl", b'{"kind":1,"k":["customTitle"],"v":"x"}')
    assert not format.matches("/x/a.jsonl", b'{"kind":0,"v":{"other":1}}')


def test_only_files_in_folders_of_chats_are_listed() -> None:
    name = "0c1d2e3f-0000-4000-8000-000000000001.json"
    assert may_be_transcript(f"/x/chatSessions/{name}")
    assert may_be_transcript(f"/x/emptyWindowChatSessions/{name}")
    assert may_be_transcript(f"/x/transferredChatSessions/{name}")
    assert may_be_transcript(name)
    assert not may_be_transcript(f"/x/other/{name}")


def _chat(folder: Path, name: str, time: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(OBJECT, folder / name)
    os.utime(folder / name, (time, time))


@pytest.mark.parametrize(
    "user", [".config/Code/User", "Library/Application Support/VSCodium/User", ".config/Positron/User"]
)
def test_chats_are_found_and_copies_left_out(tmp_path: Path, user: str) -> None:
    storage, without = tmp_path / user / "workspaceStorage", tmp_path / user / "globalStorage/emptyWindowChatSessions"
    transferred = without.parent / "transferredChatSessions"
    moved, migrated = OBJECT.name, LOG.name
    _chat(without, moved, 1)
    _chat(transferred, moved, 1)
    _chat(storage / "a1" / "chatSessions", moved, 2)
    _chat(storage / "a1" / "chatSessions", migrated.removesuffix("l"), 3)
    _chat(storage / "a1" / "chatSessions", migrated, 2)
    _chat(storage / "a1" / "GitHub.copilot-chat" / "transcripts", migrated, 2)
    sources = find_sources(tmp_path, {}).sources
    assert [(source.agent, source.path, source.files) for source in sources] == [
        ("copilot-chat", str(storage), 4),
        ("copilot-chat", str(without), 1),
        ("copilot-chat", str(transferred), 1),
    ]
    folders = tuple(source.path for source in sources)
    files = find_transcripts(Settings(sessions=SessionSettings(folders=folders))).files
    left_out = copied_sessions(files, set())
    kept = sorted(file.path for file in files if file.name not in left_out)
    assert kept == [str(storage / "a1" / "chatSessions" / name) for name in (moved, migrated)]


def test_transcript_of_copilot_counts_without_the_chat(tmp_path: Path) -> None:
    storage = tmp_path / ".config/Code/User/workspaceStorage"
    ids = {
        sort: f"0c1d2e3f-0000-4000-8000-00000000000{number}" for number, sort in enumerate(("both", "empty", "alone"))
    }
    own, chats = storage / "a1/GitHub.copilot-chat/transcripts", storage / "a1/chatSessions"
    for folder in (own, chats, storage / "a1/GitHub.copilot-chat/debug-logs/x"):
        folder.mkdir(parents=True)
    (storage / "a1/GitHub.copilot-chat/debug-logs/x/main.jsonl").write_text('{"name": "session_start"}')
    (storage / "a1/workspace.json").write_text('{"folder": "file:///home/ada/my%20boats"}')
    _chat(chats, f"{ids['both']}.json", 2)
    (chats / f"{ids['empty']}.jsonl").write_text('{"kind":0,"v":{"version":3,"creationDate":1,"requests":[]}}\n')
    for id_ in ids.values():
        start = {"sessionId": id_, "version": 1, "producer": "copilot-agent", "vscodeVersion": "1.137.0"}
        call = {"toolCallId": "c", "name": "read_file", "arguments": '{"filePath": "hull.py"}', "type": "function"}
        events = (
            ("session.start", start),
            ("user.message", {"content": "Does it leak?", "attachments": []}),
            ("assistant.turn_start", {"turnId": "0"}),
            ("assistant.message", {"messageId": "m", "content": "I look.", "toolRequests": [call]}),
            ("tool.execution_start", {"toolCallId": "c", "toolName": "read_file", "arguments": {}}),
            ("tool.execution_complete", {"toolCallId": "c", "success": True, "result": {"content": "x"}}),
            ("assistant.turn_end", {"turnId": "0"}),
        )
        rows = ({"type": kind, "data": data, "timestamp": "2026-09-16T10:00:00Z"} for kind, data in events)
        (own / f"{id_}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = find_transcripts(Settings(sessions=SessionSettings(folders=(str(storage),)))).files
    left_out = copied_sessions(files, set())
    assert len(files) == 5
    assert {file.path for file in files if file.name in left_out} == {str(own / f"{ids['both']}.jsonl")}
    (session,) = conversations(own / f"{ids['alone']}.jsonl")
    metadata = session.metadata
    assert (metadata.agent, metadata.id, metadata.project) == ("copilot-chat", ids["alone"], "/home/ada/my boats")
    assert [message.text for message in session.messages] == [
        "Does it leak?",
        "I look.",
        '{"filePath": "hull.py"}',
        "x",
    ]
    assert not session.unknown


def test_reading_stops_when_cancelled() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(CopilotChatDocument().conversations(str(LOG), cancel))


def _read(path: Path) -> None:
    try:
        for conversation in CopilotChatDocument().conversations(str(path)):
            for message in conversation.messages:
                assert message.line == message.ordinal
                message.text.encode()
    except ValueError:
        pass


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=mangled([json.loads(OBJECT.read_text())]) | json_values, cut=st.integers(0, 3))
def test_any_object_is_read_or_refused(tmp_path: Path, value: object, cut: int) -> None:
    path = tmp_path / OBJECT.name
    data = json.dumps(value).encode()
    path.write_bytes(data[: len(data) - cut])
    _read(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(mangled(SAMPLES) | st.sampled_from(SAMPLES), max_size=8))
def test_copilot_log_with_any_values_never_raises(tmp_path: Path, values: list[object]) -> None:
    path = tmp_path / LOG.name
    path.write_text("\n".join(json.dumps(value) for value in [SAMPLES[0], *values]))
    _read(path)
