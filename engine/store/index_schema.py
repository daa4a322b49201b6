"""Schema of `index.sqlite`: numbered migrations, the tables of one generation, and their removal.

Migrations are append-only: once released, a function here never changes. Tables of a generation carry its number in
their name; a rebuild fills the next number's tables, and one UPDATE of `meta` makes them current.

Dropping a large table is one long transaction that overwrites every page (`secure_delete`), which blocks other writers
and fills the write-ahead log. A renamed table blocks nothing, and removal resumes after a kill.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import apsw
import msgspec

from engine.base.errors import IndexTooNew
from engine.base.language import tr
from engine.store.connection import transaction

FTS_TOKENIZER = "ascii tokenchars '._-+#/@:'"
FTS_COLUMNS = ("title", "heading", "name", "words", "stems", "aliases")
IN_TEXT_ORDER = "start_line, id"
"""Order of the chunks of one file. A session only grows, so its chunks are also in the order of their ids; a note's
are not once an earlier part of it was changed.
"""
ROLES = ("user", "assistant", "tool", "system")
_OF_FILES = (
    "chunks", "sessions", "session_usage", "session_requests", "request_marks", "tool_uses",
    "tags", "front_matter", "links", "link_names",
)  # fmt: skip
"""Tables with rows of files."""

Migration = Callable[[apsw.Connection], None]

_PREFIX = "discarded_"
_STEP_SECONDS = 0.03


def _index_11(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID")
    # `identity` identifies this file to external copies of its vectors, since ids and stamps restart in another file.
    connection.execute("INSERT INTO meta VALUES ('generation', 1), ('identity', lower(hex(randomblob(8))))")
    connection.execute(
        """CREATE TABLE models (
            id INTEGER PRIMARY KEY, provider TEXT NOT NULL, model TEXT NOT NULL, provider_key TEXT NOT NULL,
            dims INTEGER NOT NULL, UNIQUE (provider, model, provider_key))"""
    )
    # The only table of vectors (float16, little-endian, unit length); chunks refer to it by the hash of their text.
    # `used` is the second in which the last chunk with this text left the index, or in which the vector was added.
    connection.execute(
        """CREATE TABLE embedding_cache (
            id INTEGER PRIMARY KEY, model_id INTEGER NOT NULL REFERENCES models (id), hash BLOB NOT NULL,
            vector BLOB NOT NULL, used INTEGER NOT NULL, UNIQUE (model_id, hash))"""
    )
    connection.execute("CREATE INDEX embedding_cache_hash ON embedding_cache (hash)")
    # Files that the last sync did not index.
    connection.execute(
        """CREATE TABLE issues (
            kind TEXT NOT NULL, path TEXT NOT NULL, rule TEXT NOT NULL, detail TEXT NOT NULL)"""
    )
    create_generation(connection, Tables(1), first_chunk_id=1)


def _index_12(connection: apsw.Connection) -> None:
    for generation in generations_present(connection):
        _create_chunk_rows(connection, Tables(generation))


def _index_13(connection: apsw.Connection) -> None:
    for generation in generations_present(connection):
        _add_earlier_dates(connection, Tables(generation))


FIRST_INDEX_FORMAT = 11
"""Format made by the first migration. Files with earlier ones are from before the first release, and are replaced."""
INDEX_MIGRATIONS: tuple[Migration, ...] = (_index_11, _index_12, _index_13)
INDEX_FORMAT = FIRST_INDEX_FORMAT + len(INDEX_MIGRATIONS) - 1


class Tables(msgspec.Struct, frozen=True):
    """Names of the tables of one generation."""

    generation: int

    @property
    def files(self) -> str:
        return f"files_{self.generation}"

    @property
    def chunks(self) -> str:
        return f"chunks_{self.generation}"

    @property
    def chunk_rows(self) -> str:
        """The chunks, as `c`, read from an index of ids, files, lines and hashes: texts are on many pages."""
        return f"{self.chunks} c INDEXED BY {self.chunks}_row"

    @property
    def hashes_without_vector(self) -> str:
        """Hashes of the texts without a vector of a model, whose id is the query's parameter.

        SQLite merges two indexes in their order, in a third of the time of a look-up for each chunk.
        """
        return f"(SELECT hash FROM {self.chunks} EXCEPT SELECT hash FROM embedding_cache WHERE model_id = ?)"

    @property
    def sessions(self) -> str:
        """Metadata of the sessions among the files."""
        return f"sessions_{self.generation}"

    @property
    def session_usage(self) -> str:
        """Tokens and cost of the sessions, by model."""
        return f"session_usage_{self.generation}"

    @property
    def session_requests(self) -> str:
        """Requests of the sessions, to find those that another session has copied."""
        return f"session_requests_{self.generation}"

    @property
    def request_marks(self) -> str:
        """A sample of the ids of requests, to find sessions that may share some."""
        return f"request_marks_{self.generation}"

    @property
    def tags(self) -> str:
        """Name of the table with the tags of notes."""
        return f"tags_{self.generation}"

    @property
    def front_matter(self) -> str:
        """Aliases and dates from the front matter of notes."""
        return f"front_matter_{self.generation}"

    @property
    def links(self) -> str:
        """Links of the notes to other notes and blocks."""
        return f"links_{self.generation}"

    @property
    def link_names(self) -> str:
        """Names by which links find a note or a block."""
        return f"link_names_{self.generation}"

    @property
    def tool_uses(self) -> str:
        """Files and commands of the tool calls in sessions."""
        return f"tool_uses_{self.generation}"

    @property
    def transcripts(self) -> str:
        """Files that sessions are read from, each with the reading position, or the reason why it is not read."""
        return f"transcripts_{self.generation}"

    @property
    def fts(self) -> str:
        return f"chunks_fts_{self.generation}"

    @property
    def terms(self) -> str:
        """Document frequencies of the terms, by column, read from the keyword index itself."""
        return f"chunks_terms_{self.generation}"


def create_generation(connection: apsw.Connection, tables: Tables, *, first_chunk_id: int) -> None:
    """Create the empty tables of a generation.

    Chunk ids are never reused, not even across generations: the vector matrix relies on an id identifying one text.
    """
    connection.execute(
        f"""CREATE TABLE {tables.files} (
            id INTEGER PRIMARY KEY, source TEXT NOT NULL, path TEXT NOT NULL, hash TEXT NOT NULL,
            mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, title TEXT NOT NULL, language TEXT NOT NULL,
            UNIQUE (source, path))"""
    )
    connection.execute(f"CREATE INDEX {tables.files}_language ON {tables.files} (language)")
    connection.execute(
        f"""CREATE TABLE {tables.chunks} (
            id INTEGER PRIMARY KEY AUTOINCREMENT, file_id INTEGER NOT NULL, start_line INTEGER NOT NULL,
            end_line INTEGER NOT NULL, hash BLOB NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL,
            places BLOB)"""
    )
    # `places` (JSON) gives the message of a session that each part of the text is from; NULL for notes.
    connection.execute(f"CREATE INDEX {tables.chunks}_file ON {tables.chunks} (file_id)")
    connection.execute(f"CREATE INDEX {tables.chunks}_hash ON {tables.chunks} (hash)")
    _create_chunk_rows(connection, tables)
    connection.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (tables.chunks, first_chunk_id - 1))
    connection.execute(
        f"""CREATE VIRTUAL TABLE {tables.fts} USING fts5 (
            {", ".join(FTS_COLUMNS)}, content='', contentless_delete=1, tokenize="{FTS_TOKENIZER}")"""
    )
    connection.execute(f"CREATE VIRTUAL TABLE {tables.terms} USING fts5vocab ({tables.fts}, 'col')")
    _create_sessions(connection, tables)
    _create_query_language(connection, tables)
    _create_front_matter(connection, tables)
    _create_session_usage(connection, tables)
    _create_tool_uses(connection, tables)
    _create_session_requests(connection, tables)
    _create_links(connection, tables)


def _create_chunk_rows(connection: apsw.Connection, tables: Tables) -> None:
    """Create the index from which searches read the rows of chunks without their texts, a page for some 200 of them."""
    connection.execute(
        f"""CREATE INDEX IF NOT EXISTS {tables.chunks}_row
            ON {tables.chunks} (id, file_id, start_line, end_line, hash)"""
    )


def _create_sessions(connection: apsw.Connection, tables: Tables) -> None:
    connection.execute(
        f"""CREATE TABLE {tables.sessions} (
            file_id INTEGER PRIMARY KEY, transcript TEXT NOT NULL, agent TEXT NOT NULL, session_id TEXT NOT NULL,
            project TEXT NOT NULL, branch TEXT NOT NULL, parent TEXT NOT NULL, started REAL, ended REAL,
            messages INTEGER NOT NULL, bytes INTEGER NOT NULL, unknown INTEGER NOT NULL DEFAULT 0,
            rewound TEXT NOT NULL DEFAULT '', active REAL, pauses TEXT NOT NULL DEFAULT '')"""
    )
    connection.execute(f"CREATE INDEX {tables.sessions}_transcript ON {tables.sessions} (transcript)")
    # `state` lets a reader resume where the transcript ended; NULL if it must start over.
    connection.execute(
        f"""CREATE TABLE {tables.transcripts} (
            path TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, state BLOB, rule TEXT NOT NULL,
            detail TEXT NOT NULL)"""
    )


def _create_query_language(connection: apsw.Connection, tables: Tables) -> None:
    """Create tables and indexes that only query operators use: tags, and the roles of speakers in a chunk."""
    connection.execute(
        f"""CREATE TABLE {tables.tags} (
            tag TEXT NOT NULL, file_id INTEGER NOT NULL, PRIMARY KEY (tag, file_id)) WITHOUT ROWID"""
    )
    connection.execute(f"CREATE INDEX {tables.tags}_file ON {tables.tags} (file_id)")
    for role in ROLES:
        connection.execute(
            f"""CREATE INDEX {tables.chunks}_{role} ON {tables.chunks} (id)
                WHERE {role_condition(role)}"""
        )


def _create_front_matter(connection: apsw.Connection, tables: Tables) -> None:
    # `aliases` has one alias per line.
    connection.execute(
        f"""CREATE TABLE {tables.front_matter} (
            file_id INTEGER PRIMARY KEY, aliases TEXT NOT NULL, dated REAL, evergreen INTEGER NOT NULL)"""
    )
    _add_earlier_dates(connection, tables)


def _add_earlier_dates(connection: apsw.Connection, tables: Tables) -> None:
    """Add the column of a note's dates before the latest one, separated by spaces, unless the table has it."""
    if all(column[1] != "earlier" for column in connection.execute(f"PRAGMA table_info({tables.front_matter})")):
        connection.execute(f"ALTER TABLE {tables.front_matter} ADD COLUMN earlier TEXT NOT NULL DEFAULT ''")


