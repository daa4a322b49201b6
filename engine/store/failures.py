"""Translate SQLite's errors into messages that say how to fix the problem."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from engine.base.errors import Cancelled, Closed, DiskFull, IndexBusy, IndexCorrupt, IndexReadOnly, StoreError
from engine.base.language import tr

_ANOTHER_SCHEMA = re.compile(
    r"no such \w+|ambiguous column|has no column|already exists|\w+ columns but|file format|malformed|missing"
    r"|vtable constructor"
)
"""SQLite messages for statements that fail because the file's tables are not those of this program."""


@contextmanager
def translated(database: Path) -> Iterator[None]:
    """Raise the engine's errors instead of SQLite's for operations on this database file."""
    try:
        yield
    except apsw.InterruptError:
        raise Cancelled from None
    except apsw.ConnectionClosedError:
        raise Closed from None
    except apsw.FullError as error:
        raise DiskFull(
            tr(
                "The disk is full: nothing more can be indexed until there is room in {folder}. Files "
                "indexed before stay indexed.",
                folder=database.parent,
            )
        ) from error
    except (apsw.CorruptError, apsw.NotADBError, apsw.MismatchError, UnicodeDecodeError) as error:
        raise _damaged(database, error) from error
    except apsw.SQLError as error:
        if _ANOTHER_SCHEMA.search(str(error)) is None:
            raise
        raise _damaged(database, error) from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise IndexReadOnly(unwritable(database.parent)) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise IndexBusy(
            tr("Another process keeps the index {file} busy: try again in a moment.", file=database)
        ) from error
    except apsw.IOError as error:
        raise StoreError(
            tr("The index {file} could not be read or written ({reason}).", file=database, reason=str(error))
        ) from error


def _damaged(database: Path, error: Exception) -> IndexCorrupt:
    return IndexCorrupt(tr("The file {file} seems to be damaged ({reason}).", file=database, reason=str(error)))


def unwritable(folder: Path) -> str:
    """The message for an index in a read-only folder."""
    return tr(
        "The index in {folder} cannot be written: make the folder writable or choose another one with `store.path` in "
        "the settings.",
        folder=folder,
    )
