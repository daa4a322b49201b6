"""Conversations of llm, a command line: all in `logs.db` of its folder.

Written from its public source (`logs.py`, `migrations.py`) up to version 0.32 of August 2026. Since that version, a
thread has the hash of its last message; `messages` name their parent, and `parts` have their content. A text that
includes fragments (usually files) lists them in `text_ref`. A turn is one call of a model, between the last message
sent and the last one received; only turns have times. Before, `responses` had prompt and answer in one row, with tools
and fragments in other tables; an upgrade leaves them, and copies a conversation when it is continued. Folders are not
recorded, and neither is which tokens were cached.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import apsw
import msgspec

from engine.corpus.transcripts.database_format import RowFormat, as_text, cell, columns, data_of, rows_with, whole
from engine.corpus.transcripts.formats import Conversation, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import (
    attached,
    content,
    held_only,
    image_value,
    items,
    mapping,
    seconds,
    string,
    tool_input,
)
from engine.corpus.transcripts.messages import Message, SessionMetadata, clean, one_line
from engine.corpus.transcripts.model_api_messages import ROLES, arguments
from engine.corpus.transcripts.token_usage import Usage, tokens

_NEWER = {
    "threads": frozenset({"id", "name", "tip_message_hash", "datetime_utc"}),
    "turns": frozenset({"id", "thread_id", "parent_message_hash", "tip_message_hash", "model", "datetime_utc"}),
    "messages": frozenset({"hash", "parent_hash", "role"}),
    "parts": frozenset({"id", "message_hash", "position", "type", "tool_name", "text", "payload"}),
}
_LISTED = """SELECT CAST(coalesce(conversation_id, id) AS BLOB), CAST(max(datetime_utc) AS BLOB), count(*),
    sum(octet_length(prompt) + octet_length(response)), (SELECT CAST(name AS BLOB) FROM conversations WHERE
    id = conversation_id) FROM responses {where} GROUP BY 1"""
_THREADS = """SELECT CAST(id AS BLOB), CAST(coalesce((SELECT max(datetime_utc) FROM turns WHERE thread_id = threads.id),
    datetime_utc) AS BLOB), 0, CAST(tip_message_hash AS BLOB), CAST(name AS BLOB) FROM threads
    WHERE tip_message_hash IS NOT NULL"""
_CHAIN = f"""WITH RECURSIVE chain(hash, parent) AS (
    SELECT hash, parent_hash FROM messages WHERE hash = (SELECT tip_message_hash FROM threads WHERE id = :key)
    UNION SELECT m.hash, m.parent_hash FROM messages m JOIN chain ON m.hash = chain.parent)
    SELECT CAST(chain.hash AS BLOB), CAST(chain.parent AS BLOB), CAST(m.role AS BLOB), CAST(p.type AS BLOB),
    CAST(p.tool_name AS BLOB), CAST(p.text AS BLOB), {data_of("p.payload")}, p.payload IS NULL,
    (SELECT CAST(coalesce(type, '') || ' ' || coalesce(path, url, '') AS BLOB) FROM part_attachments
    JOIN attachments a ON a.id = attachment_id WHERE part_id = p.id LIMIT 1),
    (SELECT {{image}} FROM part_attachments JOIN attachments a ON a.id = attachment_id WHERE part_id = p.id LIMIT 1)
    FROM chain JOIN messages m ON m.hash = chain.hash LEFT JOIN parts p ON p.message_hash = m.hash
    ORDER BY p.position, p.id"""
_TURNS = """SELECT CAST(parent_message_hash AS BLOB), CAST(tip_message_hash AS BLOB), CAST(datetime_utc AS BLOB),
    duration_ms, CAST(coalesce(resolved_model, model) AS BLOB), input_tokens, output_tokens
    FROM turns WHERE thread_id = ? ORDER BY id"""
_RESPONSES = """SELECT CAST(id AS BLOB), CAST(system AS BLOB), CAST(prompt AS BLOB), CAST(response AS BLOB),
    CAST(datetime_utc AS BLOB), duration_ms, {reasoning}, CAST({model} AS BLOB), {sent}, {received}
    FROM responses WHERE {ours} {newer} ORDER BY datetime_utc, id"""


class LlmReader(LineParser, kw_only=True):
    """Parses the messages of one conversation."""

    connection: apsw.Connection
    fragments: dict[str, str] = msgspec.field(default_factory=dict)
    """Source of each fragment that the conversation includes, by its id."""
    system: str = ""
    """The instructions sent last, which every response repeats."""

    def part_of(self, role: str, row: tuple[Any, ...]) -> Part | None:
        """Return a row of `parts` as a part of a message."""
        kind, tool, text = map(as_text, row[:3])
        data, is_empty, attachment, image = row[3:]
        if row[0] is None and is_empty:  # a message without parts
            return None
        payload = {} if is_empty else mapping(cell(self, data))
        who = self.role(ROLES, role)
        if kind in ("text", "reasoning"):
            joined = text + "".join(map(self._piece, items(payload, "text_ref")))
            return Part(who, "text" if kind == "text" else "thinking", joined)
        if kind == "tool_call":
            id = string(payload, "tool_call_id")
            return tool_call(tool_input(payload, "arguments"), tool, id)
        if kind == "tool_result":
            id, failure = string(payload, "tool_call_id"), string(payload, "exception")
            return tool_result(content(payload, "output") or failure, tool, id, bool(failure))
        if kind == "attachment":
            sort, _, name = as_text(attachment).partition(" ")
            return Part(who, "text", attached(name, image=sort.startswith("image/"), value=image_value(image)))
        self.count_unknown(f"part {kind}" if kind else None)
        return None

    def _piece(self, value: object) -> str:
        piece = mapping(value)
        return string(piece, "literal") or attached(self.source(piece.get("fragment")))

    def source(self, fragment: object) -> str:
        """Return the source of a fragment; empty if there is none."""
        name = clean(str(fragment))
        if name not in self.fragments:
            query = "SELECT CAST(source AS BLOB) FROM fragments WHERE id = ?"
            known = columns(self.connection, "fragments")
            row = self.connection.execute(query, (name,)).fetchone() if known else None
            self.fragments[name] = one_line(as_text(row[0])) if row else ""
        return self.fragments[name]


def _thread(connection: apsw.Connection, reader: LlmReader, key: str) -> Iterator[list[Message]]:
    """Yield the messages of a conversation in the tables of version 0.32, without those read from the older tables."""
    parts: dict[str, list[tuple[Any, ...]]] = {}
    parents: dict[str, str] = {}
    roles: dict[str, str] = {}
    chain = _CHAIN.format(image=held_only(data_of("a.content")))
    for hashed, parent, role, *part in connection.execute(chain, {"key": key}):
        name = as_text(hashed)
        parents[name], roles[name] = as_text(parent), as_text(role)
        parts.setdefault(name, []).append(tuple(part))
    times: dict[str, float | None] = {}
    for prompt_hash, answer_hash, began, duration, model, sent, received in connection.execute(_TURNS, (key,)):
        start = seconds(as_text(began))
        times.setdefault(as_text(prompt_hash), start)
        times.setdefault(as_text(answer_hash), _time_after(start, duration))
        reader.use(as_text(model), Usage(tokens(sent), tokens(received)))
    order: dict[str, None] = {}
    tip = connection.execute("SELECT CAST(tip_message_hash AS BLOB) FROM threads WHERE id = ?", (key,)).fetchone()
    name = as_text(tip[0]) if tip else ""
    first = next(iter(times), "") if reader.ordinal else ""
    copied = False
    while name in parents and name not in order and not (copied and roles[name] == "assistant"):
        order[name] = None
        copied = copied or name == first  # before the first prompt of a turn
        name = parents[name]
    for name in reversed(order):
        message_parts = filter(None, (reader.part_of(roles[name], part) for part in parts[name]))
        yield reader.next_message(message_parts, id=name, time=times.get(name))


def _time_after(start: float | None, milliseconds: object) -> float | None:
    took = tokens(milliseconds)
    return start if start is None or took is None else seconds(start + took / 1000)


def _responses(connection: apsw.Connection, reader: LlmReader, key: str) -> Iterator[list[Message]]:
    """Yield the messages of a conversation in the tables before version 0.32."""
    known = columns(connection, "responses")
    query = _RESPONSES.format(
        reasoning="CAST(reasoning AS BLOB)" if "reasoning" in known else "NULL",
        model="coalesce(resolved_model, model)" if "resolved_model" in known else "model",
        sent="input_tokens" if "input_tokens" in known else "NULL",
        received="output_tokens" if "output_tokens" in known else "NULL",
        ours=rows_with(connection, "responses", "coalesce(conversation_id, id)"),
        newer="AND id NOT IN (SELECT id FROM turns)" if columns(connection, "turns") else "",
    )
    for row in connection.execute(query, (key,)):
        name, system, prompt, response, began, duration, reasoning, model, sent, received = row
        start = seconds(as_text(began))
        reader.use(as_text(model), Usage(tokens(sent), tokens(received)))
        instructions = as_text(system)
        if instructions != reader.system:
            reader.system = instructions
            yield reader.next_message([Part("system", "text", instructions)], time=start)
        request_parts = [
            *_tools(connection, "tool_results", name),
            Part("user", "text", as_text(prompt)),
            *_inserted(connection, reader, name),
        ]
        yield reader.next_message(request_parts, id=as_text(name), time=start)
        answer_parts = [
            Part("assistant", "thinking", as_text(reasoning)),
            Part("assistant", "text", as_text(response)),
            *_tools(connection, "tool_calls", name),
        ]
        yield reader.next_message(answer_parts, id=as_text(name), time=_time_after(start, duration))


def _tools(connection: apsw.Connection, table: str, response: object) -> Iterator[Part]:
    known = columns(connection, table)
    if {"id", "response_id", "name"} <= known:
        value = "arguments" if table == "tool_calls" else "output"
        ours = rows_with(connection, table, "response_id")
        query = f"SELECT CAST(name AS BLOB), CAST({value} AS BLOB) FROM {table} WHERE {ours} ORDER BY id"
        for name, content in connection.execute(query, (as_text(response),)):
            tool = as_text(name)
            if table == "tool_calls":
                yield tool_call(arguments(as_text(content)), tool)
            else:
                yield tool_result(as_text(content), tool)


def _inserted(connection: apsw.Connection, reader: LlmReader, response: object) -> Iterator[Part]:
    """Yield names of the fragments and attachments of a prompt."""
    key = (as_text(response),)
    if columns(connection, "prompt_fragments"):
        query = 'SELECT fragment_id FROM prompt_fragments WHERE response_id = ? ORDER BY "order"'
        for (number,) in connection.execute(query, key):
            yield Part("user", "text", attached(reader.source(number)))
    if columns(connection, "prompt_attachments"):
        query = f"""SELECT CAST(type AS BLOB), CAST(coalesce(path, url) AS BLOB), {held_only(data_of("content"))}
            FROM attachments JOIN prompt_attachments
            ON attachments.id = attachment_id WHERE response_id = ? ORDER BY prompt_attachments."order" """
        for sort, name, data in connection.execute(query, key):
            image = as_text(sort).startswith("image/")
            yield Part("user", "text", attached(as_text(name), image=image, value=image_value(data)))


def _is_newer(connection: apsw.Connection) -> bool:
    return all(names <= columns(connection, table) for table, names in _NEWER.items())


def _listed(connection: apsw.Connection) -> str:
    if not _is_newer(connection):
        return _LISTED.format(where="")
    copied = "WHERE coalesce(conversation_id, id) NOT IN (SELECT id FROM threads WHERE tip_message_hash IS NOT NULL)"
    return f"{_THREADS} UNION ALL {_LISTED.format(where=copied)}"


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation | None:
    titles = "SELECT CAST(name AS BLOB) FROM {} WHERE id = ?"
    metadata = SessionMetadata.of(key)
    reader = LlmReader(metadata=metadata, connection=connection)
    turns = _responses(connection, reader, key)
    row = connection.execute(titles.format("conversations"), (key,)).fetchone()
    if _is_newer(connection):
        turns = chain(turns, _thread(connection, reader, key))
        row = row or connection.execute(titles.format("threads"), (key,)).fetchone()
    metadata.title = one_line(as_text(row[0])) if row else ""
    messages = whole(reader, turns)
    return reader.conversation(key, messages) if messages else None


LLM_DATABASE = RowFormat(
    agent="llm",
    needed={
        "conversations": frozenset({"id", "name", "model"}),
        "responses": frozenset({"id", "model", "prompt", "system", "response", "conversation_id", "datetime_utc"}),
    },
    listed=_listed,
    conversation=_conversation,
)