def stored_dates(dated: float | None, earlier: str | None) -> tuple[float, ...]:
    """Return the dates of a row of `front_matter`, ascending, in seconds since the epoch; empty if there is no row."""
    return (*map(float, (earlier or "").split()), *(() if dated is None else (dated,)))


def _create_session_usage(connection: apsw.Connection, tables: Tables) -> None:
    # NULL is unknown: the transcript doesn't record it. `cost` is the agent's own, in US dollars.
    connection.execute(
        f"""CREATE TABLE {tables.session_usage} (
            file_id INTEGER NOT NULL, model TEXT NOT NULL, input INTEGER, output INTEGER, cache_read INTEGER,
            cache_write INTEGER, cache_write_hour INTEGER, cost REAL, PRIMARY KEY (file_id, model)) WITHOUT ROWID"""
    )


def _create_session_requests(connection: apsw.Connection, tables: Tables) -> None:
    # `requests` has a line of JSON for each. Sessions with the same mark may have the same requests.
    connection.execute(f"CREATE TABLE {tables.session_requests} (file_id INTEGER PRIMARY KEY, requests BLOB NOT NULL)")
    connection.execute(
        f"""CREATE TABLE {tables.request_marks} (
            digest INTEGER NOT NULL, file_id INTEGER NOT NULL, PRIMARY KEY (digest, file_id)) WITHOUT ROWID"""
    )
    connection.execute(f"CREATE INDEX {tables.request_marks}_file ON {tables.request_marks} (file_id)")


