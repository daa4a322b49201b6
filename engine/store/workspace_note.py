"""The file workspace.json next to an index: the path of its workspace, since the folder's name is only a hash of it."""

import contextlib
import os
from pathlib import Path

import msgspec

from engine.base.bounded_json import decode_json
from engine.base.private_files import read_file, replace_file
from engine.store.index_paths import IndexFiles


class WorkspaceNote(msgspec.Struct, frozen=True):
    folder: str
    """Real path of the workspace."""
    forgotten: bool = False
    """Whether the workspace is hidden from lists until it is opened again."""


def note_workspace(files: IndexFiles, workspace: Path, *, forgotten: bool = False) -> None:
    """Record which workspace an index belongs to. Write errors are ignored: the index works without this file."""
    note = WorkspaceNote(str(workspace), forgotten)
    path = _path(files.folder)
    if _read(path) == note:
        return
    with contextlib.suppress(OSError):
        replace_file(path, msgspec.json.encode(note))


def noted_workspaces(indexes: Path) -> list[WorkspaceNote]:
    """Return the workspaces recorded next to all indexes in a folder, sorted by path."""
    try:
        folders = [entry.path for entry in os.scandir(indexes) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    notes = filter(None, (_read(_path(Path(folder))) for folder in folders))
    return sorted(notes, key=lambda note: note.folder)


def _path(folder: Path) -> Path:
    return folder / "workspace.json"


def _read(path: Path) -> WorkspaceNote | None:
    try:
        return decode_json(read_file(path), WorkspaceNote)
    except (OSError, ValueError):
        return None
