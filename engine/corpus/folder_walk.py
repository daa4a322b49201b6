"""Walks folders for notes and sessions; each folder is listed once."""

import contextlib
import errno
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import PathRefused
from engine.corpus.safe_open import scan_folder
from engine.records import Source

DiscoveryListener = Callable[[int, str], None]
"""Called once per folder with the number of files found so far and the folder's stable name."""
LATEST_NS = 2**62
"""The year 2116. A file system, or a transcript, may say 2400 or 9999, which 64 bits cannot hold."""


class FoundFile(msgspec.Struct, frozen=True, gc=False):
    """A file that discovery accepts, as its directory entry describes it."""

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
    """One walk over folders; subclasses decide about files and issues."""

    def __init__(self, cancel: CancelToken | None, listener: DiscoveryListener | None, most_entries: float) -> None:
        """No further folder is listed once `most_entries` were seen."""
        self.files: list[FoundFile] = []
        self.whole = True
        """False once folders were left unlisted."""
        self._entries_left = most_entries
        self._cancel = cancel
        self._listener = listener

    def descend(self, path: str, name: str) -> None:
        """The folder and all below it, depth first in the order of names; its stable `name` may be empty.

        Raises `Cancelled`.
        """
        stack = [(path, name)]
        while stack and self._entries_left > 0:
            path, name = stack.pop()
            if self._cancel is not None:
                self._cancel.checkpoint()
            if self._listener is not None:
                self._listener(len(self.files), name or ".")
            folders = []
            prefix = os.path.join(path, "")
            with self._entries(path, name or ".") as listed:
                neighbours = {entry.name for entry in listed}
                for entry in listed:
                    below = f"{name}/{entry.name}" if name else entry.name
                    inside = prefix + entry.name
                    try:
                        if self._enter(entry, inside, below, neighbours):
                            folders.append((inside, below))
                    except OSError as error:
                        self._unreadable(below, error)
            stack.extend(reversed(folders))
        self.whole = self.whole and not stack

    @contextlib.contextmanager
    def _entries(self, path: str, name: str) -> Iterator[list[os.DirEntry[str]]]:
        """Yield the entries of a folder by name; none if it can't be listed. They are valid within the block."""
        with contextlib.ExitStack() as stack:
            listed: list[os.DirEntry[str]] = []
            try:
                listed = sorted(stack.enter_context(scan_folder(path)), key=lambda entry: entry.name)
            except PathRefused:
                self._unreadable(name, OSError(errno.ELOOP, os.strerror(errno.ELOOP), path))
            except OSError as error:
                self._unreadable(name, error)
            self._entries_left -= len(listed)
            yield listed

    @abstractmethod
    def _enter(self, entry: os.DirEntry[str], path: str, name: str, neighbours: Collection[str]) -> bool:
        """Handle the entry with this stable name if it is a requested file; returns True for a folder to enter.

        `path`: absolute path of the entry, instead of its own (`scan_folder`). `neighbours`: names of everything in its
        folder. May raise OSError.
        """

    @abstractmethod
    def _unreadable(self, name: str, error: OSError) -> None:
        """Record that the system can't read this entry."""
