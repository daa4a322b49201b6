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
    "amp": ("2c276d86996b", "amp:3"),
    "antigravity": ("31125133bcb6", "antigravity:1"),
    "augment": ("ada045b1ded3", "augment:2"),
    "chatgpt": ("3d391442d813", "chatgpt:1"),
    "cherry_studio": ("3b40cdc53abe", "cherry-studio:1"),
    "claude_code": ("9c491dd13858", "claude-code:3 claude-cowork:3 qoder:3 openclaude:3"),
    "claude_export": ("b5768c1e07d7", "claude:1"),
    "cline": ("bcd62fed6d86", "cline:1 roo-code:1 zoo-code:1 kilo-code:1"),
    "cline_session": ("ebeccd1c0809", "cline:1"),
    "codebuddy": ("40de323fa556", "codebuddy:1 workbuddy:1"),
    "codebuff": ("2b6d892a9a09", "codebuff:1"),
    "codewhale": ("8fc3b63b7fb1", "codewhale:1"),
    "codex": ("a3f8f2709aad", "codex:1 trae-cli:1 open-interpreter:1 augure-code:1"),
    "command_code": ("a8315f552b03", "command-code:3"),
    "continue_dev": ("3d10fcd3c45c", "continue:1 pearai:1"),
    "copilot_chat": ("186383f9cb46", "copilot-chat:1"),
    "copilot_cli": ("b7412b9b6191", "copilot-cli:3"),
    "copilot_store": ("b4853076f68e", "copilot-cli:3"),
    "cortex": ("a7de70c85b62", "cortex:1"),
    "crush": ("6c7739379a2e", "crush:2"),
    "cursor_cli": ("d9647877e6d8", "cursor-cli:2"),
    "cursor_text": ("2d5ea86580d1", "cursor-cli:2"),
    "cursor_store": ("c5e119670d6d", "cursor-cli:2"),
    "cursor_database": ("56d9c1710c1e", "cursor:1"),
    "deepseek_export": ("1d0c60c9ea98", "deepseek:1"),
    "deepseek_harness": ("f958874037e3", "deepseek-harness:2"),
    "devin": ("c4780f9df1f1", "devin:1"),
    "droid": ("1e3516a4eec5", "droid:4"),
    "forge": ("e9548beb59b5", "forge:1"),
    "gemini": ("80fca38111e5", "gemini:2"),
    "gemini_takeout": ("b81ac886eddf", "gemini-web:2"),
    "goose": ("e02794fc51e2", "goose:5"),
    "gptme": ("4b794013c406", "gptme:1"),
    "grok": ("1d6b4a6457ff", "grok:1"),
    "grok_export": ("4830aeba6f28", "grok-web:1"),
    "hermes": ("83280b8da950", "hermes:3"),
    "hermes_files": ("c8c3c65bcbdc", "hermes:3"),
    "iflow": ("7fbad9588fab", "iflow:1"),
    "jan": ("d8026b0a0e69", "jan-ai:1"),
    "jcode": ("3ba645ac5010", "jcode:1"),
    "junie": ("75708be4d781", "junie:1"),
    "kimi": ("7fc13d1d39a1", "kimi:1"),
    "kiro": ("c745464cfb37", "kiro:2"),
    "letta": ("fa33242a86f9", "letta:1"),
    "llm": ("e2529ca4dbb5", "llm:1"),
    "lm_studio": ("90783c0bfbf1", "lm-studio:2"),
    "muse": ("14d9b4123a27", "muse:2"),
    "mux": ("f6f2d180f828", "mux:1"),
    "nanobot": ("1e07fa3a4fa7", "nanobot:1"),
    "ollama": ("b4be3e2d7ef1", "ollama:2"),
    "octofriend": ("5187b5db3e83", "octofriend:1"),
    "omnigent": ("f766557b1627", "omnigent:1"),
    "open_webui": ("7da5a6fbff9f", "open-webui:1"),
    "openclaw": ("3c359cbc8fd2", "openclaw:2 qclaw:2 pi:3 oh-my-pi:3 gajae-code:1 senpi:1 kimchi:1 prime-agent:5"),
    "openclaw_database": ("369984cabcc7", "openclaw:2"),
    "opencode": ("31d6eaf8d689", "opencode:3"),
    "opencode_database": ("cf73385a2dee", "opencode:3 kilo:3 mimocode:3 icodemate:3"),
    "openhands": ("3f436600c2f3", "openhands:2"),
    "piebald": ("87cb4e026291", "piebald:1"),
    "poolside": ("9360d62a7e0d", "poolside:3"),
    "posit_assistant": ("26d5660e8407", "posit-assistant:1"),
    "proma": ("921419ae609a", "proma:1"),
    "qwen": ("9c352429cb05", "qwen:3"),
    "qwenpaw": ("af5d5faf60e0", "qwenpaw:1"),
    "reasonix": ("b507a55d809e", "reasonix:1"),
    "shelley": ("ffca60b494a3", "shelley:1"),
    "tau": ("725260a5c2ed", "tau:1"),
    "unsloth": ("05472b0e9d93", "unsloth-studio:1"),
    "vibe": ("ed185b68e996", "vibe:1"),
    "visual_studio": ("e6426275bafc", "visual-studio-copilot:2"),
    "warp": ("c360513809b2", "warp:2"),
    "zcode": ("2282fb5447a1", "zcode:1"),
    "zed": ("bce5eaca4199", "zed:3"),
    "zencoder": ("dee6fd318133", "zencoder:2"),
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
