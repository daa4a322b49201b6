"""opencode's sessions in its database, of both generations of its tables."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from engine import find_sources
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.opencode_database import OpencodeDatabase
from engine.corpus.transcripts.registry import resume_command
from engine.corpus.transcripts.transcript_reader import database_format, opened
from tests.helpers import opencode_database as tables
from tests.helpers.opencode_database import MS, NEWER, OLDER, OpencodeWriter
from tests.helpers.transcripts import mangled, read_session, without_calls

START = MS / 1000
PARTS: list[dict[str, Any]] = [
    {"type": "step-start"},
    {"type": "reasoning", "text": "Look at the hull."},
    {"type": "text", "text": "Let me look."},
    {"type": "tool", "tool": "bash", "state": {"status": "completed", "input": {"command": "ls"}, "output": "hull.md"}},
    {"type": "subtask", "prompt": "Search the attic", "agent": "explore"},
    {"type": "hologram"},
]
ASSISTANT: dict[str, Any] = {
    "agent": "build",
    "model": {"id": "m", "providerID": "p"},
    "time": {"created": MS + 2500, "completed": MS + 9000},
    "content": [
        {"type": "reasoning", "text": "Look at the hull."},
        {"type": "text", "text": "Let me look."},
        {
            "type": "tool",
            "id": "c1",
            "name": "bash",
            "state": {
                "status": "completed",
                "input": {"command": "ls"},
                "content": [{"type": "text", "text": "hull.md"}],
            },
        },
        {
            "type": "tool",
            "id": "c2",
            "name": "read",
            "state": {"status": "error", "input": {"filePath": "x.md"}, "error": {"type": "x", "message": "not there"}},
        },
        {"type": "tool", "id": "c3", "name": "edit", "state": {"status": "streaming", "input": '{"fil'}},
        {"type": "hologram"},
    ],
}
ENTRIES: list[tuple[str, dict[str, Any]]] = [
    ("agent-switched", {"agent": "build", "time": {"created": MS}}),
    (
        "user",
        {
            "text": "Why does it leak?",
            "files": [{"uri": "file:///x", "mime": "text/plain", "name": "plan.md"}, {"mime": "image/png"}],
            "time": {"created": MS + 2000},
        },
    ),
    ("assistant", ASSISTANT),
    ("synthetic", {"text": "A file has changed."}),
    ("shell", {"shellID": "sh_1", "command": "make", "status": "exited", "output": {"output": "done", "size": 4}}),
    ("compaction", {"status": "completed", "reason": "auto", "summary": "So far: a leak.", "recent": ""}),
    ("idle", {"outcome": "succeeded"}),
    ("hologram", {"text": "?"}),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "opencode" / "opencode.db"


@pytest.fixture
def writer(path: Path) -> Iterator[OpencodeWriter]:
    opened = OpencodeWriter(path)
    yield opened
    opened.close()


@pytest.fixture
def newer(path: Path) -> Iterator[OpencodeWriter]:
    opened = OpencodeWriter(path, OLDER + NEWER)
    yield opened
    opened.close()


def read(path: Path, key: str) -> Conversation | None:
    with OpencodeDatabase().opened(str(path)) as sessions:
        return sessions.conversation(key)


def marks(path: Path) -> dict[str, str]:
    with OpencodeDatabase().opened(str(path)) as sessions:
        return dict(sessions.marks())


def test_session_of_the_first_generation_is_read(path: Path, writer: OpencodeWriter) -> None:
    writer.session("ses_1", "Repairing the boat")
    writer.message(
        "ses_1", "msg_1", {"role": "user", "time": {"created": MS + 1}}, [{"type": "text", "text": "Leaks?"}]
    )
    writer.message("ses_1", "msg_2", {"role": "assistant"}, PARTS)
    writer.message("ses_1", "msg_3", {"role": "assistant", "summary": True}, [{"type": "text", "text": "So far."}])
    conversation = read(path, "ses_1")
    assert conversation is not None
    first, second = ("msg_1", START + 0.001), ("msg_2", START + 3)
    assert conversation.messages == (
        Message("user", "text", "Leaks?", 1, 1, *first),
        Message("assistant", "thinking", "Look at the hull.", 2, 2, *second),
        Message("assistant", "text", "Let me look.", 2, 2, *second),
        Message("assistant", "tool-call", "ls", 2, 2, *second, "bash"),
        Message("tool", "tool-result", "hull.md", 2, 2, *second, "bash"),
        Message("assistant", "tool-call", "Search the attic", 2, 2, *second, "explore"),
        Message("system", "text", "So far.", 3, 3, "msg_3", START + 4),
    )
    metadata = conversation.metadata
    assert (metadata.agent, metadata.id, metadata.title, metadata.project) == (
        "opencode", "ses_1", "Repairing the boat", "/home/ada/boats",
    )  # fmt: skip
    assert (metadata.started, metadata.ended, metadata.parent) == (START + 0.001, START + 4, "")
    assert conversation.unknown == {"part hologram": 1}


def test_session_of_the_second_generation_is_read(path: Path, newer: OpencodeWriter) -> None:
    newer.session_v2("ses_1")
    for number, (kind, data) in enumerate(ENTRIES):
        newer.entry("ses_1", f"msg_{number}", kind, data)
    conversation = read(path, "ses_1")
    assert conversation is not None
    second, sent = ("msg_2", START + 2.5), START + 2
    assert without_calls(conversation.messages) == (
        Message("user", "text", "Why does it leak?\n[file: plan.md]\n[image]", 1, 1, "msg_1", sent),
        Message("assistant", "thinking", "Look at the hull.", 2, 2, *second),
        Message("assistant", "text", "Let me look.", 2, 2, *second),
        Message("assistant", "tool-call", "ls", 2, 2, *second, "bash"),
        Message("tool", "tool-result", "hull.md", 2, 2, *second, "bash"),
        Message("assistant", "tool-call", "x.md", 2, 2, *second, "read", failed=True),
        Message("tool", "tool-result", "not there", 2, 2, *second, "read", failed=True),
        Message("assistant", "tool-call", '{"fil', 2, 2, *second, "edit"),
        Message("system", "text", "A file has changed.", 3, 3, "msg_3", START + 5),
        Message("user", "tool-call", "make", 4, 4, "msg_4", START + 6, "shell"),
        Message("tool", "tool-result", "done", 4, 4, "msg_4", START + 6, "shell"),
        Message("system", "text", "So far: a leak.", 5, 5, "msg_5", START + 7),
    )
    assert (conversation.metadata.title, conversation.metadata.name) == ("", "Why does it leak?")
    assert conversation.unknown == {"hologram": 1, "part hologram": 1}


def test_a_session_in_both_generations_is_read_from_the_newer(path: Path, newer: OpencodeWriter) -> None:
    newer.session("ses_1")
    newer.said("ses_1", "msg_1", "user", "As it was.")
    newer.session("ses_2")
    newer.said("ses_2", "msg_2", "user", "Never moved.")
    newer.session_v2("ses_1")
    newer.session_v2("ses_2")  # moved without its messages
    newer.entry("ses_1", "msg_1", "user", {"text": "As it is."})
    assert set(marks(path)) == {"ses_1", "ses_2"}
    texts = {key: [message.text for message in read(path, key).messages] for key in marks(path)}  # type: ignore[union-attr]
    assert texts == {"ses_1": ["As it is."], "ses_2": ["Never moved."]}


def test_session_continued_in_version_1_is_read_in_version_1(path: Path, newer: OpencodeWriter) -> None:
    newer.session("ses_1")
    newer.said("ses_1", "msg_1", "user", "As it was.")
    newer.session_v2("ses_1")
    newer.entry("ses_1", "msg_1", "user", {"text": "As it was."})
    newer.said("ses_1", "msg_2", "user", "Once more.")
    newer.connection.execute("UPDATE session SET time_updated = ?", (MS * 2,))
    before = marks(path)
    conversation = read(path, "ses_1")
    assert conversation is not None
    assert [message.text for message in conversation.messages] == ["As it was.", "Once more."]
    newer.connection.execute("UPDATE session_v2 SET time_updated = ?", (MS * 3,))
    conversation = read(path, "ses_1")
    assert conversation is not None
    assert [message.text for message in conversation.messages] == ["As it was."]
    assert marks(path) != before


def test_sub_agent_names_its_parent_and_empty_is_left_out(path: Path, writer: OpencodeWriter) -> None:
    writer.session("ses_0", "New session - 2025-12-06T05:46:40.000Z")
    writer.session("ses_1", "Child session - 2025-12-06T05:46:40.000Z", parent="ses_0")
    writer.said("ses_1", "msg_1", "user", "Search the attic.")
    conversation = read(path, "ses_1")
    assert conversation is not None
    assert (conversation.metadata.parent, conversation.metadata.title) == ("ses_0", "")
    assert all(message.side for message in conversation.messages)
    assert set(marks(path)) == {"ses_1"}
    assert read(path, "ses_0") is None
    assert read(path, "ses_9") is None


def test_marks_change_with_any_change_of_the_session(path: Path, writer: OpencodeWriter) -> None:
    for key in ("ses_1", "ses_2"):
        writer.session(key, "Boat")
        writer.said(key, f"{key}-msg", "user", "Leaks?")
    seen = [marks(path)]

    def changed() -> set[str]:
        seen.append(marks(path))
        return {key for key, mark in seen[-1].items() if seen[-2].get(key) != mark}

    assert changed() == set()
    writer.message("ses_1", "msg_2", {"role": "assistant"}, [])
    assert changed() == {"ses_1"}
    writer.connection.execute("INSERT INTO part VALUES ('p', 'msg_2', 'ses_1', 1, 1, '{}')")
    assert changed() == {"ses_1"}
    writer.connection.execute("UPDATE part SET time_updated = 2, data = '[]' WHERE id = 'p'")
    assert changed() == {"ses_1"}
    writer.connection.execute("UPDATE session SET title = 'Ship' WHERE id = 'ses_2'")
    assert changed() == {"ses_2"}
    writer.connection.execute("DELETE FROM message WHERE id = 'msg_2'")
    assert changed() == {"ses_1"}
    writer.checkpoint()
    assert changed() == set()


def test_the_session_that_changed_last_comes_first(path: Path, newer: OpencodeWriter) -> None:
    for key in ("ses_1", "ses_2"):
        newer.session(key)
        newer.said(key, f"{key}-msg", "user", "Leaks?")
    newer.session_v2("ses_3")
    newer.entry("ses_3", "msg_3", "user", {"text": "Dry?"})
    newer.connection.execute("UPDATE session SET time_updated = ? WHERE id = 'ses_1'", (MS * 2,))
    assert list(marks(path)) == ["ses_1", "ses_3", "ses_2"]


def test_rows_other_than_messages_are_counted(
    path: Path, writer: OpencodeWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.corpus.transcripts.database_format._MAX_TEXT", 100)
    writer.session("ses_1")
    writer.message("ses_1", "msg_1", "{half", [])
    writer.message("ses_1", "msg_2", {"role": "user"}, ["[1]", b"\xff\x00", {"type": "text", "text": "Leaks?"}])
    writer.said("ses_1", "msg_3", "user", "x" * 99)
    writer.said("ses_1", "msg_4", "user", "Still?")
    conversation = read(path, "ses_1")
    assert conversation is not None
    assert [message.text for message in conversation.messages] == ["Leaks?", "Still?"]
    assert conversation.unknown == {"no JSON": 3, "message of a session that is too long": 1}


def test_database_is_recognised_by_tables(path: Path, writer: OpencodeWriter, tmp_path: Path) -> None:
    other = OpencodeWriter(tmp_path / "other.db", "CREATE TABLE session (id)")
    other.close()
    (tmp_path / "thumbs.db").write_bytes(b"no database")
    (tmp_path / "torn.db").write_bytes(path.read_bytes()[:100])
    known = {}
    for name in (path, tmp_path / "other.db", tmp_path / "thumbs.db"):
        with opened(name) as (descriptor, _):
            known[name.name] = database_format(descriptor, str(name)) is not None
    assert known == {"opencode.db": True, "other.db": False, "thumbs.db": False}
    torn = tmp_path / "torn.db"
    with opened(torn) as (descriptor, _), pytest.raises(ValueError, match="cannot be read"):
        database_format(descriptor, str(torn))


def test_damaged_database_is_an_error(path: Path, writer: OpencodeWriter) -> None:
    writer.session("ses_1")
    writer.said("ses_1", "msg_1", "user", "Leaks? " * 5000)
    writer.close()
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match="database"):
        read(path, "ses_1")


def test_session_found_by_key_in_name(path: Path, writer: OpencodeWriter) -> None:
    writer.session("ses_1")
    writer.said("ses_1", "msg_1", "user", "Leaks?")
    conversation = read_session(path, "ses_1")
    assert conversation is not None
    assert conversation.messages[0].id == "msg_1"
    assert read_session(path, "ses_2") is None
    assert read_session(path, "") is None


def test_reading_stops_when_cancelled(path: Path, writer: OpencodeWriter) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with OpencodeDatabase().opened(str(path), cancel) as sessions, pytest.raises(Cancelled):
        sessions.marks()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    message=mangled([{"role": "user", "time": {"created": MS}}, {"role": "assistant", "summary": True}]),
    part=mangled(PARTS),
    entry=mangled([{"kind": kind, **data} for kind, data in ENTRIES]),
)
def test_any_json_is_read(tmp_path: Path, message: Any, part: Any, entry: dict[str, Any]) -> None:
    path = tmp_path / "any.db"
    path.unlink(missing_ok=True)
    writer = OpencodeWriter(path, OLDER + NEWER)
    try:
        writer.session("ses_1", "t")
        writer.message("ses_1", "msg_1", message, [part])
        writer.session_v2("ses_2")
        writer.entry("ses_2", "msg_2", str(entry.get("kind")).encode("utf-8", "replace").decode(), entry)
        for key in ("ses_1", "ses_2"):
            conversation = read(path, key)
            assert conversation is not None
            for found in conversation.messages:
                found.text.encode()
                found.tool.encode()
                assert found.line == found.ordinal == 1
    finally:
        writer.close()


@pytest.mark.parametrize(("agent", "resumed"), [("kilo", "kilo --session ses_1"), ("mimocode", ""), ("icodemate", "")])
def test_database_of_a_derived_agent_is_read_as_its_own(tmp_path: Path, agent: str, resumed: str) -> None:
    path = tmp_path / ".local" / "share" / agent / f"{agent}.db"
    writer = OpencodeWriter(path)
    writer.session("ses_1", "Repairing the boat")
    writer.said("ses_1", "msg_1", "user", "Leaks?")
    writer.close()
    (other,) = find_sources(tmp_path, {}).sources
    assert (other.agent, other.path) == (agent, str(path))
    with opened(path) as (source, _):
        known = database_format(source, str(path))
    assert known is not None
    assert known.agent == agent
    session = read_session(path, "ses_1")
    assert session is not None
    assert (session.metadata.agent, session.metadata.title) == (agent, "Repairing the boat")
    assert resume_command(agent, "ses_1") == resumed


def test_databases_of_other_channels_of_kilo_are_found(tmp_path: Path) -> None:
    folder = tmp_path / ".local" / "share" / "kilo"
    for name in ("opencode-rc.db", "mine.db", "other.db"):
        writer = OpencodeWriter(folder / name)
        writer.session("ses_1", "Repairing the boat")
        writer.said("ses_1", "msg_1", "user", "Leaks?")
        writer.close()
    sources = find_sources(tmp_path, {"KILO_DB": "mine.db"}).sources
    assert {(source.agent, Path(source.path).name) for source in sources} == {
        ("kilo", "mine.db"),
        ("kilo", "opencode-rc.db"),
    }


def test_sessions_of_kilo_with_newer_messages_alone(tmp_path: Path) -> None:
    path = tmp_path / "kilo" / "kilo.db"
    writer = OpencodeWriter(path, OLDER + tables.ENTRIES)
    for key in ("ses_1", "ses_2"):
        writer.session(key, "Repairing the boat")
        writer.entry(key, f"{key}_entry", "user", {"text": "Newer"})
    writer.said("ses_1", "msg_1", "user", "Older")
    writer.close()
    for key, text in (("ses_1", "Older"), ("ses_2", "Newer")):
        session = read(path, key)
        assert session is not None
        assert [message.text for message in session.messages] == [text]
    before = marks(path)
    writer = OpencodeWriter(path, "")
    writer.entry("ses_2", "more", "user", {"text": "More"})
    writer.close()
    after = marks(path)
    assert {key for key in after if after[key] != before[key]} == {"ses_2"}


@pytest.mark.parametrize("part", ["", "prt_1"], ids=["from a message", "from a part"])
def test_undone_messages_are_abandoned(path: Path, newer: OpencodeWriter, part: str) -> None:
    newer.session("ses_1")
    newer.session_v2("ses_2")
    for table in ("session", "session_v2"):
        newer.connection.execute(f"ALTER TABLE {table} ADD COLUMN revert TEXT")
    for number, role in enumerate(("user", "assistant", "user", "assistant"), 1):
        newer.said("ses_1", f"msg_{number}", role, f"Words {number}")
        said = {"text": f"Words {number}", "content": [{"type": "text", "text": f"Words {number}"}]}
        newer.entry("ses_2", f"msg_{number}b", role, said)
    for table, mark in (("session", "msg_3"), ("session_v2", "msg_3b")):
        undone = json.dumps({"messageID": mark, **({"partID": part} if part else {})})
        newer.connection.execute(f"UPDATE {table} SET revert = ?", (undone,))
    for key in ("ses_1", "ses_2"):
        session = read(path, key)
        assert session is not None
        assert session.metadata.rewound == [(4, 4) if part else (3, 4)]
        assert len(session.messages) == 4


def test_error_of_an_answer_is_shown_unless_the_user_ended_it(path: Path, newer: OpencodeWriter) -> None:
    newer.session("ses_1")
    newer.session_v2("ses_2")
    newer.message("ses_1", "msg_1", {"role": "assistant", "error": {"name": "APIError", "data": {"message": "Busy"}}})
    aborted = {"name": "MessageAbortedError", "data": {"message": "The operation was aborted."}}
    newer.message("ses_1", "msg_2", {"role": "assistant", "error": aborted}, [{"type": "text", "text": "I"}])
    newer.entry("ses_2", "msg_3", "assistant", {"content": [], "error": {"type": "provider", "message": "Busy"}})
    sessions = {key: session for key in ("ses_1", "ses_2") if (session := read(path, key))}
    found = {key: [(one.role, one.text) for one in session.messages] for key, session in sessions.items()}
    assert found == {"ses_1": [("system", "Busy"), ("assistant", "I")], "ses_2": [("system", "Busy")]}
