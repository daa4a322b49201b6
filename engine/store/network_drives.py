"""Detects network drives: SQLite's write-ahead log needs memory shared on one machine, so it does not work there."""

import os
import struct
import sys
from pathlib import Path

from engine.base import lazy_pattern

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
