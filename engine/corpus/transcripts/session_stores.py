"""Finds sessions: the folders in the settings, the transcripts in them, and the file of a session's stable name.

Only directory entries are read here, and the names that Codex stores for its sessions. A listed folder is consent,
so no other folder is ever read.
"""

import hashlib
import math
import os
import re
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from engine.base import skip_reasons
from engine.base.cancellation import CancelToken
from engine.base.errors import PathRefused
from engine.corpus.file_rules import NOT_CONNECTED
from engine.corpus.folder_walk import LATEST_NS, DiscoveryListener, Drives, FolderWalk, FoundFile, Neighbours
from engine.corpus.ignore_rules import Match, is_unusable, printable_name
from engine.corpus.indexed_folders import is_secret_folder
from engine.corpus.safe_open import is_link, scan_folder
from engine.corpus.transcripts.agents import WAL
from engine.corpus.transcripts.registry import (
    may_be_transcript,
    owner_of_part,
    part_rules,
    parts_changed,
    store_name,
)
from engine.corpus.transcripts.transcript_files import (
    NO_TRANSCRIPT,
    SILENT,
    is_renamed_export,
    judge_entry,
    judge_store,
    last_change,
    may_be_renamed,
    ordinary_lines,
    perhaps_compressed,
    transcript_of,
)
from engine.records import FileIssue
from engine.settings import Settings

_PREFIX = "sessions/"
_LONGEST_KEY = 100
_LIST = "sessions.json"
"""List of sessions that OpenClaw and Continue write."""
_OF_DATABASES = (WAL, "-shm", "-journal")
_MAX_NAMED = 20
"""Maximum number of files of a user's folder that are reported by name as not being transcripts; the others are
counted."""


class Store(msgspec.Struct, frozen=True):
    """A folder or an export with sessions that is listed in the settings."""

    name: str
    """`sessions/<short name>`, with which the stable names of its transcripts begin."""
    path: str
    """Absolute path, with links in the folder above it resolved."""


def find_stores(settings: Settings) -> tuple[Store, ...]:
    """Return the stores in the settings, each with a unique name; they need not exist.

    A store inside another one, listed before it or after, is part of that.
    """
    named = [_resolved(text) for text in map(str.strip, settings.sessions.folders) if text]
    paths = {os.path.normcase(path): path for path in named}
    outer = [path for key, path in paths.items() if not any(str(above) in paths for above in Path(key).parents)]
    bases = Counter(_short_name(path).casefold() for path in outer)
    return tuple(Store(_PREFIX + _name(path, alone=bases[_short_name(path).casefold()] == 1), path) for path in outer)


def is_in_store(name: str, stores: Iterable[str]) -> bool:
    """Whether a stable name is that of one of the `stores`, by their names, or of something in it."""
    return any(name == store or name.startswith(f"{store}/") for store in stores)


def machine_names(settings: Settings) -> dict[str, str]:
    """Return the name of the machine that sessions are from, by the prefix of their stable names, as
    in the settings.
    """
    names: dict[str, str] = {}
    stores = find_stores(settings)
    for entry in settings.sessions.machines:
        label, _, folder = map(str.strip, entry.partition("="))
        if not (label and folder):
            continue
        path = _resolved(folder)
        for store in stores:
            if path == store.path or _covers(path, store.path):
                names[f"{store.name}/"] = label
            elif _covers(store.path, path):
                names[f"{store.name}/{os.path.relpath(path, store.path).replace(os.sep, '/')}/"] = label
    return names


def _name(path: str, *, alone: bool) -> str:
    """Return a store's stable name.

    If several have the same short name, each gets a longer one, so that no store takes over another's name.
    """
    base = _short_name(path)
    return base if alone else f"{base}-{hashlib.sha256(os.fsencode(os.path.normcase(path))).hexdigest()[:6]}"


def _resolved(text: str) -> str:
    named = os.path.abspath(os.path.expanduser(text))
    return os.path.join(os.path.realpath(os.path.dirname(named)), os.path.basename(named))


def _covers(folder: str, path: str) -> bool:
    return os.path.normcase(path).startswith(os.path.normcase(os.path.join(folder, "")))


@cache
def _short_name(path: str) -> str:
    """Return the agent's name if the folder is one of its folders, else the folder's own name.

    Cached, since 140 patterns of agents are tried, and every read of a session looks up all stores.
    """
    if known := store_name(path):
        return known
    stem, suffix = os.path.splitext(os.path.basename(path))
    base = stem if suffix.lower() in (".zip", ".json", ".jsonl") else stem + suffix
    return re.sub(r"[^\w.-]+", "-", base).strip("-.") or "store"


class FoundTranscripts(msgspec.Struct, frozen=True):
    files: list[FoundFile]
    """Found files, newest first."""
    skipped: list[FileIssue]
    complete: bool = True
    """Whether all folders were listed; False if the limit `most_entries` was reached."""
    unreachable: Collection[str] = ()
    """Stable names of folders that could not be checked."""


