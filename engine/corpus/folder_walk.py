"""Walks folders for notes and sessions; each folder is listed once."""

import contextlib
import errno
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from operator import attrgetter

import msgspec

from engine.base.cancellation import CancelToken, checkpoint
from engine.base.errors import PathRefused
from engine.corpus.file_rules import unreachable, unreadable
from engine.corpus.ignore_rules import Match
from engine.corpus.safe_open import scan_folder
from engine.records import Source

DiscoveryListener = Callable[[int, str], None]
"""Function called once per folder, with the number of files found so far and the folder's stable name."""
LATEST_NS = 2**62
"""Latest modification time, in the year 2116. File systems and transcripts may have 2400 or 9999, which 64 bits cannot
hold.
"""
Neighbours = Callable[[], frozenset[str]]
"""Returns the names of all entries of a folder, made on the first call: most folders don't need them."""
_NAME = attrgetter("name")
_BETWEEN_CHECKS = 1000
"""Entries of a folder between checks of the cancel token: 10 ms."""

_TRANSIENT = frozenset(
    getattr(errno, name)
    for name in """EIO ESTALE ETIMEDOUT EREMOTEIO ENOTCONN ECONNABORTED ECONNRESET EHOSTDOWN EHOSTUNREACH ENETDOWN
    ENETUNREACH ENODEV ENXIO EMFILE ENFILE ENOMEM EAGAIN EBUSY EINTR""".split()
    if hasattr(errno, name)
)


def is_transient(error: OSError) -> bool:
    """Whether an error says nothing about a file and may pass, such as that of a network drive without connection."""
    return error.errno in _TRANSIENT


_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""Errors for a folder that was deleted, or replaced by a file or a link."""


def is_below(name: str, names: Collection[str]) -> bool:
    """Whether a stable name is among `names`, or below one of them; "" is the whole workspace."""
    while name and name not in names:
        name = name.rpartition("/")[0]
    return name in names


class FoundFile(msgspec.Struct, frozen=True, gc=False):
    """A file to index, with name, path, size and time from its directory entry."""

    name: str
    """Stable name: `/` between parts, Unicode form as on disk."""
    path: str
    """Absolute path."""
    source: Source
    size: int
    """Bytes."""
    mtime_ns: int
    """At most `LATEST_NS`."""


class FolderWalk(ABC):
    """Walks over folders and collects files; subclasses decide about files and issues."""

    def __init__(self, cancel: CancelToken | None, listener: DiscoveryListener | None, most_entries: float) -> None:
        """After `most_entries` entries, no further folder is listed."""
        self.files: list[FoundFile] = []
        self.unreachable: set[str] = set()
        """Stable names of folders and files that could not be checked; their entries stay in an index."""
        self.complete = True
        """Whether all folders were listed; False if the limit was reached."""
        self._entries_left = most_entries
        self._cancel = cancel
        self._listener = listener

    def descend(self, path: str, name: str) -> None:
        """Walk through a folder and its subfolders, depth first, in the order of names.

        `name`: stable name of the folder, may be empty. Raises `Cancelled`.
        """
        stack = [(path, name)]
        while stack and self._entries_left > 0:
            path, name = stack.pop()
            checkpoint(self._cancel)
            if self._listener is not None:
                self._listener(len(self.files), name or ".")
            with self._entries(path, name or ".") as listed:
                folders = self._enter_all(listed, path, name, cache(partial(_names, listed)))
            stack.extend(reversed(folders))
        self.complete = self.complete and not stack

    def _enter_all(
        self, entries: Sequence[os.DirEntry[str]], path: str, name: str, neighbours: Neighbours
    ) -> list[tuple[str, str]]:
        """Add the files among the entries of a folder; returns paths and stable names of the folders to enter."""
        folders = []
        prefix = os.path.join(path, "")
        for number, entry in enumerate(entries):
            if not number % _BETWEEN_CHECKS:
                checkpoint(self._cancel)
            below = f"{name}/{entry.name}" if name else entry.name
            inside = prefix + entry.name
            try:
                if self._enter(entry, inside, below, neighbours):
                    folders.append((inside, below))
            except OSError as error:
                self._report(below, error)
        return folders

    @contextlib.contextmanager
    def _entries(self, path: str, name: str) -> Iterator[list[os.DirEntry[str]]]:
        """Yield the entries of a folder, sorted by name, valid within the block; none if it can't be listed."""
        with contextlib.ExitStack() as stack:
            listed: list[os.DirEntry[str]] = []
            try:
                listed = sorted(stack.enter_context(scan_folder(path)), key=_NAME)
            except PathRefused:
                self._report(name, OSError(errno.ELOOP, os.strerror(errno.ELOOP), path))
            except OSError as error:
                self._report(name, error)
            self._entries_left -= len(listed)
            yield listed

    def _report(self, name: str, error: OSError) -> None:
        """Record that a folder or a file can't be read, by its stable name, or "." for the workspace."""
        if error.errno in _GONE:
            self._skip(name, unreadable(error))
        else:
            self._keep(name, unreachable(error))

    def _keep(self, name: str, match: Match) -> None:
        """Record that a folder or a file can't be read now, so that its entries stay in an index."""
        self.unreachable.add("" if name == "." else name)
        self._skip(name, match)

    @abstractmethod
    def _enter(self, entry: os.DirEntry[str], path: str, name: str, neighbours: Neighbours) -> bool:
        """Add the entry if it is a file to index; returns True for a folder to enter.

        `path`: absolute path of the entry, since its own may be incomplete (`scan_folder`). `name`: its stable name.
        `neighbours`: names of all entries of its folder. May raise OSError.
        """

    @abstractmethod
    def _skip(self, name: str, match: Match) -> None:
        """Record an issue for an entry that can't be read."""


def _names(entries: Sequence[os.DirEntry[str]]) -> frozenset[str]:
    return frozenset(map(_NAME, entries))


# --- Drives that are not connected ------------------------------------------------------------------------------------


class Drives:
    """Detects roots on a drive that is not connected, such as a network drive: they are missing or empty then."""

    def __init__(self, before: Mapping[str, str]) -> None:
        """`before`: the mount points at the last sync, as in `mounts`."""
        self._before = before
        self.mounts: dict[str, str] = {}
        """Folder at which the drive of a root is mounted, by the root's path; only for other drives than the system's.
        """

    def is_disconnected(self, root: str) -> bool:
        """Return whether a root is on a drive that was mounted at the last sync, and isn't now."""
        before = self._before.get(root)
        disconnected = before is not None and not _is_mounted(before) and _is_empty(root)
        mount = before if disconnected else _mount_point(root)
        if mount:
            self.mounts[root] = mount
        return disconnected


def _is_mounted(folder: str) -> bool:
    return os.path.ismount(folder) and os.path.lexists(folder)  # Windows calls every root of a drive mounted


def _is_empty(folder: str) -> bool:
    """Return whether a folder is missing or has no entries; False if that can't be found out."""
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except OSError as error:
        return error.errno in _GONE


def _mount_point(path: str) -> str:
    """Return where the drive of an existing file or folder is mounted; empty for the system's drive."""
    if not os.path.lexists(path):
        return ""
    while not _is_mounted(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return path if path != os.path.dirname(path) or os.path.splitdrive(path)[0] else ""
