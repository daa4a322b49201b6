"""The objects that all controllers of one window share."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMainWindow

import engine
from engine import MemoryProviderStatus, tr
from gui.core.jobs import Jobs
from gui.core.window_banner import WindowBanner
from gui.core.window_state import WindowState, state_path
from gui.core.workspace import Workspace


@dataclass(frozen=True)
class AppPaths:
    """Paths of the program's own files.

    `config`: a settings file in place of the user's own. `log_file`: None where nothing is logged.
    """

    config: Path | None = None
    log_file: Path | None = None

    @property
    def settings(self) -> Path:
        return self.config or engine.settings_path()

    def open_settings(self) -> None:
        """Open the settings file in the desktop's program for it."""
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.settings)))

    def listed(self, status: MemoryProviderStatus | None) -> tuple[tuple[str, str], ...]:
        """Return name and path of each file that exists; the index only if one is open."""
        places = [(tr("Settings"), str(self.settings)), (tr("Window"), str(state_path()))]
        if status is not None:
            places.append((tr("Index"), status.db_path))
        if self.log_file is not None:
            places.append((tr("Log"), str(self.log_file)))
        if (cache := engine.cache_folder()).is_dir():
            places.append((tr("Unpacked model"), str(cache)))
        return tuple(places)


@dataclass(frozen=True)
class WindowContext:
    """One window with its workspace, jobs, banner and stored state, as its controllers need them."""

    window: QMainWindow
    """Parent of the controllers."""
    workspace: Workspace
    jobs: Jobs
    banner: WindowBanner
    paths: AppPaths
    state: WindowState
    remembers: bool
    """Whether settings and state are saved; False for demos and screenshots."""


class Controller(QObject):
    """A child of a window, with the objects of its context."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context.window)
        self._window = context.window
        self._workspace = context.workspace
        self._jobs = context.jobs
        self._banner = context.banner
        self._paths = context.paths
        self._state = context.state
        self._remembers = context.remembers
