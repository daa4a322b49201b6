"""Opens the settings dialog; saved changes take effect in the open workspace."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from engine import EmbeddingEstimate, MemoryProviderStatus, Settings, SyncSummary
from gui.core.capabilities import MissingFeatures
from gui.core.jobs import Jobs
from gui.core.workspace import Opened, OpenFailure, Workspace
from gui.settings.broken_settings import BrokenSettings
from gui.settings.dialog import SettingsDialog
from gui.settings.page_layout import SettingsPage
from gui.settings.pages import PageMaker
from gui.settings.system_switch import SystemSwitch


class SettingsController(QObject):
    """Creates the dialog at first use."""

    def __init__(
        self, workspace: Workspace, jobs: Jobs, config: Path | None, aside: BrokenSettings, window: QWidget
    ) -> None:
        super().__init__(window)
        self._workspace = workspace
        self._jobs = jobs
        self._config = config
        self._aside = aside
        self._window = window
        self._begins = False
        """Whether something was saved a moment ago."""
        self._agreed: EmbeddingEstimate | None = None
        """What was agreed to with it."""
        self._last_sync: SyncSummary | None = None
        self._makers: dict[SettingsPage, PageMaker] = {}
        self._switches: list[SystemSwitch] = []
        self.dialog: SettingsDialog | None = None
        workspace.opened.connect(self._go_on)
        workspace.closed.connect(self._close)
        workspace.failed.connect(self._give_up)
        workspace.feed.status_changed.connect(self._hear)

    def add_page(self, name: SettingsPage, maker: PageMaker) -> None:
        """Let another part of the window make this page, before the dialog is first shown."""
        self._makers[name] = maker

    def add_switch(self, switch: SystemSwitch) -> None:
        """Add a row for something that the system stores, before the dialog is first shown."""
        self._switches.append(switch)

    @Slot()
    def show(self) -> None:
        """Open the dialog for the open workspace; without one there are no settings."""
        self.show_page(None)

    @Slot()
    def show_provider(self) -> None:
        """Open it where the provider is chosen, or the engine that has models."""
        lacks = {} if self._workspace.current is None else self._workspace.current.manager.lacks
        self.show_page("engine" if "models" in lacks else "embedding")

    def show_page(self, page: SettingsPage | None) -> None:
        """Open it on this page; None for the one that was shown last."""
        opened = self._workspace.current
        if opened is None:
            return
        if self.dialog is None:
            self.dialog = SettingsDialog(self._jobs, self._config, self._window, self._makers, self._switches)
            self.dialog.saved.connect(self._saved)
            self.dialog.in_force.connect(self._take)
            self.dialog.set_aside_wanted.connect(self._set_aside)
            self.dialog.purged.connect(self._workspace.feed.refresh)
        self.dialog.begin(opened.folder, opened.settings, opened.manager, page)

    @Slot(object)
    def show_unsupported(self, lacks: MissingFeatures) -> None:
        """Another backend answers now."""
        if self.dialog is not None and self.dialog.isVisible():
            self.dialog.show_unsupported(lacks)

    @Slot(object)
    def _saved(self, agreed: EmbeddingEstimate | None) -> None:
        """Reopen the workspace, so that the settings apply to all of it."""
        opened = self._workspace.current
        if opened is not None:
            self._begins, self._agreed = True, agreed
            self._workspace.open(opened.folder)

    @Slot(object)
    def _go_on(self, opened: Opened) -> None:
        """Apply the saved settings: start embedding if the user agreed, else ask."""
        begins, agreed = self._begins, self._agreed
        self._begins, self._agreed = False, None
        if begins and self.dialog is not None and self.dialog.isVisible():
            self.dialog.renew(opened.folder, opened.settings, opened.manager)
        if begins:
            self._workspace.sync(approve=agreed)

    @Slot(object)
    def _hear(self, status: MemoryProviderStatus | None) -> None:
        """After a sync there is less to embed than before."""
        last = None if status is None else status.last_sync
        if last != self._last_sync:
            self._last_sync = last
            if self.dialog is not None and self.dialog.isVisible():
                self.dialog.refresh()

    @Slot(object, object)
    def _take(self, settings: Settings, folder: Path) -> None:
        """Apply the settings immediately."""
        self._workspace.take_settings(settings, folder)

    @Slot()
    def _set_aside(self) -> None:
        """The file cannot be used: start with the defaults."""
        opened = self._workspace.current
        if opened is not None and self.dialog is not None:
            self.dialog.leave()
            self._aside.run(partial(self._workspace.open, opened.folder))

    @Slot()
    def _close(self) -> None:
        """With its workspace, unless that comes back in a moment."""
        if not self._begins and self.dialog is not None and self.dialog.isVisible():
            self.dialog.leave()

    @Slot(object)
    def _give_up(self, _: OpenFailure) -> None:
        self._begins, self._agreed = False, None
        self._close()
