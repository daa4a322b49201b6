"""Where the files of one workspace's index live: never in the workspace itself."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import platformdirs


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
        """Cannot be rebuilt: what the person or the program's history put there."""
        return self.folder / "user.sqlite"

    @property
    def matrix(self) -> Path:
        """Disposable copy of the vectors in the form in which they are searched."""
        return self.folder / "vectors.matrix"

    @property
    def lock(self) -> Path:
        """Held by the one process that writes; never deleted."""
        return self.folder / "index.lock"


def index_files(workspace: Path, store_path: str = "") -> IndexFiles:
    """The index files of a workspace, by its real path; nothing is created.

    `store_path` replaces the user's data folder; each workspace still has a folder of its own below it.
    """
    base = Path(store_path).expanduser() if store_path else Path(platformdirs.user_data_dir("mnemoscope", False))
    identity = hashlib.sha256(str(workspace.resolve()).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return IndexFiles(base / "indexes" / identity)
