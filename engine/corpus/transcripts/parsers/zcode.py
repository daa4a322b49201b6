"""ZCode: all sessions in `~/.zcode/cli/db/db.sqlite`.

There is no published specification. Written from agentsview's reader (August 2026) and others of autumn 2026: tables
`session`, `message` and `part` as opencode's, with blocks of Anthropic's API among the parts, and `model_usage` with
the tokens of each request; tokens sent include cached ones. Since summer 2026 a message has a kind in `semantics`: only
prompts of the user and answers are speech.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from engine.corpus.transcripts.database_format import (
    RowFormat,
    as_text,
    cell,
    row_of,
    rows_of,
    whole,
)
from engine.corpus.transcripts.formats import Conversation, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import content, mapping, seconds, string, tool_input
from engine.corpus.transcripts.messages import Message, Role, clean
from engine.corpus.transcripts.parsers.opencode import OpencodeReader, session_metadata
from engine.corpus.transcripts.token_usage import counted

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "model": "assistant", "system": "system"}
_SPOKEN = (None, "user_prompt", "assistant_response")
"""Kinds of messages that are speech."""
_COUNTS = "input_tokens output_tokens+reasoning_tokens cache_read_input_tokens cache_creation_input_tokens"


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
        semantics = mapping(value, "semantics")
        if semantics.get("kind") not in _SPOKEN or semantics.get("transcriptVisibility") == "hidden":
            role = "system"
        return self.next_message(
            [message for part in parts for message in self._part(mapping(part), role)], id=name, time=time
        )


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation:
    row = row_of(connection, "session", "title directory parent_id time_created", key)
    about = {**row, "parentID": row["parent_id"], "time": {"created": _time(row["time_created"])}}
    reader = ZCodeReader(metadata=session_metadata(key, about))
    for counts in rows_of(
        connection, "model_usage", f"model_id {_COUNTS.replace('+', ' ')}", "session_id", key, has_index=False
    ):
        reader.use(counts["model_id"], counted(counts, _COUNTS, with_cached=True))
    return reader.conversation(key, whole(reader, _turns(connection, key, reader)))


def _time(stated: object) -> float | None:
    """Return a time in seconds; it is stored as a date, or as a number of seconds or milliseconds."""
    text = string(stated)
    return seconds(int(text) if text.isdecimal() and len(text) < 16 else stated)


def _turns(connection: apsw.Connection, key: str, reader: ZCodeReader) -> Iterator[list[Message]]:
    order = "time_created, rowid"
    for row in rows_of(connection, "message", "id time_created data{}", "session_id", key, order, has_index=False):
        pieces = rows_of(connection, "part", "data{}", "message_id", row["id"], "rowid", has_index=False)
        parts = [cell(reader, piece["data"]) for piece in pieces]
        yield reader.turn(as_text(row["id"]), mapping(cell(reader, row["data"])), _time(row["time_created"]), parts)


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
