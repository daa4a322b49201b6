"""Open connections to a database, pool its readers, lock it for one writing process, and translate SQLite's errors.

The pool is not thread-local: worker threads are short-lived, and connections bound to them would leak. Three readers
wait in a queue; each caller takes one for a short transaction and puts it back.
"""

import contextlib
import errno
import threading
from array import array
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import apsw

from engine.base import lazy_pattern
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, DiskFull, IndexBusy, IndexCorrupt, IndexReadOnly, StoreError
from engine.base.language import tr
from engine.base.private_files import create_private

if TYPE_CHECKING:
    from filelock import FileLock

_SCHEMA_ERRORS = lazy_pattern(
    r"no such \w+|ambiguous column|has no column|already exists|\w+ columns but|file format|malformed|missing"
    r"|vtable constructor"
)
"""SQLite messages for statements that fail because the file's tables are not those of this program."""


@contextmanager
def translated(database: Path) -> Iterator[None]:
    """Replace SQLite's errors in the block by those of the engine, which have messages for the user."""
    try:
        yield
    except apsw.InterruptError:
        raise Cancelled from None
    except apsw.ConnectionClosedError:
        raise Closed from None
    except apsw.FullError as error:
        raise disk_full_error(database.parent) from error
    except (apsw.CorruptError, apsw.NotADBError, apsw.MismatchError, UnicodeDecodeError) as error:
        raise damage_error(database, str(error)) from error
    except apsw.SQLError as error:
        if _SCHEMA_ERRORS.search(str(error)) is None:
            raise
        raise damage_error(database, str(error)) from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise IndexReadOnly(read_only_message(database.parent)) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise IndexBusy(
            tr("Another program is using the index {file}: try again in a moment.", file=database)
        ) from error
    except apsw.IOError as error:
        if database.is_dir():
            raise StoreError(
                tr("{file} is a folder, not a database: move it elsewhere, then try again.", file=database)
            ) from error
        if not has_free_space(database.parent):  # for the WAL's index file, SQLite reports another error
            raise disk_full_error(database.parent) from error
        raise StoreError(
            tr(
                "The index {file} could not be read or written ({reason}). Check the disk and its free space, then try "
                "again.",
                file=database,
                reason=str(error),
            )
        ) from error


def damage_error(database: Path, reason: str) -> IndexCorrupt:
    """Return the engine's error for a damaged database, with advice."""
    return IndexCorrupt(
        tr(
            "The database file {file} seems to be damaged ({reason}). Repair it on the page Health, or run mnemoscope "
            "doctor --repair.",
            file=database,
            reason=reason,
        )
    )


def disk_full_error(folder: Path) -> DiskFull:
    """Return the engine's error for an index on a full disk."""
    return DiskFull(
        tr(
            "The disk is full: nothing more can be indexed or saved until there is room in {folder}. "
            "Nothing saved earlier is lost.",
            folder=folder,
        )
    )


def has_free_space(folder: Path) -> bool:
    """Whether the disk of the folder has room for writing to a database; also true if this can't be determined."""
    import shutil  # a search doesn't write

    try:
        return shutil.disk_usage(folder).free >= _MIN_FREE_BYTES
    except OSError:
        return True


