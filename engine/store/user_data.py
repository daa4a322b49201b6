"""`user.sqlite`: what cannot be rebuilt. The history of syncs, what embedding was agreed to, open batch jobs, what
was searched for, facts, and notes to tell of.

Everything here is written with synchronous=FULL, and copied aside before each migration: nothing may destroy it.
"""

import contextlib
import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import apsw
import msgspec

from engine.errors import IndexCorrupt
from engine.language import tr
from engine.private_files import create_private
from engine.records import KeptSync, SyncSummary
from engine.store.connection import number, open_connection
from engine.store.failures import translated
from engine.store.migrations import Migration, migrate, refuse_newer, version_of
from engine.store.models import ModelName

_KEPT_SYNCS = 500
_BEFORE = ".before-"
_Sync = TypeVar("_Sync", bound=SyncSummary)


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


class UserData:
    """Thread-safe; one connection, since its transactions are few and tiny.

    Raises `IndexTooNew`, `IndexReadOnly` and the other errors of `engine.store.failures`, but not for a damaged file:
    that is left as it is, nothing is read from it or written to it, and `problem` says so.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """`read_only`: nothing is kept, as where the folder cannot be written; a missing file reads as empty."""
        self._path = path
        self._lock = threading.Lock()
        self._keeps = not read_only
        self.problem = ""
        """Empty, or one sentence about a damaged file."""
        try:
            with translated(path):
                self._connection = _for_reading(path) if read_only else self._for_writing()
        except IndexCorrupt:
            self._connection = _empty()
            self._leave_alone()

    @property
    def keeps(self) -> bool:
        """Whether anything can be written."""
        return self._keeps

    @contextlib.contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """One transaction, with nobody else at it from the beginning, also no other process; only where `keeps`."""
        with self._lock, translated(self._path):
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")  # else what is read in it may be another when it writes
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """The connection, with nobody else at it."""
        with self._lock, translated(self._path):
            yield self._connection

    def settle(self) -> None:
        """Move what was written from the log into the file itself, so that what was deleted is in neither."""
        with self.reading() as connection, contextlib.suppress(apsw.BusyError):  # another process reads: it will do it
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def delete_in_copies(self, table: str, key: str = "", values: Sequence[str] = ()) -> None:
        """Delete what the copies that migrations have left hold in a table, so that what was forgotten is gone.

        Without a `key` all rows, else those that have one of `values` in this column.
        """
        for copy in self._path.parent.glob(f"{self._path.name}{_BEFORE}*"):
            with translated(copy), contextlib.closing(apsw.Connection(str(copy))) as connection:
                connection.pragma("secure_delete", 1)
                if not number(connection, "SELECT count(*) FROM sqlite_schema WHERE name = ?", (table,)):
                    continue
                if key:
                    connection.executemany(f"DELETE FROM {table} WHERE {key} = ?", [(value,) for value in values])
                else:
                    connection.execute(f"DELETE FROM {table}")

    def add_sync(self, summary: KeptSync) -> None:
        if not self._keeps:
            return
        with self.writing() as connection:
            connection.execute(
                "INSERT INTO sync_history (started, record) VALUES (?, ?)",
                (summary.started, msgspec.json.encode(summary).decode()),
            )
            connection.execute(
                "DELETE FROM sync_history WHERE id <= (SELECT max(id) FROM sync_history) - ?", (_KEPT_SYNCS,)
            )

    def recent_syncs(self, count: int) -> tuple[SyncSummary, ...]:
        """The last syncs, newest last; without those that another version of the program noted in its own way."""
        return self._syncs(count, SyncSummary)

    def kept_syncs(self) -> tuple[KeptSync, ...]:
        """All syncs that are kept, in the same way."""
        return self._syncs(_KEPT_SYNCS, KeptSync)

    def _syncs(self, count: int, kind: type[_Sync]) -> tuple[_Sync, ...]:
        with self.reading() as connection:
            query = "SELECT record FROM sync_history ORDER BY id DESC LIMIT ?"
            try:
                rows = connection.execute(query, (count,)).fetchall()
            except apsw.CorruptError:
                self._leave_alone()
                return ()
        found = []
        for (record,) in reversed(rows):
            with contextlib.suppress(msgspec.MsgspecError):
                found.append(msgspec.json.decode(record, type=kind))
        return tuple(found)

    def approve(self, name: ModelName, tokens: int) -> None:
        """Note that someone agreed to embed so much with this model, in place of what was agreed to before."""
        if not self._keeps:
            return
        with self.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO approvals VALUES (?, ?, ?, ?, ?)", (*name, time.time(), tokens))

    def end_approval(self, name: ModelName) -> None:
        """Forget it."""
        if not self._keeps:
            return
        with self.writing() as connection:
            connection.execute("DELETE FROM approvals WHERE provider = ? AND model = ? AND provider_key = ?", name)

    def approved_tokens(self, name: ModelName) -> int:
        """How much someone agreed to embed with this model, in tokens; 0 without an approval."""
        query = "SELECT tokens FROM approvals WHERE provider = ? AND model = ? AND provider_key = ?"
        with self.reading() as connection:
            return number(connection, query, name)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _for_writing(self) -> apsw.Connection:
        with contextlib.suppress(OSError):  # then SQLite says why
            create_private(self._path)
        connection = apsw.Connection(str(self._path))
        try:
            connection.set_busy_timeout(5000)
            connection.pragma("journal_mode", "wal")
            connection.pragma("synchronous", 2)
            connection.pragma("secure_delete", 1)
            refuse_newer(connection, self._path, MIGRATIONS)
            if 0 < version_of(connection) < len(MIGRATIONS):
                self._back_up(connection)
            migrate(connection, self._path, MIGRATIONS)
            _check(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _leave_alone(self) -> None:
        self._keeps = False
        self.problem = tr(
            "{file}, which holds facts, saved searches and the history of updates, is damaged and left as it is: move "
            "it away to begin a new one.",
            file=self._path,
        )

    def _back_up(self, connection: apsw.Connection) -> None:
        target = self._path.with_name(f"{self._path.name}{_BEFORE}{len(MIGRATIONS)}")
        target.unlink(missing_ok=True)  # of a migration that was broken off
        copy = apsw.Connection(str(target))
        try:
            copy.pragma("journal_mode", "off")  # nothing but the copy shall ever lie there
            with copy.backup("main", connection, "main") as backup:
                backup.step()
        finally:
            copy.close()


def _for_reading(path: Path) -> apsw.Connection:
    if path.exists():
        # A frozen one sees nothing of what another connection has just written.
        connection = open_connection(path, "reader" if os.access(path.parent, os.W_OK) else "frozen reader")
        try:
            refuse_newer(connection, path, MIGRATIONS)
            _check(connection)
        except BaseException:
            connection.close()
            raise
        if version_of(connection) == len(MIGRATIONS):
            return connection
        connection.close()
    return _empty()


def _check(connection: apsw.Connection) -> None:
    """Raise apsw's error for a damaged file; some milliseconds. Else a damaged table would end all that reads it."""
    if connection.pragma("quick_check", 1) != "ok":
        raise apsw.CorruptError("quick_check found damage")


def _empty() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    for step in MIGRATIONS:
        step(connection)
    return connection
