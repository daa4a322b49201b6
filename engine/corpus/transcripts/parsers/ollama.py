"""Ollama's chat program: all chats in `Ollama/db.sqlite`, on macOS and Windows.

Written from a description of its public source (`app/store/database.go`, versions 16 to 19 of the tables, October
2026): `messages` of a chat, all rewritten when it is saved; `tool_calls` of an answer, whose results are the
next messages in the same order, without a name; files in `attachments`. An answer has the name of its model. Folders
and tokens are not recorded, and neither are conversations in a terminal.
"""

from collections.abc import Iterator
from typing import Any

import apsw
import msgspec

from engine.corpus.transcripts.database_format import RowFormat, as_text, data_of, rows_with, whole
from engine.corpus.transcripts.formats import Conversation, LineParser
from engine.corpus.transcripts.json_values import held_only, image_value, seconds
from engine.corpus.transcripts.message_builder import Part, attached, next_turn, tool_result
from engine.corpus.transcripts.messages import Message, SessionMetadata
from engine.corpus.transcripts.model_api_messages import ROLES, arguments

_CHAT = "SELECT CAST(title AS BLOB), CAST(created_at AS BLOB) FROM chats WHERE id = ?"
_MESSAGES = """SELECT id, CAST(role AS BLOB), CAST(content AS BLOB), CAST(thinking AS BLOB), CAST(created_at AS BLOB),
    CAST(model_name AS BLOB) FROM messages WHERE {rows} ORDER BY id"""
_CALLS = "SELECT CAST(function_name AS BLOB), CAST(function_arguments AS BLOB) FROM tool_calls WHERE {rows} ORDER BY id"
_FILES = "SELECT CAST(filename AS BLOB), {data} FROM attachments WHERE {rows} ORDER BY id"
_PICTURES = (".png", ".jpg", ".jpeg", ".webp")


class OllamaReader(LineParser, kw_only=True):
    """Parses the messages of one chat."""

    called: list[str] = msgspec.field(default_factory=list)
    """Names of the called tools whose results have not been read."""

    def message(self, connection: apsw.Connection, row: tuple[Any, ...]) -> list[Message]:
        name, text, thinking, time, model = map(as_text, row[1:])
        role = self.role(ROLES, name)
        if role is None:
            return []
        if role == "tool":
            tool = self.called.pop(0) if self.called else ""
            return next_turn(self, [tool_result(text, tool)], time=seconds(time))
        parts = [Part(role, "thinking", thinking), Part(role, "text", text), *_attached(connection, row[0])]
        if role == "assistant":
            self.use_model(model)
            calls = [Part(role, "tool-call", text, tool) for tool, text in _calls(connection, row[0])]
            self.called = [call.tool for call in calls]
            parts += calls
        return next_turn(self, parts, time=seconds(time))


def _attached(connection: apsw.Connection, message: object) -> Iterator[Part]:
    data = held_only(data_of("data"))
    query = _FILES.format(rows=rows_with(connection, "attachments", "message_id"), data=data)
    for file, content in connection.execute(query, (message,)):
        name = as_text(file)
        image = name.lower().endswith(_PICTURES)
        yield Part("user", "text", attached(name, image=image, value=image_value(content)))


def _calls(connection: apsw.Connection, message: object) -> Iterator[tuple[str, str]]:
    query = _CALLS.format(rows=rows_with(connection, "tool_calls", "message_id"))
    for tool, given in connection.execute(query, (message,)):
        name = as_text(tool)
        yield name, arguments(as_text(given)) or name


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation | None:
    row = connection.execute(_CHAT, (key,)).fetchone()
    if row is None:
        return None
    title, created = map(as_text, row)
    metadata = SessionMetadata.of(key, title=title, started=created)
    reader = OllamaReader(metadata=metadata)
    rows = connection.execute(_MESSAGES.format(rows=rows_with(connection, "messages", "chat_id")), (key,)).fetchall()
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
