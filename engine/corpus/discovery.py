"""Lists the files that can be indexed, and skipped ones with the rule that excludes them; previews a first sync.

Only directory entries are read, never a file. Roots are resolved once, files not at all: links are skipped, so nothing
below a root can be outside of it.
"""

import math
import os
import stat
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

import msgspec

from engine.base import skip_reasons
from engine.base.cancellation import CancelToken
from engine.base.language import marked
from engine.corpus.documents import ENDINGS as DOCUMENT_ENDINGS
from engine.corpus.file_rules import NOT_CONNECTED, SECRET_FOLDER, FileRules
from engine.corpus.folder_walk import LATEST_NS, DiscoveryListener, Drives, FolderWalk, FoundFile, Neighbours
from engine.corpus.ignore_rules import Match, printable_name
from engine.corpus.indexed_folders import Layout, Root, Roots, find_roots
from engine.corpus.json_notes import ENDINGS as JSON_ENDINGS
from engine.records import FileIssue
from engine.settings import Settings

_OTHER_NAMES = (".asciidoc", ".asc", ".rest", ".mdown", ".mkd")
"""Less common extensions of note files."""
_PLAIN_TEXT = (".tex", ".typ", ".tid", ".fountain", ".srt", ".vtt", ".log", ".csv")
"""Text that many people keep with their notes, but not as notes."""
READABLE_EXTENSIONS = (*Settings().extensions, *_OTHER_NAMES, *JSON_ENDINGS, *DOCUMENT_ENDINGS, *_PLAIN_TEXT)
"""Endings of all files that can be read: notes, canvases, notebooks, documents and other text."""
_LISTED_PER_RULE = 1_000
_LISTED_ENDINGS = 30
_ARCHIVES = frozenset({".zip", ".7z", ".rar", ".tar", ".tgz"})


class SkipSummary:
    """Collects skipped files and folders: listed by name up to a limit per rule.

    Files with other extensions are only counted.
    """

    def __init__(self, extensions: tuple[str, ...]) -> None:
        self._extensions_text = ", ".join(extensions)
        self._issues: list[FileIssue] = []
        self._per_rule: Counter[str] = Counter()
        self.endings: Counter[str] = Counter()
        """Number of files that are skipped for their ending."""

    def add(self, name: str, rule: str, detail: str) -> None:
        self._per_rule[rule] += 1
        if self._per_rule[rule] <= _LISTED_PER_RULE:
            self._issues.append(FileIssue(path=printable_name(name), rule=rule, detail=detail))

    def count_ending(self, base: str) -> None:
        """Count a file that is skipped for its extension."""
        self.endings[os.path.splitext(base)[1].lower()] += 1

    def issues(self) -> list[FileIssue]:
        """Return all skipped files and folders in the order found, then the counts, largest first."""
        issues = list(self._issues)
        for rule, number in self._per_rule.items():
            if number > _LISTED_PER_RULE:
                more = skip_reasons.MORE_OF_A_RULE.message(number=number - _LISTED_PER_RULE)
                issues.append(FileIssue(path="…", rule=rule, detail=more))
        common = self.endings.most_common()
        for ending, number in common[:_LISTED_ENDINGS]:
            name = printable_name(f"*{ending}") if ending else marked("(no extension)")
            if ending in _ARCHIVES:
                issues.append(FileIssue(path=name, rule="archive", detail=skip_reasons.ARCHIVES.message(count=number)))
            else:
                issues.append(self._counted(name, number))
        if rest := sum(number for _, number in common[_LISTED_ENDINGS:]):
            issues.append(self._counted(marked("(other extensions)"), rest))
        return issues

    def _counted(self, name: str, number: int) -> FileIssue:
        detail = skip_reasons.OTHER_EXTENSIONS.message(count=number, extensions=self._extensions_text)
        return FileIssue(path=name, rule="extension", detail=detail)


class Discovery(msgspec.Struct, frozen=True):
    files: list[FoundFile]
    """Found files by root: MEMORY.md, memory.md, memory/** (or the workspace), then extra paths; each folder sorted by
    name.
    """
    skipped: list[FileIssue]
    layout: Layout
    complete: bool = True
    """Whether all folders were listed; False if the limit `most_entries` was reached."""
    endings: Mapping[str, int] = msgspec.field(default_factory=dict)
    """Number of files that were skipped for their extension, by extension."""
    unreachable: Collection[str] = ()
    """Stable names of folders and files that could not be checked."""


