"""`session-homes.sqlite`: the workspace that each transcript is indexed in, shared by all indexes in one folder.

It can be made again at any time: a transcript without a row belongs to the workspace that sees it next.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import apsw

from engine.base import lazy_logger
from engine.base.errors import IndexCorrupt
from engine.base.private_files import create_private, make_folder
from engine.store.connection import BUSY_MS, transaction
from engine.store.index_schema import Migration, migrate
from engine.store.snapshot import validated

log = lazy_logger(__name__)


class SessionOwner(NamedTuple):
    """The workspace that a transcript is indexed in, and the strength of its claim."""

    workspace: str
    """Real path of the workspace's folder."""
    rank: int
    """Strength of the claim: 0 for the first workspace to see the transcript, higher if it contains the agent's working
    folder.
    """
    project: str
    """The agent's working folder as named by the transcript, with secrets masked; empty if unknown."""


SessionOwners = Mapping[str, SessionOwner]
"""Owner of each transcript, by its path."""


def _m001_homes(connection: apsw.Connection) -> None:
    connection.execute(
        """CREATE TABLE homes (
            transcript TEXT PRIMARY KEY, workspace TEXT NOT NULL, rank INTEGER NOT NULL, project TEXT NOT NULL)
            WITHOUT ROWID"""
    )
    connection.execute("CREATE INDEX homes_by_workspace ON homes (workspace)")


MIGRATIONS: tuple[Migration, ...] = (_m001_homes,)


class SessionOwnership:
    """Reads and changes the owners of transcripts; each call opens the file, since it is needed once per sync.

    Raises apsw's errors, `IndexTooNew`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> SessionOwners:
        """Return the owner of each transcript, by its path."""
        with self._opened() as (_, rows):
            return rows

    def change(self, decide: Callable[[SessionOwners], Mapping[str, SessionOwner | None]]) -> SessionOwners:
        """Change owners in one write transaction; returns all owners afterwards.

        `decide` receives all owners and returns those to set, by path of the transcript; None removes one.
        """
        with self._opened() as (connection, _):
            with transaction(connection):
                rows = _rows(connection)
                changes = decide(rows)
                released = [transcript for transcript, owner in changes.items() if owner is None]
                owned = {transcript: owner for transcript, owner in changes.items() if owner is not None}
                for transcript in released:
                    rows.pop(transcript, None)
                rows |= owned
                connection.executemany(
                    "DELETE FROM homes WHERE transcript = ?", ((transcript,) for transcript in released)
                )
                connection.executemany(
                    "INSERT OR REPLACE INTO homes VALUES (?, ?, ?, ?)",
                    ((transcript, *owner) for transcript, owner in sorted(owned.items())),  # in the order of the table
                )
            return rows

    def release(self, workspace: Path) -> None:
        """Assign no transcript to this workspace any longer, so that other workspaces index them."""
        if self._path.exists():
            with self._opened() as (connection, _):
                connection.execute("DELETE FROM homes WHERE workspace = ?", (str(workspace),))

    @contextlib.contextmanager
    def _opened(self) -> Iterator[tuple[apsw.Connection, dict[str, SessionOwner]]]:
        """Yield a connection, and all rows: reading them checks them."""
        make_folder(self._path.parent)
        create_private(self._path)
        connection, rows = self._open_or_rebuild()
        with contextlib.closing(connection):
            yield connection, rows

    def _open_or_rebuild(self) -> tuple[apsw.Connection, dict[str, SessionOwner]]:
        try:
            return self._open()
        except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError, IndexCorrupt, UnicodeDecodeError):
            # Nothing is lost: every workspace claims the sessions in its index again.
            log.warning("The list of claimed sessions is damaged and is rebuilt")
            for ending in ("", "-wal", "-shm", "-journal"):
                self._path.with_name(self._path.name + ending).unlink(missing_ok=True)
            return self._open()

    def _open(self) -> tuple[apsw.Connection, dict[str, SessionOwner]]:
        connection = apsw.Connection(str(self._path))
        try:
            connection.set_busy_timeout(BUSY_MS)
            connection.pragma("journal_mode", "wal")
            connection.pragma("synchronous", 1)
            connection.pragma("secure_delete", 1)  # of paths that were stored before secrets in them were masked
            migrate(connection, self._path, MIGRATIONS)
            return connection, _rows(connection)
        except BaseException:
            connection.close()
            raise


def _rows(connection: apsw.Connection) -> dict[str, SessionOwner]:
    """Return all rows. Raises IndexCorrupt, UnicodeDecodeError."""
    query = """SELECT workspace, rank, project, group_concat(transcript, char(0)) FROM homes
               GROUP BY workspace, rank, project"""  # most transcripts have the owner of others, and paths have no NUL
    owners: dict[str, SessionOwner] = {}
    for workspace, rank, project, transcripts in validated(connection.execute(query), tuple[str, int, str, str]):
        owners |= dict.fromkeys(transcripts.split("\0"), SessionOwner(workspace, rank, project))
    return owners
