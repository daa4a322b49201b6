"""SQLite's errors, translated once into sentences that say what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from engine.errors import Cancelled, Closed, DiskFull, IndexBusy, IndexCorrupt, IndexReadOnly, StoreError


@contextmanager
def translated(database: Path) -> Iterator[None]:
    """Raise the engine's errors in place of SQLite's for work on this database file."""
    try:
        yield
    except apsw.InterruptError:
        raise Cancelled from None
    except apsw.ConnectionClosedError:
        raise Closed from None
    except apsw.FullError as error:
        raise DiskFull(
            f"The disk is full: nothing more can be indexed until there is room in {database.parent}. "
            "What was indexed before is kept."
        ) from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise IndexCorrupt(f"The index file {database} seems to be damaged ({error}).") from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise IndexReadOnly(
            f"The index in {database.parent} cannot be written: make the folder writable or choose another one "
            "with `store.path` in the settings."
        ) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise IndexBusy(f"Another process keeps the index {database} busy: try again in a moment.") from error
    except apsw.IOError as error:
        raise StoreError(f"The index {database} could not be read or written ({error}).") from error
