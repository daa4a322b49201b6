"""Planted secrets of every kind in sessions: none is in the index's files, in the log, or in embedded text."""

import contextlib
import json
import logging
import re
from pathlib import Path

import pytest

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.logs import configure_logging
from engine.redaction.masks import PATTERNS
from engine.settings import Settings
from engine.settings.options import SessionSettings, StoreSettings
from tests.helpers.embedding_servers.openai_server import KEY, OpenAIServer
from tests.helpers.fake_provider import FakeProvider, selection_of

_MARKED = re.compile("«([^»]*)»")
_TELLING = 12
"""Shorter ones may occur in a file by chance."""
EXAMPLES = [example for pattern in PATTERNS for example in pattern.examples]
SECRETS = {
    line
    for example in EXAMPLES
    for secret in _MARKED.findall(example)
    for line in secret.splitlines()
    if len(line) >= _TELLING
}


def openclaw_lines() -> list[dict]:
    """Each example in a user's message, in thinking, and in a tool's input and output."""
    lines: list[dict] = [{"type": "session", "id": "s", "cwd": "/home/ada", "timestamp": "2026-03-01T10:00:00.000Z"}]
    for number, example in enumerate(EXAMPLES):
        text = _MARKED.sub(r"\1", example)
        for role, blocks in (
            ("user", [{"type": "text", "text": text}]),
            (
                "assistant",
                [
                    {"type": "thinking", "thinking": f"Do not repeat\n{text}\n"},
                    {"type": "toolCall", "id": "c", "name": "exec", "arguments": {"command": text}},
                    {"type": "text", "text": f"It says:\n{text}\nand no more. " + "Some more words. " * 40},
                ],
            ),
            ("toolResult", [{"type": "text", "text": text}]),
        ):
            message = {"role": role, "content": blocks, "toolName": "exec", "toolCallId": "c"}
            lines.append({"type": "message", "id": f"{number}{role}", "message": message})
    return lines


def test_planted_secrets_never_stored_or_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platformdirs.user_log_dir", lambda *_, **__: str(tmp_path / "logs"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    store = tmp_path / "agents/main/sessions"
    store.mkdir(parents=True)
    lines = openclaw_lines()
    (store / "all.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for number, example in enumerate(EXAMPLES):
        # Alone, so that it is also the session's title; without a final line break, so that it is read twice.
        message = {"type": "message", "message": {"role": "user", "content": _MARKED.sub(r"\1", example)}}
        (store / f"{number}.jsonl").write_text(json.dumps(lines[0]) + "\n" + json.dumps(message))
    notes, data = tmp_path / "notes", tmp_path / "data"
    notes.mkdir()
    sessions = SessionSettings(folders=(str(store),), thinking=True, tools=True)
    log = configure_logging(verbose=True)
    with OpenAIServer() as server, contextlib.ExitStack() as at_end:
        at_end.callback(logging.shutdown)
        settings = server.settings(sessions=sessions, store=StoreSettings(path=str(data)))
        memory = BuiltinMemory(notes, settings, executor=None, background=False)
        report = memory.sync(approve=True)
        assert (report.error, report.failed, report.vectors_pending) == ("", (), 0)
        assert memory.status().chunks > 100
        assert any(memory.read_session(summary.path).masked for summary in memory.sessions())
        memory.search("token", max_results=50)
        memory.close()
    kept = {file: file.read_bytes() for folder in (data, log.parent) for file in folder.rglob("*") if file.is_file()}
    sent = "\n".join(text for request in server.requests for text in request.json["input"])
    assert server.answered
    assert len(SECRETS) > 50
    for secret in SECRETS:
        assert secret not in sent
        assert [file.name for file, content in kept.items() if secret.encode() in content] == []


SECRET = "ghp_" + "a1B2c3D4" * 5
HELLO = {"type": "user", "uuid": "u", "sessionId": "s", "cwd": "/x", "message": {"content": "Hello there, you."}}
TOOL = {"type": "tool_use", "id": SECRET, "name": SECRET, "input": {}}
GEMINI = {"sessionId": SECRET, "projectHash": "p", "messages": [{"id": SECRET, "type": "user", "content": "Hello."}]}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("type.jsonl", [HELLO, {"type": SECRET}]),
        ("id.jsonl", [HELLO | {"uuid": SECRET, "sessionId": SECRET}]),
        ("tool.jsonl", [HELLO, HELLO | {"type": "assistant", "uuid": "v", "message": {"content": [TOOL]}}]),
        ("summary.jsonl", [HELLO, {"type": "summary", "leafUuid": "later", "summary": f"About {SECRET}"}]),
        # Cut to 200 characters, the rest doesn't match any pattern.
        ("title.jsonl", [HELLO, {"type": "custom-title", "sessionId": "s", "customTitle": "x" * 180 + f" {SECRET}"}]),
        ("place.jsonl", [HELLO | {"cwd": f"/home/{SECRET}", "gitBranch": f"try/{SECRET}"}]),
        ("chats/session-1.json", [GEMINI]),
        # Parsers quote the words around a syntax error.
        ("conversations.json", f'[{{"uuid":"u","name":"n","chat_messages":[]}},{{"name":{SECRET}'),
        ("chats/session-2.json", json.dumps(GEMINI)[:-2] + f",{SECRET} ]}}"),
    ],
)
def test_a_secret_is_masked_wherever_a_transcript_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: list[dict] | str
) -> None:
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(FakeProvider()))
    file, notes = tmp_path / "store" / name, tmp_path / "notes"
    file.parent.mkdir(parents=True)
    notes.mkdir()
    (tmp_path / "store/.project_root").write_text(f"/home/{SECRET}")
    file.write_text(text if isinstance(text, str) else "\n".join(map(json.dumps, text)))
    sessions = SessionSettings(folders=(str(tmp_path / "store"),), tools=True)
    settings = Settings(sessions=sessions, store=StoreSettings(path=str(tmp_path / "data")))
    memory = BuiltinMemory(notes, settings, executor=None, background=False)
    try:
        shown = [repr(memory.sync()), repr(memory.status()), repr(memory.sessions())]
        shown += [repr(memory.read_session(summary.path)) for summary in memory.sessions()]
        with file.open("a") as grown:
            grown.write("\n")
        memory.sync()
    finally:
        memory.close()
    assert SECRET[:16] not in "".join(shown)
    for kept in (tmp_path / "data").rglob("*"):
        assert kept.is_dir() or SECRET[:16].encode() not in kept.read_bytes()
