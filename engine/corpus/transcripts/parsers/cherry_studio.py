"""Cherry Studio 2: all chats in `CherryStudio/Data/cherrystudio.sqlite` of the folder of programs' settings.

Written from its public source up to 2026 (`src/main/data/db/schemas`, `packages/shared/data/types`: `message.ts`,
`uiParts.ts`), and a public program that imports its chats: the messages of a `topic` form a tree from one with the role
`root`, and `active_node_id` is the end of the branch shown last. The content is `parts` of the AI SDK in `data`, in the
first versions `blocks`. Version 1 had its chats in the database of its browser, and sessions of agents are in other
tables whose form has changed often: neither is read.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from engine.corpus.transcripts.database_format import (
    RowFormat,
    as_text,
    cell,
    columns,
    row_of,
    rows_of,
)
from engine.corpus.transcripts.export_reader import divided, read_branches
from engine.corpus.transcripts.formats import Conversation, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import attached, content, items, mapping, seconds, string, tool_input
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata
from engine.corpus.transcripts.model_api_messages import ROLES
from engine.corpus.transcripts.token_usage import counted

_ROOT = "root"
_SILENT = frozenset("citation knowledge source-document source-url step-start unknown".split())
_MESSAGES = "id parent_id role created_at data{} model_id stats{} deleted_at"


class CherryReader(LineParser):
    """Parses the messages of one branch, one by one."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        if value["role"] == _ROOT:
            return []
        role = self.role(ROLES, string(value, "role"))
        if role == "assistant":
            stats = parse_line(value["stats"]) if isinstance(value["stats"], bytes) else None
            self.use(string(value, "model_id").rpartition("::")[2], counted(stats, "promptTokens completionTokens"))
        data = mapping(cell(self, value["data"]))
        parts = [
            part
            for entry in map(mapping, items(data, "parts") or items(data, "blocks"))
            for part in self._part(string(entry, "type"), entry, role)
        ]
        return self.next_message(parts, id=string(value, "id"), time=seconds(value["created_at"]))

    def _part(self, kind: str, part: Mapping[str, Any], role: Role) -> Iterator[Part]:
        if kind.startswith("data-"):
            kind, part = kind.removeprefix("data-"), mapping(part, "data")
        text = string(part, "text") or string(part, "content")
        if kind in ("text", "main_text", "code"):
            yield Part(role, "text", text)
        elif kind in ("reasoning", "thinking"):
            yield Part("assistant", "thinking", text)
        elif kind == "tool" or kind.startswith("tool-") or kind == "dynamic-tool":
            name = string(part, "toolName") or kind.removeprefix("tool-")
            id, failed = string(part, "toolCallId"), part.get("state") in ("output-error", "output-denied")
            yield tool_call(tool_input(part.get("input", part.get("arguments"))), name, id, failed)
            result = part.get("output", part.get("content"))
            text = content(result) or tool_input(result) or string(part, "errorText")
            yield tool_result(text, name, id, failed)
        elif kind in ("file", "image", "video"):
            image = kind == "image" or string(part, "mediaType").startswith("image/")
            yield Part(role, "text", attached(string(part, "filename"), image=image, value=part))
        elif kind in ("translation", "compact", "error"):
            failure = string(part, "message") or string(part, "error", "message")
            yield Part("system", "text", text or failure)
        elif kind not in _SILENT:
            self.count_unknown(f"part {kind}")


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation:
    row = row_of(connection, "topic", "name created_at active_node_id", key)
    reader = CherryReader(metadata=SessionMetadata.of(key, title=row["name"], started=row["created_at"]))
    found = rows_of(connection, "message", _MESSAGES, "topic_id", key, "created_at, rowid", has_index=False)
    nodes = {as_text(node["id"]): node for node in found if node["deleted_at"] is None}
    parents = {name: as_text(node["parent_id"]) for name, node in nodes.items()}
    times = {name: seconds(node["created_at"]) for name, node in nodes.items()}
    return read_branches(reader, key, *divided(nodes, parents, times, as_text(row["active_node_id"])))


CHERRY_DATABASE = RowFormat(
    agent="cherry-studio",
    needed={
        "topic": frozenset({"id", "name", "active_node_id", "created_at", "updated_at"}),
        "message": frozenset({"id", "topic_id", "parent_id", "role", "data", "created_at"}),
    },
    listed=lambda connection: (
        f"""SELECT CAST(t.id AS BLOB), t.updated_at, CAST(t.name AS BLOB),
        CAST(t.active_node_id AS BLOB), count(*), max(m.created_at), sum(octet_length(m.data)) FROM topic t
        JOIN message m ON m.topic_id = t.id WHERE m.role <> '{_ROOT}'
        AND {_kept(connection, "topic", "t")} AND {_kept(connection, "message", "m")} GROUP BY t.id"""
    ),
    conversation=_conversation,
)


def _kept(connection: apsw.Connection, table: str, alias: str) -> str:
    """Return the SQL condition for rows of a table that the user has not deleted."""
    return f"{alias}.deleted_at IS NULL" if "deleted_at" in columns(connection, table) else "1"
