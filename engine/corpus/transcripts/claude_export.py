"""Claude.ai's data export: every conversation with its messages, in older exports as text, in newer ones as blocks.

Written from public descriptions of exports up to autumn 2026: `conversations.json` in the zip file, an array of objects
with `uuid`, `name` and `chat_messages`. A message has `sender`, `text`, and since 2025 `content` blocks; pasted text
comes as an attachment without a name. If `parent_message_uuid` exists, edited messages are there too: then only the
branch that ends in `current_leaf_message_uuid`, or else in the newest message, is read.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts import exports
from engine.corpus.transcripts.exports import branch
from engine.corpus.transcripts.formats import Conversation, LineParser
from engine.corpus.transcripts.json_values import content, items, mapping, seconds, string, tool_input
from engine.corpus.transcripts.messages import Kind, Message, Role, SessionFacts, clean, one_line

_AGENT = "claude"
_OURS = re.compile(rb'\A[\s\xef\xbb\xbf]*\[?\s*\{(?=.*?"uuid"\s*:)(?=.*?"chat_messages"\s*:)', re.DOTALL)
_ROLES: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}
_SILENT = ("token_budget", "flag")

_Part = tuple[Role, Kind, str, str]
"""Role, kind, text and the name of the tool."""


class _Parser(LineParser):
    """Takes the messages of the visible branch, one by one."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        role = _ROLES.get(string(value.get("sender")))
        if role is None:
            self.count_unknown(f"sender {string(value.get('sender'))}")
            role = "system"
        parts = [part for block in items(value.get("content")) for part in self._block(block, role) if part[2].strip()]
        if not any(part[1] == "text" for part in parts) and not any(part[1] == "tool-call" for part in parts):
            parts.append((role, "text", string(value.get("text")), ""))  # older exports have nothing else
        parts += ((role, "text", text, "") for text in _attached(value))
        parts = [part for part in parts if part[2].strip()]
        if not parts:
            return []
        self.ordinal += 1
        id, time = string(value.get("uuid")), seconds(value.get("created_at"))
        return [self.part(*part[:3], self.ordinal, id=id, time=time, tool=part[3]) for part in parts]

    def _block(self, value: object, role: Role) -> Iterator[_Part]:
        block = mapping(value)
        kind, name = block.get("type"), string(block.get("name"))
        if kind in ("text", "voice_note"):
            yield role, "text", string(block.get("text")), ""
        elif kind == "thinking":
            yield role, "thinking", string(block.get("thinking")), ""
        elif kind == "tool_use":
            yield role, "tool-call", tool_input(block.get("input")), name
        elif kind == "tool_result":
            yield "tool", "tool-result", content(block.get("content")), name
        elif kind == "image":
            yield role, "text", "[image]", ""
        elif kind not in _SILENT:
            self.count_unknown(kind)
            yield role, "text", string(block.get("text")), ""


def _attached(message: Mapping[str, Any]) -> Iterator[str]:
    """Return pasted text, the text of documents, and the names of other files."""
    named = set[str]()
    for attachment in map(mapping, items(message.get("attachments"))):
        name, text = string(attachment.get("file_name")), string(attachment.get("extracted_content"))
        named.add(name)
        yield "\n".join(filter(None, (f"[{name}]" if name else "", text)))
    for file in map(mapping, items(message.get("files"))):
        name = string(file.get("file_name"))
        if name and name not in named:
            yield f"[{name}]"


def _conversation(value: Mapping[str, Any]) -> Conversation:
    key = clean(string(value.get("uuid")))
    parser = _Parser(facts=SessionFacts(agent=_AGENT, id=key, title=one_line(string(value.get("name")))))
    project = mapping(value.get("project"))
    parser.facts.project = one_line(string(project.get("name")))
    given = [message for message in items(value.get("chat_messages")) if isinstance(message, dict)]
    messages: list[Message] = []
    for message in _visible(given, string(value.get("current_leaf_message_uuid"))):
        messages += parser.feed(message, parser.ordinal + 1)
    facts = parser.facts
    facts.started = facts.started or seconds(value.get("created_at"))
    facts.ended = facts.ended or seconds(value.get("updated_at"))
    return Conversation(key, facts, tuple(messages), Counter(parser.unknown))


def _visible(given: list[dict[str, Any]], tip: str) -> list[dict[str, Any]]:
    """Return the messages of the branch seen last; all if they don't name their parents."""
    by_name = {string(message.get("uuid")): message for message in given}
    parents = {name: string(message.get("parent_message_uuid")) for name, message in by_name.items()}
    if "" in by_name or len(by_name) < len(given) or not any(parent in by_name for parent in parents.values()):
        return given
    times = {name: seconds(message.get("created_at")) for name, message in by_name.items()}
    return [by_name[name] for name in branch(parents, times, tip)]


class ClaudeExport:
    agent = _AGENT

    def matches(self, path: str, head: bytes) -> bool:
        # The plain search first: it takes a hundredth of the time, and runs on every transcript.
        return exports.matches(path, head, lambda start: b'"chat_messages"' in start and bool(_OURS.match(start)))

    def conversations(self, path: str, cancel: CancelToken | None = None) -> Iterator[Conversation]:
        return map(_conversation, exports.conversations(path, cancel))
