"""Watches the folders of notes and sessions, and requests a sync after changes.

A change of a note requests one immediately. An agent writes a line every few seconds, and a single line is no reason to
sync: smaller growth of a transcript is indexed by the next sync for any reason. A database is changed in place, so each
batch of changes to it counts; finding the changed rows is cheap. A file that belongs to a transcript changes rarely,
and counts as well.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from engine.base import lazy_logger
from engine.base.errors import PathRefused, WorkspaceError
from engine.corpus.ignore_rules import IgnoreRules
from engine.corpus.indexed_folders import find_roots
from engine.corpus.safe_open import open_binary
from engine.corpus.transcripts.agents import WAL
from engine.corpus.transcripts.registry import is_database, is_watched, may_be_transcript, owner_of_part, store_name
from engine.corpus.transcripts.session_stores import Store, find_stores, transcript_at
from engine.corpus.transcripts.transcript_files import is_compressed, is_renamed_export, may_be_renamed, transcript_of
from engine.indexing.watcher import WatchBatch, Watcher, WatchTiming
from engine.records import SyncReason, WatcherStatus
from engine.settings import Settings
from engine.settings.options import SessionDeltaSettings

log = lazy_logger(__name__)

_BLOCK = 64 * 1024
"""Bytes per read when lines are counted."""
_SESSION_DEBOUNCE_MS = 5000
_MODES = ("off", "native", "polling")
"""Watch modes from best to worst; the status shows the worst one in use."""


class SessionGrowth:
    """Decides whether transcripts are new, or have changed enough to sync immediately."""

    def __init__(
        self, stores: Iterable[Store], limits: SessionDeltaSettings, indexed_sizes: Callable[[], Mapping[str, int]]
    ) -> None:
        """`indexed_sizes` returns the size in bytes of each transcript when it was last indexed, by its stable name."""
        self._stores = [(os.path.realpath(store.path), store) for store in stores]
        self._limits = limits
        self._indexed_sizes = indexed_sizes
        self._links: set[str] = set()
        """Paths of symbolic links added since the start."""
        self._new: set[str] = set()
        """Files that requested a sync because they were not indexed; files that aren't transcripts never will be."""

    def needs_sync(self, paths: Iterable[str]) -> bool:
        """Whether any of these files has grown enough, shrunk, been deleted, or is or was a symbolic link."""
        sizes = self._indexed_sizes()
        names = {path: transcript_at(transcript_of(path), self._stores)[0] for path in paths}
        return any(self._is_due(path, sizes.get(name)) for path, name in names.items())

    def _is_due(self, path: str, indexed: int | None) -> bool:
        if os.path.islink(path):
            self._links.add(path)
            return True
        if path in self._links:
            self._links.discard(path)
            return True
        if owner := owner_of_part(path):
            return os.path.exists(owner)
        try:
            with open_binary(path) as file:
                if is_database(transcript_of(path)):
                    return True
                size = os.fstat(file.fileno()).st_size
                if not size:
                    return bool(indexed)
                if is_compressed(path):
                    return size != indexed and _holds_sessions(path)
                if indexed is None and path not in self._new:  # the first lines of a session
                    self._new.add(path)
                    return _holds_sessions(path)
                # A transcript that shrank was replaced: it counts from its beginning.
                start = 0 if indexed is None or size < indexed else indexed
                limits = self._limits
                if size == start:
                    return False
                if size - start >= limits.delta_bytes or limits.delta_messages <= 0:
                    return _holds_sessions(path)
                file.seek(start)
                lines = sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK), b""))
                return lines >= limits.delta_messages and _holds_sessions(path)
        except (OSError, PathRefused):
            # A folder represents files added to and removed from it; a deleted transcript must not be found any more.
            return indexed is not None or os.path.isdir(path)


def _holds_sessions(path: str) -> bool:
    return may_be_transcript(path) or is_renamed_export(path)


