"""Hermes Agent: all sessions in `~/.hermes/state.db`; older versions wrote files (`hermes_files`).

Written from its public source (`hermes_state.py` and its schema, summer 2026). `sessions` have a title, a folder, a
branch and a parent session: the one that they continue after a compaction, that the user forked, or that started them
as a sub-agent. A sub-agent's session has the source "subagent" or a mark in `model_config`; before there were marks,
the parent of any other session had ended when that began. `messages` are as in the chat completions API. `HERMES_HOME`
names another folder. Rows that are no longer `active` are read too. A command that loads a skill is stored with the
skill's text, and read as it was typed (`agent/skill_commands.py`, autumn 2026). The output tokens include reasoning
(`agent/usage_pricing.py`). Since summer 2026, `session_model_usage` has the tokens of each model, and also of tasks
such as compaction.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import apsw

from engine.corpus.transcripts.database_format import RowFormat, as_text, cell, columns, data_of, row_of, rows_of, whole
from engine.corpus.transcripts.formats import Conversation, Part
from engine.corpus.transcripts.json_values import seconds
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Message, SessionMetadata
from engine.corpus.transcripts.model_api_messages import ChatParser
from engine.corpus.transcripts.token_usage import counted, dollars

_METADATA = "started_at title cwd git_branch"
_PART, _FORKED = "_delegate_from", ("_branched_from", "_reset_from")
"""Marks of sessions that have another as parent."""
_REASONING = ("reasoning_content", "reasoning")
_COUNTS = "input_tokens output_tokens cache_read_tokens cache_write_tokens"
_MAX_USED = 1000
"""Maximum number of rows of one session's usage that are read."""
_STRUCTURED = b"\0json:"
"""Prefix of content in JSON, such as text with images."""
_INSERTED = (
    "[CONTEXT COMPACTION",
    "[Your active task list was preserved",
    "[ASYNC DELEGATION",
    "[IMPORTANT: Background process",
)
"""Beginnings of texts that the program adds with the user's role."""
_FAILURES = ('"exit_code"', '"error"', '"success"')
_SKILL = re.compile(r'\[(?:IMPORTANT|SYSTEM): The user has invoked the "([^"\n]{1,200})" skill( bundle)?')
_INSTRUCTION = "The user has provided the following instruction alongside the skill invocation: "
_NOTE = "\n\n[Runtime note:"
_BUNDLE_INSTRUCTION, _FIRST_SKILL = "\nUser instruction: ", "\n\n[Loaded as part of the "
_AUTO_LOADED_SKILL = re.compile(r'\[IMPORTANT: The "[^"\n]{1,200}" skill is auto-loaded\.')
_SKILL_END = "then run them with the terminal tool using the absolute path."
"""Last words of the text of a skill that is loaded without a command; the user's own words follow."""


def _conversation(connection: apsw.Connection, key: str, _path: str) -> Conversation:
    row = row_of(connection, "sessions", _METADATA, key)
    started, title, folder, branch = row.values()
    metadata = SessionMetadata.of(
        key, title=title, project=folder, branch=branch, parent=_parent(connection, key), started=started
    )
    reader = ChatParser(metadata=metadata)
    _count_tokens(connection, key, reader)
    return reader.conversation(key, whole(reader, _turns(connection, key, reader)))


def _parent(connection: apsw.Connection, key: str) -> str:
    """Return the id of the session that started this one as its sub-agent's; empty if none did."""
    known = columns(connection, "sessions")
    config = data_of("s.model_config") if "model_config" in known else "NULL"
    ended = "p.ended_at, CAST(p.end_reason AS BLOB)" if known >= {"ended_at", "end_reason"} else "NULL, NULL"
    query = f"""SELECT CAST(s.parent_session_id AS BLOB), CAST(s.source AS BLOB), {config}, s.started_at, {ended}
        FROM sessions s LEFT JOIN sessions p ON p.id = s.parent_session_id WHERE s.id = ?"""
    parent, source, config_, started, end, reason = next(connection.execute(query, (key,)))
    marks = parse_line(config_) if isinstance(config_, bytes) else None
    if as_text(source) == "subagent" or (marks and marks.get(_PART)):
        return as_text(parent)
    went_on = as_text(reason) in ("compression", "branched") and (seconds(started) or 0) >= (seconds(end) or 0)
    return "" if went_on or (marks and any(map(marks.get, _FORKED))) else as_text(parent)


