"""Piebald: all sessions in `~/.local/share/piebald/app.db`.

There is no published specification. Written from agentsview's reader (August 2026): `chats` have a title, folders and a
project; `messages` form a tree, since the user may edit one, and the branch shown last is `enabled`. The parts of a
message are in `message_parts`, their texts and tool calls in other tables. A call may name the chat of a sub-agent.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from engine.corpus.transcripts.database_format import RowFormat, as_text, rows_with
from engine.corpus.transcripts.export_reader import abandoned_branches, read_branches
from engine.corpus.transcripts.formats import Conversation, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import seconds
from engine.corpus.transcripts.messages import Message, SessionMetadata
from engine.corpus.transcripts.model_api_messages import ROLES, arguments
from engine.corpus.transcripts.token_usage import Usage, add_counts, tokens

_METADATA = """SELECT CAST(c.title AS BLOB), CAST(c.branch_name AS BLOB), CAST(c.created_at AS BLOB),
    CAST(coalesce(nullif(c.worktree_path, ''), nullif(c.current_directory, ''), p.directory, p.name) AS BLOB)
    FROM chats c LEFT JOIN projects p ON p.id = c.project_id WHERE c.id = ?"""
_MESSAGES = """SELECT id, parent_message_id, enabled, CAST(role AS BLOB), CAST(model AS BLOB), CAST(created_at AS BLOB),
    input_tokens, output_tokens, reasoning_tokens, cache_read_tokens, cache_write_tokens, CAST(error AS BLOB)
    FROM messages WHERE {rows} ORDER BY created_at, id"""
_PARTS = """SELECT message_parts.id, t.is_thinking, CAST(c.tool_name AS BLOB), CAST(c.tool_input AS BLOB),
    CAST(coalesce(c.tool_result, c.tool_error) AS BLOB), coalesce(c.tool_error, '') <> '' FROM message_parts
    LEFT JOIN message_part_text t ON t.message_part_id = message_parts.id
    LEFT JOIN message_part_tool_call c ON c.message_part_id = message_parts.id
    WHERE {rows} ORDER BY part_index, message_parts.id"""
_TEXTS = """SELECT CAST(t.content AS BLOB) FROM message_content_nodes
    JOIN message_node_text t ON t.node_id = message_content_nodes.id WHERE {rows} ORDER BY node_index"""


class PiebaldReader(LineParser):
    """Parses the messages of one branch, one by one."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        self.use(value["model"], value["usage"])
        role = self.role(ROLES, value["role"])
        parts = [part._replace(role=role) if part.role == "user" else part for part in value["parts"]]
        if value["error"]:
            parts.append(Part("system", "text", value["error"]))
        return self.next_message(parts, time=seconds(value["time"]))


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation | None:
    row = connection.execute(_METADATA, (key,)).fetchone()
    if row is None:
        return None
    title, branch, created, folder = map(as_text, row)
    metadata = SessionMetadata.of(
        key, title=title, project=folder, branch=branch, parent=_parent(connection, key), started=created
    )
    reader = PiebaldReader(metadata=metadata)
    nodes, parents, enabled = _messages(connection, key)
    path = _shown(parents, enabled)
    current, others = ([nodes[name] for name in names] for names in (path, abandoned_branches(parents, path)))
    return read_branches(reader, key, current, others)


def _parent(connection: apsw.Connection, key: str) -> str:
    """Return the key of the chat that started this one as a sub-agent's; empty if none did."""
    calls = rows_with(connection, "message_part_tool_call", "sub_agent_chat_id")
    query = f"""SELECT m.parent_chat_id FROM message_part_tool_call JOIN message_parts p ON p.id = message_part_id
        JOIN messages m ON m.id = p.parent_chat_message_id WHERE {calls}"""
    return next((as_text(chat) for (chat,) in connection.execute(query, (key,))), "")


def _messages(
    connection: apsw.Connection, key: str
) -> tuple[dict[str, dict[str, Any]], dict[str, str], dict[str, bool]]:
    """Return the messages of a chat, their parents, and whether each is enabled, in order."""
    nodes: dict[str, dict[str, Any]] = {}
    parents, enabled = dict[str, str](), dict[str, bool]()
    query = _MESSAGES.format(rows=rows_with(connection, "messages", "parent_chat_id"))
    for id_, above, on, role, model, time, *counts, error in connection.execute(query, (key,)):
        name = as_text(id_)
        sent, received, thinking, read, written = counts
        nodes[name] = {
            "role": as_text(role),
            "model": as_text(model),
            "time": as_text(time),
            "usage": Usage(tokens(sent), add_counts(received, thinking), tokens(read), tokens(written)),
            "error": as_text(error),
            "parts": list(_parts(connection, id_)),
        }
        parents[name], enabled[name] = as_text(above), bool(on)
    return nodes, parents, enabled


def _parts(connection: apsw.Connection, message: object) -> Iterator[Part]:
    """Yield the parts of a message; texts have the user's role."""
    parts = _PARTS.format(rows=rows_with(connection, "message_parts", "parent_chat_message_id"))
    texts = _TEXTS.format(rows=rows_with(connection, "message_content_nodes", "parent_text_part_id"))
    for part, thought, tool, arguments_json, result, failed in connection.execute(parts, (message,)):
        if tool is not None:
            name = as_text(tool)
            yield tool_call(arguments(as_text(arguments_json)), name, failed=bool(failed))
            yield tool_result(as_text(result), name, failed=bool(failed))
        else:
            text = "".join(as_text(piece) for (piece,) in connection.execute(texts, (part,)))
            yield Part("assistant", "thinking", text) if thought else Part("user", "text", text)


def _shown(parents: Mapping[str, str], enabled: Mapping[str, bool]) -> list[str]:
    """Return the branch shown last: of several answers, the last enabled one. All messages if they form no tree."""
    children: dict[str, list[str]] = {}
    for name, above in parents.items():
        children.setdefault(above if above in parents else "", []).append(name)
    if len(children.get("", ())) != 1:
        return list(parents)
    path, found = dict[str, None](), children[""]
    while found:
        name = next((branch for branch in reversed(found) if enabled[branch]), found[-1])
        if name in path:
            break
        path[name] = None
        found = children.get(name, [])
    return list(path)


PIEBALD_DATABASE = RowFormat(
    agent="piebald",
    needed={
        "chats": frozenset({"id", "title", "created_at", "updated_at", "is_deleted", "project_id", "worktree_path"}),
        "messages": frozenset({"id", "parent_chat_id", "parent_message_id", "enabled", "role", "created_at"}),
        "message_parts": frozenset({"id", "parent_chat_message_id", "part_index"}),
        "message_part_tool_call": frozenset({"message_part_id", "tool_name", "tool_input", "sub_agent_chat_id"}),
        "message_content_nodes": frozenset({"parent_text_part_id", "node_index"}),
    },
    listed="""SELECT CAST(c.id AS BLOB), CAST(coalesce(c.updated_at, c.created_at) AS BLOB), CAST(c.title AS BLOB),
        count(*), max(m.id), max(CAST(m.updated_at AS BLOB)), sum(m.enabled) FROM chats c
        JOIN messages m ON m.parent_chat_id = c.id WHERE coalesce(c.is_deleted, 0) = 0 GROUP BY c.id""",
    conversation=_conversation,
)
