"""The index of one workspace: owns its read and write connections, and reopens them when the file is replaced."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from engine.base import lazy_logger
from engine.base.cancellation import CancelToken, checkpoint
from engine.base.errors import PARSER_FAULTS, Closed, DiskFull, IndexBusy, IndexCorrupt, IndexReadOnly, StoreError
from engine.base.language import tr
from engine.store import index_schema
from engine.store.connection import (
    BUSY_MS,
    ReaderPool,
    WriterLock,
    creation_error,
    damage_error,
    has_free_space,
    open_connection,
    read_only_message,
    transaction,
    translated,
)
from engine.store.index_paths import IndexFiles
from engine.store.index_schema import Tables
from engine.store.snapshot import Snapshot

if TYPE_CHECKING:
    from engine.records import IndexSizes
    from engine.store.writer import Writer

# --- Open the index file for writing: create it, migrate it, or replace a damaged one --------------------------------

log = lazy_logger(__name__)

Identity = tuple[int, int]
"""Device and inode of a file."""


def identity(path: Path) -> Identity | None:
    """Return device and inode of the file at this path; None if it does not exist."""
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_dev, state.st_ino


def open_writer(files: IndexFiles) -> apsw.Connection:
    """Open the write connection; creates or migrates the file. Raises the store's errors."""
    database = files.database
    if database.exists() and not os.access(database, os.W_OK):
        raise IndexReadOnly(read_only_message(files.folder))
    with translated(database):
        # A writer's first pragmas already modify the file, and a file of a newer version must stay unmodified. A file
        # whose creation was interrupted before it had a write-ahead log is undone by the first query.
        connection = open_connection(database, "writer", partial(_check_version, database))
        try:
            first = index_schema.FIRST_INDEX_FORMAT
            index_schema.migrate(connection, database, index_schema.INDEX_MIGRATIONS, first)
            # Cheap check that finds the most common damage of a torn file; `doctor` runs the full check.
            Snapshot(connection)
            if connection.pragma("journal_mode") != "wal":
                raise IndexReadOnly(read_only_message(files.folder))
        except BaseException:
            connection.close()
            raise
        return connection


def replace_damaged(files: IndexFiles, damage: IndexCorrupt) -> tuple[apsw.Connection, str]:
    """Set a damaged index aside, create a new one and copy all vectors that can still be read.

    The caller must hold the writer lock. Returns the new file's write connection and the message to show.
    """
    from engine.store import integrity  # an index is hardly ever damaged
    from engine.store.writer import Writer

    try:
        aside = integrity.set_aside(files.database)
    except OSError as error:  # Windows can't rename open files
        advice = tr("The damaged index cannot be renamed while another program has it open.")
        raise IndexBusy(f"{damage} {advice}") from error
    try:
        connection = open_writer(files)
        try:
            with connection, translated(files.database):
                vectors = integrity.copy_vectors(aside, Writer(connection))
        except BaseException:
            connection.close()
            raise
    except DiskFull:
        integrity.undo_set_aside(aside, files.database)  # its vectors are copied once there is room
        raise
    integrity.delete_older(aside, files.database)
    log.warning("Index damaged (%s); set aside, %d vectors carried over", damage, vectors)
    sentence = tr(
        "The index was damaged and was set aside as {file}: the next update rebuilds it from the notes. "
        "{vectors:,} vectors were recovered.",
        file=aside.name,
        vectors=vectors,
    )
    return connection, sentence


def _check_version(database: Path, connection: apsw.Connection, refusal: StoreError | None = None) -> None:
    """Check that the file can be read after a migration, or without one if writing is refused.

    Raises `IndexTooNew`, `IndexCorrupt` and `refusal`.
    """
    index_schema.refuse_newer(connection, database, index_schema.INDEX_FORMAT)
    version = index_schema.version_of(connection)
    if refusal is not None and version < index_schema.INDEX_FORMAT:
        older = tr("{file} was written by an older version of Mnemoscope.", file=database)
        raise type(refusal)(f"{older} {refusal}" if version else str(refusal)) from refusal
    if 0 < version < index_schema.FIRST_INDEX_FORMAT:
        raise IndexCorrupt(f"format {version}")


# ---------------------------------------------------------------------------------------------------------------------

_LONGEST_LOG = 16 * 1024 * 1024
"""Bytes of the write-ahead log from which it is truncated. SQLite checkpoints it from 8 MB on, but restarts it only
while there are no readers.
"""
_LOG_TIMEOUT_MS = 50
"""How long to wait for readers that still use the log; the next commit tries again."""
_PAUSE_SECONDS = 0.005
"""Seconds between steps, in which other writers can write."""

KEYWORDS_TO_PURGE = "words to forget"
"""Key in `meta` that is set while the keyword index still contains words of removed files."""


