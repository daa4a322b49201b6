"""Wait conditions and readings for tests of the whole window."""

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QThreadPool, QTimer
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from gui.core.jobs import Jobs
from gui.core.window_banner import WindowBanner
from gui.core.window_context import AppPaths, WindowContext
from gui.core.window_state import WindowState
from gui.core.workspace import Workspace
from gui.window.main_window import MainWindow


def make_context(window: QMainWindow, workspace: Workspace, jobs: Jobs, *, remembers: bool = True) -> WindowContext:
    """Return the context of controllers, for tests without a main window."""
    banner = WindowBanner(workspace, window)
    return WindowContext(window, workspace, jobs, banner, AppPaths(), WindowState(), remembers)


def at_rest(window: MainWindow) -> bool:
    """Return whether the workspace is open and synced, without a running query; a sync requested now is a new one.

    The status may report that the sync is over before its job has returned, and until then another one joins it.
    """
    status = window.workspace.status
    busy = window.workspace._sync is not None or any(panel.busy for panel in window.views.panels.values())
    return status is not None and status.last_sync is not None and status.syncing is None and not busy


def finish_jobs(jobs: Jobs) -> None:
    """Wait until all jobs have ended and reported, and so have those that were started by a report."""
    busy = True
    while busy:
        for pool in jobs.findChildren(QThreadPool):
            assert pool.waitForDone(60_000)
        QCoreApplication.processEvents()
        turns = [timer for timer in jobs.findChildren(QTimer) if timer.interval() == 0]
        busy = any(timer.isActive() for timer in turns) or any(
            pool.activeThreadCount() for pool in jobs.findChildren(QThreadPool)
        )


def search_results(qtbot, window, query: str):
    """Search in a window, and return its list of results."""
    window.search.search(query)
    qtbot.waitUntil(lambda: at_rest(window) and window.search.body.has_results)
    return window.search.body.list


def rows_of(results, kind: type) -> list:
    """Return the rows of one kind in a list of results."""
    return [row for row in map(results.rows.row, range(results.rows.rowCount())) if isinstance(row, kind)]


class MovedParts(QObject):
    """Collects widgets with contents that get another parent: Qt then applies the style sheet to all of them again."""

    def __init__(self, least: int) -> None:
        """`least`: fewest widgets in a part that counts."""
        super().__init__()
        self._least = least
        self.names: list[str] = []
        QApplication.instance().installEventFilter(self)

    def eventFilter(self, watched, event) -> bool:
        moved = event.type() == QEvent.Type.ParentChange and isinstance(watched, QWidget)
        if moved and len(watched.findChildren(QWidget)) >= self._least:
            self.names.append(type(watched).__name__)
        return False
