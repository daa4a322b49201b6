"""The tables of `user.sqlite`, as steps from each version of the file to the next."""

import apsw

from engine.store.migrations import Migration


def _m001_sync_history(connection: apsw.Connection) -> None:
    connection.execute(
        "CREATE TABLE sync_history (id INTEGER PRIMARY KEY, started REAL NOT NULL, record TEXT NOT NULL)"
    )


def _m002_approvals(connection: apsw.Connection) -> None:
    # Models whose vectors may be completed without another approval; a row is removed when nothing is left to embed.
    connection.execute(
        """CREATE TABLE approvals (
            provider TEXT NOT NULL, model TEXT NOT NULL, provider_key TEXT NOT NULL, approved REAL NOT NULL,
            PRIMARY KEY (provider, model, provider_key))"""
    )


def _m003_batch_jobs(connection: apsw.Connection) -> None:
    # Running jobs at a provider, and the texts whose vectors are outstanding (engine/store/batch_jobs.py).
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
    # The approved amount: work that has grown much since needs another approval.
    connection.execute("ALTER TABLE approvals ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0")


def _m005_kept_searches(connection: apsw.Connection) -> None:
    # Queries are JSON that survives new fields (engine/records/saved_searches.py).
    connection.execute(
        "CREATE TABLE saved_searches (name TEXT PRIMARY KEY, used REAL NOT NULL, question TEXT NOT NULL)"
    )
    connection.execute(
        "CREATE TABLE recent_searches (id INTEGER PRIMARY KEY, asked REAL NOT NULL, question TEXT NOT NULL)"
    )


def _m006_hidden_duplicates(connection: apsw.Connection) -> None:
    # Groups of notes that share text and that the user has hidden, by key.
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
    # Session notes that an agent wrote and the user has not been shown yet (engine/store/unseen_notes.py).
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