def _create_tool_uses(connection: apsw.Connection, tables: Tables) -> None:
    # `value` is a command or the path of a file, relative to the session's project if the file is in it. `time` is that
    # of the message, else of the session's last one.
    connection.execute(
        f"""CREATE TABLE {tables.tool_uses} (
            file_id INTEGER NOT NULL, line INTEGER NOT NULL, ordinal INTEGER NOT NULL, kind TEXT NOT NULL,
            value TEXT NOT NULL, time REAL NOT NULL)"""
    )
    connection.execute(f"CREATE INDEX {tables.tool_uses}_file ON {tables.tool_uses} (file_id, line)")
    connection.execute(
        f"""CREATE INDEX {tables.tool_uses}_path ON {tables.tool_uses} (value, file_id)
            WHERE kind <> 'command'"""
    )
    connection.execute(
        f"""CREATE INDEX {tables.tool_uses}_time ON {tables.tool_uses} (time)
            WHERE kind IN ('created', 'deleted', 'edited')"""
    )


def _create_links(connection: apsw.Connection, tables: Tables) -> None:
    # `key` is the folded last part of `target`, by which the names of the notes are looked up.
    connection.execute(
        f"""CREATE TABLE {tables.links} (
            file_id INTEGER NOT NULL, line INTEGER NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,
            target TEXT NOT NULL, anchor TEXT NOT NULL, context TEXT NOT NULL)"""
    )
    connection.execute(f"CREATE INDEX {tables.links}_file ON {tables.links} (file_id)")
    connection.execute(f"CREATE INDEX {tables.links}_key ON {tables.links} (key)")
    connection.execute(
        f"""CREATE TABLE {tables.link_names} (
            key TEXT NOT NULL, kind TEXT NOT NULL, file_id INTEGER NOT NULL, line INTEGER NOT NULL)"""
    )
    connection.execute(f"CREATE INDEX {tables.link_names}_key ON {tables.link_names} (key)")
    connection.execute(f"CREATE INDEX {tables.link_names}_file ON {tables.link_names} (file_id)")


