"""Open the index file for writing: create it, migrate it, or replace a damaged one."""

import logging
import os
from pathlib import Path

import apsw

from engine.base.errors import IndexBusy, IndexCorrupt, IndexReadOnly
from engine.base.language import tr
from engine.store import migrations, schema, vector_recovery
from engine.store.connection import Role, open_connection
from engine.store.failures import translated, unwritable
from engine.store.location import IndexFiles
from engine.store.snapshot import Snapshot
from engine.store.writer import Writer

log = logging.getLogger(__name__)

Identity = tuple[int, int]
"""Device and inode of a file."""


def identity(path: Path) -> Identity | None:
    """Identity of the file at this path; None if it does not exist."""
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_dev, state.st_ino


def open_writer(files: IndexFiles) -> apsw.Connection:
    """Open the write connection; creates or migrates the file. Raises the store's errors."""
    database = files.database
    if database.exists() and not os.access(database, os.W_OK):
        raise IndexReadOnly(unwritable(files.folder))
    if database.exists():
        # A writer's first pragmas already modify the file, and a file of a newer version must stay unmodified.
        _check_version(files)
    with translated(database):
        connection = open_connection(database, "writer")
        try:
            migrations.migrate(connection, database, schema.MIGRATIONS)
            # Cheap check that finds the most common damage of a torn file; `doctor` runs the full check.
            Snapshot(connection)
            if connection.pragma("journal_mode") != "wal":
                raise IndexReadOnly(unwritable(files.folder))
        except BaseException:
            connection.close()
            raise
        return connection


def check_readable(files: IndexFiles) -> None:
    """Check that a read-only file can be read without migrating it. Raises `IndexReadOnly`, `IndexTooNew`."""
    _check_version(files, "frozen reader")


def start_anew(files: IndexFiles, damage: IndexCorrupt) -> tuple[apsw.Connection, str]:
    """Set the damaged file aside, create a new one and copy all readable vectors; the caller must hold the writer lock.

    Returns the new file's write connection and the message to show.
    """
    try:
        aside = vector_recovery.set_aside(files.database)
    except OSError as error:  # Windows can't rename open files
        held = tr("It cannot be set aside while another program has it open.")
        raise IndexBusy(f"{damage} {held}") from error
    connection = open_writer(files)
    try:
        with connection, translated(files.database):
            vectors = vector_recovery.carry_vectors(aside, Writer(connection))
    except BaseException:
        connection.close()
        raise
    vector_recovery.drop_older(aside, files.database)
    log.warning("Index damaged (%s); set aside, %d vectors carried over", damage, vectors)
    sentence = tr(
        "The index was damaged and was set aside as {file}: the next update rebuilds it from the notes. "
        "{vectors:,} vectors were recovered.",
        file=aside.name,
        vectors=vectors,
    )
    return connection, sentence


def _check_version(files: IndexFiles, role: Role = "reader") -> None:
    with translated(files.database):
        connection = open_connection(files.database, role)
        try:
            migrations.refuse_newer(connection, files.database, schema.MIGRATIONS)
            if role == "frozen reader" and migrations.version_of(connection) < len(schema.MIGRATIONS):
                older = tr("{file} was written by an older version of Mnemoscope.", file=files.database)
                raise IndexReadOnly(f"{older} {unwritable(files.folder)}")
        finally:
            connection.close()
