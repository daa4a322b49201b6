"""Schema of `index.sqlite`: numbered migrations for the shared tables, and the tables of one generation.

Migrations are append-only: once released, a function here never changes. Tables of a generation carry its number in
their name; a rebuild fills the next number's tables, and one UPDATE of `meta` makes them current.
"""

from collections.abc import Callable
from dataclasses import dataclass

import apsw

FTS_TOKENIZER = "ascii tokenchars '._-+#/@:'"
FTS_COLUMNS = ("title", "heading", "name", "words", "stems", "aliases")
"""New columns are appended: generations made by earlier versions have only the first five."""
ROLES = ("user", "assistant", "tool", "system")


def _m001_shared_tables(connection: apsw.Connection) -> None:
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
        """Metadata of the sessions among the files."""
        return f"sessions_{self.generation}"

    @property
    def tags(self) -> str:
        """Tags of the notes."""
        return f"tags_{self.generation}"

    @property
    def front_matter(self) -> str:
        """Aliases and dates from the front matter of notes."""
        return f"front_matter_{self.generation}"

    @property
    def transcripts(self) -> str:
        """Files that sessions are read from: reading position, or the reason why not."""
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
    # `state` lets a reader resume where the transcript ended; NULL if it must start over.
    connection.execute(
        f"""CREATE TABLE IF NOT EXISTS {tables.transcripts} (
            path TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, state BLOB, rule TEXT NOT NULL,
            detail TEXT NOT NULL)"""
    )


def _create_query_language(connection: apsw.Connection, tables: Tables) -> None:
    """Create tables and indexes for query operators only: tags, and the roles of speakers in a chunk."""
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
    # `aliases` has one alias per line.
    connection.execute(
        f"""CREATE TABLE IF NOT EXISTS {tables.front_matter} (
            file_id INTEGER PRIMARY KEY, aliases TEXT NOT NULL, dated REAL, evergreen INTEGER NOT NULL)"""
    )


def spoken_by(role: str) -> str:
    """SQL condition that a chunk contains text of this role, written exactly as in the role's partial index.

    A place is a JSON array that ends with the role; quotation marks inside JSON strings are always escaped.
    """
    ending = f'"{role}"]'.encode().hex()
    return f"instr(places, x'{ending}') > 0"


def generations_present(connection: apsw.Connection) -> list[int]:
    """Numbers of the generations that have tables, in rising order."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'files_[0-9]*'")
    return sorted(int(name.removeprefix("files_")) for (name,) in rows)
