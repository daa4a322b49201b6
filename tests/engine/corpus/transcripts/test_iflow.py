"""iFlow's sessions, whose lines are nearly Claude Code's."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.iflow import IflowFormat
from engine.corpus.transcripts.registry import resume_command, session_folders
from engine.corpus.transcripts.transcript_reader import format_of
from engine.corpus.user_environment import Machine
from tests.helpers.transcripts import (
    feed,
    fixture_lines,
    json_values,
    mangled,
    read_with_pauses,
    stored_after_every_line,
    without_calls,
)

SESSION = Path(__file__).parent / "fixtures" / "iflow" / "session-5e6f7a8b-0000-4000-8000-000000000002.jsonl"
SAMPLES = [value for _, value in fixture_lines(SESSION)]
START = 1777885200.0


def test_a_session_is_read() -> None:
    parser = IflowFormat().parser(str(SESSION))
    assert without_calls(feed(parser, fixture_lines(SESSION))) == [
        Message("user", "text", "Why does it leak?", line=1, ordinal=1, id="u1", time=START + 1),
        Message("assistant", "text", "Let me look.", 2, 2, "a1", START + 2),
        Message("assistant", "tool-call", "hull.py", 2, 2, "a1", START + 2, "read_file"),
        Message("tool", "tool-result", "seams = None", 3, 3, "u2", START + 3, "read_file"),
        Message("assistant", "text", "It has no seams.", 4, 4, "a2", START + 4),
    ]
    metadata = parser.metadata
    assert (metadata.agent, metadata.id) == ("iflow", "session-5e6f7a8b-0000-4000-8000-000000000002")
    assert (metadata.opening, metadata.project, metadata.branch) == ("Why does it leak?", "/home/ada/boats", "main")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"functionResponse": {"name": "read_file", "response": {"output": "out"}}}, "out"),
        ({"callId": "c", "resultDisplay": "Listed 7 items."}, "Listed 7 items."),
        ({"responseParts": ["odd"], "resultDisplay": {"fileDiff": "x"}}, ""),
        ([{"type": "text", "text": "out"}], "out"),
        ("out", "out"),
    ],
)
def test_tool_results_of_every_shape_are_read(content: Any, text: str) -> None:
    block = {"type": "tool_result", "tool_use_id": "c", "content": content}
    line = {"type": "user", "sessionId": "session-x", "message": {"content": [block]}}
    messages = IflowFormat().parser("s.jsonl").feed(line, 1)
    assert "".join(message.text for message in messages) == text


def test_session_ids_distinguish_iflow_from_claude_code() -> None:
    own, others = SAMPLES[0], {**SAMPLES[0], "sessionId": "5e6f7a8b-0000-4000-8000-000000000002"}
    known = [format_of([line]) for line in (own, others)]
    assert [format and format.agent for format in known] == ["iflow", "claude-code"]
    assert not IflowFormat().matches([{"sessionId": "session-x", "type": "user"}])


def test_sessions_are_found_and_resumed(tmp_path: Path) -> None:
    found = [path for agent, _, path in session_folders(Machine(str(tmp_path), {})) if agent == "iflow"]
    assert found == [str(tmp_path / ".iflow" / "projects")]
    assert resume_command("iflow", "session-x") == "iflow --resume=session-x"


def test_reading_resumes() -> None:
    read_with_pauses(IflowFormat(), str(SESSION), fixture_lines(SESSION))


@given(st.lists(mangled(SAMPLES) | st.dictionaries(st.sampled_from(["type", "message", "uuid"]), json_values)))
def test_any_line_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    parser, messages = stored_after_every_line(IflowFormat(), values)
    assert {message.ordinal for message in messages} == set(range(1, parser.ordinal + 1))