def find_transcripts(
    settings: Settings,
    *,
    cancel: CancelToken | None = None,
    listener: DiscoveryListener | None = None,
    most_entries: float = math.inf,
    drives: Drives | None = None,
) -> FoundTranscripts:
    """Return the files in all stores that may be transcripts by name. Raises `Cancelled`.

    Every other error becomes an issue. After `most_entries`, no further folder is listed. `drives`: detects stores
    whose drive is not connected.
    """
    walk = _Walk(cancel, listener, most_entries)
    for store in find_stores(settings):
        if drives is not None and drives.is_disconnected(store.path):
            walk.leave(store)
        else:
            walk.visit(store)
    # Two sorts take half the time of one by both.
    walk.files.sort(key=attrgetter("name"))
    walk.files.sort(key=attrgetter("mtime_ns"), reverse=True)
    return FoundTranscripts(walk.files, walk.skipped, walk.complete, walk.unreachable)


def find_transcripts_in(
    folder: Store, *, cancel: CancelToken | None = None, most_entries: float = math.inf
) -> FoundTranscripts:
    """Return the files in one folder that may be transcripts by name. Raises `Cancelled`.

    `folder`: a folder inside a store, with its stable name.
    """
    walk = _Walk(cancel, None, most_entries)
    walk.descend(folder.path, folder.name)
    return FoundTranscripts(walk.files, walk.skipped, walk.complete)


class _Walk(FolderWalk):
    """Walks over all stores, and collects transcripts and skipped files."""

    def __init__(self, cancel: CancelToken | None, listener: DiscoveryListener | None, most_entries: float) -> None:
        super().__init__(cancel, listener, most_entries)
        self.skipped: list[FileIssue] = []
        self._others: list[tuple[str, Match]] | None = None
        """The first files of other names; None in an agent's own folder, where they are expected."""
        self._more = 0
        self._memo: dict[str, Any] = {}

    def leave(self, store: Store) -> None:
        """Leave the sessions of a store in the index, since its drive is not connected."""
        self._keep(store.name, NOT_CONNECTED)

    def visit(self, store: Store) -> None:
        try:
            state = os.lstat(store.path)
        except FileNotFoundError:
            self._add_skipped(store.name, "missing", skip_reasons.NO_SESSION_FOLDER.message(folder=store.path))
            return
        except OSError as error:
            self._report(store.name, error)
            return
        match = judge_store(store.path, state)
        if match is not None:
            self._add_skipped(store.name, match.rule, match.detail)
        elif stat.S_ISDIR(state.st_mode):
            self._others, self._more = None if store_name(store.path) else [], 0
            self.descend(store.path, store.name)
            self._report_others(store)
        else:
            self._add_transcript(f"{store.name}/{transcript_of(os.path.basename(store.path))}", store.path, state)

    def _enter_all(
        self, entries: Sequence[os.DirEntry[str]], path: str, name: str, neighbours: Neighbours
    ) -> list[tuple[str, str]]:
        """Add transcripts of lines quickly, since some users have ten thousand, and judge other entries one by one."""
        ordinary = ordinary_lines(os.path.basename(path), neighbours())
        prefix, above = os.path.join(path, ""), f"{name}/"
        parts = part_rules(prefix, ordinary)
        add, others = self.files.append, []
        for entry in entries:
            base = entry.name
            if base not in ordinary:
                others.append(entry)
                continue
            try:
                state = entry.stat(follow_symlinks=False)
            except OSError:
                others.append(entry)
                continue
            if not stat.S_ISREG(state.st_mode):
                others.append(entry)
                continue
            size, changed, inside = state.st_size, state.st_mtime_ns, prefix + base
            if parts:
                changed = max(changed, parts_changed(inside, self._memo, parts))
            add(FoundFile(above + base, inside, "sessions", size, min(changed, LATEST_NS)))
        return super()._enter_all(others, path, name, neighbours)

    def _enter(self, entry: os.DirEntry[str], path: str, name: str, neighbours: Neighbours) -> bool:
        above = path[: -len(entry.name) - 1].rpartition(os.sep)[2]
        match = judge_entry(entry, above, neighbours(), "" if self._others is None else path)
        if match is None:
            if entry.is_dir(follow_symlinks=False):
                return True
            self._add_transcript(transcript_of(name), path, entry.stat(follow_symlinks=False))
        elif match not in SILENT:
            self._add_skipped(name, match.rule, match.detail)
        elif match.rule == NO_TRANSCRIPT.rule and self._others is not None and not _is_part(path):
            if len(self._others) < _MAX_NAMED:
                self._others.append((name, match))
            else:
                self._more += 1
        return False

    def _report_others(self, store: Store) -> None:
        for name, match in self._others or ():
            self._add_skipped(name, match.rule, match.detail)
        if self._more:
            detail = skip_reasons.MORE_OTHER_FILES.message(count=self._more)
            self._add_skipped(f"{store.name}/…", NO_TRANSCRIPT.rule, detail)

    def _add_transcript(self, name: str, path: str, state: os.stat_result) -> None:
        """Add a transcript with its size and time of last change, which include files next to it."""
        size, changed = last_change(path, state, self._memo)
        self.files.append(FoundFile(name, path, "sessions", size, min(changed, LATEST_NS)))

    def _skip(self, name: str, match: Match) -> None:
        self._add_skipped(name, match.rule, match.detail)

    def _add_skipped(self, name: str, rule: str, detail: str) -> None:
        self.skipped.append(FileIssue(path=printable_name(name), rule=rule, detail=detail))


