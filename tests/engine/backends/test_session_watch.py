"""Sessions that grow while the program is open: indexed immediately if worthwhile, else with the next sync."""

import json
from pathlib import Path

import msgspec
import pytest

from engine.corpus.transcripts.registry import is_watched
from engine.settings import Settings
from engine.settings.options import SessionDeltaSettings, SessionSettings
from tests.helpers.background import reasons, wait_until

SYNC = msgspec.structs.replace(Settings().sync, sessions=SessionDeltaSettings(delta_bytes=10_000, delta_messages=3))


def line(text: str) -> str:
    return json.dumps({"type": "message", "message": {"role": "user", "content": text}}) + "\n"


@pytest.fixture
def transcript(tmp_path: Path, quick_sessions: None) -> Path:
    folder = tmp_path / "agents/main/sessions"
    folder.mkdir(parents=True)
    path = folder / "boat.jsonl"
    path.write_text(json.dumps({"type": "session", "id": "s", "cwd": "/"}) + "\n" + line("Varnish the mast."))
    return path


def test_enough_messages_indexed_immediately(open_memory, transcript: Path) -> None:
    sessions = SessionSettings(folders=(str(transcript.parent),))
    memory = open_memory(background=True, sync=SYNC, sessions=sessions)
    memory.sync()
    status = memory.status()
    assert (status.watcher.mode, str(transcript.parent) in status.watcher.roots) == ("native", True)
    with transcript.open("a") as file:
        file.write(line("And the rudder?") + line("And the keel?") + line("And the anchor chain?"))
    wait_until(lambda: "session-delta" in reasons(memory))
    wait_until(lambda: any("boat" in result.path for result in memory.search("anchor chain").results))


def test_grown_session_alone_is_read(open_memory, transcript: Path, monkeypatch) -> None:
    other = transcript.with_name("other.jsonl")
    other.write_text(transcript.read_text() + line("Tar the hull."))
    memory = open_memory(background=True, sync=SYNC, sessions=SessionSettings(folders=(str(transcript.parent),)))
    memory.sync()
    reports, sync = [], memory.sync

    def recorded(**options):
        reports.append(sync(**options))
        return reports[-1]

    monkeypatch.setattr(memory, "sync", recorded)
    with transcript.open("a") as file:
        file.write(line("And the rudder?") + line("And the keel?") + line("And the anchor chain?"))
    wait_until(lambda: bool(reports))
    assert (reports[0].reason, reports[0].files_seen, reports[0].files_indexed) == ("session-delta", 1, 1)
    assert any("boat" in result.path for result in memory.search("anchor chain").results)
    other.unlink()
    wait_until(lambda: len(memory.sessions()) == 1)
    assert sync().files_seen > 1


def test_a_little_growth_is_indexed_with_the_next_search(open_memory, transcript: Path, monkeypatch) -> None:
    transcript.with_name("other.jsonl").write_text(transcript.read_text())
    memory = open_memory(background=True, sync=SYNC, sessions=SessionSettings(folders=(str(transcript.parent),)))
    memory.sync()
    reports, sync = [], memory.sync
    monkeypatch.setattr(memory, "sync", lambda **options: reports.append(sync(**options)) or reports[-1])
    with transcript.open("a") as file:
        file.write(line("And the anchor chain?"))
    wait_until(lambda: memory.status().dirty)
    assert reasons(memory) == ["manual"]
    memory.search("anchor")
    wait_until(lambda: reasons(memory) == ["manual", "search"] and not memory.status().dirty)
    assert [report.files_seen for report in reports] == [1], "only the session that has grown is looked at"
    assert any("boat" in result.path for result in memory.search("anchor chain").results)