def role_condition(role: str) -> str:
    """Return an SQL condition that a chunk contains text of this role, written as in the role's partial index.

    An offset is a JSON array that ends with the role; quotation marks inside JSON strings are always escaped.
    """
    ending = f'"{role}"]'.encode().hex()
    return f"instr(places, x'{ending}') > 0"


def generations_present(connection: apsw.Connection) -> list[int]:
    """Return the numbers of the generations that have tables, ascending."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'files_[0-9]*'")
    return sorted(int(name.removeprefix("files_")) for (name,) in rows)


def version_of(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version") or 0)


def refuse_newer(connection: apsw.Connection, database: Path, newest: int) -> None:
    """Raise `IndexTooNew` for a file written by a newer program; the file is not modified. `newest`: known version."""
    version = version_of(connection)
    if version > newest:
        raise IndexTooNew(
            tr(
                "{file} was written by a newer version of Mnemoscope (format {found}, this one knows {known}): update "
                "Mnemoscope, or choose another folder with `store.path` in the settings.",
                file=database,
                found=version,
                known=newest,
            )
        )


def migrate(connection: apsw.Connection, database: Path, migrations: Sequence[Migration], first: int = 1) -> None:
    """Apply the missing migrations, each in its own transaction; `first`: number of the first. Raises `IndexTooNew`."""
    refuse_newer(connection, database, first + len(migrations) - 1)
    for number, step in enumerate(migrations, start=first):
        if version_of(connection) >= number:
            continue
        with transaction(connection):
            # Another process may have migrated while this one waited for the lock.
            if version_of(connection) < number:
                step(connection)
                connection.pragma("user_version", number)


def copy_file(connection: apsw.Connection, old: Tables, new: Tables, file_id: int) -> list[int]:
    """Copy the rows of a file to another generation, except those of the keyword index; returns the new chunk ids.

    The copy has no hash and another time, so that the file counts as changed.
    """
    connection.execute(
        f"""INSERT INTO {new.files} SELECT NULL, source, path, '', mtime_ns + 1, size, title, language
            FROM {old.files} WHERE id = ?""",
        (file_id,),
    )
    copy = connection.last_insert_rowid()
    replaced = {"id": "NULL", "file_id": "?2"}
    for name in _OF_FILES:
        table = getattr(old, name)
        columns = [column for _, column, *_ in connection.execute(f"PRAGMA table_info({table})")]
        values = ", ".join(replaced.get(column, column) for column in columns)
        order = f" ORDER BY {IN_TEXT_ORDER}" if name == "chunks" else ""
        connection.execute(
            f"""INSERT INTO {getattr(new, name)} ({", ".join(columns)})
                SELECT {values} FROM {table} WHERE file_id = ?1{order}""",
            (file_id, copy),
        )
    connection.execute(
        f"""INSERT OR IGNORE INTO {new.transcripts} (path, mtime_ns, size, rule, detail)
            SELECT path, 0, size, rule, detail FROM {old.transcripts}
            WHERE path = (SELECT transcript FROM {new.sessions} WHERE file_id = ?)""",
        (copy,),
    )
    return [id_ for (id_,) in connection.execute(f"SELECT id FROM {new.chunks} WHERE file_id = ? ORDER BY id", (copy,))]


class KeywordRow(msgspec.Struct, frozen=True):
    """The columns of a chunk in the keyword index, in the order of `FTS_COLUMNS`."""

    id: int
    streams: tuple[str, ...]
    session: bool


def keyword_rows(connection: apsw.Connection, tables: Tables, ids: Sequence[int]) -> Iterator[KeywordRow]:
    """Yield the rows of chunks in the keyword index, made from the stored texts, in the order of the ids."""
    from engine.text import analyse, analyse_both

    marks = ",".join("?" * len(ids))
    rows: list[tuple[int, str, str, int, str, str, str, str]] = list(
        connection.execute(
            f"""SELECT c.id, c.text, replace(c.heading, char(31), char(10)), f.source = 'sessions', f.path, f.title,
                f.language, coalesce(n.aliases, '')
            FROM {tables.chunks} c JOIN {tables.files} f ON f.id = c.file_id
            LEFT JOIN {tables.front_matter} n ON n.file_id = f.id WHERE c.id IN ({marks}) ORDER BY c.id""",
            tuple(ids),
        )
    )
    for id_, text, heading, session, path, title, language, aliases in rows:
        analysed = analyse(text, language)
        name = "" if session else path
        short = [analyse_both(part, language) for part in (title, heading, name, aliases)]
        yield KeywordRow(id_, (*short[:3], analysed.words, analysed.stems, short[3]), bool(session))


def discard_generation(connection: apsw.Connection, tables: Tables) -> None:
    """Discard the tables of a generation, in the caller's transaction."""
    connection.execute(f"DROP TABLE IF EXISTS {tables.terms}")
    # The data of the keyword index; FTS5 itself drops its remaining small tables.
    discard_table(connection, f"{tables.fts}_data")
    connection.execute(f"DROP TABLE IF EXISTS {tables.fts}")
    discard_table(connection, tables.chunks)
    discard_table(connection, tables.transcripts)
    discard_table(connection, tables.tool_uses)
    discard_table(connection, tables.links)
    discard_table(connection, tables.link_names)
    connection.execute(f"DROP TABLE IF EXISTS {tables.sessions}")
    connection.execute(f"DROP TABLE IF EXISTS {tables.session_usage}")
    discard_table(connection, tables.session_requests)
    connection.execute(f"DROP TABLE IF EXISTS {tables.request_marks}")
    connection.execute(f"DROP TABLE IF EXISTS {tables.tags}")
    connection.execute(f"DROP TABLE IF EXISTS {tables.front_matter}")
    connection.execute(f"DROP TABLE IF EXISTS {tables.files}")


