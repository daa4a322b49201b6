"""Finds the status of one path: the root or session store that contains it, and the rule that excludes it.

Only what discovery would read is read, from the root down: directory entries, never a file. Of paths outside, only
existence is shown.
"""

import os
import re
import stat
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import msgspec

from engine.base.cancellation import CancelToken, checkpoint
from engine.corpus.discovery import discover, discover_in
from engine.corpus.file_rules import FileRules, unreadable
from engine.corpus.folder_walk import FoundFile
from engine.corpus.ignore_rules import Match, is_unusable
from engine.corpus.indexed_folders import Root, find_roots
from engine.corpus.transcripts.registry import store_name
from engine.corpus.transcripts.session_stores import Store, find_stores, find_transcripts_in
from engine.corpus.transcripts.transcript_files import (
    SILENT,
    judge_entry,
    judge_store,
    perhaps_compressed,
    transcript_of,
)
from engine.records import FileIssue, Source
from engine.settings import Settings

Entry = os.DirEntry[str]
_MAX_ENTRIES = 100_000
_JudgeEntry = Callable[[Entry, str, Sequence[Entry]], Match | None]
"""Function that returns the rule that excludes an entry, given the entry, its stable name and all entries of its
folder.
"""
_QUOTES = "\"'`<>“”«»"
_FILE_URL = re.compile(r"file:", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s_-]+")
_HERE = frozenset({"", "localhost"})


def possible_paths(text: str) -> tuple[str, ...]:
    """Return the paths that a typed text may mean, the most literal first; never empty. Accesses no files."""
    plain = text.strip("\n\r") or text
    bare = text.strip().strip(_QUOTES).strip() or plain
    paths = [plain, bare]
    if _FILE_URL.match(bare):
        paths.insert(0, _path_of_url(bare))
    paths += [path.replace("\\", "/") for path in paths]
    return tuple(dict.fromkeys(map(_from_home, paths)))


def _from_home(path: str) -> str:
    try:
        return os.path.expanduser(path)
    except ValueError:  # a user name with a NUL byte
        return path


def _path_of_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        if parts.netloc.lower() not in _HERE:
            return f"//{parts.netloc}{unquote(parts.path)}"
        # A name may contain characters with a meaning in other URLs; programs that drop files don't always encode it.
        rest = url[len("file:") :]
        rest = rest[2 + len(parts.netloc) :] if rest.startswith("//") else rest
        return url2pathname(rest)
    except ValueError:  # a bracket that never closes
        return url


class PathStatus(msgspec.Struct, frozen=True):
    """Whether a path is a note or session, and the rule that excludes it, if any."""

    path: str
    """Absolute path if it could be resolved; the text as typed if it can't be a path."""
    kind: Literal["file", "folder", "missing"]
    name: str = ""
    """Stable name; empty for the workspace itself, and outside of all roots and stores."""
    source: Source | None = None
    """None outside of all roots and stores."""
    match: Match | None = None
    """The rule that excludes the path; None if none does, or outside of all roots and stores."""
    excluded_path: str = ""
    """Stable name of the path that `match` applies to: this path, or a folder above it."""
    key: str = ""
    """For a session in an export: the part of its stable name after that of the transcript."""


class Listing(msgspec.Struct, frozen=True):
    """The files found in one folder, and the skipped ones."""

    files: list[FoundFile]
    skipped: list[FileIssue]
    complete: bool
    """Whether all files were listed; False if the folder is too large."""


