"""Asks for a folder of sessions and puts it into the settings, from which the workspace is opened again."""

import logging
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

import engine
from engine import CancelToken
from gui.jobs import Jobs
from gui.workspace import Workspace

log = logging.getLogger(__name__)

USUAL = ("~/.claude/projects", "~/.codex/sessions", "~/.openclaw/agents")
"""Where agents keep their sessions; the dialog starts in the first that is there and not chosen yet."""


class SessionFolders(QObject):
    """`ask` is what a person starts; `chosen` and `failed` say how it ended."""

    chosen = Signal(object)
    """Path of the workspace, to be opened again with the new settings."""
    failed = Signal(str)

    def __init__(self, workspace: Workspace, jobs: Jobs, config: Path | None, window: QWidget) -> None:
        super().__init__(window)
        self._workspace = workspace
        self._jobs = jobs
        self._config = config
        self._window = window

    @Slot()
    def ask(self) -> None:
        """A dialog for one more folder."""
        opened = self._workspace.current
        if opened is None:
            return
        listed = opened.settings.sessions.folders
        name = QFileDialog.getExistingDirectory(self._window, "Choose a folder of sessions", _start(listed))
        if name and not _holds(listed, name):
            folder = opened.folder
            self._jobs.write(
                _saving((*listed, name), folder, self._config), lambda _: self.chosen.emit(folder), self.failed.emit
            )


def _saving(folders: tuple[str, ...], workspace: Path, config: Path | None) -> Callable[[CancelToken], None]:
    def work(_token: CancelToken) -> None:
        # Where this workspace has a list of its own, that is the one which counts.
        everywhere = engine.load_settings(config=config).sessions.folders
        own = engine.load_settings(workspace, config=config).sessions.folders != everywhere
        engine.save_setting("sessions.folders", folders, workspace=workspace if own else None, config=config)

    return work


def _holds(listed: tuple[str, ...], name: str) -> bool:
    return Path(name).absolute() in [Path(folder).expanduser().absolute() for folder in listed]


def _start(listed: tuple[str, ...]) -> str:
    usual = (Path(place).expanduser() for place in USUAL)
    return str(next((place for place in usual if place.is_dir() and not _holds(listed, str(place))), Path.home()))
