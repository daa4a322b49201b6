"""What stands in `index.sqlite`: numbered migrations for the shared tables, and the tables of one generation.

Migrations are append-only: once released, a function here never changes. Tables of a generation carry its number in
their name; a rebuild fills the next number's tables and one UPDATE of `meta` makes them the current ones.
"""

from collections.abc import Callable
from dataclasses import dataclass

import apsw

FTS_TOKENIZER = "ascii tokenchars '._-+#/@:'"
FTS_COLUMNS = ("title", "heading", "name", "words", "stems")


def _m001_shared_tables(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID")
    # What the copies of the vectors outside this file are checked against: ids and stamps begin anew in another file.
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


MIGRATIONS: tuple[Callable[[apsw.Connection], None], ...] = (_m001_shared_tables,)


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
            end_line INTEGER NOT NULL, hash BLOB NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL)"""
    )
    connection.execute(f"CREATE INDEX {tables.chunks}_file ON {tables.chunks} (file_id)")
    connection.execute(f"CREATE INDEX {tables.chunks}_hash ON {tables.chunks} (hash)")
    connection.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (tables.chunks, first_chunk_id - 1))
    connection.execute(
        f"""CREATE VIRTUAL TABLE {tables.fts} USING fts5 (
            {", ".join(FTS_COLUMNS)}, content='', contentless_delete=1, tokenize="{FTS_TOKENIZER}")"""
    )
    connection.execute(f"CREATE VIRTUAL TABLE {tables.terms} USING fts5vocab ({tables.fts}, 'col')")


def generations_present(connection: apsw.Connection) -> list[int]:
    """Numbers of the generations that have tables, in rising order."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'files_[0-9]*'")
    return sorted(int(name.removeprefix("files_")) for (name,) in rows)
