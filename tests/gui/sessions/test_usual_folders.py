"""The examples of folders where no session is listed yet."""

from PySide6.QtWidgets import QLabel

from gui.sessions.listing_view import make_folder_table
from tests.helpers.invented_agent import declare


def test_table_shows_declared_folders_then_exports(qtbot, appearance, monkeypatch):
    declare(monkeypatch)
    table = make_folder_table()
    qtbot.addWidget(table)
    texts = [label.text().replace("\u200b", "") for label in table.findChildren(QLabel)]
    assert texts == [
        *("Claude Code", "~/.claude/projects", "Codex", "~/.codex/sessions", "OpenClaw", "~/.openclaw/agents"),
        *("Quill & Ink", "~/.quill/tasks"),
        *("ChatGPT, Claude, DeepSeek, Gemini Apps, Grok, Open WebUI", "the folder with the export that you downloaded"),
    ]
