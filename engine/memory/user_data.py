"""Opens what a workspace has that no index can bring back, for a backend that keeps its index elsewhere."""

from pathlib import Path

from engine.base.errors import IndexReadOnly
from engine.settings import Settings
from engine.store.failures import unwritable
from engine.store.location import IndexFiles, usable_index_files
from engine.store.user_data import UserData


def open_own_data(workspace: Path, settings: Settings) -> tuple[IndexFiles, UserData]:
    """The folder in which a workspace's data lies, whatever backend it has, and `user.sqlite` in it.

    A folder that cannot be written is opened for reading only; `UserData.keeps` tells. Raises the store's errors.
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
