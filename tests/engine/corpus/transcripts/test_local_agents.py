"""Sessions of Letta Code and nanobot, and the chat programs Jan and Ollama."""

import base64
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.transcripts.formats import Conversation, LineFormat
from engine.corpus.transcripts.parsers.jan import JanFormat
from engine.corpus.transcripts.parsers.letta import LettaFormat, LettaTranscriptFormat
from engine.corpus.transcripts.parsers.nanobot import NanobotFormat
from engine.corpus.transcripts.registry import copied_sessions, session_folders
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.corpus.transcripts.token_usage import Usage
from engine.corpus.transcripts.tool_uses import uses_of
from engine.corpus.transcripts.transcript_reader import conversations, format_of
from engine.corpus.user_environment import Machine
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.agent_databases import DATABASES
from tests.helpers.transcripts import fixture_lines, json_values, mangled, read_with_pauses, stored_after_every_line

FIXTURES = Path(__file__).parent / "fixtures"
JAN = FIXTURES / "jan/messages.jsonl"
LETTA = FIXTURES / "letta/messages.jsonl"
LETTA_TRANSCRIPT = FIXTURES / "letta/transcript.jsonl"
NANOBOT = FIXTURES / "nanobot/dGVsZWdyYW06MTIzNDU2Nzg5.jsonl"
START = 1777885200.0
FORMATS: dict[Path, LineFormat] = {
    JAN: JanFormat(),
    LETTA: LettaFormat(),
    LETTA_TRANSCRIPT: LettaTranscriptFormat(),
    NANOBOT: NanobotFormat(),
}
LINES = {path: [value for _, value in fixture_lines(path)] for path in FORMATS}


def read(path: Path) -> Conversation:
    (session,) = conversations(path)
    return session


def parts(session: Conversation) -> list[tuple[str, str, str, str]]:
    return [(part.role, part.kind, part.text, part.tool) for part in session.messages]


def test_a_thread_of_jan_is_read() -> None:
    session = read(JAN)
    assert parts(session) == [
        ("user", "text", "Why does it leak?\n[image: PNG, 1 KB]", ""),
        ("assistant", "thinking", "Look at the seams.", ""),
        ("assistant", "text", "Let me look.", ""),
        ("assistant", "tool-call", "hull.py", "read_file"),
        ("tool", "tool-result", "seams = None", "read_file"),
        ("assistant", "thinking", "So it has none.", ""),
        ("assistant", "tool-call", '{\n  "path": "hull.py",\n  "content": "seams = 1"\n}', "write_file"),
        ("tool", "tool-result", "written", "write_file"),
        ("assistant", "text", "It has no seams.", ""),
    ]
    metadata = session.metadata
    assert (metadata.agent, metadata.id, metadata.title, list(metadata.usage)) == (
        "jan-ai",
        "jan",
        "A leaking hull",
        ["Jan-v1-4B"],
    )
    assert (metadata.started, metadata.ended) == (START + 1, START + 3)
    assert session.unknown == {"block hologram": 1, "role wizard": 1}


def test_threads_of_jan_are_found(tmp_path: Path) -> None:
    thread = tmp_path / ".local/share/Jan/data/threads/t1"
    shutil.copytree(JAN.parent, thread)
    folder = str(thread.parent)
    assert ("jan-ai", "", folder) in session_folders(Machine(str(tmp_path), {}))
    found = find_transcripts(Settings(sessions=SessionSettings(folders=(folder,))))
    assert [file.name for file in found.files] == ["sessions/jan/t1/messages.jsonl"]


def test_a_session_of_letta_code_is_read() -> None:
    session = read(LETTA)
    assert parts(session) == [
        ("user", "text", "Why does it leak?", ""),
        ("assistant", "thinking", "Look at the seams.", ""),
        ("assistant", "text", "Let me look.", ""),
        ("assistant", "tool-call", "cat hull.py", "Bash"),
        ("tool", "tool-result", "seams = None", "Bash"),
        ("system", "text", "So far: a leak.", ""),
        ("assistant", "text", "It has no seams.", ""),
    ]
    metadata = session.metadata
    assert (metadata.agent, metadata.id, metadata.project) == ("letta", "local-conv-1", "/home/ada/boats")
    assert (metadata.name, metadata.started, metadata.ended) == ("Why does it leak?", START, START + 6)
    assert metadata.usage == {"m-1": Usage(20, 10, 4, 0, cost=0.5)}
    assert session.unknown == {}


def test_letta_code_is_recognised_by_its_first_line() -> None:
    """A list of sessions knows no more; an agent's default session has no id of Letta Code, but its folder."""
    header = {"type": "session", "version": 3, "cwd": "/home/ada/boats"}
    folder = "/home/ada/.letta/lc-local-backend/conversations/YQ/messages.jsonl"
    for name, path, agent in (
        ("local-conv-1", "/backup/messages.jsonl", "letta"),
        ("default", folder, "letta"),
        ("default", "/home/ada/.openclaw/agents/main/sessions/default.jsonl", "openclaw"),
    ):
        known = format_of([header | {"id": name}], path)
        assert known is not None
        assert known.agent == agent


def test_a_transcript_of_letta_code_is_read(tmp_path: Path) -> None:
    path = tmp_path / "agent-1a2b" / "conv-9f" / "transcript.jsonl"
    path.parent.mkdir(parents=True)
    shutil.copy(LETTA_TRANSCRIPT, path)
    session = read(path)
    assert parts(session) == [
        ("user", "text", "Why does it leak?", ""),
        ("assistant", "thinking", "Look at the seams.", ""),
        ("assistant", "tool-call", "cat hull.py", "Bash"),
        ("tool", "tool-result", "seams = None", "Bash"),
        ("assistant", "text", "It has no seams.", ""),
        ("system", "text", "No connection.", ""),
    ]
    assert [use.value for part in session.messages for use in uses_of(part)] == ["hull.py", "cat hull.py"]
    assert (session.metadata.agent, session.metadata.id, session.metadata.ended) == ("letta", "conv-9f", START + 9)
    assert session.unknown == {"hologram": 1}


