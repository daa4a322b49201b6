"""Sessions of Xum (formerly Mux) and Jcode, each a document with a second file next to it."""

import json
import shutil
from pathlib import Path

from hypothesis import HealthCheck, given, settings

from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.registry import owner_of_part, parts_changed, resume_command, session_folders
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.corpus.transcripts.token_usage import Usage
from engine.corpus.transcripts.tool_uses import uses_of
from engine.corpus.transcripts.transcript_reader import conversations
from engine.corpus.user_environment import Machine
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.transcripts import json_values, mangled

FIXTURES = Path(__file__).parent / "fixtures"
MUX = FIXTURES / "mux/sessions/a1b2c3d4e5/chat.jsonl"
JCODE = FIXTURES / "jcode/session_fox_1777885200000_deadbeefcafebabe.json"
START = 1777885200.0


def read(path: Path) -> Conversation:
    (session,) = conversations(path)
    return session


def parts(session: Conversation) -> list[tuple[str, str, str, str]]:
    return [(part.role, part.kind, part.text, part.tool) for part in session.messages]


def test_a_session_of_mux_is_read() -> None:
    session = read(MUX)
    assert parts(session) == [
        ("user", "text", "Why does it leak?\n[image: hull.png]", ""),
        ("assistant", "thinking", "Look at the seams.", ""),
        ("assistant", "text", "Let me look.", ""),
        ("assistant", "tool-call", "hull.py", "file_read"),
        ("tool", "tool-result", "seams = None", "file_read"),
        ("assistant", "tool-call", '{\n  "script": "ls keel",\n  "timeout_secs": 5\n}', "bash"),
        ("tool", "tool-result", "no keel", "bash"),
        ("assistant", "tool-call", "mux.file_edit_insert()", "code_execution"),
        ("tool", "tool-result", '{\n  "success": true\n}', "code_execution"),
        ("assistant", "tool-call", '{\n  "path": "hull.py",\n  "insert_after": "seams"\n}', "file_edit_insert"),
        ("tool", "tool-result", "+seams = 1", "file_edit_insert"),
        ("system", "text", "So far: a leak.", ""),
        ("system", "text", "Background task finished.", ""),
        ("user", "text", "/caulk the keel", ""),
        ("assistant", "text", "It has no seams.", ""),
        ("system", "text", "No connection.", ""),
    ]
    uses = [(use.kind, use.value) for part in session.messages for use in uses_of(part)]
    assert uses == [("read", "hull.py"), ("command", "ls keel"), ("edited", "hull.py")]
    metadata = session.metadata
    assert (metadata.agent, metadata.id, metadata.title, metadata.project) == (
        *("mux", "a1b2c3d4e5", "A leaking hull", "/home/ada/boats"),
    )
    assert (metadata.started, metadata.ended, metadata.parent) == (START, START + 5, "")
    assert metadata.usage == {"claude-sonnet-4-5": Usage(20, 40, 80, 1100), "gpt-5": Usage(10, 5), "llama3:8b": Usage()}
    assert session.unknown == {"part hologram": 1}


def test_sub_agents_of_mux_name_their_starter(tmp_path: Path) -> None:
    """A running one has its own workspace; the transcript of a finished one is in its starter's folder."""
    shutil.copytree(FIXTURES / "mux", tmp_path / ".mux")
    sessions = tmp_path / ".mux/sessions"
    finished = sessions / "a1b2c3d4e5/subagent-transcripts/t9/chat.jsonl"
    for path in (sessions / "f6a7b8c9d0/chat.jsonl", finished):
        path.parent.mkdir(parents=True)
        shutil.copy(MUX, path)
        session = read(path)
        assert (session.metadata.parent, session.metadata.project) == ("a1b2c3d4e5", "/home/ada/boats")
        assert all(part.side for part in session.messages)
    (sessions / "a1b2c3d4e5/timeline.jsonl").write_text('{"type": "x"}\n')
    assert ("mux", "", str(sessions)) in session_folders(Machine(str(tmp_path), {}))
    found = find_transcripts(Settings(sessions=SessionSettings(folders=(str(sessions),))))
    below = "a1b2c3d4e5/chat.jsonl f6a7b8c9d0/chat.jsonl a1b2c3d4e5/subagent-transcripts/t9/chat.jsonl"
    assert {file.name for file in found.files} == {f"sessions/mux/{name}" for name in below.split()}


