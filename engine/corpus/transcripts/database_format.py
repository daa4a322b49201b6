"""Common base of formats that have sessions and messages as rows of a database."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import apsw
import msgspec

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.formats import Conversation, LineParser, SessionDatabase
from engine.corpus.transcripts.jsonl import LONGEST_LINE, parse_line
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.sqlite_view import SqliteView, looks_like

_MOST_TEXT = 128 * 1024**2
"""Most characters of one session, which is held in memory as a whole."""

Columns = Mapping[str, frozenset[str]]
"""Names of columns by table."""


class RowFormat(msgspec.Struct, kw_only=True):
    """A format of transcripts whose sessions are rows of a database."""

    agent: str
    needed: Columns
    """Tables and columns by which the database is recognised."""
    listed: str
    """SQL query for key, time of the last change and more of each session with messages; a session whose row differs is
    read again. Texts must be cast to BLOB: invalid UTF-8 would be an error.
    """
    version: int
    """Increase this when messages are read differently: stored sessions are then read again."""
    conversation: Callable[[apsw.Connection, str, str], Conversation | None]
    """Function that reads one session, given the connection, the session's key and the database's path."""

    def matches(self, path: str, head: bytes) -> bool:
        if not looks_like(head):
            return False
        with closing(SqliteView(path)) as view:
            return view.read(self._fits)

    def _fits(self, connection: apsw.Connection) -> bool:
        return all(names <= columns(connection, table) for table, names in self.needed.items())

    @contextmanager
    def opened(self, path: str, cancel: CancelToken | None = None) -> Iterator[SessionDatabase]:
        with closing(SqliteView(path, cancel)) as view:
            yield _Sessions(view, self, path)


class _Sessions:
    def __init__(self, view: SqliteView, format: RowFormat, path: str) -> None:
        self._view = view
        self._format = format
        self._path = path

    def keys(self) -> set[str]:
        return set(self.marks())

    def marks(self) -> dict[str, str]:
        rows = self._view.read(lambda connection: connection.execute(self._format.listed).fetchall())
        rows.sort(key=lambda row: _time(row[1]), reverse=True)
        return {as_text(row[0]): self._mark(row) for row in rows}

    def _mark(self, row: tuple[Any, ...]) -> str:
        return hashlib.sha256(msgspec.json.encode((self._format.version, row))).hexdigest()

    def conversation(self, key: str) -> Conversation | None:
        return self._view.read(lambda connection: self._format.conversation(connection, key, self._path))


def columns(connection: apsw.Connection, table: str) -> frozenset[str]:
    """Return the names of a table's columns; empty if the table doesn't exist."""
    return frozenset(name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,)))


def data_of(column: str) -> str:
    """Return the SQL expression for a column with JSON, as bytes; NULL if it is too long to parse."""
    return f"CASE WHEN octet_length({column}) <= {LONGEST_LINE} THEN CAST({column} AS BLOB) END"


def as_text(value: object) -> str:
    """Return the value of a cell as text; empty for NULL."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return "" if value is None else str(value)


def cell(parser: LineParser, data: object) -> Any:
    """Return the JSON value of a cell selected by `data_of`; None, counted as unknown, if there is none."""
    held = data if isinstance(data, bytes) else None
    # Only objects are parsed in bounded steps, so a list is put into one.
    value = None if held is None else parse_line(b'{"value":' + held + b"}")
    if value is None:
        parser.count_unknown("too long" if held is None else "no JSON")
        return None
    return value.get("value")


def whole(parser: LineParser, turns: Iterable[list[Message]]) -> tuple[Message, ...]:
    """Return the messages of a session in order, up to the memory limit."""
    messages: list[Message] = []
    held = 0
    for found in turns:
        size = sum(len(message.text) for message in found)
        if held + size > _MOST_TEXT:
            parser.count_unknown("message of a session that is too long")
            continue
        held += size
        messages += found
    return tuple(messages)


def _time(value: object) -> tuple[bool, float, str]:
    """Return a sort key for times stored as numbers or text."""
    number = isinstance(value, int | float)
    return number, float(value) if isinstance(value, int | float) else 0.0, "" if number else as_text(value)
