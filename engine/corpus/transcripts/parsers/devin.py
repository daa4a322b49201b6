"""Sessions of Devin's command line: all in `devin/cli/sessions.db` of the user's data folder.

There is no published specification. Written from agentsview's reader (August 2026) and other programs that read it, up
to autumn 2026: `sessions` have a title, a folder, a model and, in `main_chain_id`, the end of the current branch.
`message_nodes` are a tree of messages, each a JSON object in `chat_message` with a role, `content` as text or blocks,
`thinking`, `tool_calls` and `metadata` with the tokens; a result has the `tool_call_id`. A branch begins with copies of
messages, which have the same `message_id`. Times are in seconds. Sessions in Devin's cloud are not read.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from engine.corpus.transcripts.database_format import RowFormat, as_text, row_of, rows_of
from engine.corpus.transcripts.export_reader import divided, read_branches
from engine.corpus.transcripts.formats import Conversation, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import content, mapping, objects, seconds, string, tool_input
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean
from engine.corpus.transcripts.model_api_messages import BlockParser
from engine.corpus.transcripts.token_usage import counted

_COUNTS = "input_tokens output_tokens cache_read_tokens cache_creation_tokens"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "agent": "assistant", "tool": "tool"}
_METADATA = "title working_directory created_at last_activity_at main_chain_id model"
_NODES = "node_id parent_node_id created_at chat_message{}"


class _Parser(BlockParser, kw_only=True):
    model: str = ""
    """Model of the session; single answers may have another one."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind = string(value, "role")
        role = _ROLES.get(kind)
        if role is None:
            if kind != "system":  # these are the instructions
                self.count_unknown(f"role {kind}")
            return []
        about = mapping(value, "metadata")
        self.use(about.get("generation_model") or self.model, counted(about.get("metrics"), _COUNTS))
        return self.next_message(list(self._parts(value, role)), id=str(value["node"]), time=seconds(value["created"]))

    def _parts(self, value: Mapping[str, Any], role: Role) -> Iterator[Part]:
        yield Part(role, "thinking", string(value, "thinking"))
        if role == "tool":
            id = clean(value, "tool_call_id")
            yield tool_result(content(value, "content"), call=id)
            return
        yield from self.blocks(value.get("content"), role)
        for call in objects(value, "tool_calls"):
            function = mapping(call, "function")
            name = string(function, "name") or string(call, "name")
            id = clean(call, "id")
            arguments = function.get("arguments", call.get("arguments", call.get("input")))
            yield tool_call(tool_input(arguments), name, id)


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation:
    row = row_of(connection, "sessions", _METADATA, key)
    title, folder, created, active, end, model = row.values()
    metadata = SessionMetadata.of(key, title=title, started=created, project=folder)
    parser = _Parser(metadata=metadata, model=clean(model))
    nodes: dict[str, dict[str, Any]] = {}
    parents: dict[str, str] = {}
    for found in rows_of(connection, "message_nodes", _NODES, "session_id", key, "created_at, row_id"):
        node, parent, time, data = found.values()
        value = parse_line(data) if isinstance(data, bytes) else None
        if value is None:
            parser.count_unknown("no JSON")
            value = {"role": "system"}
        nodes[str(node)] = {**value, "node": node, "created": time}
        parents[str(node)] = "" if parent is None else str(parent)
    times = {name: seconds(node["created"]) for name, node in nodes.items()}
    current, others = divided(nodes, parents, times, as_text(end))
    conversation = read_branches(parser, key, current, _without_copies(current, others))
    metadata.ended = max(filter(None, (metadata.ended, seconds(active))), default=None)
    return conversation


def _without_copies(current: list[dict[str, Any]], others: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the messages of other branches that are not copies of earlier ones."""
    seen = {string(node, "message_id") for node in current}
    for node in others:
        id_ = string(node, "message_id")
        if not id_ or id_ not in seen:
            seen.add(id_)
            yield node


DEVIN_DATABASE = RowFormat(
    agent="devin",
    needed={
        "sessions": frozenset({"id", "title", "working_directory", "created_at", "last_activity_at"}),
        "message_nodes": frozenset({"row_id", "session_id", "node_id", "parent_node_id", "chat_message", "created_at"}),
    },
    listed="""SELECT CAST(s.id AS BLOB), s.last_activity_at, CAST(s.title AS BLOB), count(*), max(n.row_id),
        sum(octet_length(n.chat_message)) FROM sessions s JOIN message_nodes n ON n.session_id = s.id GROUP BY s.id""",
    conversation=_conversation,
)
