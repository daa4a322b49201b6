"""Opens the data of a workspace that can't be rebuilt, for a backend that has its index elsewhere."""

from pathlib import Path

from engine.base.errors import IndexReadOnly
from engine.settings import Settings
from engine.store.failures import unwritable
from engine.store.location import IndexFiles, usable_index_files
from engine.store.user_data import UserData


def open_own_data(workspace: Path, settings: Settings) -> tuple[IndexFiles, UserData]:
    """Open the folder of a workspace's data, the same for every backend, and its `user.sqlite`.

    A folder that can't be written is opened read-only; see `UserData.keeps`. Raises the store's errors.
    """
    files = usable_index_files(workspace.resolve(), settings.store.path)
    try:
        files.prepare()
    except OSError as error:
        raise IndexReadOnly(unwritable(files.folder)) from error
    try:
        return files, UserData(files.user)
    except IndexReadOnly:
        return files, UserData(files.user, read_only=True)
