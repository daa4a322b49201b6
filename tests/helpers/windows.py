"""What tests of the whole window wait for."""

from gui.window.main_window import MainWindow


def at_rest(window: MainWindow) -> bool:
    """Whether the workspace is open and synced, and nothing is being asked: a sync asked for now is one of its own.

    The status may say that the sync is over before its job has reported back, and until then another one joins it.
    """
    status = window.workspace.status
    busy = window.search.busy or window.sessions.busy or window.views.facts.busy or window.workspace._sync is not None
    return status is not None and status.last_sync is not None and status.syncing is None and not busy
