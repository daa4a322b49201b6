"""Migrate a database file to the schema version of this program."""

from collections.abc import Callable, Sequence
from pathlib import Path

import apsw

from engine.base.errors import IndexTooNew
from engine.base.language import tr

Migration = Callable[[apsw.Connection], None]


def version_of(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version") or 0)


def refuse_newer(connection: apsw.Connection, database: Path, migrations: Sequence[Migration]) -> None:
    """Raise `IndexTooNew` for a file written by a newer program; the file is not modified."""
    found = version_of(connection)
    if found > len(migrations):
        raise IndexTooNew(
            tr(
                "{file} was written by a newer version of Mnemoscope (format {found}, this one knows {known}): update "
                "Mnemoscope, or choose another folder with `store.path` in the settings.",
                file=database,
                found=found,
                known=len(migrations),
            )
        )


def migrate(connection: apsw.Connection, database: Path, migrations: Sequence[Migration]) -> None:
    """Apply the missing migrations, each in its own transaction. Raises `IndexTooNew`."""
    refuse_newer(connection, database, migrations)
    for number, step in enumerate(migrations, start=1):
        if number <= version_of(connection):
            continue
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have migrated while this one waited for the lock.
            if version_of(connection) < number:
                step(connection)
                connection.pragma("user_version", number)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
