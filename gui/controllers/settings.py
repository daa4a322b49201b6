"""Opens the settings dialog, applies saved settings to the workspace and the window, and replaces an unusable file."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QTimer, Signal, Slot

import engine
from engine import (
    CancelToken,
    EmbeddingEstimate,
    MemoryProviderStatus,
    SavedIn,
    SettingChange,
    Settings,
    tr,
)
from gui.core.capabilities import why_missing
from gui.core.window_context import Controller, WindowContext
from gui.core.workspace import OpenFailure, OpenWorkspace
from gui.settings.option_pages import SET_ASIDE, SettingsPage
from gui.settings.page_factory import PageMaker
from gui.settings.system_setting import SystemSwitch
from gui.style.appearance import Appearance
from gui.widgets.placeholder_page import Action

if TYPE_CHECKING:
    from gui.settings.dialog import SettingsDialog

_SAVE_DELAY_MS = 400
"""Delay, so that several steps of the text size are written once."""
_KEYS = ("window.theme", "window.font_scale")


class BrokenSettings(Controller):
    """Renames an unusable settings file; nothing is deleted, and the message names both files."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._message = ""
        context.workspace.opened.connect(self._show_again)

    def action(self, on_renamed: Callable[[], object]) -> Action:
        """Return the button for a page that reports the file; `on_renamed` is called once the file is renamed."""
        return (tr(SET_ASIDE), partial(self.run, on_renamed))

    def run(self, on_renamed: Callable[[], object]) -> None:
        """Rename the file, then call `on_renamed`."""
        config = self._paths.config

        def done(backup: Path) -> None:
            new = self._paths.settings
            self._message = tr(
                "Your settings were renamed to {kept}. The defaults apply now; the new file is {new}.",
                kept=backup,
                new=new,
            )
            self._show_message()
            on_renamed()

        self._jobs.write(lambda _: engine.set_settings_aside(config), done, self._banner.show_error)

    @Slot(object)
    def _show_again(self, _: OpenWorkspace) -> None:
        """Show the message again after a workspace was opened, which clears earlier messages."""
        self._show_message()
        self._message = ""

    def _show_message(self) -> None:
        if self._message:
            self._banner.show_message(self._message, "working", (tr("Open the new file"), self._paths.open_settings))


class SettingsController(Controller):
    """Opens the settings dialog, which is created at first use, and applies saved settings.

    Signals: restart_requested: restart the program, since everything is saved: its language then.
    """

    restart_requested = Signal(str)

    def __init__(self, context: WindowContext, broken_settings: BrokenSettings) -> None:
        super().__init__(context)
        self._show_error = context.banner.show_error
        self._broken_settings = broken_settings
        self._is_reopening = False
        """Whether settings were just saved, and the workspace is being reopened for them."""
        self._repeat = False
        """Whether more was saved meanwhile, for which it must be reopened once more."""
        self._agreed: EmbeddingEstimate | None = None
        """The embedding that the user approved when saving."""
        self._indexed: object = None
        """The last sync and the number of passages that the dialog shows."""
        self.makers: dict[SettingsPage, PageMaker] = {}
        """Functions that make a page of the dialog; set before the dialog is first shown, as are `switches`."""
        self.switches: list[SystemSwitch] = []
        """Settings that the system stores, each a row of the dialog."""
        self.dialog: SettingsDialog | None = None
        self._workspace.opened.connect(self._continue)
        self._workspace.closed.connect(self._close)
        self._workspace.failed.connect(self._handle_open_failure)
        self._workspace.feed.status_changed.connect(self._handle_status)

    @Slot()
    def show(self) -> None:
        """Open the dialog for the open workspace; does nothing without one."""
        self.show_page(None)

    @Slot()
    def show_provider(self) -> None:
        """Open the dialog on the page of the embedding provider, or of the engine if that has its own models."""
        self.show_page("engine" if why_missing("models") else "embedding")

    def show_page(self, page: SettingsPage | None) -> None:
        """Open the dialog on a page; None opens the last one."""
        opened = self._workspace.current
        if opened is None:
            return
        if self.dialog is None:
            from gui.settings.dialog import SettingsDialog

            self.dialog = SettingsDialog(self._jobs, self._paths.config, self._window, self.makers, self.switches)
            self.dialog.saved.connect(self._saved)
            self.dialog.model.took_effect.connect(self._apply)
            self.dialog.refused.connect(self._show_error)
            self.dialog.set_aside_requested.connect(self._set_aside)
            self.dialog.file_requested.connect(self._paths.open_settings)
            self.dialog.restart_requested.connect(self.restart_requested)
            self.dialog.pages.purged.connect(self._workspace.feed.refresh)
        self.dialog.begin(opened.folder, opened.settings, opened.manager, page)

    @Slot(str)
    def show_option(self, key: str) -> None:
        """Open the dialog and search it for the option `key`."""
        self.show_page(None)
        if self.dialog is not None and self.dialog.isVisible():
            self.dialog.search(key)

    @Slot(object)
    def _saved(self, agreed: EmbeddingEstimate | None) -> None:
        """Open the workspace again, so that saved settings apply; `agreed`: the embedding that the user approved."""
        opened = self._workspace.current
        if opened is not None:
            self._is_reopening, self._agreed = True, agreed
            self._workspace.open(opened.folder)
        elif self._is_reopening:
            self._repeat, self._agreed = True, agreed or self._agreed

    @Slot(object)
    def _continue(self, opened: OpenWorkspace) -> None:
        """Sync after the workspace was opened again, with the embedding that the user approved, or else ask."""
        if self._repeat:
            self._repeat = False
            QTimer.singleShot(0, self, lambda: self._saved(self._agreed))
            return
        reopened, agreed = self._is_reopening, self._agreed
        self._is_reopening, self._agreed = False, None
        if reopened and self.dialog is not None and self.dialog.isVisible():
            self.dialog.renew(opened.folder, opened.settings, opened.manager)
        if reopened:
            self._workspace.sync(approve=agreed)

    @Slot(object)
    def _handle_status(self, status: MemoryProviderStatus | None) -> None:
        """Refresh the dialog when the index has changed, since more or less is left to embed."""
        indexed = None if status is None else (status.last_sync, status.chunks, status.pending_vectors)
        if indexed != self._indexed:
            self._indexed = indexed
            if self.dialog is not None and self.dialog.isVisible():
                self.dialog.refresh()

    @Slot(object, object)
    def _apply(self, settings: Settings, folder: Path) -> None:
        """Apply settings that need no reopening."""
        self._workspace.apply_settings(settings, folder)

    @Slot()
    def _set_aside(self) -> None:
        """Rename the unusable settings file, and start with the defaults."""
        opened = self._workspace.current
        if opened is not None and self.dialog is not None:
            self.dialog.close_without_saving()
            self._broken_settings.run(partial(self._workspace.open, opened.folder))

    @Slot()
    def _close(self) -> None:
        """Close the dialog with its workspace, unless that is being reopened."""
        if not self._is_reopening and self.dialog is not None and self.dialog.isVisible():
            self.dialog.close_without_saving()

    @Slot(object)
    def _handle_open_failure(self, _: OpenFailure) -> None:
        self._is_reopening, self._repeat, self._agreed = False, False, None
        self._close()


