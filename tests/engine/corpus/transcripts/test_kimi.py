"""Sessions of Kimi CLI and of Kimi Code."""

import json
import os
import shutil
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import find_sources
from engine.corpus.transcripts.formats import LineFormat
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.kimi import KimiContext, KimiParser, KimiWire
from engine.corpus.transcripts.registry import copied_sessions
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.corpus.transcripts.token_usage import Usage
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.session_rows import parts_of
from tests.helpers.transcripts import (
    feed,
    fixture_lines,
    mangled,
    read_with_pauses,
    stored_after_every_line,
    without_calls,
)

FIXTURES = Path(__file__).parent / "fixtures"
WIRE = FIXTURES / "kimi" / "wire.jsonl"
CONTEXT = FIXTURES / "kimi" / "context.jsonl"
CODE = FIXTURES / "kimi_code" / "wd_boats_0a1b" / "session_1" / "agents" / "main" / "wire.jsonl"
FORMATS: list[tuple[LineFormat, Path]] = [(KimiWire(), WIRE), (KimiContext(), CONTEXT), (KimiWire(), CODE)]


def test_wire_file_of_kimi_cli_is_read() -> None:
    parser = KimiWire().parser("/home/ada/.kimi/sessions/0a/s1/wire.jsonl")
    start = 1765000000.0
    assert without_calls(feed(parser, fixture_lines(WIRE))) == [
        Message("user", "text", "Why does the hull leak?", 2, 1, "", start + 0.5),
        Message("assistant", "thinking", "Look at the hull.", 4, 2, "", start + 2),
        Message("assistant", "text", "Let me look.", 5, 2, "", start + 3),
        Message("assistant", "tool-call", "hull.py", 6, 2, "", start + 4, "ReadFile"),
        Message("tool", "tool-result", "seam = None", 8, 2, "", start + 6, "ReadFile"),
        Message("assistant", "text", "The attic is dry.", 10, 3, "", start + 8, side=True),
        Message("assistant", "text", "A seam is open.", 11, 4, "", start + 9),
        Message("user", "text", "Paint it", 14, 5, "", start + 12),
        Message("assistant", "text", "Blue?", 15, 6, "", start + 13),
        Message("user", "text", "Yes", 16, 6, "", start + 14),
    ]
    assert (parser.metadata.id, parser.metadata.opening) == ("s1", "Why does the hull leak?")
    assert parser.unknown == {"Hologram": 1}


def test_context_file_of_kimi_cli_is_read() -> None:
    parser = KimiContext().parser("/home/ada/.kimi/sessions/0a/s1/context.jsonl")
    assert without_calls(feed(parser, fixture_lines(CONTEXT))) == [
        Message("system", "text", "<system>CHECKPOINT 0</system>", 3, 1),
        Message("user", "text", "Why does the hull leak?", 4, 2),
        Message("assistant", "thinking", "Look at the hull.", 5, 3),
        Message("assistant", "text", "Let me look.", 5, 3),
        Message("assistant", "tool-call", "hull.py", 5, 3, tool="ReadFile"),
        Message("tool", "tool-result", "seam = None", 6, 4, tool="ReadFile"),
    ]
    assert (parser.metadata.id, parser.metadata.project) == ("s1", "/home/ada/boats")
    assert parser.unknown == {"role oracle": 1}


