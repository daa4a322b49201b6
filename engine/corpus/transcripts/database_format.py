"""Common base of formats that have sessions and messages as rows of a database."""

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import closing, contextmanager, suppress
from typing import Any

import apsw
import msgspec

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.formats import Conversation, LineParser, SessionDatabase
from engine.corpus.transcripts.jsonl import LONGEST_LINE, parse_line
from engine.corpus.transcripts.messages import Message
from engine.corpus.transcripts.sqlite_view import SqliteView

_BLOCK = 256 * 1024
_WINDOW = 128 * 1024**2
"""Largest decompression window in bytes."""
_MAX_LINES = 1024**3
"""Maximum number of bytes of the lines in one cell; a few bytes of zstd can expand to any number."""
_MAX_TEXT = 128 * 1024**2
"""Maximum number of characters of one session, which is held in memory as a whole."""

_JSON = "{}"
_BYTES = "CASE typeof({0}) WHEN 'text' THEN CAST({0} AS BLOB) ELSE {0} END"

Columns = Mapping[str, frozenset[str]]
"""Names of columns by table."""


class MissingSession(Exception):
    """Raised if a session has no row (any more)."""


class RowFormat(msgspec.Struct, kw_only=True):
    """A format of transcripts whose sessions are rows of a database."""

    agent: str
    needed: Columns
    """Tables and columns by which the database is recognised."""
    listed: str | Callable[[apsw.Connection], str]
    """SQL query for key, time of the last change and more of each session with messages; a session whose row differs is
    read again. Texts must be cast to BLOB: invalid UTF-8 would be an error. A function, if it depends on the tables.
    """
    conversation: Callable[[apsw.Connection, str, str], Conversation | None]
    """Function that reads one session, given the connection, the session's key and the database's path."""
    can_read: Callable[[apsw.Connection, str, str], bool] | None = None
    """Function that returns whether all of a listed session can be read, given the same; None if it always can."""
    elsewhere: Callable[[str], Set[str]] | None = None
    """Function that returns the sessions to leave out, since other files have them, given the database's path."""

    def matches(self, path: str, connection: apsw.Connection) -> bool:
        return all(names <= columns(connection, table) for table, names in self.needed.items())

    @contextmanager
    def opened(self, path: str, cancel: CancelToken | None = None) -> Iterator[SessionDatabase]:
        with closing(SqliteView(path, cancel)) as view:
            yield _Sessions(view, self, path)


class OpenSessions:
    """An open database whose sessions have rows. A subclass reads them."""

    def __init__(self, view: SqliteView, agent: str) -> None:
        self.view = view
        self._agent = agent

    def rows(self, connection: apsw.Connection) -> Mapping[str, object]:
        """Return for each session, by key, values that differ whenever the session does; last changed first."""
        raise NotImplementedError

    def read(self, connection: apsw.Connection, key: str) -> Conversation | None:
        """Return one session, without the agent; None if it doesn't exist (any more)."""
        raise NotImplementedError

    def keys(self) -> set[str]:
        return set(self.view.read(self.rows))

    def can_read(self, key: str) -> bool:
        return True

    def marks(self) -> dict[str, str]:
        return {key: mark_of(row) for key, row in self.view.read(self.rows).items()}

    def conversation(self, key: str) -> Conversation | None:
        found = self.view.read(lambda connection: self.read(connection, key))
        if found is not None:
            found.metadata.agent = self._agent
        return found


def mark_of(row: object) -> str:
    """Return a text that differs for different rows."""
    return hashlib.sha256(msgspec.json.encode(row)).hexdigest()


class _Sessions(OpenSessions):
    def __init__(self, view: SqliteView, format: RowFormat, path: str) -> None:
        super().__init__(view, format.agent)
        self._format = format
        self._path = path

    def rows(self, connection: apsw.Connection) -> Mapping[str, object]:
        listed = self._format.listed
        rows = connection.execute(listed if isinstance(listed, str) else listed(connection)).fetchall()
        rows.sort(key=lambda row: _sort_key_of_time(row[1]), reverse=True)
        elsewhere = self._format.elsewhere(self._path) if self._format.elsewhere else ()
        return {key: row for row in rows if (key := as_text(row[0])) not in elsewhere}

    def read(self, connection: apsw.Connection, key: str) -> Conversation | None:
        with suppress(MissingSession):
            return self._format.conversation(connection, key, self._path)
        return None

    def can_read(self, key: str) -> bool:
        check = self._format.can_read
        return check is None or self.view.read(lambda connection: check(connection, key, self._path))


def columns(connection: apsw.Connection, table: str) -> frozenset[str]:
    """Return the names of a table's columns; empty if the table doesn't exist."""
    return frozenset(name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,)))


