"""The parts of one window that all of its controllers share."""

from dataclasses import dataclass

from PySide6.QtWidgets import QMainWindow

from gui.core.app_paths import AppPaths
from gui.core.jobs import Jobs
from gui.core.notices import Notices
from gui.core.window_state import WindowState
from gui.core.workspace import Workspace


@dataclass(frozen=True)
class WindowContext:
    """One window, its workspace, and where it runs jobs, reports problems and stores its state."""

    window: QMainWindow
    """Parent of the controllers."""
    workspace: Workspace
    jobs: Jobs
    notices: Notices
    paths: AppPaths
    state: WindowState
    remembers: bool
    """Whether settings and state are saved; False for demos and screenshots."""
