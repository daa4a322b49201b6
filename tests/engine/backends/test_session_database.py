"""Sessions in a database to which their agent keeps writing, and copied ones: indexed, found, read, followed."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.base.errors import TranscriptUnreadable
from engine.corpus.transcripts.messages import SessionMetadata
from engine.corpus.transcripts.parsers import opencode_database
from engine.corpus.transcripts.registry import continued_in
from engine.corpus.transcripts.transcript_reader import conversations
from engine.indexing import session_stage
from engine.memory.memory_interface import MemorySearchManager
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.agent_databases import DATABASES
from tests.helpers.background import reasons, wait_until
from tests.helpers.opencode_database import NEWER, OLDER, OpencodeWriter

PREFIX = "sessions/opencode.db/opencode.db"
SECRET = "sk-ant-api03-" + "q7Rz" * 12


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "share" / "opencode" / "opencode.db"


@pytest.fixture
def writer(path: Path) -> Iterator[OpencodeWriter]:
    opened = OpencodeWriter(path, OLDER + NEWER)
    opened.session("ses_1", "Repairing the boat")
    opened.said("ses_1", "msg_1", "user", "Why does the hull leak?")
    opened.said("ses_1", "msg_2", "assistant", "The varnish has cracked at the keel.")
    opened.session_v2("ses_2")
    opened.entry("ses_2", "msg_3", "user", {"text": f"Tomatoes limp. The key is {SECRET}"})
    opened.session_v2("ses_3", "Attic", parent="ses_2")
    opened.entry("ses_3", "msg_4", "user", {"text": "Search the attic for seeds."})
    yield opened
    opened.close()


def listed(path: Path) -> SessionSettings:
    return SessionSettings(folders=(str(path),))


def beside(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir()}


def test_every_session_is_indexed_separately(open_memory, path: Path, writer: OpencodeWriter) -> None:
    memory = open_memory(sessions=listed(path))
    before = beside(path)
    report = memory.sync()
    assert (report.files_indexed, report.failed, report.skipped) == (7, (), ())
    assert {(one.path, one.agent, one.title, one.messages, one.project, one.parent) for one in memory.sessions()} == {
        (f"{PREFIX}/ses_1", "opencode", "Repairing the boat", 2, "/home/ada/boats", ""),
        (f"{PREFIX}/ses_2", "opencode", "Tomatoes limp.", 1, "/home/ada/boats", ""),
        (f"{PREFIX}/ses_3", "opencode", "Attic", 1, "/home/ada/boats", "ses_2"),
    }
    result = memory.search("varnish cracked keel").results[0]
    assert (result.path, result.citation) == (f"{PREFIX}/ses_1", f"{PREFIX}/ses_1#L1-L2")
    assert result.message is not None
    assert (result.message.ordinal, result.message.id) == (2, "msg_2")
    assert memory.read_session(f"{PREFIX}/ses_1").messages[1].text == "The varnish has cracked at the keel."
    assert memory.read_file(f"{PREFIX}/ses_1", start=2, lines=1).text == (
        "Assistant: The varnish has cracked at the keel."
    )
    with pytest.raises(FileNotFoundError):
        memory.raw_lines(f"{PREFIX}/ses_1", [1])  # it has no lines
    with pytest.raises(FileNotFoundError):
        memory.read_session(f"{PREFIX}/ses_9")
    assert beside(path) == before


def test_secrets_are_masked(open_memory, path: Path, writer: OpencodeWriter, tmp_path: Path) -> None:
    memory = open_memory(sessions=listed(path))
    memory.sync()
    session = memory.read_session(f"{PREFIX}/ses_2")
    assert session.masked == 1
    assert SECRET not in session.messages[0].text
    assert SECRET in memory.read_session(f"{PREFIX}/ses_2", reveal=True).messages[0].text
    memory.close()
    stored = b"".join(file.read_bytes() for file in (tmp_path / "data").rglob("*") if file.is_file())
    assert b"Tomatoes limp" in stored
    assert SECRET.encode() not in stored


def test_only_changed_sessions_of_database_are_read_again(
    open_memory, path: Path, writer: OpencodeWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    original = opencode_database._Sessions.conversation

    def noting(self, key: str):
        read.append(key)
        return original(self, key)

    monkeypatch.setattr(opencode_database._Sessions, "conversation", noting)
    memory = open_memory(sessions=listed(path))
    memory.sync()
    assert sorted(read) == ["ses_1", "ses_2", "ses_3"]
    read.clear()
    assert memory.sync().files_indexed == 0
    writer.said("ses_1", "msg_5", "user", "And the rudder?")
    writer.connection.execute("DELETE FROM session_v2 WHERE id = 'ses_3'")
    report = memory.sync()
    assert (report.files_indexed, read) == (1, ["ses_1"])
    assert {one.path: one.messages for one in memory.sessions()} == {f"{PREFIX}/ses_1": 3, f"{PREFIX}/ses_2": 1}
    assert memory.search("rudder").results[0].message.ordinal == 3
    read.clear()
    writer.checkpoint()
    writer.close()
    assert (memory.sync().files_indexed, read) == (0, [])


def test_folder_with_session_database_is_walked(open_memory, path: Path, writer: OpencodeWriter) -> None:
    (path.parent / "thumbs.db").write_bytes(b"no database")
    memory = open_memory(sessions=listed(path.parent))
    report = memory.sync()
    assert [(issue.path, issue.rule) for issue in report.skipped] == [("sessions/opencode/thumbs.db", "unknown-format")]
    assert {one.path for one in memory.sessions()} == {
        f"sessions/opencode/opencode.db/ses_{number}" for number in (1, 2, 3)
    }


def test_copied_session_listed_once(open_memory, path: Path, writer: OpencodeWriter) -> None:
    storage = path.parent / "storage"
    for session in ("ses_1", "ses_0"):
        files = {
            f"session/p/{session}.json": {"id": session, "directory": "/home/ada/boats", "title": f"File {session}"},
            f"message/{session}/msg_{session}.json": {"id": f"msg_{session}", "role": "user"},
            f"part/msg_{session}/prt_1.json": {"type": "text", "text": "Why does the hull leak?"},
        }
        for name, value in files.items():
            (storage / name).parent.mkdir(parents=True, exist_ok=True)
            (storage / name).write_text(json.dumps(value))
    in_files = {"sessions/opencode/session/p/ses_0.json", "sessions/opencode/session/p/ses_1.json"}
    memory = open_memory(sessions=SessionSettings(folders=(str(storage),)))
    memory.sync()
    assert {one.path for one in memory.sessions()} == in_files
    memory.close()
    memory = open_memory(sessions=SessionSettings(folders=(str(storage), str(path))))
    for _ in range(2):
        (issue,) = memory.sync().skipped
        assert (issue.path, issue.rule) == ("sessions/opencode/session/p/ses_1.json", "copied")
    in_database = {f"{PREFIX}/ses_{number}" for number in (1, 2, 3)}
    once = in_database | {"sessions/opencode/session/p/ses_0.json"}
    assert {one.path for one in memory.sessions()} == once
    writer.connection.execute("ALTER TABLE session_v2 RENAME COLUMN directory TO folder")  # unreadable for a while
    assert {issue.rule for issue in memory.sync().skipped} == {"copied", "broken"}
    assert {one.path for one in memory.sessions()} == once
    writer.connection.execute("ALTER TABLE session_v2 RENAME COLUMN folder TO directory")
    assert {issue.rule for issue in memory.sync().skipped} == {"copied"}
    memory.close()
    memory = open_memory(sessions=SessionSettings(folders=(str(storage),)))
    memory.sync()
    assert {one.path for one in memory.sessions()} == in_files


def spoken_lines(session: str, *texts: str) -> str:
    rows: list[dict[str, object]] = [{"type": "mode", "sessionId": session}]
    for number, text in enumerate(texts):
        content = {"message": {"role": "user", "content": text}, "timestamp": f"2026-09-04T17:00:0{number}Z"}
        rows.append({"type": "user", "uuid": text[:9], "sessionId": session, **content})
    return "".join(f"{json.dumps(row, separators=(',', ':'))}\n" for row in rows)


CONTINUED = json.dumps({"type": "continued-in", "sessionId": "old-1", "continuedInSessionId": "new-2"}) + "\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Create a folder of Claude Code with one session, whose transcript names another one as its continuation."""
    folder = tmp_path / ".claude" / "projects" / "-home-ada-boats"
    folder.mkdir(parents=True)
    (folder / "old-1.jsonl").write_text(spoken_lines("old-1", "Why does the hull leak?", "Caulk it.") + CONTINUED)
    return folder


