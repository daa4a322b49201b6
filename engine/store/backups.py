"""Backups of `user.sqlite`, stored next to it: one per day with changes, for some days, and one before each migration.

They are ordinary databases without a write-ahead log, so they can also be copied back by hand.
"""

import contextlib
import os
import time
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import apsw

from engine.base import lazy_logger
from engine.base.private_files import create_private, temporary_path
from engine.store.connection import number, open_connection
from engine.store.index_schema import version_of
from engine.store.integrity import Column, columns_of, first_invalid_column
from engine.store.user_data_schema import USER_MIGRATIONS

_DAILY, _BEFORE = ".backup-", ".before-"
_DAYS = 7
_MIGRATIONS = 3
_PAUSE = 3600.0
"""Minimum age in seconds before a backup is replaced by a newer one of the same day, unless the file is closed."""

log = lazy_logger(__name__)


class Backups:
    """Manages the backups of one database file. Not thread-safe."""

    def __init__(self, path: Path) -> None:
        """`path`: the database file to back up."""
        self._path = path
        self._newest: float | None = None
        """Time of the newest backup in seconds since the epoch; None until it is looked up."""
        self._postponed = False
        """Whether the database has changed too soon after the newest backup."""

    def all(self) -> list[Path]:
        """Return the paths of all backups, newest first, including unusable ones."""
        return sorted((*self._backups_of(_DAILY), *self._backups_of(_BEFORE)), key=changed_at, reverse=True)

    def newest_usable(self, newest_version: int) -> Path | None:
        """Return the newest backup that is intact and readable by this version of the program."""
        return next((backup for backup in self.all() if _is_sound(backup, newest_version)), None)

    def is_behind(self) -> bool:
        """Whether the file has changed since the newest backup."""
        self._newest = max(map(changed_at, self.all()), default=0.0)
        log = self._path.with_name(f"{self._path.name}-wal")
        return max(changed_at(self._path), changed_at(log)) > self._newest

    def make_if_due(self, connection: apsw.Connection) -> None:
        """Back up the database, at most once an hour. Failures are only logged."""
        now = time.time()
        if self._newest is None:
            self._newest = max(map(changed_at, self.all()), default=0.0)
        if 0 <= now - self._newest < _PAUSE:
            self._postponed = True
        else:
            self._make(connection, now)

    def make_postponed(self, connection: apsw.Connection) -> None:
        """Back up changes that `make_if_due` postponed; call this before closing the database. Never raises."""
        if self._postponed:
            self._make(connection, time.time())

    def _make(self, connection: apsw.Connection, now: float) -> None:
        try:
            self._date_back(now)
            copy_database(connection, self._named(_DAILY + time.strftime("%Y-%m-%d", time.localtime(now))))
            self._remove(sorted(self._backups_of(_DAILY), key=changed_at, reverse=True)[_DAYS:])
        except (apsw.Error, OSError) as error:
            log.warning("No backup of %s: %s", self._path.name, type(error).__name__)
        self._newest, self._postponed = now, False

    def make_before(self, connection: apsw.Connection, version: int) -> None:
        """Back up the database before migrating it to `version`. Raises OSError and apsw's errors."""
        copy_database(connection, self._named(f"{_BEFORE}{version}"))
        self._remove(sorted(self._backups_of(_BEFORE), key=changed_at, reverse=True)[_MIGRATIONS:])

    def change(self, table: str, statement: str, rows: Iterable[tuple[str, ...]] = ((),)) -> None:
        """Run an SQL statement with each of `rows` in every backup that has `table`, to delete data there too.

        Damaged backups are removed.
        """
        values = list(rows)
        for backup in self.all():
            made = changed_at(backup)
            try:
                with contextlib.closing(apsw.Connection(str(backup))) as connection:
                    connection.pragma("secure_delete", 1)
                    if number(connection, "SELECT count(*) FROM sqlite_schema WHERE name = ?", (table,)):
                        with connection:
                            connection.executemany(statement, values)
                os.utime(backup, (made, made))  # keep the day on which it was made
            except (apsw.NotADBError, apsw.CorruptError):
                self._remove([backup])

    def _date_back(self, now: float) -> None:
        """Date back backups that are from the future since the clock was set back, so that later ones are newer."""
        early = [backup for backup in self.all() if changed_at(backup) > now]
        for seconds, backup in enumerate(early, start=1):
            os.utime(backup, (now - seconds, now - seconds))

    def _backups_of(self, kind: str) -> list[Path]:
        # `Path.glob` would compile a pattern at each start of the program.
        with contextlib.suppress(OSError):
            names = os.listdir(self._path.parent)
            return [self._path.with_name(name) for name in names if name.startswith(f"{self._path.name}{kind}")]
        return []

    def _named(self, ending: str) -> Path:
        return self._path.with_name(self._path.name + ending)

    def _remove(self, backups: Sequence[Path]) -> None:
        for backup in backups:
            backup.unlink(missing_ok=True)


def copy_database(connection: apsw.Connection, target: Path) -> None:
    """Copy a database atomically to a private file without a log. Raises OSError and apsw's errors."""
    aside = temporary_path(target)
    try:
        create_private(aside)
        with contextlib.closing(apsw.Connection(str(aside))) as copy:
            copy.pragma("journal_mode", "memory")  # leaves no journal files behind, even after a kill
            with copy.backup("main", connection, "main") as backup:
                backup.step()
            copy.pragma("journal_mode", "delete")  # in WAL mode every reader would need a log file
        os.replace(aside, target)
    finally:
        with contextlib.suppress(OSError):
            aside.unlink()


def check(connection: apsw.Connection) -> None:
    """Raise `apsw.CorruptError` if the database is damaged. Takes milliseconds."""
    if connection.pragma("quick_check", 1) != "ok":
        raise apsw.CorruptError("quick_check found damage")
    if column := first_invalid_column(connection, _columns(version_of(connection))):
        raise apsw.CorruptError(f"{column} cannot be read")


@cache
def _columns(version: int) -> tuple[Column, ...]:
    """Return the columns that a database of this schema version has."""
    with contextlib.closing(apsw.Connection(":memory:")) as made:
        for step in USER_MIGRATIONS[:version]:
            step(made)
        return tuple(columns_of(made))


def changed_at(path: Path) -> float:
    """Return a file's modification time in seconds since the epoch; 0 if the file is missing."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _is_sound(backup: Path, newest_version: int) -> bool:
    try:
        with contextlib.closing(open_connection(backup, "frozen reader")) as connection:
            check(connection)
            return 0 < version_of(connection) <= newest_version
    except apsw.Error:
        return False