class FolderWatch:
    """The file watchers of one workspace: one for notes, one for transcripts."""

    def __init__(
        self,
        workspace: Path,
        settings: Settings,
        indexed_sizes: Callable[[], Mapping[str, int]],
        start_job: Callable[[Callable[[], object]], object],
    ) -> None:
        """`indexed_sizes` returns the size in bytes of each transcript when it was last indexed, by its stable name.

        `start_job` runs the comparison with these sizes on another thread.
        """
        self._workspace = workspace
        self._settings = settings
        self._indexed_sizes = indexed_sizes
        self._start_job = start_job
        self._error = ""
        """Reason why nothing is watched although the settings enable it."""
        self._watchers: list[Watcher] = []
        self._changed: Callable[[frozenset[str] | None], None] = lambda transcripts: None
        self._request: Callable[[SyncReason], None] = lambda reason: None

    def start(self, changed: Callable[[frozenset[str] | None], None], request: Callable[[SyncReason], None]) -> None:
        """Start watching, if the settings enable it.

        `changed` is called on every change, with the paths if only files in session folders have changed, else None.
        `request` is called when a sync is due: after each change of notes, and when transcripts have grown enough.
        """
        self._changed = changed
        self._request = request
        if self._settings.sync.watch:
            self._watch_notes()
            self._watch_sessions()

    def flush(self, seconds: float) -> bool:
        """Report every change made before this call. Returns False if some may have been missed."""
        return bool(self._watchers) and all([watcher.flush(seconds) for watcher in self._watchers])

    def skip_debounce(self) -> bool:
        """Report changes that the watchers already know without a delay; returns whether there are any."""
        return any([watcher.skip_debounce() for watcher in self._watchers])

    def status(self) -> WatcherStatus:
        """Return the combined status of all watchers."""
        statuses = [watcher.status() for watcher in self._watchers]
        if not statuses:
            return WatcherStatus(error=self._error or None)
        changes = [status.last_change for status in statuses if status.last_change is not None]
        errors = [self._error, *(status.error or "" for status in statuses)]
        return WatcherStatus(
            enabled=any(status.enabled for status in statuses),
            mode=max((status.mode for status in statuses), key=_MODES.index),
            roots=tuple(root for status in statuses for root in status.roots),
            last_change=max(changes, default=None),
            error=" ".join(dict.fromkeys(filter(None, errors))) or None,
        )

    def close(self) -> None:
        """Stop watching all folders."""
        for watcher in self._watchers:
            watcher.stop()

    def _watch_notes(self) -> None:
        try:
            roots = find_roots(self._workspace, self._settings)
        except WorkspaceError as error:
            log.info("Nothing to watch: %s", type(error).__name__)
            self._error = str(error)
            return
        rules = IgnoreRules(self._settings)
        names = {os.path.realpath(root.path): root.name for root in roots.found if root.extra}
        links: set[str] = set()
        """Links seen so far: a deleted path can't be tested any more."""

        def ignored(root: str, path: str, is_dir: bool) -> bool:
            name = names.get(root, "")
            stable = f"{name}/{path}" if name else path
            if rules.rule_for(stable, is_dir, root=name) is None:
                return False
            # The event of a link to a folder names a folder, but links are skipped.
            if is_dir or rules.rule_for(stable, True, root=name) is not None:
                return True
            location = os.path.join(root, path)
            if os.path.islink(location):
                links.add(location)
                return False
            if location in links:
                links.discard(location)
                return False
            return True

        watcher = Watcher(
            [Path(roots.workspace), *map(Path, names)],
            ignored,
            on_change=self._notes_changed,
            timing=WatchTiming(self._settings.sync.watch_debounce_ms),
        )
        self._start(watcher)

    def _watch_sessions(self) -> None:
        stores = find_stores(self._settings)
        if not stores:
            return
        growth = SessionGrowth(stores, self._settings.sync.sessions, self._indexed_sizes)

        def changed(batch: WatchBatch) -> None:
            self._changed(None if batch.overflow else batch.paths)
            self._start_job(lambda: request_if_grown(batch))

        def request_if_grown(batch: WatchBatch) -> None:
            if batch.overflow or growth.needs_sync(batch.paths):
                self._request("session-delta")

        databases = _single_databases(stores)
        others = [store.path for store in stores if not _is_single_database(store.path)]
        agents_own = {store.path for store in stores if store_name(store.path)}

        def ignored(root: str, path: str, is_dir: bool) -> bool:
            if root in databases:
                return path not in databases[root]
            if is_dir:
                return not is_watched(root, path.replace(os.sep, "/"))
            location = os.path.join(root, path)  # a name alone would fit more formats
            if may_be_transcript(transcript_of(location)) or owner_of_part(location):
                return False
            return root in agents_own or not may_be_renamed(path)

        self._start(
            Watcher(
                [Path(path) for path in (*others, *databases)],
                ignored,
                on_change=changed,
                timing=WatchTiming(_SESSION_DEBOUNCE_MS),
            )
        )

    def _start(self, watcher: Watcher) -> None:
        watcher.start()
        self._watchers.append(watcher)

    def _notes_changed(self, batch: WatchBatch) -> None:
        self._changed(None)
        self._request("watch")


def _single_databases(stores: Sequence[Store]) -> dict[str, frozenset[str]]:
    """Return the names of databases and their WALs to watch, by folder, for stores that are single databases."""
    names: dict[str, set[str]] = defaultdict(set)
    for store in stores:
        if _is_single_database(store.path):
            folder, name = os.path.split(store.path)
            names[os.path.realpath(folder)] |= {name, name + WAL}
    return {folder: frozenset(databases) for folder, databases in names.items()}


def _is_single_database(path: str) -> bool:
    """Whether a session store is a single database.

    Its WAL, which changes first, is next to it, so the folder is watched.
    """
    return is_database(path) and not os.path.isdir(path)
