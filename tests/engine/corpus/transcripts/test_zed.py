"""Zed's threads in its database."""

import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.parsers.zed import ZED_DATABASE
from engine.corpus.transcripts.registry import session_folders
from engine.corpus.transcripts.tool_uses import uses_of
from engine.corpus.user_environment import Machine
from tests.helpers.session_rows import ZED, ZED_NEWER, check_read, marks_of, parts_of, read_rows, write_rows
from tests.helpers.transcripts import json_values, mangled, read_session

CREATED, UPDATED, END = "2026-05-04T09:00:00Z", "2026-05-04T09:10:00+00:00", 1777885800.0
THREAD: dict[str, Any] = {
    "title": "A leaking hull",
    "version": "0.3.0",
    "messages": [
        {
            "User": {
                "id": "u1",
                "content": [
                    {"Text": "Why does "},
                    {"Mention": {"uri": {"File": {"abs_path": "/home/ada/boats/hull.py"}}, "content": "seams = None"}},
                    {"Text": " leak? See "},
                    {"Mention": {"uri": {"Fetch": {"url": "https://a.b/c"}}, "content": "Caulk it."}},
                    {"Mention": {"uri": "PastedImage", "content": ""}},
                    {"Image": {"source": "iVBORw0="}},
                ],
            }
        },
        {
            "Agent": {
                "content": [
                    {"Thinking": {"text": "Look at the seams.", "signature": "x"}},
                    {"RedactedThinking": "x"},
                    {"Text": "Let me look."},
                    {"ToolUse": {"id": "t1", "name": "grep", "input": {"regex": "seam"}, "raw_input": "{}"}},
                ],
                "tool_results": {
                    "t1": {
                        "tool_use_id": "t1",
                        "tool_name": "grep",
                        "is_error": False,
                        "content": [{"Text": "hull.py:1"}, {"Image": {"source": "x"}}],
                    }
                },
            }
        },
        "Resume",
        {"Compaction": {"ProviderNative": {"text": "x"}}},
        {"Compaction": {"Summary": "So far: a leak."}},
        {"Agent": {"content": [{"Text": "It has no seams."}, {"Hologram": 1}], "tool_results": {}}},
        {"Hologram": {}},
    ],
}
OLDER: dict[str, Any] = {
    "version": "0.2.0",
    "summary": "A leaking hull",
    "updated_at": UPDATED,
    "initial_project_snapshot": {
        "worktree_snapshots": [{"worktree_path": "/home/ada/boats", "git_state": {"current_branch": "keel"}}]
    },
    "messages": [
        {"id": 0, "role": "system", "segments": [{"type": "text", "text": "Be careful."}]},
        {"id": 1, "role": "user", "segments": [{"type": "text", "text": "Why?"}], "tool_uses": []},
        {
            "id": 2,
            "role": "assistant",
            "segments": [{"type": "thinking", "text": "Hm."}, {"type": "text", "text": "Let me look."}],
            "tool_uses": [{"id": "t1", "name": "grep", "input": {"regex": "seam"}}],
            "tool_results": [{"tool_use_id": "t1", "is_error": False, "content": "hull.py:1"}],
        },
    ],
}


def row(thread: Any, *, packed: bool = True, **more: Any) -> tuple[str, dict[str, Any]]:
    data = thread if isinstance(thread, bytes) else json.dumps(thread).encode()
    values = {
        "id": "t-1",
        "summary": "A leaking hull",
        "updated_at": UPDATED,
        "data_type": "zstd" if packed else "json",
        "data": zstandard.compress(data) if packed else data,
    }
    return "threads", {**values, **more}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "zed" / "threads" / "threads.db"


def read(path: Path) -> Conversation:
    found = read_rows(ZED_DATABASE, path, "t-1")
    assert found is not None
    return found


def test_a_thread_is_read(path: Path) -> None:
    folders = "/home/ada/boats\n/home/ada/oars"
    write_rows(path, ZED + ZED_NEWER, [row(THREAD, created_at=CREATED, folder_paths=folders, parent_id=None)])
    conversation = read(path)
    asked = "Why does @hull.py leak? See @https://a.b/c@PastedImage\n[image: PNG, 1 KB]"
    assert parts_of(conversation.messages) == [
        (1, "user", "text", asked, ""),
        (1, "system", "text", "seams = None", ""),
        (1, "system", "text", "Caulk it.", ""),
        (2, "assistant", "thinking", "Look at the seams.", ""),
        (2, "assistant", "text", "Let me look.", ""),
        (2, "assistant", "tool-call", "seam", "grep"),
        (2, "tool", "tool-result", "hull.py:1\n[image: PNG, 1 KB]", "grep"),
        (3, "system", "text", "So far: a leak.", ""),
        (4, "assistant", "text", "It has no seams.", ""),
    ]
    metadata = conversation.metadata
    assert (metadata.agent, metadata.id, metadata.title) == ("zed", "t-1", "A leaking hull")
    assert (metadata.opening, metadata.project, metadata.parent) == ("Why does @hull.py leak?", "/home/ada/boats", "")
    assert (metadata.started, metadata.ended) == (END - 600, END)
    assert {message.time for message in conversation.messages} == {END}
    assert conversation.unknown == {"block": 1, "message": 1}


