"""Goose: all sessions in `sessions/sessions.db` of its data folder, since version 1.10 of October 2025.

Written from its public source (`session_manager.rs` of autumn 2026, `conversation/message.rs`, `token_usage.rs`) and
from the reader of claude-code-history-viewer (August 2026). `sessions` have a name (once `description`), a working
folder, a type, sums of tokens, and since schema 15 a sub-agent's parent session. The input tokens include the cached
ones. The newest schema adds `usage_ledger`, a row for each request with its model; a row without a model has the
session's earlier sums. A message has a role and `content_json`, a list of typed items. The program copied its older
sessions, one JSONL file each, into the database: these files are not read.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from engine.corpus.transcripts.database_format import RowFormat, cell, row_of, rows_of, whole
from engine.corpus.transcripts.formats import Conversation, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import (
    attached,
    content,
    mapping,
    member,
    objects,
    seconds,
    string,
    tool_input,
)
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata
from engine.corpus.transcripts.token_usage import Usage, counted

_COUNTS = "input_tokens output_tokens cache_read_tokens cache_write_tokens"
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_SUMS = " ".join(f"accumulated_{name}" for name in _COUNTS.split())
_LOWEST_COST = 1e-6
"""A smaller difference of two sums of costs is an error of rounding."""
_UNNAMED = frozenset({"", "ACP Session", "CLI Session", "New Chat", "New session"})
_NOTICES = ("systemNotification", "summarizationRequested", "contextLengthExceeded", "conversationCompacted")
_SILENT = frozenset("redactedThinking toolConfirmationRequest".split())
_METADATA = "working_dir created_at name description session_type parent_session_id"
_MESSAGES = "message_id role created_timestamp content_json{} metadata_json{}"


class GooseReader(LineParser, kw_only=True):
    """Parses the messages of one session."""

    def parts(self, body: object, role: Role) -> Iterator[Part]:
        for item in objects(body):
            kind = string(item, "type")
            if kind == "text":
                yield Part(role, "text", string(item, "text"))
            elif kind in ("thinking", "reasoning"):
                yield Part(role, "thinking", string(item, "thinking") or string(item, "text"))
            elif kind in ("toolRequest", "frontendToolRequest"):
                yield self._call(item)
            elif kind == "toolResponse":
                yield self._result(item)
            elif kind in ("image", "document"):
                yield Part(role, "text", attached(string(item, "name"), image=kind == "image", value=item))
            elif kind == "error":
                yield Part("system", "text", string(item, "message"))
            elif kind == "actionRequired":  # a tool's question to the user, or the answer; or a request for permission
                asked = mapping(item, "data")
                yield Part(role, "text", string(asked, "message") or tool_input(asked, "user_data"))
            elif kind in _NOTICES:
                yield Part("system", "text", string(item, "msg"))
            elif kind not in _SILENT:
                self.count_unknown(f"item {kind}" if kind else None)

    def _call(self, item: Mapping[str, Any]) -> Part:
        call = mapping(item, "toolCall", "value")
        return tool_call(tool_input(call, "arguments"), string(call, "name"), string(item, "id"))

    def _result(self, item: Mapping[str, Any]) -> Part:
        result = mapping(item, "toolResult")
        value = result.get("value")
        text = string(result, "error") or content(mapping(value).get("content", value))
        id, failed = string(item, "id"), result.get("status") == "error" or member(value, "isError") is True
        return tool_result(text, "", id, failed)


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation:
    row = row_of(connection, "sessions", _METADATA, key)
    names = string(row, "name"), string(row, "description")
    metadata = SessionMetadata.of(
        key,
        title=next((text for text in names if text.strip() not in _UNNAMED), ""),
        project=row["working_dir"],
        parent=row["parent_session_id"],
        started=row["created_at"],
        generated=row["session_type"] == "hidden",
    )
    reader = GooseReader(metadata=metadata)
    _add_usage(connection, key, reader)
    turns = _turns(connection, key, reader, side=row["session_type"] == "sub_agent")
    return reader.conversation(key, whole(reader, turns))


def _add_usage(connection: apsw.Connection, key: str, reader: GooseReader) -> None:
    """Add the usage of each recorded request, and the rest of the session's own sums with the session's model."""
    requests = rows_of(connection, "usage_ledger", f"model {_COUNTS} cost", "session_id", key)
    listed = [(string(row, "model"), counted(row, _COUNTS, cost="cost", with_cached=True)) for row in requests]
    sums = row_of(connection, "sessions", f"model_config_json{{}} {_SUMS} accumulated_cost", key)
    stated = sums["model_config_json"]
    model = "" if stated is None else string(cell(reader, stated), "model_name")
    total = counted(sums, _SUMS, cost="accumulated_cost", with_cached=True)
    requested = Usage()
    for used, usage in listed:
        requested.add(usage)
        reader.use(used or model, usage)
    rest = total.beyond(requested)
    if rest.cost is not None and rest.cost < _LOWEST_COST:
        rest.cost = None
    if rest.is_recorded or not listed:
        reader.use(model, rest)


def _turns(connection: apsw.Connection, key: str, reader: GooseReader, *, side: bool) -> Iterator[list[Message]]:
    for row in rows_of(connection, "messages", _MESSAGES, "session_id", key, "created_timestamp, id"):
        role = reader.role(_ROLES, string(row, "role"))
        about = row["metadata_json"]
        hidden = about is not None and member(cell(reader, about), "userVisible") is False
        parts = list(reader.parts(cell(reader, row["content_json"]), "system" if hidden else role))
        time = seconds(row["created_timestamp"])
        yield reader.next_message(parts, id=string(row, "message_id"), time=time, side=side)


GOOSE_DATABASE = RowFormat(
    agent="goose",
    needed={
        "sessions": frozenset({"id", "working_dir", "created_at", "updated_at"}),
        "messages": frozenset({"id", "session_id", "role", "content_json", "created_timestamp"}),
    },
    listed="""SELECT CAST(s.id AS BLOB), CAST(s.updated_at AS BLOB), count(*), max(m.id),
        sum(octet_length(m.content_json)) FROM sessions s JOIN messages m ON m.session_id = s.id GROUP BY s.id""",
    conversation=_conversation,
)