def test_watcher_reports_only_growth_of_transcripts(open_memory, transcript: Path, tmp_path: Path) -> None:
    memory = open_memory(background=True, sync=SYNC, sessions=SessionSettings(folders=(str(transcript.parent),)))
    memory.sync()
    (transcript.parent / "sessions.json.lock").write_text("x" * 20_000)
    second = tmp_path / "second.jsonl"
    second.write_text(transcript.read_text() + line("One") + line("Two"))
    second.replace(transcript.with_name(second.name))  # one report, where writing may give two
    wait_until(lambda: reasons(memory) == ["manual", "session-delta"])
    assert len(memory.sessions()) == 2


def test_a_new_link_among_sessions_is_listed(open_memory, transcript: Path, tmp_path: Path) -> None:
    memory = open_memory(background=True, sync=SYNC, sessions=SessionSettings(folders=(str(transcript.parent),)))
    memory.sync()
    link = transcript.parent / "linked.jsonl"

    def listed() -> list[str]:
        return [issue.rule for issue in memory.status().skipped_files if issue.path.endswith("/linked.jsonl")]

    link.symlink_to(tmp_path / "elsewhere.jsonl")
    wait_until(lambda: listed() == ["symlink"])
    link.unlink()
    wait_until(lambda: listed() == [])
    link.symlink_to(tmp_path / "elsewhere.jsonl")
    wait_until(lambda: listed() == ["symlink"])
    copy = tmp_path / "copy.jsonl"
    copy.write_text(transcript.read_text())
    copy.replace(link)
    wait_until(lambda: listed() == [] and len(memory.sessions()) == 2)


def test_new_title_in_a_neighbouring_file_is_indexed(open_memory, tmp_path: Path, quick_sessions: None) -> None:
    session = tmp_path / "sessions" / "s1"
    session.mkdir(parents=True)
    messages = [{"role": "user", "content": "Varnish the mast."}]
    metadata = {"agent": "lead", "sessionId": "s1", "origin": "cli", "messages": messages}
    (session / "s1.messages.json").write_text(json.dumps(metadata))
    memory = open_memory(background=True, sync=SYNC, sessions=SessionSettings(folders=(str(session.parent),)))
    memory.sync()
    (session / "s1.json").write_text(json.dumps({"metadata": {"title": "Masts"}}))
    wait_until(lambda: "session-delta" in reasons(memory))
    wait_until(lambda: [one.title for one in memory.sessions()] == ["Masts"])


def test_only_folders_with_sessions_are_watched() -> None:
    storage = "/home/ada/.config/Code/User/workspaceStorage"
    folders = ("a1", "a1/chatSessions", "a1/ms-python.python", "a1/chatEditingSessions", "a1/state/chatSessions")
    assert [folder for folder in folders if is_watched(storage, folder)] == ["a1", "a1/chatSessions"]
    tasks = "/home/ada/.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks"
    assert [folder for folder in ("17", "17/checkpoints") if is_watched(tasks, folder)] == ["17"]
    assert not is_watched("/home/ada/.local/share/opencode/storage", "part")
    assert is_watched("/home/ada/elsewhere", "a1/ms-python.python")


def test_new_chat_of_an_editor_is_noticed(open_memory, tmp_path: Path, quick_sessions: None) -> None:
    storage = tmp_path / "Code/User/workspaceStorage"
    for folder in ("a1/ms-python.python", "a1/chatEditingSessions/s"):
        (storage / folder).mkdir(parents=True)
    memory = open_memory(background=True, sync=SYNC, sessions=SessionSettings(folders=(str(storage),)))
    memory.sync()
    chat = storage / "a1/chatSessions/0c1d2e3f-0000-4000-8000-000000000001.json"
    chat.parent.mkdir()
    request = {
        "message": {"text": "Varnish the mast."},
        "response": [{"value": "Done. " * 2000}],
        "timestamp": 1_775_116_800_000,
    }
    chat.write_text(json.dumps({"version": 3, "sessionId": "s", "creationDate": 1, "requests": [request]}))
    wait_until(lambda: "session-delta" in reasons(memory))
    wait_until(lambda: [one.agent for one in memory.sessions()] == ["copilot-chat"])
