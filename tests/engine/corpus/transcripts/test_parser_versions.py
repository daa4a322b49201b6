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
    "aider": ("be6d7e3e5cea", "aider:1"),
    "amp": ("8cba74251a42", "amp:3"),
    "antigravity": ("31125133bcb6", "antigravity:1"),
    "augment": ("982606ae9204", "augment:2"),
    "chatgpt": ("851b325e10cc", "chatgpt:2"),
    "cherry_studio": ("9af22034ba94", "cherry-studio:2"),
    "claude_code": ("93af187fef5c", "claude-code:4 claude-cowork:4 qoder:4 openclaude:4"),
    "claude_export": ("0b40861f751d", "claude:2"),
    "cline": ("d8960dc38c2b", "cline:3 roo-code:2 zoo-code:2 kilo-code:2"),
    "cline_session": ("e2bf72ad30ab", "cline:3"),
    "codebuddy": ("ac60996e837a", "codebuddy:1 workbuddy:1"),
    "codebuff": ("2706e8f5c69d", "codebuff:2"),
    "codewhale": ("da3953ef9a24", "codewhale:2"),
    "codex": ("777a0c84ee52", "codex:2 trae-cli:2 open-interpreter:2 augure-code:2"),
    "command_code": ("db25e0e1d80e", "command-code:3"),
    "continue_dev": ("c7a7b775460f", "continue:1 pearai:1"),
    "copilot_chat": ("03c4e9699d66", "copilot-chat:1"),
    "copilot_cli": ("0e56e4bd1036", "copilot-cli:4"),
    "copilot_store": ("b4853076f68e", "copilot-cli:4"),
    "cortex": ("13310bbad72f", "cortex:1"),
    "crush": ("687da05fc9de", "crush:3"),
    "cursor_cli": ("d9647877e6d8", "cursor-cli:2"),
    "cursor_text": ("2d5ea86580d1", "cursor-cli:2"),
    "cursor_store": ("27d8797251da", "cursor-cli:2"),
    "cursor_database": ("56d9c1710c1e", "cursor:2"),
    "deepseek_export": ("62d5dc3881cf", "deepseek:1"),
    "deepseek_harness": ("da031fa8fa68", "deepseek-harness:2"),
    "devin": ("07816581d4e0", "devin:1"),
    "droid": ("ee61c3f7d5c6", "droid:4"),
    "forge": ("00ddcff16bc9", "forge:3"),
    "gemini": ("5e4b766f60b3", "gemini:3"),
    "gemini_takeout": ("b81ac886eddf", "gemini-web:2"),
    "goose": ("4c6602410a21", "goose:6"),
    "gptme": ("551328c78987", "gptme:1"),
    "grok": ("8551ed4d625f", "grok:1"),
    "grok_export": ("4830aeba6f28", "grok-web:1"),
    "hermes": ("be54274498ef", "hermes:4"),
    "hermes_files": ("d3b62dd9cd17", "hermes:4"),
    "iflow": ("0825e24e1f82", "iflow:1"),
    "jan": ("bc03f5f2f4ab", "jan-ai:2"),
    "jcode": ("f210811b6102", "jcode:1"),
    "junie": ("75708be4d781", "junie:2"),
    "kimi": ("d48d6f6561ae", "kimi:1"),
    "kiro": ("9a060e8369d8", "kiro:3"),
    "letta": ("d5dbdebf19dd", "letta:1"),
    "llm": ("2dedf6601140", "llm:1"),
    "lm_studio": ("3b2411c68541", "lm-studio:2"),
    "muse": ("0f72802baf2e", "muse:3"),
    "mux": ("ca84cd50dea2", "mux:2"),
    "nanobot": ("1379e44e12ef", "nanobot:1"),
    "ollama": ("e0806dedcabd", "ollama:2"),
    "octofriend": ("1c98246a9e9a", "octofriend:2"),
    "omnigent": ("f766557b1627", "omnigent:1"),
    "open_webui": ("c892afdd92cf", "open-webui:2"),
    "openclaw": ("3303c7965707", "openclaw:2 qclaw:2 pi:3 oh-my-pi:3 gajae-code:1 senpi:1 kimchi:1 prime-agent:5"),
    "openclaw_database": ("d6d0f1471c03", "openclaw:2"),
    "opencode": ("31d6eaf8d689", "opencode:5"),
    "opencode_database": ("5ce83742db8c", "opencode:5 kilo:5 mimocode:5 icodemate:5"),
    "openhands": ("4bdb6654e383", "openhands:2"),
    "piebald": ("87cb4e026291", "piebald:1"),
    "poolside": ("8a7a9e320f88", "poolside:4"),
    "posit_assistant": ("2e2285443174", "posit-assistant:1"),
    "proma": ("60ee268b1e9d", "proma:1"),
    "qwen": ("c7a9aeb0881d", "qwen:4"),
    "qwenpaw": ("205fb20b2ffb", "qwenpaw:1"),
    "reasonix": ("076546d83c09", "reasonix:1"),
    "shelley": ("f710272059b1", "shelley:1"),
    "tau": ("e1830b4711e0", "tau:1"),
    "unsloth": ("741500c4f302", "unsloth-studio:1"),
    "vibe": ("9a036c4aa5b5", "vibe:2"),
    "visual_studio": ("e6426275bafc", "visual-studio-copilot:3"),
    "warp": ("ee5c298fb751", "warp:3"),
    "zcode": ("128f151d1103", "zcode:1"),
    "zed": ("e19cc9bfd1a2", "zed:5"),
    "zencoder": ("ce6e5b8b6004", "zencoder:2"),
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
