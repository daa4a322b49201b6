"""Notifies the user in another program that a long update of the index has ended."""

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QApplication, QWidget

from engine import MemoryProviderStatus, SyncSummary, tr, tr_count
from gui.app.tray import Tray
from gui.core.workspace import Opened, Workspace
from gui.widgets.formatting import duration

LONG_SECONDS = 20
"""Seconds; a shorter sync isn't worth a notification."""


class UpdateNotification(QObject):
    """Notifies the user of a long sync that ends while another program is in front.

    Syncs before the memory was opened are ignored.
    """

    def __init__(self, workspace: Workspace, window: QWidget, tray: Tray) -> None:
        super().__init__(window)
        self._window = window
        self._tray = tray
        self._name = ""
        self._known: SyncSummary | None = None
        self._begun = False
        self.enabled = True
        """Whether notifications are enabled."""
        workspace.opened.connect(self._begin)
        workspace.feed.status_changed.connect(self._handle_status)

    @Slot(object)
    def _begin(self, opened: Opened) -> None:
        self._name = opened.folder.name or str(opened.folder)
        self._begun = False

    @Slot(object)
    def _handle_status(self, status: MemoryProviderStatus | None) -> None:
        if status is None:
            return
        last, known, begun = status.last_sync, self._known, self._begun
        self._known, self._begun = last, True
        if not begun or last is None or last == known:
            return
        if self.enabled and last.seconds >= LONG_SECONDS and not last.cancelled and QApplication.activeWindow() is None:
            self._notify(*notification_texts(status, last, self._name))

    def _notify(self, title: str, sentence: str) -> None:
        if not self._tray.show_message(title, sentence):
            # Qt has no notifications without a tray; the task bar entry is highlighted instead
            QApplication.alert(self._window)


def notification_texts(status: MemoryProviderStatus, last: SyncSummary, name: str) -> tuple[str, str]:
    """Return title and text of the notification about a sync that has just ended; `name`: name of the folder."""
    if last.error:
        return tr("The index of {name} is not complete", name=name), last.error
    sentences = [
        tr_count(
            "{count:,} file can be searched. It took {time}.",
            "{count:,} files can be searched. It took {time}.",
            status.files,
            time=duration(last.seconds),
        )
    ]
    if failed := last.files_failed:
        sentences.append(tr_count("{count:,} file could not be read.", "{count:,} files could not be read.", failed))
    return tr("The index of {name} is ready", name=name), " ".join(sentences)