class PathFinder:
    """Finds the status of paths under one workspace's settings."""

    def __init__(self, workspace: Path, settings: Settings) -> None:
        """Raises `WorkspaceError` if the workspace cannot be listed."""
        self._workspace = workspace
        self._settings = settings
        self.roots = find_roots(workspace, settings)
        self._stores = find_stores(settings)
        self._judge = FileRules(settings)

    def find(self, text: str) -> PathStatus:
        """Return the status of a path that was typed: absolute, a stable name, or below the workspace.

        Any text is allowed.
        """
        paths: list[PathStatus] = []
        for path in possible_paths(text):
            for status in self._candidates(path):
                if status.kind != "missing":
                    return status
                paths.append(status)
        return next((path for path in paths if path.name), paths[0])

    def find_by_name(self, text: str, cancel: CancelToken | None = None) -> tuple[PathStatus | None, bool]:
        """Return the status of the file or folder with this name, wherever it is below the indexed folders.

        The extension may be omitted; `*.pdf` means any file of this type. Of several, one with the whole name and
        then the one in the highest folder is taken. None if the text has several parts, or if there is no such name;
        the second value is False if that is unknown, since the folders have too many entries. Raises `Cancelled`.
        """
        wanted = _normalized_name(text.strip().strip(_QUOTES))
        if not wanted or "/" in wanted or "\\" in wanted:
            return None, True
        similar = ""
        entries = self._entries(cancel)
        for entry in islice(entries, _MAX_ENTRIES):
            name = _normalized_name(entry.name)
            if name == wanted:
                return self._status_of(entry.path), True
            stem, suffix = os.path.splitext(name)
            if not similar and (stem == wanted or (suffix and wanted == f"*{suffix}")) and not entry.is_dir():
                similar = entry.path
        return (self._status_of(similar), True) if similar else (None, next(entries, None) is None)

    def _entries(self, cancel: CancelToken | None) -> Iterator[Entry]:
        """Yield the entries of all indexed folders, level by level from the top; links are not followed."""
        folders = deque(dict.fromkeys((self.roots.workspace, *(root.path for root in self.roots.found))))
        while folders:
            try:
                listed = sorted(_listed(folders.popleft(), cancel), key=lambda entry: entry.name)
            except OSError:  # a root that is a file, or a folder without permission to list it
                continue
            yield from listed
            folders += [entry.path for entry in listed if entry.is_dir(follow_symlinks=False)]

    def would_index(self, status: PathStatus) -> bool:
        """Whether a path would be indexed if it was added to `extra_paths`."""
        folder, base = os.path.split(status.path)
        if not base or _covers(status.path, self.roots.workspace):
            return False
        root = Root(base, os.path.join(os.path.realpath(folder), base), extra=True)
        try:
            return self._judge.root(root, os.lstat(root.path)) is None
        except OSError:
            return False

    def list_folder(self, folder: PathStatus, cancel: CancelToken | None = None) -> Listing:
        """Return the files of a folder and its subfolders that no rule excludes. Raises `Cancelled`."""
        if folder.source == "sessions":
            sessions = find_transcripts_in(Store(folder.name, folder.path), cancel=cancel, most_entries=_MAX_ENTRIES)
            return Listing(sessions.files, sessions.skipped, sessions.complete)
        if folder.name or self.roots.layout == "folder":
            root = Root(folder.name, folder.path)
            discovery = discover_in(root, self.roots, self._settings, cancel=cancel, most_entries=_MAX_ENTRIES)
        else:
            discovery = discover(self._workspace, self._settings, cancel=cancel, most_entries=_MAX_ENTRIES)
        return Listing(discovery.files, discovery.skipped, discovery.complete)

    def is_in(self, folder: PathStatus, name: str) -> bool:
        """Whether a stable name is in this folder, and not in a root inside it that is listed separately."""
        if not name.startswith(folder.name and folder.name + "/"):
            return False
        one_root = folder.source == "memory" and (folder.name or self.roots.layout == "folder")
        return not one_root or self.roots.root_of(name) == self.roots.root_of(folder.name)

    def _candidates(self, path: str) -> Iterator[PathStatus]:
        """Yield the status of each path that the text may mean, most likely first; at least one."""
        try:
            if not path.strip() or "\0" in path:
                yield PathStatus(path, "missing")
            elif os.path.isabs(path):
                yield self._status_of(self._resolved(os.path.normpath(path)))
            else:
                yield from self._named(path)
                yield self._status_of(os.path.normpath(os.path.join(self.roots.workspace, path)))
        except (OSError, ValueError):  # too long, below a forbidden folder, or invalid bytes
            yield PathStatus(path, "missing")

    def _named(self, name: str) -> Iterator[PathStatus]:
        """Yield the status of each path that has this stable name."""
        for store in self._stores:
            if name == store.name or name.startswith(store.name + "/"):
                yield self._in_store(store, _parts(name[len(store.name) :], "/"))
        root = self.roots.root_of(name)
        if root is not None and root.name and not {".", ".."}.intersection(name.split("/")):
            yield self._in_root(root, _parts(name[len(root.name) :], "/"))

    # --- by its path ----------------------------------------------------------------------------------------------

    def _resolved(self, path: str) -> str:
        """Return a path with the links to indexed folders in it resolved; unchanged without any."""
        folders = {_comparable(folder): folder for folder in (self.roots.workspace, *self._folders())}
        parts = Path(path).parts
        for depth in range(1, len(parts) + 1):
            above, here = os.path.join(*parts[: depth - 1]) if depth > 1 else "", os.path.join(*parts[:depth])
            unfollowed = os.path.join(os.path.realpath(above), parts[depth - 1]) if above else here
            for candidate in (unfollowed, os.path.realpath(here)):
                if folder := folders.get(_comparable(candidate)):
                    return os.path.join(folder, *parts[depth:])
        return path

    def _folders(self) -> list[str]:
        return [*(root.path for root in self.roots.found), *(store.path for store in self._stores)]

    def _status_of(self, path: str) -> PathStatus:
        """Return the status of an absolute path: a transcript, a note, a file next to a memory folder, or outside."""
        store = max((store for store in self._stores if _covers(store.path, path)), key=_depth, default=None)
        root = max((root for root in self.roots.found if _covers(root.path, path)), key=_depth, default=None)
        if store is not None:
            status = self._in_store(store, _parts_below(store.path, path))
            if root is None or status.match not in SILENT:
                return status
        if root is not None:
            return self._in_root(root, _parts_below(root.path, path))
        if _covers(self.roots.workspace, path):
            return self._outside_memory_folder(_parts_below(self.roots.workspace, path))
        return self._status_outside(path)

    def _in_root(self, root: Root, parts: list[str]) -> PathStatus:
        try:
            state = os.lstat(root.path)
        except FileNotFoundError:
            return _missing(root.path, root.name, parts, "memory")
        match = self._judge.root(root, state)
        if match is not None:
            return _excluded(root.path, root.name, parts, "memory", match)
        if not stat.S_ISDIR(state.st_mode):
            missing = _missing(root.path, root.name, parts, "memory")
            return missing if parts else PathStatus(root.path, "file", root.name, "memory")
        return _descend(root.path, root.name, parts, "memory", lambda entry, name, _: self._judge.entry(entry, name))

    def _in_store(self, store: Store, parts: list[str]) -> PathStatus:
        try:
            state = os.lstat(store.path)
        except FileNotFoundError:
            return _missing(store.path, store.name, parts, "sessions")
        match = judge_store(store.path, state)
        if match is not None:
            return _excluded(store.path, store.name, parts, "sessions", match)
        if not stat.S_ISDIR(state.st_mode):
            base = transcript_of(os.path.basename(store.path))
            if parts and parts[0] != base:
                return _missing(store.path, store.name, parts, "sessions")
            return PathStatus(store.path, "file", f"{store.name}/{base}", "sessions", key="/".join(parts[1:]))

        def judge(entry: Entry, _name: str, listed: Sequence[Entry]) -> Match | None:
            names = frozenset(entry.name for entry in listed)
            above = os.path.basename(os.path.dirname(entry.path))
            return judge_entry(entry, above, names, "" if store_name(store.path) else entry.path)

        return _descend(store.path, store.name, parts, "sessions", judge)

    def _outside_memory_folder(self, parts: list[str]) -> PathStatus:
        workspace = self.roots.workspace
        if not parts:
            return PathStatus(workspace, "folder", "", "memory")
        entry = _entry(_listed(workspace), parts[0])
        if entry is None:
            return _missing(workspace, "", parts, "memory")
        return _excluded(entry.path, entry.name, parts[1:], "memory", self._judge.outside_memory_folder(entry))

    def _status_outside(self, path: str) -> PathStatus:
        try:
            state = os.lstat(path)
        except FileNotFoundError:
            return PathStatus(path, "missing")
        return PathStatus(path, _kind(state))


