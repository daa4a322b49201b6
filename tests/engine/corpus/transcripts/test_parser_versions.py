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
from tests.helpers.agent_databases import DATABASES, SINGLE
from tests.helpers.mutated_transcripts import samples

READ: dict[str, tuple[str, str]] = {
    "aider": ("d4b98d071fcb", "aider:1"),
    "amp": ("73273763f5c5", "amp:3"),
    "antigravity": ("e5d4903c2654", "antigravity:1"),
    "augment": ("cb03beb35b1e", "augment:2"),
    "chatgpt": ("9117ab42dd94", "chatgpt:2"),
    "cherry_studio": ("93eaa6f2e1ae", "cherry-studio:2"),
    "claude_code": ("f96e3d507c23", "claude-code:4 claude-cowork:4 qoder:4 openclaude:4"),
    "claude_export": ("42d31ad2bd24", "claude:2"),
    "cline": ("b3fb3b741049", "cline:3 roo-code:2 zoo-code:2 kilo-code:2"),
    "cline_session": ("8fb6cf8d5d82", "cline:3"),
    "codebuddy": ("1d0d14771b2a", "codebuddy:1 workbuddy:1"),
    "codebuff": ("7b8226e30b2c", "codebuff:2"),
    "codewhale": ("da6bc3b9bd9a", "codewhale:2"),
    "codex": ("eabae5813c89", "codex:2 trae-cli:2 open-interpreter:2 augure-code:2"),
    "command_code": ("67b607186ac3", "command-code:3"),
    "continue_dev": ("e19931bd43f0", "continue:2 pearai:2"),
    "copilot_chat": ("970ce1b4046d", "copilot-chat:1"),
    "copilot_cli": ("bbe1d0a4bc76", "copilot-cli:4"),
    "copilot_store": ("c7f827c45f76", "copilot-cli:4"),
    "cortex": ("9a16671564fc", "cortex:1"),
    "crush": ("614b78dcd4fa", "crush:3"),
    "cursor_cli": ("b651c65dbd94", "cursor-cli:2"),
    "cursor_text": ("c494058f890c", "cursor-cli:2"),
    "cursor_store": ("ef745a4b98e8", "cursor-cli:2"),
    "cursor_database": ("b4bf5fa0b7d5", "cursor:2"),
    "deepseek_export": ("acee6082cedd", "deepseek:1"),
    "deepseek_harness": ("8c2b8d28c3a8", "deepseek-harness:2"),
    "devin": ("b403d17247bc", "devin:1"),
    "droid": ("7f413b1f1d6a", "droid:4"),
    "forge": ("c0c15265450b", "forge:3"),
    "gemini": ("79fc7f8982f0", "gemini:3"),
    "gemini_takeout": ("98561a29fe1d", "gemini-web:2"),
    "goose": ("3776f6484b5e", "goose:6"),
    "gptme": ("8eaeae758f94", "gptme:1"),
    "grok": ("0c18e7a1e3e9", "grok:1"),
    "grok_export": ("99a19bf331a8", "grok-web:1"),
    "hermes": ("5ab0e477f460", "hermes:5"),
    "hermes_files": ("349e78850e2d", "hermes:5"),
    "iflow": ("b1f74a90bf72", "iflow:1"),
    "jan": ("44dd2f18846a", "jan-ai:2"),
    "jcode": ("79d27726babf", "jcode:1"),
    "junie": ("79c236400092", "junie:2"),
    "kimi": ("f588da911217", "kimi:1"),
    "kiro": ("f7bf841fc92e", "kiro:3"),
    "letta": ("4d6089933489", "letta:1"),
    "llm": ("0f93e05f74a4", "llm:1"),
    "lm_studio": ("d1b01f20462a", "lm-studio:2"),
    "muse": ("0663a6d0a63d", "muse:3"),
    "mux": ("16c1f0e5f206", "mux:2"),
    "nanobot": ("44404cb8db4c", "nanobot:1"),
    "ollama": ("08fc386624d9", "ollama:2"),
    "octofriend": ("b270ff86d11e", "octofriend:2"),
    "omnigent": ("f3e182f127ea", "omnigent:1"),
    "open_webui": ("476a073740fe", "open-webui:2"),
    "openclaw": ("a9fd43e09f24", "openclaw:2 qclaw:2 pi:3 oh-my-pi:3 gajae-code:1 senpi:1 kimchi:1 prime-agent:5"),
    "openclaw_database": ("48ff3d56ea21", "openclaw:2"),
    "opencode": ("4f75087ae825", "opencode:5"),
    "opencode_database": ("087fb23af408", "opencode:5 kilo:5 mimocode:5 icodemate:5"),
    "openhands": ("ff1b4288f214", "openhands:2"),
    "piebald": ("3c077edb3edc", "piebald:1"),
    "poolside": ("3c7a4964692e", "poolside:4"),
    "posit_assistant": ("ccb7d5a02814", "posit-assistant:1"),
    "proma": ("50d2c6e5be96", "proma:2"),
    "qwen": ("9938275cb50f", "qwen:4"),
    "qwenpaw": ("21327724d4f4", "qwenpaw:1"),
    "reasonix": ("1be562b6123e", "reasonix:1"),
    "shelley": ("a9cc861b7bdc", "shelley:1"),
    "tau": ("456ae7eef838", "tau:1"),
    "unsloth": ("13da3a7a0579", "unsloth-studio:1"),
    "vibe": ("6984b331ab8f", "vibe:3"),
    "visual_studio": ("cb7646de98cf", "visual-studio-copilot:3"),
    "warp": ("e8e51f6f9e77", "warp:3"),
    "zcode": ("e7a801ce5a0d", "zcode:1"),
    "zed": ("1c6c037e1677", "zed:5"),
    "zencoder": ("d06a82e016ea", "zencoder:2"),
}
"""By parser: digest of the messages that it reads in the samples, and the versions of the agents that use it."""


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


def _filled(value: Any) -> Any:
    """Return a value without empty members, so that a new field of a record changes nothing while it is unused."""
    if isinstance(value, dict):
        return {key: filled for key, held in value.items() if (filled := _filled(held))}
    return [_filled(held) for held in value] if isinstance(value, list | tuple) else value


def _digests(folder: Path) -> dict[str, str]:
    folder /= "home/ada/boats"  # some parsers use the names of folders above
    found: dict[str, Any] = {}
    paths = [database.write(folder / database.name.replace(":", "")) for database in (*DATABASES, *SINGLE)]
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
            of.update(msgspec.json.encode(_filled(msgspec.to_builtins(session))).replace(str(folder).encode(), b""))
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
