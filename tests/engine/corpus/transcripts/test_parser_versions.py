"""A parser that reads the same transcript differently has a higher version: stored sessions are then read again."""

import hashlib
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.corpus.transcripts.database_format import RowFormat
from engine.corpus.transcripts.registry import AGENTS, formats
from engine.corpus.transcripts.transcript_reader import (
    conversations,
    database_format,
    document_format,
    line_format,
    opened,
)
from tests.helpers.agent_databases import DATABASES
from tests.helpers.mutated_transcripts import samples

READ: dict[str, tuple[str, str]] = {
    "aider": ("4494e642dfdb", "aider:1"),
    "amp": ("c6ae94207b31", "amp:2"),
    "antigravity": ("b076fd070641", "antigravity:1"),
    "augment": ("6c939a713d23", "augment:1"),
    "chatgpt": ("f41f9b6c5c82", "chatgpt:1"),
    "claude_code": ("2a8f5ab8eb98", "claude-code:1 claude-cowork:1 qoder:1 openclaude:1"),
    "claude_export": ("4ada6856378a", "claude:1"),
    "cline": ("4ce16951fbc6", "cline:1 roo-code:1 zoo-code:1 kilo-code:1"),
    "cline_session": ("45f4657d94f2", "cline:1"),
    "codebuddy": ("7c7d361cd8eb", "codebuddy:1 workbuddy:1"),
    "codebuff": ("119942bcd73e", "codebuff:1"),
    "codewhale": ("7a9b15ca9b0c", "codewhale:1"),
    "codex": ("0cea0a7f4859", "codex:1 trae-cli:1 open-interpreter:1"),
    "command_code": ("ed8cef0373a5", "command-code:1"),
    "continue_dev": ("2bf35f006053", "continue:1 pearai:1"),
    "copilot_chat": ("e7e81ad1df4d", "copilot-chat:1"),
    "copilot_cli": ("5400f1ea0a26", "copilot-cli:1"),
    "cortex": ("7d04d3a036cf", "cortex:1"),
    "crush": ("3c7cc08e4311", "crush:1"),
    "cursor_cli": ("9cffca22548d", "cursor-cli:1"),
    "cursor_database": ("cd80af5a49fe", "cursor:1"),
    "deepseek_export": ("1fedcc9e7f0f", "deepseek:1"),
    "deepseek_harness": ("9798b8adb01c", "deepseek-harness:1"),
    "devin": ("bec11c7300b2", "devin:1"),
    "droid": ("aa7ef0e30c12", "droid:2"),
    "forge": ("59f4226fd6c2", "forge:1"),
    "gemini": ("0151c674759a", "gemini:1"),
    "gemini_takeout": ("3cf0ac067bd7", "gemini-web:1"),
    "goose": ("d10e6a32b267", "goose:1"),
    "gptme": ("9a2baa8936bc", "gptme:1"),
    "grok": ("0da552d0d487", "grok:1"),
    "grok_export": ("7d6d6dbbaff5", "grok-web:1"),
    "hermes": ("8524d5906f2e", "hermes:1"),
    "iflow": ("d7599f1535c1", "iflow:1"),
    "junie": ("fa27e4546744", "junie:1"),
    "kimi": ("b4fcf551572d", "kimi:1"),
    "kiro": ("c5cd8b8585f3", "kiro:1"),
    "llm": ("6c4db8b415c2", "llm:1"),
    "lm_studio": ("b78153b8538b", "lm-studio:1"),
    "omnigent": ("4185e23c1781", "omnigent:1"),
    "open_webui": ("d1d0042679eb", "open-webui:1"),
    "openclaw": ("583aaad1f6da", "openclaw:1 qclaw:1 pi:1 oh-my-pi:1 prime-agent:1"),
    "opencode": ("8536dd9b5158", "opencode:2"),
    "opencode_database": ("c628a2d7b790", "opencode:2 kilo:2 mimocode:2 icodemate:2"),
    "openhands": ("e6ce0849a7a0", "openhands:1"),
    "piebald": ("86a3f9abd9d3", "piebald:1"),
    "poolside": ("42d17e27c27c", "poolside:1"),
    "posit_assistant": ("853807c82321", "posit-assistant:1"),
    "qwen": ("5cbfe7f4815e", "qwen:1"),
    "qwenpaw": ("0ea30668b147", "qwenpaw:1"),
    "reasonix": ("96ed85690cd4", "reasonix:1"),
    "shelley": ("3508ba7b1207", "shelley:1"),
    "vibe": ("0536ef77297a", "vibe:1"),
    "warp": ("8810a0ccdba7", "warp:1"),
    "zcode": ("78edf186ffb9", "zcode:1"),
    "zed": ("6588e0fba984", "zed:1"),
    "zencoder": ("5c68132b0ac4", "zencoder:1"),
}
"""By parser: digest of what it reads in the samples, and the versions of the agents that use it."""


def _parser(known: Any) -> str:
    """Return the module of a format's parser."""
    module: str = known.conversation.__module__ if isinstance(known, RowFormat) else type(known).__module__
    return module.rpartition(".")[2]


def _versions() -> dict[str, str]:
    used: dict[str, dict[str, int]] = {}
    for agent, held in zip(AGENTS, formats(), strict=True):
        for known in (*held.lines, *held.documents, *held.databases):
            used.setdefault(_parser(known), {})[agent.name] = agent.parser_version
    return {parser: " ".join(f"{name}:{version}" for name, version in of.items()) for parser, of in used.items()}


def _digests(folder: Path) -> dict[str, str]:
    folder /= "home/ada/boats"  # some parsers use the names of folders above
    found: dict[str, Any] = {}
    paths = [database.write(folder / database.name.replace(":", "")) for database in DATABASES]
    for sample in samples():
        for name, content in sample.files.items():
            path = folder / sample.main.replace("/", " ") / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        paths.append(folder / sample.main.replace("/", " ") / sample.main)
    for path in paths:
        with opened(path) as (source, _):
            known = database_format(source, str(path)) or document_format(source, str(path))
            known_line = None if known else line_format(source, str(path))
        of = found.setdefault(_parser(known or known_line), hashlib.sha256())
        for session in conversations(path):
            of.update(msgspec.json.encode(session).replace(str(folder).encode(), b""))
    return {parser: of.hexdigest()[:12] for parser, of in found.items()}


@pytest.fixture
def _universal_time(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("_universal_time")
def test_parser_that_reads_differently_has_another_version(tmp_path: Path) -> None:
    versions, digests = _versions(), _digests(tmp_path)
    for parser, used_by in versions.items():
        now = digests.get(parser, ""), used_by
        before = READ.get(parser, ("", ""))
        if now == before:
            continue
        reason = (
            f"reads its samples differently: increase the parser_version of {used_by} unless only the samples changed"
            if now[0] != before[0] and used_by == before[1]
            else "has other versions or samples"
        )
        pytest.fail(f'The parser {parser} {reason}; then write into READ: "{parser}": {now},')
    assert READ.keys() == versions.keys(), "Remove parsers that don't exist from READ"
