"""Octofriend: all sessions in `~/.local/share/octofriend/sqlite.db`.

Written from its public source (version 0.0.59, August 2026: `source/session-history`, `source/libocto/llm-ir.ts`):
`trees` has the sessions, `tree_nodes` their items; the newest leaf ends the current branch. An item is a notification,
a failure, or a message in `llm_irs`, with the version of its format (`octo-llm-ir/v1`); since migration 6, `model_json`
names the model.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from engine.corpus.transcripts.database_format import RowFormat, as_text, cell, columns, data_of
from engine.corpus.transcripts.export_reader import divided, read_branches
from engine.corpus.transcripts.formats import Conversation, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import attached, mapping, objects, seconds, string, tool_input
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean
from engine.corpus.transcripts.model_api_messages import ChatParser
from engine.corpus.transcripts.token_usage import counted

_FAILED = ("file-outdated", "file-unreadable", "tool-error", "tool-malformed", "tool-reject")
"""Roles of results that are failures."""
_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "checkpoint": "system"}
_ITEMS = """SELECT n.id, n.parent_id, {created}, {model}, CAST(o.content AS BLOB), {json}
    FROM tree_nodes n JOIN history_items h ON h.id = n.history_item_id LEFT JOIN llm_irs i ON i.id = h.llm_ir_id
    LEFT JOIN notifications o ON o.id = h.notification_id WHERE n.tree_id = ? ORDER BY n.id"""


class OctofriendReader(ChatParser):
    """Parses the items of one branch, one by one."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        time = seconds(value["time"])
        if value["notification"]:
            return self.next_message([Part("system", "text", value["notification"])], time=time)
        message = mapping(value["message"])
        if message.get("role") == "assistant":
            self.use(value["model"], counted(message.get("usage"), "input.uncached output input.cached"))
        return self.next_message(self._parts(message), time=time)

    def _parts(self, message: Mapping[str, Any]) -> Iterator[Part]:
        kind = string(message, "role")
        called = mapping(message, "toolCall") or mapping(message, "malformedRequest")
        if called:
            output = _text(message) or next(filter(None, (string(message, key) for key in ("error", "reason"))), "")
            id, failed = clean(called, "toolCallId"), kind in _FAILED
            yield tool_result(output or string(called, "error"), "", id, failed)
            return
        role = self.role(_ROLES, kind)
        thoughts = objects(message, "anthropic", "thinkingBlocks")
        for thought in (
            string(message, "reasoningContent"),
            *(string(block, "thinking") for block in thoughts),
        ):
            yield Part("assistant", "thinking", thought)
        yield Part(role, "text", _text(message))
        for call in objects(message, "toolCalls"):
            asked = mapping(call, "call", "original") or call
            name = clean(asked, "name")
            id = clean(call, "toolCallId")
            yield tool_call(tool_input(asked.get("original", asked.get("arguments"))), name, id)


def _text(message: Mapping[str, Any]) -> str:
    """Return the text of a message: a string, or blocks of text and images."""
    blocks = message.get("content")
    if isinstance(blocks, str):
        return blocks
    return "\n".join(
        attached(string(block, "image", "filePath"), image=True, value=block)
        if block.get("type") == "image"
        else string(block, "content")
        for block in objects(blocks)
    )


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation | None:
    row = connection.execute("SELECT id, CAST(cwd AS BLOB) FROM trees WHERE name = ?", (key,)).fetchone()
    if row is None:
        return None
    reader = OctofriendReader(metadata=SessionMetadata.of(key, project=as_text(row[1])))
    nodes, parents = dict[str, dict[str, Any]](), dict[str, str]()
    created = "n.created_at" if "created_at" in columns(connection, "tree_nodes") else "NULL"
    model = data_of("h.model_json") if "model_json" in columns(connection, "history_items") else "NULL"
    query = _ITEMS.format(created=created, model=model, json=data_of("i.json"))
    for id_, above, time, stated, notification, data in connection.execute(query, (row[0],)):
        name = as_text(id_)
        value = mapping(cell(reader, data)) if data is not None else {}
        if data is not None and not isinstance(value.get("ir"), dict):
            reader.count_unknown(f"version {value.get('version')}")
        nodes[name] = {
            "time": time,
            "model": _model(stated),
            "notification": as_text(notification),
            "message": mapping(value, "ir") or {"role": "checkpoint"},
        }
        parents[name] = as_text(above)
    times = {name: float(number) for number, name in enumerate(nodes, 1)}
    return read_branches(reader, key, *divided(nodes, parents, times))


def _model(stated: object) -> str:
    value = parse_line(stated) if isinstance(stated, bytes) else None
    return string(value, "model", "model")


OCTOFRIEND_DATABASE = RowFormat(
    agent="octofriend",
    needed={
        "trees": frozenset({"id", "name", "cwd", "updated_at"}),
        "tree_nodes": frozenset({"id", "history_item_id", "tree_id", "parent_id"}),
        "history_items": frozenset({"id", "notification_id", "llm_ir_id"}),
        "llm_irs": frozenset({"id", "json"}),
        "notifications": frozenset({"id", "content"}),
    },
    listed="""SELECT CAST(t.name AS BLOB), t.updated_at, count(*), max(n.id) FROM trees t
        JOIN tree_nodes n ON n.tree_id = t.id GROUP BY t.id""",
    conversation=_conversation,
)
