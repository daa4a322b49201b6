"""Opens a file for reading only if it is, at that very moment, a regular file and no link to one."""

import errno
import os
import stat
from pathlib import Path

from engine.errors import PathRefused

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
# O_NONBLOCK: a pipe that took a note's name must not hang the caller in open(). O_BINARY: Windows translates otherwise.
_FLAGS = (
    os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
_IS_A_LINK = {errno.ELOOP, errno.EMLINK}


def open_regular(path: str | Path) -> tuple[int, os.stat_result]:
    """File descriptor and state of the regular file at `path`.

    Raises `PathRefused` for links, folders, pipes and devices, and `OSError` (`FileNotFoundError`,
    `PermissionError` …) as the system reports it.
    """
    named = None if _NO_FOLLOW else os.lstat(path)
    if named is not None and not stat.S_ISREG(named.st_mode):
        raise PathRefused
    try:
        descriptor = os.open(path, _FLAGS)
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


def is_link(state: os.stat_result) -> bool:
    """Whether an `lstat` shows a symbolic link, or a Windows junction, which is one for folders."""
    junction = getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", None)
    return stat.S_ISLNK(state.st_mode) or getattr(state, "st_reparse_tag", 0) == junction
