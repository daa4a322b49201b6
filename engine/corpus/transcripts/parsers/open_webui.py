"""Chats of Open WebUI: exports, `chat-export-<time>.json` with an array of all or `chat-<title>.json` with one, and the
server's database, `webui.db`, whose table `chat` has the same objects in a column.

Written from its public source of 2025 and 2026 (`src/lib/components/chat/Settings/DataControls.svelte`,
`backend/open_webui/models/chats.py`): in `chat`, `history` has `messages` by id, each with `parentId`, and `currentId`,
the end of the branch that the user saw last. Reasoning and tool calls are elements `<details type="…">` in the
text of an answer.
"""

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts import export_reader
from engine.corpus.transcripts.database_format import RowFormat, row_of
from engine.corpus.transcripts.export_reader import divided, read_branches
from engine.corpus.transcripts.formats import ARRAY, Conversation, DocumentFormat, LineParser, Part, tool_result
from engine.corpus.transcripts.json_values import attached, mapping, objects, seconds, string
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean
from engine.corpus.transcripts.token_usage import counted

_AGENT = "open-webui"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}
_UNTITLED = "New Chat"
_OPENING, _CLOSING = '<details type="', "</details>"
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_SUMMARY = re.compile(r"\s*<summary>[^<]*</summary>\s*")
_QUOTED = re.compile(r"^> ?", re.MULTILINE)


class _Parser(LineParser):
    """Parses the messages of one branch, one by one."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        role = self.role(_ROLES, string(value, "role"))
        id_ = string(value, "id")
        self.use(value.get("model"), counted(value.get("usage"), "prompt_tokens completion_tokens"), request=id_)
        files = objects(value, "files")
        named = (attached(string(file, "name"), image=file.get("type") == "image", value=file) for file in files)
        parts = [*_parts(role, string(value, "content")), Part(role, "text", "\n".join(named))]
        return self.next_message(parts, id=id_, time=seconds(value.get("timestamp")))


def _parts(role: Role, text: str) -> Iterator[Part]:
    """Yield the words of a message, and the contents of its elements: thoughts, and tool calls with their results."""
    at = 0
    while role == "assistant" and (start := text.find(_OPENING, at)) >= 0:
        opened, end = text.find(">", start), text.find(_CLOSING, start)
        if not start < opened < end:
            break
        yield Part(role, "text", text[at:start].strip())
        attributes = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(text[start:opened])}
        inner = _QUOTED.sub("", _SUMMARY.sub("", text[opened + 1 : end], count=1)).strip()
        kind = attributes.get("type", "")  # missing if it contains the tag's end
        if kind == "reasoning":
            yield Part(role, "thinking", html.unescape(inner))
        else:
            name = attributes.get("name") or kind or "tool"
            yield Part(role, "tool-call", attributes.get("arguments", "") or name, name)
            yield tool_result(attributes.get("result", "") or inner, name)
        at = end + len(_CLOSING)
    yield Part(role, "text", text[at:].strip())


class OpenWebUiExport(DocumentFormat):
    agent = _AGENT
    opening = ARRAY
    members = "chat history parentId"

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        return (_conversation(value) for value in export_reader.conversations(path, cancel) if "chat" in value)


def _row(connection: apsw.Connection, key: str, _path: str) -> Conversation:
    row = row_of(connection, "chat", "id title created_at updated_at chat{}", key)
    chat = parse_line(row["chat"]) if isinstance(row["chat"], bytes) else None
    found = _conversation({**row, "chat": chat})
    if chat is None:
        found.unknown["too long or no JSON"] += 1
    return found


def _conversation(value: Mapping[str, Any]) -> Conversation:
    chat = mapping(value, "chat")
    history = mapping(chat, "history")
    nodes = {name: {"id": name, **mapping(node)} for name, node in mapping(history, "messages").items()}
    parents = {name: string(node, "parentId") for name, node in nodes.items()}
    times = {name: seconds(node.get("timestamp")) for name, node in nodes.items()}
    key = clean(string(value, "id") or string(chat, "id"))
    parser = _Parser(
        metadata=SessionMetadata.of(key, title=string(value, "title") or string(chat, "title"), untitled=(_UNTITLED,))
    )
    current, others = divided(nodes, parents, times, string(history, "currentId"))
    started, ended = seconds(value.get("created_at")), seconds(value.get("updated_at"))
    return read_branches(parser, key, current, others, started=started, ended=ended)


OPEN_WEBUI_DATABASE = RowFormat(
    agent=_AGENT,
    needed={"chat": frozenset({"id", "user_id", "title", "chat", "created_at", "updated_at"})},
    # A chat that was shared has a copy, whose user is "shared-<chat>".
    listed="""SELECT CAST(id AS BLOB), updated_at, CAST(title AS BLOB), octet_length(chat) FROM chat
        WHERE user_id NOT LIKE 'shared-%'""",
    conversation=_row,
)
