"""Lists the known workspaces with the state of their indexes, and forgets workspaces."""

import contextlib
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import apsw

from engine.base.errors import IndexBusy, MnemoscopeError, StoreError
from engine.base.language import tr
from engine.records import KnownWorkspace, WorkspaceState
from engine.settings.saving import named_workspaces
from engine.store.connection import WriterLock, open_connection, translated
from engine.store.index_paths import IndexFiles, index_files
from engine.store.session_workspaces import SessionOwnership
from engine.store.snapshot import Snapshot
from engine.store.stored_models import ModelName, stored_models
from engine.store.user_data import UserData
from engine.store.workspace_record import record_workspace, recorded_workspaces


def known_workspaces(
    more: Iterable[Path] = (), *, config: Path | None = None, store_path: str = ""
) -> tuple[KnownWorkspace, ...]:
    """Return the workspaces with an index or a settings table, and `more`, by name. `store_path`: folder of the
    indexes, if not the user's data folder. Raises `SettingsError`.
    """
    indexes = index_files(Path("/"), store_path).folder.parent
    notes = recorded_workspaces(indexes)
    forgotten = {note.folder for note in notes if note.forgotten}
    named = [note.folder for note in notes]
    named += [os.path.realpath(os.path.expanduser(folder)) for folder in (*named_workspaces(config), *more)]
    folders = [folder for folder in dict.fromkeys(named) if folder not in forgotten]
    names = unique_names(folders)
    workspaces = [_known_workspace(folder, names[folder], store_path) for folder in folders]
    return tuple(sorted(workspaces, key=lambda workspace: (workspace.name.casefold(), workspace.folder)))


def current_and_others(
    known: Iterable[KnownWorkspace], folder: Path
) -> tuple[KnownWorkspace, tuple[KnownWorkspace, ...]]:
    """Return the workspace of this folder, known or not, and the others."""
    path = str(folder.resolve())
    workspaces = {known_workspace.folder: known_workspace for known_workspace in known}
    current = workspaces.pop(path, None) or KnownWorkspace(
        folder=path, name=Path(path).name, present=True, index_bytes=0
    )
    return current, tuple(workspaces.values())


def _known_workspace(folder: str, name: str, store_path: str) -> KnownWorkspace:
    files = index_files(Path(folder), store_path)
    size = _index_bytes(files) if files.database.exists() else 0
    return KnownWorkspace(folder=folder, name=name, present=os.path.isdir(folder), index_bytes=size)


def _index_bytes(files: IndexFiles) -> int:
    sizes = files.sizes()
    return sizes.database + sizes.wal + sizes.matrix


def unique_names(folders: Iterable[str]) -> dict[str, str]:
    """Return the display name of each folder: its last part, with as many parent folders as needed to be unique."""
    parts = {folder: Path(folder).parts for folder in folders}
    names = {folder: _name(folder_parts, 0) for folder, folder_parts in parts.items()}
    for depth in range(1, max(map(len, parts.values()), default=0)):
        times = Counter(name.casefold() for name in names.values())
        for folder, name in names.items():
            if times[name.casefold()] > 1:
                names[folder] = _name(parts[folder], depth)
    return names


def _name(parts: tuple[str, ...], above: int) -> str:
    name = parts[-1].strip("/\\") or parts[-1].replace("/", "root")
    outer = [part for part in parts[-1 - above : -1] if part.strip("/\\")]
    return f"{name} ({' › '.join(outer)})" if outer else name


def workspace_state(folder: Path, *, store_path: str = "") -> WorkspaceState:
    """Read the state of a workspace's index without opening its memory; errors are in `problem`."""
    files = index_files(folder, store_path)
    if not files.database.exists():
        return WorkspaceState(files=0, chunks=0, pending_vectors=0, last_sync=None)
    try:
        with translated(files.database), contextlib.closing(open_connection(files.database, "reader")) as connection:
            connection.execute("BEGIN")
            snapshot = Snapshot(connection)
            counts = snapshot.file_count(), snapshot.chunk_count(), _pending(snapshot)
        with contextlib.closing(UserData(files.user, read_only=True)) as user:
            last = next(iter(user.recent_syncs(1)), None)
    except (MnemoscopeError, apsw.Error) as error:
        problem = str(error) if isinstance(error, MnemoscopeError) else tr("The index of this workspace can't be read.")
        return WorkspaceState(files=0, chunks=0, pending_vectors=0, last_sync=None, problem=problem)
    return WorkspaceState(files=counts[0], chunks=counts[1], pending_vectors=counts[2], last_sync=last)


def _pending(snapshot: Snapshot) -> int:
    models = stored_models(snapshot, None)
    if not models:
        return 0
    first = models[0]
    return snapshot.pending_vectors(snapshot.stored_model(*ModelName(first.provider, first.model, first.key)))


def forget_workspace(folder: Path, *, store_path: str = "", remove_index: bool = False) -> int:
    """Remove a workspace from all lists until it is opened again; other workspaces may claim its sessions.

    Notes and data that can't be rebuilt (facts, saved searches) stay. `remove_index` deletes all other data; returns
    the number of freed bytes. Raises `IndexBusy` while its index is being written, `StoreError`.
    """
    folder = Path(os.path.realpath(os.path.expanduser(folder)))
    files = index_files(folder, store_path)
    freed = _remove_index(files) if remove_index and files.database.exists() else 0
    record_workspace(files, folder, forgotten=True)
    with translated(files.session_owners):
        SessionOwnership(files.session_owners).release(folder)
    return freed


def _remove_index(files: IndexFiles) -> int:
    lock = WriterLock(files.lock)
    try:
        if not lock.acquire():
            raise IndexBusy(tr("The index is being written now: try again when its update has ended."))
        size = _index_bytes(files)
        wal_files = [files.database.with_name(files.database.name + end) for end in ("-wal", "-shm")]
        for path in (files.database, *wal_files, files.matrix, files.map):
            path.unlink(missing_ok=True)
        return size
    except OSError as error:
        raise StoreError(tr("The index cannot be removed: {reason}.", reason=error.strerror or error)) from error
    finally:
        lock.close()
