"""Ollama's chat program: all chats in `Ollama/db.sqlite`, on macOS and Windows.

Written from a description of its public source (`app/store/database.go`, versions 16 to 19 of the tables, October
2026): `messages` of a chat, all rewritten when it is saved; `tool_calls` of an answer, whose results are the
next messages in the same order, without a name; files in `attachments`. An answer has the name of its model. Folders
and tokens are not recorded, and neither are conversations in a terminal.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import apsw
import msgspec

from engine.corpus.transcripts.database_format import RowFormat, as_text, data_of, row_of, rows_of, rows_with, whole
from engine.corpus.transcripts.formats import Conversation, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import attached, held_only, image_value, seconds, string
from engine.corpus.transcripts.messages import Message, SessionMetadata
from engine.corpus.transcripts.model_api_messages import ROLES, arguments

_FILES = "SELECT CAST(filename AS BLOB), {data} FROM attachments WHERE {rows} ORDER BY id"
_PICTURES = (".png", ".jpg", ".jpeg", ".webp")


class OllamaReader(LineParser, kw_only=True):
    """Parses the messages of one chat."""

    called: list[str] = msgspec.field(default_factory=list)
    """Names of the called tools whose results have not been read."""

    def message(self, connection: apsw.Connection, row: Mapping[str, Any]) -> list[Message]:
        role, text, time = self.role(ROLES, string(row, "role")), string(row, "content"), seconds(row["created_at"])
        if role == "tool":
            return self.next_message([tool_result(text, self.called.pop(0) if self.called else "")], time=time)
        parts = [Part(role, "thinking", string(row, "thinking")), Part(role, "text", text)]
        parts += _attached(connection, row["id"])
        if role == "assistant":
            self.use_model(row["model_name"])
            calls = list(_calls(connection, row["id"]))
            self.called = [call.tool for call in calls]
            parts += calls
        return self.next_message(parts, time=time)


def _attached(connection: apsw.Connection, message: object) -> Iterator[Part]:
    data = held_only(data_of("data"))
    query = _FILES.format(rows=rows_with(connection, "attachments", "message_id"), data=data)
    for file, content in connection.execute(query, (message,)):
        name = as_text(file)
        image = name.lower().endswith(_PICTURES)
        yield Part("user", "text", attached(name, image=image, value=image_value(content)))


def _calls(connection: apsw.Connection, message: object) -> Iterator[Part]:
    for row in rows_of(
        connection, "tool_calls", "function_name function_arguments", "message_id", message, "id", has_index=False
    ):
        yield tool_call(arguments(string(row, "function_arguments")), string(row, "function_name"))


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation:
    row = row_of(connection, "chats", "title created_at", key)
    reader = OllamaReader(metadata=SessionMetadata.of(key, title=row["title"], started=row["created_at"]))
    rows = list(
        rows_of(
            connection,
            "messages",
            "id role content thinking created_at model_name",
            "chat_id",
            key,
            "id",
            has_index=False,
        )
    )
    messages = whole(reader, (reader.message(connection, message) for message in rows))
    return reader.conversation(key, messages)


OLLAMA_DATABASE = RowFormat(
    agent="ollama",
    needed={
        "chats": frozenset({"id", "title", "created_at"}),
        "messages": frozenset("id chat_id role content thinking model_name created_at updated_at".split()),
        "tool_calls": frozenset({"id", "message_id", "function_name", "function_arguments"}),
        "attachments": frozenset({"id", "message_id", "filename"}),
    },
    listed="""SELECT CAST(c.id AS BLOB), CAST(max(m.updated_at) AS BLOB), CAST(c.title AS BLOB), count(*), max(m.id),
        sum(octet_length(m.content)) FROM chats c JOIN messages m ON m.chat_id = c.id GROUP BY c.id""",
    conversation=_conversation,
)
