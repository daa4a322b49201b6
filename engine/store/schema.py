"""The schema of `index.sqlite`: numbered migrations for the shared tables, and the tables of one generation.

Migrations are append-only: once released, a function here never changes. Tables of a generation have its number in
their name; a rebuild fills the next number's tables and one UPDATE of `meta` makes them current.
"""

from collections.abc import Callable
from dataclasses import dataclass

import apsw

FTS_TOKENIZER = "ascii tokenchars '._-+#/@:'"
FTS_COLUMNS = ("title", "heading", "name", "words", "stems", "aliases")
"""New ones are appended: a generation that an earlier program made has the first five only."""
ROLES = ("user", "assistant", "tool", "system")


def _m001_shared_tables(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID")
    # Copies of the vectors outside this file are checked against it: ids and stamps start again in another file.
    connection.execute("INSERT INTO meta VALUES ('generation', 1), ('identity', lower(hex(randomblob(8))))")
    connection.execute(
        """CREATE TABLE models (
            id INTEGER PRIMARY KEY, provider TEXT NOT NULL, model TEXT NOT NULL, provider_key TEXT NOT NULL,
            dims INTEGER NOT NULL, UNIQUE (provider, model, provider_key))"""
    )
    # The one home of vectors (float16, little-endian, unit length); chunks refer to it by the hash of their text.
    # `used` is the second at which the last chunk with this text left the index, or at which the vector came.
    connection.execute(
        """CREATE TABLE embedding_cache (
            id INTEGER PRIMARY KEY, model_id INTEGER NOT NULL REFERENCES models (id), hash BLOB NOT NULL,
            vector BLOB NOT NULL, used INTEGER NOT NULL, UNIQUE (model_id, hash))"""
    )
    connection.execute("CREATE INDEX embedding_cache_hash ON embedding_cache (hash)")
    # Files that are not in the index, as the last sync found them.
    connection.execute(
        """CREATE TABLE issues (
            kind TEXT NOT NULL, path TEXT NOT NULL, rule TEXT NOT NULL, detail TEXT NOT NULL)"""
    )
    create_generation(connection, Tables(1), first_chunk_id=1)


def _m002_sessions(connection: apsw.Connection) -> None:
    for generation in generations_present(connection):
        tables = Tables(generation)
        columns = {name for _, name, *_ in connection.execute(f"PRAGMA table_info({tables.chunks})")}
        if "places" not in columns:
            connection.execute(f"ALTER TABLE {tables.chunks} ADD COLUMN places BLOB")
        _create_sessions(connection, tables)


def _m003_query_language(connection: apsw.Connection) -> None:
    for generation in generations_present(connection):
        _create_query_language(connection, Tables(generation))


def _m004_front_matter(connection: apsw.Connection) -> None:
    for generation in generations_present(connection):
        _create_front_matter(connection, Tables(generation))


MIGRATIONS: tuple[Callable[[apsw.Connection], None], ...] = (
    _m001_shared_tables,
    _m002_sessions,
    _m003_query_language,
    _m004_front_matter,
)


@dataclass(frozen=True)
class Tables:
    """Names of the tables of one generation."""

    generation: int

    @property
    def files(self) -> str:
        return f"files_{self.generation}"

    @property
    def chunks(self) -> str:
        return f"chunks_{self.generation}"

    @property
    def sessions(self) -> str:
        """What is known of the sessions among the files."""
        return f"sessions_{self.generation}"

    @property
    def tags(self) -> str:
        """The tags of the notes."""
        return f"tags_{self.generation}"

    @property
    def front_matter(self) -> str:
        """The aliases and dates of the notes that have them in the front matter."""
        return f"front_matter_{self.generation}"

    @property
    def transcripts(self) -> str:
        """The files that sessions are read from: how far, and why not."""
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

    Chunk ids are never used twice, not even across generations: the vector matrix relies on an id naming one text.
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
    # `places` (JSON) has the message of a session for each part of the text; NULL for notes.
    connection.execute(f"CREATE INDEX {tables.chunks}_file ON {tables.chunks} (file_id)")
    connection.execute(f"CREATE INDEX {tables.chunks}_hash ON {tables.chunks} (hash)")
    connection.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (tables.chunks, first_chunk_id - 1))
    connection.execute(
        f"""CREATE VIRTUAL TABLE {tables.fts} USING fts5 (
            {", ".join(FTS_COLUMNS)}, content='', contentless_delete=1, tokenize="{FTS_TOKENIZER}")"""
    )
    connection.execute(f"CREATE VIRTUAL TABLE {tables.terms} USING fts5vocab ({tables.fts}, 'col')")
    _create_sessions(connection, tables)
    _create_query_language(connection, tables)
    _create_front_matter(connection, tables)


def _create_sessions(connection: apsw.Connection, tables: Tables) -> None:
    connection.execute(
        f"""CREATE TABLE IF NOT EXISTS {tables.sessions} (
            file_id INTEGER PRIMARY KEY, transcript TEXT NOT NULL, agent TEXT NOT NULL, session_id TEXT NOT NULL,
            project TEXT NOT NULL, branch TEXT NOT NULL, parent TEXT NOT NULL, started REAL, ended REAL,
            messages INTEGER NOT NULL, bytes INTEGER NOT NULL)"""
    )
    connection.execute(f"CREATE INDEX IF NOT EXISTS {tables.sessions}_transcript ON {tables.sessions} (transcript)")
    # `state` is what a reader needs to continue where the transcript ended; NULL to read it from the beginning.
    connection.execute(
        f"""CREATE TABLE IF NOT EXISTS {tables.transcripts} (
            path TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, state BLOB, rule TEXT NOT NULL,
            detail TEXT NOT NULL)"""
    )


def _create_query_language(connection: apsw.Connection, tables: Tables) -> None:
    """Create the tables that only query operators use: tags, and the roles in a chunk."""
    connection.execute(
        f"""CREATE TABLE IF NOT EXISTS {tables.tags} (
            tag TEXT NOT NULL, file_id INTEGER NOT NULL, PRIMARY KEY (tag, file_id)) WITHOUT ROWID"""
    )
    connection.execute(f"CREATE INDEX IF NOT EXISTS {tables.tags}_file ON {tables.tags} (file_id)")
    for role in ROLES:
        connection.execute(
            f"""CREATE INDEX IF NOT EXISTS {tables.chunks}_{role} ON {tables.chunks} (id)
                WHERE {spoken_by(role)}"""
        )


def _create_front_matter(connection: apsw.Connection, tables: Tables) -> None:
    # One alias on each line.
    connection.execute(
        f"""CREATE TABLE IF NOT EXISTS {tables.front_matter} (
            file_id INTEGER PRIMARY KEY, aliases TEXT NOT NULL, dated REAL, evergreen INTEGER NOT NULL)"""
    )


def spoken_by(role: str) -> str:
    """Condition that a chunk contains a message of this role, as in its partial index.

    A place is a JSON array that ends with the role; inside a JSON string, quotation marks are escaped.
    """
    ending = f'"{role}"]'.encode().hex()
    return f"instr(places, x'{ending}') > 0"


def generations_present(connection: apsw.Connection) -> list[int]:
    """Numbers of the generations that have tables, in rising order."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'files_[0-9]*'")
    return sorted(int(name.removeprefix("files_")) for (name,) in rows)