def return_memory() -> None:
    """Make glibc return freed memory to the system.

    It holds on to freed pages below one in use, some 50 MB after a full index. Other allocators return them
    automatically.
    """
    if sys.platform.startswith("linux"):
        import ctypes  # not needed by processes that only search

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


class IndexStore:
    """Owns all connections to `index.sqlite`. Thread-safe; readers never wait for the writer.

    Opening creates or migrates the file, or opens it read-only if it is not writable or the disk is full; it becomes
    writable as soon as there is room. A damaged file is renamed and replaced with a new one that reuses all vectors
    that can still be read; `recovered` then describes this. If another process does that, or the file is deleted, the
    new file is opened in its place.
    """

    def __init__(self, files: IndexFiles) -> None:
        self.files = files
        self.recovered = ""
        """Message about a damaged file that was set aside, or empty. Cleared by the caller once the new file is filled.
        """
        self.read_only = ""
        """Why the index cannot be written; empty if it can."""
        self.is_full = False
        """Whether it cannot be written because the disk was full; then it can be as soon as there is room."""
        self._writer: apsw.Connection | None = None
        self._writing = threading.Lock()
        self._repairing = threading.Lock()
        self._closed = False
        self._process_lock = WriterLock(files.lock)
        self._opened: Identity | None = None
        """The file that the connections have open."""
        self._open()
        self._readers = ReaderPool(files.database)

    @contextmanager
    def read(self, cancel: CancelToken | None = None, *, tables: Tables | None = None) -> Iterator[Snapshot]:
        """Open a short read transaction; `tables` selects the generation, None the current one.

        Raises `Cancelled` when `cancel` interrupts it.
        """
        if identity(self.files.database) not in (self._opened, None) or self._has_room_again():
            self._reopen_if_needed()
        with self.detecting_damage(), self._readers.connection(cancel) as connection:
            yield Snapshot(connection, tables)

    @contextmanager
    def write(self, tables: Tables | None = None) -> Iterator["Writer"]:
        """Open a write transaction, committed at the end of the block and rolled back on an exception.

        `tables` selects the generation to write, None the current one. Raises `DiskFull`, `IndexReadOnly`, …
        """
        from engine.store.writer import Writer  # a search does not write

        if self._has_room_again():
            self._reopen_if_needed()
        with self._writing, self.detecting_damage(), translated(self.files.database):
            if self._closed:
                raise Closed
            if self.read_only:
                raise IndexReadOnly(self.read_only)
            if self._writer is None:
                self._writer = open_connection(self.files.database, "writer")
            connection = self._writer
            with transaction(connection):
                yield Writer(connection, tables)
            self._truncate_long_log(connection)

    def _truncate_long_log(self, connection: apsw.Connection) -> None:
        """Restart the write-ahead log once it is long: with constant readers it would only grow."""
        if self.sizes().wal > _LONGEST_LOG:
            connection.set_busy_timeout(_LOG_TIMEOUT_MS)
            with contextlib.suppress(apsw.BusyError):
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            connection.set_busy_timeout(BUSY_MS)

    # --- writer lock ----------------------------------------------------------------------------------------------

    def try_lock(self) -> bool:
        """Try to become the only writing process; return False if another process already is."""
        if not self._take_lock():
            return False
        if self._has_room_again() or (not self.read_only and identity(self.files.database) != self._opened):
            try:
                self._reopen_if_needed()
            except BaseException:
                self.unlock()
                raise
        return True

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only writing process during the block. Raises `IndexBusy` if another process is."""
        if not self.try_lock():
            raise IndexBusy(tr("Another program is writing the index: try again when it has finished."))
        try:
            yield
        finally:
            self.unlock()

    def unlock(self) -> None:
        self._process_lock.release()

    def locked_elsewhere(self) -> bool:
        """Whether another process is writing to the index."""
        try:
            return not self.read_only and self._process_lock.held_elsewhere()
        except OSError:
            return False

    def _take_lock(self) -> bool:
        try:
            return self._process_lock.acquire()
        except OSError as error:
            raise creation_error(self.files.folder, error) from error

    # --- damage ----------------------------------------------------------------------------------------------------

    def repair(self, damage: IndexCorrupt) -> bool:
        """Replace a file that turned out to be damaged while open. Returns False if the check finds no damage.

        The file is checked first, without blocking other users: the error may come from a connection's cache or the
        hardware. If the file is sound, it stays, all connections are reopened and False is returned. Callers that hit
        the same damage concurrently may all call this; the first one does the work. Raises `IndexBusy` while another
        process writes.
        """
        with self._repairing:
            if self._closed or damage.file not in (None, self._opened):
                return True
            same = identity(self.files.database) == self._opened
            sound = same and not self._is_damaged()
            with self._writing:
                if self._closed:
                    return True
                with self._without_connections():
                    if sound:
                        log.warning("SQLite reported damage (%s), but the index is intact", damage)
                    elif identity(self.files.database) == self._opened:
                        self.recovered = self._replace_damaged(damage)
                    else:
                        self._open()  # another process was faster, or the file was deleted
            return not sound

    def _reopen_if_needed(self) -> None:
        """Open the file again if it was replaced, or if a full disk has room for writing again."""
        with self._writing:
            if not self._closed and (identity(self.files.database) != self._opened or self._has_room_again()):
                with self._without_connections():
                    self._open()

    def _has_room_again(self) -> bool:
        return self.is_full and has_free_space(self.files.folder)

    @contextmanager
    def _without_connections(self) -> Iterator[None]:
        """Close all connections for the duration of the block; readers wait until it ends."""
        with self._readers.emptied():
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            yield

    @contextmanager
    def detecting_damage(self) -> Iterator[None]:
        """Raise `IndexCorrupt`, with the file's identity, for an error in the block that damage explains.

        Columns accept any value, so one of the wrong type fails somewhere; after such an error, the file is checked.
        """
        opened = self._opened
        try:
            try:
                yield
            except (*PARSER_FAULTS, apsw.ConstraintError) as error:
                if not self._is_damaged():
                    raise
                raise damage_error(self.files.database, tr("values of the wrong type")) from error
        except IndexCorrupt as damage:
            damage.file = opened
            raise

    # --- housekeeping ---------------------------------------------------------------------------------------------

    def delete_discarded_tables(self, cancel: CancelToken | None = None) -> None:
        """Delete the discarded tables in short steps, so that other writers never wait long."""
        more = True
        while more:
            checkpoint(cancel)
            with self.write() as writer:
                more = index_schema.delete_discarded_rows(writer.connection)
            time.sleep(_PAUSE_SECONDS)

    def purge_keywords(self, cancel: CancelToken | None = None) -> None:
        """Remove the words of deleted files from the keyword index by rewriting it as one part, in short steps.

        After a cancel, the next call starts over.
        """
        more, restart = True, True
        while more:
            checkpoint(cancel)
            with self.write() as writer:
                more = writer.merge_keywords(restart=restart)
                if not more:
                    writer.set_meta(KEYWORDS_TO_PURGE, None)
            restart = False
            time.sleep(_PAUSE_SECONDS)

    def vacuum(self, cancel: CancelToken | None = None) -> None:
        """Return free pages to the disk in slices, so that other writers never wait long."""
        while True:
            checkpoint(cancel)
            with self._writing, translated(self.files.database):
                if self._writer is None or not self._writer.pragma("freelist_count"):
                    return
                # The pragma frees one page per row fetched.
                for _ in self._writer.execute("PRAGMA incremental_vacuum(256)"):
                    pass
            time.sleep(_PAUSE_SECONDS)

    def make_durable(self) -> None:
        """Flush commits to the disk: without this, a power failure may lose the latest ones."""
        with self._writing, translated(self.files.database):
            if self._writer is not None:
                self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def free_memory(self) -> None:
        """Free memory that searches don't need; called after a sync."""
        with self._writing, translated(self.files.database):
            self._readers.shrink()
            if self._writer is not None:
                self._writer.pragma("shrink_memory")
        return_memory()

    def sizes(self) -> "IndexSizes":
        """Return the sizes of the index files on disk, in bytes."""
        return self.files.sizes()

    def close(self) -> None:
        """Wait for running transactions and release all handles. Can be called twice."""
        if self._closed:
            return
        with self._writing:
            self._closed = True
        self._readers.close()
        if self._writer is not None:
            self._writer.close()
        self._process_lock.close()

    # --- opening --------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        try:
            self.files.prepare()
        except OSError as error:
            raise creation_error(self.files.folder, error) from error
        self.read_only, self.is_full = "", False
        try:
            self._writer = open_writer(self.files)
        except IndexCorrupt as damage:
            if not self._is_damaged():
                raise
            self.recovered = self._replace_damaged(damage)
        except (IndexReadOnly, DiskFull) as error:
            if not self.files.database.exists():
                raise
            with translated(self.files.database):
                check = partial(_check_version, self.files.database, refusal=error)
                open_connection(self.files.database, "reader", check).close()
            self.read_only, self.is_full = str(error), isinstance(error, DiskFull)
        except OSError as error:
            raise creation_error(self.files.folder, error) from error
        self._opened = identity(self.files.database)

    def _is_damaged(self) -> bool:
        from engine.store.integrity import is_damaged

        return is_damaged(self.files.database)

    def _replace_damaged(self, damage: IndexCorrupt) -> str:
        """Replace the damaged file with a new one, holding the writer lock. Returns the message to show."""
        if not self._take_lock():
            repairing = tr("Another program is repairing the index: try again in a moment.")
            raise IndexBusy(f"{damage} {repairing}") from damage
        try:
            self._writer, sentence = replace_damaged(self.files, damage)
            self._opened = identity(self.files.database)
            return sentence
        finally:
            self.unlock()
