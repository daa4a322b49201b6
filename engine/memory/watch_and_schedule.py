"""Automatic syncs of a long-running memory: on changes in the folders, at intervals and on request."""

import logging
import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from engine.base.errors import WorkspaceError
from engine.corpus.ignore import IgnoreRules
from engine.corpus.roots import find_roots
from engine.corpus.transcripts.file_rules import may_be_transcript
from engine.corpus.transcripts.modified_time import WAL, is_database, transcript_of
from engine.corpus.transcripts.stores import Store, find_stores
from engine.indexing.scheduler import Runner, SyncScheduler
from engine.indexing.session_growth import SessionGrowth
from engine.indexing.watcher import WatchBatch, Watcher
from engine.memory.status import OFF
from engine.records import SyncReason, WatcherStatus
from engine.settings import Settings

log = logging.getLogger(__name__)

_SECONDS_A_MINUTE = 60.0
_SESSION_DEBOUNCE_MS = 5000
_LOOK_AGAIN_SECONDS = 300.0
_WORSE = ("off", "native", "polling")


class BackgroundSync:
    """Watchers and scheduler of one open workspace."""

    def __init__(
        self,
        workspace: Path,
        settings: Settings,
        run: Callable[[SyncReason], object],
        changed: Callable[[], None],
        indexed_sizes: Callable[[], Mapping[str, int]],
        threads: Runner,
    ) -> None:
        """`run` does one sync; `changed` is called for changes on disk; `indexed_sizes` is for `SessionGrowth`."""
        self._changed = changed
        self._sessions: set[str] = set()
        self._settings = settings
        self._threads = threads
        self._scheduler = SyncScheduler(
            run, threads, interval_seconds=settings.sync.interval_minutes * _SECONDS_A_MINUTE
        )
        self._not_watching = ""
        """Why there is no watcher although it is enabled in the settings."""
        self._watchers: list[Watcher] = []
        if settings.sync.watch:
            self._watch_notes(workspace)
            self._watch_sessions(indexed_sizes)

    def session_started(self, key: str) -> None:
        """Sync once per session key, if enabled in the settings."""
        if self._settings.sync.on_session_start and key not in self._sessions:
            self._sessions.add(key)
            self._scheduler.request("session-start")

    def request(self, reason: SyncReason) -> None:
        self._scheduler.request(reason)

    def look_again(self) -> None:
        """Sync after some minutes, for external work that sends no notification."""
        self._scheduler.request_later(_LOOK_AGAIN_SECONDS)

    def flush(self, seconds: float) -> bool:
        """Process all changes made before this call now; False if it is unknown whether there were any."""
        return bool(self._watchers) and all([watcher.flush(seconds) for watcher in self._watchers])

    def watcher_status(self) -> WatcherStatus:
        found = [watcher.status() for watcher in self._watchers]
        if not found:
            return msgspec.structs.replace(OFF, error=self._not_watching or None)
        changes = [status.last_change for status in found if status.last_change is not None]
        errors = [self._not_watching, *(status.error or "" for status in found)]
        return WatcherStatus(
            enabled=any(status.enabled for status in found),
            mode=max((status.mode for status in found), key=_WORSE.index),
            roots=tuple(root for status in found for root in status.roots),
            last_change=max(changes, default=None),
            error=" ".join(dict.fromkeys(filter(None, errors))) or None,
        )

    def close(self) -> None:
        for watcher in self._watchers:
            watcher.stop()
        self._scheduler.close()

    def _watch_notes(self, workspace: Path) -> None:
        try:
            roots = find_roots(workspace, self._settings)
        except WorkspaceError as error:
            log.info("Nothing to watch: %s", type(error).__name__)
            self._not_watching = str(error)
            return
        rules = IgnoreRules(self._settings)
        names = {os.path.realpath(root.path): root.name for root in roots.found if root.extra}
        links: set[str] = set()
        """Links seen so far, since a deleted path can't be checked."""

        def ignored(root: str, path: str, is_dir: bool) -> bool:
            name = names.get(root, "")
            stable = f"{name}/{path}" if name else path
            if rules.rule_for(stable, is_dir, root=name) is None:
                return False
            # A link to a folder has a folder's name but is no folder; it is ignored because it is a link.
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
            debounce_ms=self._settings.sync.watch_debounce_ms,
            on_change=self._notes_changed,
        )
        self._start(watcher)

    def _watch_sessions(self, indexed_sizes: Callable[[], Mapping[str, int]]) -> None:
        stores = find_stores(self._settings)
        if not stores:
            return
        deltas = SessionGrowth(stores, self._settings.sync.sessions, indexed_sizes)

        def changed(batch: WatchBatch) -> None:
            self._changed()
            self._threads.start(lambda: judge(batch))

        def judge(batch: WatchBatch) -> None:
            if batch.overflow or deltas.call_for_sync(batch.paths):
                self._scheduler.request("session-delta")

        alone = _lone_databases(stores)
        others = [store.path for store in stores if not _is_lone_database(store.path)]

        def ignored(root: str, path: str, is_dir: bool) -> bool:
            if root in alone:
                return path not in alone[root]
            return not is_dir and not may_be_transcript(transcript_of(path))

        self._start(
            Watcher(
                [Path(path) for path in (*others, *alone)],
                ignored,
                debounce_ms=_SESSION_DEBOUNCE_MS,
                on_change=changed,
            )
        )

    def _start(self, watcher: Watcher) -> None:
        watcher.start()
        self._watchers.append(watcher)

    def _notes_changed(self, batch: WatchBatch) -> None:
        self._changed()
        self._scheduler.request("watch")


def _lone_databases(stores: Sequence[Store]) -> dict[str, frozenset[str]]:
    """Names of all databases and their WALs, by folder, for stores that are databases."""
    names: dict[str, set[str]] = defaultdict(set)
    for store in stores:
        if _is_lone_database(store.path):
            folder, name = os.path.split(store.path)
            names[os.path.realpath(folder)] |= {name, name + WAL}
    return {folder: frozenset(held) for folder, held in names.items()}


def _is_lone_database(path: str) -> bool:
    """Whether a store is a database; its folder is watched, because the WAL next to it changes first."""
    return is_database(path) and not os.path.isdir(path)
