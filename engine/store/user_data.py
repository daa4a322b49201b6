"""`user.sqlite`: data that cannot be rebuilt.

It holds the sync history, approvals of embedding, open batch jobs, saved and recent searches, facts, and unseen notes.
It is written with synchronous=FULL and has backups (`backups.py`), so that nothing destroys or silently replaces it. A
damaged, empty or missing file is reported; a backup is restored only at the user's request.
"""

import contextlib
import errno
import os
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import apsw
import msgspec

from engine.base.bounded_json import decode_json
from engine.base.errors import DiskFull, IndexBusy, IndexCorrupt, IndexReadOnly
from engine.base.language import marked, tr
from engine.base.private_files import create_private, temporary_path
from engine.records import StoredSync, SyncSummary
from engine.settings import Settings
from engine.store.backups import Backups, changed_at, check, copy_database
from engine.store.connection import (
    creation_error,
    has_free_space,
    number,
    open_connection,
    read_only_message,
    transaction,
    translated,
)
from engine.store.index_paths import IndexFiles, usable_index_files
from engine.store.index_schema import migrate, refuse_newer, version_of
from engine.store.stored_models import ModelName
from engine.store.user_data_schema import USER_MIGRATIONS

if TYPE_CHECKING:
    from engine.records import UserDataStatus, WrittenNote

_STORED_SYNCS = 500
_Sync = TypeVar("_Sync", bound=SyncSummary)
_DAMAGED = marked(
    "{file} is damaged. It holds your facts, saved searches and update history. It stays unchanged, and "
    "nothing more is saved."
)
_EMPTY = marked(
    "{file} is empty, although it held your facts, saved searches and update history. Nothing more is saved."
)
_MISSING = marked(
    "{file} is missing, although it held your facts, saved searches and update history. Nothing more is saved."
)
_NO_BACKUP = marked(
    "There is no usable backup. To start with empty data, move away all files whose names begin with {name}."
)


