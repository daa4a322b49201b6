"""Reads another program's SQLite database, including its WAL, without leaving a trace.

SQLite would create a `-shm` file (or change that of the running program) and take locks in it. As the last one to close
the database, it would merge the WAL into it. So it accesses these files only through a file system of ours, which has
no lock, no shared memory and no writes: in exclusive mode SQLite keeps the index of a WAL in its own memory. Nothing is
copied either: a database of 500 MB is opened in a millisecond, and no data is left on a disk.

Instead of locks, changes are detected: whether another process has merged the WAL into the database, or restarted the
WAL, during a read. If so, it is read again.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

import apsw

from engine.base import skip_reasons
from engine.base.cancellation import CancelToken, checkpoint
from engine.corpus.safe_open import open_regular
from engine.corpus.transcripts.agents import WAL
from engine.corpus.transcripts.jsonl import LONGEST_LINE, read_at

HEADER = b"SQLite format 3\0"
"""First bytes of every SQLite database."""
_WAL_HEADER = 32
_ATTEMPTS = 5
_CACHE_KIB = 8 * 1024
_STEPS_BETWEEN_CHECKS = 20_000
_LONGEST_VALUE = 4 * LONGEST_LINE
"""Maximum bytes of a value or a sorted row: a computed column of a small file can have a gigabyte."""
_FILE_SYSTEM = "mnemoscope-reading"
_LOCKED = {"locking_mode": "exclusive", "temp_store": "memory", "cache_size": -_CACHE_KIB, "trusted_schema": 0}

_State = tuple[int, int, int, bytes]
_T = TypeVar("_T")


class SqliteView:
    """An SQLite database of another program, open for reading. For one thread; must be closed."""

    def __init__(self, path: str, cancel: CancelToken | None = None) -> None:
        """The database is opened by the first read."""
        self._path = path
        self._cancel = cancel
        self._connection: apsw.Connection | None = None
        self._state: _State | None = None

    def read(self, query: Callable[[apsw.Connection], _T]) -> _T:
        """Return the result of `query`, which fetches all that it needs, in one state of the database.

        Raises OSError, `PathRefused`, Cancelled, and ValueError for a file that is damaged, not a database, or without
        the tables that `query` uses.
        """
        error: ValueError | None = None
        for _ in range(_ATTEMPTS):
            checkpoint(self._cancel)
            state = _state(self._path)
            try:
                with _plain_errors(self._cancel):
                    found = query(self._opened(state))
                error = None
            except ValueError as damage:
                error = damage
            if _state(self._path) == state:
                if error is None:
                    return found
                break
        raise error or ValueError(skip_reasons.WRITTEN_ALL_THE_TIME.message())

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _opened(self, state: _State) -> apsw.Connection:
        """Return a connection to the database in this state."""
        if self._connection is not None and state == self._state:
            return self._connection
        self.close()
        connection = apsw.Connection(self._path, flags=apsw.SQLITE_OPEN_READONLY, vfs=_FILES.name)
        try:
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            connection.limit(apsw.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
            for name, value in _LOCKED.items():
                connection.pragma(name, value)
            cancel = self._cancel
            if cancel is not None:
                connection.set_progress_handler(lambda: cancel.cancelled, _STEPS_BETWEEN_CHECKS)
        except BaseException:
            connection.close()
            raise
        self._connection, self._state = connection, state
        return connection


@contextmanager
def _plain_errors(cancel: CancelToken | None) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(skip_reasons.DAMAGED_TEXT.message()) from error
    except apsw.ReadOnlyError as error:
        raise ValueError(skip_reasons.BROKEN_CHANGE.message()) from error
    except apsw.Error as error:
        checkpoint(cancel)
        raise ValueError(skip_reasons.UNREADABLE_DATABASE.message(what=str(error).partition(chr(10))[0])) from error


def _state(path: str) -> _State:
    """Return a value that changes when the database itself is written or the WAL is restarted, not
    when the WAL grows.
    """
    descriptor, found = open_regular(path)
    os.close(descriptor)
    wal = b""
    with suppress(FileNotFoundError):
        descriptor, _ = open_regular(path + WAL)
        try:
            wal = read_at(descriptor, 0, _WAL_HEADER)
        finally:
            os.close(descriptor)
    return found.st_ino, found.st_size, found.st_mtime_ns, wal


class _File:
    """A read-only file without locks for SQLite's virtual file system. Without a descriptor it is empty."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 (SQLite's names)
        return b"" if self._descriptor is None else read_at(self._descriptor, offset, amount)

    def xFileSize(self) -> int:  # noqa: N802
        return 0 if self._descriptor is None else os.fstat(self._descriptor).st_size

    def xClose(self) -> None:  # noqa: N802
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def xLock(self, level: int) -> None:  # noqa: N802
        """Do nothing: writers are not blocked."""

    def xUnlock(self, level: int) -> None:  # noqa: N802
        """Do nothing: there was no lock."""

    def xCheckReservedLock(self) -> bool:  # noqa: N802
        return False

    def xFileControl(self, op: int, pointer: int) -> bool:  # noqa: N802
        return False

    def xSectorSize(self) -> int:  # noqa: N802
        return 0

    def xDeviceCharacteristics(self) -> int:  # noqa: N802
        return 0

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        raise apsw.ReadOnlyError("this view of a database is read-only")

    def xTruncate(self, size: int) -> None:  # noqa: N802
        raise apsw.ReadOnlyError("this view of a database is read-only")

    def xSync(self, flags: int) -> None:  # noqa: N802
        raise apsw.ReadOnlyError("this view of a database is read-only")


class _ReadingOnly(apsw.VFS):
    """A virtual file system for SQLite that opens files as `_File`."""

    def __init__(self) -> None:
        super().__init__(_FILE_SYSTEM, "")
        self.name = _FILE_SYSTEM

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> _File:  # type: ignore[override]  # noqa: N802
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path is None:
            raise apsw.CantOpenError("no file is made here")
        flags[1] = apsw.SQLITE_OPEN_READONLY
        try:
            return _File(open_regular(path)[0])
        except FileNotFoundError:
            if flags[0] & apsw.SQLITE_OPEN_WAL:
                return _File(None)
            raise apsw.CantOpenError("no such file") from None

    def xAccess(self, path: str, flags: int) -> bool:  # noqa: N802
        return flags == apsw.SQLITE_ACCESS_EXISTS and os.path.exists(path)

    def xDelete(self, filename: str, sync_dir: bool) -> None:  # noqa: N802
        raise apsw.ReadOnlyError("this view of a database is read-only")


# created on import: of two with this name, made by two threads, one would be deleted immediately
_FILES = _ReadingOnly()


def tables(connection: apsw.Connection) -> frozenset[str]:
    """Return the names of the database's tables."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table'"
    return frozenset(name for (name,) in connection.execute(query))