@pytest.mark.parametrize(
    ("stored", "transcript"),
    [("conversation:conv/9f", "agent-1a2b/conv_9f"), ("default:agent-1a2b", "agent-1a2b/default")],
)
def test_a_transcript_of_a_session_on_this_machine_is_a_copy(tmp_path: Path, stored: str, transcript: str) -> None:
    below = tmp_path / ".letta"
    name = base64.urlsafe_b64encode(stored.encode()).decode().rstrip("=")
    paths = [
        below / "lc-local-backend" / "conversations" / name / "messages.jsonl",
        below / "lc-local-backend" / "conversations" / "no base64" / "messages.jsonl",
        below / "transcripts" / transcript / "transcript.jsonl",
        below / "transcripts" / "agent-3c" / "conv-1" / "transcript.jsonl",
    ]
    for path in paths:
        path.parent.mkdir(parents=True)
        shutil.copy(FIXTURES / "letta" / path.name, path)
    folders = [path for agent, _, path in session_folders(Machine(str(tmp_path), {})) if agent == "letta"]
    found = find_transcripts(Settings(sessions=SessionSettings(folders=tuple(folders)))).files
    assert {file.path for file in found} == set(map(str, paths))
    assert copied_sessions(found, set()) == {f"sessions/letta-transcripts/{transcript}/transcript.jsonl"}


def test_a_session_of_nanobot_is_read() -> None:
    session = read(NANOBOT)
    assert parts(session) == [
        ("system", "text", "Earlier: the hull was painted.", ""),
        ("user", "text", "Why does it leak?", ""),
        ("system", "text", "[Runtime Context]\nChannel: telegram\n[/Runtime Context]", ""),
        ("assistant", "thinking", "Look at the seams.", ""),
        ("assistant", "text", "Let me look.", ""),
        ("assistant", "tool-call", "cat hull.py", "exec"),
        ("tool", "tool-result", "seams = None", "exec"),
        ("user", "text", "And the keel?", ""),
        ("system", "text", "Channel: telegram", ""),
        ("assistant", "text", "It has no seams.", ""),
    ]
    metadata = session.metadata
    assert (metadata.agent, metadata.id, metadata.project) == ("nanobot", "telegram:123456789", "/home/ada/boats")
    assert metadata.name == "Why does it leak?"
    assert metadata.started is not None
    assert metadata.ended == pytest.approx(metadata.started + 6.25, abs=0.01)
    assert session.unknown == {"hologram": 1}


def test_nanobots_instances_are_found(tmp_path: Path) -> None:
    for name in (".nanobot", ".nanobot-work", ".nanobots"):
        (tmp_path / name / "sessions" / "0a").mkdir(parents=True)
        shutil.copy(NANOBOT, tmp_path / name / "sessions" / "0a" / "a.jsonl")
    conflicts = tmp_path / ".nanobot" / "sessions" / "0a" / ".migration-conflicts"
    conflicts.mkdir()
    shutil.copy(NANOBOT, conflicts)
    folders = [path for agent, _, path in session_folders(Machine(str(tmp_path), {})) if agent == "nanobot"]
    found = find_transcripts(Settings(sessions=SessionSettings(folders=tuple(folders))))
    names = ["sessions/nanobot-work/0a/a.jsonl", "sessions/nanobot/0a/a.jsonl"]
    assert sorted(file.name for file in found.files) == names


def test_a_chat_of_ollama_is_read(tmp_path: Path) -> None:
    database = next(one for one in DATABASES if one.name == "ollama: with tools")
    path = database.write(tmp_path)
    session = read(path)
    assert parts(session) == [
        ("user", "text", "Why does /boats/hull.py leak?\n[image: hull.PNG]\n[file: keel.pdf]", ""),
        ("assistant", "thinking", "Hm.", ""),
        ("assistant", "text", "Let me look there.", ""),
        ("assistant", "tool-call", "seams", "web_search"),
        ("assistant", "tool-call", "https://boats.example/", "web_fetch"),
        ("tool", "tool-result", "seams = 1 of 2", "web_search"),
        ("tool", "tool-result", "Error: not found", "web_fetch"),
        ("assistant", "text", "A seam is open.", ""),
    ]
    assert (session.metadata.agent, session.metadata.title) == ("ollama", "A leaking hull")
    assert list(session.metadata.usage) == ["qwen3"]


@pytest.mark.parametrize("path", FORMATS, ids=lambda path: path.name)
def test_reading_resumes(path: Path) -> None:
    parser, messages = read_with_pauses(FORMATS[path], str(path), fixture_lines(path))
    assert messages == list(read(path).messages)
    assert parser.metadata.unknown == sum(parser.unknown.values())


@given(st.sampled_from(sorted(FORMATS)), st.data())
def test_any_line_parses_and_state_serializes(path: Path, data: st.DataObject) -> None:
    odd = st.dictionaries(st.sampled_from(["_type", "role", "content", "kind", "type", "message"]), json_values)
    values: list[dict[str, Any]] = data.draw(st.lists(mangled(LINES[path]) | odd))
    parser, messages = stored_after_every_line(FORMATS[path], values)
    assert {message.ordinal for message in messages} == set(range(1, parser.ordinal + 1))
