"""Sessions of Factory's Droid."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import find_sources
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.droid import DroidFormat, DroidStream
from engine.corpus.transcripts.registry import resume_command
from engine.corpus.transcripts.token_usage import Usage
from engine.corpus.transcripts.transcript_reader import format_of
from tests.helpers.transcripts import (
    feed,
    fixture_lines,
    mangled,
    read_with_pauses,
    stored_after_every_line,
    without_calls,
)

SESSION = Path(__file__).parent / "fixtures" / "droid" / "0c1d2e3f-0000-4000-8000-000000000006.jsonl"
LINES = fixture_lines(SESSION)
SAMPLES = [value for _, value in LINES]
START = 1788256800.0


def test_session_lines_become_messages() -> None:
    parser = DroidFormat().parser("/x/s.jsonl")
    assert without_calls(feed(parser, LINES)) == [
        Message("system", "text", "Be brief.", 2, 1, "m1", START),
        Message("user", "text", "Why does the hull leak?", 2, 1, "m1", START),
        Message("assistant", "thinking", "Look at the hull.", 3, 2, "m2", START + 1),
        Message("assistant", "text", "Let me look.", 3, 2, "m2", START + 1),
        Message("assistant", "tool-call", "hull.py", 3, 2, "m2", START + 1, "Read"),
        Message("tool", "tool-result", "seam = None", 4, 3, "m3", START + 2, "Read"),
        Message("system", "text", "Go on.", 6, 4, "m4", START + 4),
        Message("assistant", "text", "A seam is open.", 7, 5, "m5", START + 5),
        Message("system", "text", "So far: a leak.", 8, 6, "", START + 6),
    ]
    metadata = parser.metadata
    assert (metadata.id, metadata.title, metadata.project) == (SESSION.stem, "A leaking hull", "/home/ada/boats")
    assert (metadata.started, metadata.ended) == (START, START + 6)
    assert parser.unknown == {"hologram": 1}
    assert resume_command("droid", "x") == "droid --resume x"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Why?\n<system-reminder>Be brief.</system-reminder>", [("system", "Be brief."), ("user", "Why?")]),
        (
            '<system-notification kind="x">\nDone.\n</system-notification>\nAnd now?',
            [("system", "Done."), ("user", "And now?")],
        ),
        (
            "<system-reminder>a</system-reminder> Both? <system-reminder>b",
            [("system", "a"), ("system", "b"), ("user", "Both?")],
        ),
        ("What is <system-design>?", [("user", "What is <system-design>?")]),
    ],
)
def test_inserted_text_has_no_tags(text: str, parts: list[tuple[str, str]]) -> None:
    line = {"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": text}]}}
    assert [(message.role, message.text) for message in DroidFormat().parser("x.jsonl").feed(line, 1)] == parts
    line["message"]["role"] = "assistant"
    assert [message.text for message in DroidFormat().parser("x.jsonl").feed(line, 1)] == [text]


def test_notices_are_not_the_users_words() -> None:
    notice = {"role": "user", "content": [{"type": "text", "text": "No active subscription found."}]}
    parser = DroidFormat().parser("s.jsonl")
    messages = parser.feed({"type": "message", "visibility": "user_only", "message": notice}, 1)
    assert [(message.role, message.text) for message in messages] == [("system", "No active subscription found.")]
    assert parser.feed({"type": "agent_turn_outcome", "turnId": "t", "reason": "error"}, 2) == []
    assert not parser.unknown


def test_session_without_a_title_has_none() -> None:
    parser = DroidFormat().parser("s.jsonl")
    parser.feed({"type": "session_start", "id": "d1", "title": "New Session", "cwd": "/boats"}, 1)
    assert parser.metadata.title == ""


def test_half_a_character_in_an_id_can_be_stored() -> None:
    call = {"type": "tool_use", "id": "\ud800", "name": "\ud801", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "\ud800", "content": "x"}
    lines = [{"type": "message", "message": {"role": "assistant", "content": [part]}} for part in (call, result)]
    _, messages = stored_after_every_line(DroidFormat(), lines)
    assert [message.tool for message in messages] == ["\ufffd", "\ufffd"]


def test_only_own_lines_are_recognised() -> None:
    assert DroidFormat().matches(SAMPLES[:1])
    assert not DroidFormat().matches(SAMPLES[1:])


def test_droid_sessions_folder_is_detected(tmp_path: Path) -> None:
    folder = tmp_path / ".factory" / "sessions" / "-home-ada-boats"
    folder.mkdir(parents=True)
    shutil.copy(SESSION, folder)
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.files) == ("droid", 1)


def test_reading_lines_resumes() -> None:
    read_with_pauses(DroidFormat(), "s.jsonl", LINES)


@given(st.lists(mangled(SAMPLES)))
def test_any_line_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    stored_after_every_line(DroidFormat(), values)


def test_other_names_of_members_are_read() -> None:
    start = {"type": "session_start", "session": {"id": "d1", "title": "A leak", "workspace_root": "/boats"}}
    thought = {"role": "assistant", "content": [{"type": "reasoning", "text": "Hm."}]}
    summary = {"type": "compaction_state", "summary": {"title": "So far", "body": "A leak."}}
    parser = DroidFormat().parser("x.jsonl")
    assert DroidFormat().matches([start])
    messages = feed(parser, enumerate([start, {"type": "message", "message": thought}, summary], 1))
    assert [(message.kind, message.text) for message in messages] == [("thinking", "Hm."), ("text", "A leak.")]
    assert (parser.metadata.id, parser.metadata.title, parser.metadata.project) == ("d1", "A leak", "/boats")
    assert not parser.unknown


# --- Output of one run ------------------------------------------------------------------------------------------------

RUN = fixture_lines(SESSION.with_name("run.jsonl"))
STREAM = [value for _, value in RUN]
ENDED = 1767812641.0


def test_output_of_a_run_is_read() -> None:
    parser, messages = read_with_pauses(DroidStream(), "s.jsonl", RUN)
    assert [(message.role, message.kind, message.text, message.tool) for message in messages] == [
        ("system", "text", "Dry.", ""),
        ("user", "text", "Why?", ""),
        ("assistant", "tool-call", "hull.py", "Read"),
        ("tool", "tool-result", "seam = None", "Read"),
        ("assistant", "text", "A seam.", ""),
        ("assistant", "text", "Dry now.", ""),
        ("system", "text", "No key.", ""),
    ]
    metadata = parser.metadata
    assert (metadata.id, metadata.project, metadata.ended) == ("d2", "/boats", ENDED)
    assert (metadata.usage, parser.unknown) == ({"m-1": Usage(3, 4)}, {"hologram": 1})
    known = format_of(STREAM[:4])
    assert known is not None
    assert known.agent == "droid"


@given(st.lists(mangled(STREAM)))
def test_any_output_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    stored_after_every_line(DroidStream(), values)