def test_an_older_thread_is_read(path: Path) -> None:
    write_rows(path, ZED, [row(OLDER, packed=False)])
    conversation = read(path)
    assert parts_of(conversation.messages) == [
        (1, "system", "text", "Be careful.", ""),
        (2, "user", "text", "Why?", ""),
        (3, "assistant", "thinking", "Hm.", ""),
        (3, "assistant", "text", "Let me look.", ""),
        (3, "assistant", "tool-call", "seam", "grep"),
        (3, "tool", "tool-result", "hull.py:1", "grep"),
    ]
    metadata = conversation.metadata
    assert (metadata.project, metadata.branch, metadata.started) == ("/home/ada/boats", "keel", END)


def test_the_thread_of_a_sub_agent_names_its_parent(path: Path) -> None:
    write_rows(path, ZED + ZED_NEWER, [row(THREAD, parent_id="t-0", folder_paths='["/home/ada/boats"]')])
    conversation = read(path)
    assert (conversation.metadata.parent, conversation.metadata.project) == ("t-0", "/home/ada/boats")
    assert all(message.side for message in conversation.messages)


@pytest.mark.parametrize("thread", [b"{", b"[]", b"", zstandard.compress(b" " * 10)])
def test_a_damaged_thread_has_no_messages(path: Path, thread: bytes) -> None:
    write_rows(path, ZED, [row(thread), ("threads", {**row(thread)[1], "id": "t-2", "data": b"torn"})])
    for key in ("t-1", "t-2"):
        conversation = read_rows(ZED_DATABASE, path, key)
        assert conversation is not None
        assert conversation.messages == ()
        assert conversation.unknown.total() == 1
    assert read_rows(ZED_DATABASE, path, "t-3") is None


def test_a_thread_that_unpacks_without_end_is_left_out(path: Path) -> None:
    packed = zstandard.compress(b" " * (65 * 1024 * 1024))
    write_rows(path, ZED, [row(THREAD, data=packed)])
    assert read(path).unknown == {"too long or damaged": 1}


def test_marks_change_with_a_thread(path: Path) -> None:
    write_rows(path, ZED, [row(THREAD), row(OLDER, id="t-2", updated_at="2026-05-05T09:00:00Z")])
    before = marks_of(ZED_DATABASE, path)
    assert list(before) == ["t-2", "t-1"]
    write_rows(path, "UPDATE threads SET updated_at = '2026-06-01T09:00:00Z' WHERE id = 't-1'")
    after = marks_of(ZED_DATABASE, path)
    assert list(after) == ["t-1", "t-2"]
    assert (after["t-1"] != before["t-1"], after["t-2"] == before["t-2"]) == (True, True)


def test_database_is_recognised_by_columns(path: Path, tmp_path: Path) -> None:
    write_rows(path, ZED, [row(THREAD)])
    other = tmp_path / "other" / "threads.db"
    write_rows(other, "CREATE TABLE threads (id, title)")
    assert read_session(path, "t-1") is not None
    assert read_session(other, "t-1") is None


def test_database_is_found_on_each_system(tmp_path: Path) -> None:
    found = [path for agent, _, path in session_folders(Machine(str(tmp_path), {})) if agent == "zed"]
    homes = (
        ".local/share/zed",
        ".var/app/dev.zed.Zed/data/zed",
        "Library/Application Support/Zed",
        "AppData/Local/Zed",
    )
    assert found == [str(tmp_path / home / "threads" / "threads.db") for home in homes]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(thread=mangled([THREAD, OLDER]) | json_values, cell=st.text(max_size=8) | st.binary(max_size=8))
def test_zed_thread_with_any_content_never_raises(tmp_path: Path, thread: Any, cell: Any) -> None:
    path = tmp_path / "threads.db"
    path.unlink(missing_ok=True)
    cell = cell.encode("utf-8", "surrogatepass") if isinstance(cell, str) else cell
    write_rows(path, ZED + ZED_NEWER, [row(thread, packed=False, summary=cell, folder_paths=cell, parent_id=cell)])
    check_read(read(path))
    marks_of(ZED_DATABASE, path)


def test_paths_begin_with_a_folder_of_the_project(path: Path) -> None:
    calls = [
        {"ToolUse": {"id": str(number), "name": "edit_file", "input": {"path": named, "mode": "edit"}}}
        for number, named in enumerate(("boats/src/hull.py", "oars/oar.py", "src/hull.py", "/etc/hosts"))
    ]
    folders = "/home/ada/boats\n/home/ada/oars"
    write_rows(path, ZED + ZED_NEWER, [row({"messages": [{"Agent": {"content": calls}}]}, folder_paths=folders)])
    used = [use.value for message in read(path).messages for use in uses_of(message)]
    assert used == ["/home/ada/boats/src/hull.py", "/home/ada/oars/oar.py", "src/hull.py", "/etc/hosts"]
