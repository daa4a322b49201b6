"""Three workspaces that list the same store: every session is indexed once, and found from each of them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.memory.memory_interface import MemorySearchManager
from engine.settings import Settings
from engine.settings.options import SessionSettings, StoreSettings
from engine.workspaces.known_workspaces import known_workspaces
from engine.workspaces.memory_pool import MemoryPool
from engine.workspaces.multi_workspace_memory import MultiWorkspaceMemory

Open = Callable[..., MemorySearchManager]
SAID = {"garden": "Frost killed the peppers.", "boat": "The rudder squeaks.", "elsewhere": "The invoice is overdue."}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Override the parent fixture: all workspaces list the store."""
    listed = SessionSettings(folders=(str(tmp_path / "agents/main/sessions"),))
    return Settings(store=StoreSettings(path=str(tmp_path / "data")), sessions=listed)


def _write_sessions(tmp_path: Path) -> None:
    store = tmp_path / "agents/main/sessions"
    store.mkdir(parents=True)
    for name, text in SAID.items():
        head = {"type": "session", "id": name, "cwd": str(tmp_path / name), "timestamp": "2026-03-01T10:00:00.000Z"}
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        line = {"type": "message", "id": "m1", "timestamp": "2026-03-01T10:01:00.000Z", "message": message}
        (store / f"{name}.jsonl").write_text(f"{json.dumps(head)}\n{json.dumps(line)}\n")


def test_session_is_indexed_once_and_found_everywhere(
    folders: dict[str, Path], tmp_path: Path, settings: Settings, open_: Open
) -> None:
    _write_sessions(tmp_path)
    memories = {name: open_(str(folder)) for name, folder in folders.items()}
    for memory in (*memories.values(), *memories.values()):
        memory.sync()
    homes = [(session.id, name) for name, memory in memories.items() for session in memory.sessions()]
    assert sorted(homes) == [("boat", "boat"), ("elsewhere", "garden"), ("garden", "garden")]
    for name, folder in folders.items():
        everywhere = MultiWorkspaceMemory(
            open_(str(folder)),
            folder,
            lambda: known_workspaces(store_path=str(tmp_path / "data")),
            MemoryPool(open_, lambda _: settings),
            most=6,
        )
        for session, text in SAID.items():
            outcome = everywhere.search_everywhere(text, sources=["sessions"])
            found = outcome.results[0]
            home = dict(homes)[session]
            assert found.workspace == str(folders[home])
            assert [one.path for one in outcome.results].count(found.path) == 1
            read = everywhere.read_session(found.path)
            assert [message.text for message in read.messages] == [text]
            assert (read.summary.path == f"sessions/main/{session}.jsonl") == (home == name)
        everywhere.close()


def test_a_copy_that_is_left_for_a_while_is_found_once(
    folders: dict[str, Path], tmp_path: Path, settings: Settings, open_: Open
) -> None:
    _write_sessions(tmp_path)
    garden, boat = (open_(str(folders[name])) for name in ("garden", "boat"))
    garden.sync()
    boat.sync()  # takes over its own session, which the garden still has
    assert [sum(one.id == "boat" for one in memory.sessions()) for memory in (garden, boat)] == [1, 1]
    everywhere = MultiWorkspaceMemory(
        garden,
        folders["garden"],
        lambda: known_workspaces(store_path=str(tmp_path / "data")),
        MemoryPool(open_, lambda _: settings),
        most=6,
    )
    outcome = everywhere.search_everywhere(SAID["boat"], sources=["sessions"])
    assert [one.snippet for one in outcome.results].count(outcome.results[0].snippet) == 1
    everywhere.close()
