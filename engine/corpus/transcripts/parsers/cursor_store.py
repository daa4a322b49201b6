"""Chats of Cursor's command line in databases: `~/.cursor/chats/<digest of the folder>/<id>/store.db`, one each.

There is no published specification. Written from public source of programs that read them (sidecar and tape, 2026) and
from descriptions of versions of August and September 2026. `meta` has one row, JSON in hexadecimal digits: `agentId`,
`name`, `createdAt`, `lastUsedModel` and `latestRootBlobId`. A row of `blobs` has the SHA-256 of its data as id. The
root is a protocol buffer: its repeated field 1 has the ids of the messages in order, 32 bytes each, and field 9 the
folder as URI; `meta.json` next to the database also has folder and times. A message is a JSON object of the AI SDK,
whose tools have `args` and `result`; the user's text is as in the transcripts (`cursor_cli`), which newer versions
also write. Encrypted blobs have not been seen, though `meta` has a key for them; they would be counted as unknown.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from engine.corpus.transcripts.database_format import RowFormat, as_text, cell, data_of, whole
from engine.corpus.transcripts.formats import Conversation, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import content, mapping, seconds, string, tool_input, uri_path
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean
from engine.corpus.transcripts.model_api_messages import sidecar
from engine.corpus.transcripts.parsers.cursor_cli import CursorCliParser
from engine.corpus.transcripts.parsers.protobuf import fields_of

_UNTITLED = ("New Agent", "New Chat", "Untitled")
_LONGEST_META = 64 * 1024
_ABOUT = f"""SELECT CAST(unhex(value) AS TEXT) AS about FROM meta
    WHERE key = '0' AND octet_length(value) <= {_LONGEST_META}"""
# Read as bytes: invalid UTF-8 would be an error. The only chat needs no time to be sorted by.
_LISTED = f"""SELECT CAST(about ->> '$.agentId' AS BLOB), 0, CAST(about AS BLOB)
    FROM ({_ABOUT}) WHERE json_valid(about) AND EXISTS (SELECT 1 FROM blobs WHERE id = about ->> '$.latestRootBlobId')
    AND about ->> '$.agentId' <> ''"""
_BLOB = f"SELECT {data_of('data')} FROM blobs WHERE id = ?"
_MESSAGE, _FOLDER = 1, 9
"""Fields of the root."""
_DIGEST = 32
"""Bytes of an id."""
_MAX_MESSAGES = 20_000


class _Parser(CursorCliParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind = string(value, "role")
        if kind not in ("user", "assistant", "tool"):
            if kind != "system":  # the instructions
                self.count_unknown(f"role {kind}" if kind else None)
            return []
        role: Role = "user" if kind == "user" else "tool" if kind == "tool" else "assistant"
        parts = self.blocks(value.get("content"), role)
        return self.next_message(parts, time=self.time if role == "user" else None)

    def _block(self, value: object, role: Role) -> Iterator[Part]:
        block = mapping(value)
        kind, name = block.get("type"), clean(block, "toolName")
        id = clean(block, "toolCallId")
        if kind == "reasoning":
            yield Part("assistant", "thinking", string(block, "text"))
        elif kind == "tool-call":
            yield tool_call(tool_input(block.get("args", block.get("input"))), name, id)
        elif kind == "tool-result":
            result = block.get("result", block.get("output"))
            text = content(result) or (tool_input(result) if isinstance(result, dict) else "")
            yield tool_result(text, name, id, self.failed(block))
        elif kind != "redacted-reasoning":
            yield from super()._block(value, role)


def _conversation(connection: apsw.Connection, key: str, path: str) -> Conversation | None:
    row = connection.execute(f"SELECT CAST(about AS BLOB) FROM ({_ABOUT})").fetchone()
    about = parse_line(row[0]) if row is not None and isinstance(row[0], bytes) else None
    if about is None or as_text(about.get("agentId")) != key:
        return None
    beside = sidecar(os.path.join(os.path.dirname(path), "meta.json"))
    metadata = SessionMetadata.of(
        key, title=string(about, "name") or string(beside, "title"), untitled=_UNTITLED, started=about.get("createdAt")
    )
    reader = _Parser(metadata=metadata)
    reader.use_model(about.get("lastUsedModel"))
    folder, names = _root(_blob(connection, string(about, "latestRootBlobId")))
    metadata.project = clean(folder or string(beside, "cwd"))
    messages = whole(reader, (_message(connection, reader, name) for name in names))
    metadata.ended = metadata.ended or seconds(beside.get("updatedAtMs"))
    return reader.conversation(key, messages)


def _blob(connection: apsw.Connection, name: str) -> object:
    row = connection.execute(_BLOB, (name,)).fetchone() if clean(name) == name else None  # SQLite refuses others
    return row and row[0]


def _message(connection: apsw.Connection, reader: _Parser, name: str) -> list[Message]:
    data = _blob(connection, name)
    value = None if data is None else cell(reader, data)
    if isinstance(value, dict):
        return reader.feed(value, 0)
    if data is None or value is not None:
        reader.count_unknown("missing message" if data is None else "no object")
    return []


def _root(data: object) -> tuple[str, list[str]]:
    """Return the folder in a root and the ids of its messages, as far as it can be read."""
    fields = fields_of(data)
    folders = [value for value in fields.get(_FOLDER, ()) if isinstance(value, bytes)]
    ids = [value.hex() for value in fields.get(_MESSAGE, ()) if isinstance(value, bytes) and len(value) == _DIGEST]
    return uri_path(folders[-1].decode(errors="replace")) if folders else "", ids[:_MAX_MESSAGES]


CURSOR_STORE = RowFormat(
    agent="cursor-cli",
    needed={"meta": frozenset({"key", "value"}), "blobs": frozenset({"id", "data"})},
    listed=_LISTED,
    conversation=_conversation,
)