def test_image_in_a_context_file_of_kimi_cli_is_read() -> None:
    blocks = [{"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}, {"type": "text", "text": "Why?"}]
    read = feed(KimiContext().parser("context.jsonl"), [(1, {"role": "user", "content": blocks})])
    assert [(message.text, message.ordinal) for message in read] == [("Why?\n[image]", 1)]


def test_wire_file_of_kimi_code_is_read() -> None:
    parser = KimiWire().parser(str(CODE))
    start = 1785865000.0
    assert without_calls(feed(parser, fixture_lines(CODE))) == [
        Message("user", "text", "Why does the hull leak?", 3, 1, "", start + 1),
        Message("system", "text", "<system-reminder>\nBe brief.", 4, 2, "", start + 1),
        Message("assistant", "thinking", "Look at the hull.", 6, 3, "", start + 3),
        Message("assistant", "text", "Let me look.", 7, 3, "", start + 4),
        Message("assistant", "tool-call", "hull.py", 8, 3, "", start + 5, "Read"),
        Message("tool", "tool-result", "seam = None", 9, 3, "", start + 6, "Read"),
    ]
    assert (parser.metadata.id, parser.metadata.parent) == ("session_1", "")
    assert parser.unknown == {"hologram": 1}


def _kimi_code(*entries: dict[str, Any]) -> tuple[list[tuple[int, str, str, str, str]], KimiParser]:
    parser = KimiWire().parser("/s/agents/main/wire.jsonl")
    return parts_of(feed(parser, list(enumerate(entries, 1)))), parser


def _appended(role: str, text: str, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": [{"type": "text", "text": text}], "toolCalls": [], **more}
    return {"type": "context.append_message", "message": message}


def test_undo_of_kimi_code_takes_the_last_messages_back() -> None:
    injected = _appended("user", "<system-reminder>", origin={"kind": "injection"})
    undo = {"type": "context.undo", "agentId": "main"}
    _, parser = _kimi_code(
        _appended("user", "Tie a bowline."),
        _appended("user", "And a hitch."),
        injected,
        {**undo, "count": 1},
        _appended("user", "And a bend."),
        {**undo, "count": 9},
        {"type": "context.clear"},
    )
    assert parser.metadata.rewound == [(2, 4)]
    assert parser.unknown == {}


def test_copied_sessions_of_kimi_code_have_the_answers() -> None:
    call = {"type": "function", "id": "c", "name": "Shell", "arguments": '{"command":"ls"}'}
    parts, _ = _kimi_code(
        _appended("user", "Tie a bowline."),
        _appended("assistant", "I look.", toolCalls=[call]),
        _appended("tool", "rope.md", toolCallId="c"),
        _appended("system", "You tie."),
    )
    assert [part[1:] for part in parts] == [
        ("user", "text", "Tie a bowline.", ""),
        ("assistant", "text", "I look.", ""),
        ("assistant", "tool-call", "ls", "Shell"),
        ("tool", "tool-result", "rope.md", "Shell"),
    ]


def test_questions_of_kimi_code_and_answers_are_speech() -> None:
    request = {"questions": [{"question": "Which knot?", "options": [{"label": "Bowline"}, {"label": "Hitch"}]}]}
    parts, _ = _kimi_code(
        {"type": "interaction.request", "id": "q", "kind": "question", "request": request},
        {
            "type": "interaction.resolved",
            "id": "q",
            "kind": "question",
            "response": {"answers": {"Which knot?": "Hitch", "Tight?": True}},
        },
        {"type": "interaction.request", "id": "a", "kind": "approval", "request": {"action": "ls"}},
        {"type": "interaction.resolved", "id": "a", "response": {"decision": "approved"}},
        {
            "type": "interaction.request",
            "id": "r",
            "kind": "question",
            "request": {"questions": [{"question": "Wet?"}]},
        },
        {"type": "interaction.resolved", "id": "r", "response": {"answers": {"Wet?": "No"}}},
        {"type": "context.apply_compaction", "summary": "So far: a hitch.", "compactedCount": 2},
    )
    assert [part[1:4] for part in parts] == [
        ("assistant", "text", "Which knot?\n- Bowline\n- Hitch"),
        ("user", "text", "Hitch\nTight?"),
        ("assistant", "text", "Wet?"),
        ("user", "text", "No"),
        ("system", "text", "So far: a hitch."),
    ]


def test_tokens_of_kimi_code_are_counted_by_model() -> None:
    usage = {"inputOther": 7, "output": 5, "inputCacheRead": 3, "inputCacheCreation": 2}
    record = {"type": "usage.record", "model": "kimi-k3", "usage": usage}
    _, parser = _kimi_code(record, {**record, "usageScope": "turn"})
    assert parser.metadata.usage == {"kimi-k3": Usage(14, 10, 6, 4)}


@pytest.mark.parametrize(
    ("state", "title"),
    [
        ({"title": "Knots", "titleKind": "generated"}, "Knots"),
        ({"title": "Knots", "isCustomTitle": True}, "Knots"),
        ({"title": "Tie a bow", "titleKind": "replaceable", "isCustomTitle": False}, ""),
        ({"customTitle": "Knots"}, "Knots"),
    ],
)
def test_kimi_code_title_is_read_from_its_state(tmp_path: Path, state: dict[str, Any], title: str) -> None:
    (tmp_path / "state.json").write_text(json.dumps({**state, "cwd": "/boats"}))
    metadata = KimiWire().parser(str(tmp_path / "agents" / "main" / "wire.jsonl")).metadata
    assert (metadata.title, metadata.project) == (title, "/boats")


def test_neighbouring_files_have_title_and_folder(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / md5(b"/home/ada/boats", usedforsecurity=False).hexdigest() / "s1"
    folder.mkdir(parents=True)
    (tmp_path / "kimi.json").write_text(json.dumps({"work_dirs": [{"path": "/x"}, {"path": "/home/ada/boats"}]}))
    (folder / "state.json").write_text(json.dumps({"custom_title": "A leaking hull"}))
    metadata = KimiWire().parser(str(folder / "wire.jsonl")).metadata
    assert (metadata.id, metadata.title, metadata.project) == ("s1", "A leaking hull", "/home/ada/boats")

    session = tmp_path / "sessions" / "wd_boats_0a1b" / "session_1"
    (tmp_path / "session_index.jsonl").write_text('{"sessionId":"session_1","workDir":"/home/ada/boats"}\n{"broken\n')
    for agent, id, parent in (("main", "session_1", ""), ("agent-0", "session_1/agent-0", "session_1")):
        metadata = KimiWire().parser(str(session / "agents" / agent / "wire.jsonl")).metadata
        assert (metadata.id, metadata.parent, metadata.project) == (id, parent, "/home/ada/boats")


def test_folders_are_found_and_histories_left_out(tmp_path: Path) -> None:
    old, new = tmp_path / ".kimi" / "sessions", tmp_path / ".kimi-code" / "sessions"
    shutil.copytree(WIRE.parent, old / "0a" / "s1")
    (old / "0a" / "s2").mkdir()
    shutil.copy(CONTEXT, old / "0a" / "s2")
    shutil.copytree(CODE.parents[3], new / "wd_boats_0a1b")
    (new / "wd_boats_0a1b" / "session_1" / "state.json").write_text("{}")
    os.utime(new / "wd_boats_0a1b" / "session_1" / "state.json", (4e9, 4e9))
    sources = find_sources(tmp_path, {}).sources
    assert [(source.agent, source.path, source.files) for source in sources] == [
        ("kimi", str(old), 3),
        ("kimi", str(new), 1),
    ]
    files = find_transcripts(Settings(sessions=SessionSettings(folders=(str(old), str(new))))).files
    assert copied_sessions(files, set()) == {"sessions/kimi/0a/s1/context.jsonl"}
    assert files[0].mtime_ns == 4 * 10**18, "a new title changes the session"


@pytest.mark.parametrize(("format", "path"), FORMATS)
def test_each_format_recognises_only_its_own_lines(format: LineFormat, path: Path) -> None:
    values = [value for _, value in fixture_lines(path)]
    assert format.matches(values)
    other = KimiContext() if isinstance(format, KimiContext) is False else KimiWire()
    assert not other.matches(values)


@pytest.mark.parametrize(("format", "path"), FORMATS)
def test_reading_lines_resumes(format: LineFormat, path: Path) -> None:
    read_with_pauses(format, "s.jsonl", fixture_lines(path))


@given(st.lists(mangled([value for _, path in FORMATS for _, value in fixture_lines(path)])))
def test_any_line_parses_and_state_serializes(values: list[dict[str, Any]]) -> None:
    stored_after_every_line(KimiWire(), values)
    KimiContext().matches(values)


def test_sessions_of_the_desktop_program_are_found(tmp_path: Path) -> None:
    folder = tmp_path / ".config/kimi-desktop/daimon-share/daimon/runtime/kimi-code/home/sessions"
    for session in ("conv-1", "ctitle-1"):
        path = folder / "wd_boats_ab12" / session / "agents" / "main" / "wire.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(CODE.read_bytes())
        assert KimiWire().parser(str(path)).metadata.generated == (session == "ctitle-1")
    (source,) = find_sources(tmp_path, {}).sources
    assert (source.agent, source.path, source.files) == ("kimi", str(folder), 2)
