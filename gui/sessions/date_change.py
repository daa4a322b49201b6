"""Notices that another day has begun, so that no list says "Today" of yesterday."""

from collections.abc import Callable
from datetime import date

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

_LOOK_MS = 60_000
"""Often enough, and a timer until midnight would be late after the computer has slept."""


class DateChange(QObject):
    """Signals:
    changed: the day is another one than at the last look.
    """

    changed = Signal()

    def __init__(self, today: Callable[[], date], parent: QObject) -> None:
        super().__init__(parent)
        self._today = today
        self._day = today()
        self._timer = QTimer(self, interval=_LOOK_MS)
        self._timer.setTimerType(Qt.TimerType.VeryCoarseTimer)
        self._timer.timeout.connect(self.look)

    def run(self, on: bool) -> None:
        """Look from now on, or no more."""
        self._day = self._today()
        self._timer.start() if on else self._timer.stop()

    @Slot()
    def look(self) -> None:
        """Compare the day with that of the last look."""
        before, self._day = self._day, self._today()
        if self._day != before:
            self.changed.emit()
