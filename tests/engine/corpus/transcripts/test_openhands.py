"""Conversations of OpenHands, of both of its layouts."""

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.parsers.openhands import OpenHandsConversation
from engine.corpus.transcripts.registry import may_be_transcript, parts_changed, session_folders
from engine.corpus.transcripts.tool_uses import uses_of
from engine.corpus.user_environment import Machine
from tests.helpers.session_rows import check_read, parts_of
from tests.helpers.transcripts import json_values, mangled, read_session

TIME = "2026-05-04T09:00:00.500000"


def text(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}]


def newer(kind: str, source: str = "agent", **more: Any) -> dict[str, Any]:
    return {"id": "e", "timestamp": TIME, "source": source, "kind": kind, **more}


def call(tool: str, arguments: str = "", **more: Any) -> dict[str, Any]:
    given = {"tool_name": tool, "tool_call": {"id": "c", "name": tool, "arguments": arguments}, "thought": []}
    return newer("ActionEvent", **{**given, **more})


NEWER: list[dict[str, Any]] = [
    newer("SystemPromptEvent", system_prompt=text("You are careful.")),
    newer("MessageEvent", "user", llm_message={"role": "user", "content": text("Why does it leak?")}),
    call("terminal", '{"command": "cat hull.py"}', thought=text("Let me look."), reasoning_content="Seams."),
    newer("ObservationEvent", "environment", tool_name="terminal", observation={"content": text("seams = None")}),
    call("think", action={"kind": "ThinkAction", "thought": "Hm."}),
    newer("ObservationEvent", "environment", tool_name="think", observation={"content": text("Thought.")}),
    newer("UserRejectObservation", "environment", tool_name="terminal", rejection_reason="Not now."),
    newer("AgentErrorEvent", tool_name="terminal", error="No such tool."),
    newer("Condensation", "environment", summary="So far: a leak."),
    newer("ConversationStateUpdateEvent", "environment", key="stats", value={}),
    newer("HologramEvent"),
    newer("MessageEvent", llm_message={"role": "assistant", "content": text("Wait.")}, extended_content=text("Skill.")),
    call("finish", '{"message": "It has no seams."}', action={"kind": "FinishAction", "message": "It has no seams."}),
]
OLDER: list[dict[str, Any]] = [
    {"id": 0, "timestamp": TIME, "source": "agent", "action": "system", "args": {"content": "You are careful."}},
    {"id": 1, "timestamp": TIME, "source": "user", "action": "message", "args": {"content": "Why does it leak?"}},
    {"id": 2, "source": "environment", "observation": "agent_state_changed", "content": ""},
    {
        "id": 3,
        "source": "agent",
        "action": "run",
        "args": {"command": "cat hull.py", "thought": "Let me look.", "hidden": False},
    },
    {"id": 4, "source": "agent", "cause": 3, "observation": "run", "content": "seams = None"},
    {"id": 5, "source": "agent", "action": "read", "args": {"path": "hull.py", "thought": "", "start": 0}},
    {"id": 6, "source": "agent", "action": "think", "args": {"thought": "Hm."}},
    {
        "id": 10,
        "source": "agent",
        "action": "finish",
        "message": "Done.",
        "args": {"final_thought": "It has no seams."},
    },
]


def write_newer(folder: Path, events: list[Any], state: Any = None) -> Path:
    (folder / "events").mkdir(parents=True)
    for number, event in enumerate(events):
        (folder / "events" / f"event-{number:05d}-0a1b2c3d-0000.json").write_text(json.dumps(event))
    (folder / "base_state.json").write_text(json.dumps(state or {}))
    return folder / "base_state.json"


def write_older(folder: Path, events: list[Any]) -> Path:
    (folder / "events").mkdir(parents=True)
    for number, event in enumerate(events):
        (folder / "events" / f"{event.get('id', number)}.json").write_text(json.dumps(event))
    return folder / "events" / "0.json"


def read(path: Path) -> Conversation:
    (conversation,) = OpenHandsConversation().conversations(str(path))
    return conversation


