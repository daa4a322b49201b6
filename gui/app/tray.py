"""The icon in the desktop's tray, if the desktop has one: status of the index, and access to the windows."""

import sys
import time
from dataclasses import dataclass
from functools import cache
from typing import Literal

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QColor, QIcon
from PySide6.QtWidgets import QMenu, QSystemTrayIcon, QWidget

from engine import MemoryProviderStatus, number, tr
from gui.core.workspace import Workspace
from gui.text.plain_text import set_tray_tip, show_notification
from gui.text.status_texts import SyncLine, sync_line, why_no_update
from gui.widgets.icons import icon_pixmap

_SIZES = (16, 22, 24, 32, 48, 64)
Shape = Literal["resting", "working", "paused", "trouble"]


@dataclass(frozen=True)
class TrayState:
    shape: Shape
    tooltip: str


def tray_state(status: MemoryProviderStatus | None, now: float) -> TrayState:
    """Return shape and tooltip of the icon for a status. `now`: seconds since the epoch.

    The result changes at most a hundred times during a sync, since desktops redraw the icon each time.
    """
    if status is None:
        return TrayState("resting", tr("No folder is open"))
    line = sync_line(status, now=now, stalled_for=0)
    return TrayState(_shape(line), _words(line))


def _shape(line: SyncLine) -> Shape:
    if line.running:
        return "paused" if line.paused else "working"
    return "trouble" if line.state == "degraded" else "resting"


def _words(line: SyncLine) -> str:
    if line.running:
        return f"{line.word} · {number(line.fraction, '.0%')}" if line.fraction else line.word
    return " · ".join(part for part in (line.word, line.count) if part)


_DRAWINGS: dict[Shape, str] = {
    "resting": "mnemoscope",
    "working": "tray-working",
    "paused": "tray-paused",
    "trouble": "tray-trouble",
}
_WATCHER = "org.kde.StatusNotifierWatcher"
_RECHECK_MS = (5_000, 15_000, 60_000)
"""Times of the checks after the start: an X11 tray without D-Bus doesn't announce itself. Later checks would only cost
power."""


class TrayHost(QObject):
    """Detects whether the desktop has a tray. D-Bus announces later changes; no timer runs for longer than a minute.

    Signals: changed: a tray may have appeared or disappeared.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_there = self.is_available
        if sys.platform.startswith("linux"):
            self._listen()

    @property
    def is_available(self) -> bool:
        return QSystemTrayIcon.isSystemTrayAvailable()

    def _listen(self) -> None:
        from PySide6.QtDBus import QDBusConnection, QDBusServiceWatcher

        bus = QDBusConnection.sessionBus()
        if bus.isConnected():
            mode = QDBusServiceWatcher.WatchModeFlag.WatchForOwnerChange
            watcher = QDBusServiceWatcher(_WATCHER, bus, mode, self)
            watcher.serviceOwnerChanged.connect(self._check)
        for pause in _RECHECK_MS:
            timer = QTimer(self, singleShot=True, interval=pause)
            timer.timeout.connect(self._check)
            timer.timeout.connect(timer.deleteLater)
            timer.start()

    @Slot()
    def _check(self) -> None:
        if self._was_there != self.is_available:
            self._was_there = not self._was_there
            self.changed.emit()


@cache
def tray_icon(shape: Shape) -> QIcon:
    """Return the icon with this shape, in colours that are visible on light and dark panels."""
    icon = QIcon()
    for size in _SIZES:
        icon.addPixmap(icon_pixmap(_DRAWINGS[shape], QColor("black"), size))
    return icon


class Tray(QObject):
    """The tray icon with its menu, shown while it is enabled and the desktop has a tray.

    Signals: window_requested, quick_requested, quit_requested: the user chose this in the menu or clicked the icon.
    """

    window_requested = Signal()
    quick_requested = Signal()
    quit_requested = Signal()

    def __init__(self, workspace: Workspace, window: QWidget) -> None:
        """`window`: the widget whose palette the menu uses."""
        super().__init__(window)
        self._workspace = workspace
        self._host = TrayHost(self)
        self._host.changed.connect(self._arrange)
        self._enabled = False
        self._icon: QSystemTrayIcon | None = None
        self._shown: TrayState | None = None
        self._menu = QMenu(window)
        self._words = self._menu.addAction("")
        self._words.setEnabled(False)
        self._menu.addSeparator()
        self._add(tr("Open Mnemoscope"), self.window_requested.emit)
        self._add(tr("Quick search"), self.quick_requested.emit)
        self._menu.addSeparator()
        self._sync = self._add(tr("Update now"), workspace.sync)
        self._pause = self._add(tr("Pause indexing"), workspace.pause)
        self._resume = self._add(tr("Resume indexing"), workspace.resume)
        self._menu.addSeparator()
        self._add(tr("Quit"), self.quit_requested.emit)
        workspace.feed.status_changed.connect(self._show_status)
        self._show_status(workspace.status)

    @property
    def is_shown(self) -> bool:
        """Whether the icon is shown, so that the user can reopen a hidden window."""
        return self._icon is not None and self._host.is_available

    def set_enabled(self, enabled: bool) -> None:
        """Show the icon if the desktop has a tray, or hide it."""
        self._enabled = enabled
        self._arrange()

    def show_message(self, title: str, sentence: str) -> bool:
        """Show a notification next to the icon; returns False if that is impossible. A click on it opens the window."""
        if self._icon is None or not self.is_shown or not QSystemTrayIcon.supportsMessages():
            return False
        show_notification(self._icon, title, sentence, tray_icon("resting"))
        return True

    def _add(self, words: str, run: object) -> QAction:
        action = self._menu.addAction(words)
        action.triggered.connect(lambda _checked: run())  # type: ignore[operator]
        return action

    @Slot()
    def _arrange(self) -> None:
        show = self._enabled and self._host.is_available
        if show and self._icon is None:
            self._icon = icon = QSystemTrayIcon(self)
            icon.setContextMenu(self._menu)
            icon.activated.connect(self._activate)
            icon.messageClicked.connect(self.window_requested)
            self._shown = None
            self._show_status(self._workspace.status)
            icon.show()
        elif not show and self._icon is not None:
            self._icon.hide()
            self._icon.deleteLater()
            self._icon = None

    @Slot(QSystemTrayIcon.ActivationReason)
    def _activate(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason == QSystemTrayIcon.ActivationReason.Trigger:
            self.window_requested.emit()
        elif reason == QSystemTrayIcon.ActivationReason.MiddleClick:
            self.quick_requested.emit()

    @Slot(object)
    def _show_status(self, status: MemoryProviderStatus | None) -> None:
        state = tray_state(status, time.time())
        if state == self._shown:
            return
        self._shown = state
        self._words.setText(state.tooltip)
        self._sync.setVisible(state.shape in ("resting", "trouble"))
        self._sync.setEnabled(status is not None and not why_no_update(status))
        self._pause.setVisible(state.shape == "working")
        self._resume.setVisible(state.shape == "paused")
        if self._icon is not None:
            self._icon.setIcon(tray_icon(state.shape))
            set_tray_tip(self._icon, f"Mnemoscope\n{state.tooltip}")
