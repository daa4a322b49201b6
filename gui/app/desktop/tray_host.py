"""Whether the desktop has a tray, now or later: one that starts with the session may come after this program."""

import sys

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QSystemTrayIcon

_WATCHER = "org.kde.StatusNotifierWatcher"
_LOOKS_MS = (5_000, 15_000, 60_000)
"""After the start: a tray of X11 alone, without D-Bus, tells nobody that it has come. Later nobody is woken for one."""


class TrayHost(QObject):
    """Looks on demand, and tells of what it hears; D-Bus wakes it, no timer does for longer than a minute.

    Signals:
        changed: there may be a tray now, or none any more.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_there = self.is_there
        if sys.platform.startswith("linux"):
            self._listen()

    @property
    def is_there(self) -> bool:
        return QSystemTrayIcon.isSystemTrayAvailable()

    def _listen(self) -> None:
        from PySide6.QtDBus import QDBusConnection, QDBusServiceWatcher

        bus = QDBusConnection.sessionBus()
        if bus.isConnected():
            mode = QDBusServiceWatcher.WatchModeFlag.WatchForOwnerChange
            watcher = QDBusServiceWatcher(_WATCHER, bus, mode, self)
            watcher.serviceOwnerChanged.connect(self._look)
        for pause in _LOOKS_MS:
            timer = QTimer(self, singleShot=True, interval=pause)
            timer.timeout.connect(self._look)
            timer.timeout.connect(timer.deleteLater)
            timer.start()

    @Slot()
    def _look(self) -> None:
        if self._was_there != self.is_there:
            self._was_there = not self._was_there
            self.changed.emit()
