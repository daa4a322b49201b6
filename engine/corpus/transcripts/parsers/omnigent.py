"""Omnigent: all sessions in `~/.omnigent/chat.db`.

Written from agentsview's reader (August 2026), which follows the public source in two versions: `conversations`, with
more about each in `omnigent_conversation_metadata`, and `conversation_items`, whose type is a name or a number and
whose `data` is JSON. Ids are texts or 16 bytes. The totals of tokens may be compressed. Databases of other versions
have no such metadata table, and are not read.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from engine.corpus.transcripts.database_format import RowFormat, as_text, cell, columns, data_of, unpacked, whole
from engine.corpus.transcripts.formats import Conversation, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import content, items, mapping, seconds, string
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean
from engine.corpus.transcripts.model_api_messages import ROLES, arguments
from engine.corpus.transcripts.token_usage import counted

_TYPES = (
    "message function_call function_call_output reasoning error compaction native_tool resource_event routing_decision "
    "slash_command terminal_command"
).split()
"""Types of items; newer databases have their number, from 1."""
_SILENT = frozenset({"resource_event", "routing_decision"})
_SUB_AGENT = ("2", "sub_agent")
_TERMINAL = "terminal"
_PACKED = re.compile("[0-9a-f]{32}")
_FRAME, _ZSTD = b"\0", b"\1"


def _id(column: str) -> str:
    """Return the SQL expression of an id as text."""
    return f"CASE typeof({column}) WHEN 'blob' THEN lower(hex({column})) ELSE {column} END"


_KEY = f"c.workspace_id || ':' || {_id('c.id')}"
_METADATA = f"""SELECT CAST(c.title AS BLOB), c.created_at, CAST({_id("c.parent_conversation_id")} AS BLOB),
    CAST(m.kind AS BLOB), CAST(m.sub_agent_name AS BLOB), CAST(m.workspace AS BLOB), CAST(m.git_branch AS BLOB),
    CAST(m.session_usage AS BLOB), r.workspace, r.git_branch, c.updated_at, c.workspace_id, c.id
    FROM conversations c
    LEFT JOIN omnigent_conversation_metadata m ON m.workspace_id = c.workspace_id AND m.id = c.id
    LEFT JOIN omnigent_conversation_metadata r ON r.workspace_id = c.workspace_id AND r.id = c.root_conversation_id
    WHERE c.workspace_id = ? AND c.id IN (?, ?)"""


class OmnigentReader(LineParser, kw_only=True):
    def parts(self, kind: str, data: Mapping[str, Any], words: str) -> Iterator[Part]:
        if kind == "message":
            role: Role = ROLES.get(string(data, "role"), "assistant")
            hidden = data.get("is_meta") is True
            yield Part("system" if hidden else role, "text", content(data, "content"))
        elif kind == "function_call":
            name = string(data, "name")
            self.calls[clean(data, "call_id")] = clean(name)
            yield tool_call(arguments(data.get("arguments")), name)
        elif kind == "function_call_output":
            yield tool_result(content(data, "output"), self.calls.get(clean(data, "call_id"), ""))
        elif kind == "reasoning":
            yield Part("assistant", "thinking", content(items(data, "summary")))
        elif kind == "compaction":
            yield Part("system", "text", string(data, "summary"))
        elif kind == "error":
            yield Part("system", "text", string(data, "message"))
        elif kind == "slash_command":
            yield Part("system", "text", f"/{string(data.get('name'))} {string(data.get('arguments'))}".strip())
        elif kind == "terminal_command":
            typed = data.get("kind") == "input"
            text = string(data, "input" if typed else "output") or words
            yield Part("user" if typed else "tool", "tool-call" if typed else "tool-result", text, _TERMINAL)
        elif kind == "native_tool":
            yield tool_result(words)
        elif kind not in _SILENT:
            self.count_unknown(f"item {kind}")


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation | None:
    number, _, name = key.partition(":")
    packed = bytes.fromhex(name) if _PACKED.fullmatch(name) else name
    row = connection.execute(_METADATA, (number, name, packed)).fetchone()
    if row is None:
        return None
    (
        title,
        created,
        parent,
        kind,
        called,
        folder,
        branch,
        counts,
        folder_above,
        branch_above,
        updated,
        workspace,
        id_,
    ) = row
    metadata = SessionMetadata.of(
        name,
        title=as_text(title) or as_text(called),
        project=as_text(folder) or as_text(folder_above),
        branch=as_text(branch) or as_text(branch_above),
        parent=clean(as_text(parent)) if as_text(kind) in _SUB_AGENT else "",
        started=created,
    )
    reader = OmnigentReader(metadata=metadata)
    _count(reader, counts)
    messages = whole(reader, _turns(connection, workspace, id_, reader))
    metadata.ended = max(filter(None, (metadata.ended, seconds(updated))), default=None)
    return reader.conversation(key, messages)


def _turns(connection: apsw.Connection, workspace: object, id_: Any, reader: OmnigentReader) -> Iterator[list[Message]]:
    time = "created_at" if "created_at" in columns(connection, "conversation_items") else "NULL"
    query = f"""SELECT CAST(type AS BLOB), {data_of("data")}, CAST(search_text AS BLOB), {time}
        FROM conversation_items WHERE workspace_id = ? AND conversation_id = ? ORDER BY position"""
    for kind, data, words, created in connection.execute(query, (workspace, id_)):
        name = as_text(kind)
        if name.isdecimal() and 0 < int(name[:4]) <= len(_TYPES):
            name = _TYPES[int(name[:4]) - 1]
        parts = reader.parts(name, mapping(cell(reader, data)), as_text(words))
        yield reader.next_message(parts, time=seconds(created))


def _count(reader: OmnigentReader, counts: object) -> None:
    """Add the totals of the session, per model if they are recorded that way."""
    data = counts if isinstance(counts, bytes) else b""
    if data.startswith(_FRAME):
        data = (unpacked(data[2:]) or b"") if data[1:2] == _ZSTD else data[2:]
    total = parse_line(data) or {}
    for model, of_model in (mapping(total, "by_model") or {"": total}).items():
        reader.use(model, counted(of_model, "input_tokens output_tokens", cost="total_cost_usd"))


OMNIGENT_DATABASE = RowFormat(
    agent="omnigent",
    needed={
        "conversations": frozenset({"workspace_id", "id", "title", "created_at", "updated_at", "root_conversation_id"}),
        "omnigent_conversation_metadata": frozenset({"workspace_id", "id", "kind", "workspace", "session_usage"}),
        "conversation_items": frozenset({"workspace_id", "conversation_id", "position", "type", "data", "search_text"}),
    },
    listed=f"""SELECT CAST({_KEY} AS BLOB), c.updated_at, CAST(c.title AS BLOB), count(*), max(i.position),
        sum(octet_length(i.data)) FROM conversations c JOIN conversation_items i
        ON i.workspace_id = c.workspace_id AND i.conversation_id = c.id GROUP BY c.workspace_id, c.id""",
    conversation=_conversation,
)
