"""Sessions synchronised from other machines are named as the settings say."""

import json
from pathlib import Path

import pytest

from engine.agent.memory_access import AgentAccess
from engine.agent.memory_tools import memory_search
from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.settings import Settings
from engine.settings.options import SessionSettings, StoreSettings
from tests.helpers.fake_provider import FakeProvider, selection_of


def line(words: str) -> str:
    return (
        json.dumps(
            {
                "type": "user",
                "uuid": words,
                "sessionId": words,
                "cwd": "/home/ada/boat",
                "timestamp": "2026-03-01T10:00:00.000Z",
                "message": {"role": "user", "content": words},
            }
        )
        + "\n"
    )


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(FakeProvider()))
    (tmp_path / "notes").mkdir()
    for name in ("local", "sync/laptop", "sync/desktop", "other"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "s.jsonl").write_text(line(f"sail {name.rpartition('/')[2]}"))
    return tmp_path


def make(home: Path, *machines: str) -> BuiltinMemory:
    folders = tuple(str(home / name) for name in ("local", "sync", "other"))
    settings = Settings(
        sessions=SessionSettings(folders=folders, machines=machines), store=StoreSettings(path=str(home / "data"))
    )
    memory = BuiltinMemory(home / "notes", settings, executor=None, background=False)
    memory.sync()
    return memory


def machines(memory: BuiltinMemory) -> dict[str, str]:
    return {session.title: session.machine for session in memory.sessions()}


def found(memory: BuiltinMemory, query: str) -> set[str]:
    return {result.title for result in memory.search(query, max_results=10).results}


def test_machine_is_that_of_the_closest_parent_folder(home: Path) -> None:
    memory = make(home, f"office={home / 'sync'}", f"laptop = {home / 'sync/laptop'}", f"tower={home / 'other'}")
    try:
        assert machines(memory) == {
            "sail local": "",
            "sail laptop": "laptop",
            "sail desktop": "office",
            "sail other": "tower",
        }
        assert all(bool(session.resume_command) != bool(session.machine) for session in memory.sessions())
        assert found(memory, "machine:Laptop") == {"sail laptop"}
        outcome = memory.search("sail", max_results=10)
        named = {result.title: result.message.machine for result in outcome.results if result.message}
        assert named == machines(memory)
        answer = memory_search(AgentAccess(lambda: memory, Settings(provider="none")), "sail machine:laptop")
        assert [passage.machine for passage in answer.results] == ["laptop"]
        assert found(memory, "sail machine:laptop machine:tower") == {"sail laptop", "sail other"}
        assert found(memory, "sail -machine:laptop -machine:office") == {"sail local", "sail other"}
        assert memory.query_values("machine", "") == ("laptop", "office", "tower")
    finally:
        memory.close()


def test_changed_name_counts_after_the_next_update(home: Path) -> None:
    make(home, f"laptop={home / 'sync'}").close()
    memory = make(home, f"old laptop={home / 'sync'}")
    try:
        assert set(machines(memory).values()) == {"", "old laptop"}
        assert found(memory, "machine:laptop") == set()
        assert found(memory, 'machine:"old laptop"') == {"sail laptop", "sail desktop"}
    finally:
        memory.close()


def test_entries_without_name_or_folder_are_ignored(home: Path) -> None:
    memory = make(home, "laptop", "=", "laptop=", f"={home / 'sync'}", f"far={home / 'elsewhere'}")
    try:
        assert set(machines(memory).values()) == {""}
    finally:
        memory.close()