def creation_error(folder: Path, error: OSError) -> StoreError:
    """Return the engine's error for a file that can't be created in the folder of an index."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_full_error(folder)
    return IndexReadOnly(read_only_message(folder))


def read_only_message(folder: Path) -> str:
    """Return the message for an index in a read-only folder."""
    return tr(
        "The index in {folder} cannot be written: make the folder writable or choose another one with `store.path` in "
        "the settings.",
        folder=folder,
    )


READERS = 3
BUSY_MS = 5000
_PAGE_SIZE = 16384
"""Bytes per page. A vector of 1536 dimensions is a row of 3.1 KB. Five fit in such a page; in 8 KB pages two would
waste a quarter.
"""
_WRITER_CACHE_KIB = 16 * 1024
"""Page cache of the writer in KiB; four times as much did not speed up a full index of 10,000 notes."""
_READER_CACHE_KIB = 8 * 1024
_MIN_FREE_BYTES = 1024 * 1024
"""Free bytes from which a disk is not full. Opening a database for writing takes some 100 KB."""
Role = Literal["reader", "frozen reader", "writer"]


def open_connection(
    database: Path, role: Role, check: Callable[[apsw.Connection], None] | None = None
) -> apsw.Connection:
    """Open a connection to the index for reading or writing. A reader needs the file to exist; a writer creates it.

    `check` is called before the connection gets its options, since those of a writer modify the file.

    A reader must be able to write the WAL's index file. On a full disk and in a read-only folder, it becomes a frozen
    reader, which builds that index in memory or, without a WAL, opens the database alone.

    Each pragma needs a separate call: apsw stops at the first statement that yields a row.
    """
    if role == "writer":
        with contextlib.suppress(OSError):  # SQLite then reports the reason
            create_private(database)  # SQLite gives the log the same mode
        return _set_up(apsw.Connection(str(database)), _as_writer, check)
    if role == "reader":
        try:
            return _set_up(apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY), _as_reader, check)
        except (apsw.IOError, apsw.FullError, apsw.CantOpenError, apsw.ReadOnlyError):
            if not database.exists():
                raise
    logged = all(database.with_name(database.name + ending).exists() for ending in ("-wal", "-shm"))
    name = f"{database.absolute().as_uri()}?{'readonly_shm' if logged else 'immutable'}=1"
    return _set_up(apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI), _as_reader, check)


def _set_up(
    connection: apsw.Connection,
    options: Callable[[apsw.Connection], None],
    check: Callable[[apsw.Connection], None] | None,
) -> apsw.Connection:
    """Return the connection with its options set.

    An error closes it, since other connections share its locks, but leaves the write-ahead log unchanged.
    """
    try:
        connection.set_busy_timeout(BUSY_MS)
        if check is not None:
            check(connection)
        options(connection)
    except BaseException:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.close()
        raise
    return connection


def _as_reader(connection: apsw.Connection) -> None:
    connection.pragma("cache_size", -_READER_CACHE_KIB)
    # Otherwise SQLite compiles the look-ups of FTS5 again for every word, since a plan might depend on its value.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.pragma("user_version")  # the first query opens the files


def _as_writer(connection: apsw.Connection) -> None:
    if not connection.pragma("page_count"):
        connection.pragma("page_size", _PAGE_SIZE)
        connection.pragma("auto_vacuum", 2)  # writes to a file that has pages, although it no longer takes effect
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", 1)
    connection.pragma("secure_delete", 1)
    connection.pragma("cache_size", -_WRITER_CACHE_KIB)


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """Run the block in a transaction that no other process writes in; an exception rolls it back."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def number(connection: apsw.Connection, query: str, values: tuple[object, ...] = ()) -> int:
    """Return the single number that a query yields; 0 if there is none."""
    row = connection.execute(query, values).fetchone()
    value = None if row is None else row[0]
    return value if isinstance(value, int) else 0


def id_array(ids: Collection[int]) -> object:
    """Return ids as the value of a parameter of `carray(?)`, which has a row for each."""
    return apsw.carray(array("q", ids or (0,)))  # carray needs a value; no id is 0