def names(memory: MemorySearchManager) -> set[str]:
    assert not memory.sync().failed
    return {Path(one.path).stem for one in memory.sessions()}


def test_session_continued_in_background_listed_once(open_memory, project: Path) -> None:
    old, new = project / "old-1.jsonl", project / "new-2.jsonl"
    memory = open_memory(sessions=listed(project.parent))
    assert names(memory) == {"old-1"}, "the session is not continued yet"
    new.write_text(spoken_lines("new-2", "A summary of the hull."))
    assert names(memory) == {"old-1", "new-2"}, "the other session has only a summary"
    new.write_text(spoken_lines("new-2", "Why does the hull leak?", "Caulk it.", "Paint it."))
    for _ in range(2):
        assert names(memory) == {"new-2"}
    old.write_text(old.read_text() + spoken_lines("old-1", "Sand it."))
    assert names(memory) == {"old-1", "new-2"}, "the user continued the old one"
    old.write_text(old.read_text() + CONTINUED)
    assert names(memory) == {"new-2"}
    new.unlink()
    assert names(memory) == {"old-1"}


def test_session_begun_without_messages_continues_another(open_memory, project: Path, monkeypatch) -> None:
    old, new = project / "old-1.jsonl", project / "new-2.jsonl"
    new.write_text(spoken_lines("new-2"))
    memory = open_memory(sessions=listed(project.parent))
    assert names(memory) == {"old-1"}
    with new.open("a") as file:
        file.write(spoken_lines("new-2", "Why does the hull leak?", "Caulk it."))
    memory.indexing.record_change(frozenset({str(new)}))
    memory.sync(reason="session-delta")
    assert {Path(one.path).stem for one in memory.sessions()} == {"new-2"}
    monkeypatch.setattr(session_stage, "continued_in", lambda path: opened.append(Path(path).stem) or "")
    opened: list[str] = []
    (project / "other-3.jsonl").write_text(spoken_lines("other-3", "Where is the anchor?"))
    memory.sync()
    opened.clear()
    with new.open("a") as file:
        file.write(spoken_lines("new-2", "Paint it."))
    assert memory.sync().files_indexed == 1
    assert opened == ["new-2"], "one more message does not open the other sessions of the folder"
    assert old.exists()


