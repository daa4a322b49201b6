"""Cursor's database: the chats of all its windows as JSON under keys, in `globalStorage/state.vscdb`.

There is no published specification. Written from public source of programs that read it (franken_agent_detection of
February 2026, claude-code-history-viewer of August 2026) and from descriptions of versions 0.40 (2024) to 3 (2026): in
the table `cursorDiskKV`,

* `composerData:<chat>` describes a chat: `name`, `createdAt`, `lastUpdatedAt`, `workspaceIdentifier`, the chosen
  model in `modelConfig`, and the order of its messages in `fullConversationHeadersOnly`. Older chats contain the
  messages themselves, in `conversation` or `conversationMap`.
* `bubbleId:<chat>:<bubble>` is a message: `type` 1 is the user's, 2 the agent's, with `text`, `thinking` or a tool in
  `toolFormerData`. Newer versions remove tool results after a while.

Chats in databases of single workspaces, from 2023 and 2024, are not read. A row that is written again gets a new number
(its key is `UNIQUE ON CONFLICT REPLACE`), so numbers and lengths tell whether a chat has changed, without reading it.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import apsw

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.database_format import OpenSessions, whole
from engine.corpus.transcripts.formats import (
    Conversation,
    DatabaseFormat,
    LineParser,
    Part,
    SessionDatabase,
    tool_call,
    tool_result,
)
from engine.corpus.transcripts.json_values import (
    image_mark,
    items,
    mapping,
    member,
    objects,
    seconds,
    string,
    tool_input,
    uri_path,
)
from engine.corpus.transcripts.jsonl import LONGEST_LINE, parse_line
from engine.corpus.transcripts.messages import Message, SessionMetadata, clean
from engine.corpus.transcripts.sqlite_view import SqliteView, tables
from engine.corpus.transcripts.token_usage import counted

_TABLES = frozenset({"cursorDiskKV"})
_FAILED = ("cancelled", "canceled", "error")
"""States of a tool that failed or was refused."""
_MAX_PICTURES = 20

_CHAT, _BUBBLE = "composerData:", "bubbleId:"
_VALUE = f"CASE WHEN octet_length(value) <= {LONGEST_LINE} THEN CAST(value AS BLOB) END"
# Read as bytes: invalid UTF-8 in one session would be an error for all of them.
_CHATS = f"""SELECT CAST(substr(key, {len(_CHAT) + 1}) AS BLOB), rowid, octet_length(value) FROM cursorDiskKV
    WHERE key >= ? AND key < ? ORDER BY rowid DESC"""
# The index alone answers this: no message is read.
_BUBBLES = f"""SELECT CAST(substr(key, {len(_BUBBLE) + 1}, instr(substr(key, {len(_BUBBLE) + 1}), ':') - 1) AS BLOB),
    count(*), max(rowid) FROM cursorDiskKV WHERE key >= ? AND key < ? GROUP BY 1"""
_HOLDS_BUBBLES = """SELECT 1 FROM cursorDiskKV
    WHERE key = ? AND instr(CAST(value AS BLOB), CAST('"bubbleId"' AS BLOB)) > 0"""
_ONE = f"SELECT {_VALUE} FROM cursorDiskKV WHERE key = ?"


class CursorDatabase(DatabaseFormat):
    agent = "cursor"

    def matches(self, path: str, connection: apsw.Connection) -> bool:
        return tables(connection) >= _TABLES

    @contextmanager
    def opened(self, path: str, cancel: CancelToken | None = None) -> Iterator[SessionDatabase]:
        with closing(SqliteView(path, cancel)) as view:
            yield _Chats(view, self.agent)


class _Chats(OpenSessions):
    def rows(self, connection: apsw.Connection) -> Mapping[str, object]:
        return _listed(connection)

    def read(self, connection: apsw.Connection, key: str) -> Conversation | None:
        return _conversation(connection, key)


def _range(prefix: str) -> tuple[str, str]:
    """Return the first key with this prefix, and the first key after all of them."""
    return prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)


def _listed(connection: apsw.Connection) -> dict[str, tuple[Any, ...]]:
    """Return a value for each chat with messages that changes whenever the chat does, by key; last written first."""
    bubbles = {_text(id_): counted for id_, *counted in connection.execute(_BUBBLES, _range(_BUBBLE)).fetchall()}
    sessions: dict[str, tuple[Any, ...]] = {}
    for id_, number, length in connection.execute(_CHATS, _range(_CHAT)).fetchall():
        key = _text(id_)
        if key in bubbles or connection.execute(_HOLDS_BUBBLES, (_CHAT + key,)).fetchone():
            sessions[key] = (number, length, bubbles.get(key))
    return sessions


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else ""


def _conversation(connection: apsw.Connection, key: str) -> Conversation | None:
    chat = _value(connection, _CHAT + key)
    if chat is None:
        return None
    parser = _Parser(metadata=_metadata(key, chat))
    parser.use_model(member(chat, "modelConfig", "modelName"))
    messages = whole(parser, map(parser.bubble, _bubbles(connection, key, chat, parser)))
    parser.metadata.ended = parser.metadata.ended or seconds(chat.get("lastUpdatedAt"))
    return parser.conversation(key, messages)


def _value(connection: apsw.Connection, key: str) -> Mapping[str, Any] | None:
    row = connection.execute(_ONE, (key,)).fetchone()
    return None if row is None or row[0] is None else parse_line(row[0])


def _bubbles(
    connection: apsw.Connection, key: str, chat: Mapping[str, Any], parser: "_Parser"
) -> Iterator[Mapping[str, Any]]:
    """Yield the messages of a chat in order, from their own rows or from the chat's row."""
    headers = objects(chat, "fullConversationHeadersOnly")
    for name in dict.fromkeys(string(header, "bubbleId") for header in headers):
        bubble = _value(connection, f"{_BUBBLE}{key}:{name}") if clean(name) == name else None  # SQLite refuses others
        if bubble is None:
            parser.count_unknown("missing message")
        else:
            yield bubble
    for inside in items(chat, "conversation") or list(mapping(chat, "conversationMap").values()):
        yield mapping(inside)


