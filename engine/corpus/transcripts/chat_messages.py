"""Parses messages in the format of the chat completions API, which several agents store."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from engine.base.errors import PathRefused
from engine.corpus.safe_open import open_binary
from engine.corpus.transcripts.formats import LineParser
from engine.corpus.transcripts.json_values import content, items, mapping, string, tool_input
from engine.corpus.transcripts.jsonl import LONGEST_LINE, parse_line
from engine.corpus.transcripts.message_builder import Part
from engine.corpus.transcripts.messages import Role, clean

ROLES: Mapping[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
}


class ChatParser(LineParser, kw_only=True):
    """Parses messages in the format of the chat completions API: role, content and tool calls."""

    calls: dict[str, str] = msgspec.field(default_factory=dict)
    """Name of each called tool, by the id of the call, until its result is read."""

    def chat_parts(self, message: Mapping[str, Any]) -> Iterator[Part]:
        role = ROLES.get(string(message.get("role")))
        if role is None:
            self.count_unknown(f"role {string(message.get('role'))}")
            return
        if role == "tool":
            name = self.calls.pop(clean(string(message.get("tool_call_id"))), "")
            yield Part("tool", "tool-result", content(message.get("content")), string(message.get("name")) or name)
            return
        yield Part(role, "thinking", content(message.get("reasoning_content")))
        yield Part(role, "text", content(message.get("content")))
        for call in map(mapping, items(message.get("tool_calls"))):
            yield self.call(call)

    def call(self, call: Mapping[str, Any]) -> Part:
        """Return a tool call as a part. Some agents nest the name and arguments in an object `function`."""
        function = mapping(call.get("function")) or call
        name = clean(string(function.get("name")))
        self.calls[clean(string(call.get("id")))] = name
        return Part("assistant", "tool-call", arguments(function.get("arguments")), name)


def arguments(value: object) -> str:
    """Return the input of a tool as text; `value` is JSON in a string."""
    if not isinstance(value, str):
        return tool_input(value)
    parsed = parse_line(value.encode("utf-8", "surrogatepass"))
    return value if parsed is None else tool_input(parsed)


def sidecar(path: str) -> Mapping[str, Any]:
    """Return the JSON object in a file next to a transcript.

    Empty if the file can't be read, or is longer than 64 MB.
    """
    try:
        with open_binary(path) as file:
            return parse_line(file.read(LONGEST_LINE)) or {}
    except (OSError, PathRefused):
        return {}