def _descend(folder: str, name: str, parts: list[str], source: Source, judge: _JudgeEntry) -> PathStatus:
    """Follow a path down from an accepted root, and return its status at the first entry that a rule excludes."""
    path = folder
    for depth, part in enumerate(parts, 1):
        rest = parts[depth:]
        try:
            listed = _listed(path)
        except OSError as error:
            return _excluded(path, name, parts[depth - 1 :], source, unreadable(error))
        names = perhaps_compressed(part) if source == "sessions" else (part,)
        entry = next(filter(None, (_entry(listed, name) for name in names)), None)
        if entry is None:
            return _missing(path, name, parts[depth - 1 :], source)
        path, name = entry.path, f"{name}/{entry.name}" if name else entry.name
        try:
            match = judge(entry, name, listed)
        except OSError as error:
            match = unreadable(error)
        if match is not None:
            return _excluded(path, name, rest, source, match)
        if not entry.is_dir(follow_symlinks=False):
            if source == "sessions":
                return PathStatus(path, "file", transcript_of(name), source, key="/".join(rest))
            return _missing(path, name, rest, source) if rest else PathStatus(path, "file", name, source)
    return PathStatus(path, "folder", name, source)


def _excluded(path: str, name: str, rest: list[str], source: Source, match: Match) -> PathStatus:
    """Return the status of a path excluded at `path`; of the rest only the existence is checked."""
    whole = os.path.join(path, *rest)
    stable = "/".join((name, *rest))
    try:
        kind = _kind(os.lstat(whole))
    except PermissionError:
        kind = "file"
    except OSError:
        return PathStatus(whole, "missing", stable, source)
    return PathStatus(whole, kind, stable, source, match, name)


