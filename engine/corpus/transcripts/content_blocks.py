"""Parses messages whose content is a text or a list of blocks, as in Anthropic's API, which several agents store."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from engine.corpus.transcripts.formats import LineParser
from engine.corpus.transcripts.json_values import content, mapping, string, tool_input
from engine.corpus.transcripts.message_builder import Part, next_turn
from engine.corpus.transcripts.messages import Message, Role, clean


class BlockParser(LineParser, kw_only=True):
    """Converts content blocks to parts of messages. A subclass handles the particularities of its agent."""

    calls: dict[str, str] = msgspec.field(default_factory=dict)
    """Name of each called tool, by the id of the call, until its result is read."""

    def blocks(self, held: object, role: Role) -> list[Part]:
        """Return the parts of a message with this content."""
        return [part for block in (held if isinstance(held, list) else [held]) for part in self._block(block, role)]

    def next_message(
        self, parts: list[Part], *, line: int = 0, id: str = "", time: float | None = None
    ) -> list[Message]:
        """Return the parts with text as one message; if `line` is 0, its number is used as line."""
        return next_turn(self, parts, line, id=id, time=time, side=bool(self.facts.parent))

    def text(self, text: str, role: Role) -> Iterator[Part]:
        """Yield the parts of a text block."""
        yield Part(role, "text", text)

    def result(self, block: Mapping[str, Any]) -> str:
        """Return the text of a tool result."""
        return content(block.get("content")) if "content" in block else string(block.get("output"))

    def _block(self, value: object, role: Role) -> Iterator[Part]:
        block = mapping(value)
        kind = block.get("type")
        if isinstance(value, str):
            yield from self.text(value, role)
        elif kind == "text":
            yield from self.text(string(block.get("text")), role)
        elif kind == "thinking":
            yield Part("assistant", "thinking", string(block.get("thinking")))
        elif kind == "tool_use":
            name = string(block.get("name"))
            self.calls[clean(string(block.get("id")))] = clean(name)
            yield Part("assistant", "tool-call", tool_input(block.get("input")) or name, name)
        elif kind == "tool_result":
            called = self.calls.pop(clean(string(block.get("tool_use_id")) or string(block.get("toolUseID"))), "")
            yield Part("tool", "tool-result", self.result(block), string(block.get("name")) or called)
        elif kind in ("image", "media"):
            yield Part(role, "text", "[image]")
        elif kind in ("file", "document"):
            name = string(block.get("path")) or string(block.get("title"))
            yield Part(role, "text", f"[file: {name}]" if name else "[file]")
        elif kind not in ("redacted", "redacted_thinking") and value is not None:
            self.count_unknown(f"block {kind}" if isinstance(kind, str) else None)
