"""Notifies the user in another program that a long indexing run has finished."""

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QApplication, QWidget

from engine import MemoryProviderStatus, SyncSummary, tr, tr_count
from gui.app.desktop.tray import Tray
from gui.core.workspace import Opened, Workspace
from gui.widgets.formatting import duration

LONG_SECONDS = 20
"""Nobody turns away from less."""


class UpdateNotification(QObject):
    """Receives each status record; syncs before the memory was opened are ignored."""

    def __init__(self, workspace: Workspace, window: QWidget, tray: Tray) -> None:
        super().__init__(window)
        self._window = window
        self._tray = tray
        self._name = ""
        self._known: SyncSummary | None = None
        self._begun = False
        self.wanted = True
        """Whether notifications are enabled."""
        workspace.opened.connect(self._begin)
        workspace.feed.status_changed.connect(self._hear)

    @Slot(object)
    def _begin(self, opened: Opened) -> None:
        self._name = opened.folder.name or str(opened.folder)
        self._begun = False

    @Slot(object)
    def _hear(self, status: MemoryProviderStatus | None) -> None:
        if status is None:
            return
        last, known, begun = status.last_sync, self._known, self._begun
        self._known, self._begun = last, True
        if not begun or last is None or last == known:
            return
        if self.wanted and last.seconds >= LONG_SECONDS and not last.cancelled and QApplication.activeWindow() is None:
            self._tell(*news(status, last, self._name))

    def _tell(self, title: str, sentence: str) -> None:
        if not self._tray.tell(title, sentence):
            # Qt has no notifications without a tray; the task bar entry is highlighted instead
            QApplication.alert(self._window)


def news(status: MemoryProviderStatus, last: SyncSummary, name: str) -> tuple[str, str]:
    """Title and sentence about the sync that has just ended in the folder of that name."""
    if last.error:
        return tr("The index of {name} is not complete", name=name), last.error
    said = [
        tr_count(
            "{count:,} file can be searched. It took {time}.",
            "{count:,} files can be searched. It took {time}.",
            status.files,
            time=duration(last.seconds),
        )
    ]
    if failed := last.files_failed:
        said.append(tr_count("{count:,} file could not be read.", "{count:,} files could not be read.", failed))
    return tr("The index of {name} is ready", name=name), " ".join(said)
