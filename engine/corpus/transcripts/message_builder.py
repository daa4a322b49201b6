"""Makes messages of a conversation from parts, for most formats, or from content blocks, as in Anthropic's API."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from engine.corpus.transcripts.formats import LineParser
from engine.corpus.transcripts.json_values import content, mapping, string, tool_input
from engine.corpus.transcripts.messages import Kind, Message, Role, clean


class Part(NamedTuple):
    """One part of a message, before it is cleaned and numbered."""

    role: Role
    kind: Kind
    text: str
    tool: str = ""


def next_turn(
    parser: LineParser,
    parts: Iterable[Part],
    line: int = 0,
    *,
    id: str = "",
    time: float | None = None,
    side: bool = False,
) -> list[Message]:
    """Return the parts with text as the next message of the session; empty if no part has text.

    Without a line, as in a document or a database, the message's ordinal is used.
    """
    filled = [part for part in parts if part.text.strip()]
    if not filled:
        return []
    parser.ordinal += 1
    return [
        parser.part(
            part.role, part.kind, part.text, line or parser.ordinal, id=id, time=time, tool=part.tool, side=side
        )
        for part in filled
    ]


def attached(name: str, *, image: bool = False) -> str:
    """Return the text that stands for an attachment, such as `[file: name]`."""
    sort = "image" if image else "file"
    return f"[{sort}: {name}]" if name else f"[{sort}]"


def local_time(value: object) -> float | None:
    """Return a date in ISO 8601 as seconds since the epoch; without a zone, it is in local time. None
    if it is no date.
    """
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) and len(value) <= 64 else None
    except (ValueError, OverflowError, OSError):
        return None


class BlockParser(LineParser, kw_only=True):
    """Converts content blocks to parts of messages. Content is a text or a list of blocks.

    A subclass handles the particularities of its agent.
    """

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
