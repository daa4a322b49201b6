"""Saves an export to a file of the user: wholly, or not at all.

It is written to a temporary file in the same folder, and renamed when it is complete, so that neither a full disk nor
an end of the program leaves half a file in place of an older one.
"""

import errno
import os
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QStandardPaths

from engine import (
    MnemoscopeError,
    exporting,
    tr,
)
from gui.core.workspace import Opened


def documents_folder() -> str:
    """Return the folder in which file dialogs open."""
    return QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)


class SavingFailed(MnemoscopeError):
    """Raised when a file could not be written; an existing file is unchanged."""


def note_paths(opened: Opened) -> tuple[Path, ...]:
    """Return all paths that are searched: the workspace's folder, other indexed paths, and the session folders of
    agents."""
    settings = opened.settings
    listed = filter(None, map(str.strip, (*settings.extra_paths, *settings.sessions.folders)))
    return (opened.folder, *(opened.folder / os.path.expanduser(text) for text in listed))  # noqa: PTH111 - see Options


def save_whole(path: Path, data: bytes, *, notes: Iterable[Path], may_replace: bool = True) -> None:
    """Write `data` to the file `path`. An existing file in one of the paths `notes` is never replaced.

    Any thread. Raises `SavingFailed`.
    """
    try:
        if not may_replace and os.path.lexists(path):
            raise SavingFailed(tr("{path} already exists. Choose another name.", path=path))
        if os.path.lexists(path) and any(path.resolve().is_relative_to(note.resolve()) for note in notes):
            raise SavingFailed(
                tr("{name} is one of your notes, which are never changed: choose another name.", name=path.name)
            )
        if path.is_dir():
            raise SavingFailed(tr("{path} is a folder: choose a name for the file in it.", path=path))
        target = path.resolve()  # a link stays a link
        with exporting(target) as file:
            file.write(data)
    except OSError as error:
        raise SavingFailed(_sentence(path, error)) from error


def _sentence(path: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return tr("The disk of {folder} is full. Free some space, or choose another folder.", folder=path.parent)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return tr("{folder} cannot be written: choose another folder.", folder=path.parent)
    if error.errno == errno.ENOENT:
        return tr("The folder {folder} no longer exists. Choose another one.", folder=path.parent)
    return tr("{path} cannot be written: {reason}.", path=path, reason=(error.strerror or str(error)).rstrip("."))