def test_a_conversation_is_read(tmp_path: Path) -> None:
    state = {"id": "0a1b", "workspace": {"kind": "LocalWorkspace", "working_dir": "/home/ada/boats"}}
    conversation = read(write_newer(tmp_path / "c-1", NEWER, state))
    assert parts_of(conversation.messages) == [
        (1, "user", "text", "Why does it leak?", ""),
        (2, "assistant", "thinking", "Seams.", ""),
        (2, "assistant", "text", "Let me look.", ""),
        (2, "assistant", "tool-call", "cat hull.py", "terminal"),
        (3, "tool", "tool-result", "seams = None", "terminal"),
        (4, "assistant", "thinking", "Hm.", ""),
        (5, "tool", "tool-result", "Not now.", "terminal"),
        (6, "tool", "tool-result", "No such tool.", "terminal"),
        (7, "system", "text", "So far: a leak.", ""),
        (8, "assistant", "text", "Wait.", ""),
        (8, "system", "text", "Skill.", ""),
        (9, "assistant", "text", "It has no seams.", ""),
    ]
    metadata = conversation.metadata
    assert (metadata.agent, metadata.id, metadata.project) == ("openhands", "0a1b", "/home/ada/boats")
    assert (metadata.opening, metadata.started) == ("Why does it leak?", datetime.fromisoformat(TIME).timestamp())
    assert conversation.unknown == {"HologramEvent": 1}


def test_calls_of_an_agent_it_drives_are_read_once(tmp_path: Path) -> None:
    def driven(status: str, call: str = "a", **more: Any) -> dict[str, Any]:
        given = {"tool_call_id": call, "title": "Read hull.py", "tool_kind": "read", "status": status}
        return {**newer("ACPToolCallEvent", **{**given, **more}), "id": f"{call}-{status}"}

    seen = [{"type": "content", "content": {"type": "text", "text": "seams = None"}}, {"type": "terminal"}, 5]
    events = [
        driven("pending"),
        driven("pending", "b", tool_kind=None),
        driven("in_progress", raw_input={"path": "hull.py"}),
        driven("completed", raw_input={"path": "hull.py"}, content=seen, raw_output={"lines": 1}),
        driven("failed", "b", tool_kind=None, raw_output="No such file."),
        newer("InterruptEvent", "user"),
    ]
    path = write_newer(tmp_path / "c-1", events)
    (tmp_path / "c-1" / "meta.json").write_text('{"title": "A leaking hull"}')
    conversation = read(path)
    assert parts_of(conversation.messages) == [
        (1, "assistant", "tool-call", "hull.py", "read"),
        (2, "assistant", "tool-call", "Read hull.py", "Read hull.py"),
        (3, "tool", "tool-result", "seams = None", "read"),
        (4, "tool", "tool-result", "No such file.", "Read hull.py"),
    ]
    assert (conversation.metadata.title, conversation.unknown) == ("A leaking hull", {})


def test_files_that_its_editor_changed_are_found(tmp_path: Path) -> None:
    named = [
        call("file_editor", json.dumps({"command": how, "path": f"/boats/{how}.py"})) for how in ("view", "insert")
    ]
    question = newer("MessageEvent", "user", llm_message={"role": "user", "content": text("Why does it leak?")})
    conversation = read(write_newer(tmp_path / "c-1", [question, *named], {"id": "0a1b"}))
    used = [use for message in conversation.messages for use in uses_of(message)]
    assert used == [("read", "/boats/view.py"), ("edited", "/boats/insert.py")]