def _count_tokens(connection: apsw.Connection, key: str, reader: ChatParser) -> None:
    """Add the usage of each model, or else the totals in the session's row, as far as the database has them."""
    for table, session in (("session_model_usage", "session_id"), ("sessions", "id")):
        for row in islice(
            rows_of(connection, table, f"model {_COUNTS} actual_cost_usd estimated_cost_usd", session, key), _MAX_USED
        ):
            usage = counted(row, _COUNTS)
            usage.cost = dollars(row["actual_cost_usd"]) or dollars(row["estimated_cost_usd"])
            reader.use(row["model"], usage)
        if any(usage.is_recorded for usage in reader.metadata.usage.values()):
            return


def _turns(connection: apsw.Connection, key: str, reader: ChatParser) -> Iterator[list[Message]]:
    known = columns(connection, "messages")
    reasoning = [f"nullif({name}, '')" for name in _REASONING if name in known]
    query = f"""SELECT CAST(role AS BLOB), timestamp, {data_of("content")}, {data_of("tool_calls")},
        CAST(tool_call_id AS BLOB), {"CAST(tool_name AS BLOB)" if "tool_name" in known else "NULL"},
        CAST(coalesce({", ".join([*reasoning, "NULL", "NULL"])}) AS BLOB)
        FROM messages WHERE session_id = ? ORDER BY id"""
    for role, time, content, calls, call, tool, thought in connection.execute(query, (key,)):
        message: dict[str, Any] = {
            "role": as_text(role),
            "content": _content(reader, content),
            "tool_calls": None if calls in (None, b"") else cell(reader, calls),
            "tool_call_id": as_text(call),
            "name": as_text(tool),
            "reasoning_content": as_text(thought),
        }
        yield reader.next_message(parts_by_author(reader.chat_parts(message)), time=seconds(time))


def parts_by_author(parts: Iterable[Part]) -> list[Part]:
    """Return the parts of a message, with text that the program added to the user's as separate ones, and with failed
    results marked.
    """
    marked = (part._replace(failed=True) if part.kind == "tool-result" and _failed(part) else part for part in parts)
    return [own for part in marked for own in (_by_author(part) if part.role == "user" else [part])]


def _failed(result: Part) -> bool:
    """Return whether a result is an error, by the rules of the program (`agent/display.py`, autumn 2026)."""
    if not result.text.startswith("{") or not any(mark in result.text for mark in _FAILURES):
        return False
    value = parse_line(result.text.encode(errors="replace")) or {}
    if result.tool == "terminal":
        return value.get("exit_code") not in (None, 0)
    return bool(value.get("error")) or (value.get("success") is False and bool(value.get("message")))


def _by_author(part: Part) -> list[Part]:
    """Return the text of the user, and separately the text that the program added to it."""
    text = part.text
    if text.startswith(_INSERTED):
        return [part._replace(role="system")]
    if command := _SKILL.match(text):
        # A bundle's instruction is before its skills. A single skill may quote the words before its own instruction.
        if command[2]:
            request = text.partition(_BUNDLE_INSTRUCTION)[2].partition(_FIRST_SKILL)[0]
        else:
            request = text.rpartition(_INSTRUCTION)[2].partition(_NOTE)[0] if _INSTRUCTION in text else ""
        typed = f"/{command[1].removeprefix('/')} {request.strip()}".strip()
    elif _AUTO_LOADED_SKILL.match(text):
        typed = text.rpartition(_SKILL_END)[2].strip() if _SKILL_END in text else ""
    else:
        return [part]
    return [part._replace(text=typed), part._replace(role="system")]


def _content(reader: ChatParser, content: object) -> Any:
    if isinstance(content, bytes) and content.startswith(_STRUCTURED):
        return cell(reader, content.removeprefix(_STRUCTURED))
    return as_text(content)


HERMES_DATABASE = RowFormat(
    agent="hermes",
    needed={
        "sessions": frozenset({"id", "source", "title", "started_at", "parent_session_id"}),
        "messages": frozenset({"id", "session_id", "role", "content", "tool_calls", "tool_call_id", "timestamp"}),
    },
    listed="""SELECT CAST(s.id AS BLOB), max(m.timestamp), CAST(s.title AS BLOB), count(*), max(m.id),
        sum(octet_length(m.content)) FROM sessions s JOIN messages m ON m.session_id = s.id GROUP BY s.id""",
    conversation=_conversation,
)