def discard_table(connection: apsw.Connection, table: str) -> None:
    """Rename a table for later removal, if it exists, and drop its small indexes, in the caller's transaction."""
    if table not in _tables(connection, table):
        return
    query = "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
    for (index,) in connection.execute(query, (table,)).fetchall():
        connection.execute(f"DROP INDEX {index}")
    numbers = {int(name.removeprefix(_PREFIX)) for name in discarded_tables(connection)}
    connection.execute(f"ALTER TABLE {table} RENAME TO {_PREFIX}{max(numbers, default=0) + 1}")


def discarded_tables(connection: apsw.Connection) -> list[str]:
    """Return the names of renamed tables that are still to be deleted."""
    return list(_tables(connection, f"{_PREFIX}[0-9]*"))


def delete_discarded_rows(connection: apsw.Connection) -> bool:
    """Delete a few rows of discarded tables, in the caller's transaction; returns False when nothing is left."""
    waiting = discarded_tables(connection)
    if not waiting:
        return False
    table = waiting[0]
    delete = f"DELETE FROM {table} WHERE _rowid_ = (SELECT min(_rowid_) FROM {table})"
    end = time.monotonic() + _STEP_SECONDS
    connection.execute(delete)
    while connection.changes() and time.monotonic() < end:
        connection.execute(delete)
    if not connection.changes():
        connection.execute(f"DROP TABLE {table}")
    return True


def _tables(connection: apsw.Connection, pattern: str) -> Iterator[str]:
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB ?", (pattern,))
    return (name for (name,) in rows)
