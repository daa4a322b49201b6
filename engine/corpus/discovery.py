"""Lists the files that can be indexed, and what was passed over with the rule that did it.

Only directory entries are read, never a file. Roots are resolved once, files not at all: links are passed over, so
nothing below a root can lead out of it.
"""

import math
import os
import stat
from collections.abc import Callable
from pathlib import Path

import msgspec

from engine import reasons
from engine.control import CancelToken
from engine.corpus.ignore import Match
from engine.corpus.judging import SECRET_PLACE, Judge, unreadable
from engine.corpus.passed import Passed
from engine.corpus.roots import Layout, Root, Roots, find_roots
from engine.records import FileIssue, Source
from engine.settings import Settings

DiscoveryListener = Callable[[int, str], None]
"""Called once a folder with the number of files found so far and the folder's stable name."""


LATEST_NS = 2**62
"""The year 2116. A file system, or a transcript, may say 2400 or 9999, which 64 bits cannot hold."""


class FoundFile(msgspec.Struct, frozen=True, gc=False):
    """A file that discovery accepts, as its directory entry describes it."""

    name: str
    """Stable name: `/` between parts, letters composed or decomposed as on disk."""
    path: str
    """Absolute path."""
    source: Source
    size: int
    """Bytes."""
    mtime_ns: int
    """At most `LATEST_NS`."""


class Discovery(msgspec.Struct, frozen=True):
    files: list[FoundFile]
    """By root: MEMORY.md, memory.md, memory/** (or the workspace), then extra paths; each folder sorted by name."""
    skipped: list[FileIssue]
    layout: Layout
    whole: bool = True
    """False where the walk ended at `most_entries`."""


def discover(
    workspace: Path,
    settings: Settings,
    *,
    cancel: CancelToken | None = None,
    listener: DiscoveryListener | None = None,
    most_entries: float = math.inf,
) -> Discovery:
    """Everything that the settings allow below the workspace's roots, now.

    After the folder with which `most_entries` were seen, no further one is listed.
    Raises `WorkspaceError` if the workspace itself cannot be listed, `Cancelled`; all else becomes an issue.
    """
    roots = find_roots(workspace, settings)
    walk = _Walk(roots, settings, cancel, listener, most_entries)
    if roots.layout == "openclaw":
        walk.account_for_rest(roots)
    for root in roots.found:
        walk.visit(root)
    return Discovery(walk.files, walk.passed.issues(), roots.layout, walk.whole)


def discover_in(
    folder: Root, roots: Roots, settings: Settings, *, cancel: CancelToken | None = None, most_entries: float = math.inf
) -> Discovery:
    """The same for a folder inside of one of the `roots`, whose way there no rule bars. Raises `Cancelled`."""
    walk = _Walk(roots, settings, cancel, None, most_entries)
    walk.walk(folder)
    return Discovery(walk.files, walk.passed.issues(), roots.layout, walk.whole)


class _Walk:
    """One pass over the roots."""

    def __init__(
        self,
        roots: Roots,
        settings: Settings,
        cancel: CancelToken | None,
        listener: DiscoveryListener | None,
        most_entries: float,
    ) -> None:
        self.files: list[FoundFile] = []
        self.whole = True
        self._entries_left = most_entries
        self._judge = Judge(settings)
        self.passed = Passed(self._judge.rules.extensions)
        self._cancel = cancel
        self._listener = listener
        self._root_paths = {root.path for root in roots.found}

    def visit(self, root: Root) -> None:
        """List one root; a missing one is only worth a word if the person named it."""
        try:
            state = os.lstat(root.path)
        except FileNotFoundError:
            if root.extra:
                self.passed.add(root.path, "missing", reasons.NO_EXTRA_PATH.said())
            return
        except OSError as error:
            self._unreadable(root.path, error)
            return
        match = self._judge.root(root, state)
        if match is not None:
            outside = match is SECRET_PLACE
            self._pass(root.path if outside else root.name, os.path.basename(root.path), match)
        elif stat.S_ISDIR(state.st_mode):
            self.walk(root)
        else:
            self._take(root.name, root.path, state)

    def account_for_rest(self, roots: Roots) -> None:
        """Say for the workspace's other notes and folders why they are not indexed."""
        if any(root.path == roots.workspace for root in roots.found):
            return
        for entry in self._entries(roots.workspace, "."):
            if entry.path in self._root_paths:
                continue
            self._pass(entry.name, entry.name, self._judge.beside_memory(entry))

    def walk(self, root: Root) -> None:
        """The folder and all below it, depth first in the order of names."""
        stack = [(root.path, root.name)]
        while stack and self._entries_left > 0:
            path, name = stack.pop()
            if self._cancel is not None:
                self._cancel.checkpoint()
            if self._listener is not None:
                self._listener(len(self.files), name or ".")
            prefix = name + "/" if name else ""
            folders = [
                (entry.path, prefix + entry.name)
                for entry in self._entries(path, name or ".")
                if self._enter(entry, prefix + entry.name)
            ]
            stack.extend(reversed(folders))
        self.whole = self.whole and not stack

    def _entries(self, path: str, name: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(path) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self._unreadable(name, error)
            return []
        self._entries_left -= len(listed)
        return listed

    def _enter(self, entry: os.DirEntry[str], name: str) -> bool:
        """Take the entry if it is a file; True for a folder to go into."""
        if entry.path in self._root_paths:
            return False
        match = self._judge.entry(entry, name)
        if match is not None:
            self._pass(name, entry.name, match)
        elif entry.is_dir(follow_symlinks=False):
            return True
        else:
            self._take(name, entry.path, entry.stat(follow_symlinks=False))
        return False

    def _take(self, name: str, path: str, state: os.stat_result) -> None:
        self.files.append(FoundFile(name, path, "memory", state.st_size, min(state.st_mtime_ns, LATEST_NS)))

    def _pass(self, name: str, base: str, match: Match) -> None:
        if match.rule == "extension":
            self.passed.count_ending(base)
        else:
            self.passed.add(name, match.rule, match.detail)

    def _unreadable(self, name: str, error: OSError) -> None:
        self._pass(name, "", unreadable(error))
