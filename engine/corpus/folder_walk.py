"""Walks folders for notes and sessions; each folder is listed once."""

import contextlib
import errno
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, partial
from operator import attrgetter

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import PathRefused
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

_TRANSIENT = frozenset(
    getattr(errno, name)
    for name in """EIO ESTALE ETIMEDOUT EREMOTEIO ENOTCONN ECONNABORTED ECONNRESET EHOSTDOWN EHOSTUNREACH ENETDOWN
    ENETUNREACH ENODEV ENXIO EMFILE ENFILE ENOMEM EAGAIN EBUSY EINTR""".split()
    if hasattr(errno, name)
)


def is_transient(error: OSError) -> bool:
    """Whether an error says nothing about a file and may pass, such as that of a network drive without connection."""
    return error.errno in _TRANSIENT


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
        """Stable names of folders and files that could not be checked because of a temporary error; their
        entries stay in an index."""
        self.whole = True
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
            if self._cancel is not None:
                self._cancel.checkpoint()
            if self._listener is not None:
                self._listener(len(self.files), name or ".")
            with self._entries(path, name or ".") as listed:
                folders = self._enter_all(listed, path, name, cache(partial(_names, listed)))
            stack.extend(reversed(folders))
        self.whole = self.whole and not stack

    def _enter_all(
        self, entries: Sequence[os.DirEntry[str]], path: str, name: str, neighbours: Neighbours
    ) -> list[tuple[str, str]]:
        """Add the files among the entries of a folder; returns paths and stable names of the folders to enter."""
        folders = []
        prefix = os.path.join(path, "")
        for entry in entries:
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
        """Yield the entries of a folder, sorted by name; none if it can't be listed. They are valid
        within the block.
        """
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
        if is_transient(error):
            self.unreachable.add("" if name == "." else name)
        self._unreadable(name, error)

    @abstractmethod
    def _enter(self, entry: os.DirEntry[str], path: str, name: str, neighbours: Neighbours) -> bool:
        """Add the entry if it is a file to index; returns True for a folder to enter.

        `path`: absolute path of the entry, since its own may be incomplete (`scan_folder`). `name`: its stable name.
        `neighbours`: names of all entries of its folder. May raise OSError.
        """

    @abstractmethod
    def _unreadable(self, name: str, error: OSError) -> None:
        """Record an issue for an entry that can't be read."""


def _names(entries: Sequence[os.DirEntry[str]]) -> frozenset[str]:
    return frozenset(map(_NAME, entries))
