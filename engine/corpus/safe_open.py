"""Opens a file for reading only if it is a regular file and its path contains no link.

If the system can open names relative to a folder's descriptor, every folder on the path is opened in this way, and no
link is followed: a folder that is replaced by a link meanwhile is refused, however fast. On other systems (Windows) the
path is compared once the file is open.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from engine.base.errors import PathRefused

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BY_DESCRIPTOR = os.open in os.supports_dir_fd and bool(_NO_FOLLOW) and hasattr(os, "O_DIRECTORY")
# O_NONBLOCK: a pipe that took a note's name must not hang the caller in open(). O_BINARY: Windows translates otherwise.
_FLAGS = (
    os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
_FOLDER_FLAGS = _FLAGS | getattr(os, "O_DIRECTORY", 0)
# O_PATH, O_SEARCH: a folder on the path, such as /home, may be one that can be entered but not listed.
_PARENT_FLAGS = _FOLDER_FLAGS | getattr(os, "O_PATH", getattr(os, "O_SEARCH", 0))
_ATTEMPTS = 3
_JUNCTION = getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", None)
_IS_A_LINK = {errno.ELOOP, errno.EMLINK}
_IS_NO_FOLDER = {*_IS_A_LINK, errno.ENOTDIR}
"""Error codes for a link that is opened as a folder; Linux gives ENOTDIR."""


def open_regular(path: str | Path) -> tuple[int, os.stat_result]:
    """Open a regular file; returns its descriptor and state. The path's folder must be resolved.

    Raises `PathRefused` for links, folders, pipes and devices, and for a path with a link in it: a folder may have
    become one since it was listed. Raises the system's `OSError` (`FileNotFoundError`, `PermissionError` …).
    """
    if not _BY_DESCRIPTOR:
        return _open_compared(path)
    folder, name = os.path.split(os.path.abspath(path))
    descriptor = _open_without_links(folder, _PARENT_FLAGS)
    try:
        return _open(name, descriptor)
    except OSError as error:
        error.filename = os.fspath(path)
        raise
    finally:
        os.close(descriptor)


class OpenFolder:
    """A folder that stays the same while it is open, whatever happens to its path."""

    def __init__(self, path: str, descriptor: int | None, entries: Iterator[os.DirEntry[str]]) -> None:
        """`descriptor` is None where the system opens no names relative to a folder."""
        self.path = path
        self.descriptor = descriptor
        self._entries = entries

    def __iter__(self) -> Iterator[os.DirEntry[str]]:
        return self._entries

    def state(self, name: str) -> os.stat_result:
        """Return the state of the entry with this name, itself if it is a link. Raises the system's `OSError`."""
        if self.descriptor is None:
            return os.lstat(os.path.join(self.path, name))
        return os.lstat(name, dir_fd=self.descriptor)


@contextlib.contextmanager
def scan_folder(path: str) -> Iterator[OpenFolder]:
    """Open a folder to list it like `os.scandir`, without following links. The path must be resolved.

    Don't use an entry's `path`: where the system opens folders by descriptor, it is the name alone. Its `stat` works
    within the block. Raises `PathRefused` for a path with a link in it, and the system's `OSError`.
    """
    if not _BY_DESCRIPTOR:
        with os.scandir(path) as entries:
            yield OpenFolder(path, None, entries)
        return
    descriptor = _open_without_links(path, _FOLDER_FLAGS)
    try:
        with os.scandir(descriptor) as entries:
            yield OpenFolder(path, descriptor, entries)
    finally:
        os.close(descriptor)


def first_bytes(path: str, most: int) -> bytes:
    """Return the first bytes of a file, at most so many; empty if it can't be read, or is no regular file."""
    try:
        with open_binary(path) as file:
            return file.read(most)
    except (OSError, ValueError, PathRefused):
        return b""


def open_binary(path: str | Path) -> BinaryIO:
    """Open a file like `open_regular`, as a file object that the caller closes."""
    descriptor, _ = open_regular(path)
    return os.fdopen(descriptor, "rb")


class FolderFiles:
    """Opens many files like `open_regular`; keeps the last folder open, so that its path is opened only once."""

    def __init__(self) -> None:
        self._path = ""
        self._descriptor = -1

    def open(self, path: str) -> tuple[int, os.stat_result]:
        """Open a regular file; returns its descriptor and state. Raises the errors of `open_regular`."""
        if not _BY_DESCRIPTOR:
            return open_regular(path)
        folder, _, name = path.rpartition(os.sep)
        if folder != self._path:
            self.close()
            self._descriptor, self._path = _open_without_links(folder, _PARENT_FLAGS), folder
        return _open(name, self._descriptor)

    def close(self) -> None:
        if self._path:
            os.close(self._descriptor)
            self._path = ""


def _open_without_links(folder: str, flags: int) -> int:
    """Open a folder and each folder above it without following links; returns its descriptor.

    `flags` apply to the last folder.
    """
    parts = [part for part in os.path.abspath(folder).split(os.sep) if part]
    descriptor = os.open(os.sep, _PARENT_FLAGS if parts else flags)
    for depth, part in enumerate(parts, 1):
        try:
            below = os.open(part, flags if depth == len(parts) else _PARENT_FLAGS, dir_fd=descriptor)
        except OSError as error:
            if error.errno in _IS_NO_FOLDER:
                raise PathRefused from error
            error.filename = folder
            raise
        finally:
            os.close(descriptor)
        descriptor = below
    return descriptor


def _open_compared(path: str | Path) -> tuple[int, os.stat_result]:
    """Implement `open_regular` on systems that can't open names relative to a folder."""
    for _ in range(_ATTEMPTS):
        descriptor, state = _open(path)
        try:
            # In this order: were the folder a link while the file was opened, another file would be found here now.
            if _is_resolved(os.path.dirname(path)) and os.path.samestat(os.lstat(path), state):
                return descriptor, state
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # perhaps an editor has just put a new file in place of this one
    raise PathRefused


def _open(path: str | Path, folder: int | None = None) -> tuple[int, os.stat_result]:
    """Open a regular file without checking the folders above it.

    `folder`: descriptor that `path` is relative to.
    """
    named = None if _NO_FOLLOW else os.lstat(path)
    if named is not None and not stat.S_ISREG(named.st_mode):
        raise PathRefused
    try:
        descriptor = os.open(path, _FLAGS) if folder is None else os.open(path, _FLAGS, dir_fd=folder)
    except OSError as error:
        if error.errno in _IS_A_LINK and _NO_FOLLOW:
            raise PathRefused from error
        raise
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or (named is not None and not os.path.samestat(named, state)):
            raise PathRefused
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, state


def _is_resolved(folder: str) -> bool:
    return os.path.normcase(os.path.realpath(folder)) == os.path.normcase(os.path.abspath(folder))


def is_link(state: os.stat_result) -> bool:
    """Whether an `lstat` result is of a symbolic link, or of a Windows junction, a link to a folder."""
    return stat.S_ISLNK(state.st_mode) or (_JUNCTION is not None and getattr(state, "st_reparse_tag", 0) == _JUNCTION)
