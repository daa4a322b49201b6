"""Schema of `user.sqlite`: numbered migrations, which are append-only, as those of the index (`index_schema.py`)."""

import apsw

from engine.store.index_schema import Migration


def _user_1_sync_history(connection: apsw.Connection) -> None:
    connection.execute(
        "CREATE TABLE sync_history (id INTEGER PRIMARY KEY, started REAL NOT NULL, record TEXT NOT NULL)"
    )


def _user_2_approvals(connection: apsw.Connection) -> None:
    # Models approved for embedding without another prompt; the row is removed when nothing is left to embed.
    connection.execute(
        """CREATE TABLE approvals (
            provider TEXT NOT NULL, model TEXT NOT NULL, provider_key TEXT NOT NULL, approved REAL NOT NULL,
            PRIMARY KEY (provider, model, provider_key))"""
    )


def _user_3_batch_jobs(connection: apsw.Connection) -> None:
    # Jobs running at a provider, and the texts whose vectors are still missing (engine/store/batch_jobs.py).
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


def _user_4_agreed_tokens(connection: apsw.Connection) -> None:
    # The approved amount: much more work than that needs a new approval.
    connection.execute("ALTER TABLE approvals ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0")


def _user_5_saved_searches(connection: apsw.Connection) -> None:
    # Queries are stored as JSON, which survives new fields (engine/records/search.py).
    connection.execute(
        "CREATE TABLE saved_searches (name TEXT PRIMARY KEY, used REAL NOT NULL, question TEXT NOT NULL)"
    )
    connection.execute(
        "CREATE TABLE recent_searches (id INTEGER PRIMARY KEY, asked REAL NOT NULL, question TEXT NOT NULL)"
    )


def _user_6_hidden_duplicates(connection: apsw.Connection) -> None:
    # Groups of notes with shared text that the user has hidden, by their keys.
    connection.execute("CREATE TABLE hidden_duplicates (key TEXT PRIMARY KEY, hidden REAL NOT NULL) WITHOUT ROWID")


def _user_7_facts(connection: apsw.Connection) -> None:
    # Facts to remember (engine/store/facts.py). Vectors are removed with their fact, or when its text changes.
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


def _user_8_unseen_notes(connection: apsw.Connection) -> None:
    # Notes written by an agent that the user has not seen yet (`UnseenNotes` in `user_data.py`).
    connection.execute(
        """CREATE TABLE unseen_notes (
            path TEXT PRIMARY KEY, session TEXT NOT NULL, written REAL NOT NULL, digest TEXT NOT NULL)"""
    )


def _user_9_names(connection: apsw.Connection) -> None:
    for table, old, new in (
        ("saved_searches", "question", "query"),
        ("saved_searches", "used", "last_used"),
        ("recent_searches", "question", "query"),
        ("recent_searches", "asked", "searched"),
        ("facts", "waiting", "pending"),
    ):
        connection.execute(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}")
    for table in ("saved_searches", "recent_searches"):  # a quotation mark in a text is escaped: this is the key alone
        connection.execute(f"""UPDATE {table} SET query = replace(query, '"everywhere":', '"allWorkspaces":')""")
    for column in ("origin", "forgotten_by"):
        connection.execute(f"UPDATE facts SET {column} = 'user' WHERE {column} = 'person'")


USER_MIGRATIONS: tuple[Migration, ...] = (
    _user_1_sync_history,
    _user_2_approvals,
    _user_3_batch_jobs,
    _user_4_agreed_tokens,
    _user_5_saved_searches,
    _user_6_hidden_duplicates,
    _user_7_facts,
    _user_8_unseen_notes,
    _user_9_names,
)
