"""Unsloth Studio: all chats in `~/.unsloth/studio/studio.db`.

Written from its public source (version 0.1.801, August 2026: `studio/backend/storage/studio_db.py`,
`studio/frontend/src/features/chat`): `chat_threads` name the model and perhaps a project; `chat_messages` form a tree
by `parent_id`, since the user may edit one, and the branch of the newest leaf is read. The content is a list of
blocks; a tool call's block includes its result. A fork has copies of the messages before it. Tokens are not recorded.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from engine.corpus.transcripts.database_format import RowFormat, as_text, cell, columns, rows_of
from engine.corpus.transcripts.export_reader import divided, read_branches
from engine.corpus.transcripts.formats import Conversation, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import attached, content, items, mapping, seconds, string, tool_input
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata
from engine.corpus.transcripts.model_api_messages import ROLES, SdkParser, arguments

_UNTITLED = "New Chat"
_THREAD = """SELECT CAST(t.title AS BLOB), CAST(t.model_id AS BLOB), t.created_at,
    CAST(coalesce(nullif({root}, ''), p.name) AS BLOB)
    FROM chat_threads t LEFT JOIN chat_projects p ON p.id = t.project_id WHERE t.id = ?"""
_MESSAGES = "id parent_id role created_at content_json{} attachments_json{}"


class UnslothReader(SdkParser):
    """Parses the messages of one branch, one by one."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        role = self.role(ROLES, string(value, "role"))
        parts, files = self.blocks(cell(self, value["content_json"]), role), value["attachments_json"]
        attachments = items(cell(self, files)) if files is not None else []
        parts += [Part(role, "text", attached(string(file, "name"))) for file in attachments]
        return self.next_message(parts, id=string(value, "id"), time=seconds(value["created_at"]))

    def _block(self, value: object, role: Role) -> Iterator[Part]:
        block = mapping(value)
        kind = block.get("type")
        if kind == "tool-call":
            name = string(block, "toolName")
            asked = tool_input(block, "args") or arguments(block.get("argsText"))
            id, failed = string(block, "toolCallId"), self.failed(block)
            yield tool_call(asked, name, id, failed)
            result = block.get("result")
            yield tool_result(content(result) or tool_input(result), name, id, failed)
        elif kind != "source":
            yield from super()._block(value, role)


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation | None:
    root = "p.root_path" if "root_path" in columns(connection, "chat_projects") else "NULL"
    row = connection.execute(_THREAD.format(root=root), (key,)).fetchone()
    if row is None:
        return None
    title, model, created, project = as_text(row[0]), as_text(row[1]), row[2], as_text(row[3])
    metadata = SessionMetadata.of(key, title=title, untitled=(_UNTITLED,), project=project, started=created)
    reader = UnslothReader(metadata=metadata)
    reader.use_model(model)
    nodes, parents, times = dict[str, dict[str, Any]](), dict[str, str](), dict[str, float | None]()
    before, order = "", "created_at, rowid"
    for node in rows_of(connection, "chat_messages", _MESSAGES, "thread_id", key, order, has_index=False):
        name, above = as_text(node["id"]), node["parent_id"]
        nodes[name], times[name] = node, seconds(node["created_at"])
        parents[name] = before if above is None else as_text(above)  # older messages don't name their parent
        before = name
    return read_branches(reader, key, *divided(nodes, parents, times))


UNSLOTH_DATABASE = RowFormat(
    agent="unsloth-studio",
    needed={
        "chat_projects": frozenset({"id", "name"}),
        "chat_threads": frozenset("id title model_id project_id created_at".split()),
        "chat_messages": frozenset("id thread_id parent_id role content_json attachments_json created_at".split()),
    },
    listed="""SELECT CAST(t.id AS BLOB), max(m.created_at), CAST(t.title AS BLOB), count(*),
        sum(octet_length(m.content_json)) FROM chat_threads t JOIN chat_messages m ON m.thread_id = t.id
        GROUP BY t.id""",
    conversation=_conversation,
)
