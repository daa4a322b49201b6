"""Copilot CLI's events."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import find_sources
from engine.corpus.transcripts.agents import copilot_cli
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.copilot_cli import CopilotFormat
from engine.corpus.transcripts.registry import parts_changed, resume_command, session_folders
from engine.corpus.transcripts.transcript_reader import conversations
from engine.corpus.user_environment import Machine
from tests.helpers.agent_databases import ANSWERED, ASKED, DATABASES, FILE, LOOKING
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

EVENTS = Path(__file__).parent / "fixtures" / "copilot_cli" / "events.jsonl"
SAMPLES = [value for _, value in fixture_lines(EVENTS)]
START = 1777885200.0


def event(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "id": "e", "timestamp": "2026-05-04T09:00:00Z", "data": data}


def parsed(*events: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    messages = feed(CopilotFormat().parser("s.jsonl"), enumerate(events, start=1))
    return [(message.role, message.kind, message.text, message.tool) for message in messages]


def test_events_become_messages() -> None:
    parser = CopilotFormat().parser(str(EVENTS))
    assert without_calls(feed(parser, fixture_lines(EVENTS))) == [
        Message("user", "text", "Why does hull.py leak?\n[file: hull.py]", line=4, ordinal=1, id="e4", time=START + 1),
        Message("assistant", "thinking", "Look at the seams.", 6, 2, "e6", START + 2.5),
        Message("assistant", "text", "Let me look.", 7, 3, "e7", START + 3),
        Message("assistant", "tool-call", "cat hull.py", 7, 3, "e7", START + 3, "bash"),
        Message("tool", "tool-result", "seams = None", 9, 4, "e9", START + 4, "bash"),
        Message("assistant", "tool-call", "Check the keel", 10, 5, "e10", START + 5, "task"),
        Message("assistant", "text", "The keel is dry.", 11, 6, "e11", START + 6, side=True),
        Message("tool", "tool-result", "stopped", 12, 7, "e12", START + 7, "task", failed=True),
        Message("system", "text", "Skill text.", 13, 8, "e13", START + 8),
        Message("assistant", "text", "It has no seams.", 14, 9, "e14", START + 9),
        Message("system", "text", "So far: no seams.", 16, 10, "e16", START + 11),
    ]
    metadata = parser.metadata
    assert (metadata.agent, metadata.id) == ("copilot-cli", "0f6c1d2e-0000-4000-8000-00000000c0c0")
    assert (metadata.title, metadata.opening) == ("A leaking hull", "Why does hull.py leak?")
    assert (metadata.project, metadata.branch, metadata.started, metadata.ended) == (
        "/home/ada/boats",
        "main",
        START,
        START + 11,
    )
    assert parser.unknown == {"hologram.shown": 1}
    assert parser.calls == {}


def test_messages_without_a_model_have_the_chosen_one() -> None:
    parser = CopilotFormat().parser("s.jsonl")
    answers = [event("assistant.message", content="Yes.", **more) for more in ({}, {"model": "gpt-5"}, {})]
    chosen = event("session.start", sessionId="s", selectedModel="claude-sonnet-4.5")
    events = [chosen, *answers[:2], event("session.model_change", newModel="gpt-5.1"), answers[2]]
    feed(parser, enumerate(events, start=1))
    assert list(parser.metadata.usage) == ["claude-sonnet-4.5", "gpt-5", "gpt-5.1"]


@pytest.mark.parametrize(
    ("workspace", "title"),
    [
        ("name: Sails\nsummary: Hull\n", "Sails"),
        ("summary: 'Hull: wet'\n", "Hull: wet"),
        ("name:\nsummary: |-\n  Hull\n", ""),
        ("  name: inner\n# name: no\n", ""),
        ("", ""),
    ],
)
def test_title_is_read_from_the_workspace_file(tmp_path: Path, workspace: str, title: str) -> None:
    (tmp_path / "workspace.yaml").write_text(workspace)
    parser = CopilotFormat().parser(str(tmp_path / "events.jsonl"))
    assert parser.metadata.title == title
    feed(parser, enumerate([event("session.title_changed", title="Made\nup")], start=1))
    assert parser.metadata.title == (title or "Made up")


def test_session_id_comes_from_the_path() -> None:
    assert CopilotFormat().parser("/x/session-state/abc/events.jsonl").metadata.id == "abc"
    assert CopilotFormat().parser("/x/session-state/abc.jsonl").metadata.id == "abc"


def test_tool_calls_without_a_request_are_read() -> None:
    assert parsed(
        event("tool.user_requested", toolCallId="c", toolName="shell", arguments={"command": "ls"}),
        event("tool.execution_start", toolCallId="c", toolName="shell", arguments={"command": "ls"}),
        event("tool.execution_complete", toolCallId="c", result="hull.py"),
        event("tool.execution_start", toolCallId="d", toolName="view", arguments="hull.py"),
        event("tool.execution_complete", toolCallId="d", success=False, error="not there"),
    ) == [
        ("user", "tool-call", "ls", "shell"),
        ("tool", "tool-result", "hull.py", "shell"),
        ("assistant", "tool-call", "hull.py", "view"),
        ("tool", "tool-result", "not there", "view"),
    ]


def test_inserted_text_has_the_system_role() -> None:
    assert parsed(
        event("user.message", content="Continue.", isAutopilotContinuation=True),
        event("user.message", content="Mine.", source="user"),
        event("session.error", message="No network."),
    ) == [
        ("system", "text", "Continue.", ""),
        ("user", "text", "Mine.", ""),
        ("system", "text", "No network.", ""),
    ]


def test_events_after_a_rewind_are_abandoned() -> None:
    spoken = ("user.message", "assistant.message")
    events = [{"type": spoken[at % 2], "id": f"e{at}", "data": {"content": f"Say {at}."}} for at in range(4)]
    rewound = {"type": "session.snapshot_rewind", "id": "r", "data": {"upToEventId": "e2", "eventsRemoved": 2}}
    gone = {**rewound, "data": {"upToEventId": "e9", "eventsRemoved": 2}}
    parser, messages = read_with_pauses(CopilotFormat(), str(EVENTS), [*enumerate([*events, rewound, gone], 1)])
    assert [part.text for part in messages if parser.metadata.is_abandoned(part.line)] == ["Say 2.", "Say 3."]
    assert parser.unknown == {}


def test_review_by_another_model_is_not_a_message() -> None:
    parser = CopilotFormat().parser("s.jsonl")
    events = (
        event("assistant.fusion_phase_completed", content="A seam.", conversationScope="root", phaseKind="draft"),
        event("assistant.fusion_phase_completed", content="Which one?", conversationScope="review", phaseKind="critic"),
        event("assistant.message", content="The third seam.", fusion={"fusionId": "f"}),
        event("session.fusion_completed", fusionId="f"),
        event("model.call_finished", model="m-1"),
    )
    messages = feed(parser, enumerate(events, start=1))
    assert [(part.kind, part.text) for part in messages] == [("thinking", "Which one?"), ("text", "The third seam.")]
    assert not parser.unknown


def test_only_own_events_are_recognised() -> None:
    matches = CopilotFormat().matches
    assert matches(SAMPLES[:1])
    assert matches(SAMPLES[3:4])
    assert not matches([{"type": "session", "id": "a", "cwd": "/"}])
    assert not matches([{"type": "session.start", "data": {}, "timestamp": "x"}])
    assert not matches([{"type": "user.message", "content": "x"}])


def test_a_document_of_the_first_versions_is_read(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    document = {
        "sessionId": "s-1",
        "startTime": "2026-05-04T09:00:00Z",
        "chatMessages": [
            {"role": "system", "content": "You are careful."},
            {"role": "user", "content": "Why does it leak?"},
            {"role": "assistant", "content": "Let me look.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "hull.py"},
            {"role": "wizard"},
            "odd",
        ],
    }
    path = tmp_path / "session_s-1_1777885200.json"
    path.write_text(json.dumps(document))
    session = read_session(path, "")
    assert session is not None
    assert without_calls(session.messages) == (
        Message("user", "text", "Why does it leak?", line=1, ordinal=1, time=START),
        Message("assistant", "text", "Let me look.", 2, 2, time=START),
        Message("assistant", "tool-call", "ls", 2, 2, time=START, tool="bash"),
        Message("tool", "tool-result", "hull.py", 3, 3, time=START, tool="bash"),
    )
    assert (session.metadata.agent, session.metadata.id, session.metadata.opening) == (
        "copilot-cli",
        "s-1",
        "Why does it leak?",
    )
    assert session.unknown == {"role wizard": 1, "role ": 1}
    path.write_text('{"sessionId": "s-1", "chatMessages": [half')
    with pytest.raises(ValueError, match="JSON"):
        read_session(path, "")


def test_sessions_are_found_and_resumed(tmp_path: Path) -> None:
    machine = Machine(str(tmp_path), {"COPILOT_HOME": str(tmp_path / "other")})
    found = [path for agent, _, path in session_folders(machine) if agent == "copilot-cli"]
    homes, names = ("other", ".copilot"), ("session-state", "history-session-state", "session-store.db")
    assert found == [str(tmp_path / home / name) for home in homes for name in names]
    assert resume_command("copilot-cli", "abc") == "copilot --resume=abc"
    assert copilot_cli.AGENT.label == "Copilot CLI"


def test_a_new_name_counts_as_a_change(tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    shutil.copy(EVENTS, events)
    assert parts_changed(str(events)) == 0
    (tmp_path / "workspace.yaml").write_text("name: x")
    assert parts_changed(str(events)) == (tmp_path / "workspace.yaml").stat().st_mtime_ns


def test_reading_resumes() -> None:
    read_with_pauses(CopilotFormat(), str(EVENTS), fixture_lines(EVENTS))


@given(st.lists(mangled(SAMPLES) | st.dictionaries(st.sampled_from(["type", "data", "timestamp"]), json_values)))
def test_any_event_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    parser, messages = stored_after_every_line(CopilotFormat(), values)
    assert {message.ordinal for message in messages} == set(range(1, parser.ordinal + 1))


def test_store_is_read_without_sessions_that_have_a_file(tmp_path: Path) -> None:
    database = next(database for database in DATABASES if database.name == "copilot-cli: files")
    path = database.write(tmp_path, database.with_others(1))
    (tmp_path / "session-state").mkdir()
    (tmp_path / "session-state" / "p1-1.jsonl").touch()
    (session,) = conversations(path)
    assert [(part.role, part.kind, part.text, part.tool) for part in session.messages] == [
        ("user", "text", ASKED, ""),
        ("assistant", "tool-call", FILE, "view"),
        ("assistant", "text", LOOKING, ""),
        ("assistant", "text", ANSWERED, ""),
    ]
    metadata = session.metadata
    assert (metadata.id, metadata.title, metadata.project, metadata.branch) == (
        "p1",
        "A leaking hull",
        "/boats",
        "main",
    )
    folder = tmp_path / ".copilot"
    folder.mkdir()
    path.rename(folder / path.name)
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.files) == ("copilot-cli", 1)
    for name in ("p1", "p1-1"):
        (folder / "session-state" / name).mkdir(parents=True)
    (folder / "session-state" / "p1" / "events.jsonl").touch()
    assert [found.metadata.id for found in conversations(folder / path.name)] == ["p1-1"]  # the other one has no events
