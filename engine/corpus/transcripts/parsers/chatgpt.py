"""ChatGPT's data export: every conversation as a tree of messages with one current branch.

Written from public descriptions of exports up to autumn 2026 (OpenAI publishes none): `conversations.json` in the zip
file, in newer and larger exports split into `conversations-000.json` and so on, or one file for each conversation in a
folder `conversations`. `mapping` has the nodes by id, each with `parent` and `children`; `current_node` is the end of
the branch that the user saw last. The other branches, made by editing or repeating a message, follow it as abandoned
ones. An image is in another file of the export, whose name begins with the id in `asset_pointer`, such as
`file-service://file-Ab3` or `sediment://file_0a2`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from engine.corpus.transcripts import export_reader
from engine.corpus.transcripts.export_reader import Export, divided, read_branches
from engine.corpus.transcripts.formats import OBJECTS, Conversation, LineParser
from engine.corpus.transcripts.json_values import (
    attached,
    image_file_mark,
    items,
    mapping,
    member,
    objects,
    seconds,
    string,
)
from engine.corpus.transcripts.messages import Kind, Message, Role, SessionMetadata, clean

_UNTITLED = "New chat"
_NAMES = ("conversation_id", "id", "current_node")
"""Members that identify a conversation; a conversation saved on its own may have only the last one."""
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool", "system": "system"}
_NO_TOOL_RECIPIENT = ("all", "")
_CONTEXT = ("user_profile", "user_instructions", "model_set_context", "structured_context")
_RESULTS = (
    "execution_output",
    "tether_quote",
    "tether_browsing_display",
    "sonic_webpage",
    "system_error",
    "computer_output",
)
_MEDIA = ("image", "audio", "video")
_FILE_ID = re.compile("file[-_][0-9A-Za-z_-]{1,100}")


class _Parser(LineParser, kw_only=True):
    """Parses the messages of the branch that the user saw last, one by one."""

    path: str
    """The export, which has the images."""
    names: dict[str, str] = msgspec.field(default_factory=dict)
    """Name of each image attached to the current message, by its id."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        author, content = mapping(value, "author"), mapping(value, "content")
        role = self.role(_ROLES, string(author, "role"))
        recipient = string(value, "recipient")
        kind = _kind(role, string(content, "content_type"), recipient)
        if role == "assistant":
            self.use_model(member(value, "metadata", "model_slug"))
        if kind == "text" and _is_hidden(value, content):
            role = "system"
        attachments = objects(value, "metadata", "attachments")
        self.names = {string(attachment, "id"): string(attachment, "name") for attachment in attachments}
        text = "\n".join(piece for piece in self._text(content) if piece)
        if role == "user":
            text = "\n".join(filter(None, (text, *_named(attachments))))
        if not text.strip():
            return []
        self.ordinal += 1
        tool = string(author, "name") if kind == "tool-result" else recipient if kind == "tool-call" else ""
        time, id = seconds(value.get("create_time")), string(value, "id")
        return [self.part(role, kind, text, self.ordinal, id=id, time=time, tool=tool)]

    def _text(self, content: Mapping[str, Any]) -> Iterator[str]:
        kind = string(content, "content_type")
        if kind in ("user_editable_context", "model_editable_context"):
            yield from (string(content, key) for key in _CONTEXT)
        elif kind == "thoughts":
            for thought in items(content, "thoughts"):
                yield string(thought, "summary")
                yield string(thought, "content")
            yield from self._parts(content)
        elif kind == "reasoning_recap":
            yield string(content, "content")
        elif kind in ("", "text", "multimodal_text", "code"):
            yield from self._parts(content)
            yield string(content, "text")
        elif kind in _RESULTS:
            yield from (string(content, key) for key in ("name", "title", "url", "text", "result", "summary"))
            yield self._image(mapping(content, "screenshot")) if content.get("screenshot") else ""
        else:
            self.count_unknown(kind)
            yield from self._parts(content)
            yield from (string(content, key) for key in ("text", "result", "content"))

    def _parts(self, content: Mapping[str, Any]) -> Iterator[str]:
        for part in items(content, "parts"):
            if isinstance(part, str):
                yield part
                continue
            kind = string(part, "content_type")
            medium = next((medium for medium in _MEDIA if medium in kind), "")
            if text := string(part, "text") or string(part, "result"):
                yield text
            elif medium:
                yield self._image(part) if medium == "image" else f"[{medium}]"
            elif part is not None:
                self.count_unknown(f"part {kind}")

    def _image(self, part: Mapping[str, Any]) -> str:
        id = string(part, "asset_pointer").rpartition("://")[2]
        file = id if _FILE_ID.fullmatch(id) else ""
        return image_file_mark(file, self.names.get(id, ""), partial(export_reader.image_file, self.path, file))


def _kind(role: Role, content: str, recipient: str) -> Kind:
    if content in ("thoughts", "reasoning_recap"):
        return "thinking"
    if content in _RESULTS or role == "tool":
        return "tool-result"
    if role == "assistant" and (recipient not in _NO_TOOL_RECIPIENT or content == "code"):
        return "tool-call"
    return "text"


def _is_hidden(message: Mapping[str, Any], content: Mapping[str, Any]) -> bool:
    """Return whether a message was hidden from the user."""
    context = string(content, "content_type").endswith("_editable_context")
    return context or member(message, "metadata", "is_visually_hidden_from_conversation") is True


def _named(attachments: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield placeholders of attached files, without images, which are parts of the message."""
    for attachment in attachments:
        name = string(attachment, "name")
        if name and not string(attachment.get("mime_type") or attachment.get("mimeType")).startswith("image/"):
            yield attached(name)


class ChatGptExport(Export):
    agent = "chatgpt"
    opening = re.compile(OBJECTS.pattern + rb'(?=.*?"(?:create_time|current_node)"\s*:)', re.DOTALL)
    members = "mapping"
    member = "mapping"

    def conversation(self, path: str, value: Mapping[str, Any]) -> Conversation:
        key = clean(next(filter(None, (string(value, name) for name in _NAMES)), ""))
        parser = _Parser(metadata=SessionMetadata.of(key, title=value.get("title"), untitled=(_UNTITLED,)), path=path)
        nodes = mapping(value, "mapping")
        parents = {name: string(node, "parent") for name, node in nodes.items()}
        named = ((name, member(node, "message")) for name, node in nodes.items())
        by_name = {name: message for name, message in named if isinstance(message, dict)}
        times = {name: seconds(message.get("create_time")) for name, message in by_name.items()}
        current, others = divided(by_name, parents, times, string(value, "current_node"))
        started, ended = seconds(value.get("create_time")), seconds(value.get("update_time"))
        return read_branches(parser, key, current, others, started=started, ended=ended)
