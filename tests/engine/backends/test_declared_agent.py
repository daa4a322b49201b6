"""The sessions of an agent that only its declaration describes are indexed, found, listed and resumed."""

from pathlib import Path

import pytest

from engine.settings.options import SessionSettings
from tests.helpers.invented_agent import declare, write_task

NAME = "sessions/quill/t-1/task.md"


def test_declared_agent_is_indexed_and_resumed(open_memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch)
    memory = open_memory(sessions=SessionSettings(folders=(str(write_task(tmp_path)),)))
    memory.sync()
    (listed,) = memory.sessions()
    assert (listed.path, listed.agent, listed.title, listed.messages) == (NAME, "quill", "Herons", 2)
    assert listed.resume_command == "quill --continue t-1"
    assert [result.path for result in memory.search("heron frogs agent:quill").results] == [NAME]
    assert memory.read_session(NAME).messages[1].text == "It waits for frogs."
    counts = {count.source: count.files for count in memory.status().source_counts}
    assert counts["sessions"] == 1