def discover(
    workspace: Path,
    settings: Settings,
    *,
    cancel: CancelToken | None = None,
    listener: DiscoveryListener | None = None,
    most_entries: float = math.inf,
    drives: Drives | None = None,
) -> Discovery:
    """List all files of a workspace and its extra paths that the settings allow.

    After `most_entries`, no further folder is listed. `drives`: detects roots whose drive is not connected.
    Raises `WorkspaceError` if the workspace itself can't be listed, `Cancelled`; every other error becomes an issue.
    """
    roots = find_roots(workspace, settings)
    walk = _Walk(roots, settings, cancel, listener, most_entries)
    paths = (roots.workspace, *(root.path for root in roots.found))
    away = set() if drives is None else {path for path in paths if drives.is_disconnected(path)}
    if roots.layout == "openclaw":
        walk.add_issues_outside_roots(roots)
    for root in roots.found:
        if root.path in away or (not root.extra and roots.workspace in away):
            walk.leave(root)
        else:
            walk.visit(root)
    return Discovery(
        walk.files, walk.skipped.issues(), roots.layout, walk.complete, walk.skipped.endings, walk.unreachable
    )


def discover_in(
    folder: Root, roots: Roots, settings: Settings, *, cancel: CancelToken | None = None, most_entries: float = math.inf
) -> Discovery:
    """List the files below one folder in the workspace that the settings allow. Raises `Cancelled`.

    `folder`: a folder inside one of the `roots` that no rule excludes.
    """
    walk = _Walk(roots, settings, cancel, None, most_entries)
    walk.descend(folder.path, folder.name)
    return Discovery(walk.files, walk.skipped.issues(), roots.layout, walk.complete)


class _Walk(FolderWalk):
    """Walks over all roots of a workspace, and collects files and skipped entries."""

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
        self.skipped = SkipSummary(self._judge.rules.extensions)
        self._root_paths = {root.path for root in roots.found}

    def visit(self, root: Root) -> None:
        """List the files of one root; a missing root is an issue only if the user named it."""
        try:
            state = os.lstat(root.path)
        except FileNotFoundError:
            if root.extra:
                self.skipped.add(root.path, "missing", skip_reasons.NO_EXTRA_PATH.message())
            return
        except OSError as error:
            self._report(root.name or ".", error)
            return
        match = self._judge.root(root, state)
        if match is not None:
            outside = match is SECRET_FOLDER
            self._add_skipped(root.path if outside else root.name, os.path.basename(root.path), match)
        elif stat.S_ISDIR(state.st_mode):
            self.descend(root.path, root.name)
        else:
            self._add_file(root.name, root.path, state)

    def leave(self, root: Root) -> None:
        """Leave the files of a root in the index, since its drive is not connected."""
        self._keep(root.name or ".", NOT_CONNECTED)

    def add_issues_outside_roots(self, roots: Roots) -> None:
        """Add an issue for each note and folder of the workspace outside the indexed folders."""
        if any(root.path == roots.workspace for root in roots.found):
            return
        with self._entries(roots.workspace, ".") as listed:
            for entry in listed:
                if os.path.join(roots.workspace, entry.name) not in self._root_paths:
                    self._add_skipped(entry.name, entry.name, self._judge.outside_memory_folder(entry))

    def _enter(self, entry: os.DirEntry[str], path: str, name: str, neighbours: Neighbours) -> bool:
        if path in self._root_paths:
            return False
        match = self._judge.entry(entry, name)
        if match is not None:
            self._add_skipped(name, entry.name, match)
        elif entry.is_dir(follow_symlinks=False):
            return True
        else:
            self._add_file(name, path, entry.stat(follow_symlinks=False))
        return False

    def _add_file(self, name: str, path: str, state: os.stat_result) -> None:
        changed = state.st_mtime_ns
        self.files.append(FoundFile(name, path, "memory", state.st_size, min(LATEST_NS, changed)))

    def _add_skipped(self, name: str, base: str, match: Match) -> None:
        if match.rule == "extension":
            self.skipped.count_ending(base)
        else:
            self.skipped.add(name, match.rule, match.detail)

    def _skip(self, name: str, match: Match) -> None:
        self._add_skipped(name, "", match)