def test_a_session_of_jcode_is_read() -> None:
    session = read(JCODE)
    assert parts(session) == [
        ("system", "text", "<system-reminder>\n# Session Context\nDate: today\n</system-reminder>", ""),
        ("user", "text", "Why does it leak?\n[image: PNG, 1 KB]", ""),
        ("assistant", "thinking", "Look at the seams.", ""),
        ("assistant", "thinking", "Perhaps the keel.", ""),
        ("assistant", "thinking", "Or the deck.", ""),
        ("assistant", "text", "Let me look.", ""),
        ("assistant", "tool-call", '{\n  "file_path": "hull.py",\n  "intent": "see"\n}', "read"),
        ("tool", "tool-result", "seams = None", "read"),
        ("system", "text", "Task 1 finished.", ""),
        ("assistant", "text", "It has no seams.", ""),
    ]
    metadata = session.metadata
    assert (metadata.agent, metadata.id, metadata.title, metadata.project) == (
        "jcode",
        JCODE.stem,
        "Seams",
        "/home/ada/boats",
    )
    assert (metadata.started, metadata.ended, metadata.parent) == (START, START + 5, "")
    assert metadata.usage == {"claude-sonnet-4-5": Usage(20, 10, 4), "gpt-5": Usage(30, 5)}
    assert session.unknown == {"block hologram": 1}
    assert resume_command("jcode", JCODE.stem) == f"jcode --resume {JCODE.stem}"


def test_a_task_of_jcodes_swarm_names_its_starter(tmp_path: Path) -> None:
    path = tmp_path / JCODE.name
    task = {"title": "Search the seams (@explore swarm)", "messages": [{"role": "user", "content": "Search."}]}
    path.write_text(json.dumps({"created_at": "2026-05-04T09:00:00Z", "parent_id": "session_oak_1", **task}))
    session = read(path)
    assert (session.metadata.parent, session.messages[0].author) == ("session_oak_1", "assistant")


def test_second_files_belong_to_their_transcripts(tmp_path: Path) -> None:
    sessions = tmp_path / ".jcode/sessions"
    shutil.copytree(FIXTURES / "jcode", sessions)
    shutil.copytree(FIXTURES / "mux", tmp_path / ".mux")
    assert ("jcode", "", str(sessions)) in session_folders(Machine(str(tmp_path), {}))
    found = find_transcripts(Settings(sessions=SessionSettings(folders=(str(sessions),))))
    assert [file.name for file in found.files] == [f"sessions/jcode/{JCODE.name}"]
    journal = sessions / f"{JCODE.stem}.journal.jsonl"
    archive = tmp_path / ".mux/sessions/a1b2c3d4e5/chat-archive.jsonl"
    for transcript, part in ((sessions / JCODE.name, journal), (archive.with_name("chat.jsonl"), archive)):
        assert owner_of_part(str(part)) == str(transcript)
        assert parts_changed(str(transcript)) == part.stat().st_mtime_ns


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    chat=mangled([json.loads(line) for line in MUX.read_text().splitlines()]) | json_values,
    document=mangled([json.loads(JCODE.read_text())]) | json_values,
)
def test_any_values_are_read(tmp_path: Path, chat: object, document: object) -> None:
    first = MUX.read_text().splitlines()[0]
    document = {"created_at": 1, "messages": [], **document} if isinstance(document, dict) else document
    for path, text in (
        (tmp_path / MUX.name, f"{first}\n{json.dumps(chat)}\n"),
        (tmp_path / JCODE.name, json.dumps(document)),
    ):
        path.write_text(text)
        for session in conversations(path):
            assert session.metadata.unknown == session.unknown.total()