class UserData:
    """The user's data of one workspace. Thread-safe; has one connection, since transactions are few and tiny.

    Raises `IndexTooNew` and the other errors of `engine.store.connection`, but not for a damaged, empty or missing
    file: then nothing is written, `problem` describes it, and `restore` recovers a backup. In a read-only folder and on
    a full disk it saves nothing, until there is room. If another process replaces the file, the new one is opened.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """`read_only`: save nothing; a missing file reads as empty."""
        self.path = path
        self._lock = threading.RLock()
        self._for_reading_only = read_only
        self._read_only = ""
        """Why the file cannot be written; empty if it can."""
        self._disk_full = False
        """Whether it cannot be written because the disk was full."""
        self._backups = Backups(path)
        self._in_use = False
        """Whether the connection is in use and must not be replaced."""
        self._closed = False
        self._problem = ""
        self._connection: apsw.Connection
        self._opened: tuple[int, int] | None
        self._lost: apsw.Connection | None = None
        """Connection to a file that was deleted while open; all its data is still readable."""
        self.openings = 0
        """Number of times the file was opened; it may have been replaced each time."""
        self._open()

    @property
    def can_save(self) -> bool:
        """Whether data can be saved."""
        return not self.read_only_reason

    @property
    def read_only_reason(self) -> str:
        """Message about why nothing can be saved; empty if saving works."""
        with self._lock:
            return self.problem or self._read_only

    @property
    def problem(self) -> str:
        """Message about a damaged, empty or missing file; empty if there is no problem."""
        with self._lock:
            self._check_file()
            return self._problem

    def status(self) -> "UserDataStatus | None":
        """Return the problem and the time of the backup that can be restored; None if there is no problem."""
        from engine.records import UserDataStatus

        with self._lock:
            if not self.problem:
                return None
            if self._read_only:
                return UserDataStatus(problem=self._problem, backup=None)
            if self._lost is not None:
                return UserDataStatus(problem=self._problem, backup=time.time())
            backup = self._backups.newest_usable(len(USER_MIGRATIONS))
            if backup is None:
                return UserDataStatus(problem=f"{self._problem} {tr(_NO_BACKUP, name=self.path.name)}", backup=None)
            return UserDataStatus(problem=self._problem, backup=changed_at(backup))

    @contextlib.contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """Open an exclusive transaction, across threads and processes.

        Raises `IndexReadOnly` if nothing can be saved or the file has disappeared, even during the write.
        """
        with self._locked_connection() as connection:
            if refusal := self._problem or self._read_only:
                raise IndexReadOnly(refusal)
            with transaction(connection):
                yield connection
            if _identity(self.path) != self._opened:
                raise IndexReadOnly(tr("{file} was removed or replaced while it was written.", file=self.path))
            self._backups.make_if_due(connection)

    @contextlib.contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Yield the connection for exclusive use within this process."""
        with self._locked_connection() as connection:
            yield connection

    @contextlib.contextmanager
    def _locked_connection(self) -> Iterator[apsw.Connection]:
        with self._lock:
            self._check_file()
            within, self._in_use = self._in_use, True
            try:
                with translated(self.path):
                    yield self._connection
            except IndexCorrupt:
                if within:
                    raise
                # Stop reading from and writing to the damaged file.
                self._connection.close()
                self._connection = _empty()
                self._mark_damaged()
                raise IndexCorrupt(self._problem) from None
            finally:
                self._in_use = within

    def empty_log(self) -> None:
        """Move the write-ahead log into the database, so that deleted data remains in neither."""
        with self.reading() as connection, contextlib.suppress(apsw.BusyError):  # the other process will do it
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def change_in_backups(self, table: str, statement: str, rows: Iterable[tuple[str, ...]] = ((),)) -> None:
        """Run a statement on this table in every backup, so that deleted data is removed there too."""
        with self._lock, translated(self.path):
            self._backups.change(table, statement, rows)

    def restore(self) -> str:
        """Replace a damaged, empty or missing file with the newest usable backup; returns a message about the result.

        The existing file is renamed. If the file was deleted while open, nothing is lost. Returns "" if there is no
        problem. Raises `IndexReadOnly` if there is no backup, and `IndexBusy`.
        """
        from engine.store import integrity

        with self._lock, translated(self.path):
            if not self.problem:
                return ""
            if self._read_only:
                raise IndexReadOnly(self._read_only)
            made = temporary_path(self.path)
            try:
                restored = self._copy_newest(made)
                try:
                    there = self.path.exists()
                    aside = integrity.set_aside(self.path)  # with its log, which fits no other file
                    os.replace(made, self.path)
                except OSError as error:  # Windows can't rename open files
                    raise IndexBusy(
                        tr("{file} is open in another program: close it and try again.", file=self.path)
                    ) from error
            finally:
                with contextlib.suppress(OSError):
                    made.unlink()
            self._open_again()
        if not there:
            return restored
        return f"{restored} " + tr("The previous file was renamed to {file}.", file=aside.name)

    def _copy_newest(self, target: Path) -> str:
        """Copy the deleted file's data if they are intact, else the newest backup; return a sentence about which."""
        if self._lost is not None:
            with contextlib.suppress(apsw.Error):
                check(self._lost)
                copy_database(self._lost, target)
                return tr("Your facts, saved searches and update history were restored completely.")
        backup = self._backups.newest_usable(len(USER_MIGRATIONS))
        if backup is None:
            raise IndexReadOnly(f"{self._problem} {tr(_NO_BACKUP, name=self.path.name)}")
        with contextlib.closing(open_connection(backup, "frozen reader")) as connection:
            copy_database(connection, target)
        made = time.strftime("%Y-%m-%d %H:%M", time.localtime(changed_at(backup)))
        return tr(
            "Your facts, saved searches and update history were restored from the backup of {time}. Later changes are "
            "lost.",
            time=made,
        )

    def add_sync(self, summary: StoredSync) -> None:
        if not self.can_save:
            return
        with self.writing() as connection:
            connection.execute(
                "INSERT INTO sync_history (started, record) VALUES (?, ?)",
                (summary.started, msgspec.json.encode(summary).decode()),
            )
            connection.execute(
                "DELETE FROM sync_history WHERE id <= (SELECT max(id) FROM sync_history) - ?", (_STORED_SYNCS,)
            )

    def recent_syncs(self, count: int) -> tuple[SyncSummary, ...]:
        """Return the last `count` syncs, newest last. Records that this version cannot read are skipped."""
        return self._syncs(count, SyncSummary)

    def stored_syncs(self) -> tuple[StoredSync, ...]:
        """Return all stored syncs, newest last. Records that this version cannot read are skipped."""
        return self._syncs(_STORED_SYNCS, StoredSync)

    def _syncs(self, count: int, kind: type[_Sync]) -> tuple[_Sync, ...]:
        with self.reading() as connection:
            rows = connection.execute("SELECT record FROM sync_history ORDER BY id DESC LIMIT ?", (count,)).fetchall()
        syncs = []
        for (record,) in reversed(rows):
            with contextlib.suppress(ValueError):
                syncs.append(decode_json(record, kind))
        return tuple(syncs)

    def approve(self, name: ModelName, tokens: int) -> None:
        """Store the user's approval to embed this many tokens with a model, replacing an earlier approval."""
        if not self.can_save:
            return
        with self.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO approvals VALUES (?, ?, ?, ?, ?)", (*name, time.time(), tokens))

    def end_approval(self, name: ModelName) -> None:
        """Remove the approval of a model."""
        if not self.can_save:
            return
        with self.writing() as connection:
            connection.execute("DELETE FROM approvals WHERE provider = ? AND model = ? AND provider_key = ?", name)

    def approved_tokens(self, name: ModelName) -> int:
        """Return the number of tokens approved for this model; 0 without an approval."""
        query = "SELECT tokens FROM approvals WHERE provider = ? AND model = ? AND provider_key = ?"
        with self.reading() as connection:
            return number(connection, query, name)

    def close(self) -> None:
        with self._lock:
            if not self._closed and not self.read_only_reason:
                self._backups.make_postponed(self._connection)
            self._closed = True
            self._close_connections()

    def _close_connections(self) -> None:
        self._connection.close()
        if self._lost is not None:
            self._lost.close()
            self._lost = None

    # --- file identity ----------------------------------------------------------------------------------------------

    def _check_file(self) -> None:
        """Detect with one system call whether the file was deleted, emptied or replaced, or is writable again."""
        if self._in_use or self._closed:
            return
        if self._disk_full and has_free_space(self.path.parent):
            self._connection.close()  # a writer would share its view of the log, which is read-only
            self._open_again()
        identity = _identity(self.path)
        if identity == self._opened:
            return
        if identity is not None and identity != _NO_CONTENT:
            self._open_again()
        elif not self._problem:
            self._on_file_lost(identity)

    def _on_file_lost(self, found: "tuple[int, int] | None") -> None:
        """Handle a file that was deleted or emptied while open."""
        was_opened, self._opened = self._opened != _NOT_OPENED, found
        self._problem = tr(_MISSING if found is None else _EMPTY, file=self.path)
        # Closing would otherwise checkpoint the log into a file that has lost the rest.
        self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        if found is None and was_opened:
            self._lost = self._connection
        else:
            self._connection.close()
        self._connection = _empty()

    def _open_again(self) -> None:
        before, self._connection, self._opened = self._connection, _empty(), _NOT_OPENED
        try:
            self._open()
        finally:
            before.close()
        if self._lost is not None:
            self._lost.close()
            self._lost = None

    def _open(self) -> None:
        self.openings += 1
        self._problem = self._read_only = ""
        self._disk_full = False
        identity = _identity(self.path)
        if identity == _NO_CONTENT or (identity is None and self._backups.all()):
            self._opened, self._connection = identity, _empty()
            self._problem = tr(_MISSING if identity is None else _EMPTY, file=self.path)
            return
        try:
            self._connection = self._connect()
        except IndexCorrupt:
            self._connection = _empty()
            self._mark_damaged()
        self._opened = _identity(self.path)

    def _mark_damaged(self) -> None:
        self._problem = tr(_DAMAGED, file=self.path)

    def _connect(self) -> apsw.Connection:
        """Open the file for writing if possible, otherwise for reading."""
        if self._for_reading_only:
            self._read_only = read_only_message(self.path.parent)
        else:
            try:
                with translated(self.path):
                    return self._open_for_writing()
            except (IndexReadOnly, DiskFull) as error:
                self._read_only, self._disk_full = str(error), isinstance(error, DiskFull)
        with translated(self.path):
            return _open_for_reading(self.path)

    def _open_for_writing(self) -> apsw.Connection:
        if not self.path.exists():
            _create(self.path)
        connection = apsw.Connection(str(self.path))
        try:
            connection.set_busy_timeout(5000)
            connection.pragma("journal_mode", "wal")
            connection.pragma("synchronous", 2)
            connection.pragma("secure_delete", 1)
            # Each write reaches the database itself: SQLite silently ignores a log from its first damaged page on.
            connection.pragma("wal_autocheckpoint", 1)
            refuse_newer(connection, self.path, len(USER_MIGRATIONS))
            if 0 < version_of(connection) < len(USER_MIGRATIONS):
                self._backups.make_before(connection, len(USER_MIGRATIONS))
            migrate(connection, self.path, USER_MIGRATIONS)
            check(connection)
        except BaseException:
            connection.close()
            raise
        if self._backups.is_behind() and _was_used(connection):
            self._backups.make_if_due(connection)
        return connection