@pytest.mark.parametrize("leaf", ["5", "", "unknown"])
def test_events_outside_the_current_branch_are_abandoned(tmp_path: Path, leaf: str) -> None:
    def message_event(number: int, text_: str, **more: Any) -> dict[str, Any]:
        message = {"role": "user", "content": text(text_)}
        return {**newer("MessageEvent", "user", llm_message=message), "id": str(number), **more}

    events = [
        message_event(1, "First."),  # older events name no parent
        message_event(2, "Second."),
        message_event(3, "Wrong.", parent_id="2"),
        message_event(4, "Anew.", parent_id="2"),
        message_event(5, "Right.", parent_id="4"),
    ]
    conversation = read(write_newer(tmp_path / "c-1", events, {"id": "c", "leaf_event_id": leaf or None}))
    texts, left = ([message.text for message in kept] for kept in (conversation.messages, conversation.abandoned))
    if leaf == "5":
        assert (texts, left) == (["First.", "Second.", "Anew.", "Right."], ["Wrong."])
        assert [message.ordinal for message in conversation.everything] == [1, 2, 3, 4, 5]
    else:
        assert (len(texts), left) == (5, [])


def test_an_older_conversation_is_read(tmp_path: Path) -> None:
    path = write_older(tmp_path / "s-1", OLDER)
    (tmp_path / "s-1" / "metadata.json").write_text('{"title": "A leaking hull"}')
    (tmp_path / "s-1" / "events" / "9.json").write_text("{half")
    conversation = read(path)
    assert parts_of(conversation.messages) == [
        (1, "user", "text", "Why does it leak?", ""),
        (2, "assistant", "text", "Let me look.", ""),
        (2, "assistant", "tool-call", "cat hull.py", "run"),
        (3, "tool", "tool-result", "seams = None", "run"),
        (4, "assistant", "tool-call", "hull.py", "read"),
        (5, "assistant", "thinking", "Hm.", ""),
        (6, "assistant", "text", "It has no seams.", ""),
    ]
    assert (conversation.metadata.id, conversation.metadata.title) == ("s-1", "A leaking hull")
    assert conversation.unknown == {"unreadable file": 1}


def test_format_is_recognised_by_layout(tmp_path: Path) -> None:
    for path in (write_newer(tmp_path / "c-1", NEWER), write_older(tmp_path / "s-1", OLDER)):
        session = read_session(path, "")
        assert session is not None
        assert session.metadata.agent == "openhands"
        assert may_be_transcript(str(path))
    for other in ("other/base_state.json", "other/0.json"):
        path = tmp_path / other
        path.parent.mkdir(exist_ok=True)
        path.write_text('{"source": "user"}')
        assert read_session(path, "") is None


def test_a_new_event_counts_as_a_change(tmp_path: Path) -> None:
    for path in (write_newer(tmp_path / "c-1", []), write_older(tmp_path / "s-1", OLDER)):
        events = tmp_path / path.relative_to(tmp_path).parts[0] / "events"
        os.utime(events, (4e9, 4e9))
        assert parts_changed(str(path)) == 4 * 10**18
    assert parts_changed(str(tmp_path / "nowhere" / "base_state.json")) == 0
    assert parts_changed(str(tmp_path / "0.json")) == 0


def test_a_linked_folder_is_not_followed(tmp_path: Path) -> None:
    path = write_newer(tmp_path / "c-1", NEWER)
    (tmp_path / "c-1" / "events").rename(tmp_path / "elsewhere")
    (tmp_path / "c-1" / "events").symlink_to(tmp_path / "elsewhere")
    assert read(path).messages == ()


def test_reading_stops_when_cancelled(tmp_path: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(OpenHandsConversation().conversations(str(write_newer(tmp_path / "c-1", NEWER)), cancel))


def test_folders_are_found(tmp_path: Path) -> None:
    machine = Machine(str(tmp_path), {"OPENHANDS_CONVERSATIONS_DIR": "/chats"})
    found = [path for agent, _, path in session_folders(machine) if agent == "openhands"]
    names = ("conversations", "agent-canvas/conversations", "agent-canvas/dev_conversations", "sessions")
    assert found == ["/chats", *(str(tmp_path / ".openhands" / name) for name in names)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(event=mangled(NEWER + OLDER) | json_values, state=json_values, number=st.integers(0, 10**9))
def test_any_event_is_read(tmp_path: Path, event: Any, state: Any, number: int) -> None:
    folder = tmp_path / str(number)
    if not folder.exists():
        check_read(read(write_newer(folder, [event, event], state)))
