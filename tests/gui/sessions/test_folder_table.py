"""The folders of agents where no session is listed yet."""

from pathlib import Path

from PySide6.QtWidgets import QLabel, QPushButton

from engine import FoundSource, agent_labels
from engine.corpus.transcripts.registry import agent_label, parser_versions
from gui.sessions.listing_view import FolderTable
from tests.helpers.invented_agent import declare

EXPORTS = (
    "ChatGPT, Claude, DeepSeek, Gemini Apps, Grok, Open WebUI",
    "the folder with the export that you downloaded",
)


def _texts(table: FolderTable) -> list[str]:
    return [one.text().replace("\u200b", "") for one in table.findChildren(QLabel) if not one.isHidden()]


def _source(agent: str, path: Path, files: int) -> FoundSource:
    return FoundSource(
        kind="sessions", agent=agent, name="", path=str(path), files=files, bytes=9, newest=None, complete=True
    )


def test_table_shows_declared_folders_then_exports(qtbot, appearance, monkeypatch):
    declare(monkeypatch)
    table = FolderTable()
    qtbot.addWidget(table)
    assert _texts(table) == [
        *("Claude Code", "~/.claude/projects", "Codex", "~/.codex/sessions", "OpenClaw", "~/.openclaw/agents"),
        *("Quill & Ink", "~/.quill/tasks"),
        *EXPORTS,
    ]


def test_found_folders_replace_the_example_folders(qtbot, appearance):
    table = FolderTable()
    qtbot.addWidget(table)
    home = Path.home()
    found = (
        _source("zed", home / "threads.db", 1),
        _source("codex", home / ".codex/sessions", 1200),
        _source("codex", home / ".codex/archived_sessions", 3),
        _source("goose", home / "sessions.db", 0),
    )
    table.show_found(found)
    codex = ["Codex", "~/.codex/sessions · 1,200 files", "~/.codex/archived_sessions · 3 files"]
    assert _texts(table) == [*codex, "Zed", "~/threads.db · 1 file", *EXPORTS]


def test_other_agents_are_named_on_request(qtbot, appearance):
    table = FolderTable()
    qtbot.addWidget(table)
    table.show_found((_source("zed", Path.home() / "threads.db", 1),))
    (more,) = table.findChildren(QPushButton)
    others = [agent for agent in agent_labels() if agent != "Zed"]
    assert more.text() == f"and {len(others)} more agents"
    more.click()
    assert more.isHidden()
    assert ", ".join(others) in _texts(table)


def test_no_other_agent_leaves_no_button(qtbot, appearance):
    table = FolderTable()
    qtbot.addWidget(table)
    names = {agent_label(name): name for name in parser_versions()}
    found = [_source(names[label], Path.home() / "x", 1) for label in agent_labels()]
    (more,) = table.findChildren(QPushButton)
    table.show_found(found)
    assert more.isHidden()
    table.show_found(found[1:])
    assert (more.isHidden(), more.text()) == (False, "and 1 more agent")
    more.click()
    assert agent_labels()[0] in _texts(table)
    table.show_found(found)
    assert "" not in _texts(table)


def test_table_asks_for_folders_whenever_shown(qtbot, appearance):
    table = FolderTable()
    qtbot.addWidget(table)
    asked = []
    table.requested.connect(lambda: asked.append(True))
    for _ in range(2):
        table.show()
        table.hide()
    assert asked == [True, True]
