"""What a long-running memory does by itself: watch the folders, sync at intervals and on request."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from engine.corpus.ignore import IgnoreRules
from engine.corpus.roots import find_roots
from engine.errors import WorkspaceError
from engine.records import SyncReason, WatcherStatus
from engine.settings import Settings
from engine.sync.scheduler import SyncScheduler
from engine.sync.watcher import WatchBatch, Watcher

log = logging.getLogger(__name__)

_SECONDS_A_MINUTE = 60.0

OFF = WatcherStatus(enabled=False, mode="off", roots=(), last_change=None, error=None)


class Background:
    """Watcher and scheduler of one open workspace. `run` does one sync, `changed` hears of changes on disk."""

    def __init__(
        self, workspace: Path, settings: Settings, run: Callable[[SyncReason], object], changed: Callable[[], None]
    ) -> None:
        self._changed = changed
        self._sessions: set[str] = set()
        self._settings = settings
        self._scheduler = SyncScheduler(run, interval_seconds=settings.sync.interval_minutes * _SECONDS_A_MINUTE)
        self._not_watching = ""
        """Why there is no watcher though the settings want one."""
        self._watcher = self._watch(workspace) if settings.sync.watch else None

    def session_started(self, key: str) -> None:
        """Sync once a session key, if the settings want it."""
        if self._settings.sync.on_session_start and key not in self._sessions:
            self._sessions.add(key)
            self._scheduler.request("session-start")

    def request(self, reason: SyncReason) -> None:
        self._scheduler.request(reason)

    def watcher_status(self) -> WatcherStatus:
        if self._watcher is None:
            return msgspec.structs.replace(OFF, error=self._not_watching or None)
        return self._watcher.status()

    def close(self) -> None:
        if self._watcher is not None:
            self._watcher.stop()
        self._scheduler.close()

    def _watch(self, workspace: Path) -> Watcher | None:
        try:
            roots = find_roots(workspace, self._settings)
        except WorkspaceError as error:
            log.info("Nothing to watch: %s", type(error).__name__)
            self._not_watching = str(error)
            return None
        rules = IgnoreRules(self._settings)
        names = {os.path.realpath(root.path): root.name for root in roots.found if root.extra}

        def ignored(root: str, path: str, is_dir: bool) -> bool:
            name = names.get(root, "")
            return rules.rule_for(f"{name}/{path}" if name else path, is_dir, root=name) is not None

        watcher = Watcher(
            [Path(roots.workspace), *map(Path, names)],
            ignored,
            debounce_ms=self._settings.sync.watch_debounce_ms,
            on_change=self._on_change,
        )
        watcher.start()
        return watcher

    def _on_change(self, batch: WatchBatch) -> None:
        self._changed()
        self._scheduler.request("watch")
