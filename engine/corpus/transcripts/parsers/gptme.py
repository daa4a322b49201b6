"""gptme: `~/.local/share/gptme/logs/<name>/conversation.jsonl`, with `config.toml` next to it.

Written from its public source of August 2026 (`gptme/message.py`, `gptme/config/chat.py`): a line has `role`, `content`
and `timestamp`; tool results have the role "system", and since 2025 a `call_id` or the tool's name in `metadata`.
Calls are code blocks in the model's text: `shell` with a command, `save`, `append` and `patch` with a file's name and
text. `config.toml` has the conversation's folder and the name given by the user. `GPTME_LOGS_HOME` names another folder
than `~/.local/share/gptme/logs`.
"""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from engine.base.bounded_json import decode_toml
from engine.corpus.safe_open import first_bytes
from engine.corpus.transcripts.formats import LineFormat, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import attached, content, items, mapping, seconds, string, tool_input
from engine.corpus.transcripts.messages import Message, SessionMetadata
from engine.corpus.transcripts.model_api_messages import ROLES, ChatParser
from engine.corpus.transcripts.token_usage import Usage, counted, dollars

_LARGEST_CONFIG = 64 * 1024
_CALL = re.compile(r"```(?:(shell)|(save|append|patch) +(\S.*))")
_FENCE = re.compile(r"```(\S?)")
_KEYS = frozenset("role content timestamp files file_hashes pinned hide quiet ephemeral_ttl call_id metadata".split())


class GptmeParser(ChatParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        role = self.role(ROLES, string(value, "role"))
        metadata = mapping(value, "metadata")
        tool = string(metadata, "tool")
        self.use(metadata.get("model"), _usage(metadata))
        text = content(value, "content")
        if role == "tool" or (role == "system" and (tool or value.get("call_id"))):
            parts = [tool_result(text, tool)]
        else:
            sender = "system" if value.get("hide") is True else role
            files = [os.path.basename(file) for file in map(string, items(value, "files")) if file]
            words, calls = _calls(text) if sender == "assistant" else (text, [])
            parts = [Part(sender, "text", words), *calls, *(Part(sender, "text", attached(name)) for name in files)]
        return self.next_message(parts, line, time=seconds(value.get("timestamp")))


class GptmeFormat(LineFormat):
    agent = "gptme"
    parses = GptmeParser
    speech_marks = (b'"role": "user"', b'"role": "assistant"')

    def matches(self, values: Sequence[Mapping[str, Any]]) -> bool:
        # Hermes Agent's lines are similar, but follow a line about the session.
        return super().matches(values) and not any(value.get("role") == "session_meta" for value in values)

    def is_line(self, value: Mapping[str, Any]) -> bool:
        has_fields = isinstance(value.get("content"), str) and isinstance(value.get("timestamp"), str)
        return has_fields and value.keys() <= _KEYS and string(value, "role") in ("user", "assistant", "system")

    def metadata(self, path: str) -> SessionMetadata:
        folder = os.path.dirname(path)
        chat = mapping(_config(os.path.join(folder, "config.toml")).get("chat"))
        workspace = string(chat, "workspace")
        return SessionMetadata.of(
            os.path.basename(folder), title=chat.get("name"), project=workspace if workspace != "@log" else ""
        )


def _calls(text: str) -> tuple[str, list[Part]]:
    """Return the model's text without its calls, and the calls. An unclosed block stays in the text: it was not run."""
    text_lines: list[str] = []
    calls: list[Part] = []
    block: list[str] = []  # begins with the line of its fence
    depth = 0
    for line in text.split("\n") if "```" in text else [text]:
        fence = _FENCE.match(line)
        if not block and not (fence and _CALL.match(line)):
            text_lines.append(line)
            continue
        block.append(line)
        depth += 0 if fence is None else 1 if fence[1] else -1
        if depth == 0:
            calls.append(_call(block))
            block = []
    return "\n".join([*text_lines, *block]) if block else "\n".join(text_lines).strip(), calls


def _call(block: Sequence[str]) -> Part:
    begin, body = _CALL.match(block[0]), "\n".join(block[1:-1])
    assert begin is not None
    if begin[1]:
        return tool_call(body, begin[1])
    return tool_call(tool_input({"path": begin[3].strip(), "text": body}), begin[2])


def _usage(metadata: Mapping[str, Any]) -> Usage:
    """Return the usage of one answer; before 2026, its numbers were not in an object of their own."""
    counts = mapping(metadata, "usage") or metadata
    usage = counted(counts, "input_tokens output_tokens cache_read_tokens cache_creation_tokens")
    usage.cost = dollars(metadata.get("cost"))
    return usage


def _config(path: str) -> Mapping[str, Any]:
    with suppress(ValueError):
        return decode_toml(first_bytes(path, _LARGEST_CONFIG).decode("utf-8", "replace"))
    return {}
