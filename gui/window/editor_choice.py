"""Offers the choice of an editor when a file could not be opened in one."""

import os
import sys
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog

import engine
from engine import CancelToken, Settings, tr
from gui.core.window_context import WindowContext
from gui.viewer.external_programs import ExternalOpener, editor_template
from gui.widgets.message import Action


class EditorChoice(QObject):
    """Saves the chosen program as the setting `window.editor` and opens the file again."""

    def __init__(
        self,
        context: WindowContext,
        opener: ExternalOpener,
    ) -> None:
        super().__init__(context.window)
        self._external = opener
        self._workspace = context.workspace
        self._banner = context.notices
        self._jobs = context.jobs
        self._config = context.paths.config
        self._window = context.window
        self._remembers = context.remembers
        opener.editor_failed.connect(self._offer)

    @Slot(str, str, int)
    def _offer(self, problem: str, name: str, line: int) -> None:
        choose = Action(tr("Choose an editor…"), partial(self._choose, name, line))
        self._banner.say(problem, "degraded", choose, key="editor")

    def _choose(self, name: str, line: int) -> None:
        program, _ = QFileDialog.getOpenFileName(self._window, tr("Choose an editor"), _programs())
        if not program:
            return
        command = self._external.editor_command = editor_template(Path(program))
        self._external.edit(name, line)
        if self._remembers:
            self._save(command)

    def _save(self, command: str) -> None:
        opened = self._workspace.current
        folder = None if opened is None else opened.folder

        def save(_: CancelToken) -> Settings:
            engine.save_setting("window.editor", command, config=self._config)
            return engine.load_settings(folder, config=self._config)

        def take(settings: Settings) -> None:
            if folder is not None:
                self._workspace.take_settings(settings, folder)

        self._jobs.write(save, take, self._banner.complain)


def _programs() -> str:
    """Where programs are on this platform."""
    if sys.platform == "win32":
        return os.environ.get("PROGRAMFILES", "")
    return "/Applications" if sys.platform == "darwin" else "/usr/bin"