def _was_used(connection: apsw.Connection) -> bool:
    """Whether the database has any rows worth a backup."""
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    return any(number(connection, f"SELECT EXISTS (SELECT 1 FROM {table})") for (table,) in tables.fetchall())


# Returned by `_identity` for an empty file; this program never leaves one.
_NO_CONTENT = (-1, -1)
# Stored as the identity after the opened file was replaced by one that could not be opened.
_NOT_OPENED = (-2, -2)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of the file, `_NO_CONTENT` for an empty one; None if it does not exist."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    return (state.st_dev, state.st_ino) if state.st_size else _NO_CONTENT


def _create(path: Path) -> None:
    """Create the database atomically, since an empty file always counts as data loss. Raises apsw's errors."""
    aside = temporary_path(path)
    try:
        create_private(aside)
        with contextlib.closing(apsw.Connection(str(aside))) as connection:
            connection.pragma("journal_mode", "memory")
            migrate(connection, path, USER_MIGRATIONS)
        try:
            os.link(aside, path)
        except FileExistsError:
            pass  # another process was faster
        except OSError:  # a file system without links
            os.replace(aside, path)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise apsw.FullError(str(error)) from error
        raise apsw.CantOpenError(str(error)) from error
    finally:
        with contextlib.suppress(OSError):
            aside.unlink()