def _metadata(key: str, chat: Mapping[str, Any]) -> SessionMetadata:
    uri = mapping(chat, "workspaceIdentifier", "uri")
    return SessionMetadata.of(
        key,
        title=chat.get("name"),
        project=string(uri, "fsPath") or string(uri, "path"),
        branch=chat.get("createdOnBranch"),
        parent=member(chat, "subagentInfo", "parentComposerId"),
        started=chat.get("createdAt"),
    )


class _Parser(LineParser, kw_only=True):
    def bubble(self, value: Mapping[str, Any]) -> list[Message]:
        kind = value.get("type")
        if kind == 1:
            parts = [Part("user", "text", _question(value))]
        elif kind == 2:
            parts = list(self._answer(value))
        else:
            self.count_unknown(f"type {kind}" if isinstance(kind, int) else None)
            return []
        self._take_project(value)
        counts = mapping(value, "tokenCount")
        self.use(member(value, "modelInfo", "modelName"), counted(counts, "inputTokens outputTokens"))
        timing = mapping(value, "timingInfo")
        time = seconds(value.get("createdAt"), value.get("timestamp"), timing.get("clientRpcSendTime"))
        return self.next_message(parts, id=string(value, "bubbleId"), time=time)

    def _answer(self, value: Mapping[str, Any]) -> Iterator[Part]:
        thinking, text = value.get("thinking"), string(value, "text")
        yield Part("assistant", "thinking", string(thinking) or string(thinking, "text"))
        yield Part("assistant", "thinking" if value.get("isThought") is True else "text", text)
        tool = mapping(value, "toolFormerData")
        if tool:
            name = string(tool, "name")
            arguments = _decoded(tool.get("rawArgs")) or _decoded(tool.get("params"))
            id = string(tool, "toolCallId")
            failed = tool.get("status") in _FAILED or tool.get("userDecision") == "rejected"
            yield tool_call(tool_input(arguments), name, id, failed)
            yield tool_result(_result(tool), name, id, failed)

    def _take_project(self, value: Mapping[str, Any]) -> None:
        if not self.metadata.project:
            folder = string(value, "workspaceProjectDir")
            first = next(iter(items(value, "workspaceUris")), None)
            self.metadata.project = clean(folder or uri_path(string(first)))


def _question(value: Mapping[str, Any]) -> str:
    pictures = [image_mark(image) for image in items(value, "images")[:_MAX_PICTURES]]
    return "\n".join(filter(None, (string(value, "text") or string(value, "rawText"), *pictures)))


def _decoded(value: object) -> object:
    """Return the JSON object in a text; other values and unparsable texts are returned unchanged."""
    if not isinstance(value, str):
        return value
    return parse_line(value.encode(errors="replace")) or value


def _result(tool: Mapping[str, Any]) -> str:
    result = _decoded(tool.get("result"))
    details = mapping(result)
    output = next((text for key in ("output", "contents", "error") if (text := string(details, key))), "")
    return output or tool_input(result) or string(tool, "error")
