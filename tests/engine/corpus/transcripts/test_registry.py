"""One declaration makes an agent known everywhere."""

import os
from pathlib import Path

import pytest

from engine import agent_label, find_sources
from engine.corpus.transcripts import registry
from engine.corpus.transcripts.registry import is_database, may_be_transcript
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.corpus.transcripts.transcript_files import transcript_of
from engine.corpus.user_environment import Machine
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.invented_agent import declare, write_task


@pytest.fixture(autouse=True)
def _declared(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch)


def test_declared_agent_is_found_on_the_machine(tmp_path: Path) -> None:
    tasks = write_task(tmp_path)
    found = find_sources(tmp_path, {}).sources
    assert [(source.kind, source.agent, source.path, source.files) for source in found] == [
        ("sessions", "quill", str(tasks), 1)
    ]
    assert agent_label("quill") == "Quill & Ink"
    assert ("Quill & Ink", "~/.quill/tasks") in registry.usual_folders()


def test_declared_files_are_recognised_by_name() -> None:
    assert may_be_transcript("/x/task.md")
    assert may_be_transcript("/x/State.quilldb")
    assert not may_be_transcript("/x/title.json")
    assert is_database("/x/state.quilldb")
    assert transcript_of("/x/state.quilldb-wal") == "/x/state.quilldb"
    assert transcript_of("/x/task.md-wal") == "/x/task.md-wal"


def test_session_time_is_that_of_its_newest_file(tmp_path: Path) -> None:
    tasks = write_task(tmp_path)
    os.utime(tasks / "t-1" / "title.json", (4e9, 4e9))
    files = find_transcripts(Settings(sessions=SessionSettings(folders=(str(tasks),)))).files
    assert [(file.name, file.mtime_ns) for file in files] == [("sessions/quill/t-1/task.md", 4 * 10**18)]


@pytest.mark.parametrize(
    ("transcript", "part"),
    [
        ("a/b.jsonl", ""),
        ("hermes/state.db", "hermes/state.db-wal"),
        ("conversations/a/base_state.json", "conversations/a/events"),
        ("sessions/a/events/0.json", "sessions/a/events"),
        ("storage/session/p/ses_1.json", "storage/message/ses_1"),
    ],
)
def test_sessions_grow_in_their_transcript_or_next_to_it(transcript: str, part: str) -> None:
    assert registry.growing_part(transcript.replace("/", os.sep)) == part.replace("/", os.sep)


def test_names_of_agents_and_their_formats_agree() -> None:
    assert len({agent.name for agent in registry.AGENTS}) == len(registry.AGENTS)
    for agent, formats in zip(registry.AGENTS, registry.formats(), strict=True):
        kinds = (*formats.lines, *formats.documents, *formats.databases)
        assert kinds
        assert {known.agent for known in kinds} == {agent.name}


def test_folders_of_each_system_are_listed(tmp_path: Path) -> None:
    """Folders that agentsview names (August 2026), and users of Devin's command line on Windows."""
    (tmp_path / ".kimi_openclaw" / "agents" / "main").mkdir(parents=True)
    folders = {path for _, _, path in registry.session_folders(Machine(str(tmp_path), {"CHISEL_SESSION_DB": "/d.db"}))}
    expected = (
        "AppData/Roaming/devin/cli/sessions.db",
        "AppData/Local/Temp/VSGitHubCopilotLogs/traces",
        "Library/Caches/VSGitHubCopilotLogs/traces",
        ".kimi_openclaw/agents/main/sessions",
        "AppData/Roaming/Block/goose/data/sessions/sessions.db",
        "AppData/Local/Zed/threads/threads.db",
        "AppData/Roaming/Cursor/User/globalStorage/state.vscdb",
        "Library/Application Support/Cursor/User/globalStorage/state.vscdb",
        ".config/Cursor/User/globalStorage/state.vscdb",
    )
    assert [name for name in expected if str(tmp_path / name) not in folders] == []
    assert "/d.db" in folders


def test_agent_name_means_that_agent_and_its_family() -> None:
    known = ["claude", "claude-code", "openclaude", "pi", "oh-my-pi", "copilot-chat", "visual-studio-copilot", "codex"]
    names = {
        "claude": {"claude", "claude-code"},
        "Claude Code": {"claude-code"},
        "claude c": {"claude-code"},
        "pi": {"pi"},
        "Oh My Pi": {"oh-my-pi"},
        "Kimi": set(),
        "copilot": {"copilot-chat", "visual-studio-copilot"},
        "GitHub Copilot": {"copilot-chat"},
        "laude": {"claude", "claude-code", "openclaude"},
        "abacus": set(),
    }
    assert {name: registry.agents_named(name, known) for name in names} == names


@pytest.mark.parametrize(
    ("template", "environ", "expected"),
    [
        ("~/.tau/sessions", {}, ["/home/ada/.tau/sessions"]),
        ("$TAU_HOME/sessions", {}, []),
        ("$TAU_HOME/sessions", {"TAU_HOME": "~/tau"}, ["/home/ada/tau/sessions"]),
        ("$TAU_DB", {"TAU_DB": "/data/tau.db"}, ["/data/tau.db"]),
        ("($A|$B|~/.tau)/sessions", {"B": "/b"}, ["/b/sessions"]),
        ("($A|~/.local/share)/tau", {"A": "no path"}, ["/home/ada/.local/share/tau"]),
        ("config/tau", {"XDG_CONFIG_HOME": "/conf"}, ["/conf/tau"]),
        ("data/tau", {}, ["/home/ada/.local/share/tau", "/home/ada/AppData/Local/tau"]),
    ],
)
def test_template_of_folder_means_paths(template: str, environ: dict[str, str], expected: list[str]) -> None:
    found = Machine("/home/ada", environ).paths(template)
    assert found == [path.replace("/", os.sep) for path in expected]


def test_file_next_to_transcript_belongs_to_it(tmp_path: Path) -> None:
    """Named like the transcript, or always the same; without the transcript, it belongs to nothing."""
    for folder, transcript, beside in (
        (".factory/sessions", "a.jsonl", "a.settings.json"),
        (".vibe/logs/session/s", "messages.jsonl", "meta.json"),
    ):
        path, other = tmp_path / folder / transcript, tmp_path / folder / beside
        path.parent.mkdir(parents=True)
        other.write_text("{}")
        os.utime(other, ns=(10**18, 10**18))
        assert registry.owner_of_part(str(other)) == ""
        path.write_text("{}")
        assert registry.owner_of_part(str(other)) == str(path)
        assert registry.parts_changed(str(path)) == 10**18
        assert registry.owner_of_part(str(path)) == ""