def _open_for_reading(path: Path) -> apsw.Connection:
    if path.exists():
        connection = open_connection(path, "reader")
        try:
            refuse_newer(connection, path, len(USER_MIGRATIONS))
            check(connection)
        except BaseException:
            connection.close()
            raise
        if version_of(connection) == len(USER_MIGRATIONS):
            return connection
        connection.close()
    return _empty()


def _empty() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    for step in USER_MIGRATIONS:
        step(connection)
    return connection


def open_user_data(workspace: Path, settings: Settings) -> tuple[IndexFiles, UserData]:
    """Return the index files of a workspace, the same for every backend, and its opened `user.sqlite`.

    Raises the store's errors.
    """
    files = usable_index_files(workspace.resolve(), settings.store.path)
    try:
        files.prepare()
    except OSError as error:
        raise creation_error(files.folder, error) from error
    return files, UserData(files.user)


_MAX_UNSEEN = 50


class UnseenNotes:
    """Stores the notes written by agents that the user has not seen. Thread-safe; empty if nothing can be saved."""

    def __init__(self, user: UserData) -> None:
        self._user = user

    def all(self) -> "tuple[WrittenNote, ...]":
        """Return all unseen notes, newest first."""
        from engine.records import WrittenNote

        with self._user.reading() as connection:
            rows = connection.execute("SELECT path, session, written, digest FROM unseen_notes ORDER BY written DESC")
            return tuple(
                WrittenNote(path=path, session=session, written=written, digest=digest)
                for path, session, written, digest in rows
            )

    def add(self, note: "WrittenNote") -> None:
        if not self._user.can_save:
            return
        with self._user.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO unseen_notes VALUES (?, ?, ?, ?)", msgspec.structs.astuple(note))
            connection.execute(
                """DELETE FROM unseen_notes
                   WHERE path NOT IN (SELECT path FROM unseen_notes ORDER BY written DESC LIMIT ?)""",
                (_MAX_UNSEEN,),
            )

    def mark_seen(self, paths: tuple[str, ...]) -> None:
        """Remove notes that the user has seen."""
        if self._user.can_save:
            with self._user.writing() as connection:
                connection.executemany("DELETE FROM unseen_notes WHERE path = ?", [(path,) for path in paths])
