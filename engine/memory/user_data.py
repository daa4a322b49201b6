"""Opens the user data of a workspace for backends with an external index."""

from pathlib import Path

from engine.base.errors import IndexReadOnly
from engine.settings import Settings
from engine.store.failures import unwritable
from engine.store.location import IndexFiles, usable_index_files
from engine.store.user_data import UserData


def open_own_data(workspace: Path, settings: Settings) -> tuple[IndexFiles, UserData]:
    """Return the folder of a workspace's data, for any backend, and the `user.sqlite` in it.

    In a read-only folder the file is opened for reading only, and `UserData.keeps` is false. Raises the store's errors.
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