@pytest.mark.parametrize(("agent", "alone"), [("goose: 1.10", True), ("opencode: 1", False)])
def test_reported_database_is_read_alone_unless_copied(open_memory, tmp_path: Path, agent: str, alone: bool) -> None:
    """Sessions of opencode may be both in files and in its database, so all files are looked at."""
    known = next(one for one in DATABASES if one.name == agent)
    path = known.write(tmp_path / "databases")
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "old.jsonl").write_text(spoken_lines("old", "Why does the hull leak?"))
    folders = (str(path.parent), str(tmp_path / "others"))
    memory = open_memory(sessions=SessionSettings(folders=folders))
    memory.sync()
    path.unlink()
    known.write(tmp_path / "databases", known.with_others(1))
    memory.indexing.record_change(frozenset({f"{path}-wal", str(path)}))
    report = memory.sync(reason="session-delta")
    assert report.files_indexed > 0
    assert (report.files_seen == 1) == alone
    assert memory.sync().files_indexed == 0


def test_session_continued_later_is_found_on_its_first_day(open_memory, project: Path) -> None:
    transcript = project / "old-1.jsonl"
    later = spoken_lines("old-1", "Sand it.").replace("2026-09-04T17:00:00", "2026-11-02T17:00:00")
    transcript.write_text(spoken_lines("old-1", "Why does the hull leak?") + later)
    memory = open_memory(sessions=listed(project.parent))
    memory.sync()
    found = {on: len(memory.search(f"hull on:{on}").results) for on in ("2026-08", "2026-09", "2026-11", "2026-12")}
    assert found == {"2026-08": 0, "2026-09": 1, "2026-11": 1, "2026-12": 0}


