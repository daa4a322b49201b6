"""Theme and text size: applies the settings, and saves choices of the menu."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Slot

import engine
from engine import CancelToken, SavedIn, SettingChange, Settings
from gui.core.jobs import Jobs
from gui.core.workspace import Opened, Workspace
from gui.style.appearance import Appearance

_CALM_MS = 400
"""Several steps of size are written once."""
_KEYS = ("window.theme", "window.font_scale")


class AppearanceController(QObject):
    """Saves choices if the window remembers; otherwise they apply until the program ends."""

    def __init__(
        self,
        workspace: Workspace,
        appearance: Appearance,
        jobs: Jobs,
        config: Path | None,
        complain: Callable[[str], None],
        *,
        remembers: bool,
        parent: QObject,
    ) -> None:
        """`complain` shows a message about an error while saving."""
        super().__init__(parent)
        self._workspace = workspace
        self._appearance = appearance
        self._jobs = jobs
        self._config = config
        self._complain = complain
        self._remembers = remembers
        self._said: tuple[Any, ...] | None = None
        """The last values in the settings."""
        self._shown = self._now
        self._calm = QTimer(self, singleShot=True, interval=_CALM_MS)
        self._calm.timeout.connect(self.save)
        workspace.opened.connect(self._follow)
        workspace.settings_changed.connect(self._follow)
        appearance.changed.connect(self._chosen)

    @property
    def _now(self) -> tuple[Any, ...]:
        return self._appearance.theme, self._appearance.font_scale

    def begin(self, settings: Settings, *, overruled: bool) -> None:
        """Apply the settings at the start; `overruled` if the command line has priority."""
        if not overruled:
            self._show(settings)
        self._said = settings.window.theme, settings.window.font_scale

    @Slot(object)
    def _follow(self, opened: Opened) -> None:
        """Apply changes only: a theme of the command line stays while the setting is unchanged."""
        window = opened.settings.window
        said = window.theme, window.font_scale
        if said != self._said and not self._calm.isActive():
            self._said = said
            self._show(opened.settings)

    def _show(self, settings: Settings) -> None:
        self._appearance.show(settings.window.theme, settings.window.font_scale)
        self._shown = self._now

    @Slot()
    def _chosen(self) -> None:
        if self._remembers:
            self._calm.start()

    @Slot()
    def save(self) -> None:
        """Save the choice in the layer that has it now: this workspace or all."""
        self._calm.stop()
        now, before, opened = self._now, self._shown, self._workspace.current
        wanted = {key: value for key, value, old in zip(_KEYS, now, before, strict=True) if value != old}
        if not wanted or not self._remembers:
            return
        self._shown = self._said = now
        config = self._config

        def work(_: CancelToken) -> Opened | None:
            if opened is None:
                engine.save_settings(wanted, config=config)
                return None
            layers = engine.read_layers(opened.folder, config)
            changes = []
            for key, value in wanted.items():
                layer: SavedIn = "workspace" if layers.layer_of(key) == "workspace" else "defaults"
                changes.append(SettingChange(key, layer, value, layers.get(key, layer)))
            return replace(opened, settings=engine.change_settings(changes, opened.folder, config).settings)

        self._jobs.write(work, self._saved, self._complain)

    def _saved(self, opened: Opened | None) -> None:
        if opened is not None:
            self._workspace.take_settings(opened.settings, opened.folder)