def rows_of(  # noqa: PLR0913 - what makes a query
    connection: apsw.Connection,
    table: str,
    names: str,
    column: str,
    key: object,
    order: str = "",
    *,
    has_index: bool = True,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table whose `column` is `key` as objects with these columns, None for those that an older or
    newer database doesn't have. Texts are read as bytes, since invalid UTF-8 would be an error.

    `names`: one that ends in `{}` is a column with JSON, for `cell`.
    """
    known, listed = columns(connection, table), [name.partition(_JSON) for name in names.split()]
    if column not in known:
        return
    read = ((data_of if json else _BYTES.format)(name) if name in known else "NULL" for name, json, _ in listed)
    where = f"{column} = ?" if has_index else rows_with(connection, table, column)
    query = f"SELECT {', '.join(read)} FROM {table} WHERE {where} {order and f'ORDER BY {order}'}"
    for row in connection.execute(query, (key,)):
        yield {
            name: value.decode(errors="replace") if isinstance(value, bytes) and not json else value
            for (name, json, _), value in zip(listed, row, strict=True)
        }


def row_of(connection: apsw.Connection, table: str, names: str, key: object, column: str = "id") -> dict[str, Any]:
    """Return the row of `rows_of`. Raises `MissingSession` if there is none."""
    for row in rows_of(connection, table, names, column, key):
        return row
    raise MissingSession


def rows_with(connection: apsw.Connection, table: str, key: str) -> str:
    """Return the SQL condition that `key`, a column without an index or an expression, equals a parameter.

    A temporary index of the table is made once for each opened database: otherwise each session would search all rows.
    """
    index = f"{table}_keys"
    connection.execute(f"""CREATE TEMP TABLE IF NOT EXISTS {index} AS SELECT {key} AS key, rowid AS row FROM {table};
        CREATE INDEX IF NOT EXISTS temp.{index}_index ON {index} (key)""")
    return f"{table}.rowid IN (SELECT row FROM temp.{index} WHERE key = ?)"


def data_of(column: str) -> str:
    """Return the SQL expression for a column with JSON, as bytes; NULL if it is too long to parse."""
    return f"CASE WHEN octet_length({column}) <= {LONGEST_LINE} THEN CAST({column} AS BLOB) END"


def unpacked(data: bytes) -> bytes | None:
    """Return a cell compressed with zstd; None if it is damaged, or too long to parse."""
    import zstandard  # few agents compress

    found = bytearray()
    unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    try:
        with unpacker.stream_reader(io.BytesIO(data), read_size=_BLOCK, read_across_frames=True) as stream:
            while block := stream.read(_BLOCK):
                found += block
                if len(found) > LONGEST_LINE:
                    return None
    except zstandard.ZstdError:
        return None
    return bytes(found)


def lines_in(data: bytes) -> Iterator[bytes]:
    """Yield the lines in a cell, which may be compressed with zstd; empty lines replace unreadable ones."""
    import zstandard

    source: Any = io.BytesIO(data)
    if data.startswith(zstandard.FRAME_HEADER):
        unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
        source = unpacker.stream_reader(source, read_size=_BLOCK, read_across_frames=True)
    read = 0
    try:
        with io.BufferedReader(source, _BLOCK) as stream:
            while read <= _MAX_LINES and (line := stream.readline(LONGEST_LINE)):
                read += len(line)
                yield line
    except zstandard.ZstdError:
        read = _MAX_LINES + 1
    if read > _MAX_LINES:
        yield b""


def as_text(value: object) -> str:
    """Return the value of a cell as text; empty for NULL."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return "" if value is None else str(value)


def cell(parser: LineParser, data: object) -> Any:
    """Return the JSON value of a cell selected by `data_of`; None, counted as unknown, if there is none."""
    encoded = data if isinstance(data, bytes) else None
    # Only objects are parsed in bounded steps, so a list is put into one.
    value = None if encoded is None else parse_line(b'{"value":' + encoded + b"}")
    if value is None:
        parser.count_unknown("too long" if encoded is None else "no JSON")
        return None
    return value.get("value")


def whole(parser: LineParser, turns: Iterable[list[Message]]) -> tuple[Message, ...]:
    """Return the messages of a session in order, up to the memory limit."""
    messages: list[Message] = []
    size_so_far = 0
    for found in turns:
        size = sum(len(message.text) for message in found)
        if size_so_far + size > _MAX_TEXT:
            parser.count_unknown("message of a session that is too long")
            continue
        size_so_far += size
        messages += found
    return tuple(messages)


def _sort_key_of_time(value: object) -> tuple[bool, float, str]:
    """Return a sort key for times stored as numbers or text."""
    number = isinstance(value, int | float)
    return number, float(value) if isinstance(value, int | float) else 0.0, "" if number else as_text(value)
