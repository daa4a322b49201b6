"""Crush: `.crush/crush.db` in the folder of a project.

Written from its public source of autumn 2026 (`internal/db`, `internal/message/content.go`), whose migrations begin in
April 2025. `sessions` have a title and times; a message has a role and `parts`, a list of `{"type", "data"}`. The
program changes rows while an answer arrives. A sub-agent's session names its parent, whose cost includes the
sub-agent's (`coordinator.go`); the session in which a model generates a title is called `title-<session>`.
"""

import os
from collections.abc import Iterator
from typing import Any

import apsw

from engine.corpus.transcripts.database_format import RowFormat, as_text, cell, columns, row_of, rows_of, whole
from engine.corpus.transcripts.formats import Conversation, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import attached, image_mark, mapping, objects, seconds, string
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata
from engine.corpus.transcripts.model_api_messages import arguments
from engine.corpus.transcripts.token_usage import Usage, dollars

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}
_COST = """SELECT round(cost - (SELECT total(cost) FROM sessions WHERE parent_session_id = own.id), 9)
    FROM sessions own WHERE id = ?"""
_MODELS = "SELECT DISTINCT CAST(model AS BLOB) FROM messages WHERE session_id = ? AND model <> '' ORDER BY 1 LIMIT 32"


class CrushReader(LineParser):
    """Parses the messages of one session."""

    def parts(self, wrapped_parts: object, role: Role) -> Iterator[Part]:
        for wrapped in objects(wrapped_parts):
            yield from self._part(string(wrapped, "type"), mapping(wrapped, "data"), role)

    def _part(self, kind: str, data: Any, role: Role) -> Iterator[Part]:
        if kind == "text":
            # The program's own prompts to continue are hidden.
            yield Part("system" if data.get("hidden") is True else role, "text", string(data, "text"))
        elif kind == "reasoning":
            yield Part(role, "thinking", string(data, "thinking"))
        elif kind == "tool_call":
            name, id = string(data, "name"), string(data, "id")
            yield tool_call(arguments(string(data, "input")), name, id)
        elif kind == "tool_result":
            name, id = string(data, "name"), string(data, "tool_call_id")
            yield tool_result(string(data, "content"), name, id, data.get("is_error") is True)
        elif kind == "shell_command":
            failed = bool(data.get("exit_code"))
            yield Part("user", "tool-call", string(data, "command"), "shell", failed=failed)
            yield tool_result(string(data, "output"), "shell", failed=failed)
        elif kind == "binary":
            image = string(data, "MIMEType").startswith("image/")
            yield Part(role, "text", attached(os.path.basename(string(data, "Path")), image=image, value=data))
        elif kind == "image_url":
            yield Part(role, "text", image_mark(data))
        elif kind == "finish":
            failure = (string(data, "message"), string(data, "details"))
            yield Part("system", "text", "\n".join(filter(None, failure)))
        else:
            self.count_unknown(f"part {kind}" if kind else None)


def _conversation(connection: apsw.Connection, key: str, path: str) -> Conversation:
    row = row_of(connection, "sessions", "title created_at parent_session_id", key)
    folder = os.path.dirname(path)
    metadata = SessionMetadata.of(
        key,
        title=row["title"],
        project=os.path.dirname(folder) if os.path.basename(folder) == ".crush" else "",
        parent=row["parent_session_id"],
        started=row["created_at"],
        generated=key.startswith("title-"),
    )
    reader = CrushReader(metadata=metadata)
    models = []
    if "model" in columns(connection, "messages"):
        models = [as_text(model) for (model,) in connection.execute(_MODELS, (key,))]
    for model in models:
        reader.use_model(model)
    if "cost" in columns(connection, "sessions"):
        # The numbers of tokens in the row are only of the last request.
        for (cost,) in connection.execute(_COST, (key,)):
            reader.use(models[0] if len(models) == 1 else "", Usage(cost=dollars(cost)))
    turns = _turns(connection, key, reader)
    return reader.conversation(key, whole(reader, turns))


def _turns(connection: apsw.Connection, key: str, reader: CrushReader) -> Iterator[list[Message]]:
    for row in rows_of(
        connection, "messages", "id role created_at parts{} is_summary_message", "session_id", key, "created_at, rowid"
    ):
        role = reader.role(_ROLES, string(row, "role"))
        parts = list(reader.parts(cell(reader, row["parts"]), "system" if row["is_summary_message"] else role))
        time, side = seconds(row["created_at"]), bool(reader.metadata.parent)
        yield reader.next_message(parts, id=string(row, "id"), time=time, side=side)


CRUSH_DATABASE = RowFormat(
    agent="crush",
    needed={
        "sessions": frozenset({"id", "title", "parent_session_id", "created_at", "updated_at"}),
        "messages": frozenset({"id", "session_id", "role", "parts", "created_at"}),
    },
    listed="""SELECT CAST(s.id AS BLOB), s.updated_at, CAST(s.title AS BLOB), count(*), max(m.updated_at),
        sum(octet_length(m.parts)) FROM sessions s JOIN messages m ON m.session_id = s.id GROUP BY s.id""",
    conversation=_conversation,
)