def _missing(path: str, name: str, rest: list[str], source: Source) -> PathStatus:
    return PathStatus(os.path.join(path, *rest), "missing", "/".join((name, *rest) if name else rest), source)


def _kind(state: os.stat_result) -> Literal["file", "folder"]:
    return "folder" if stat.S_ISDIR(state.st_mode) else "file"


def _listed(folder: str, cancel: CancelToken | None = None) -> list[Entry]:
    listed: list[Entry] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            checkpoint(cancel)
            listed.append(entry)
    return listed


def _entry(listed: Sequence[Entry], name: str) -> Entry | None:
    """Return the entry with this name, else one that differs only in Unicode form, or also in case."""
    loose = (lambda text: text, _composed, lambda text: _composed(text).casefold())
    return next((entry for form in loose for entry in listed if form(entry.name) == form(name)), None)


def _composed(text: str) -> str:
    return text if is_unusable(text) else unicodedata.normalize("NFC", text)


def _normalized_name(name: str) -> str:
    """Return a name for comparison regardless of case and Unicode form, and of how its words are separated."""
    return _SEPARATORS.sub(" ", _composed(name).casefold()).strip()


def _comparable(path: str) -> str:
    return _composed(os.path.normcase(path))


def _covers(folder: str, path: str) -> bool:
    """Return whether `path` is `folder` or inside it."""
    folder, path = os.path.normcase(folder), os.path.normcase(path)
    return path == folder or path.startswith(os.path.join(folder, ""))


def _parts_below(folder: str, path: str) -> list[str]:
    return _parts(path[len(folder) :], os.sep)


def _parts(text: str, separator: str) -> list[str]:
    return [part for part in text.split(separator) if part not in ("", ".")]


def _depth(folder: Root | Store) -> int:
    return len(folder.path)
