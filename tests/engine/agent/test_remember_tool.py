from pathlib import Path

import pytest

from engine.agent.memory_access import AgentAccess
from engine.agent.tool_definitions import agent_tools
from engine.base.cancellation import CancelToken
from engine.settings import Settings
from engine.settings.agent_settings import RememberSettings
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import SESSIONS, VALVE

NAME = "remember_session"


@pytest.fixture
def memory(tmp_path: Path):
    fake = FakeMemory(folder=tmp_path, sessions=SESSIONS)
    yield fake
    fake.close()


def tools(memory: FakeMemory, *, allowed: bool = True, session_key: str | None = None):
    settings = Settings(remember=RememberSettings(tool=allowed))
    return {tool.name: tool for tool in agent_tools(AgentAccess(lambda: memory, settings, session_key=session_key))}


def answer(memory: FakeMemory, **given: object) -> dict[str, object]:
    return tools(memory)[NAME].answer(given, CancelToken())


def test_tool_hidden_unless_enabled_and_in_groups(memory):
    assert NAME not in tools(memory, allowed=False)
    assert NAME not in tools(memory, session_key="agent:main:discord:group:123")
    assert tools(memory)[NAME].changes
    assert not tools(memory)[NAME].deletes


def test_agent_note_written_and_user_notified(memory, tmp_path):
    result = answer(memory, session=VALVE, name="Valve relay")
    path = str(result["path"])
    assert path.endswith("-valve-relay.md")
    assert result == {"path": path, "session": VALVE, "messages": 15, "written": True}
    assert (tmp_path / path).read_text().startswith("# Session: 2026-02-1")
    assert [note.path for note in memory.unseen_notes.all()] == [path]
    assert answer(memory, session=VALVE) == result | {"written": False}


def test_missing_session_argument_means_latest(memory, tmp_path):
    result = answer(memory, session=" ")
    assert result["written"]
    whole = [session.summary for session in SESSIONS.values() if not session.summary.parent]
    assert result["session"] == max(whole, key=lambda summary: summary.ended or 0).path


@pytest.mark.parametrize(
    ("given", "error"), [({"session": "nope"}, "No session has the id"), ({"name": "京都"}, "can't be named")]
)
def test_invalid_request_returns_answer(memory, tmp_path, given, error):
    assert error in answer(memory, **given)["error"]
    assert not (tmp_path / "memory").exists()
