"""The file workspace.json next to an index: the path of its workspace, since the folder's name is only a hash of it.

It also identifies a workspace whose folder was renamed, so that its index, its options and the user's data are found
again.
"""

import contextlib
import os
from itertools import islice
from pathlib import Path

import apsw
import msgspec

from engine.base import lazy_logger
from engine.base.bounded_json import decode_json
from engine.base.errors import MnemoscopeError, SettingsError
from engine.base.language import tr
from engine.base.private_files import read_file, replace_file
from engine.settings import Settings
from engine.store.index_paths import IndexFiles, index_files

log = lazy_logger(__name__)

_SAMPLE = 200
"""Maximum number of indexed files that are compared with the files in a folder."""


class WorkspaceRecord(msgspec.Struct, frozen=True):
    folder: str
    """Real path of the workspace."""
    forgotten: bool = False
    """Whether the workspace is hidden from lists until it is opened again."""
    inode: int = 0
    """Inode of the folder, which a new name does not change; 0 if it identifies nothing."""


def record_workspace(files: IndexFiles, workspace: Path, *, forgotten: bool = False) -> None:
    """Record which workspace an index belongs to. Write errors are ignored: the index works without this file."""
    path = _path(files.folder)
    former = _read(path)
    record = WorkspaceRecord(str(workspace), forgotten, _inode(workspace) or (former.inode if former else 0))
    if former == record:
        return
    with contextlib.suppress(OSError):
        replace_file(path, msgspec.json.encode(record))


def recorded_workspaces(indexes: Path) -> list[WorkspaceRecord]:
    """Return the workspaces recorded next to all indexes in a folder, sorted by path."""
    return sorted((record for _, record in _records(indexes)), key=lambda record: record.folder)


def adopt_renamed(workspace: Path, settings: Settings, config: Path | None = None) -> str:
    """If a workspace without an index was renamed, give it the index and the options of its former name.

    Otherwise, facts, saved searches and folders of sessions would seem to be lost. Returns a sentence for the user if
    there were options: settings have to be read again.
    """
    folder = workspace.resolve()
    former = _adopt_moved_index(index_files(folder, settings.store.path), folder)
    if not former:
        return ""
    from engine.settings.saving import rename_layer  # folders are rarely renamed

    try:
        if not rename_layer(former, folder, config):
            return ""
    except (SettingsError, OSError) as error:
        log.warning("The options of a renamed folder keep its former name: %s", type(error).__name__)
        return tr(
            "{former} was renamed, but its options could not be given to {folder}: {problem}",
            former=former,
            folder=folder,
            problem=error,
        )
    return tr("{former} was renamed: its options now apply to {folder}.", former=former, folder=folder)


def _adopt_moved_index(files: IndexFiles, workspace: Path) -> str:
    """Give a workspace without an index that of its former name; returns the former path, empty if there is none.

    The former folder must be missing, and have had the same inode, and one of its files with the same size and time,
    since inodes are used again. An index that is in use is not moved.
    """
    if os.path.lexists(files.folder) or not (inode := _inode(workspace)):
        return ""
    for former, record in _records(files.folder.parent):
        if record.inode != inode or os.path.lexists(record.folder) or not _shares_file(former, workspace):
            continue
        if _is_open(former):
            log.warning("The index of a renamed folder is in use, so a new one is made")
            return ""
        with contextlib.suppress(OSError):  # such as one that another process has just renamed
            former.folder.rename(files.folder)
            log.info("The index of a renamed folder was adopted")
            return record.folder
    return ""


def _shares_file(files: IndexFiles, workspace: Path) -> bool:
    """Return whether a note of this index is in a folder, with the size and time that the index has."""
    from engine.store.connection import open_connection
    from engine.store.snapshot import Snapshot

    try:
        with contextlib.closing(open_connection(files.database, "reader")) as connection:
            indexed = Snapshot(connection).files("memory")
    except (MnemoscopeError, apsw.Error, OSError):
        return False
    for name, file in islice(indexed.items(), _SAMPLE):
        with contextlib.suppress(OSError, ValueError):
            found = (workspace / name).stat()
            if (found.st_size, found.st_mtime_ns) == (file.size, file.mtime_ns):
                return True
    return False


def _is_open(files: IndexFiles) -> bool:
    """Return whether one of the databases is open: SQLite must not find its files under other names."""
    for database in (files.database, files.user):
        if not database.exists():
            continue
        try:
            with contextlib.closing(apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
                connection.pragma("locking_mode", "exclusive")  # succeeds only without another connection
                connection.execute("BEGIN EXCLUSIVE")
                connection.execute("ROLLBACK")
        except apsw.Error:
            return True
    return False


def _records(indexes: Path) -> list[tuple[IndexFiles, WorkspaceRecord]]:
    """Return the indexes in a folder that have a record, with it."""
    try:
        folders = [Path(entry.path) for entry in os.scandir(indexes) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return [(IndexFiles(folder), record) for folder in folders if (record := _read(_path(folder))) is not None]


def _inode(workspace: Path) -> int:
    """Return the inode of a folder; 0 if it is missing or the root of a disk, whose inode is the same on every disk."""
    try:
        return 0 if os.path.ismount(workspace) else workspace.stat().st_ino
    except OSError:
        return 0


def _path(folder: Path) -> Path:
    return folder / "workspace.json"


def _read(path: Path) -> WorkspaceRecord | None:
    try:
        return decode_json(read_file(path), WorkspaceRecord)
    except (OSError, ValueError):
        return None
