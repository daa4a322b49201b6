"""Transcripts of Cursor's command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import find_sources
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.cursor_cli import CursorCliFormat
from engine.corpus.transcripts.registry import resume_command
from tests.helpers.transcripts import feed, fixture_lines, mangled, read_with_pauses, stored_after_every_line

TRANSCRIPT = Path(__file__).parent / "fixtures" / "cursor_cli" / "3f2e1d00-0000-4000-8000-000000000001.jsonl"
LINES = fixture_lines(TRANSCRIPT)
SAMPLES = [value for _, value in LINES]
ASKED = 1787601660.0
"""24 August 2026, 20:01 UTC."""


def test_typed_text_is_separated_from_inserted_text() -> None:
    parser = CursorCliFormat().parser(
        f"/home/ada/.cursor/projects/home-ada-boats/agent-transcripts/x/{TRANSCRIPT.name}"
    )
    messages = feed(parser, LINES)

    assert messages == [
        Message("user", "text", "Why does the hull leak?", 1, 1, "", ASKED),
        Message("system", "text", "<open_files>\nhull.py\n</open_files>", 1, 1, "", ASKED),
        Message("assistant", "text", "I look at it.\n\n", 2, 2),
        Message("assistant", "tool-call", "/home/ada/boats/hull.py", 2, 2, tool="Read"),
        Message("tool", "tool-result", "seam = None", 4, 3, tool="Read"),
        Message("assistant", "text", "A seam is open.", 5, 4),
        Message(
            "system", "text", "<system_notification>\nA task has finished.\n</system_notification>", 7, 5, "", ASKED
        ),
        Message("user", "text", "Thanks <3", 8, 6, "", ASKED),
    ]
    facts = parser.facts
    assert (facts.id, facts.opening, facts.project) == (TRANSCRIPT.stem, "Why does the hull leak?", "home-ada-boats")
    assert (facts.started, facts.parent) == (ASKED, "")
    assert parser.unknown == {"block hologram": 1, "oracle": 1}
    assert resume_command("cursor-cli", "x") == "cursor-agent --resume x"


def test_trusted_folder_names_the_project(tmp_path: Path) -> None:
    path = tmp_path / "agent-transcripts" / "parent-id" / "subagents" / "child-id.jsonl"
    (tmp_path / ".workspace-trusted").write_text(json.dumps({"workspacePath": "/home/ada/boats"}))
    parser = CursorCliFormat().parser(str(path))
    messages = feed(parser, LINES)
    assert (parser.facts.id, parser.facts.parent) == ("child-id", "parent-id")
    assert parser.facts.project == "/home/ada/boats"
    assert all(message.side for message in messages)


@pytest.mark.parametrize(
    ("stated", "time"),
    [
        ("Monday, Aug 24, 2026, 12:30 AM (UTC)", 1787531400.0),
        ("Monday, Aug 24, 2026, 12:30 AM (UTC+5:30)", 1787511600.0),
        ("Monday, Aug 24, 2026", None),
        ("Monday, Foo 99, 2026, 12:30 AM (UTC)", None),
        ("Monday, Aug 24, 2026, 12:30 AM (UTC+99)", None),
    ],
)
def test_time_of_a_message(stated: str, time: float | None) -> None:
    text = f"<timestamp>{stated}</timestamp>\n<user_query>x</user_query>"
    line = {"role": "user", "message": {"content": [{"type": "text", "text": text}]}}
    assert CursorCliFormat().parser("s.jsonl").feed(line, 1)[0].time == time


def test_only_own_lines_are_recognised() -> None:
    format = CursorCliFormat()
    assert format.matches(SAMPLES)
    assert not format.matches([{"role": "user", "content": "x"}, {"type": "user", "message": {"content": []}}])


def test_cursor_cli_sessions_folder_is_detected(tmp_path: Path) -> None:
    folder = tmp_path / ".cursor" / "projects" / "boats" / "agent-transcripts" / "x"
    folder.mkdir(parents=True)
    (folder / "x.jsonl").write_bytes(TRANSCRIPT.read_bytes())
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.files) == ("cursor-cli", 1)


def test_reading_lines_resumes() -> None:
    read_with_pauses(CursorCliFormat(), "s.jsonl", LINES)


@given(st.lists(mangled(SAMPLES)))
def test_any_line_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    stored_after_every_line(CursorCliFormat(), values)
