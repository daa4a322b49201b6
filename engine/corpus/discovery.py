"""Lists the files that can be indexed, and what was passed over with the rule that did it.

Only directory entries are read, never a file. Roots are resolved once, files not at all: links are passed over, so
nothing below a root can lead out of it.
"""

import math
import os
import stat
from collections.abc import Collection
from pathlib import Path

import msgspec

from engine.base import skip_reasons
from engine.base.cancellation import CancelToken
from engine.corpus.file_rules import SECRET_PLACE, FileRules, unreadable
from engine.corpus.folder_walk import LATEST_NS, DiscoveryListener, FolderWalk, FoundFile
from engine.corpus.ignore import Match
from engine.corpus.roots import Layout, Root, Roots, find_roots
from engine.corpus.skip_summary import SkipSummary
from engine.records import FileIssue
from engine.settings import Settings


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
    walk.descend(folder.path, folder.name)
    return Discovery(walk.files, walk.passed.issues(), roots.layout, walk.whole)


class _Walk(FolderWalk):
    """One pass over the roots."""

    def __init__(
        self,
        roots: Roots,
        settings: Settings,
        cancel: CancelToken | None,
        listener: DiscoveryListener | None,
        most_entries: float,
    ) -> None:
        super().__init__(cancel, listener, most_entries)
        self._judge = FileRules(settings)
        self.passed = SkipSummary(self._judge.rules.extensions)
        self._root_paths = {root.path for root in roots.found}

    def visit(self, root: Root) -> None:
        """List one root; a missing one is only worth a word if the person named it."""
        try:
            state = os.lstat(root.path)
        except FileNotFoundError:
            if root.extra:
                self.passed.add(root.path, "missing", skip_reasons.NO_EXTRA_PATH.said())
            return
        except OSError as error:
            self._unreadable(root.path, error)
            return
        match = self._judge.root(root, state)
        if match is not None:
            outside = match is SECRET_PLACE
            self._pass(root.path if outside else root.name, os.path.basename(root.path), match)
        elif stat.S_ISDIR(state.st_mode):
            self.descend(root.path, root.name)
        else:
            self._take(root.name, root.path, state)

    def account_for_rest(self, roots: Roots) -> None:
        """Say for the workspace's other notes and folders why they are not indexed."""
        if any(root.path == roots.workspace for root in roots.found):
            return
        with self._entries(roots.workspace, ".") as listed:
            for entry in listed:
                if os.path.join(roots.workspace, entry.name) not in self._root_paths:
                    self._pass(entry.name, entry.name, self._judge.beside_memory(entry))

    def _enter(self, entry: os.DirEntry[str], path: str, name: str, neighbours: Collection[str]) -> bool:
        if path in self._root_paths:
            return False
        match = self._judge.entry(entry, name)
        if match is not None:
            self._pass(name, entry.name, match)
        elif entry.is_dir(follow_symlinks=False):
            return True
        else:
            self._take(name, path, entry.stat(follow_symlinks=False))
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
