"""Paths of the files of one workspace's index. They are never inside the workspace itself."""

import os
from pathlib import Path

import msgspec

from engine.base.errors import StoreError
from engine.base.language import tr
from engine.base.private_files import data_folder, make_folder, tidy_folder
from engine.records import IndexSizes
from engine.store.network_drives import on_network_drive

try:  # as in random.py of Python 3.11: hashlib loads OpenSSL, which takes longer than a keyword search
    from _sha256 import sha256  # type: ignore[import-not-found]
except ImportError:
    from hashlib import sha256


class IndexFiles(msgspec.Struct, frozen=True):
    """Paths of all files that belong to one workspace's index."""

    folder: Path

    @property
    def database(self) -> Path:
        """The index database. Can always be rebuilt from the notes."""
        return self.folder / "index.sqlite"

    @property
    def user(self) -> Path:
        """The user's own data and the program's history. Cannot be rebuilt."""
        return self.folder / "user.sqlite"

    @property
    def matrix(self) -> Path:
        """Disposable copy of the vectors in the format used for searching."""
        return self.folder / "vectors.matrix"

    @property
    def map(self) -> Path:
        """Disposable coordinates of the chunks on the map."""
        return self.folder / "chunks.map"

    @property
    def lock(self) -> Path:
        """Lock file, held by the only writing process; never deleted."""
        return self.folder / "index.lock"

    @property
    def homes(self) -> Path:
        """Database that records in which workspace each session is indexed; shared by the indexes in a folder."""
        return self.folder.parent / "session-homes.sqlite"

    def prepare(self) -> None:
        """Create the folder with private permissions, correct permissions in it, and remove temporary files. Raises
        OSError.
        """
        make_folder(self.folder)
        tidy_folder(self.folder)
        tidy_folder(self.folder.parent)
        tidy_folder(data_folder())

    def of_workspace(self, workspace: Path) -> "IndexFiles":
        """Return the files of another workspace whose index is in the same parent folder."""
        return IndexFiles(self.folder.parent / _identity(workspace))

    def sizes(self) -> IndexSizes:
        """Return the files' sizes in bytes, without opening the database a second time."""
        wal = self.database.with_name(self.database.name + "-wal")
        return IndexSizes(
            database=_size(self.database), wal=_size(wal), matrix=_size(self.matrix), user=_size(self.user)
        )


def index_files(workspace: Path, store_path: str = "") -> IndexFiles:
    """Return the index files of a workspace, identified by its real path; creates nothing.

    `store_path` replaces the user's data directory; each workspace still gets its own folder inside it.
    """
    base = Path(os.path.expanduser(store_path)) if store_path else data_folder()
    return IndexFiles(base / "indexes" / _identity(workspace))


def usable_index_files(workspace: Path, store_path: str) -> IndexFiles:
    """Like `index_files`, but reject folders inside the workspace and on network drives, where SQLite can't work.

    Raises `StoreError`.
    """
    files = index_files(workspace, store_path)
    if on_network_drive(files.folder):
        raise StoreError(
            tr(
                "The index can't be stored on a network drive, where it could be damaged: choose a folder on "
                "this computer's own disk for `store.path` in place of {folder}.",
                folder=store_path or files.folder,
            )
        )
    if store_path and files.folder.resolve().is_relative_to(workspace):
        raise StoreError(
            tr(
                "The index can't be stored among the notes: choose a folder outside {folder} for `store.path`.",
                folder=workspace,
            )
        )
    return files


def _identity(workspace: Path) -> str:
    return str(sha256(str(workspace.resolve()).encode("utf-8", "surrogatepass")).hexdigest()[:16])


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
