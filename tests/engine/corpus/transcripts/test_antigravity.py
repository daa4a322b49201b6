"""Antigravity's transcripts in plain JSON."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.antigravity import AntigravityFormat
from engine.corpus.transcripts.registry import copied_sessions, session_folders
from engine.corpus.transcripts.session_stores import find_transcripts
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
)

TRANSCRIPT = Path(__file__).parent / "fixtures" / "antigravity" / "transcript_full.jsonl"
SAMPLES = [value for _, value in fixture_lines(TRANSCRIPT)]
START = 1777885200.0


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    logs = tmp_path / ".gemini" / "antigravity-cli" / "brain" / "c-1" / ".system_generated" / "logs"
    logs.mkdir(parents=True)
    for name in ("transcript_full.jsonl", "transcript.jsonl"):
        shutil.copy(TRANSCRIPT, logs / name)
    return tmp_path / ".gemini" / "antigravity-cli" / "brain"


def test_steps_become_messages() -> None:
    parser = AntigravityFormat().parser(str(TRANSCRIPT))
    assert feed(parser, fixture_lines(TRANSCRIPT)) == [
        Message("user", "text", "Why does it leak?", line=1, ordinal=1, id="0", time=START + 1),
        Message("system", "text", "<ADDITIONAL_METADATA>It is Monday.</ADDITIONAL_METADATA>", 1, 1, "0", START + 1),
        Message("assistant", "thinking", "Look at the seams.", 3, 2, "2", START + 2),
        Message("assistant", "text", "Let me look.", 3, 2, "2", START + 2),
        Message("assistant", "tool-call", "/home/ada/boats/hull.py", 3, 2, "2", START + 2, "view_file"),
        Message("tool", "tool-result", "seams = None", 4, 3, "3", START + 3, "view_file"),
        Message("system", "text", "So far: a leak.", 5, 4, "4", START + 4),
        Message("assistant", "text", "It has no seams.", 6, 5, "5", START + 5),
        Message("user", "text", "Thanks.", 8, 6, "7", START + 7),
    ]
    assert (parser.metadata.agent, parser.metadata.opening) == ("antigravity", "Why does it leak?")
    assert parser.unknown == {"source HOLOGRAM": 1}


def test_id_is_from_path_and_folder_from_history(brain: Path) -> None:
    path = brain / "c-1" / ".system_generated" / "logs" / "transcript_full.jsonl"
    for history, project in (
        ("", ""),
        ('{"display": "Why?", "workspace": "/home/ada/boats", "conversationId": "c-1"}\nhalf\n', "/home/ada/boats"),
        ('{"workspace": "/home/ada/oars", "conversationId": "c-2"}\n{"conversationId": 7}\n', ""),
    ):
        (brain.parent / "history.jsonl").write_text(history)
        session = read_session(path, "")
        assert session is not None
        assert (session.metadata.id, session.metadata.project) == ("c-1", project)


def test_the_shorter_transcript_is_a_copy(brain: Path) -> None:
    files = find_transcripts(Settings(sessions=SessionSettings(folders=(str(brain),)))).files
    logs = "sessions/antigravity/c-1/.system_generated/logs"
    assert {file.name for file in files} == {f"{logs}/transcript_full.jsonl", f"{logs}/transcript.jsonl"}
    assert copied_sessions(files, set()) == {f"{logs}/transcript.jsonl"}
    alone = [file for file in files if file.name.endswith("transcript.jsonl")]
    assert copied_sessions(alone, set()) == set()


def test_only_own_steps_are_recognised() -> None:
    matches = AntigravityFormat().matches
    assert all(matches([value]) for value in SAMPLES if value["source"] != "HOLOGRAM")
    assert not matches([{"type": "USER_INPUT", "content": "x"}])
    assert not matches([{"step_index": 1, "source": "MODEL", "type": "text"}])


def test_antigravity_folders_of_editor_and_cli_are_found(tmp_path: Path) -> None:
    found = [path for agent, _, path in session_folders(Machine(str(tmp_path), {})) if agent == "antigravity"]
    assert found == [str(tmp_path / ".gemini" / name / "brain") for name in ("antigravity-cli", "antigravity")]


def test_reading_resumes() -> None:
    read_with_pauses(AntigravityFormat(), str(TRANSCRIPT), fixture_lines(TRANSCRIPT))


@given(st.lists(mangled(SAMPLES) | st.dictionaries(st.sampled_from(["type", "source", "content"]), json_values)))
def test_any_step_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    parser, messages = stored_after_every_line(AntigravityFormat(), values)
    assert {message.ordinal for message in messages} == set(range(1, parser.ordinal + 1))
