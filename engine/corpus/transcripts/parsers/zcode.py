"""ZCode: all sessions in `~/.zcode/cli/db/db.sqlite`.

There is no published specification. Written from agentsview's reader (August 2026) and others of autumn 2026: tables
`session`, `message` and `part` as opencode's, with blocks of Anthropic's API among the parts, and `model_usage` with
the tokens of each request; tokens sent include cached ones. Since summer 2026 a message has a kind in `semantics`: only
prompts of the user and answers are speech.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from engine.corpus.transcripts.database_format import RowFormat, as_text, cell, columns, data_of, rows_with, whole
from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.json_values import content, mapping, seconds, string, tool_input
from engine.corpus.transcripts.message_builder import Part, next_turn, tool_call, tool_result
from engine.corpus.transcripts.messages import Message, Role, clean
from engine.corpus.transcripts.parsers.opencode import OpencodeReader, session_metadata
from engine.corpus.transcripts.token_usage import Usage, add_counts, tokens, without_cached

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "model": "assistant", "system": "system"}
_METADATA = """SELECT CAST(title AS BLOB), CAST(directory AS BLOB), CAST(time_created AS BLOB), {parent} FROM session
    WHERE id = ?"""
_SPOKEN = (None, "user_prompt", "assistant_response")
"""Kinds of messages that are speech."""
_MESSAGES = f"""SELECT id, CAST(time_created AS BLOB), {data_of("data")} FROM message WHERE {{rows}}
    ORDER BY time_created, rowid"""
_PARTS = f"SELECT {data_of('data')} FROM part WHERE {{rows}} ORDER BY rowid"
_COUNTS = """SELECT CAST(model_id AS BLOB), input_tokens, output_tokens, reasoning_tokens, cache_read_input_tokens,
    cache_creation_input_tokens FROM model_usage WHERE {rows}"""


class ZCodeReader(OpencodeReader, kw_only=True):
    def _part(self, part: Mapping[str, Any], role: Role) -> Iterator[Part]:
        kind = part.get("type")
        if kind == "thinking":
            yield Part("assistant", "thinking", string(part, "thinking") or string(part, "text"))
        elif kind == "tool_use":
            name, id = string(part, "name"), clean(part, "id")
            yield tool_call(tool_input(part, "input"), name, id)
        elif kind == "tool_result":
            id, failed = clean(part, "tool_use_id"), part.get("is_error") is True
            yield tool_result(content(part, "content"), "", id, failed)
        else:
            yield from super()._part(part, role)

    def turn(self, name: str, value: Mapping[str, Any], time: float | None, parts: list[Any]) -> list[Message]:
        """Return a message with its parts; tokens are in another table."""
        role = self.role(_ROLES, string(value, "role"))
        if role is None:
            return []
        semantics = mapping(value, "semantics")
        if semantics.get("kind") not in _SPOKEN or semantics.get("transcriptVisibility") == "hidden":
            role = "system"
        return next_turn(
            self, [message for part in parts for message in self._part(mapping(part), role)], id=name, time=time
        )


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation | None:
    parent = "CAST(parent_id AS BLOB)" if "parent_id" in columns(connection, "session") else "NULL"
    row = connection.execute(_METADATA.format(parent=parent), (key,)).fetchone()
    if row is None:
        return None
    title, folder, created, above = map(as_text, row)
    started = _time(created)
    about = {"title": title, "directory": folder, "parentID": above, "time": {"created": started}}
    metadata = session_metadata(key, about)
    reader = ZCodeReader(metadata=metadata)
    for model, sent, received, thought, read, written in connection.execute(
        _COUNTS.format(rows=rows_with(connection, "model_usage", "session_id")), (key,)
    ):
        own = without_cached(sent, read, written)
        reader.use(as_text(model), Usage(own, add_counts(received, thought), tokens(read), tokens(written)))
    return reader.conversation(key, whole(reader, _turns(connection, key, reader)))


def _time(text: str) -> float | None:
    """Return a time in seconds; it is stored as a date, or as a number of seconds or milliseconds."""
    return seconds(int(text)) if text.isdecimal() and len(text) < 16 else seconds(text)


def _turns(connection: apsw.Connection, key: str, reader: ZCodeReader) -> Iterator[list[Message]]:
    messages = _MESSAGES.format(rows=rows_with(connection, "message", "session_id"))
    pieces = _PARTS.format(rows=rows_with(connection, "part", "message_id"))
    for id_, created, data in connection.execute(messages, (key,)):
        parts = [cell(reader, part) for (part,) in connection.execute(pieces, (id_,))]
        yield reader.turn(as_text(id_), mapping(cell(reader, data)), _time(as_text(created)), parts)


ZCODE_DATABASE = RowFormat(
    agent="zcode",
    needed={
        "session": frozenset({"id", "workspace_id", "directory", "title", "time_created", "time_updated"}),
        "message": frozenset({"id", "session_id", "time_created", "data"}),
        "part": frozenset({"id", "message_id", "session_id", "data"}),
        "model_usage": frozenset({"session_id", "model_id", "input_tokens", "output_tokens", "reasoning_tokens"}),
    },
    listed="""SELECT CAST(s.id AS BLOB), CAST(s.time_updated AS BLOB), CAST(s.title AS BLOB), m.number, p.size, u.number
        FROM session s JOIN (SELECT session_id, count(*) AS number FROM message GROUP BY session_id) m
        ON m.session_id = s.id LEFT JOIN (SELECT session_id, sum(octet_length(data)) AS size FROM part
        GROUP BY session_id) p ON p.session_id = s.id LEFT JOIN (SELECT session_id, count(*) AS number FROM model_usage
        GROUP BY session_id) u ON u.session_id = s.id""",
    conversation=_conversation,
)
