"""Claude.ai's data export: every conversation with its messages, in older exports as text, in newer ones as blocks.

Written from public descriptions of exports up to autumn 2026: `conversations.json` in the zip file, an array of objects
with `uuid`, `name` and `chat_messages`. A message has `sender`, `text`, and since 2025 `content` blocks; pasted text
comes as an attachment without a name. If `parent_message_uuid` exists, edited messages are there too: the branch that
ends in `current_leaf_message_uuid`, or else in the newest message, is followed by the abandoned ones. An artifact is a
call of the tool `artifacts` with `title`, `type` and `content`, or `new_str` for a change of it: it is read as speech.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from engine.corpus.transcripts.export_reader import Export, divided, read_branches
from engine.corpus.transcripts.formats import OBJECTS, Conversation, LineParser, Part, filled_parts, tool_result
from engine.corpus.transcripts.json_values import (
    attached,
    content,
    items,
    mapping,
    objects,
    seconds,
    string,
    tool_input,
)
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean, one_line

_ROLES: dict[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}
_SILENT = ("token_budget", "flag")
_ARTIFACTS = "artifacts"
_PROSE = ("", "text/markdown", "text/plain")
_FENCES = re.compile("`{3,}")
_LANGUAGES = {"text/html": "html", "image/svg+xml": "xml", "application/vnd.ant.react": "jsx"}


class _Parser(LineParser):
    """Parses the messages of the branch that the user saw last, one by one."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        role = self.role(_ROLES, string(value, "sender"), "sender")
        parts = [part for block in items(value, "content") for part in self._block(block, role) if part.text.strip()]
        if not any(part.kind in ("text", "tool-call") for part in parts):
            parts.append(Part(role, "text", string(value, "text")))  # older exports have nothing else
        parts += (Part(role, "text", text) for text in _attached(value))
        return self.next_message(_joined(parts), id=string(value, "uuid"), time=seconds(value.get("created_at")))

    def _block(self, value: object, role: Role) -> Iterator[Part]:
        block = mapping(value)
        kind, name = block.get("type"), string(block, "name")
        if kind in ("text", "voice_note"):
            yield Part(role, "text", string(block, "text"))
        elif kind == "thinking":
            yield Part(role, "thinking", string(block, "thinking"))
        elif kind == "tool_use":
            document = _artifact(mapping(block, "input")) if name == _ARTIFACTS else ""
            if document:
                yield Part(role, "text", document)
            else:
                yield Part(role, "tool-call", tool_input(block, "input"), name, string(block, "id"))
        elif kind == "tool_result":
            id, failed = string(block, "tool_use_id"), block.get("is_error") is True
            yield tool_result(content(block, "content"), name, id, failed)
        elif kind == "image":
            yield Part(role, "text", "[image]")
        elif kind not in _SILENT:
            self.count_unknown(kind)
            yield Part(role, "text", string(block, "text"))


def _joined(parts: list[Part]) -> Iterator[Part]:
    """Yield the parts, with adjacent texts of one role as one: Claude.ai shows them, artifacts and attachments as one
    message.
    """
    for (role, kind), group in groupby(filled_parts(parts), lambda part: (part.role, part.kind)):
        if kind == "text":
            yield Part(role, kind, "\n\n".join(part.text for part in group))
        else:
            yield from group


def _artifact(arguments: Mapping[str, Any]) -> str:
    """Return a document that the model wrote, or the new part of it, as Markdown; empty if there is none."""
    text, kind = string(arguments, "content") or string(arguments, "new_str"), string(arguments, "type")
    if text and kind not in _PROSE:
        language = string(arguments, "language") or _LANGUAGES.get(kind, "")
        fence = "`" * max(3, 1 + max(map(len, _FENCES.findall(text)), default=0))
        text = f"{fence}{language}\n{text}\n{fence}"
    title = string(arguments, "title")
    return f"**{title}**\n\n{text}" if title and text else text


def _attached(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of files, which belong to the words before them; then pasted text and the text of documents."""
    documents = objects(message, "attachments")
    with_text = {string(document, "file_name") for document in documents}
    for file in objects(message, "files"):
        name = string(file, "file_name")
        if name and name not in with_text:
            yield attached(name)
    for document in documents:
        name, text = string(document, "file_name"), string(document, "extracted_content")
        yield "\n".join(filter(None, (attached(name) if name else "", text)))


def _branches(entries: list[dict[str, Any]], tip: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the messages of the branch seen last, and the others; without parents, all messages are of the branch."""
    by_name = {string(message, "uuid"): message for message in entries}
    parents = {name: string(message, "parent_message_uuid") for name, message in by_name.items()}
    if "" in by_name or len(by_name) < len(entries) or not any(parent in by_name for parent in parents.values()):
        return entries, []
    times = {name: seconds(message.get("created_at")) for name, message in by_name.items()}
    return divided(by_name, parents, times, tip)


class ClaudeExport(Export):
    agent = "claude"
    opening = OBJECTS
    members = "chat_messages uuid"

    def conversation(self, path: str, value: Mapping[str, Any]) -> Conversation:
        key = clean(value, "uuid")
        parser = _Parser(metadata=SessionMetadata.of(key, title=value.get("name")))
        project = mapping(value, "project")
        parser.metadata.project = one_line(project, "name")
        entries = [message for message in items(value, "chat_messages") if isinstance(message, dict)]
        tip = string(value, "current_leaf_message_uuid")
        started, ended = seconds(value.get("created_at")), seconds(value.get("updated_at"))
        return read_branches(parser, key, *_branches(entries, tip), started=started, ended=ended)
