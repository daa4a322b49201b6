"""Parses messages in the formats of model APIs, which several agents store: those of the chat completions API (OpenAI),
those whose content is a text or a list of blocks (Anthropic), and those of the AI SDK (Vercel)."""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.corpus.safe_open import first_bytes
from engine.corpus.transcripts.formats import LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import content, image_mark, mapping, objects, string, tool_input
from engine.corpus.transcripts.jsonl import LONGEST_LINE, parse_line
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

    def chat_parts(self, message: Mapping[str, Any]) -> Iterator[Part]:
        role = self.role(ROLES, string(message, "role"))
        if role == "tool":
            id = string(message, "tool_call_id")
            name = string(message, "name") or self.calls.get(clean(id), "")
            yield tool_result(content(message, "content"), name, id, message.get("is_error") is True)
            return
        yield Part(role, "thinking", content(message, "reasoning_content"))
        yield Part(role, "text", content(message, "content"))
        for call in objects(message, "tool_calls"):
            yield self.call(call)

    def call(self, call: Mapping[str, Any]) -> Part:
        """Return a tool call as a part. Some agents nest the name and arguments in an object `function`."""
        function = mapping(call, "function") or call
        return tool_call(arguments(function.get("arguments")), clean(function, "name"), string(call, "id"))


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
    return parse_line(first_bytes(path, LONGEST_LINE)) or {}


class BlockParser(LineParser, kw_only=True):
    """Converts content blocks to parts of messages. A subclass handles the particularities of its agent."""

    def blocks(self, content: object, role: Role) -> list[Part]:
        """Return the parts of a message with this content."""
        blocks = content if isinstance(content, list) else [content]
        return [part for block in blocks for part in self._block(block, role)]

    def text(self, text: str, role: Role) -> Iterator[Part]:
        """Yield the parts of a text block."""
        yield Part(role, "text", text)

    def result(self, block: Mapping[str, Any]) -> str:
        """Return the text of a tool result."""
        return content(block, "content") if "content" in block else string(block, "output")

    def failed(self, block: Mapping[str, Any]) -> bool:
        """Return whether a tool result says that the tool failed."""
        return True in (block.get("is_error"), block.get("isError"))

    def _block(self, value: object, role: Role) -> Iterator[Part]:
        block = mapping(value)
        kind = block.get("type")
        if isinstance(value, str):
            yield from self.text(value, role)
        elif kind == "text":
            yield from self.text(string(block, "text"), role)
        elif kind == "thinking":
            yield Part("assistant", "thinking", string(block, "thinking") or string(block, "text"))
        elif kind == "tool_use":
            name, id = string(block, "name"), string(block, "id")
            yield tool_call(tool_input(block, "input"), name, id)
        elif kind == "tool_result":
            id = string(block, "tool_use_id") or string(block, "toolUseID")
            name = string(block, "name")
            yield tool_result(self.result(block), name, id, self.failed(block))
        elif kind in ("image", "media"):
            yield Part(role, "text", image_mark(block))
        elif kind in ("file", "document"):
            name = string(block, "path") or string(block, "title")
            yield Part(role, "text", f"[file: {name}]" if name else "[file]")
        elif kind not in ("redacted", "redacted_thinking") and value is not None:
            self.count_unknown(f"block {kind}" if isinstance(kind, str) else None)


class SdkParser(BlockParser, kw_only=True):
    """Converts content blocks of the AI SDK, whose calls and results have other names and members."""

    def failed(self, block: Mapping[str, Any]) -> bool:
        """Return whether a tool result says that the tool failed, or that the user refused it."""
        kind = string(block, "output", "type")
        return super().failed(block) or kind in ("error-text", "error-json", "execution-denied")

    def result(self, block: Mapping[str, Any]) -> str:
        """Return the text of a tool result; its `output` may be an object with a type and a value."""
        output = block.get("output", block.get("content"))
        value = mapping(output).get("value", output)
        return tool_input(value) if isinstance(value, dict) and "text" not in value else content(value)

    def _block(self, value: object, role: Role) -> Iterator[Part]:
        block = mapping(value)
        kind = block.get("type")
        if kind == "reasoning":
            yield Part("assistant", "thinking", string(block, "text"))
        elif kind == "tool-call":
            name = string(block, "toolName") or string(block, "name")
            id = string(block, "toolCallId") or string(block, "id")
            yield tool_call(arguments(block.get("input", block.get("arguments"))), name, id)
        elif kind == "tool-result":
            id = string(block, "toolCallId")
            name = string(block, "toolName")
            yield tool_result(self.result(block), name, id, self.failed(block))
        else:
            yield from super()._block(value, role)
