"""Every fixture is recognised by its content, under any name."""

import shutil
from pathlib import Path

import pytest

from engine.corpus.transcripts.registry import formats
from engine.corpus.transcripts.transcript_reader import conversations, document_format, line_format, opened
from tests.helpers.transcripts import read_session

FIXTURES = Path(__file__).parent / "fixtures"
AGENTS = {
    "claude_code": "claude-code",
    "codex": "codex",
    "antigravity": "antigravity",
    "copilot_cli": "copilot-cli",
    "cursor_cli": "cursor-cli",
    "droid": "droid",
    "gemini": "gemini",
    "gptme": "gptme",
    "grok": "grok",
    "hermes": "hermes",
    "iflow": "iflow",
    "jan": "jan-ai",
    "kimi": "kimi",
    "kiro": "kiro",
    "letta": "letta",
    "main": "kimi",
    "nanobot": "nanobot",
    "openclaw": "openclaw",
    "sess_0c1d2e3f-0000-4000-8000-000000000008": "kiro",
    "proma": "proma",
    "qwen": "qwen",
    "tau": "tau",
    "vibe": "vibe",
    "zencoder": "zencoder",
}
DOCUMENTS = {
    "amp/T-0c1d2e3f-0000-4000-8000-000000000004.json": "amp",
    "cline/saoudrizwan.claude-dev/tasks/1765000000000/ui_messages.json": "cline",
    "cline/rooveterinaryinc.roo-cline/tasks/0c1d2e3f-0000-4000-8000-000000000003/ui_messages.json": "roo-code",
    "cline/sessions/s1/s1.messages.json": "cline",
    "deepseek/conversations.json": "deepseek",
    "gemini_web/MyActivity.json": "gemini-web",
    "grok_web/prod-grok-backend.json": "grok-web",
    "lm_studio/1777885200000.conversation.json": "lm-studio",
    "open_webui/chat-export-1777885200000.json": "open-webui",
    "continue/sessions/0c1d2e3f-0000-4000-8000-000000000005.json": "continue",
    "copilot_chat/chatSessions/0c1d2e3f-0000-4000-8000-000000000001.json": "copilot-chat",
    "copilot_chat/chatSessions/0c1d2e3f-0000-4000-8000-000000000002.jsonl": "copilot-chat",
}
LINES = sorted(path for path in FIXTURES.rglob("*.jsonl") if path.parent.name in AGENTS)


@pytest.mark.parametrize("fixture", LINES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_line_transcripts_are_recognised_by_content(fixture: Path, tmp_path: Path) -> None:
    path = tmp_path / "some-name.jsonl"
    shutil.copy(fixture, path)
    with opened(path) as (descriptor, _):
        known = line_format(descriptor)
        assert document_format(descriptor, str(path)) is None
    assert known is not None
    assert known.agent == AGENTS[fixture.parent.name]
    session = read_session(path, "")
    assert session is not None
    assert session.metadata.agent == known.agent
    assert session.metadata.unknown == session.unknown.total()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_document_is_known_to_its_agent_alone(name: str) -> None:
    path = FIXTURES / name
    with opened(path) as (descriptor, _):
        lines = line_format(descriptor)
    head = path.read_bytes()[: 64 * 1024]
    documents = [known.agent for one in formats() for known in one.documents if known.matches(str(path), head)]
    assert (documents, lines) == ([DOCUMENTS[name]], None)


@pytest.mark.parametrize("name", [*DOCUMENTS, "chatgpt/conversations.json", "claude_export/conversations.json"])
def test_unknown_items_of_documents_are_counted_once(name: str) -> None:
    for session in conversations(FIXTURES / name):
        assert session.metadata.unknown == session.unknown.total()


@pytest.mark.parametrize("content", [b"", b"\n", b"{}\n", b"[]\n", b'{"level": "info"}\n', b"\x00" * 100, b"# Notes\n"])
def test_other_files_are_not_recognised(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_bytes(content)
    assert read_session(path, "") is None
