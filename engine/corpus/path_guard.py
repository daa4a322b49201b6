"""Converts stable names to paths, only for files that may be indexed under the current rules."""

import contextlib
import os
import stat
import unicodedata
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.base.errors import PathRefused, WorkspaceError
from engine.corpus.ignore_rules import IgnoreRules, is_unusable
from engine.corpus.indexed_folders import Root, Roots, find_roots, is_secret_folder
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.corpus.safe_open import OpenFolder


class PathGuard:
    """Checks stable names by the rules for files, and on disk only the folders above a file.

    Size and content don't depend on names: `note_reader` and `line_reader` check them when they open the file, and
    check again that it isn't a link.
    """

    def __init__(self, workspace: Path, settings: Settings) -> None:
        self._workspace = workspace
        self._settings = settings
        self._rules = IgnoreRules(settings)
        self._latest_roots: Roots | None = None

    def locate(self, name: str) -> Path:
        """Return the absolute path of the regular file with this stable name.

        Raises `PathRefused` for a name that discovery doesn't give to any file, `FileNotFoundError` if there is no file
        of this name, and the system's `OSError` for one in a folder, or a workspace, without permission.
        """
        if not _well_formed(name):
            raise PathRefused
        try:
            roots = find_roots(self._workspace, self._settings)
        except WorkspaceError:
            os.scandir(self._workspace).close()  # raises the system's error, which callers expect
            raise PathRefused from None
        root = self._accepted_root(name, roots)
        if root is None:
            raise PathRefused
        return self._descend(root, name)

    def times(self, names: Collection[str]) -> dict[str, float | None]:
        """Return the time of last change of the files with these indexed names; None for a file that doesn't exist.

        Names outside of all folders are left out, and all names if the workspace can't be read. Neither rules nor the
        folders above a file are checked, which takes a tenth of the time of `locate`.
        """
        times = {} if self._latest_roots is None else _times_in(self._latest_roots, names)
        # Finding the roots takes twice the time of looking at ten files.
        if len(times) < len(names) or None in times.values():
            try:
                self._latest_roots = find_roots(self._workspace, self._settings)
            except WorkspaceError:
                return {}
            times = _times_in(self._latest_roots, names)
        return times

    @property
    def rules(self) -> str:
        """Fingerprint of the settings for names: an index made with the same fingerprint contains no excluded name."""
        settings = self._settings
        folders = settings.sessions.folders
        return repr((settings.extra_paths, settings.include, settings.exclude, settings.extensions, folders))

    def accepted(self, names: Iterable[str]) -> set[str]:
        """Return the names that the rules accept; the files need not exist."""
        try:
            roots = find_roots(self._workspace, self._settings)
        except WorkspaceError:
            return set()
        from engine.corpus.transcripts.session_stores import find_stores

        stores = tuple(f"{store.name}/" for store in find_stores(self._settings))
        return {name for name in names if name.startswith(stores) or self._accepted_root(name, roots) is not None}

    def refused(self, names: Iterable[str], indexed_under: object) -> set[str]:
        """Return the indexed names that the current rules exclude, which stay in the index until the next sync.

        `indexed_under`: the rules with which the index was made, as recorded in it.
        """
        if indexed_under == self.rules:
            return set()
        requested = set(names)
        return requested - self.accepted(requested)

    def in_extra_paths(self, names: Iterable[str]) -> set[str]:
        """Return the names that are in `extra_paths`, not among the workspace's own notes."""
        try:
            roots = find_roots(self._workspace, self._settings)
        except WorkspaceError:
            return set()
        own = os.path.join(roots.workspace, "") if roots.layout == "folder" else None

        def is_extra(name: str) -> bool:
            root = roots.root_of(name)
            return root is not None and root.extra and not (own and root.path.startswith(own))

        return {name for name in names if is_extra(name)}

    def _accepted_root(self, name: str, roots: Roots) -> Root | None:
        """Return the root that contains a file; None for a name that the rules exclude."""
        root = roots.root_of(name)
        if root is None or self._rules.rule_for(name, False, root=root.name) or is_secret_folder(root.path):
            return None
        return root

    def _descend(self, root: Root, name: str) -> Path:
        from engine.corpus.safe_open import is_link  # a search opens no file

        path, state = root.path, os.lstat(root.path)
        parts = name[len(root.name) :].strip("/").split("/") if name != root.name else []
        for part in parts:
            if is_link(state):
                raise PathRefused
            if not stat.S_ISDIR(state.st_mode):
                raise FileNotFoundError(f"{path}/{part}")
            path, state = _find(path, part)
        if not stat.S_ISREG(state.st_mode):
            raise PathRefused
        return Path(path)


def _times_in(roots: Roots, names: Collection[str]) -> dict[str, float | None]:
    times: dict[str, float | None] = {}
    for name in names:
        if (root := roots.root_of(name)) is None:
            continue
        inner = name[len(root.name) :].strip("/")
        try:
            times[name] = os.lstat(os.path.join(root.path, inner) if inner else root.path).st_mtime
        except (FileNotFoundError, NotADirectoryError):
            times[name] = None
        except OSError:
            continue
    return times


def _well_formed(name: str) -> bool:
    """Return whether a name is relative and made of valid file names."""
    return not is_unusable(name) and not {"", ".", ".."}.intersection(name.split("/"))


def _find(folder: str, name: str) -> tuple[str, os.stat_result]:
    """Return the path and state of the entry with exactly this name: many file systems also accept another form."""
    from engine.corpus.safe_open import scan_folder

    path = os.path.join(folder, name)
    with scan_folder(folder) as opened:
        state = opened.state(name)
        if _is_only_form(opened, name, state):
            return path, state
        for entry in opened:
            if entry.name == name:
                return path, entry.stat(follow_symlinks=False)
    raise FileNotFoundError(path)


def _is_only_form(folder: "OpenFolder", name: str, state: os.stat_result) -> bool:
    """Return whether no other form of a file's name finds it, so that the folder need not be listed.

    The forms are those of another case or of other code points, and short names with a tilde.
    """
    forms = {name.swapcase(), *(unicodedata.normalize(form, name) for form in ("NFC", "NFD"))} - {name}
    for form in forms:
        with contextlib.suppress(OSError):  # there is no such file, or the name is too long
            if os.path.samestat(folder.state(form), state):
                return False
    return "~" not in name and name == name.rstrip(". ")