def _is_part(path: str) -> bool:
    """Whether a file is hidden, belongs to a transcript next to it, or is an agent's list of transcripts."""
    name = os.path.basename(path)
    return name.startswith(".") or name == _LIST or name.endswith(_OF_DATABASES) or bool(owner_of_part(path))


def may_name_session(name: str) -> bool:
    """Whether a text has the form of a session's stable name.

    A workspace may have its own folder called sessions, even with a subfolder named like a store: its notes have names
    that no transcript has.
    """
    if not name.startswith(_PREFIX):
        return False
    parts = name.split("/")
    return any(map(may_be_transcript, parts)) or any(map(may_be_renamed, parts[2:-1]))


def names_session(name: str, settings: Settings) -> bool:
    """Whether a stable name names a session in one of the stores in the settings."""
    if not may_name_session(name):
        return False
    return any(name.startswith(f"{store.name}/") for store in find_stores(settings))


def transcript_at(path: str, stores: Iterable[tuple[str, Store]]) -> tuple[str, str]:
    """Return the stable name of a transcript that the watcher has seen, and its path in the store; empty if it is in no
    store.

    `stores`: each with its real path, in which the watcher names files.
    """
    for root, store in stores:
        if path == root:
            return f"{store.name}/{os.path.basename(path)}", store.path
        if path.startswith(os.path.join(root, "")):
            below = os.path.relpath(path, root)
            return f"{store.name}/{below.replace(os.sep, '/')}", os.path.join(store.path, below)
    return "", ""


def session_name(transcript: str, key: str) -> str:
    """Return the stable name of the session with this key in a transcript."""
    if not key:
        return transcript
    usable = not is_unusable(key) and "/" not in key and key not in (".", "..") and len(key) <= _LONGEST_KEY
    # Two keys never get one name: they might differ only in a part that is cut or replaced.
    return f"{transcript}/{key if usable else hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:32]}"


def locate_transcript(name: str, settings: Settings) -> tuple[Path, str]:
    """Return the path of a session's transcript, and the part of its stable name after that of the transcript.

    Raises `PathRefused` for every name that is in no store, `FileNotFoundError` for a deleted transcript, and the
    system's `OSError` for one in a folder without permission.
    """
    return TranscriptLocator(settings).locate(name)


class TranscriptLocator:
    """Locates transcripts like `locate_transcript`; finds the stores and lists each folder only once."""

    def __init__(self, settings: Settings) -> None:
        self._stores = find_stores(settings)
        self._names_in = cache(_names_in)

    def locate(self, name: str) -> tuple[Path, str]:
        parts = name.split("/")
        if is_unusable(name) or {"", ".", ".."}.intersection(parts):
            raise PathRefused
        store = next((store for store in self._stores if name.startswith(store.name + "/")), None)
        if store is None or is_secret_folder(store.path):
            raise PathRefused
        return self._find(store, name[len(store.name) + 1 :].split("/"))

    def _find(self, store: Store, parts: list[str]) -> tuple[Path, str]:
        path, state = store.path, os.lstat(store.path)
        if stat.S_ISREG(state.st_mode) and parts[0] == transcript_of(os.path.basename(path)):
            return Path(path), "/".join(parts[1:])
        for depth, part in enumerate(parts, 1):
            if is_link(state) or not stat.S_ISDIR(state.st_mode):
                raise PathRefused
            # Listed, since many file systems ignore the case or the Unicode form of a name.
            found = next(filter(self._names_in(path).__contains__, perhaps_compressed(part)), None)
            if found is None:
                raise FileNotFoundError(f"{path}/{part}")
            path = os.path.join(path, found)
            state = os.lstat(path)
            if stat.S_ISREG(state.st_mode):
                if not may_be_transcript(path) and (store_name(store.path) or not is_renamed_export(path)):
                    raise PathRefused
                return Path(path), "/".join(parts[depth:])
        raise PathRefused


def _names_in(folder: str) -> frozenset[str]:
    with scan_folder(folder) as entries:
        return frozenset(entry.name for entry in entries)
