"""Paths of the files of one workspace's index: never inside the workspace, nor on a network drive.

SQLite's write-ahead log needs memory shared on one machine, so it does not work on a network drive.
"""

import os
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from engine.base import lazy_pattern
from engine.base.errors import StoreError
from engine.base.language import tr
from engine.base.private_files import data_folder, make_folder, secure_folder

if TYPE_CHECKING:
    from engine.records import IndexSizes

try:  # as in random.py of Python 3.11: hashlib loads OpenSSL, which takes longer than a keyword search
    from _sha256 import sha256  # type: ignore[import-not-found]
except ImportError:
    from hashlib import sha256

_NETWORK = frozenset(
    "nfs nfs4 cifs smb smbfs smb2 smb3 afs afpfs ncpfs ceph lustre gpfs beegfs glusterfs webdav davfs fuse.sshfs "
    "fuse.davfs2 fuse.rclone fuse.glusterfs fuse.ceph fuse.s3fs fuse.cifs fuse.smbnetfs fuse.gvfsd-fuse".split()
)
_MOUNTS = Path("/proc/self/mounts")
_OCTAL = lazy_pattern(r"\\([0-7]{3})")
_DRIVE_REMOTE = 4
_MNT_LOCAL = 0x1000
_STATFS_BYTES = 4096
_STATFS_FLAGS = 64
"""Offset of `f_flags` in macOS's `struct statfs` of 64-bit inodes."""


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
    def session_owners(self) -> Path:
        """Database that records in which workspace each session is indexed; shared by the indexes in a folder."""
        return self.folder.parent / "session-homes.sqlite"

    def prepare(self) -> None:
        """Create the folder, make it and its files private, and remove temporary files. Raises OSError."""
        make_folder(self.folder)
        secure_folder(self.folder)
        secure_folder(self.folder.parent)
        secure_folder(data_folder())

    def of_workspace(self, workspace: Path) -> "IndexFiles":
        """Return the files of another workspace whose index is in the same parent folder."""
        return IndexFiles(self.folder.parent / _identity(workspace))

    def sizes(self) -> "IndexSizes":
        """Return the files' sizes in bytes, without opening the database a second time."""
        from engine.records import IndexSizes  # a search doesn't need it

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
                "this machine's own disk for `store.path` in place of {folder}.",
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


def on_network_drive(folder: Path) -> bool:
    """Whether the folder, or its closest existing parent, is on a network drive; False if this can't be determined."""
    there = folder.resolve()
    while not there.exists() and there != there.parent:
        there = there.parent
    try:
        if sys.platform == "linux":
            return file_system(_MOUNTS.read_text("utf-8", "surrogateescape"), str(there)) in _NETWORK
        if sys.platform == "darwin":
            return _is_remote_on_macos(there)
        if sys.platform == "win32":
            return _is_remote_on_windows(there)
    except (OSError, AttributeError):
        pass  # no such function or list here
    return False


def file_system(mounts: str, path: str) -> str:
    """Return the type of the file system that holds a path, by the text of `/proc/mounts`; "" if none does."""
    longest, kind = -1, ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        mount = fields[1]
        if "\\" in mount:
            mount = _OCTAL.sub(lambda match: chr(int(match[1], 8)), mount)
        inside = path == mount or path.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= longest:  # a later mount hides earlier ones
            longest, kind = len(mount), fields[2]
    return kind


def _is_remote_on_macos(folder: Path) -> bool:
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    # On Intel, plain `statfs` still fills the 32-bit inode structure.
    statfs = getattr(library, "statfs$INODE64", None) or library.statfs
    state = ctypes.create_string_buffer(_STATFS_BYTES)
    if statfs(os.fsencode(folder), state) != 0:
        return False
    (flags,) = struct.unpack_from("=I", state.raw, _STATFS_FLAGS)
    return not flags & _MNT_LOCAL


def _is_remote_on_windows(folder: Path) -> bool:
    import ctypes

    return bool(ctypes.windll.kernel32.GetDriveTypeW(folder.anchor) == _DRIVE_REMOTE)  # type: ignore[attr-defined,unused-ignore]


def _identity(workspace: Path) -> str:
    return str(sha256(str(workspace.resolve()).encode("utf-8", "surrogatepass")).hexdigest()[:16])


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