def test_continued_session_that_was_left_out_is_not_reopened(
    open_memory, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def watched(path: str) -> str:
        opened.append(Path(path).stem)
        return continued_in(path)

    (project / "new-2.jsonl").write_text(spoken_lines("new-2", "Why does the hull leak?", "Caulk it.", "Paint it."))
    monkeypatch.setattr(session_stage, "continued_in", watched)
    memory = open_memory(sessions=listed(project.parent))
    for _ in range(2):
        assert names(memory) == {"new-2"}
    opened.clear()
    assert names(memory) == {"new-2"}
    assert opened == []


def test_unreadable_database_reported_without_loss(open_memory, path: Path, writer: OpencodeWriter) -> None:
    memory = open_memory(sessions=listed(path))
    memory.sync()
    writer.connection.execute("ALTER TABLE session_v2 RENAME COLUMN directory TO folder")
    (issue,) = memory.sync().skipped
    assert (issue.path, issue.rule) == (PREFIX, "broken")
    assert "directory" in issue.detail
    assert len(memory.sessions()) == 3
    writer.connection.execute("ALTER TABLE session_v2 RENAME COLUMN folder TO directory")
    assert memory.sync().skipped == ()


def test_truncated_database_keeps_indexed_sessions(open_memory, path: Path, writer: OpencodeWriter) -> None:
    memory = open_memory(sessions=listed(path))
    memory.sync()
    writer.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:100])
    (issue,) = memory.sync().skipped
    assert (issue.path, issue.rule) == (PREFIX, "broken")
    assert issue.detail == (
        "The file could not be read to its end: The database cannot be read: database disk image is malformed"
    )
    assert len(memory.sessions()) == 3
    for read in (memory.read_session, memory.read_file):
        with pytest.raises(TranscriptUnreadable, match="cannot be read now: The database"):
            read(f"{PREFIX}/ses_1")
    path.write_bytes(whole)
    report = memory.sync()
    assert (report.files_indexed, report.skipped) == (0, ())


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE message SET id = CAST(x'ff' AS TEXT) WHERE id = 'msg_2'",
        "overflow page",
    ],
)
def test_damaged_session_leaves_others_readable(open_memory, path: Path, writer: OpencodeWriter, harm: str) -> None:
    memory = open_memory(sessions=listed(path))
    memory.sync()
    if harm == "overflow page":
        writer.said("ses_1", "msg_5", "user", "x" * 100_000)
        writer.said("ses_1", "msg_6", "user", "And the rudder?")
        writer.checkpoint()
        writer.close()
        data = bytearray(path.read_bytes())
        page = data.index(b"x" * 4000) // 4096 * 4096
        data[page : page + 4] = b"\xff" * 4  # where the text continues
        path.write_bytes(data)
        writer.connection = sqlite3.connect(path, isolation_level=None)
    else:
        writer.connection.executescript(harm)
    writer.connection.execute("UPDATE session SET time_updated = time_updated + 10000000")
    writer.entry("ses_3", "msg_7", "user", {"text": "And the turnips?"})
    for _ in range(2):
        (issue,) = memory.sync().skipped
        assert (issue.path, issue.rule) == (PREFIX, "broken")
        assert issue.detail.startswith("One session of this file can't be read: ")
    assert memory.search("turnips").results[0].path == f"{PREFIX}/ses_3"
    assert {one.path: one.messages for one in memory.sessions()} == {
        f"{PREFIX}/ses_{number}": messages for number, messages in ((1, 2), (2, 1), (3, 2))
    }


def test_fault_in_one_session_hides_no_other(
    open_memory, path: Path, writer: OpencodeWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = opencode_database.session_metadata

    def faulty(key: str, about: dict[str, Any]) -> SessionMetadata:
        if key == "ses_1":
            raise KeyError(SECRET)
        return metadata(key, about)

    memory = open_memory(sessions=listed(path))
    memory.sync()
    monkeypatch.setattr(opencode_database, "session_metadata", faulty)
    writer.said("ses_1", "msg_5", "user", "And the rudder?")
    writer.entry("ses_3", "msg_7", "user", {"text": "And the turnips?"})
    writer.connection.execute("UPDATE session SET time_updated = time_updated + 10000000")
    report = memory.sync()
    assert [issue.detail for issue in report.skipped] == ["One session of this file can't be read: KeyError."]
    assert report.failed == ()
    assert memory.search("turnips").results[0].path == f"{PREFIX}/ses_3"
    assert memory.search("varnish").results[0].path == f"{PREFIX}/ses_1"
    with pytest.raises(TranscriptUnreadable, match=r"cannot be read now: KeyError\.$"):
        memory.read_session(f"{PREFIX}/ses_1")
    others: list[str] = []
    with pytest.raises(KeyError):
        others.extend(one.key for one in conversations(path))
    assert sorted(others) == ["ses_2", "ses_3"]


@pytest.mark.parametrize("column", ["title", "directory", "parent_id"])
def test_invalid_utf_8_is_replaced(open_memory, path: Path, writer: OpencodeWriter, column: str) -> None:
    writer.connection.execute(f"UPDATE session SET {column} = CAST(x'4e6fff' AS TEXT)")
    memory = open_memory(sessions=listed(path))
    assert memory.sync().skipped == ()
    found = next(one for one in memory.sessions() if one.path == f"{PREFIX}/ses_1")
    assert {"title": found.title, "directory": found.project, "parent_id": found.parent}[column] == "No\ufffd"


@pytest.mark.parametrize("folder", [False, True], ids=["file", "folder"])
def test_agent_writes_indexed_immediately(
    open_memory, path: Path, writer: OpencodeWriter, quick_sessions: None, folder: bool
) -> None:
    sync = msgspec.structs.replace(Settings().sync, watch=True)
    memory = open_memory(background=True, sync=sync, sessions=listed(path.parent if folder else path))
    memory.sync()
    (path.parent / "opencode.db-shm").touch()
    (path.parent / "auth.json").write_text("{}")
    before = path.stat().st_mtime_ns
    writer.said("ses_1", "msg_5", "user", "And the anchor chain?")
    assert path.stat().st_mtime_ns == before  # it is in the write-ahead log
    wait_until(lambda: "session-delta" in reasons(memory))
    wait_until(lambda: any("ses_1" in result.path for result in memory.search("anchor chain").results))
