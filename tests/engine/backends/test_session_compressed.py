"""Codex sessions that are compressed, unpacked to be continued, or named late: each is listed once, under one name."""

import json
import os
from pathlib import Path

import pytest
import zstandard

from engine.settings.options import SessionSettings

ID = "0199a213-81c0-7800-8aa1-bbab2a035a53"
PLAIN = f"rollout-2026-03-01T10-00-00-{ID}.jsonl"
NAME = f"sessions/codex-archive/{PLAIN}"
TEXTS = ("Why does the hull leak?", "The varnish has cracked at the keel.", "And the rudder?")


def lines(count: int) -> str:
    meta = {"timestamp": "2026-03-01T10:00:00Z", "type": "session_meta", "payload": {"id": ID, "cwd": "/home/ada"}}
    found = [json.dumps(meta)]
    for number, text in enumerate(TEXTS[:count]):
        role, kind = ("assistant", "output_text") if number % 2 else ("user", "input_text")
        item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        found.append(json.dumps({"timestamp": "2026-03-01T10:01:00Z", "type": "response_item", "payload": item}))
    return "".join(f"{line}\n" for line in found)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / ".codex" / "archived_sessions"
    path.mkdir(parents=True)
    return path


def pack(folder: Path, *, keep: bool = False) -> None:
    """Compress a session like Codex, which keeps the modification time and removes the plain file."""
    plain = folder / PLAIN
    state = plain.stat()
    packed = folder / f"{PLAIN}.zst"
    packed.write_bytes(zstandard.compress(plain.read_bytes(), 3))
    os.utime(packed, ns=(state.st_atime_ns, state.st_mtime_ns))
    if not keep:
        plain.unlink()


def test_a_compressed_session_is_found_read_and_shown(open_memory, folder: Path) -> None:
    (folder / PLAIN).write_text(lines(2))
    pack(folder)
    (folder / "rollout-compress-x1.tmp").write_bytes(b"half of it")
    memory = open_memory(sessions=SessionSettings(folders=(str(folder),)))
    report = memory.sync()
    assert (report.failed, report.skipped) == ((), ())
    (session,) = memory.sessions()
    assert (session.path, session.id, session.messages) == (NAME, ID, 2)
    result = memory.search("varnish cracked keel").results[0]
    assert (result.path, result.start_line, result.end_line) == (NAME, 2, 3)
    assert [message.text for message in memory.read_session(NAME).messages] == list(TEXTS[:2])
    assert memory.raw_lines(NAME, [3]) == (lines(2).splitlines()[2],)
    assert memory.read_file(NAME, start=3, lines=1).text == f"Assistant: {TEXTS[1]}"
    assert memory.sync().files_indexed == 0


def test_session_that_is_compressed_later_stays_the_same(open_memory, folder: Path) -> None:
    (folder / PLAIN).write_text(lines(2))
    memory = open_memory(sessions=SessionSettings(folders=(str(folder),)))
    memory.sync()
    before = memory.sessions()
    pack(folder, keep=True)  # for a moment, both the plain and the packed file exist
    memory.sync()
    assert memory.sessions() == before
    (folder / PLAIN).unlink()
    assert memory.read_session(NAME).messages[1].text == TEXTS[1]  # an earlier result still opens
    report = memory.sync()
    assert (report.files_removed, report.failed) == (0, ())
    assert [(one.path, one.id, one.title, one.messages) for one in memory.sessions()] == [
        (one.path, one.id, one.title, one.messages) for one in before
    ]
    assert memory.search("varnish cracked keel").results[0].path == NAME


def test_continued_compressed_session_read_on(open_memory, folder: Path) -> None:
    (folder / PLAIN).write_text(lines(2))
    pack(folder)
    memory = open_memory(sessions=SessionSettings(folders=(str(folder),)))
    memory.sync()
    (folder / PLAIN).write_text(lines(3))
    (folder / f"{PLAIN}.zst").unlink()
    memory.sync()
    (session,) = memory.sessions()
    assert (session.path, session.messages) == (NAME, 3)
    assert memory.search("rudder").results[0].end_line == 4


def test_compressed_file_listed_in_settings_is_read(open_memory, folder: Path) -> None:
    (folder / PLAIN).write_text(lines(2))
    pack(folder)
    memory = open_memory(sessions=SessionSettings(folders=(str(folder / f"{PLAIN}.zst"),)))
    memory.sync()
    (session,) = memory.sessions()
    assert session.path.endswith(f"/{PLAIN}")
    assert memory.read_session(session.path).messages[0].text == TEXTS[0]


def test_damaged_compressed_file_is_an_issue(open_memory, folder: Path) -> None:
    (folder / f"{PLAIN}.zst").write_bytes(b"no zstd at all")
    memory = open_memory(sessions=SessionSettings(folders=(str(folder),)))
    (issue,) = memory.sync().failed
    assert (issue.path, issue.rule) == (NAME, "unreadable")
    assert issue.detail == "Can't be read: its compression is damaged."


@pytest.mark.parametrize("packed", [False, True])
def test_later_name_becomes_title(open_memory, folder: Path, packed: bool) -> None:
    (folder / PLAIN).write_text(lines(2))
    if packed:
        pack(folder)
    memory = open_memory(sessions=SessionSettings(folders=(str(folder),)))
    memory.sync()
    assert memory.sessions()[0].title == TEXTS[0]
    names = folder.parent / "session_index.jsonl"
    names.write_text(json.dumps({"id": ID, "thread_name": "Boat", "updated_at": "2126-03-01T10:00:00Z"}) + "\n")
    assert memory.sync().files_indexed == 1
    (session,) = memory.sessions()
    assert (session.title, session.messages) == ("Boat", 2)
    assert memory.sync().files_indexed == 0
    (folder / f"{PLAIN}.zst").unlink(missing_ok=True)
    (folder / PLAIN).write_text(lines(3))
    with names.open("a") as file:
        file.write(json.dumps({"id": ID, "thread_name": "Ship", "updated_at": "2126-03-02T10:00:00Z"}) + "\n")
    memory.sync()
    (session,) = memory.sessions()
    assert (session.title, session.messages) == ("Ship", 3)


def test_session_name_dated_9999_does_not_end_a_sync(open_memory, folder: Path) -> None:
    (folder / PLAIN).write_text(lines(2))
    entry = {"id": ID, "thread_name": "Boat", "updated_at": "9999-12-31T10:00:00Z"}
    (folder.parent / "session_index.jsonl").write_text(json.dumps(entry) + "\n")
    memory = open_memory(sessions=SessionSettings(folders=(str(folder),)))
    assert memory.sync().files_indexed == 5
    assert [session.title for session in memory.sessions()] == ["Boat"]
    assert memory.sync().files_indexed == 0
