"""Where the files of one workspace's index live: never in the workspace itself."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from engine.base.errors import StoreError
from engine.base.language import tr
from engine.base.private_files import data_folder, make_folder, tidy_folder
from engine.records import IndexSizes
from engine.store.network_drives import on_network_drive


@dataclass(frozen=True)
class IndexFiles:
    """Paths of everything that belongs to one workspace's index."""

    folder: Path

    @property
    def database(self) -> Path:
        """Can always be rebuilt from the notes."""
        return self.folder / "index.sqlite"

    @property
    def user(self) -> Path:
        """Can't be rebuilt: the user's data and the program's history."""
        return self.folder / "user.sqlite"

    @property
    def matrix(self) -> Path:
        """Disposable copy of the vectors in the form in which they are searched."""
        return self.folder / "vectors.matrix"

    @property
    def map(self) -> Path:
        """Disposable coordinates of the chunks on the map."""
        return self.folder / "chunks.map"

    @property
    def lock(self) -> Path:
        """Held by the one process that writes; never deleted."""
        return self.folder / "index.lock"

    @property
    def homes(self) -> Path:
        """Which workspace each session belongs to: one file for all workspaces whose indexes are in one folder."""
        return self.folder.parent / "session-homes.sqlite"

    def prepare(self) -> None:
        """Make the folder for the user alone; repair modes there, and remove leftovers of writing. Raises OSError."""
        make_folder(self.folder)
        tidy_folder(self.folder)
        tidy_folder(self.folder.parent)
        tidy_folder(data_folder())

    def of(self, workspace: Path) -> "IndexFiles":
        """The files of another workspace, whose index is next to this one."""
        return IndexFiles(self.folder.parent / _identity(workspace))

    def sizes(self) -> IndexSizes:
        """Bytes on disk, from the directory: an open database is never opened twice."""
        wal = self.database.with_name(self.database.name + "-wal")
        return IndexSizes(
            database=_size(self.database), wal=_size(wal), matrix=_size(self.matrix), user=_size(self.user)
        )


def index_files(workspace: Path, store_path: str = "") -> IndexFiles:
    """Return the paths of a workspace's index files, by its real path; creates nothing.

    `store_path` replaces the user's data folder; each workspace still has its own folder below it.
    """
    base = Path(os.path.expanduser(store_path)) if store_path else data_folder()
    return IndexFiles(base / "indexes" / _identity(workspace))


def usable_index_files(workspace: Path, store_path: str) -> IndexFiles:
    """The same, checked: never among the notes, where nothing is ever written, nor where SQLite cannot work.

    Raises `StoreError`.
    """
    files = index_files(workspace, store_path)
    if on_network_drive(files.folder):
        raise StoreError(
            tr(
                "The index would lie on a network drive, where it could be damaged: choose a folder on this computer's "
                "own disk for `store.path` in place of {folder}.",
                folder=store_path or files.folder,
            )
        )
    if store_path and files.folder.resolve().is_relative_to(workspace):
        raise StoreError(
            tr(
                "The index would lie among the notes: choose a folder outside {folder} for `store.path`.",
                folder=workspace,
            )
        )
    return files


def _identity(workspace: Path) -> str:
    return hashlib.sha256(str(workspace.resolve()).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