class AppearanceController(Controller):
    """Applies theme and text size, and saves the user's changes of them if `remembers`."""

    def __init__(
        self,
        context: WindowContext,
        appearance: Appearance,
    ) -> None:
        super().__init__(context)
        self._appearance = appearance
        self._show_error = context.banner.show_error
        self._applied: tuple[Any, ...] | None = None
        """The last values in the settings."""
        self._shown = self._current
        self._save_timer = QTimer(self, singleShot=True, interval=_SAVE_DELAY_MS)
        self._save_timer.timeout.connect(self.save)
        self._workspace.opened.connect(self._follow)
        self._workspace.settings_changed.connect(self._follow)
        appearance.changed.connect(self._save_later)

    @property
    def _current(self) -> tuple[Any, ...]:
        return self._appearance.theme, self._appearance.font_scale

    def begin(self, settings: Settings, *, theme_given: bool) -> None:
        """Apply the settings at the start, unless `theme_given` by the command line."""
        if not theme_given:
            self._show(settings)
        self._applied = settings.window.theme, settings.window.font_scale

    @Slot(object)
    def _follow(self, opened: OpenWorkspace) -> None:
        """Apply theme and text size if their settings have changed; until then, a theme of the command line stays."""
        window = opened.settings.window
        current = window.theme, window.font_scale
        if current != self._applied and not self._save_timer.isActive():
            self._applied = current
            self._show(opened.settings)

    def _show(self, settings: Settings) -> None:
        self._appearance.show(settings.window.theme, settings.window.font_scale)
        self._shown = self._current

    @Slot()
    def _save_later(self) -> None:
        if self._remembers:
            self._save_timer.start()

    @Slot()
    def save(self) -> None:
        """Save theme and text size where they are set now: in the settings of this workspace or of all."""
        self._save_timer.stop()
        now, before, opened = self._current, self._shown, self._workspace.current
        edits = {key: value for key, value, old in zip(_KEYS, now, before, strict=True) if value != old}
        if not edits or not self._remembers:
            return
        saved = self._applied or before
        self._shown = now
        # Not a theme of the command line, which no setting has.
        self._applied = tuple(edits.get(key, value) for key, value in zip(_KEYS, saved, strict=True))
        config = self._paths.config

        def work(_: CancelToken) -> OpenWorkspace | None:
            if opened is None:
                engine.save_settings(edits, config=config)
                return None
            layers = engine.read_layers(opened.folder, config)
            changes = []
            for key, value in edits.items():
                layer: SavedIn = "workspace" if layers.layer_of(key) == "workspace" else "defaults"
                changes.append(SettingChange(key, layer, value, layers.get(key, layer)))
            return replace(opened, settings=engine.change_settings(changes, opened.folder, config).settings)

        self._jobs.save(work, self._saved, self._show_error)

    def _saved(self, opened: OpenWorkspace | None) -> None:
        if opened is not None:
            self._workspace.apply_settings(opened.settings, opened.folder)
