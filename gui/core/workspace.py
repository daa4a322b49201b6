"""Opens and closes the workspace's memory off the GUI thread, and starts its syncs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

import engine
from engine import (
    CancelToken,
    MemoryPool,
    MemoryProviderStatus,
    MemorySearchManager,
    MnemoscopeError,
    MultiWorkspaceMemory,
    Settings,
    SyncReport,
    tr,
)
from gui.core.capabilities import MissingFeatures
from gui.core.jobs import Job, Jobs, JobSlot
from gui.core.status_feed import StatusFeed
from gui.text.status_texts import failed_engine

FIRST_RESULTS = 50
"""Results requested by a new search."""
_ANYTHING = "memory"
"""A query that only tests the search engine; its answer is ignored."""


@dataclass(frozen=True)
class OpenWorkspace:
    """An open workspace: its folder, settings and memory."""

    folder: Path
    settings: Settings
    manager: MemorySearchManager
    unsupported: MissingFeatures
    """Missing features of the memory when it was opened."""
    all_workspaces: MultiWorkspaceMemory
    """The same memory, which also reaches other workspaces, for searching and reading."""
    renamed: str = ""
    """Sentence about options that a former name of the folder had; empty if there are none."""


@dataclass(frozen=True)
class OpenFailure:
    """Why a workspace could not be opened, as one sentence, and the kind of remedy to offer."""

    folder: Path
    sentence: str
    in_settings: bool


class Workspace(QObject):
    """The open workspace with its memory, at most one at a time: opening another closes the first.

    Args:
        store_path: folder for the index instead of the settings' own; for the demo.
        config: settings file instead of the user's own.

    Signals:
        opening: Path of the folder that is being opened.
        opened: OpenWorkspace.
        settings_changed: OpenWorkspace, with other settings that need no reopening.
        failed: OpenFailure.
        closed: nothing is open any more; if `reopening`, the same folder follows.
        sync_failed: one sentence, and whether the provider failed.
        engine_tried: the chosen engine was tried again; FailedService if a fallback still answers, None if not.
        data_restored: facts, saved searches and history were restored from a backup; one sentence.
        data_not_restored: why they were not.
    """

    opening = Signal(object)
    opened = Signal(object)
    settings_changed = Signal(object)
    failed = Signal(object)
    closed = Signal()
    sync_failed = Signal(str, bool)
    engine_tried = Signal(object)
    data_restored = Signal(str)
    data_not_restored = Signal(str)

    def __init__(
        self,
        jobs: Jobs,
        *,
        config: Path | None = None,
        store_path: str = "",
        prepare: Callable[[MemorySearchManager], None] | None = None,
    ) -> None:
        """`prepare` is called with each memory before it is used, on a pool thread."""
        super().__init__(jobs)
        self.feed = StatusFeed(jobs, self)
        self.current: OpenWorkspace | None = None
        self._jobs = jobs
        self.config = config
        self.store_path = store_path
        self._prepare = prepare
        self._opener: Job | None = None
        """The job that opened the memory; its token also closes that."""
        self._requested: Path | None = None
        """The folder opened last, or being opened."""
        self.reopening = False
        """Whether the last folder was open before, so that its views can keep their content."""
        self._newer_settings: Settings | None = None
        """Settings saved while a folder was being opened, which may have used older ones."""
        self._sync: Job | None = None
        self._trial = JobSlot(self, jobs)
        self._restore_job = JobSlot(self, jobs)
        self._unclosed: dict[MemorySearchManager, CancelToken] = {}

    # --- open and close ---------------------------------------------------------------------------------------------

    def open(self, folder: Path) -> None:
        """Open `folder` in the background; `opened` or `failed` follows."""
        is_shown = self.current is not None or self.reopening
        before, self.reopening = self.reopening, is_shown and folder == self._requested
        self._close()
        if before and not self.reopening:
            self.closed.emit()  # until now, another folder was being reopened
        self._requested, self._newer_settings = folder, None
        self.opening.emit(folder)
        self._opener = self._jobs.write(
            lambda token: self._open_now(folder, token),
            self._handle_outcome,
            lambda why: self._fail(OpenFailure(folder, why, in_settings=False)),
        )

    def apply_settings(self, settings: Settings, folder: Path) -> None:
        """Apply settings of a folder that affect the window or answers.

        Its memory keeps the other settings until it is reopened. Does nothing for a folder that is neither open nor
        being opened: it reads its settings then.
        """
        if folder == self._requested and self.current is None:
            self._newer_settings = settings
        elif self.current is not None and folder == self.current.folder:
            self.current = self._with_settings(self.current, settings)
            self.settings_changed.emit(self.current)

    def _with_settings(self, opened: OpenWorkspace, settings: Settings) -> OpenWorkspace:
        opened = replace(opened, settings=self._with_store_path(settings))
        opened.all_workspaces.apply_query_settings(opened.settings)
        return opened

    def close(self) -> None:
        """Cancel running jobs and close the memory in the background, even if it is still being opened."""
        self.reopening = False
        self._close()

    def _close(self) -> None:
        for job in (self._opener, self._sync):
            if job is not None:
                job.cancel()
        self._opener = self._sync = None
        self._trial.cancel()
        self._restore_job.cancel()
        if self.current is not None:
            self.current = None
            self.feed.set_manager(None)
            self.closed.emit()  # before the memory is closed: typed text is saved now
        self._jobs.write(lambda _: self._close_unwanted(), lambda _: None)

    def close_all_now(self) -> None:
        """Close every memory at exit, even one that was opened too late to be shown; on any thread."""
        for token in list(self._unclosed.values()):
            token.cancel()
        self._close_unwanted()

    def _open_now(self, folder: Path, token: CancelToken) -> OpenWorkspace | OpenFailure:
        if not folder.is_dir():
            return OpenFailure(folder, _why_no_folder(folder), in_settings=False)
        self._close_unwanted()  # the same folder must be reopened, not shared with the memory being closed
        try:
            settings = self.settings_of(folder)
            if renamed := engine.adopt_renamed(folder, settings, self.config):
                settings = self.settings_of(folder)
            manager = engine.open_memory(folder, settings, executor=self._jobs.executor(), background=True)
            all_workspaces = self._with_others(manager, folder, settings)
            self._unclosed[all_workspaces] = token
            if self._prepare is not None:
                self._prepare(manager)
            unsupported = self.feed.read_first(
                manager
            ).unsupported  # of the memory that answers, which may be a fallback
        except MnemoscopeError as error:
            return OpenFailure(folder, str(error), isinstance(error, engine.SettingsError))
        if token.cancelled:  # opened too late to be closed with the others
            self._close_unwanted()
        return OpenWorkspace(folder, settings, manager, unsupported, all_workspaces, renamed)

    def _with_others(self, manager: MemorySearchManager, folder: Path, settings: Settings) -> MultiWorkspaceMemory:
        """Wrap a memory so that it can also search the other workspaces."""
        store = settings.store.path

        def settings_of(other: str) -> Settings:
            return self.settings_of(Path(other))

        def known() -> tuple[engine.KnownWorkspace, ...]:
            return engine.known_workspaces(config=self.config, store_path=store)

        executor = self._jobs.executor_elsewhere()
        pool = MemoryPool(partial(engine.open_memory, executor=executor), settings_of, executor=executor)
        return MultiWorkspaceMemory(manager, folder, known, pool, most=FIRST_RESULTS, executor=executor)

    def settings_of(self, folder: Path) -> Settings:
        """Return the settings of a folder, open or not; on any thread. Raises `SettingsError`."""
        return self._with_store_path(engine.load_settings(folder, config=self.config))

    def _with_store_path(self, settings: Settings) -> Settings:
        copy = msgspec.structs.replace
        if self.store_path:
            settings = copy(settings, store=copy(settings.store, path=self.store_path))
        return settings

    def _close_unwanted(self) -> None:
        """Close every memory whose opening was cancelled."""
        for manager, token in list(self._unclosed.items()):
            if token.cancelled and self._unclosed.pop(manager, None) is not None:
                manager.close()

    def _handle_outcome(self, outcome: OpenWorkspace | OpenFailure) -> None:
        if isinstance(outcome, OpenFailure):
            self._fail(outcome)
            return
        self.current = outcome if self._newer_settings is None else self._with_settings(outcome, self._newer_settings)
        self.opened.emit(self.current)
        self.feed.set_manager(outcome.manager)

    def _fail(self, failure: OpenFailure) -> None:
        if self.reopening:
            self.reopening = False
            self.closed.emit()
        self.failed.emit(failure)

    # --- sync -------------------------------------------------------------------------------------------------------

    def sync(
        self,
        reason: engine.SyncReason = "manual",
        *,
        force: bool = False,
        approve: engine.EmbeddingEstimate | None = None,
    ) -> None:
        """Start a sync, or join the running one. `force` rebuilds the whole index.

        `approve` approves the estimate, although it costs money or much time; a running sync is followed by an approved
        one.
        """
        if self.current is None or (self._sync is not None and not approve):
            return
        manager = self.current.manager
        self._sync = self._jobs.write(
            lambda token: manager.sync(reason=reason, force=force, cancel=token, approve=approve or False),
            self._synced,
            self._sync_failed,
        )

    def try_again(self) -> None:
        """Try the chosen engine again, while a fallback answers."""
        if self.current is None or self._trial.busy:
            return
        manager = self.current.manager

        def work(token: CancelToken) -> None:
            manager.sync(reason="manual", cancel=token)  # does not wait for the next automatic try
            manager.search(_ANYTHING, max_results=1, cancel=token)

        self._trial.write(work, self._trial_succeeded, self._trial_failed)

    def restore_data(self) -> None:
        """Restore the newest backup of facts, saved searches and history over a damaged or missing file."""
        if self.current is not None and not self._restore_job.busy:
            data = self.current.manager.user_data
            self._restore_job.write(lambda _: data.restore(), self._restored, self.data_not_restored.emit)

    def _restored(self, sentence: str) -> None:
        self.feed.refresh()
        if sentence:
            self.data_restored.emit(sentence)

    def pause(self) -> None:
        self._act_on_sync(CancelToken.pause)

    def resume(self) -> None:
        self._act_on_sync(CancelToken.resume)

    def cancel(self) -> None:
        self._act_on_sync(CancelToken.cancel)
        self._sync = None

    def _act_on_sync(self, act: Callable[[CancelToken], None]) -> None:
        token = self.current.manager.current_sync() if self.current else None
        if token is not None:
            act(token)
        self.feed.refresh()

    def _trial_succeeded(self, _: None) -> None:
        self.feed.refresh_then(lambda status: self.engine_tried.emit(failed_engine(status)))

    def _trial_failed(self, sentence: str) -> None:
        self.feed.refresh()
        self.sync_failed.emit(sentence, False)

    def _synced(self, report: SyncReport) -> None:
        self._sync = None
        self.feed.refresh()
        if report.error:
            self.sync_failed.emit(report.error, report.provider_failed)

    def _sync_failed(self, sentence: str) -> None:
        self._sync = None
        self.feed.refresh()
        self.sync_failed.emit(sentence, False)

    @property
    def is_updating(self) -> bool:
        """Whether a sync was started here, though it may not have reported anything yet."""
        return self._sync is not None

    @property
    def status(self) -> MemoryProviderStatus | None:
        """The newest status record of the open memory."""
        return self.feed.latest


def _why_no_folder(path: Path) -> str:
    if path.exists():
        return tr("{folder} is not a folder.", folder=path)
    return tr("The folder {folder} is missing.", folder=path)
