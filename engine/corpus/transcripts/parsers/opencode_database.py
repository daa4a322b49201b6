"""opencode's database: all sessions of a machine in one SQLite file, since version 1.2 of February 2026.

Written from its public source and from reports of users, up to autumn 2026: `opencode.db` (other channels of the
program: `opencode-<channel>.db`) in `~/.local/share/opencode`, or the file that `OPENCODE_DB` names. Version 1 has the
tables `session`, `message` and `part`; the contents of the former files (`opencode`) are JSON in a column `data`.
Version 2, since September 2026, has `session_v2` and `session_message` in the same file, one row per message, its kind
in a column and its order in `seq`. The first start of version 2 copies the sessions of version 1 and leaves the
originals unchanged. Some users start both: a session in both, under one id, is read from where it was changed last.
Kilo has `session_message` without `session_v2`: its rows repeat `message` and `part`, except for sessions that only
programs started through its newer API.

The program changes rows in place while an answer arrives, and not always the row of their session: so a session's
mark also covers its last messages.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import apsw

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.database_format import OpenSessions, columns, mark_of, whole
from engine.corpus.transcripts.formats import Conversation, DatabaseFormat, SessionDatabase
from engine.corpus.transcripts.json_values import member
from engine.corpus.transcripts.jsonl import LONGEST_LINE, parse_line
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.parsers.opencode import OpencodeReader, mark_undone, session_metadata
from engine.corpus.transcripts.sqlite_view import SqliteView, tables

_DERIVED = frozenset({"icodemate", "kilo", "mimocode"})
_OLDER = frozenset({"session", "message", "part"})
_NEWER = frozenset({"session_v2", "session_message"})
_SHARED = _OLDER | {"session_message"}
_LAST = 8
"""Number of messages at the end of a session that may still change."""

# Read as bytes: invalid UTF-8 in one session would be an error for all of them.
_TEXTS = "CAST(title AS BLOB), CAST(directory AS BLOB), CAST(parent_id AS BLOB)"
_LISTED = f"""SELECT CAST(id AS BLOB), time_updated, {_TEXTS} FROM {{sessions}} s
    WHERE EXISTS (SELECT 1 FROM {{messages}} m WHERE m.session_id = s.id)"""
_END_OF_OLDER = f"""SELECT m.id, m.time_updated, count(p.id), max(p.time_updated)
    FROM (SELECT id, time_updated, time_created FROM message WHERE session_id = ?
          ORDER BY time_created DESC, id DESC LIMIT {_LAST}) m
    LEFT JOIN part p ON p.message_id = m.id GROUP BY m.id ORDER BY m.id"""
_END_OF_NEWER = f"SELECT id, time_updated FROM session_message WHERE session_id = ? ORDER BY seq DESC LIMIT {_LAST}"
_DATA = f"CASE WHEN octet_length(data) <= {LONGEST_LINE} THEN CAST(data AS BLOB) END"
_METADATA = f"SELECT {_TEXTS}, {{revert}}, time_created, time_updated FROM {{sessions}} WHERE id = ?"
_MESSAGES = f"SELECT id, time_created, {_DATA} FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS = f"SELECT {_DATA} FROM part WHERE message_id = ? ORDER BY id"
_ENTRIES = f"SELECT id, type, time_created, {_DATA} FROM session_message WHERE session_id = ? ORDER BY seq"


class OpencodeDatabase(DatabaseFormat):
    """Format of opencode's database, or of an agent derived from it, recognised by the folder's name."""

    agent = "opencode"

    def matches(self, path: str, connection: apsw.Connection) -> bool:
        folder = os.path.basename(os.path.dirname(path))
        owner = folder if folder in _DERIVED else "opencode"
        known = tables(connection) if owner == self.agent else frozenset()
        return known >= _OLDER or known >= _NEWER

    @contextmanager
    def opened(self, path: str, cancel: CancelToken | None = None) -> Iterator[SessionDatabase]:
        with closing(SqliteView(path, cancel)) as view:
            yield _Sessions(view, self.agent)


class _Sessions(OpenSessions):
    def rows(self, connection: apsw.Connection) -> Mapping[str, object]:
        return _listed(connection)

    def read(self, connection: apsw.Connection, key: str) -> Conversation | None:
        return _conversation(connection, key)

    def marks(self) -> dict[str, str]:
        return self.view.read(_marks)


def _listed(connection: apsw.Connection) -> dict[str, tuple[Any, ...]]:
    """Return generation and row of each session with messages, by key; last changed first."""
    entries: dict[str, tuple[Any, ...]] = {}
    for newer, sessions, messages in _generations(connection):
        query = _LISTED.format(sessions=sessions, messages=messages)
        for id_, *rest in connection.execute(query):
            key = _text(id_)
            if key not in entries or _replaces(sessions, _time(rest[0]), _time(entries[key][1])):
                entries[key] = (2 if newer else 1, *rest)
    return dict(sorted(entries.items(), key=lambda item: _time(item[1][1]), reverse=True))


def _generations(connection: apsw.Connection) -> Iterator[tuple[bool, str, str]]:
    """Yield the pairs of tables with sessions and their messages, and whether they are of the newer generation."""
    known = tables(connection)
    if known >= _OLDER:
        yield False, "session", "message"
    if known >= _NEWER:
        yield True, "session_v2", "session_message"
    elif known >= _SHARED:
        yield True, "session", "session_message"


def _replaces(sessions: str, time: float, before: float) -> bool:
    """Whether a session in the newer table `sessions` is read instead of the older one with its id."""
    return sessions != "session" and time >= before


def _time(value: object) -> float:
    return value if isinstance(value, int | float) else 0


def _text(value: bytes | None) -> str:
    return (value or b"").decode(errors="replace")


def _marks(connection: apsw.Connection) -> dict[str, str]:
    marks: dict[str, str] = {}
    for key, known in _listed(connection).items():
        try:
            marks[key] = _mark(connection, key, known)
        except apsw.InterruptError:
            raise
        except (apsw.Error, UnicodeDecodeError):
            marks[key] = ""  # reading this one reports the error; the others are unchanged
    return marks


def _mark(connection: apsw.Connection, key: str, known: tuple[Any, ...]) -> str:
    table, end = ("session_message", _END_OF_NEWER) if known[0] == 2 else ("message", _END_OF_OLDER)
    count = connection.execute(f"SELECT count(*) FROM {table} WHERE session_id = ?", (key,)).fetchall()
    last = connection.execute(end, (key,)).fetchall()
    return mark_of((known, count, last))


def _conversation(connection: apsw.Connection, key: str) -> Conversation | None:
    known = _listed_one(connection, key)
    if known is None:
        return None
    newer, (title, directory, parent, revert, created) = known
    texts = {"title": _text(title), "directory": _text(directory), "parentID": _text(parent)}
    reader = OpencodeReader(metadata=session_metadata(key, {**texts, "time": {"created": created}}))
    messages = whole(reader, (_entries if newer else _messages)(connection, key, reader))
    mark_undone(reader.metadata, messages, parse_line(revert or b"") or {})
    requests = tuple(reader.take_requests())
    return reader.conversation(key, messages, requests=requests)


def _listed_one(connection: apsw.Connection, key: str) -> tuple[bool, tuple[Any, ...]] | None:
    """Return whether a session is of the newer generation, and its row; None if it doesn't exist."""
    found: tuple[float, bool, tuple[Any, ...]] | None = None
    for newer, sessions, messages in _generations(connection):
        if connection.execute(f"SELECT 1 FROM {messages} WHERE session_id = ?", (key,)).fetchone():
            revert = "CAST(revert AS BLOB)" if "revert" in columns(connection, sessions) else "NULL"
            row = connection.execute(_METADATA.format(revert=revert, sessions=sessions), (key,)).fetchone()
            if row is not None and (found is None or _replaces(sessions, _time(row[-1]), found[0])):
                found = _time(row[-1]), newer, tuple(row[:-1])
    return found and found[1:]


def _messages(connection: apsw.Connection, key: str, reader: OpencodeReader) -> Iterator[list[Message]]:
    for id_, created, data in connection.execute(_MESSAGES, (key,)):
        value = _value(data, reader)
        parts = [_value(part, reader) for (part,) in connection.execute(_PARTS, (id_,))]
        if value:
            yield reader.message(str(id_), _timed(value, created), parts)


def _entries(connection: apsw.Connection, key: str, reader: OpencodeReader) -> Iterator[list[Message]]:
    for id_, kind, created, data in connection.execute(_ENTRIES, (key,)):
        value = _value(data, reader)
        if value:
            yield reader.entry(str(id_), str(kind), _timed(value, created))


def _value(data: bytes | None, reader: OpencodeReader) -> Mapping[str, Any]:
    """Return the JSON object in a row; an empty one, counted as unknown, if there is none."""
    value = None if data is None else parse_line(data)
    if value is None:
        reader.count_unknown("too long" if data is None else "no JSON")
    return value or {}


def _timed(value: Mapping[str, Any], created: object) -> Mapping[str, Any]:
    return value if member(value, "time", "created") else {**value, "time": {"created": created}}