class ReaderPool:
    """Pool of connections for reading, opened on first use."""

    def __init__(self, database: Path) -> None:
        self._database = database
        # Last in, first out: the connection used last has the warmest page cache.
        self._slots: list[apsw.Connection | None] = [None] * READERS
        self._free = threading.Semaphore(READERS)
        self._emptying = threading.Lock()
        self._closed = False

    @contextmanager
    def connection(self, cancel: CancelToken | None = None) -> Iterator[apsw.Connection]:
        """Yield a connection inside a read transaction; `cancel` interrupts a running statement.

        Raises the errors that `translated` makes of SQLite's, and `Closed` after `close()`.
        """
        slot = self._take()
        try:
            if self._closed:
                raise Closed
            with translated(self._database):
                slot = slot or open_connection(self._database, "reader")
                with _interruptible(slot, cancel), _read_transaction(slot):
                    yield slot
        finally:
            if slot is not None and slot.in_transaction:
                # A late interrupt also stops the rollback. The connection could begin no other transaction.
                slot.close(True)
                slot = None
            self._put(slot)

    def close(self) -> None:
        """Wait for running reads and close all connections."""
        self._closed = True
        with self.emptied():
            pass

    def shrink(self) -> None:
        """Empty the page caches of idle connections."""
        idle: list[apsw.Connection | None] = []
        try:
            while self._free.acquire(blocking=False):
                idle.append(self._slots.pop())
            for slot in idle:
                if slot is not None:
                    slot.pragma("shrink_memory")
        finally:
            for slot in reversed(idle):
                self._put(slot)

    @contextmanager
    def emptied(self) -> Iterator[None]:
        """Wait for running reads and close all connections; new reads wait until the block ends."""
        with self._emptying:
            slots = [self._take() for _ in range(READERS)]
            try:
                for slot in slots:
                    if slot is not None:
                        slot.close()
                yield
            finally:
                for _ in slots:
                    self._put(None)

    def _take(self) -> apsw.Connection | None:
        self._free.acquire()
        return self._slots.pop()

    def _put(self, slot: apsw.Connection | None) -> None:
        self._slots.append(slot)
        self._free.release()


@contextmanager
def _interruptible(connection: apsw.Connection, cancel: CancelToken | None) -> Iterator[None]:
    if cancel is None:
        yield
        return
    cancel.checkpoint()
    lock, in_use = threading.Lock(), True

    def interrupt() -> None:
        # A late call must not interrupt the connection's next user, or touch a closed connection.
        with lock:
            if in_use:
                connection.interrupt()

    forget = cancel.on_cancel(interrupt)
    try:
        yield
    except apsw.Error as error:
        # Virtual tables report an interrupt as another error.
        if cancel.cancelled:
            raise Cancelled from error
        raise
    finally:
        forget()
        with lock:
            in_use = False


@contextmanager
def _read_transaction(connection: apsw.Connection) -> Iterator[None]:
    connection.execute("BEGIN")
    try:
        yield
    finally:
        # An interrupted or failed read may already have ended its transaction.
        if connection.in_transaction:
            connection.execute("ROLLBACK")


_TIMEOUT = 0.03
"""Timeout in seconds. Another process that only checks the lock also holds it for a moment."""
_POLL = 0.01


class WriterLock:
    """Re-entrant process lock that counts its acquisitions. Thread-safe, which `FileLock` itself is not."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mutex = threading.Lock()

    @cached_property
    def _lock(self) -> "FileLock":
        """The file lock, created on the first write: importing its package takes longer than a search."""
        from filelock import FileLock

        # Not thread-local: a sync may end in another thread than it started in.
        return FileLock(self._path, mode=0o600, thread_local=False)

    def acquire(self) -> bool:
        """Acquire the lock; returns False if another process holds it. Raises OSError if it can't be created."""
        with self._mutex:
            return self._acquire()

    def release(self) -> None:
        with self._mutex:
            self._lock.release()

    def held_elsewhere(self) -> bool:
        """Whether another process holds the lock."""
        with self._mutex:
            if self._lock.is_locked or not self._path.exists():
                return False
            if not self._acquire():
                return True
            self._lock.release()
            return False

    def close(self) -> None:
        """Release the lock completely, however often it was acquired."""
        with self._mutex:
            if "_lock" in vars(self):
                self._lock.release(force=True)

    def _acquire(self) -> bool:
        from filelock import Timeout

        try:
            self._lock.acquire(timeout=_TIMEOUT, poll_interval=_POLL)
        except Timeout:
            return False
        return True
