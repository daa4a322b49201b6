"""The tables of `user.sqlite`, as steps from each version of the file to the next."""

from contextlib import closing
from functools import cache

import apsw

from engine.store.migrations import Migration


def _m001_sync_history(connection: apsw.Connection) -> None:
    connection.execute(
        "CREATE TABLE sync_history (id INTEGER PRIMARY KEY, started REAL NOT NULL, record TEXT NOT NULL)"
    )


def _m002_approvals(connection: apsw.Connection) -> None:
    # Models whose vectors may be completed without another question; a row goes when nothing is left to embed.
    connection.execute(
        """CREATE TABLE approvals (
            provider TEXT NOT NULL, model TEXT NOT NULL, provider_key TEXT NOT NULL, approved REAL NOT NULL,
            PRIMARY KEY (provider, model, provider_key))"""
    )


def _m003_batch_jobs(connection: apsw.Connection) -> None:
    # Jobs under way at a provider, and the texts whose vectors they still owe (engine/store/batch_jobs.py).
    connection.execute(
        """CREATE TABLE batch_jobs (
            name TEXT PRIMARY KEY, provider TEXT NOT NULL, model TEXT NOT NULL, provider_key TEXT NOT NULL,
            created REAL NOT NULL, attempt INTEGER NOT NULL, texts INTEGER NOT NULL, input_file TEXT NOT NULL,
            job TEXT NOT NULL, state TEXT NOT NULL, stopped REAL)"""
    )
    connection.execute(
        """CREATE TABLE batch_texts (
            job TEXT NOT NULL, hash BLOB NOT NULL, tokens INTEGER NOT NULL, PRIMARY KEY (job, hash)) WITHOUT ROWID"""
    )


def _m004_agreed_tokens(connection: apsw.Connection) -> None:
    # How much was agreed to: work that has grown much since is asked for anew.
    connection.execute("ALTER TABLE approvals ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0")


def _m005_kept_searches(connection: apsw.Connection) -> None:
    # Questions are JSON that survives new fields (engine/records/kept_searches.py).
    connection.execute(
        "CREATE TABLE saved_searches (name TEXT PRIMARY KEY, used REAL NOT NULL, question TEXT NOT NULL)"
    )
    connection.execute(
        "CREATE TABLE recent_searches (id INTEGER PRIMARY KEY, asked REAL NOT NULL, question TEXT NOT NULL)"
    )


def _m006_hidden_duplicates(connection: apsw.Connection) -> None:
    # Groups of notes that share text and that the person does not want to see, by what names them.
    connection.execute("CREATE TABLE hidden_duplicates (key TEXT PRIMARY KEY, hidden REAL NOT NULL) WITHOUT ROWID")


def _m007_facts(connection: apsw.Connection) -> None:
    # What is to be remembered (engine/store/facts.py). Vectors go with their fact, and when its text changes.
    connection.execute(
        """CREATE TABLE facts (
            id TEXT PRIMARY KEY, text TEXT NOT NULL, category TEXT NOT NULL, importance REAL NOT NULL,
            created REAL NOT NULL, changed REAL NOT NULL, origin TEXT NOT NULL, session_key TEXT NOT NULL,
            waiting INTEGER NOT NULL, forgotten REAL, forgotten_by TEXT)"""
    )
    connection.execute(
        """CREATE TABLE fact_vectors (
            fact TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, provider_key TEXT NOT NULL,
            vector BLOB NOT NULL, PRIMARY KEY (fact, provider, model, provider_key)) WITHOUT ROWID"""
    )


def _m008_unseen_notes(connection: apsw.Connection) -> None:
    # Notes that an agent had written and that the person has not been told of yet (engine/store/unseen_notes.py).
    connection.execute(
        """CREATE TABLE unseen_notes (
            path TEXT PRIMARY KEY, session TEXT NOT NULL, written REAL NOT NULL, digest TEXT NOT NULL)"""
    )


MIGRATIONS: tuple[Migration, ...] = (
    _m001_sync_history,
    _m002_approvals,
    _m003_batch_jobs,
    _m004_agreed_tokens,
    _m005_kept_searches,
    _m006_hidden_duplicates,
    _m007_facts,
    _m008_unseen_notes,
)

_KINDS = {
    "REAL": "'real', 'integer', 'null'",
    "INTEGER": "'integer', 'null'",
    "TEXT": "'text', 'null'",
    "BLOB": "'blob', 'null'",
}


def check_content(connection: apsw.Connection) -> None:
    """Raise `apsw.CorruptError` where a file of the newest version lacks a column or holds values of another kind.

    For SQLite such a file is sound; each of its readers would fail in its own way.
    """
    for table, columns in _expected().items():
        others = " OR ".join(f"typeof({name}) NOT IN ({_KINDS[kind]})" for name, kind in columns.items())
        texts = ", ".join(name for name, kind in columns.items() if kind == "TEXT")
        try:
            if connection.execute(f"SELECT 1 FROM {table} WHERE {others} LIMIT 1").fetchone():
                raise apsw.CorruptError(f"{table} holds values of another kind")
            for _ in connection.execute(f"SELECT {texts} FROM {table}"):
                pass  # what is no UTF-8 cannot be read
        except (apsw.SQLError, UnicodeDecodeError) as error:
            raise apsw.CorruptError(str(error)) from error


@cache
def _expected() -> dict[str, dict[str, str]]:
    """The declared type of each column of each table."""
    with closing(apsw.Connection(":memory:")) as made:
        for step in MIGRATIONS:
            step(made)
        tables = [name for (name,) in made.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {table: {row[1]: row[2] for row in made.execute(f"PRAGMA table_info({table})")} for table in tables}
